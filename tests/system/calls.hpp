// Macros for calls of one session. Each is a named step, and succeeds or is refused on all ranks
// alike.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_CALLS_HPP
#define THALWEG_TESTS_SYSTEM_CALLS_HPP

#include <string>
#include <vector>

#include "check.hpp"
#include "thalweg/thalweg.h"

namespace calls {

inline tw_session session = nullptr;

inline std::string text() { return tw_error_message(session); }

// Checks the code of an error on every rank, and words in its text, which must be the same on every
// rank.
inline void refused(const char* file, int line, int status, int code, const std::string& words) {
    const std::string said = text();
    const std::vector<std::string> all = check::gather(said);
    check::state.checks += 2;
    if (status != code || said.find(words) == std::string::npos)
        check::fail(
            file, line,
            check::text("%d: %s; expected %d: %s", status, said.c_str(), code, words.c_str()));
    if (all[0] != said)
        check::fail(file, line,
                    check::text("rank 0 says %s, this one %s", all[0].c_str(), said.c_str()));
}

#define OK(call)                                                                                   \
    do {                                                                                           \
        check::step("%s", #call);                                                                  \
        const int status = call;                                                                   \
        CHECK_TEXT(status == TW_OK, "%d: %s", status, calls::text().c_str());                      \
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

#define REFUSED(call, code, words)                                                                 \
    do {                                                                                           \
        check::step("%s", #call);                                                                  \
        calls::refused(__FILE__, __LINE__, call, code, words);                                     \
    } while (false)

#endif
