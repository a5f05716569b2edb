// Fixtures for the tests of array extents.
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_FORMS_HPP
#define THALWEG_TESTS_SYSTEM_FORMS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "system/model.hpp"
#include "thalweg/thalweg.h"

namespace forms {

using Numbers = std::vector<std::int64_t>;
using Words = std::vector<std::string>;

inline std::string folder;

/// Checks a call of one rank: its code, and words in the text of its error.
inline void judge(int line, Model& m, int status, int wanted, const Words& words) {
    const std::string text = status == TW_OK ? "" : m.error();
    ++check::state.checks;
    if (status != wanted)
        check::fail(__FILE__, line,
                    check::text("%s (%s) instead of %s", tw_strerror(status), text.c_str(),
                                tw_strerror(wanted)));
    if (status != wanted) return;
    for (const std::string& word : words)
        if (text.find(word) == std::string::npos)
            check::fail(__FILE__, line,
                        check::text("no \"%s\" in: %s", word.c_str(), text.c_str()));
}

/// Checks a collective call: code and text are the same on all ranks.
inline void judge_all(int line, Model& m, int status, int wanted, const Words& words) {
    judge(line, m, status, wanted, words);
    if (status == TW_OK) return;
    const std::vector<std::string> texts = check::gather(m.error());
    for (const std::string& text : texts)
        if (text != texts[0])
            check::fail(__FILE__, line, "ranks have \"" + texts[0] + "\" and \"" + text + "\"");
}

#define HERE(code, words, ...) judge(__LINE__, m, __VA_ARGS__, code, words)
#define ALL(code, words, ...) judge_all(__LINE__, m, __VA_ARGS__, code, words)
#define OK(...) judge(__LINE__, m, __VA_ARGS__, TW_OK, {})
#define WORDS(...) (Words{__VA_ARGS__})

inline double value(std::int64_t record, std::int64_t j, std::int64_t i) {
    return static_cast<double>(100000 * record + 100 * j + i);
}

constexpr double junk = -7;

inline Numbers dense_strides(const Numbers& extent) {
    Numbers stride(extent.size());
    std::int64_t step = sizeof(double);
    for (std::size_t d = extent.size(); d-- > 0; step *= extent[d]) stride[d] = step;
    return stride;
}

/// Checks that the records of "T" have the values value() gives, by reading all of them.
inline void expect_records(Model& m, const std::string& path, const Numbers& shape,
                           std::int64_t records) {
    tw_file f = nullptr;
    OK(tw_open(m.session, path.c_str(), "", &f));
    std::vector<double> all(static_cast<std::size_t>(shape[0] * shape[1]));
    for (std::int64_t r = 0; r < records; ++r) {
        OK(tw_get(f, "T", nullptr, r, TW_DOUBLE, all.data(), shape[0] * shape[1]));
        int wrong = 0;
        for (std::int64_t j = 0; j < shape[0]; ++j)
            for (std::int64_t i = 0; i < shape[1]; ++i)
                wrong += all[static_cast<std::size_t>(j * shape[1] + i)] != value(r, j, i);
        CHECK_TEXT(wrong == 0, "%d wrong values in record %d of %s", wrong, static_cast<int>(r),
                   path.c_str());
    }
    OK(tw_close(&f));
}

// In forms_padded.cpp:
void padded(Model& m, const std::string& settings);
void padded_halos(Model& m, const std::string& settings);
void blocks_without_padding(Model& m, const std::string& settings);
void bad_padding(Model& m, const std::string& settings);

}  // namespace forms

#endif
