// SPDX-License-Identifier: Apache-2.0
#include "service/servers/server.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "comm/clock.hpp"
#include "comm/trace.hpp"
#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

Server::Server(const Crew& crew, int writer, Transport& transport, Comm& peers)
    : crew_(crew),
      writer_(writer),
      transport_(transport),
      peers_(peers),
      node_(crew.node_of[crew.servers[writer]]) {}

bool Server::work() {
    bool any = take_message();
    any |= open_in_turn();
    for (auto& [serial, served] : files_) {
        if (!served.desk) continue;
        working_ = serial;
        any |= served.desk->work();
        working_ = -1;
        finish(serial, served);
        tell_standstill(serial, served);
    }
    for (Message& message : std::exchange(postponed_, {})) handle(message);
    return any;
}

/// Whose failure it is: the rank's number is that in the session's communicator.
Status Server::named(Status status) const {
    if (!status.ok() && status.text.find("rank ") == std::string::npos)
        status.text += fmt::format(" (rank {})", transport_.address());
    return status;
}

bool Server::take_message() {
    Message message;
    try {
        if (!transport_.receive(message)) return false;
        handle(message);
    } catch (const std::bad_alloc&) {
        out_of_memory(message);
    }
    return true;
}

/// Messages take the memory: the files that they are for give up theirs, and who waits for an
/// answer gets one.
void Server::out_of_memory(const Message& message) {
    const Status status =
        failure(TW_ENOMEM, "out of memory on a server (rank {})", transport_.address());
    for (auto& [serial, served] : files_)
        if (served.desk) served.desk->fail(status);
    if (message.kind == MessageKind::count_file || message.kind == MessageKind::close_file)
        reply(message.file, status, nullptr);
}

void Server::handle(Message& message) {
    if (message.kind == MessageKind::open_file) {
        if (turns_ == nullptr) return open(message);
        opening_.push_back(std::move(message));
        return;
    }
    if (message.kind == MessageKind::end_session) {
        ended_ = true;
        return;
    }
    const auto found = files_.find(message.file);
    if (found == files_.end()) {
        return;  // of a file that was closed after a failure
    }
    Served& served = found->second;
    if (message.kind == MessageKind::close_file && message.file == working_) {
        // Between two pieces of it: after a failure elsewhere nobody waits for its queue.
        postponed_.push_back(std::move(message));
        return;
    }
    WireReader in(message.body);
    switch (message.kind) {
        case MessageKind::finish_file:
            served.marks_wanted = in.get<std::int64_t>();
            served.durable = in.get<bool>();
            break;
        case MessageKind::count_file: count(message.file, served, in.get<bool>()); break;
        case MessageKind::close_file: close(message.file, served, message); break;
        case MessageKind::parcels: {
            const TraceFile file(served.description.plan.path);
            Span span("receive");
            span.bytes(message.body.size());
            served.desk->deliver(message.from, std::move(message.body));
            break;
        }
        case MessageKind::report: {
            const int writer = in.get<int>();
            served.rounds[writer] = in.get<std::int64_t>();
            const Status status = get_status(in);
            std::int64_t least = INT64_MAX;
            for (std::size_t w = 1; w < served.rounds.size(); ++w)
                least = std::min(least, served.rounds[w]);
            if (!status.ok() && served.desk->failure().ok()) served.desk->fail(status);
            served.desk->others_have(least);
            break;
        }
        case MessageKind::failed: served.desk->fail(get_status(in)); break;
        case MessageKind::meets: {
            const auto standstill = in.get<Standstill>();
            served.desk->learn(standstill);
            // The first server knows, and has told the others.
            if (message.from == crew_.servers.front()) served.meeting_told = standstill.meeting;
            break;
        }
        case MessageKind::accepted: --served.under_way; break;
        default: break;
    }
}

void Server::reply(std::int64_t serial, const Status& status, Served* served) {
    WireWriter out;
    put_status(out, status);
    out.put(served != nullptr && served->desk ? served->desk->counts() : WriteCounts{});
    out.put(served != nullptr ? words_of(served->map) : std::vector<std::int64_t>{});
    transport_.send(crew_.models.front(), MessageKind::reply, serial, std::move(out.bytes));
}

