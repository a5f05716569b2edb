// SPDX-License-Identifier: Apache-2.0
#include "service/servers/file_on_server.hpp"

#include <algorithm>
#include <charconv>
#include <new>
#include <utility>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

namespace {

/// Converts the rank in an error from its number among the servers.
Status renumbered(const Crew& crew, Status status) {
    constexpr std::string_view words = " (rank ";
    const std::size_t at = status.text.rfind(words);
    if (at == std::string::npos || !status.text.ends_with(')')) return status;
    int server = -1;
    const char* const end = status.text.data() + status.text.size();
    (void)std::from_chars(status.text.data() + at + words.size(), end, server);
    if (server < 0 || server >= std::ssize(crew.servers())) return status;
    status.text.resize(at);
    status.text += fmt::format("{}{})", words, crew.servers()[server]);
    return status;
}

}  // namespace

// ---- creation -----------------------------------------------------------------------------------

Status FileOnServer::describe(const std::vector<char>& body) {
    description_ = read_file(body);
    const ServicePlan& plan = description_.plan;
    const Grid& grid = plan.layout.grid;
    storage_ = make_storage(plan.storage);
    if (grid.own_files)
        storage_ = make_tile_storage(std::move(storage_), grid,
                                     place_.writer < grid.parts() ? place_.writer : -1, plan.path);
    map_ = plan.map;
    const bool looks =
        place_.crew.nodes() > 1 && place_.crew.servers_of(place_.node).front() == place_.writer;
    return looks ? check_identity(plan.data_path, plan.options.claimed) : Status{};
}

Status FileOnServer::create() {
    const TraceFile file(path());
    const Span span("open");
    Status status = create_storage();
    return status.ok() ? place_.all_do([&] { return set_up(); }) : status;
}

/// Creates the storage.
/// @note Collective over the servers
Status FileOnServer::create_storage() {
    const ServicePlan& plan = description_.plan;
    const Definitions& definitions = description_.definitions;
    StorageOptions options = plan.options;
    options.beside_keeper = place_.crew.node_of(place_.crew.servers().front()) == place_.node;
    Status status = together([&] {
        return options.existing.is
                   ? storage_->open(place_.peers, plan.path, definitions, options, true, map_)
                   : storage_->create(place_.peers, plan.data_path, definitions, options, true,
                                      map_);
    });
    if (!status.ok()) with_reserve([&] { status = place_.named(renumbered(place_.crew, status)); });
    return status;
}

/// Makes the queue that takes the units of the ranks.
Status FileOnServer::set_up() {
    const ServicePlan& plan = description_.plan;
    const Crew& crew = place_.crew;
    spaces_ = make_spaces(description_.definitions, map_);
    const auto local = crew.servers_of(place_.node);
    DeskOptions options;
    options.path = plan.path;
    options.piece = plan.piece;
    options.durable = plan.durable;
    options.rank = place_.transport.address();
    options.agent = std::find(local.begin(), local.end(), place_.writer) - local.begin();
    options.node_agents = 0;  // servers report to the first one by messages
    options.own_file = own_files();
    options.existing = plan.options.existing;
    options.whole = plan.whole;
    options.wording = plan.options.wording;
    desk_ = std::make_unique<Desk>(description_.definitions, spaces_, make_layout(plan.layout),
                                   place_.writer, *storage_, options, *this);
    if (Status status = add_regions(); !status.ok()) return status;
    for (const int feeder : crew.feeders(place_.writer)) desk_->sources().add_feeder(feeder);
    forwards_ = crew.has_models(place_.node) && crew.nodes() > 1;
    rounds_.assign(place_.neighbours.below(), 0);
    if (place_.is_first() && place_.neighbours.below() > 0) desk_->rounds().others_have(0);
    return {};
}

/// Adds the regions of this node's ranks.
Status FileOnServer::add_regions() {
    const Crew& crew = place_.crew;
    for (const int address : crew.models_of(place_.node)) {
        SegmentName name;
        if (!place_.board.read(crew.place_of(address), serial_, name))
            return failure(TW_EINTERNAL, "{}: the queue of rank {} is not known", path(),
                           crew.number_of(address));
        Status status;
        auto segment = Segment::map(name, status);
        if (status.ok()) status = desk_->add_region(std::move(segment));
        if (!status.ok()) return status;
    }
    return {};
}

