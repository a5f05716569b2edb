// A file on a server: its queue, and the messages about it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "service/queue/unit_writer.hpp"
#include "service/servers/file_description.hpp"
#include "service/servers/replies.hpp"

namespace thalweg::detail {

class FileOnServer final : public UnitWriterHost {
public:
    FileOnServer(ServerPlace& place, Replies& replies, BetweenPieces& pause, std::int64_t serial)
        : place_(place), replies_(replies), pause_(pause), serial_(serial) {}

    /// Reads the file's description, before create().
    Status describe(const std::vector<char>& body);
    /// Creates the file on all servers.
    /// @return the same on all
    /// @note Collective over the servers
    Status create();
    /// Answers the current command with this server's information on the file.
    void reply(const Status& status);

    const std::string& path() const { return description_.plan.path; }
    /// Tests if each writer writes a file of its own.
    bool own_files() const { return description_.plan.layout.grid.own_files; }

    /// Handles a message for the file, except for a close.
    void handle(Message& message);
    /// Works, at most one unit.
    /// @return true if there was something to do
    bool work() { return unit_writer_->work(); }
    /// Does periodic work, after a unit or without one.
    void attend();
    void fail(const Status& status) {
        if (unit_writer_) unit_writer_->fail(status);
    }
    /// Closes the file, and answers.
    void close(const std::vector<char>& body);

    bool forwards() const override { return forwards_; }
    bool may_forward() override;
    /// Forwards data of this node's ranks to other nodes' writers; each of these is served by one
    /// server of the node.
    void forward(std::span<const UnitPart> unit_parts) override;
    /// Counts records that all have written, on the first server; spreads errors.
    void report() override;
    void accepted(int feeder) override;
    void between_pieces() override;

private:
    Status create_storage();
    Status set_up();
    Status add_regions();
    void finish();
    void count();
    void take_places(std::vector<char> placed);
    void give_room(const Message& message);
    void ask_for_room();
    void spread_failure(const Status& status, int from);
    void learn(const Message& message);
    void tell_deadlock();

    ServerPlace& place_;
    Replies& replies_;
    BetweenPieces& pause_;
    std::int64_t serial_;
    FileDescription description_;
    FileMap map_;
    std::unique_ptr<Storage> storage_;
    Spaces spaces_;
    std::unique_ptr<UnitWriter> unit_writer_;
    bool forwards_ = false;
    std::int64_t marks_wanted_ = -1;  ///< a finish_file waits for so many marks
    bool durable_ = false;
    bool count_wanted_ = false;  ///< a count_file waits for the others' reports
    bool count_durable_ = false;
    bool room_asked_ = false;           ///< the first server was asked for room in the file
    std::int64_t under_way_ = 0;        ///< messages to other servers, not yet used
    std::vector<std::int64_t> rounds_;  ///< rounds of each server below and those below it
    std::int64_t reported_ = 0;         ///< rounds that were reported to the server above
    std::vector<char> placed_;          ///< places to be reported to it, see Placement
    bool failed_ = false;               ///< all have been informed of an error
    Deadlock seen_;                     ///< state of the ranks that this server knows of,
    double seen_at_ = 0;
    Deadlock told_;  ///< and the last one that was passed on
};

}  // namespace thalweg::detail
