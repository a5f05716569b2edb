// The timeline of a run, in Chrome's trace event format: ranks are processes, with their threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/trace.hpp"
#include "comm/team.hpp"

namespace thalweg::detail {

class Trace {
public:
    /// Compares the clocks of the nodes.
    /// @param memory  bytes of this rank for events
    /// @note Collective over team; null where `status`, the same on every rank, is an error
    static std::unique_ptr<Trace> make(Team& team, std::int64_t memory, Status& status);

    TraceLane& own() { return own_; }        ///< of the thread that the model, or a server, is in
    TraceLane& writer() { return writer_; }  ///< of the thread that writes in the background
    /// "model rank 2", in front of the threads' names.
    void describe(std::string rank, std::string thread) {
        rank_ = std::move(rank);
        thread_ = std::move(thread);
    }

    /**
     * The root writes the events of all ranks, which take turns to send theirs a piece at a time.
     * Events that end later are lost.
     * @param world  the ranks of make()
     * @param path   known to the root; empty: nothing is written
     * @return on the root whether it could; elsewhere TW_OK. @note Collective over world
     */
    Status write(Comm& world, int root, const std::string& path);

private:
    class Writer;
    Trace(std::int64_t memory, double zero) : own_(memory / 2), writer_(memory / 2), zero_(zero) {}
    /// Hands the events to `sink` as text, in pieces; each begins with a comma.
    template <class Sink>
    void format(int rank, Sink&& sink) const;

    void send(Comm& world, int root) const;
    static std::int64_t receive(Comm& world, int rank, Writer& writer, std::string& text);
    std::int64_t left_out() const { return own_.left_out() + writer_.left_out(); }

    TraceLane own_, writer_;
    double zero_;  ///< this rank's now() when the trace begins
    std::string rank_ = "rank", thread_ = "model";
};

}  // namespace thalweg::detail
