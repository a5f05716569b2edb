// Calls whose n-th allocation throws std::bad_alloc on one rank, for every n.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "thalweg/thalweg.h"

namespace failing_memory {

/// Whether the status is TW_OK, or tells of memory.
bool is_expected(tw_session session, int status);

/// Makes a call with the n-th allocation failing on a rank, until it makes no more; then with
/// another rank.
class Trial {
public:
    /// @param every  takes one of so many allocations
    Trial(tw_session session, long every) : session_(session), every_(every) {}

    /// The status is the same on every rank, and tells of memory if it is an error.
    /// @param call    whose memory fails; collective
    /// @param before  makes ready what the call needs
    /// @param after   takes the call's status, and undoes what it did
    void run(const char* name, const std::function<void()>& before,
             const std::function<int()>& call, const std::function<void(int)>& after);
    long calls() const { return calls_; }

private:
    void alike(const char* name, long n, int victim, int status) const;

    tw_session session_;
    long every_;
    long calls_ = 0;
};

}  // namespace failing_memory
