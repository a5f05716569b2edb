// The servers of a session, and what they share with the other ranks.
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
    /// Makes the servers. Throws NoMemoryAnywhere on all ranks.
    /// @param world  model ranks and servers together
    /// @param last   the last ranks serve, instead of some of every node
    /// @note Collective over world; the status is the same on every rank
    static std::unique_ptr<Servers> make(std::unique_ptr<Comm> world, int node_size, int number,
                                         bool last, Status& status);
    ~Servers();

    /// Returns the team of model ranks and servers.
    Team& all() { return *all_; }
    /// Sets the trace that the first model rank writes when the servers end. Both arguments are
    /// read then.
    void keep_trace(Trace& trace, const std::string& path);
    /// Returns the result of writing it, on the first model rank after end().
    const Status& trace_status() const { return trace_status_; }

    bool is_server() const { return writer_ >= 0; }
    /// Serves, on a server: works until end() is called on the model's side of all of these
    /// sessions. Ends the job if there is no memory even for a message.
    /// @param among  the servers, in the same order in all sessions; null: there is one session
    /// @note Collective over the servers, with the same sessions in the same order
    static void serve(std::span<Servers* const> sessions, Transport* among);

    /// Notes on all ranks, before any has served, that there is nothing to end.
    void give_up_serving() { ended_ = true; }

    // On model ranks:
    /// Returns the model's communicator, once.
    std::unique_ptr<Comm> take_model() { return std::move(part_); }
    Port& port() { return *port_; }
    /// Gives up; see give_up(Comm&).
    void give_up();
    /// Lets the servers return. Every model rank calls it when its files are closed.
    /// @note Collective over the model ranks
    void end();

private:
    struct Post;
    Servers() = default;
    void write_trace();
    std::unique_ptr<Team> all_;
    ServerRoles server_roles_;
    int writer_ = -1;             ///< number of this server
    std::unique_ptr<Comm> part_;  ///< of the model ranks, or of the servers
    std::unique_ptr<Comm> messages_;
    std::unique_ptr<Memory> memory_;  ///< doorbell of the node
    std::unique_ptr<Transport> transport_;
    std::unique_ptr<Port> port_;
    Trace* trace_ = nullptr;
    const std::string* trace_path_ = nullptr;
    Status trace_status_;
    bool ended_ = false;
};

}  // namespace thalweg::detail
