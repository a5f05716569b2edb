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
    /// Starts a trace, and measures the differences between the clocks of the nodes.
    /// @param memory  size in bytes of this rank's memory for events
    /// @return null if `status`, the same on every rank, is an error
    /// @note Collective over team
    static std::unique_ptr<Trace> make(Team& team, std::int64_t memory, Status& status);

    /// Returns the lane of the thread that called tw_init, or of a server.
    TraceLane& own() { return own_; }
    /// Returns the lane of the thread that writes in the background.
    TraceLane& writer() { return writer_; }
    /// Sets the name of the rank, such as "model rank 2", and the prefix of its threads' names.
    void describe(std::string rank, std::string thread) {
        rank_ = std::move(rank);
        thread_ = std::move(thread);
    }

    /**
     * Writes the events of all ranks to a file. The ranks send their events to the root one after
     * another, in pieces of limited size. Events that end after this call are lost.
     * @param world  the ranks of make()
     * @param path   path of the file, needed on the root only; empty: write nothing
     * @return the result of writing on the root; TW_OK on other ranks
     * @note Collective over world
     */
    Status write(Comm& world, int root, const std::string& path);

private:
    class Writer;
    Trace(std::int64_t memory, double zero) : own_(memory / 2), writer_(memory / 2), zero_(zero) {}
    /// Formats the events, and passes them to `sink` in pieces of text that begin with a comma.
    template <class Sink>
    void format(int rank, Sink&& sink) const;

    void send(Comm& world, int root) const;
    static std::int64_t receive(Comm& world, int rank, Writer& writer, std::string& text);
    std::int64_t left_out() const { return own_.left_out() + writer_.left_out(); }

    TraceLane own_, writer_;
    double zero_;  ///< time on this rank's clock (now()) at which the trace begins
    std::string rank_ = "rank", thread_ = "model";
};

}  // namespace thalweg::detail
