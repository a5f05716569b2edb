// SPDX-License-Identifier: Apache-2.0
#include "service/servers/file_on_server.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "definitions/wire.hpp"
#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

void ServerNews::take_report(const Message& message, Placement* placement) {
    WireReader in(message.body);
    rounds_[std::ranges::find(node_.below, message.from) - node_.below.begin()] =
        in.get<std::int64_t>();
    const auto placed = in.get_many<std::vector<char>>();
    if (node_.is_first() && placement != nullptr) return placement->add_placed(placed);
    placed_.insert(placed_.end(), placed.begin(), placed.end());
}

void ServerNews::report(FileRounds& rounds, Placement* placement) {
    std::int64_t all = INT64_MAX;
    for (const std::int64_t its : rounds_) all = std::min(all, its);
    if (node_.is_first()) return rounds.others_have(all);
    // Read the number of rounds first: when they are reported, the first server must know the
    // places of their chunks.
    all = std::min(all, rounds.done());
    if (placement != nullptr) {
        const std::vector<char> own = placement->take_placed();
        placed_.insert(placed_.end(), own.begin(), own.end());
    }
    if (all <= reported_ && placed_.empty()) return;
    reported_ = std::max(reported_, all);
    node_.transport.send(node_.above, MessageKind::report, file_, message_of(reported_, placed_));
    placed_.clear();
}

void ServerNews::take_call(const Message& message, UnitWriterSources& sources) {
    const auto deadlock = WireReader(message.body).get<Deadlock>();
    sources.learn(deadlock);
    // Pass on a server's news at once: that server has waited before it sent them. A rank's news
    // are passed on later, by spread_calls().
    if (!node_.server_roles.serves(message.from) || !deadlock.beyond(sent_)) return;
    sent_ = deadlock;
    node_.spread(message.kind, file_, message.body, message.from);
}

void ServerNews::spread_calls(const UnitWriterSources& sources) {
    constexpr double patience = 0.25;  // s
    if (node_.server_roles.nodes() == 1) return;
    const Deadlock seen = sources.deadlock();
    if (!seen.beyond(sent_)) return;
    if (seen.call != seen_.call || seen.unit != seen_.unit) {
        seen_ = seen;
        seen_at_ = now();
    }
    if (now() - seen_at_ < patience) return;
    sent_ = seen;
    node_.spread(MessageKind::call, file_, message_of(seen), -1);
}

// ---- creation -----------------------------------------------------------------------------------

Status FileOnServer::describe(const std::vector<char>& body) {
    read_file(body, plan_, definitions_);
    plan_.definitions = &definitions_;
    const Grid& grid = plan_.layout.grid;
    storage_ = make_storage(plan_.storage);
    if (grid.own_files)
        storage_ = make_tile_storage(std::move(storage_), grid,
                                     node_.writer < grid.parts() ? node_.writer : -1, plan_.path);
    const bool inspects = node_.server_roles.nodes() > 1 &&
                          node_.server_roles.servers_of(node_.node).front() == node_.writer;
    return inspects ? check_identity(plan_.data_path, plan_.options.claimed) : Status{};
}

Status FileOnServer::create() {
    const TraceFile file(path());
    const Span span("open");
    Status status = create_storage();
    return status.ok() ? node_.all_do([&] { return set_up(); }) : status;
}

/// Creates the storage. If there is no memory for it on one server, the job ends, because the
/// others wait.
/// @note Collective over the servers
Status FileOnServer::create_storage() {
    StorageOptions options = plan_.options;
    const ServerRoles& server_roles = node_.server_roles;
    const int its_node = server_roles.node_of(server_roles.servers().front());
    options.beside_header_writer = its_node == node_.node;
    options.all_beside = static_cast<int>(server_roles.servers_of(its_node).size()) - 1;
    return node_.named(
        options.existing.is
            ? storage_->open(node_.peers, plan_.path, definitions_, options, true, plan_.map)
            : storage_->create(node_.peers, plan_.data_path, definitions_, options, true,
                               plan_.map));
}

/// Makes the queue that takes the units of the ranks.
Status FileOnServer::set_up() {
    const ServerRoles& server_roles = node_.server_roles;
    sections_ = make_spaces(definitions_, plan_.map);
    const auto local = server_roles.servers_of(node_.node);
    plan_.rank = node_.transport.address();
    plan_.local_writer = std::ranges::find(local, node_.writer) - local.begin();
    plan_.node_writers = 0;  // servers report to the first one by messages
    unit_writer_ = std::make_unique<UnitWriter>(plan_, sections_, node_.writer, *storage_, *this);
    if (Status status = add_regions(); !status.ok()) return status;
    for (const int sender : server_roles.senders(node_.writer))
        unit_writer_->sources().add_sender(sender);
    if (node_.is_first() && node_.below.size() > 0) unit_writer_->rounds().others_have(0);
    return {};
}

/// Adds the regions of this node's ranks.
Status FileOnServer::add_regions() {
    const ServerRoles& server_roles = node_.server_roles;
    for (const int address : server_roles.models_of(node_.node)) {
        SegmentName name;
        if (!node_.node_table.read(server_roles.place_of(address), serial_, name))
            return failure(TW_EINTERNAL, "{}: the queue of rank {} is not known", path(),
                           OfRank{server_roles.number_of(address)});
        if (Status s = unit_writer_->add_region(name); !s.ok()) return s;
    }
    return {};
}

