// Macros for calls of one session. Each is a named step, which succeeds or is refused, on this rank
// or on all ranks alike.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "check.hpp"
#include "thalweg/thalweg.h"

namespace calls {

inline tw_session session = nullptr;

inline std::string text() { return tw_error_message(session); }

/// Codes of which one is accepted.
struct Codes : std::vector<int> {
    Codes(int code) : std::vector<int>{code} {}  // NOLINT: one code is a list of one
    Codes(std::initializer_list<int> codes) : std::vector<int>(codes) {}
};

/// Words that the text of an error contains.
struct Words : std::vector<std::string> {
    using std::vector<std::string>::vector;
    Words(const char* word)
        : std::vector<std::string>{word} {}  // NOLINT: one word is a list of one
    Words(const std::string& word) : std::vector<std::string>{word} {}  // NOLINT: see above
};

/// Checks the status of this rank's call, and words in the text of its error.
inline void judge(const char* file, int line, const char* call, int status, const Codes& accepted,
                  const Words& words) {
    const std::string said = status == TW_OK ? std::string() : text();
    ++check::state.checks;
    if (std::find(accepted.begin(), accepted.end(), status) == accepted.end())
        return check::fail(file, line,
                           check::text("{} gave {} ({}), not {}", call, tw_strerror(status), said,
                                       tw_strerror(accepted.front())));
    for (const std::string& word : words) {
        ++check::state.checks;
        if (status != TW_OK && said.find(word) == std::string::npos)
            check::fail(file, line, check::text("{}: the text lacks \"{}\": {}", call, word, said));
    }
}

/// Checks a collective call: code and text must be the same on all ranks, too.
inline void judge_all(const char* file, int line, const char* call, int status,
                      const Codes& accepted, const Words& words) {
    const std::string said = status == TW_OK ? std::string() : text();
    const std::vector<std::string> all = check::gather(std::to_string(status) + ": " + said);
    const std::string& mine = all[static_cast<std::size_t>(check::state.rank)];
    ++check::state.checks;
    if (mine != all[0])
        check::fail(file, line, check::text("{}: rank 0 has {}, this one {}", call, all[0], mine));
    judge(file, line, call, status, accepted, words);
}

#define OK(call)                                                                                   \
    do {                                                                                           \
        check::step(#call);                                                                        \
        const int status_of_call = call;                                                           \
        CHECK_TEXT(status_of_call == TW_OK, "{}: {}", status_of_call, calls::text());              \
    } while (false)

// Calls act() on the model's ranks of a session, which test together meanwhile.
template <class Act>
void in_session(const std::string& settings, Act&& act) {
    OK(tw_init(MPI_COMM_WORLD, settings.c_str(), &session));
    tw_role role = TW_MODEL;
    OK(tw_inq_role(session, &role));
    if (role == TW_MODEL) {
        MPI_Comm model = MPI_COMM_NULL;
        OK(tw_model_comm(session, &model));
        check::use(model);
        act();
        check::use(MPI_COMM_WORLD);
    }
    OK(tw_finalize(&session));
}

}  // namespace calls

// A call that is judged on this rank only, and one that is judged on all ranks alike. The call
// comes last, because it may contain commas.
#define HERE(accepted, words, ...)                                                                 \
    do {                                                                                           \
        check::step(#__VA_ARGS__);                                                                 \
        calls::judge(__FILE__, __LINE__, #__VA_ARGS__, __VA_ARGS__, accepted, words);              \
    } while (false)
#define ALL(accepted, words, ...)                                                                  \
    do {                                                                                           \
        check::step(#__VA_ARGS__);                                                                 \
        calls::judge_all(__FILE__, __LINE__, #__VA_ARGS__, __VA_ARGS__, accepted, words);          \
    } while (false)
#define REFUSED(call, code, words) ALL(code, words, call)
#define WORDS(...) (calls::Words{__VA_ARGS__})
#define CODES(...) (calls::Codes{__VA_ARGS__})
