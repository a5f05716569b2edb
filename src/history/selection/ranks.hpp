// The agreements of the ranks in a history. Steps without records make none.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/status.hpp"
#include "comm/comm.hpp"
#include "thalweg/session.h"

namespace thalweg::history {

using detail::OfRank;
using detail::OfVariable;
using detail::Status;

class Ranks {
public:
    virtual ~Ranks() = default;

    virtual tw_session session() const = 0;
    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// Returns the history's number among those of the session that are open, from 0.
    virtual int number() const = 0;
    /// Agrees with the other ranks in the present call.
    /// @param mine    this rank's own failure so far
    /// @param detail  value that must be the same on all ranks
    /// @param any     words that are combined by `or`
    /// @param most    receives the largest detail of all ranks, also if a rank has failed
    /// @return the same on every rank
    /// @note Collective
    virtual Status agree(const Status& mine, std::int64_t detail, std::span<std::int64_t> any,
                         std::int64_t* most = nullptr) = 0;
    /// Combines words by the minimum. @return the same on every rank @note Collective
    virtual Status least(std::span<std::int64_t> words) = 0;
    /// Combines words by the maximum, and others by the sum, in one reduction.
    /// @return the same on every rank @note Collective
    virtual Status combine(std::span<std::int64_t> most, std::span<std::int64_t> sums) = 0;
    /// Sends packets to their ranks, and replaces them by those received, ordered by rank.
    /// @return TW_OK, TW_ENOMEM on this rank alone @note Collective
    virtual Status exchange(std::vector<detail::Packet>& packets) = 0;
    /// Reads a file of text on rank 0 for all. @return the same on every rank @note Collective
    virtual Status read(const std::string& path, std::string& text) = 0;

    /// Returns the value of one of a file's settings, given those that are passed to tw_create.
    virtual std::string setting(const std::string& settings, const char* name) const = 0;

    /// Returns the status of a call of the public interface, with its text.
    Status status(tw_status code) const {
        if (code == TW_OK) return {};
        Status failed{code, tw_error_message(session())};
        detail::ErrorLocation& place = failed.place;
        const char *file = "", *variable = "";
        if (tw_error_place(session(), &file, &variable, &place.record, &place.rank) == TW_OK) {
            place.file = file;
            place.variable = variable;
        }
        return failed;
    }
};

/// Assigns a failure to `kept`, unless `kept` is a failure already.
inline void keep_first(Status& kept, Status status) {
    if (kept.ok() && !status.ok()) kept = std::move(status);
}

}  // namespace thalweg::history