// ---- commands -----------------------------------------------------------------------------------

void FileOnServer::reply(const Status& status) {
    Answer own = node_.answer(status);
    if (unit_writer_) own.counts = unit_writer_->state().counts();
    if (unit_writer_) own.records = unit_writer_->progress().counted();
    if (node_.is_first()) own.map = plan_.map;
    node_.join(serial_, std::move(own));
}

void FileOnServer::handle(Message& message) {
    WireReader in(message.body);
    switch (message.kind) {
        case MessageKind::finish_file:
            finish_ = Finish{in.get<std::int64_t>(), in.get<bool>()};
            break;
        case MessageKind::count_file: count_durable_ = in.get<bool>(); break;
        case MessageKind::unit_parts: {
            const TraceFile file(path());
            Span span("receive");
            span.bytes(message.body.size());
            unit_writer_->sources().deliver(message.from, std::move(message.body));
            break;
        }
        case MessageKind::report:
            news_.take_report(message, storage_->placement());
            report();
            break;
        case MessageKind::room: give_room(message); break;
        case MessageKind::failed: {
            const auto status = value_in<Status>(message.body);
            spread_failure(status, message.from);
            unit_writer_->state().hear(status);
            break;
        }
        case MessageKind::call: news_.take_call(message, unit_writer_->sources()); break;
        case MessageKind::accepted: --under_way_; break;
        default: break;
    }
}

void FileOnServer::attend() {
    ask_for_room();
    finish();
    count();
    news_.spread_calls(unit_writer_->sources());
}

/// Answers a finish_file once everything published before it is written, or has failed.
void FileOnServer::finish() {
    if (!finish_) return;
    Status status = unit_writer_->state().stopped();
    if (status.ok() && unit_writer_->rounds().marks() < finish_->marks) return;
    if (status.ok() && finish_->durable) {
        const auto held = unit_writer_->hold();
        status = node_.named(storage_->sync());
    }
    finish_.reset();
    if (!status.ok()) {
        unit_writer_->state().fail(status);
        (void)unit_writer_->count_written();
    }
    reply(status);
}

/// Answers a count_file. The other servers have answered the finish_file before it, but their
/// reports of chunk places may still be in transit.
void FileOnServer::count() {
    if (!count_durable_) return;
    if (unit_writer_->state().failure().ok() && !unit_writer_->rounds().all_have()) return;
    const Status status = node_.named(unit_writer_->commit_all(*count_durable_));
    count_durable_.reset();
    if (!status.ok()) unit_writer_->state().fail(status);
    reply(status);
}

void FileOnServer::close(const std::vector<char>& body) {
    const TraceFile file(path());
    const Span span("close");
    WireReader in(body);
    bool good = false;
    LateAttributes late;
    in(good, late);
    if (!good) (void)unit_writer_->count_written();
    unit_writer_->retire();
    const Progress& progress = unit_writer_->progress();
    reply(node_.named(storage_->close(good ? progress.records() : progress.counted(), late)));
}

// ---- between the servers ------------------------------------------------------------------------

/// Limits the data that wait on slower servers to two units: the one being written there, and the
/// next.
bool FileOnServer::may_forward() {
    return under_way_ < 2 * std::ssize(node_.server_roles.servers());
}

void FileOnServer::forward(std::span<const UnitPart> unit_parts) {
    for (const int w : node_.fed) {
        std::vector<char> message;
        for (const UnitPart& p : unit_parts)
            append_clipped(p, unit_writer_->layout(), w, sections_, definitions_.variables,
                           message);
        Span span("send");
        span.bytes(message.size());
        node_.transport.send(node_.server_roles.servers()[w], MessageKind::unit_parts, serial_,
                             std::move(message));
        ++under_way_;
    }
}

void FileOnServer::accepted(int sender) {
    node_.transport.send(sender, MessageKind::accepted, serial_, {});
}

void FileOnServer::between_pieces() {
    ask_for_room();
    pause_.between_pieces();
}

void FileOnServer::report() {
    const Status status = unit_writer_->state().failure();
    if (!status.ok()) spread_failure(status, -1);
    news_.report(unit_writer_->rounds(), storage_->placement());
}

/// Handles a message about room in the file: a request, on the first server; its answer, on the
/// others.
void FileOnServer::give_room(const Message& message) {
    const auto word = WireReader(message.body).get<std::int64_t>();
    if (!node_.is_first()) {
        storage_->placement()->give_room(word);
        room_asked_ = false;
        return;
    }
    node_.transport.send(message.from, MessageKind::room, serial_,
                         message_of(storage_->placement()->take_room(word)));
}

/// Requests room in the file for packed chunks, which are written once there is room. For servers
/// that do not share memory with the first one.
void FileOnServer::ask_for_room() {
    Placement* const placement = storage_->placement();
    if (placement == nullptr || room_asked_) return;
    const std::int64_t bytes = placement->room_wanted();
    if (bytes == 0) return;
    room_asked_ = true;
    node_.transport.send(node_.server_roles.servers().front(), MessageKind::room, serial_,
                         message_of(bytes));
}

/// Informs all servers of the first error, and also the ranks that share memory with no server.
/// @param from  address of the sender; -1: the error occurred here
void FileOnServer::spread_failure(const Status& status, int from) {
    if (std::exchange(failed_, true)) return;
    node_.spread(MessageKind::failed, serial_, message_of(status), from);
}

}  // namespace thalweg::detail
