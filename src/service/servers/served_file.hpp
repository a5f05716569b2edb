// Service "servers", seen from the model: commands to the servers, and files that they write.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>

#include "service/queue/publisher.hpp"
#include "service/queue/standstill.hpp"
#include "service/servers/crew.hpp"
#include "service/servers/transport.hpp"

namespace thalweg::detail {

/// A model rank's end of the messages, shared by the files of a session.
class Port {
public:
    Port(const Crew& crew, Transport& transport, Word& doorbell)
        : crew_(crew), transport_(transport), doorbell_(doorbell) {}

    struct Inbox {
        std::vector<std::int64_t> accepted;  ///< units that each server has used
        Region* region = nullptr;            ///< for failures
        Standstill standstill;               ///< as the servers tell
        std::deque<Message> replies;
    };

    const Crew& crew() const { return crew_; }
    Word& doorbell() { return doorbell_; }
    Transport& transport() { return transport_; }
    Inbox& inbox(std::int64_t file) { return inboxes_[file]; }
    void forget(std::int64_t file) { inboxes_.erase(file); }

    /// Takes in what has arrived.
    void poll();
    /// Sends a command to servers and waits for their answers, sleeping in between.
    /// @param counts  receives the sum of what they have written; may be null
    /// @param map     receives where the file's data lie; may be null
    Status ask(MessageKind kind, std::int64_t file, const std::vector<char>& body, bool all,
               WriteCounts* counts = nullptr, FileMap* map = nullptr);
    /// Lets the servers return. From the first model rank.
    void end();

private:
    const Crew& crew_;
    Transport& transport_;
    Word& doorbell_;
    std::map<std::int64_t, Inbox> inboxes_;
};

/// @param team  of the model ranks
/// @note Collective over the model ranks; the status is the same on every rank
std::unique_ptr<Publisher> make_served_file(Team& team, Port& port, const ServicePlan& plan,
                                            Status& status);

}  // namespace thalweg::detail
