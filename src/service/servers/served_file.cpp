// SPDX-License-Identifier: Apache-2.0
#include "service/servers/served_file.hpp"

#include <algorithm>

#include "base/clock.hpp"
#include "base/waiting.hpp"
#include "definitions/wire.hpp"
#include "storage/classic/header.hpp"

namespace thalweg::detail {

void ServerConnection::poll() {
    // Number of polls: a message that arrives while MPI looks for one may be visible only at the
    // next poll.
    constexpr int looks = 3;
    Message message;
    for (int vain = 0; vain < looks;) {
        if (!transport_.receive(message)) {
            ++vain;
            continue;
        }
        const auto found = inboxes_.find(message.file);
        if (found == inboxes_.end()) continue;  // message for a file that was closed after an error
        Inbox& box = found->second;
        switch (message.kind) {
            case MessageKind::accepted:
                ++box.accepted[server_roles_.number_of(message.from)];
                break;
            case MessageKind::failed: {
                if (box.region != nullptr) box.region->fail(value_in<Status>(message.body));
                break;
            }
            case MessageKind::call:
                box.deadlock.take(WireReader(message.body).get<Deadlock>());
                break;
            case MessageKind::reply: box.replies.push_back(std::move(message)); break;
            default: break;
        }
    }
}

Answer ServerConnection::ask(MessageKind kind, std::int64_t file, std::vector<char> body) {
    const Waiting waiting("the servers to answer");
    transport_.send(server_roles_.servers().front(), kind, file, std::move(body));
    ring(node_table_.doorbell());
    Inbox& box = inbox(file);
    while (box.replies.empty()) {
        poll();
        if (box.replies.empty()) sleep_seconds(50e-6);
    }
    Answer answer = value_in<Answer>(box.replies.front().body);
    box.replies.pop_front();
    return answer;
}

void ServerConnection::end() {
    transport_.send(server_roles_.servers().front(), MessageKind::end_session, 0, {});
    ring(node_table_.doorbell());
}

namespace {

class ServedFile final : public Publisher {
public:
    ServedFile(Team& team, ServerConnection& port, const ServicePlan& plan, SpareQueues& spares)
        : Publisher(team, plan, spares), port_(port) {}
    ~ServedFile() override { port_.forget(plan_.serial); }

    Status begin() {
        const ServerRoles& server_roles = port_.server_roles();
        const int address = server_roles.model(team_.rank());
        const std::size_t writers = server_roles.servers_of(server_roles.node_of(address)).size();
        const auto prepare = [&]() -> Status {
            const NodeTable& table = port_.node_table();
            if (Status made = make_queue(writers, table.doorbell(), "servers"); !made.ok())
                return made;
            table.write(server_roles.place_of(address), plan_.serial, unit_queue_->memory().name());
            ServerConnection::Inbox& box = port_.inbox(plan_.serial);
            box.region = &unit_queue_->region();
            lone_ = writers == 0;
            if (!lone_) return {};
            box.accepted.assign(server_roles.servers().size(), 0);
            unit_queue_->watch([this] { return sent(); });
            return {};
        };
        if (Status s = team_.agree(prepare()); !s.ok()) return s;
        Answer answer;
        std::vector<char> description;
        if (team_.rank() == 0) description = describe_file(plan_);
        Status status = ask(MessageKind::open_file, std::move(description), answer);
        if (!status.ok()) return status;
        broadcast(team_.world(), answer.map, 0);
        sections_ = make_spaces(*plan_.definitions, answer.map);
        return {};
    }

    bool publish(UnitPart& unit_part, std::int64_t keep) override {
        const std::int64_t before = unit_queue_->published();
        if (!unit_queue_->publish(unit_part, keep)) return false;
        if (is_mark(unit_part.head.kind)) ++marks_;
        if (!lone_) return true;
        if (unit_queue_->published() == before)
            tell_failure();
        else if (!catch_errors([&] { send(unit_part); }).ok())
            fail(failure(TW_ENOMEM, "{}: out of memory for the messages to the servers (rank {})",
                         OfFile{plan_.path}, OfRank{team_.rank()}));
        return true;
    }

    void fail(const Status& status) override {
        Publisher::fail(status);
        if (lone_) tell_failure();
    }

