// Calls whose n-th allocation throws std::bad_alloc on one rank, for every n.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "thalweg/thalweg.h"

namespace failing_memory {

/// Tests if a status is TW_OK, or an error about memory.
bool is_expected(tw_session session, int status);

/// Makes a call on this rank. Its n-th allocation fails.
/// @param n     -1: none fails
/// @param most  receives the number of allocations
int failed_call(const std::function<int()>& call, long n, long& most);

/// Prepares to make allocations fail on ranks that are in another call, such as servers. Must be
/// called on all ranks, which must be on one machine.
/// @param path  file that is created to share the state
void reach_all(const std::string& path);

/// Repeats a call with its n-th allocation failing on one rank, for n = 1, 2, ..., until the call
/// makes fewer allocations. Then does the same on another rank.
class Trial {
public:
    /// @param every   test only every n-th allocation, where n is this number
    /// @param others  ranks of MPI_COMM_WORLD that make no calls, whose allocations fail in turn
    Trial(tw_session session, long every, std::vector<int> others = {})
        : session_(session), every_(every), others_(std::move(others)) {}

    /// Checks that the status is the same on every rank, and that an error is about memory.
    /// @param call    call whose allocations fail; collective, unless calls_wait is false
    /// @param before  prepares the call
    /// @param after   gets the call's status, and undoes its effects
    void run(const char* name, const std::function<void()>& before,
             const std::function<int()>& call, const std::function<void(int)>& after);
    long calls() const { return calls_; }
    /// The calls that follow are collective.
    bool calls_wait = true;

private:
    void run_others(const char* name, const std::function<void()>& before,
                    const std::function<int()>& call, const std::function<void(int)>& after);
    void alike(const char* name, long n, int victim, int status) const;

    tw_session session_;
    long every_;
    std::vector<int> others_;
    long calls_ = 0;
};

}  // namespace failing_memory
