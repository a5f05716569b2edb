// The ranks of a session that were set aside, and what they share with the others.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>

#include "service/servers/served_file.hpp"
#include "service/servers/server.hpp"
#include "telemetry/trace_file.hpp"

namespace thalweg::detail {

class Servers {
public:
    /// @param world  of model ranks and servers together
    /// @param last   whether the last ranks serve, instead of some of every node
    /// Throws NoMemoryAnywhere on all ranks.
    /// @note Collective over world; the status is the same on every rank
    static std::unique_ptr<Servers> make(std::unique_ptr<Comm> world, int node_size, int number,
                                         bool last, Status& status);
    ~Servers();

    /// Of model ranks and servers.
    Team& all() { return *all_; }
    /// The first model rank writes the trace when the servers end. Both are looked at then.
    void keep_trace(Trace& trace, const std::string& path);
    /// On the first model rank, after end(): whether it could be written.
    const Status& trace_status() const { return trace_status_; }

    bool is_server() const { return writer_ >= 0; }
    /// On a server: works until end() is called on the model's side of all of these sessions.
    /// Ends the job where there is not even memory for a message.
    /// @param among  the servers, in the same order in all sessions; null: there is one session
    /// @note Collective over the servers, with the same sessions in the same order
    static void serve(std::span<Servers* const> sessions, Transport* among);

    /// On all ranks, before any has served: there is nothing to end.
    void give_up_serving() { ended_ = true; }

    // On model ranks
    /// The model's communicator, once.
    std::unique_ptr<Comm> take_model() { return std::move(part_); }
    Port& port() { return *port_; }
    /// See give_up(Comm&).
    void give_up();
    /// Lets the servers return. Every model rank calls it when its files are closed; all meet.
    void end();

private:
    struct Post;
    Servers() = default;
    void write_trace();
    std::unique_ptr<Team> all_;
    Crew crew_;
    int writer_ = -1;             ///< this server's number
    std::unique_ptr<Comm> part_;  ///< of the model ranks, or of the servers
    std::unique_ptr<Comm> messages_;
    std::unique_ptr<Memory> memory_;  ///< the node's doorbell
    std::unique_ptr<Transport> transport_;
    std::unique_ptr<Port> port_;
    Trace* trace_ = nullptr;
    const std::string* trace_path_ = nullptr;
    Status trace_status_;
    bool ended_ = false;
};

}  // namespace thalweg::detail
