// SPDX-License-Identifier: Apache-2.0
#include "service/servers/server.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "comm/clock.hpp"
#include "comm/reserve.hpp"
#include "comm/trace.hpp"

namespace thalweg::detail {

Server::Server(const Crew& crew, int writer, Transport& transport, Comm& peers, const Board& board)
    : crew_(crew),
      writer_(writer),
      transport_(transport),
      peers_(peers),
      board_(board),
      neighbours_(crew, writer, transport),
      node_(crew.node_of(crew.servers()[writer])) {
    const auto servers = static_cast<int>(crew.servers().size());
    for (int w = 0; w < servers && crew.has_models(node_); ++w)
        if (crew.node_of(crew.servers()[w]) != node_ && crew.forwarder(node_, w) == writer)
            fed_.push_back(w);
}

bool Server::work() {
    keep_reserve();
    bool any = take_message();
    any |= open_in_turn();
    for (auto& [serial, served] : files_) {
        working_ = serial;
        any |= served.desk->work();
        working_ = -1;
        attend(serial, served);
    }
    for (const Message& message : std::exchange(postponed_, {})) close(message);
    return any;
}

/// What is due now, after a unit or without one.
void Server::attend(std::int64_t serial, Served& served) try {
    ask_for_room(served);
    finish(serial, served);
    count(serial, served);
    tell_standstill(serial, served);
} catch (const std::bad_alloc&) {
    served.desk->fail(failure(TW_ENOMEM, "{}: out of memory (rank {})",
                              served.description.plan.path, transport_.address()));
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
    } catch (const std::bad_alloc&) {
        out_of_memory(message);  // it comes again
        return true;
    }
    pass_on(message);
    try {
        handle(message);
    } catch (const std::bad_alloc&) {
        out_of_memory(message);
    }
    return true;
}

/// Messages take the memory: the files that they are for give up theirs, and who waits for an
/// answer gets one.
void Server::out_of_memory(const Message& message) {
    with_reserve([&] {
        const Status status =
            failure(TW_ENOMEM, "out of memory on a server (rank {})", transport_.address());
        for (auto& [serial, served] : files_)
            if (served.desk) served.desk->fail(status);
        if (message.kind == MessageKind::count_file) answer(message.file, status, nullptr);
    });
}

namespace {

bool is_command(MessageKind kind) {
    return kind == MessageKind::open_file || kind == MessageKind::finish_file ||
           kind == MessageKind::count_file || kind == MessageKind::close_file;
}

}  // namespace

/// A command goes on to the servers below before anything else: they may be waited for.
void Server::pass_on(const Message& message) {
    if (message.kind == MessageKind::end_session)
        return neighbours_.send_below(message.kind, message.file, message.body);
    if (!is_command(message.kind)) return;
    const auto found = files_.find(message.file);
    const bool all =
        message.kind != MessageKind::count_file ||
        (found != files_.end() && found->second.description.plan.layout.grid.own_files);
    with_reserve([&] {
        answers_.insert_or_assign(message.file, Answers(all ? 1 + neighbours_.below() : 1));
    });
    if (all) neighbours_.send_below(message.kind, message.file, message.body);
}

void Server::handle(Message& message) {
    switch (message.kind) {
        case MessageKind::end_session: ended_ = true; return;
        case MessageKind::reply:
            return join(message.file, with_reserve([&] { return Answer::of(message.body); }));
        case MessageKind::open_file:
            if (turns_ == nullptr) return open(message);
            return with_reserve([&] { opening_.push_back(std::move(message)); });
        default: break;
    }
    const auto found = files_.find(message.file);
    if (found != files_.end()) return handle(message, found->second);
    if (is_command(message.kind))
        answer(message.file, failure(TW_EINTERNAL, "no such file on the server"), nullptr);
    // Else it is of a file that was closed after a failure.
}

void Server::handle(Message& message, Served& served) {
    WireReader in(message.body);
    switch (message.kind) {
        case MessageKind::finish_file:
            served.marks_wanted = in.get<std::int64_t>();
            served.durable = in.get<bool>();
            break;
        case MessageKind::count_file:
            served.count_wanted = true;
            served.count_durable = in.get<bool>();
            break;
        case MessageKind::close_file:
            // Between two pieces of it: after a failure elsewhere nobody waits for its queue.
            if (message.file != working_) return close(message);
            with_reserve([&] { postponed_.push_back(std::move(message)); });
            break;
        case MessageKind::parcels: {
            const TraceFile file(served.description.plan.path);
            Span span("receive");
            span.bytes(message.body.size());
            served.desk->sources().deliver(message.from, std::move(message.body));
            break;
        }
        case MessageKind::report:
            served.rounds[neighbours_.place_of(message.from)] = in.get<std::int64_t>();
            take_places(served, in.get_many<std::vector<char>>());
            report(served);
            break;
        case MessageKind::room: {
            const auto word = in.get<std::int64_t>();
            if (writer_ == 0) {
                WireWriter out;
                out.put(served.storage->placement()->take_room(word));
                transport_.send(message.from, MessageKind::room, message.file,
                                std::move(out.bytes));
            } else {
                served.storage->placement()->give_room(word);
                served.room_asked = false;
            }
            break;
        }
        case MessageKind::failed: {
            const Status status = with_reserve([&] { return get_status(in); });
            spread_failure(served, status, message.from);
            with_reserve([&] { served.desk->fail(status); });
            break;
        }
        case MessageKind::meets: {
            const auto standstill = in.get<Standstill>();
            served.desk->sources().learn(standstill);
            // A rank's own may be told to others in a while; a server has waited for that.
            if (crew_.serves(message.from) && standstill.beyond(served.told)) {
                served.told = standstill;
                neighbours_.spread(message.kind, message.file, message.body, message.from);
            }
            break;
        }
        case MessageKind::accepted: --served.under_way; break;
        default: break;
    }
}