// ---- commands -----------------------------------------------------------------------------------

void FileOnServer::reply(const Status& status) {
    replies_.join(serial_, with_reserve([&] {
                      Answer own = place_.answer(status);
                      if (desk_) own.counts = desk_->counts();
                      if (desk_) own.records = desk_->records();
                      if (place_.is_first()) own.map = words_of(map_);
                      return own;
                  }));
}

void FileOnServer::handle(Message& message) {
    WireReader in(message.body);
    switch (message.kind) {
        case MessageKind::finish_file:
            marks_wanted_ = in.get<std::int64_t>();
            durable_ = in.get<bool>();
            break;
        case MessageKind::count_file:
            count_wanted_ = true;
            count_durable_ = in.get<bool>();
            break;
        case MessageKind::parcels: {
            const TraceFile file(path());
            Span span("receive");
            span.bytes(message.body.size());
            desk_->sources().deliver(message.from, std::move(message.body));
            break;
        }
        case MessageKind::report:
            rounds_[place_.neighbours.place_of(message.from)] = in.get<std::int64_t>();
            take_places(in.get_many<std::vector<char>>());
            report();
            break;
        case MessageKind::room: give_room(message); break;
        case MessageKind::failed: {
            const Status status = with_reserve([&] { return get_status(in); });
            spread_failure(status, message.from);
            with_reserve([&] { desk_->hear(status); });
            break;
        }
        case MessageKind::meets: learn(message); break;
        case MessageKind::accepted: --under_way_; break;
        default: break;
    }
}

void FileOnServer::attend() try {
    ask_for_room();
    finish();
    count();
    tell_standstill();
} catch (const std::exception&) {
    const Status why = exception_status();
    desk_->fail(
        {why.code, fmt::format("{}: {} (rank {})", path(), why.text, place_.transport.address())});
}

/// Answers a finish_file once everything published before it is written, or has failed.
void FileOnServer::finish() {
    if (marks_wanted_ < 0) return;
    Status status = desk_->stopped();
    if (status.ok() && desk_->marks() < marks_wanted_) return;
    if (status.ok() && durable_) {
        const auto held = desk_->hold();
        status = place_.named(storage_->sync());
    }
    marks_wanted_ = -1;
    if (!status.ok()) {
        desk_->fail(status);
        (void)desk_->count_written();
    }
    reply(status);
}

/// Answers a count_file. The other servers have answered the finish_file before it, but their
/// reports of chunk places may still be in transit.
void FileOnServer::count() {
    if (!count_wanted_) return;
    if (desk_->failure().ok() && !desk_->all_have()) return;
    const Status status = place_.named(desk_->commit_all(count_durable_));
    count_wanted_ = false;
    if (!status.ok()) desk_->fail(status);
    reply(status);
}

void FileOnServer::close(const std::vector<char>& body) {
    const TraceFile file(path());
    const Span span("close");
    WireReader in(body);
    bool good = in.get<bool>();
    LateAttributes late;
    Status status = alone([&]() -> Status {
        late = get_late(in);
        return {};
    });
    good = good && status.ok();
    if (!good) (void)desk_->count_written();
    desk_->retire();
    const std::int64_t records = good ? desk_->ended_records() : desk_->records();
    Status closed = alone([&] { return storage_->close(records, late); });
    if (status.ok()) status = std::move(closed);
    reply(with_reserve([&] { return place_.named(status); }));
}

// ---- between the servers ------------------------------------------------------------------------

/// Limits the data that wait on slower servers: the unit that is written there, and the next.
bool FileOnServer::may_forward() { return under_way_ < 2 * std::ssize(place_.crew.servers()); }

void FileOnServer::forward(std::span<const Parcel> parcels) {
    for (const int w : place_.fed) {
        std::vector<char> message;
        for (const Parcel& p : parcels)
            append_clipped(p, desk_->layout(), w, spaces_, description_.definitions.variables,
                           message);
        Span span("send");
        span.bytes(message.size());
        place_.transport.send(place_.crew.servers()[w], MessageKind::parcels, serial_,
                              std::move(message));
        ++under_way_;
    }
}

