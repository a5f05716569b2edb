// SPDX-License-Identifier: Apache-2.0
#include "service/servers/served_file.hpp"

#include <algorithm>

#include "comm/clock.hpp"
#include "comm/waiting.hpp"
#include "service/servers/file_description.hpp"
#include "storage/classic/header.hpp"

namespace thalweg::detail {

void Port::poll() {
    for (Message message; transport_.receive(message);) {
        const auto found = inboxes_.find(message.file);
        if (found == inboxes_.end()) continue;  // of a file that was closed after a failure
        Inbox& box = found->second;
        switch (message.kind) {
            case MessageKind::accepted: {
                const auto& servers = crew_.servers;
                const auto at = std::find(servers.begin(), servers.end(), message.from);
                ++box.accepted[at - servers.begin()];
                break;
            }
            case MessageKind::failed: {
                WireReader in(message.body);
                if (box.region != nullptr) box.region->fail(get_status(in));
                break;
            }
            case MessageKind::meets:
                box.standstill.take(WireReader(message.body).get<Standstill>());
                break;
            case MessageKind::reply: box.replies.push_back(std::move(message)); break;
            default: break;
        }
    }
}

Status Port::ask(MessageKind kind, std::int64_t file, const std::vector<char>& body, bool all,
                 WriteCounts* counts, FileMap* map) {
    const Waiting waiting("the servers to answer");
    const std::size_t n = all ? crew_.servers.size() : 1;
    for (std::size_t w = 0; w < n; ++w) transport_.send(crew_.servers[w], kind, file, body);
    ring(doorbell_);
    Inbox& box = inbox(file);
    Status first;
    for (std::size_t answers = 0; answers < n; ++answers) {
        while (box.replies.empty()) {
            poll();
            if (box.replies.empty()) sleep_seconds(50e-6);
        }
        WireReader in(box.replies.front().body);
        const Status status = get_status(in);
        const auto its = in.get<WriteCounts>();
        if (first.ok()) first = status;
        if (counts != nullptr) counts->add(its);
        const auto words = in.get_many<std::vector<std::int64_t>>();
        if (map != nullptr && words.size() >= 3) *map = map_of(words);
        box.replies.pop_front();
    }
    return first;
}

void Port::end() {
    for (int server : crew_.servers) transport_.send(server, MessageKind::end_session, 0, {});
    ring(doorbell_);
}

namespace {

class ServedFile final : public Publisher, public QueueWatcher {
public:
    ServedFile(Team& team, Port& port, const ServicePlan& plan)
        : team_(team), port_(port), plan_(plan), layout_(make_layout(plan.layout)) {}
    ~ServedFile() override { port_.forget(plan_.serial); }

    Status begin() {
        const Crew& crew = port_.crew();
        const int address = crew.models[team_.rank()];
        const int node = crew.node_of[address];
        const auto agents = static_cast<int>(crew.servers_of(node).size());
        std::unique_ptr<Segment> memory;
        Status status = alone([&]() -> Status {
            if (agents > Region::max_agents)
                return failure(TW_ESETTING, "{} servers on a node; at most {} are possible", agents,
                               Region::max_agents);
            Status made;
            memory = Outbox::memory_for(plan_.queue, *plan_.holdings, made, plan_.queue_grows);
            return made;
        });
        SegmentName name;
        if (memory) name = memory->name();
        const auto rows =
            team_.world().gather({reinterpret_cast<const char*>(&name), sizeof name}, 0);
        if (status = team_.agree(status); !status.ok()) return status;
        WireWriter out;
        const auto prepare = [&]() -> Status {
            outbox_ = std::make_unique<Outbox>(std::move(memory), agents, port_.doorbell(),
                                               team_.world(), plan_.queue_grows);
            Port::Inbox& box = port_.inbox(plan_.serial);
            box.region = &outbox_->region();
            box.accepted.assign(crew.servers.size(), 0);
            alone_ = agents == 0;
            if (alone_) outbox_->watch(*this);
            if (team_.rank() != 0) return {};
            std::vector<SegmentName> names;
            for (const auto& row : rows) {
                names.emplace_back();
                std::memcpy(&names.back(), row.data(), sizeof(SegmentName));
            }
            describe_file(plan_, names, out);
            return {};
        };
        if (status = team_.agree(alone(prepare)); !status.ok()) return status;
        FileMap map;
        if (team_.rank() == 0)
            status =
                port_.ask(MessageKind::open_file, plan_.serial, out.bytes, true, nullptr, &map);
        if (status = team_.agree(status); !status.ok()) return status;
        broadcast(team_.world(), map, 0);
        return team_.agree(alone([&]() -> Status {
            spaces_ = make_spaces(*plan_.definitions, map);
            return {};
        }));
    }

