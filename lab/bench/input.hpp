// Ways to read a file's records into the arrays of a model's ranks.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.h>

#include <string>
#include <vector>

#include "fields.hpp"
#include "method.hpp"

namespace thalweg::bench {

/// Reads by the library, in its own session.
/// @note All functions except ask() are collective
class LibraryInput {
public:
    LibraryInput(const Context& context, const std::string& settings);
    ~LibraryInput() { tw_finalize(&session_); }
    LibraryInput(const LibraryInput&) = delete;
    LibraryInput& operator=(const LibraryInput&) = delete;

    void open(const std::string& path);
    /// Requests all variables.
    void ask(int record, const Arrays& arrays) { get_all(TW_DEFERRED, record, arrays); }
    /// Reads one variable per call.
    void get(int record, const Arrays& arrays) { get_all(0, record, arrays); }
    void read() { check(tw_read(file_), "tw_read"); }
    void prefetch() { check(tw_prefetch(file_), "tw_prefetch"); }
    void close() { check(tw_close(&file_), "tw_close"); }

private:
    void get_all(int flags, int record, const Arrays& arrays);
    void check(int status, const char* what) const;

    const Problem& problem_;
    tw_session session_ = nullptr;
    std::vector<tw_decomposition> decompositions_;
    tw_file file_ = nullptr;
};

/// Reads each rank's block by one collective call of PnetCDF for each variable, and reorders it to
/// memory order.
/// @note All functions are collective
class PnetcdfInput {
public:
    explicit PnetcdfInput(const Context& context);

    void open(const std::string& path);
    void read(int record, const Arrays& arrays);
    void close();

private:
    Context context_;
    detail::Throttle throttle_;
    std::vector<std::byte> scratch_;
    int file_ = -1;
};

}  // namespace thalweg::bench