    Status known_failure() override {
        // Ranks that share memory with no server get news of the servers as messages.
        if (lone_) port_.poll();
        return unit_queue_->region().failure();
    }

    void note_call() override {
        unit_queue_->note_call();
        if (!lone_) return;
        // No server sees this rank's memory, so send a message.
        const Deadlock deadlock{unit_queue_->published_by_all(),
                                unit_queue_->region().calls.load(std::memory_order_relaxed)};
        tell(MessageKind::call, message_of(deadlock));
    }

    Status finish(bool durable, std::int64_t& records) override {
        unit_queue_->drain();
        Status status = team_.agree(unit_queue_->region().failure());
        Answer answer;
        // Called even after an error, so that the first server learns what the other servers have
        // written.
        Status finished = ask(MessageKind::finish_file, message_of(marks_, durable), answer);
        if (status.ok()) status = std::move(finished);
        if (status.ok()) status = ask(MessageKind::count_file, message_of(durable), answer);
        if (!status.ok()) unit_queue_->region().fail(status);
        records = answer.records;
        return status;
    }

    Status close(bool good, const LateAttributes& late) override {
        Answer answer;
        Status status = ask(MessageKind::close_file, message_of(good, late), answer);
        counts_ = answer.counts;
        // After an error, the last answer may belong to an earlier command, so servers may still
        // read the queue.
        closed_ = good && status.ok();
        return status;
    }

    WriteCounts counts() const override { return counts_; }
    int writers() const override { return port_.server_roles().servers().size(); }

private:
    /// Sends a command from rank 0 to the servers.
    /// @param answer  receives the answer on rank 0
    /// @return its status, the same on every rank
    /// @note Collective
    Status ask(MessageKind kind, std::vector<char> body, Answer& answer) {
        if (team_.rank() == 0) answer = port_.ask(kind, plan_.serial, std::move(body));
        return team_.agree(answer.status);
    }

    /// Sends news of this rank to its contact, one of the servers.
    void tell(MessageKind kind, std::vector<char> body) {
        const ServerRoles& server_roles = port_.server_roles();
        const int to = server_roles.servers()[server_roles.contact(team_.rank())];
        port_.transport().send(to, kind, plan_.serial, std::move(body));
    }

    void tell_failure() { tell(MessageKind::failed, message_of(unit_queue_->region().failure())); }

    /// Sends a unit to all servers.
    void send(const UnitPart& unit_part) {
        const auto& variables = plan_.definitions->variables;
        const std::vector<int>& servers = port_.server_roles().servers();
        const UnitPart packed =
            with_data(unit_part, unit_queue_->memory().base(), variables, *plan_.boxes);
        for (std::size_t w = 0; w < servers.size(); ++w) {
            std::vector<char> message;
            append_clipped(packed, *layout_, w, sections_, variables, message);
            port_.transport().send(servers[w], MessageKind::unit_parts, plan_.serial,
                                   std::move(message));
        }
    }

    /// Returns the number of units whose messages all servers have used. After an error, the rank
    /// waits for no message.
    std::int64_t sent() {
        port_.poll();
        const ServerConnection::Inbox& box = port_.inbox(plan_.serial);
        Region& region = unit_queue_->region();
        if (region.has_failed()) return INT64_MAX;
        const std::uint32_t calls = region.calls.load(std::memory_order_relaxed);
        if (box.deadlock.stops(unit_queue_->published_by_all(), calls))
            region.stuck.store(calls + 1, std::memory_order_release);
        const auto& n = box.accepted;
        return *std::min_element(n.begin(), n.end());
    }

    ServerConnection& port_;
    bool lone_ = false;  ///< no server on this node, so unit parts are sent as messages
    std::int64_t marks_ = 0;
    WriteCounts counts_;
};

}  // namespace

std::unique_ptr<Publisher> make_served_file(Team& team, ServerConnection& port,
                                            const ServicePlan& plan, SpareQueues& spares,
                                            Status& status) {
    auto file = std::make_unique<ServedFile>(team, port, plan, spares);
    status = file->begin();
    if (!status.ok()) return nullptr;
    return file;
}

}  // namespace thalweg::detail
