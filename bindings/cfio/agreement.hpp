// Agreement of the clients before a collective action.
//
// SPDX-License-Identifier: Apache-2.0
//
// A call that fails on one client returns there at once, without the others. So a client may be in
// its next collective call while the others are still in this one. Every collective call begins
// with an agreement that detects this: calls that do not match fail, and nobody waits forever,
// because in the end all clients meet in cfio_finalize.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "base/hash.hpp"

namespace thalweg::cfio {

enum class Call { create, enddef, close, finalize };

struct Outcome {
    bool together = false;  // all clients are in the same call on the same file
    bool alike = false;     // all clients have passed the same content
    int error = 0;          // error of the lowest client that has one; 0: none
    int client = 0;         // number of this client
};

// Checks with all clients if they make the same call.
// @param file  id of the file; for create, the digest of its arguments. Collective over the
//              clients.
Outcome agree(MPI_Comm clients, Call call, std::int64_t file, std::int64_t content, int error);

// Returns the error of the lowest rank that has one, or 0. Collective.
int first_error(MPI_Comm comm, int error);

// Returns a hash of a text.
inline std::int64_t digest(const std::string& text) {
    return static_cast<std::int64_t>(detail::hash_of(text));
}

}  // namespace thalweg::cfio