/// Files of several sessions.
bool Server::open_in_turn() {
    if (opening_.empty() || !turns_->comes(session_, opening_.front().file)) return false;
    Message message = std::move(opening_.front());
    opening_.pop_front();
    try {
        open(message);
    } catch (const std::bad_alloc&) {
        out_of_memory(message);
    }
    return true;
}

/// The servers create the file together, and answer alike.
void Server::open(Message& message) {
    Served& served = files_.try_emplace(message.file, *this, message.file).first->second;
    served.description = read_file(message.body);
    const TraceFile file(served.description.plan.path);
    const Span span("open");
    Status status;
    set_up(served, status);
    status = agree(peers_, named(std::move(status)));
    if (!status.ok() && served.storage) {
        served.desk.reset();
        served.storage.reset();
    }
    reply(message.file, status, &served);
    if (!status.ok()) files_.erase(message.file);
}

void Server::set_up(Served& served, Status& status) {
    const ServicePlan& plan = served.description.plan;
    const Definitions& definitions = served.description.definitions;
    served.storage = make_storage(plan.storage);
    const Grid& grid = plan.layout.grid;
    if (grid.own_files)
        served.storage = make_tile_storage(std::move(served.storage), grid,
                                           writer_ < grid.parts() ? writer_ : -1, plan.path);
    served.map = plan.map;
    if (crew_.nodes() > 1)
        status = agree(peers_, alone([&] {
                           return crew_.servers_of(node_).front() == writer_
                                      ? check_identity(plan.data_path, plan.options.claimed)
                                      : Status{};
                       }));
    if (status.ok())
        status =
            plan.options.existing.is
                ? served.storage->open(peers_, plan.path, definitions, plan.options, true, served.map)
                : served.storage->create(peers_, plan.data_path, definitions, plan.options, true,
                                         served.map);
    if (!status.ok()) {
        // Named in the servers' own numbers.
        for (std::size_t w = 0; w < crew_.servers.size(); ++w) {
            const std::string mine = fmt::format(" (rank {})", w);
            if (!status.text.ends_with(mine)) continue;
            status.text.resize(status.text.size() - mine.size());
            status.text += fmt::format(" (rank {})", crew_.servers[w]);
            break;
        }
        return;
    }
    served.spaces = make_spaces(definitions, served.map);
    const auto writers = static_cast<int>(crew_.servers.size());
    const std::vector<int> local = crew_.servers_of(node_);
    DeskOptions options;
    options.path = plan.path;
    options.piece = plan.piece;
    options.durable = plan.durable;
    options.rank = transport_.address();
    options.agent =
        static_cast<int>(std::find(local.begin(), local.end(), writer_) - local.begin());
    options.node_agents = 0;  // servers report to the first one by messages
    options.own_file = plan.layout.grid.own_files;
    options.existing = plan.options.existing;
    options.wording = plan.options.wording;
    served.desk = std::make_unique<Desk>(definitions, served.spaces, make_layout(plan.layout),
                                         writer_, *served.storage, options, served);
    const std::vector<int> mine = crew_.models_of(node_);
    for (int m : mine) {
        auto segment = Segment::map(served.description.regions[m], status);
        if (!status.ok()) return;
        if (status = served.desk->add_region(std::move(segment)); !status.ok()) return;
    }
    for (int feeder : crew_.feeders(writer_)) served.desk->add_feeder(feeder);
    served.forwards_on = !mine.empty() && crew_.nodes() > 1;
    served.rounds.assign(writers, 0);
    if (writer_ == 0 && writers > 1) served.desk->others_have(0);
}

void Server::Served::accepted(int feeder) {
    server.transport_.send(feeder, MessageKind::accepted, serial, {});
}

/// The next steps come in while this one is written.
void Server::Served::between_pieces() {
    while (server.take_message()) {
    }
}

