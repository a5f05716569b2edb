// A file on a server: its queue, and the messages about it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "service/queue/writer/unit_writer.hpp"
#include "service/servers/server_node.hpp"

namespace thalweg::detail {

/// The news of a file that its servers pass on: up the tree to the first server, what they have
/// written; to the servers of other nodes, which cannot see it, that ranks have entered collective
/// calls.
class ServerNews {
public:
    /// @param file  serial number of the file
    ServerNews(const ServerNode& node, std::int64_t file)
        : node_(node), file_(file), rounds_(node.below.size(), 0) {}

    /// Takes the report of a server below this one: the number of rounds written, and the places of
    /// their chunks.
    /// @param placement  interface by which this server gets places; null if it knows them
    void take_report(const Message& message, Placement* placement);
    /// Reports to the server above this one, if there is anything new. On the first server, tells
    /// `rounds` what the other servers have written.
    void report(FileRounds& rounds, Placement* placement);

    /// Takes a message about a collective call, from the rank itself or from another server.
    void take_call(const Message& message, UnitWriterSources& sources);
    /// Informs the servers of other nodes of collective calls. Waits first until nothing has
    /// changed for a while: usually the other ranks are only a little behind.
    void spread_calls(const UnitWriterSources& sources);

private:
    const ServerNode& node_;
    std::int64_t file_;
    /// For each server below this one, the smallest number of rounds of that server and of the
    /// servers below it.
    std::vector<std::int64_t> rounds_;
    std::int64_t reported_ = 0;  ///< rounds that were reported
    std::vector<char> placed_;   ///< encoded places of chunks to be reported, see Placement
    Deadlock seen_;              ///< latest state of the ranks that this server knows of
    double seen_at_ = 0;         ///< time when it was new, in seconds
    Deadlock sent_;              ///< state that was last sent to other servers
};

class FileOnServer final : public UnitWriterEvents {
public:
    FileOnServer(ServerNode& node, BetweenPieces& pause, std::int64_t serial)
        : node_(node), pause_(pause), serial_(serial), news_(node, serial) {}

    /// Reads the file's description, before create().
    Status describe(const std::vector<char>& body);
    /// Creates the file on all servers.
    /// @return the same on every server
    /// @note Collective over the servers
    Status create();
    /// Answers the current command with this server's information on the file.
    void reply(const Status& status);

    const std::string& path() const { return plan_.path; }
    /// Tests if each writer writes a file of its own.
    bool own_files() const { return plan_.layout.grid.own_files; }

    /// Handles a message for the file, except for a close.
    void handle(Message& message);
    /// Does some work, at most one unit. @return true if there was something to do
    bool work() { return unit_writer_->work(); }
    /// Does periodic work, whether or not a unit was written.
    void attend();
    void fail(const Status& status) {
        if (unit_writer_) unit_writer_->state().fail(status);
    }
    /// Closes the file, and answers.
    void close(const std::vector<char>& body);

    bool forwards() const override { return !node_.fed.empty(); }
    bool may_forward() override;
    /// Sends data of this node's ranks to the writers of other nodes. The servers of a node share
    /// these writers among them.
    void forward(std::span<const UnitPart> unit_parts) override;
    /// On the first server, counts the records that all servers have written; informs other servers
    /// of errors.
    void report() override;
    void accepted(int sender) override;
    void between_pieces() override;

private:
    Status create_storage();
    Status set_up();
    Status add_regions();
    void finish();
    void count();
    void give_room(const Message& message);
    void ask_for_room();
    void spread_failure(const Status& status, int from);

    /// A command to write everything that was published before it.
    struct Finish {
        std::int64_t marks;  ///< UnitWriter::rounds().marks() to be reached
        bool durable;
    };

    ServerNode& node_;
    BetweenPieces& pause_;
    std::int64_t serial_;
    Definitions definitions_;
    ServicePlan plan_;
    std::unique_ptr<Storage> storage_;
    FileSections sections_;
    std::unique_ptr<UnitWriter> unit_writer_;
    std::optional<Finish> finish_;  ///< a finish_file that is not yet answered
    /// A count_file that waits for reports of the other servers: sync the count to the disk?
    std::optional<bool> count_durable_;
    bool room_asked_ = false;  ///< the first server was asked for room in the file
    /// Number of messages to other servers that they have not used yet.
    std::int64_t under_way_ = 0;
    bool failed_ = false;  ///< the error has been sent to all
    ServerNews news_;
};

}  // namespace thalweg::detail
