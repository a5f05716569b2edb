// What a server does for one session: takes commands and parcels until the session ends. One
// thread, no blocking waits but for the system's writes and the creation of files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>

#include "service/servers/file_on_server.hpp"
#include "service/servers/turns.hpp"

namespace thalweg::detail {

class Server final : public BetweenPieces {
public:
    /// @param peers  the servers' communicator, in the crew's order
    /// @param board  of this node
    Server(const Crew& crew, int writer, Transport& transport, Comm& peers, const Board& board)
        : place_(crew, writer, transport, peers, board), replies_(place_) {}
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Its session is one of several that these servers serve.
    void share(Turns& turns, std::int64_t session) {
        turns_ = &turns;
        session_ = session;
    }

    /// Does what there is: a message, a unit of each file.
    /// @return whether there was something to do
    /// @throw std::bad_alloc where not even the reserve is enough to pass on a command
    bool work();
    /// Whether the session has ended and nothing is left to do.
    bool ended() const { return ended_ && place_.transport.idle(); }

    /// The next steps come in while one is written.
    void between_pieces() override;

private:
    bool take_message();
    void fail_files(const Message& message, const Status& why);
    void pass_on(const Message& message);
    void handle(Message& message);
    void refuse(std::int64_t file);
    void open(const Message& message);
    bool open_in_turn();
    void close(const Message& message);

    ServerPlace place_;
    Replies replies_;  ///< to commands
    std::map<std::int64_t, FileOnServer> files_;
    std::int64_t working_ = -1;       ///< the file that is being worked on
    std::vector<Message> postponed_;  ///< closes of it
    bool ended_ = false;
    Turns* turns_ = nullptr;       ///< null: these servers serve one session
    std::int64_t session_ = 0;     ///< its number among those that they serve
    std::deque<Message> opening_;  ///< of it, in their order; they wait for their turns
};

}  // namespace thalweg::detail