/// What other nodes' writers need of this node's ranks; each is served by one server of the node.
void Server::forward(Served& served, std::span<const Parcel> parcels) {
    for (std::size_t w = 0; w < crew_.servers.size(); ++w) {
        const int to = crew_.servers[w];
        if (crew_.node_of[to] == node_) continue;
        if (crew_.forwarder(node_, static_cast<int>(w)) != writer_) continue;
        std::vector<char> message;
        for (const Parcel& p : parcels)
            append_clipped(p, served.desk->layout(), static_cast<int>(w), served.spaces,
                           served.description.definitions.variables, message);
        Span span("send");
        span.bytes(message.size());
        transport_.send(to, MessageKind::parcels, served.serial, std::move(message));
        ++served.under_way;
    }
}

/// The first server counts records that all have written, and spreads failures.
void Server::report(Served& served) {
    const Status status = served.desk->failure();
    if (writer_ == 0) {
        if (!status.ok()) tell_failed(served.serial, status);
        return;
    }
    WireWriter out;
    out.put(writer_);
    out.put(served.desk->rounds());
    put_status(out, status);
    transport_.send(crew_.servers.front(), MessageKind::report, served.serial,
                    std::move(out.bytes));
}

/// Other servers, and the ranks that share memory with none.
void Server::tell_failed(std::int64_t serial, const Status& status) {
    WireWriter out;
    put_status(out, status);
    send_beyond(MessageKind::failed, serial, out.bytes);
}

/// From the first server to all whose memory it does not share, or may not.
void Server::send_beyond(MessageKind kind, std::int64_t serial, const std::vector<char>& body) {
    for (std::size_t w = 1; w < crew_.servers.size(); ++w)
        transport_.send(crew_.servers[w], kind, serial, body);
    for (int model : crew_.models)
        if (crew_.servers_of(crew_.node_of[model]).empty())
            transport_.send(model, kind, serial, body);
}

/// Other nodes' servers do not see that ranks have come where all meet. They are told when nothing
/// has changed for a while: as a rule the others are only a little behind.
void Server::tell_standstill(std::int64_t serial, Served& served) {
    constexpr double patience = 0.25;  // s
    if (!served.desk || crew_.nodes() == 1) return;
    const Standstill seen = served.desk->standstill();
    if (!seen.later_than(served.meeting_told)) return;
    if (seen.meeting != served.seen.meeting || seen.unit != served.seen.unit) {
        served.seen = seen;
        served.seen_at = now();
    }
    if (now() - served.seen_at < patience) return;
    served.meeting_told = seen.meeting;
    WireWriter out;
    out.put(seen);
    if (writer_ == 0)
        send_beyond(MessageKind::meets, serial, out.bytes);
    else
        transport_.send(crew_.servers.front(), MessageKind::meets, serial, std::move(out.bytes));
}

/// Answers a finish_file once all that was published before it is written, or has failed.
void Server::finish(std::int64_t serial, Served& served) {
    if (served.marks_wanted < 0) return;
    Status status = served.desk->failure();
    if (status.ok() && served.desk->marks() < served.marks_wanted) return;
    served.marks_wanted = -1;
    if (status.ok() && served.durable) {
        const auto held = served.desk->hold();
        status = named(served.storage->sync());
    }
    if (!status.ok()) served.desk->fail(status);
    reply(serial, status, &served);
}

void Server::count(std::int64_t serial, Served& served, bool durable) {
    const Status status = named(served.desk->commit_all(durable));
    if (!status.ok()) served.desk->fail(status);
    reply(serial, status, &served);
}

void Server::close(std::int64_t serial, Served& served, Message& message) {
    const TraceFile file(served.description.plan.path);
    const Span span("close");
    WireReader in(message.body);
    const bool good = in.get<bool>();
    const LateAttributes late = get_late(in);
    served.desk->retire();
    const std::int64_t records = good ? served.desk->ended_records() : served.desk->records();
    const Status status = named(served.storage->close(records, late));
    reply(serial, status, &served);
    files_.erase(serial);
}

}  // namespace thalweg::detail