    bool publish(Parcel& parcel, std::int64_t keep) override {
        if (!outbox_->publish(parcel, keep)) return false;
        if (is_mark(parcel.head.kind)) ++marks_;
        boxed_ |= parcel.head.kind == UnitKind::boxes;
        if (!alone_) return true;
        const auto& variables = plan_.definitions->variables;
        const Parcel packed = with_data(parcel, outbox_->base(), variables, *plan_.holdings);
        for (std::size_t w = 0; w < port_.crew().servers.size(); ++w) {
            std::vector<char> message;
            append_clipped(packed, *layout_, static_cast<int>(w), spaces_, variables, message);
            port_.transport().send(port_.crew().servers[w], MessageKind::parcels, plan_.serial,
                                   std::move(message));
        }
        return true;
    }

    Status known_failure() override {
        // What the servers tell a rank whose memory they do not share comes as a message.
        const auto look = [&]() -> Status {
            port_.poll();
            return {};
        };
        if (Status status = alone_ ? alone(look) : Status{}; !status.ok()) return status;
        return outbox_->failure();
    }

    void meet() override {
        outbox_->meet();
        if (!alone_) return;
        // No server sees this rank's memory.
        const auto tell = [&]() -> Status {
            const auto& servers = port_.crew().servers;
            WireWriter out;
            out.put(Standstill{outbox_->published(),
                               outbox_->region().meetings.load(std::memory_order_relaxed)});
            port_.transport().send(servers[team_.rank() % servers.size()], MessageKind::meets,
                                   plan_.serial, std::move(out.bytes));
            return {};
        };
        // Without memory for it, only the watchdog would tell of ranks in different calls.
        (void)alone(tell);
    }

    Status finish(bool durable) override {
        outbox_->drain();
        Status status = team_.agree(outbox_->failure());
        if (status.ok()) {
            if (team_.rank() == 0) {
                WireWriter wanted;
                wanted.put(marks_);
                wanted.put(durable);
                status = port_.ask(MessageKind::finish_file, plan_.serial, wanted.bytes, true);
                if (status.ok()) {
                    WireWriter count;
                    count.put(durable);
                    status = port_.ask(MessageKind::count_file, plan_.serial, count.bytes,
                                       plan_.layout.grid.own_files);
                }
            }
            status = team_.agree(status);
        }
        if (!status.ok()) outbox_->region().fail(status);
        return status;
    }

    Status close(bool good, const LateAttributes& late) override {
        Status status;
        if (team_.rank() == 0) {
            WireWriter out;
            out.put(good);
            put_late(out, late);
            counts_ = {};
            status = port_.ask(MessageKind::close_file, plan_.serial, out.bytes, true, &counts_);
        }
        return team_.agree(status);
    }

    WriteCounts counts() const override { return counts_; }
    int writers() const override { return static_cast<int>(port_.crew().servers.size()); }

private:
    /// Units whose messages all servers have used.
    std::int64_t sent() override {
        port_.poll();
        const Port::Inbox& box = port_.inbox(plan_.serial);
        Region& region = outbox_->region();
        const std::uint32_t meetings = region.meetings.load(std::memory_order_relaxed);
        // With boxes the units of a rank are as many as it needs, and are written while others wait
        // at a mark.
        if (!boxed_ && box.standstill.stops(outbox_->published(), meetings))
            region.stuck.store(meetings + 1, std::memory_order_release);
        const auto& n = box.accepted;
        return *std::min_element(n.begin(), n.end());
    }

    Team& team_;
    Port& port_;
    ServicePlan plan_;
    std::unique_ptr<Layout> layout_;
    Spaces spaces_;
    bool alone_ = false;  ///< no server on this node: parcels go by messages
    bool boxed_ = false;  ///< this rank has published boxes
    std::int64_t marks_ = 0;
    WriteCounts counts_;
};

}  // namespace

std::unique_ptr<Publisher> make_served_file(Team& team, Port& port, const ServicePlan& plan,
                                            Status& status) {
    std::unique_ptr<ServedFile> file;
    status = team.agree(alone([&]() -> Status {
        file = std::make_unique<ServedFile>(team, port, plan);
        return {};
    }));
    if (status.ok()) status = file->begin();
    if (!status.ok()) return nullptr;
    return file;
}

}  // namespace thalweg::detail
