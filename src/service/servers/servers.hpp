// The servers of a session, and the memory and communicators that they share with the model ranks.
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
    /// Makes the servers. Throws std::bad_alloc on all ranks if one of them runs out of memory.
    /// @param world  model ranks and servers together
    /// @param last   the last ranks become servers, instead of some ranks of every node
    /// @note Collective over world; the status is the same on every rank
    static std::unique_ptr<Servers> make(std::unique_ptr<Comm> world, int node_size, int number,
                                         bool last, Status& status);
    ~Servers();

    /// Returns the team of model ranks and servers.
    Team& all() { return *all_; }
    /// Sets the trace that the first model rank writes when the servers end. The arguments are read
    /// at that time.
    void keep_trace(Trace& trace, const std::string& path);
    /// Returns the result of writing the trace, on the first model rank after end().
    const Status& trace_status() const { return trace_status_; }

    bool is_server() const { return writer_ >= 0; }
    /// Works as a server until the model ranks of all these sessions have called end(). Ends the
    /// job if there is no memory even for a message.
    /// @param among  connects the servers, in the same order in all sessions; null: there is one
    /// session
    /// @note Collective over the servers, with the same sessions in the same order
    static void serve(std::span<Servers* const> sessions, Transport* among);

    /// Notes that no rank has become a server, so that end() does nothing. Called on all ranks.
    void give_up_serving() { ended_ = true; }

    // Only model ranks call the following functions.
    // Returns the model's communicator. Can be called only once.
    std::unique_ptr<Comm> take_model() { return std::move(part_); }
    ServerConnection& port() { return *port_; }
    /// Abandons the communicators; see give_up(Comm&).
    void give_up();
    /// Ends the servers' work. Every model rank calls it when its files are closed.
    /// @note Collective over the model ranks
    void end();

private:
    struct Post;
    Servers() = default;
    void write_trace();
    std::unique_ptr<Team> all_;
    ServerRoles server_roles_;
    int writer_ = -1;             ///< number of this server; -1 on a model rank
    std::unique_ptr<Comm> part_;  ///< communicator of the model ranks, or of the servers
    std::unique_ptr<Comm> messages_;
    std::unique_ptr<Memory> memory_;  ///< memory of the node table
    std::unique_ptr<Transport> transport_;
    std::unique_ptr<ServerConnection> port_;
    Trace* trace_ = nullptr;
    const std::string* trace_path_ = nullptr;
    Status trace_status_;
    bool ended_ = false;
};

}  // namespace thalweg::detail
