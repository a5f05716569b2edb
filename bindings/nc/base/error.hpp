// Errors of the interfaces for netCDF programs: a code of netCDF or PIO, and a text.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

#include "base/wire.hpp"
#include "nc/base/ranks.hpp"

namespace thalweg::nc {

struct Error {
    int code = 0;  // netCDF's code; 0: no error
    std::string text;
};

inline constexpr int invalid_argument = -36;  // NC_EINVAL
inline constexpr int out_of_memory = -61;     // NC_ENOMEM
inline constexpr int internal_error = -92;    // NC_EINTERNAL

// Returns the code of netCDF that comes closest to a code of the library.
int code_of(int status);

// If any rank has an error, throws that of the first such rank on every rank.
// @note Collective
void agree(MPI_Comm comm, const Error& error);

// Ends the job with a message, because other ranks wait for this one and it cannot continue.
[[noreturn]] void end_job(MPI_Comm comm, const Error& why);

// Runs an action, and returns the error that it throws.
template <class Action>
Error error_of(Action action) try {
    action();
    return {};
} catch (const Error& thrown) {
    return thrown;
} catch (const std::bad_alloc&) {
    return {out_of_memory, "out of memory"};
} catch (const std::length_error&) {
    return {out_of_memory, "out of memory"};
} catch (const std::exception& thrown) {
    // std::string(NULL) throws this class itself, and all others throw classes derived from it.
    if (typeid(thrown) == typeid(std::logic_error)) return {invalid_argument, "a name is NULL"};
    return {internal_error, thrown.what()};
}

// Runs an action on one rank, and throws its error on all ranks.
// @note Collective
template <class Action>
void on_rank(MPI_Comm comm, int root, Action action) {
    agree(comm, rank_in(comm) == root ? error_of(action) : Error{});
}

// Runs an action on every rank. If it fails on any rank, throws the error of the first such rank on
// all.
// @note Collective
template <class Action>
void on_all(MPI_Comm comm, Action action) {
    agree(comm, error_of(action));
}

// Returns the text of one rank on all ranks.
// @note Collective
std::string broadcast(MPI_Comm comm, int root, std::string text);

// Returns the value of one rank on all ranks.
// @note Collective
template <class T>
T broadcast_value(MPI_Comm comm, int root, const T& value) {
    const std::vector<char> own = detail::message_of(value);
    return detail::value_in<T>(broadcast(comm, root, std::string(own.begin(), own.end())));
}

}  // namespace thalweg::nc
