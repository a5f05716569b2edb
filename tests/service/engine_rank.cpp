// SPDX-License-Identifier: Apache-2.0
#include "service/engine_rank.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/clock.hpp"
#include "service/local_transport.hpp"
#include "service/servers/served_file.hpp"
#include "service/servers/server.hpp"
#include "service/service.hpp"
#include "support/decompose.hpp"
#include "support/given.hpp"
#include "support/threads.hpp"

namespace thalweg::detail {

namespace {

void ok(const Status& status) { EXPECT_TRUE(status.ok()) << status.text; }

std::vector<double> with_halo(const std::vector<double>& values, const Box& box,
                              std::int64_t halo) {
    if (halo == 0 || box.volume() == 0) return values;
    std::int64_t all = 1;
    for (int d = 0; d < box.nd; ++d) all *= box.count[d] + 2 * halo;
    std::vector<double> result(static_cast<std::size_t>(all), -7.0);
    for (std::size_t k = 0; k < values.size(); ++k) {
        std::int64_t rest = static_cast<std::int64_t>(k), at = 0, stride = 1;
        for (int d = box.nd - 1; d >= 0; --d) {
            at += (rest % box.count[d] + halo) * stride;
            stride *= box.count[d] + 2 * halo;
            rest /= box.count[d];
        }
        result[static_cast<std::size_t>(at)] = values[k];
    }
    return result;
}

}  // namespace

Rank::Rank(const Case& c, std::uint64_t seed, std::unique_ptr<Comm> comm, ServerConnection* port,
           std::shared_ptr<std::vector<char>> bytes)
    : case_(c), random_(seed), expected_(c) {
    Status status;
    team_ = Team::make(std::move(comm), c.node_size, status);
    ok(status);
    resources_ = std::make_unique<Resources>(*team_, c.options.buffer * team_->node().size(), port);
    const std::string path = c.path.empty() ? "memory.nc" : c.path;
    file_ = std::make_unique<FileContext>(*team_, *resources_, path, 1, c.options);
    file_->data_path = path;
    if (c.packed()) file_->format = Format::netcdf4;
    define();
    file_->most_step_bytes = file_->step_bytes();
    team_->all_reduce({&file_->most_step_bytes, 1}, Reduce::max);
    target_.layout = c.layout;
    target_.writers = c.writers;
    if (c.path.empty()) {
        auto storage = std::make_unique<MemoryStorage>();
        storage->definitions = &file_->definitions;
        storage->bytes = std::move(bytes);
        target_.storage = std::move(storage);
        target_.map = c.plan.spaces.map;
    } else {
        target_.storage = make_storage(c.options.storage);
    }
    target_.order = target_.storage->traits().order;
    if (!c.path.empty() && c.servers == 0) open();
    batch_ = std::make_unique<Batch>(*file_);
    service_ = make_service(*file_, target_, *batch_, status);
    ok(status);
    parts_ = std::make_unique<PartPuts>(*file_, *batch_, *service_);
}

void Rank::open() {
    const auto& writers = target_.writers;
    const bool writer = std::find(writers.begin(), writers.end(), team_->rank()) != writers.end();
    StorageOptions options = file_->storage_options();
    options.is_there = false;
    options.header_writer = writers.front();
    options.writers = static_cast<int>(writers.size());
    options.behind = case_.options.service == "background";
    const auto& node_of = team_->topology().node_of;
    const auto beside = [&](int rank) {
        return node_of[static_cast<std::size_t>(rank)] ==
               node_of[static_cast<std::size_t>(options.header_writer)];
    };
    options.beside_header_writer = beside(team_->rank());
    options.all_beside =
        static_cast<int>(std::count_if(writers.begin(), writers.end(), beside)) - 1;
    ok(target_.storage->create(team_->world(), case_.path, file_->definitions, options, writer,
                               target_.map));
}

void Rank::run() {
    const std::int64_t steps = random_.between(1, 4);
    for (std::int64_t s = 0; s < steps; ++s) {
        const bool ends = s + 1 < steps || random_.percent(80);
        // Sometimes all ranks put the same records in the same order, sometimes each in its own.
        if (case_.boxes && random_.percent(case_.alike))
            step_alike();
        else
            step();
        end_step(ends);
        if (ends && random_.percent(25)) ok(service_->sync(false));
    }
    close();
}

void Rank::run_immediate() {
    for (std::int64_t s = 0; s < 5; ++s) {
        for (int i = 0; i < variables(); ++i) {
            const Variable& v = file_->variable(i);
            ++version_;
            if (i > 0) {
                const std::int64_t record = v.record ? random_.below(case_.most_records) : 0;
                if (s > 0) put_record(i, v, record, usual_of(i, v));
            } else if (s != 2) {
                put(i, v, s == 3);
                counts_ = true;
            }
            if (random_.percent(30)) ok(service_->sync(false));
        }
        end_step(true);
    }
    close();
}

void Rank::close() {
    Agreed agreed;
    ok(service_->hand_over(agreed));
    ok(service_->close(true, true));
}

/// Defines the variables of the plan, each with its own decomposition. Some variables have a part
/// that no rank holds, whose elements keep their values or the fill value.
void Rank::define() {
    file_->definitions = case_.plan.definitions;
    for (const Variable& v : file_->definitions.variables) {
        Dealt dealt;
        dealt.first = random_.below(case_.ranks);
        dealt.hole = !v.shape.empty() && random_.percent(20);
        dealt.halves = random_.percent(50);
        dealt.seed = random_.next();
        dealt.kind = random_.percent(75) ? Dealt::Kind::shares : Dealt::Kind::list;
        if (v.shape.empty()) dealt.kind = Dealt::Kind::first_has_all;
        held_.push_back(make(v, dealt));
        std::shared_ptr<const Holding> holding;
        if (v.shape.empty())
            holding = hold_whole(team_->rank(), 0, {}, v.shape, {});
        else
            ok(hold(held_.back().decomposition, file_->definitions.fixed_dims(v), v.shape, {},
                    holding));
        file_->holdings.push_back(std::move(holding));
    }
}

Rank::Made Rank::make(const Variable& v, Dealt dealt) {
    Made made{nullptr, dealt};
    if (dealt.kind == Dealt::Kind::first_has_all) return made;
    const std::vector<std::string> dims = file_->definitions.fixed_dims(v);
    const int rank = team_->rank();
    const bool list = dealt.kind == Dealt::Kind::list;
    Decomposition d =
        given(dims, v.shape, list ? std::vector<Box>{} : blocks_of(v, dealt, rank, case_.ranks));
    d.halo_low.assign(v.shape.size(), dealt.halo);
    d.halo_high.assign(v.shape.size(), dealt.halo);
    d.serial = ++serial_;
    Comm& world = team_->world();
    if (list)
        ok(make_listed_decomposition(world, d, dims, elements_of(v, dealt, rank, case_.ranks),
                                     false, made.decomposition));
    else
        ok(make_decomposition(world, d, made.decomposition));
    return made;
}

Rank::Made Rank::made_for(const Variable& v, std::int64_t halo, bool hole) {
    if (v.shape.empty() || random_.percent(10)) return {};
    Dealt dealt;
    dealt.kind = random_.percent(75) ? Dealt::Kind::shares : Dealt::Kind::list;
    dealt.first = random_.below(case_.ranks);
    dealt.halo = dealt.kind == Dealt::Kind::shares ? halo : 0;
    dealt.hole = hole;
    dealt.seed = random_.next();
    return make(v, dealt);
}

/// Returns one of a few decompositions that are used again, mostly the same one.
Rank::Made Rank::usual_of(int i, const Variable& v) {
    usual_.resize(static_cast<std::size_t>(variables()));
    auto& all = usual_[static_cast<std::size_t>(i)];
    if (all.empty() || (all.size() < 3 && random_.percent(10))) {
        const std::int64_t halo = random_.percent(30) ? random_.between(1, 2) : 0;
        all.push_back(made_for(v, halo, random_.percent(15)));
    }
    return random_.percent(80) ? all.front() : random_.pick(all);
}

void Rank::step() {
    for (int i = 0; i < variables(); ++i) {
        const Variable& v = file_->variable(i);
        ++version_;
        const std::int64_t kind = random_.below(case_.boxes ? 100 : 60);
        const int who = static_cast<int>(random_.below(case_.ranks));
        const std::int64_t record = v.record ? random_.below(case_.most_records) : 0;
        if (kind < 45)
            put(i, v, random_.percent(30));
        else if (!case_.boxes)
            continue;
        else if (kind < 60)
            put_box(i, v, who, record);
        else if (kind < 80)
            put_record(i, v, record, made_for(v));
        counts_ |= v.record && kind < 45;
        if (random_.percent(10)) ok(service_->sync(false));
    }
}

/// Puts most variables by the same decompositions as before and into one record, on all ranks.
/// Sometimes puts something else.
void Rank::step_alike() {
    const std::int64_t next = std::min(expected_.records, case_.most_records - 1);
    const std::int64_t usual = random_.percent(75) ? next : random_.below(case_.most_records);
    const bool often = random_.percent(50);
    for (int i = 0; i < variables(); ++i) {
        const Variable& v = file_->variable(i);
        ++version_;
        if (random_.percent(10)) continue;
        if (random_.percent(often ? 15 : 2)) {
            put(i, v, random_.percent(30));
            counts_ |= v.record;
            continue;
        }
        std::int64_t record = v.record ? usual : 0;
        if (v.record && random_.percent(often ? 10 : 1)) record = random_.below(case_.most_records);
        const Made made = usual_of(i, v);
        const std::int64_t kind = random_.below(often ? 100 : 1000);
        if (kind < 10) {  // a box inside the rank's own part, put before or after the record
            put_part(i, v, record, made);
            ++version_;
            put_record(i, v, record, made);
        } else if (kind < 20) {
            put_record(i, v, record, made);
            ++version_;
            put_part(i, v, record, made);
        } else if (kind < 30) {  // the same values by another decomposition
            put_record(i, v, record, made);
            put_record(i, v, record, usual_of(i, v));
        } else if (kind < 40) {  // put again
            put_record(i, v, record, made);
            ++version_;
            put_record(i, v, record, made);
        } else if (kind < 50) {  // also put another record
            put_record(i, v, record, made);
            ++version_;
            if (v.record) put_record(i, v, (record + 1) % case_.most_records, made);
        } else if (kind < 60) {
            put_record(i, v, record, made, Who::all_but_one);
        } else if (kind < 70) {
            put_record(i, v, record, made, Who::one);
        } else if (kind < 80) {
            put_record(i, v, record, made_for(v));
        } else if (v.shape.empty() ? kind % 2 == 0 : random_.percent(15)) {
            put_whole(i, v, record);
        } else {
            put_record(i, v, record, made);
        }
        if (random_.percent(3)) ok(service_->sync(false));
    }
}

void Rank::end_step(bool ends) {
    bool any_record = false;
    for (int i = 0; i < variables(); ++i) any_record |= file_->variable(i).record;
    // A step without puts writes a record of fill values, unless boxes were put.
    if (any_record && (counts_ || (!boxed_ && ends)))
        expected_.records = std::max(expected_.records, batch_->record + 1);
    if (!ends) return;
    ok(service_->end_step());
    kept_.clear();
    counts_ = false;
}

std::vector<double> Rank::values_at(int i, std::span<const std::int64_t> elements,
                                    std::int64_t version) const {
    std::vector<double> values;
    for (const std::int64_t e : elements) values.push_back(e < 0 ? -7 : value_of(i, version, e));
    return values;
}

void Rank::put(int i, const Variable& v, bool deferred) {
    const Dealt& dealt = held_[static_cast<std::size_t>(i)].dealt;
    const std::int64_t record = v.record ? batch_->record : 0;
    std::vector<double> values =
        values_at(i, elements_of(v, dealt, team_->rank(), case_.ranks), version_);
    PartsToPut puts;
    puts.by_put = true;
    puts.deferred = deferred;
    Part& part = puts.part;
    part.variable = i;
    part.record = record;
    part.holding = file_->holdings[static_cast<std::size_t>(i)];
    part.array.data = reinterpret_cast<const char*>(values.data());
    part.array.type = TW_DOUBLE;
    const auto n = static_cast<std::int64_t>(values.size());
    const Decomposition& d = *part.holding->decomposition;
    const bool copy = d.replicated && team_->rank() > 0;
    ok(check_dense(d, copy ? d.stored : n, part.array));
    ok(service_->put({}, puts));
    if (deferred) kept_.push_back(std::move(values));
    for (int r = 0; r < case_.ranks; ++r) note(i, v, record, elements_of(v, dealt, r, case_.ranks));
}

void Rank::put_box(int i, const Variable& v, int who, std::int64_t record) {
    Box box = whole_of(v);
    for (int d = 0; d < box.nd; ++d) {
        box.low[d] = random_.below(box.count[d]);
        box.count[d] = random_.between(1, box.count[d] - box.low[d]);
    }
    if (team_->rank() == who) put_box_of(i, v, record, box);
    note(i, v, record, elements_in(v, box));
    note_box(v, record);
}

void Rank::put_record(int i, const Variable& v, std::int64_t record, const Made& made, Who who) {
    const int chosen = static_cast<int>(random_.below(case_.ranks));
    const bool deferred = random_.percent(25);
    const auto puts = [&](int rank) {
        return who == Who::all || (rank == chosen) == (who == Who::one);
    };
    const int me = team_->rank();
    if (puts(me)) {
        std::vector<double> values;
        if (made.decomposition) {
            values = values_at(i, elements_of(v, made.dealt, me, case_.ranks), version_);
            values = with_halo(values, share_of(v, made.dealt, me, case_.ranks), made.dealt.halo);
            values.resize(static_cast<std::size_t>(made.decomposition->stored), -7.0);
        } else {  // rank 0 puts the values for all
            values = values_at(i, elements_in(v, whole_of(v)), version_ + (me > 0 ? 1000 : 0));
        }
        RecordToPut put;
        put.record = record;
        put.decomposition = made.decomposition;
        put.array = tw_dense(TW_DOUBLE, values.data(), std::ssize(values));
        put.deferred = deferred;
        ok(parts_->put_record(v.name, put));
        if (deferred) kept_.push_back(std::move(values));
    }
    bool any = false;
    for (int r = 0; r < case_.ranks; ++r) {
        any |= puts(r);
        if (puts(r)) note(i, v, record, elements_of(v, made.dealt, r, case_.ranks));
    }
    if (any) note_box(v, record);
}

/// Puts a box that is inside each rank's part.
void Rank::put_part(int i, const Variable& v, std::int64_t record, const Made& made) {
    const std::int64_t cut = random_.between(1, 3);
    bool any = false;
    for (int r = 0; r < case_.ranks; ++r) {
        Box box = share_of(v, made.dealt, r, case_.ranks);
        if (r > 0 && box.nd == 0) continue;
        if (box.nd > 0) box.count[0] = (box.count[0] + cut - 1) / cut;
        if (made.dealt.kind == Dealt::Kind::list) {  // a rank with a list has no box
            const auto elements = elements_of(v, made.dealt, r, case_.ranks);
            const auto any_of = std::max_element(elements.begin(), elements.end());
            if (any_of == elements.end() || *any_of < 0) continue;
            std::int64_t rest = *any_of;
            for (int d = box.nd - 1; d >= 0; --d) {
                const std::int64_t length = v.shape[static_cast<std::size_t>(d)];
                box.low[d] = rest % length;
                box.count[d] = 1;
                rest /= length;
            }
        }
        if (box.volume() == 0) continue;
        any = true;
        if (r == team_->rank()) put_box_of(i, v, record, box);
        note(i, v, record, elements_in(v, box));
    }
    if (any) note_box(v, record);
}

/// Puts the whole variable as a box: from one rank, or the same values from several ranks in any
/// order.
void Rank::put_whole(int i, const Variable& v, std::int64_t record) {
    const int who = static_cast<int>(random_.below(case_.ranks));
    const bool several = random_.percent(20);
    const Box all = whole_of(v);
    if (team_->rank() == who || several) put_box_of(i, v, record, all);
    note(i, v, record, elements_in(v, all));
    note_box(v, record);
}

void Rank::put_box_of(int i, const Variable& v, std::int64_t record, const Box& box) {
    std::vector<std::int64_t> start(box.low.begin(), box.low.begin() + box.nd);
    std::vector<std::int64_t> count(box.count.begin(), box.count.begin() + box.nd);
    if (v.record) {
        start.insert(start.begin(), record);
        count.insert(count.begin(), 1);
    }
    const std::vector<double> values = values_at(i, elements_in(v, box), version_);
    ok(parts_->put_box(v.name, {TW_DOUBLE, start.data(), count.data(), nullptr, values.data()}));
}

void Rank::note(int i, const Variable& v, std::int64_t record,
                std::span<const std::int64_t> elements) {
    for (const std::int64_t e : elements)
        if (e >= 0) expected_.put(i, v, record, e, value_of(i, version_, e));
}

/// Notes that some rank has put data into a record by its number.
void Rank::note_box(const Variable& v, std::int64_t record) {
    boxed_ = true;
    if (v.record) expected_.records = std::max(expected_.records, record + 1);
}

void run_ranks(const Case& c, std::uint64_t seed, std::shared_ptr<std::vector<char>> bytes,
               const std::function<void(Rank&)>& act) {
    if (c.servers == 0)
        return on_threads(c.ranks, [&](std::unique_ptr<Comm> comm) {
            Rank rank(c, seed, std::move(comm), nullptr, bytes);
            act(rank);
        });
    const auto ends = make_local_transports(c.all());
    on_threads(c.all(), [&](std::unique_ptr<Comm> comm) {
        Status status;
        const auto all = Team::make(std::move(comm), c.node_size, status);
        ok(status);
        Comm& world = all->world();
        const ServerRoles server_roles = choose_server_roles(all->topology(), c.servers, c.last);
        Transport& transport = *ends[static_cast<std::size_t>(world.rank())];
        const bool serves = server_roles.serves(world.rank());
        auto part = world.split(serves ? 1 : 0, world.rank());
        const auto memory = all->node().share(NodeTable::bytes(all->node().size()));
        const NodeTable node_table(*memory);
        if (serves) {
            Server server(server_roles, server_roles.number_of(world.rank()), transport, *part,
                          node_table);
            while (!server.ended())
                if (!server.work()) sleep_seconds(20e-6);
        } else {
            ServerConnection port(server_roles, transport, node_table);
            {
                Rank rank(c, seed, std::move(part), &port, bytes);
                act(rank);
            }
            if (world.rank() == server_roles.model(0)) port.end();
        }
        transport.finish();
    });
}

}  // namespace thalweg::detail
