// The agreements of the ranks in a history. Steps without records make none.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "comm/call_agreement.hpp"
#include "thalweg/session.h"

namespace thalweg::history {

using detail::failure;
using detail::OfRank;
using detail::OfVariable;
using detail::Status;

/// Reads a file of text on rank 0 for all. @return the same on every rank @note Collective
Status read_text(tw_session session, const std::string& path, std::string& text);

/// The ranks of a history, which agree by the session's call agreement. Collective methods return
/// the same on every rank, unless they say otherwise.
class Ranks {
public:
    /// @param number  number of the history among those of the session that are open, from 0
    Ranks(tw_session session, int number) : session_(session), number_(number) {}

    tw_session session() const { return session_; }
    int rank() const;
    int size() const;
    int number() const { return number_; }
    /// Begins a call of the history's C functions.
    void begin(detail::Call call) { call_ = call; }

    /// Agrees with the other ranks in the present call.
    /// @param mine    this rank's own failure so far
    /// @param detail  value that must be the same on all ranks
    /// @param any     words that are combined by `or`
    /// @param most    receives the largest detail of all ranks, also if a rank has failed
    /// @note Collective
    Status agree(const Status& mine, std::int64_t detail, std::span<std::int64_t> any,
                 std::int64_t* most = nullptr);
    /// Combines words, the same number on every rank. @note Collective
    Status reduce(std::span<std::int64_t> words, detail::Reduce by);
    /// Sends packets to their ranks, and replaces them by those received, ordered by rank.
    /// @return TW_OK, TW_ENOMEM on this rank alone @note Collective
    Status exchange(std::vector<detail::Packet>& packets);
    /// Reads a file of text on rank 0 for all. @note Collective
    Status read(const std::string& path, std::string& text);

    /// Returns the status of a call of the public interface, with its text.
    Status status(tw_status code) const;

private:
    template <class Act>
    Status measured(Act&& act) const;

    tw_session session_;
    int number_;
    detail::Call call_ = detail::Call::history_open;
};

/// Assigns a failure to `kept`, unless `kept` is a failure already.
inline void keep_first(Status& kept, Status status) {
    if (kept.ok() && !status.ok()) kept = std::move(status);
}

/// A series of calls of the public interface, of which the first failure is kept.
class Checks {
public:
    explicit Checks(const Ranks& ranks) : ranks_(ranks) {}
    void operator()(tw_status code) {
        if (status.ok()) status = ranks_.status(code);
    }
    void operator()(Status next) { keep_first(status, std::move(next)); }
    /// Checks a call that may return a certain code. @return false if it did
    bool unless(tw_status permitted, tw_status code) {
        if (code != permitted) (*this)(code);
        return code != permitted;
    }
    bool ok() const { return status.ok(); }

    Status status;

private:
    const Ranks& ranks_;
};

}  // namespace thalweg::history
