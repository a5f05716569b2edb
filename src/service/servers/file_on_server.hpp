// A file on a server: its queue, what the server is told of it, and what it tells.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "service/queue/desk.hpp"
#include "service/servers/file_description.hpp"
#include "service/servers/replies.hpp"

namespace thalweg::detail {

class FileOnServer final : public DeskHost {
public:
    FileOnServer(ServerPlace& place, Replies& replies, BetweenPieces& pause, std::int64_t serial)
        : place_(place), replies_(replies), pause_(pause), serial_(serial) {}

    /// Before create(): what the file is.
    Status describe(const std::vector<char>& body);
    /// The servers create the file together. @return the same on all
    /// @note Collective over the servers
    Status create();
    /// Answers the command at hand, with what this server has of the file.
    void reply(const Status& status);

    const std::string& path() const { return description_.plan.path; }
    /// Whether each writer writes a file of its own.
    bool own_files() const { return description_.plan.layout.grid.own_files; }

    /// A message that came for the file, but for a close.
    void handle(Message& message);
    /// Does what there is, a unit at most. @return whether there was something to do
    bool work() { return desk_->work(); }
    /// What is due now, after a unit or without one.
    void attend();
    void fail(const Status& status) {
        if (desk_) desk_->fail(status);
    }
    /// Closes the file, and answers.
    void close(const std::vector<char>& body);

    bool forwards() const override { return forwards_; }
    bool may_forward() override;
    /// What other nodes' writers need of this node's ranks; each is served by one server of it.
    void forward(std::span<const Parcel> parcels) override;
    /// The first server counts records that all have written; failures are spread.
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
    void tell_standstill();

    ServerPlace& place_;
    Replies& replies_;
    BetweenPieces& pause_;
    std::int64_t serial_;
    FileDescription description_;
    FileMap map_;
    std::unique_ptr<Storage> storage_;
    Spaces spaces_;
    std::unique_ptr<Desk> desk_;
    bool forwards_ = false;
    std::int64_t marks_wanted_ = -1;  ///< a finish_file waits for them
    bool durable_ = false;
    bool count_wanted_ = false;  ///< a count_file waits for the others' reports
    bool count_durable_ = false;
    bool room_asked_ = false;           ///< the first server was asked for room in the file
    std::int64_t under_way_ = 0;        ///< messages to other servers, not yet used
    std::vector<std::int64_t> rounds_;  ///< of each server below, and those below it
    std::int64_t reported_ = 0;         ///< rounds, to the server above
    std::vector<char> placed_;          ///< to be told to it, see Placement
    bool failed_ = false;               ///< which all have been told
    Standstill seen_;                   ///< of the ranks that this server hears of,
    double seen_at_ = 0;
    Standstill told_;  ///< and the last one that others have been told of
};

}  // namespace thalweg::detail
