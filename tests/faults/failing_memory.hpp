// Calls whose n-th allocation throws std::bad_alloc on one rank, for every n.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "thalweg/thalweg.h"

namespace failing_memory {

/// Whether the status is TW_OK, or tells of memory.
bool is_expected(tw_session session, int status);

/// Makes a call of this rank, whose n-th allocation fails.
/// @param n     -1: none does
/// @param most  how many there were
int failed_call(const std::function<int()>& call, long n, long& most);

/// Lets the memory of ranks fail that are in a call of their own meanwhile, as servers are: on all
/// ranks, before they are. One machine is assumed.
/// @param path  of a file that is made for it
void reach_all(const std::string& path);

/// Makes a call with the n-th allocation failing on a rank, until it makes no more; then with
/// another rank.
class Trial {
public:
    /// @param every   takes one of so many allocations
    /// @param others  ranks of MPI_COMM_WORLD that make no calls, and whose memory fails in turn
    Trial(tw_session session, long every, std::vector<int> others = {})
        : session_(session), every_(every), others_(std::move(others)) {}

    /// The status is the same on every rank, and tells of memory if it is an error.
    /// @param call    whose memory fails; collective, unless calls_wait is false
    /// @param before  makes ready what the call needs
    /// @param after   takes the call's status, and undoes what it did
    void run(const char* name, const std::function<void()>& before,
             const std::function<int()>& call, const std::function<void(int)>& after);
    long calls() const { return calls_; }
    /// Whether the calls to come are collective.
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