/// This server's own part of the answer to a command.
void Server::answer(std::int64_t serial, const Status& status, const Served* served) {
    join(serial, with_reserve([&] {
             Answer own;
             own.status = status;
             if (!status.ok()) own.failed = writer_;
             if (served != nullptr && served->desk) own.counts = served->desk->counts();
             if (served != nullptr && writer_ == 0) own.map = words_of(served->map);
             return own;
         }));
}

void Server::join(std::int64_t serial, Answer answer) {
    const auto found = answers_.find(serial);
    if (found == answers_.end() || !found->second.take(std::move(answer))) return;
    auto bytes = with_reserve([&] { return found->second.together().bytes(); });
    answers_.erase(found);
    neighbours_.send_above(MessageKind::reply, serial, std::move(bytes));
}

void Server::Served::accepted(int feeder) {
    server.transport_.send(feeder, MessageKind::accepted, serial, {});
}

/// The next steps come in while this one is written.
void Server::Served::between_pieces() {
    server.ask_for_room(*this);
    while (server.take_message()) {
    }
}

/// What other nodes' writers need of this node's ranks; each is served by one server of the node.
void Server::forward(Served& served, std::span<const Parcel> parcels) {
    for (const int w : fed_) {
        std::vector<char> message;
        for (const Parcel& p : parcels)
            append_clipped(p, served.desk->layout(), w, served.spaces,
                           served.description.definitions.variables, message);
        Span span("send");
        span.bytes(message.size());
        transport_.send(crew_.servers()[w], MessageKind::parcels, served.serial,
                        std::move(message));
        ++served.under_way;
    }
}

/// The first server counts records that all have written; failures are spread.
void Server::report(Served& served) {
    const Status status = with_reserve([&] { return served.desk->failure(); });
    if (!status.ok()) spread_failure(served, status, -1);
    std::int64_t all = INT64_MAX;
    for (const std::int64_t its : served.rounds) all = std::min(all, its);
    if (writer_ == 0) return served.desk->rounds().others_have(all);
    // The rounds first: the first server has to know where their chunks are.
    all = std::min(all, served.desk->rounds().done());
    if (Placement* const placement = served.storage->placement())
        take_places(served, placement->take_placed());
    if (all <= served.reported && served.placed.empty()) return;
    served.reported = std::max(served.reported, all);
    with_reserve([&] {
        WireWriter out;
        out.put(served.reported);
        out.put(served.placed);
        neighbours_.send_above(MessageKind::report, served.serial, std::move(out.bytes));
    });
    served.placed.clear();
}

/// Of this server's chunks, or of those below it.
void Server::take_places(Served& served, std::vector<char> placed) {
    if (placed.empty()) return;
    if (writer_ != 0) {
        served.placed.insert(served.placed.end(), placed.begin(), placed.end());
        return;
    }
    const Status status = named(served.storage->placement()->add_placed(placed));
    if (!status.ok()) served.desk->fail(status);
}

/// A server that does not share memory with the first one packs, and writes when it has got room.
void Server::ask_for_room(Served& served) {
    Placement* const placement = served.storage->placement();
    if (placement == nullptr || served.room_asked) return;
    const std::int64_t bytes = placement->room_wanted();
    if (bytes == 0) return;
    served.room_asked = true;
    WireWriter out;
    out.put(bytes);
    transport_.send(crew_.servers().front(), MessageKind::room, served.serial,
                    std::move(out.bytes));
}

/// All servers, and the ranks with which none shares memory, learn of the first failure.
/// @param from  who told it; -1: it was found here
void Server::spread_failure(Served& served, const Status& status, int from) {
    if (std::exchange(served.failed, true)) return;
    const WireWriter out = with_reserve([&] {
        WireWriter made;
        put_status(made, status);
        return made;
    });
    neighbours_.spread(MessageKind::failed, served.serial, out.bytes, from);
}

/// Other nodes' servers do not see that ranks have come where all meet. They are told when nothing
/// has changed for a while: as a rule the others are only a little behind.
void Server::tell_standstill(std::int64_t serial, Served& served) {
    constexpr double patience = 0.25;  // s
    if (crew_.nodes() == 1) return;
    const Standstill seen = served.desk->sources().standstill();
    if (!seen.beyond(served.told)) return;
    if (seen.meeting != served.seen.meeting || seen.unit != served.seen.unit) {
        served.seen = seen;
        served.seen_at = now();
    }
    if (now() - served.seen_at < patience) return;
    served.told = seen;
    WireWriter out;
    out.put(seen);
    neighbours_.spread(MessageKind::meets, serial, out.bytes, -1);
}

}  // namespace thalweg::detail
