// The files of a server: created by all servers together, finished, counted, closed.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <utility>

#include "comm/reserve.hpp"
#include "comm/trace.hpp"
#include "service/servers/server.hpp"
#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

/// Files of several sessions.
bool Server::open_in_turn() {
    if (opening_.empty() || !turns_->comes(session_, opening_.front().file)) return false;
    const Message message = std::move(opening_.front());
    opening_.pop_front();
    open(message);
    return true;
}

/// What each server does by itself. @return the same on all @note Collective over the servers
template <class Act>
Status Server::all_do(Act&& act) {
    const Status mine = alone(act);
    return agree(peers_, with_reserve([&] { return named(mine); }));
}

/// The servers create the file together, and answer alike.
void Server::open(const Message& message) {
    const std::int64_t serial = message.file;
    Served* served = nullptr;
    Status status = all_do([&]() -> Status {
        served = &files_.try_emplace(serial, *this, serial).first->second;
        served->description = read_file(message.body);
        return prepare(*served);
    });
    if (status.ok()) {
        const TraceFile file(served->description.plan.path);
        const Span span("open");
        status = create(*served);
        if (status.ok()) status = all_do([&] { return set_up(*served); });
    }
    if (!status.ok()) files_.erase(serial);
    answer(serial, status, status.ok() ? served : nullptr);
}

Status Server::prepare(Served& served) {
    const ServicePlan& plan = served.description.plan;
    const Grid& grid = plan.layout.grid;
    served.storage = make_storage(plan.storage);
    if (grid.own_files)
        served.storage = make_tile_storage(std::move(served.storage), grid,
                                           writer_ < grid.parts() ? writer_ : -1, plan.path);
    served.map = plan.map;
    const bool looks = crew_.nodes() > 1 && crew_.servers_of(node_).front() == writer_;
    return looks ? check_identity(plan.data_path, plan.options.claimed) : Status{};
}

/// @note Collective over the servers
Status Server::create(Served& served) {
    const ServicePlan& plan = served.description.plan;
    const Definitions& definitions = served.description.definitions;
    Storage& storage = *served.storage;
    StorageOptions options = plan.options;
    options.beside_keeper = crew_.node_of(crew_.servers().front()) == node_;
    Status status = together([&] {
        return options.existing.is
                   ? storage.open(peers_, plan.path, definitions, options, true, served.map)
                   : storage.create(peers_, plan.data_path, definitions, options, true, served.map);
    });
    if (!status.ok()) with_reserve([&] { status = named(renumbered(status)); });
    return status;
}

/// A rank that is named by its number among the servers.
Status Server::renumbered(Status status) const {
    constexpr std::string_view words = " (rank ";
    const std::size_t at = status.text.rfind(words);
    if (at == std::string::npos || !status.text.ends_with(')')) return status;
    int server = -1;
    const char* const end = status.text.data() + status.text.size();
    (void)std::from_chars(status.text.data() + at + words.size(), end, server);
    if (server < 0 || server >= static_cast<int>(crew_.servers().size())) return status;
    status.text.resize(at);
    status.text += fmt::format("{}{})", words, crew_.servers()[server]);
    return status;
}

/// What takes the units of the ranks.
Status Server::set_up(Served& served) {
    const ServicePlan& plan = served.description.plan;
    const Definitions& definitions = served.description.definitions;
    served.spaces = make_spaces(definitions, served.map);
    const auto local = crew_.servers_of(node_);
    DeskOptions options;
    options.path = plan.path;
    options.piece = plan.piece;
    options.durable = plan.durable;
    options.rank = transport_.address();
    options.agent = std::find(local.begin(), local.end(), writer_) - local.begin();
    options.node_agents = 0;  // servers report to the first one by messages
    options.own_file = plan.layout.grid.own_files;
    options.existing = plan.options.existing;
    options.wording = plan.options.wording;
    served.desk = std::make_unique<Desk>(definitions, served.spaces, make_layout(plan.layout),
                                         writer_, *served.storage, options, served);
    for (const int address : crew_.models_of(node_)) {
        SegmentName name;
        if (!board_.read(crew_.place_of(address), served.serial, name))
            return failure(TW_EINTERNAL, "{}: the queue of rank {} is not known", plan.path,
                           crew_.number_of(address));
        Status status;
        auto segment = Segment::map(name, status);
        if (!status.ok()) return status;
        if (status = served.desk->add_region(std::move(segment)); !status.ok()) return status;
    }
    for (const int feeder : crew_.feeders(writer_)) served.desk->sources().add_feeder(feeder);
    served.forwards_on = crew_.has_models(node_) && crew_.nodes() > 1;
    served.rounds.assign(neighbours_.below(), 0);
    if (writer_ == 0 && neighbours_.below() > 0) served.desk->rounds().others_have(0);
    return {};
}

/// Answers a finish_file once all that was published before it is written, or has failed.
void Server::finish(std::int64_t serial, Served& served) {
    if (served.marks_wanted < 0) return;
    Status status = served.desk->failure();
    if (status.ok() && served.desk->marks() < served.marks_wanted) return;
    if (status.ok() && served.durable) {
        const auto held = served.desk->hold();
        status = named(served.storage->sync());
    }
    served.marks_wanted = -1;
    if (!status.ok()) served.desk->fail(status);
    answer(serial, status, &served);
}

/// Answers a count_file. The other servers have answered the finish_file before it, but their
/// reports of where their chunks are may still be on their way.
void Server::count(std::int64_t serial, Served& served) {
    if (!served.count_wanted) return;
    if (served.desk->failure().ok() && !served.desk->all_have()) return;
    const Status status = named(served.desk->commit_all(served.count_durable));
    served.count_wanted = false;
    if (!status.ok()) served.desk->fail(status);
    answer(serial, status, &served);
}

void Server::close(const Message& message) {
    const std::int64_t serial = message.file;
    const auto found = files_.find(serial);
    if (found == files_.end()) return;
    Served& served = found->second;
    const TraceFile file(served.description.plan.path);
    const Span span("close");
    WireReader in(message.body);
    bool good = in.get<bool>();
    LateAttributes late;
    Status status = alone([&]() -> Status {
        late = get_late(in);
        return {};
    });
    good = good && status.ok();
    served.desk->retire();
    const std::int64_t records = good ? served.desk->ended_records() : served.desk->records();
    Status closed = alone([&] { return served.storage->close(records, late); });
    if (status.ok()) status = std::move(closed);
    answer(serial, with_reserve([&] { return named(status); }), &served);
    files_.erase(found);
}

}  // namespace thalweg::detail
