// Checks for programs without MPI: each failure is printed and counted.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>

inline int failures = 0;

inline void check(bool ok, const char* what, int line) {
    if (ok) return;
    ++failures;
    std::fprintf(stderr, "line %d: failed: %s\n", line, what);
}
#define CHECK(condition) check(condition, #condition, __LINE__)