void FileOnServer::accepted(int feeder) {
    place_.transport.send(feeder, MessageKind::accepted, serial_, {});
}

void FileOnServer::between_pieces() {
    ask_for_room();
    pause_.between_pieces();
}

void FileOnServer::report() {
    const Status status = with_reserve([&] { return desk_->failure(); });
    if (!status.ok()) spread_failure(status, -1);
    std::int64_t all = INT64_MAX;
    for (const std::int64_t its : rounds_) all = std::min(all, its);
    if (place_.is_first()) return desk_->rounds().others_have(all);
    // Rounds come first: the first server must know the places of their chunks.
    all = std::min(all, desk_->rounds().done());
    if (Placement* const placement = storage_->placement()) take_places(placement->take_placed());
    if (all <= reported_ && placed_.empty()) return;
    reported_ = std::max(reported_, all);
    with_reserve([&] {
        WireWriter out;
        out.put(reported_);
        out.put(placed_);
        place_.neighbours.send_above(MessageKind::report, serial_, std::move(out.bytes));
    });
    placed_.clear();
}

/// Takes the places of chunks of this server, or of those below it.
void FileOnServer::take_places(std::vector<char> placed) {
    if (placed.empty()) return;
    if (!place_.is_first()) {
        placed_.insert(placed_.end(), placed.begin(), placed.end());
        return;
    }
    const Status status = place_.named(storage_->placement()->add_placed(placed));
    if (!status.ok()) desk_->fail(status);
}

/// Handles requests for room on the first server, and answers on the others.
void FileOnServer::give_room(const Message& message) {
    const auto word = WireReader(message.body).get<std::int64_t>();
    if (!place_.is_first()) {
        storage_->placement()->give_room(word);
        room_asked_ = false;
        return;
    }
    WireWriter out;
    out.put(storage_->placement()->take_room(word));
    place_.transport.send(message.from, MessageKind::room, serial_, std::move(out.bytes));
}

/// Requests room in the file, on a server that does not share memory with the first one: it packs
/// chunks, and writes them when it has room.
void FileOnServer::ask_for_room() {
    Placement* const placement = storage_->placement();
    if (placement == nullptr || room_asked_) return;
    const std::int64_t bytes = placement->room_wanted();
    if (bytes == 0) return;
    room_asked_ = true;
    WireWriter out;
    out.put(bytes);
    place_.transport.send(place_.crew.servers().front(), MessageKind::room, serial_,
                          std::move(out.bytes));
}

/// Informs all servers, and the ranks that share memory with none, of the first error.
/// @param from  address of the sender; -1: the error occurred here
void FileOnServer::spread_failure(const Status& status, int from) {
    if (std::exchange(failed_, true)) return;
    const WireWriter out = with_reserve([&] {
        WireWriter made;
        put_status(made, status);
        return made;
    });
    place_.neighbours.spread(MessageKind::failed, serial_, out.bytes, from);
}

/// Notes that a rank, or one that another server reports on, has entered a collective call.
void FileOnServer::learn(const Message& message) {
    const auto standstill = WireReader(message.body).get<Standstill>();
    desk_->sources().learn(standstill);
    // A rank's own state may be passed on later; a server has waited already.
    if (!place_.crew.serves(message.from) || !standstill.beyond(told_)) return;
    told_ = standstill;
    place_.neighbours.spread(message.kind, serial_, message.body, message.from);
}

/// Informs other nodes' servers, which do not see that ranks have entered a collective call. Waits
/// until nothing has changed for a while: usually the other ranks are only a little behind.
void FileOnServer::tell_standstill() {
    constexpr double patience = 0.25;  // s
    if (place_.crew.nodes() == 1) return;
    const Standstill seen = desk_->sources().standstill();
    if (!seen.beyond(told_)) return;
    if (seen.meeting != seen_.meeting || seen.unit != seen_.unit) {
        seen_ = seen;
        seen_at_ = now();
    }
    if (now() - seen_at_ < patience) return;
    told_ = seen;
    WireWriter out;
    out.put(seen);
    place_.neighbours.spread(MessageKind::meets, serial_, out.bytes, -1);
}

}  // namespace thalweg::detail
