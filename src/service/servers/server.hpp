// A server's work for one session: takes commands and unit parts until the session ends. One
// thread, without blocking waits except for the system's writes and the creation of files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <utility>

#include "base/wire.hpp"
#include "service/servers/file_on_server.hpp"
#include "service/servers/server_roles.hpp"
#include "service/servers/transport.hpp"

namespace thalweg::detail {

/// Ends the job with a message, because other ranks wait for this server and it cannot continue.
[[noreturn]] void end_serving(Comm& ranks, const Status& why);

/// The order of actions that the servers of several sessions do together: if one server waited for
/// the others in one session while they wait for it in another, both would wait forever.
class OpenOrder {
public:
    /// Value of `file` that stands for the end of a session.
    static constexpr std::int64_t end = -1;

    /// @param among    connects the servers of all sessions; the first server decides the order
    OpenOrder(Transport& among, std::size_t servers)
        : among_(among), below_(servers_below(among.address(), servers)) {}

    /// Tests if it is the turn of this file of this session. The first server decides the order by
    /// asking: its answer is always yes, and it must then open the file at once. The others ask
    /// again until the answer is yes.
    bool comes(std::int64_t session, std::int64_t file) {
        if (among_.address() == 0) {
            pass_on(session, file);
            return true;
        }
        for (Message message; among_.receive(message);) {
            const auto its = WireReader(message.body).get<std::int64_t>();
            order_.emplace_back(its, message.file);
            pass_on(its, message.file);
        }
        if (order_.empty() || order_.front() != std::pair(session, file)) return false;
        order_.pop_front();
        return true;
    }

private:
    void pass_on(std::int64_t session, std::int64_t file) {
        for (const int to : below_) among_.send(to, MessageKind::turn, file, message_of(session));
    }

    Transport& among_;
    std::vector<int> below_;
    /// Files announced by the first server and not yet opened here.
    std::deque<std::pair<std::int64_t, std::int64_t>> order_;
};

class Server final : public BetweenPieces {
public:
    /// @param peers  communicator of the servers, in their order
    /// @param node_table  memory of this node
    Server(const ServerRoles& server_roles, int writer, Transport& transport, Comm& peers,
           const NodeTable& node_table)
        : node_(server_roles, writer, transport, peers, node_table) {}
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Makes this session one of several that the same servers serve.
    void share(OpenOrder& turns, std::int64_t session) {
        open_order_ = &turns;
        session_ = session;
    }

    /// Handles a message, and works on a unit of each file.
    /// @return true if there was something to do
    bool work();
    /// Tests if the session has ended and nothing is left to do.
    bool ended() const { return ended_ && node_.transport.idle(); }

    /// Receives messages while a step is written.
    void between_pieces() override;

private:
    bool take_message();
    void fail_files(const Status& why);
    void pass_on(const Message& message);
    void handle(Message& message);
    void refuse(std::int64_t file);
    void open(const Message& message);
    bool open_in_turn();
    void close(const Message& message);

    ServerNode node_;
    std::map<std::int64_t, FileOnServer> files_;
    std::int64_t working_ = -1;       ///< number of the file that work() is writing; -1: none
    std::vector<Message> postponed_;  ///< postponed closes of that file
    bool ended_ = false;
    OpenOrder* open_order_ = nullptr;  ///< null: these servers serve only one session
    /// Number of this session among those that the servers serve.
    std::int64_t session_ = 0;
    std::deque<Message> opening_;  ///< files to open in this order, when their turns come
};

}  // namespace thalweg::detail
