// Safe mode, which the variable PNETCDF_SAFE_MODE of the environment switches on: the ranks compare
// the arguments of collective calls with those of the first rank, and return the same code.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <string>
#include <utility>
#include <vector>

#include "pnetcdf/engine/file.hpp"

namespace thalweg::pnetcdf::engine {

// The arguments of a call that must be the same on all ranks. All ranks add the same number.
class Arguments {
public:
    // @param code  code of the call if the ranks pass different values
    void add(int code, Index value) {
        add(code, std::string(reinterpret_cast<const char*>(&value), sizeof value));
    }
    // Adds the n values of an array; none if it is null or n is negative.
    void add(int code, const void* values, Index n, std::size_t bytes) {
        const bool any = values != nullptr && n > 0;
        add(code,
            any ? std::string(static_cast<const char*>(values), static_cast<std::size_t>(n) * bytes)
                : std::string());
    }
    void add(int code, std::string bytes) { all_.emplace_back(code, std::move(bytes)); }
    void add(int code, const char* text) { add(code, std::string(text == nullptr ? "" : text)); }
    // @return 0 if all ranks have passed the arguments of the first one, otherwise the smallest
    //     code of any rank
    // @note Collective
    int compare(MPI_Comm comm) const;

private:
    std::vector<std::pair<int, std::string>> all_;
};

// Returns the smallest of all ranks' codes.
// @note Collective
int smallest_code(MPI_Comm comm, int code);

// Runs a collective action. In safe mode, does so only if all ranks pass the same arguments.
// @param list  list(Arguments&) adds the arguments, or throws the error of a wrong one
// @return PnetCDF's code; in safe mode the same on all ranks
template <class List, class Action>
int on_alike(File& file, List list, Action action) {
    if (!file.is_safe()) return on(file, action);
    Arguments arguments;
    const int wrong = attempt([&] { list(arguments); });
    if (const int code = smallest_code(file.comm(), wrong); code != 0) return code;
    const int differs = arguments.compare(file.comm());
    return differs != 0 ? differs : smallest_code(file.comm(), on(file, action));
}

}  // namespace thalweg::pnetcdf::engine
