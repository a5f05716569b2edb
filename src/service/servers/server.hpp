// What a server does for one session: takes commands and parcels until the session ends. One
// thread, no blocking waits but for the system's writes and the creation of files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "service/queue/desk.hpp"
#include "service/servers/answer.hpp"
#include "service/servers/board.hpp"
#include "service/servers/crew.hpp"
#include "service/servers/file_description.hpp"
#include "service/servers/neighbours.hpp"
#include "service/servers/transport.hpp"
#include "service/servers/turns.hpp"

namespace thalweg::detail {

class Server {
public:
    /// @param peers  the servers' communicator, in the crew's order
    /// @param board  of this node
    Server(const Crew& crew, int writer, Transport& transport, Comm& peers, const Board& board);

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
    bool ended() const { return ended_ && transport_.idle(); }

private:
    struct Served final : DeskHost {
        Served(Server& its_server, std::int64_t its_serial)
            : server(its_server), serial(its_serial) {}
        bool forwards() const override { return forwards_on; }
        bool may_forward() override { return under_way < server.most_under_way(); }
        void forward(std::span<const Parcel> parcels) override { server.forward(*this, parcels); }
        void report() override { server.report(*this); }
        void accepted(int feeder) override;
        void between_pieces() override;

        Server& server;
        std::int64_t serial;
        bool forwards_on = false;
        FileDescription description;
        FileMap map;
        std::unique_ptr<Storage> storage;
        Spaces spaces;
        std::unique_ptr<Desk> desk;
        std::int64_t marks_wanted = -1;  ///< a finish_file waits for them
        bool durable = false;
        bool count_wanted = false;  ///< a count_file waits for the others' reports
        bool count_durable = false;
        bool room_asked = false;           ///< the first server was asked for room in the file
        std::int64_t under_way = 0;        ///< messages to other servers, not yet used
        std::vector<std::int64_t> rounds;  ///< of each server below, and those below it
        std::int64_t reported = 0;         ///< rounds, to the server above
        std::vector<char> placed;          ///< to be told to it, see Placement
        bool failed = false;               ///< which all have been told
        Standstill seen;                   ///< of the ranks that this server hears of,
        double seen_at = 0;
        Standstill told;  ///< and the last one that others have been told of
    };

    /// Bounds what waits on slower servers: a unit that is written there, and the next.
    std::int64_t most_under_way() const {
        return 2 * static_cast<std::int64_t>(crew_.servers().size());
    }
    Status named(Status status) const;
    bool take_message();
    void out_of_memory(const Message& message);
    void pass_on(const Message& message);
    void handle(Message& message);
    void handle(Message& message, Served& served);
    void answer(std::int64_t serial, const Status& status, const Served* served);
    void join(std::int64_t serial, Answer answer);
    void attend(std::int64_t serial, Served& served);

    // server_files.cpp
    template <class Act>
    Status all_do(Act&& act);
    void open(const Message& message);
    bool open_in_turn();
    Status prepare(Served& served);
    Status create(Served& served);
    Status renumbered(Status status) const;
    Status set_up(Served& served);
    void finish(std::int64_t serial, Served& served);
    void count(std::int64_t serial, Served& served);
    void close(const Message& message);

    void forward(Served& served, std::span<const Parcel> parcels);
    void report(Served& served);
    void ask_for_room(Served& served);
    void take_places(Served& served, std::vector<char> placed);
    void spread_failure(Served& served, const Status& status, int from);
    void tell_standstill(std::int64_t serial, Served& served);

    const Crew& crew_;
    int writer_;
    Transport& transport_;
    Comm& peers_;
    Board board_;
    Neighbours neighbours_;
    int node_;
    std::vector<int> fed_;  ///< writers on other nodes that get this node's data from here
    std::map<std::int64_t, Served> files_;
    std::map<std::int64_t, Answers> answers_;  ///< to a command, by file
    std::int64_t working_ = -1;                ///< the file that is being worked on
    std::vector<Message> postponed_;           ///< closes of it
    bool ended_ = false;
    Turns* turns_ = nullptr;       ///< null: these servers serve one session
    std::int64_t session_ = 0;     ///< its number among those that they serve
    std::deque<Message> opening_;  ///< of it, in their order; they wait for their turns
};

}  // namespace thalweg::detail
