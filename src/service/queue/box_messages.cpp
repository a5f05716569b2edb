// SPDX-License-Identifier: Apache-2.0
#include "service/queue/box_messages.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/reserve.hpp"
#include "comm/node_exchange.hpp"
#include "exchange/dense.hpp"
#include "storage/chunked/chunk_grid.hpp"

namespace thalweg::detail {

namespace {

/// Writers of a node that look at what all of its ranks have put; more than these get their own
/// parts as messages.
constexpr int most_that_look = 8;

std::int64_t bytes_of(const Parcel& parcel, std::span<const Variable> variables) {
    std::int64_t bytes = 0;
    for (const Parcel::Entry& e : parcel.entries)
        bytes += elements_of(e.held) * variables[e.variable].element();
    return bytes;
}

}  // namespace

BoxMessages::BoxMessages(Team& team, const ServicePlan& plan, const FileMap& map,
                         std::vector<int> writers, Storage& storage,
                         std::unique_ptr<Segment>& spare)
    : team_(team),
      plan_(plan),
      spaces_(make_spaces(*plan.definitions, map)),
      writer_ranks_(std::move(writers)),
      storage_(storage),
      layout_(make_layout(plan.layout)),
      spare_(spare) {
    const Topology& topology = team.topology();
    for (const int rank : writer_ranks_) {
        packets_.push_back({rank, {}});
        near_.push_back(topology.node_of[rank] == topology.node);
    }
    if (std::count(near_.begin(), near_.end(), 1) > most_that_look) near_.assign(near_.size(), 0);
}

/// The ranks have met in close(): no writer of the node reads the queue any more.
BoxMessages::~BoxMessages() {
    if (closed_) spare_ = outbox_->release();
}

Status BoxMessages::begin(std::int64_t records, std::vector<char> filled,
                          std::vector<char> written) {
    const Existing& existing = plan_.options.existing;
    records_ = std::max(records, existing.kept);
    counted_ = records_;
    const auto mine = std::find(writer_ranks_.begin(), writer_ranks_.end(), team_.rank());
    if (mine != writer_ranks_.end()) {
        composer_ = std::make_unique<Composer>(*plan_.definitions, spaces_, *layout_,
                                               static_cast<int>(mine - writer_ranks_.begin()),
                                               storage_, plan_.piece, nullptr, existing);
        composer_->go_on(records, std::move(filled), std::move(written));
    }
    Status status;
    auto memory = Outbox::memory_for(plan_.queue, *plan_.holdings, status, true, std::move(spare_));
    if (!memory) return status;
    outbox_ = std::make_unique<Outbox>(std::move(memory), 1, doorbell_, team_.world(), true);
    outbox_->watch(*this);
    return {};
}

/// The writers of each node map the memory of its ranks. Where they cannot, all parts go by
/// messages. @note Collective
void BoxMessages::share_memory() {
    asked_ = true;
    const SegmentName& name = outbox_->name();
    std::vector<SegmentName> all;
    Status status = together([&]() -> Status {
        all = share_names(team_.node(), name);
        return {};
    });
    const bool looks =
        composer_ && near_[std::find(writer_ranks_.begin(), writer_ranks_.end(), team_.rank()) -
                           writer_ranks_.begin()] != 0;
    if (looks && status.ok()) status = alone([&] { return map_memory(all); });
    shares_ = team_.agree(status).ok();
    if (!shares_) neighbours_.clear();
}

Status BoxMessages::map_memory(const std::vector<SegmentName>& names) {
    for (const SegmentName& name : names) {
        Status status;
        auto memory = Segment::map(name, status);
        if (!status.ok()) return status;
        Holdings holdings(Region::told(*memory), plan_.definitions->variables);
        neighbours_.push_back({std::move(memory), std::move(holdings)});
    }
    return {};
}

bool BoxMessages::publish(Parcel& parcel, std::int64_t keep) {
    if (!outbox_->publish(parcel, keep)) return false;
    Region& region = outbox_->region();
    records_ = std::max(records_, parcel.head.records);
    if (Status status = alone([&]() -> Status {
            if (parcel.head.kind == UnitKind::last || parcel.head.kind == UnitKind::fill)
                fill_ = without_data(parcel);
            const auto& variables = plan_.definitions->variables;
            kept_.push_back(with_data(parcel, outbox_->base(), variables, *plan_.holdings));
            kept_bytes_ += bytes_of(kept_.back(), variables);
            cut(kept_.back(), false);
            return {};
        });
        !status.ok())
        region.fail(failure(TW_ENOMEM, "{}: no memory for what the writers are sent (rank {})",
                            plan_.path, team_.rank()));
    return true;
}

/// For the writers of this node or for the others.
void BoxMessages::cut(const Parcel& packed, bool near) {
    if (packed.entries.empty()) return;
    const auto& variables = plan_.definitions->variables;
    for (std::size_t w = 0; w < packets_.size(); ++w) {
        if ((near_[w] != 0) != near) continue;
        std::vector<char>& bytes = packets_[w].bytes;
        const std::size_t before = bytes.size();
        if (!append_clipped(packed, *layout_, w, spaces_, variables, bytes)) bytes.resize(before);
    }
}

/// What is kept leaves the queue.
void BoxMessages::cut_kept() {
    if (Status status = alone([&]() -> Status {
            for (const Parcel& packed : kept_) cut(packed, true);
            return {};
        });
        !status.ok())
        outbox_->region().fail(failure(TW_ENOMEM,
                                       "{}: no memory for what the writers are sent (rank {})",
                                       plan_.path, team_.rank()));
    release_kept();
}

void BoxMessages::release_kept() {
    kept_.clear();
    kept_bytes_ = 0;
    outbox_->region().done[0].store(outbox_->published(), std::memory_order_release);
}

/// The queue is full before the ranks meet.
bool BoxMessages::help() {
    const bool any = !kept_.empty();
    cut_kept();
    return any;
}

std::int64_t BoxMessages::waiting_bytes() const {
    std::int64_t bytes = kept_bytes_;
    for (const Packet& p : packets_) bytes += p.bytes.size();
    return bytes;
}

void BoxMessages::note_written(std::span<const WholeVariable> whole, std::int64_t records) {
    if (composer_) {
        for (const WholeVariable& w : whole) composer_->boxes().note_written(w.variable, w.record);
        composer_->boxes().note_records(records);
    }
    records_ = std::max(records_, records);
    counted_ = std::max(counted_, records);
}

Status BoxMessages::send(std::vector<Packet>& received) {
    std::vector<Packet> sent;
    with_reserve([&] { sent.reserve(packets_.size()); });
    for (Packet& p : packets_)
        if (!p.bytes.empty()) sent.push_back(std::move(p));
    Status status = together([&]() -> Status {
        received = exchange_by_nodes(team_, sent);
        return {};
    });
    for (Packet& s : sent)
        for (Packet& p : packets_)
            if (p.rank == s.rank) p.bytes = std::move(s.bytes);
    return status;
}

Status BoxMessages::finish(bool durable) {
    const auto end = [&](Status status) {
        status = team_.agree(status);
        if (!status.ok()) outbox_->region().fail(status);
        return status;
    };
    if (!asked_) share_memory();
    if (!shares_) cut_kept();
    if (Status status = end(outbox_->failure()); !status.ok()) return status;
    team_.all_reduce({&records_, 1}, Reduce::max);
    std::vector<Packet> received;
    Status status = send(received);
    for (Packet& p : packets_) p.bytes.clear();  // their memory serves the next step
    if (status = end(std::move(status)); !status.ok()) return status;
    status = composer_ ? alone([&] { return compose(received); }) : Status{};
    fill_ = {};
    if (status.ok() && durable) status = storage_.sync();
    status = end(std::move(status));
    release_kept();
    outbox_->drain();
    if (!status.ok()) return status;
    return end(count(durable));
}

/// What a rank of this node has kept; what it could not keep came as a message.
void BoxMessages::look_at(Neighbour& neighbour, std::vector<Parcel>& parcels) const {
    const Memory& memory = *neighbour.memory;
    const Region& region = Region::of(memory);
    constexpr auto order = std::memory_order_acquire;
    neighbour.next = whole_count(region.done[0].load(order), neighbour.next);
    const std::int64_t end = whole_count(region.published.load(order), neighbour.next);
    for (; neighbour.next < end; ++neighbour.next) {
        const std::int64_t at =
            region.unit_at[neighbour.next % Region::max_units].load(std::memory_order_relaxed);
        const char* const base = Region::data(memory);
        parcels.push_back(parse_parcel(reinterpret_cast<const std::int64_t*>(base + at), base,
                                       plan_.definitions->variables, neighbour.holdings));
    }
}

/// This writer's share of all ranks' boxes; then records are complete, and at the end the file.
Status BoxMessages::compose(const std::vector<Packet>& received) {
    std::vector<Parcel> parcels;
    for (const Packet& p : received) {
        auto its = parse_message(p.bytes, plan_.definitions->variables);
        std::move(its.begin(), its.end(), std::back_inserter(parcels));
    }
    for (Neighbour& neighbour : neighbours_) look_at(neighbour, parcels);
    std::stable_sort(parcels.begin(), parcels.end(),
                     [](const Parcel& a, const Parcel& b) { return a.head.rank < b.head.rank; });
    // All ranks have come as far.
    for (Parcel& p : parcels) p.head.step = 0;
    Status status = composer_->boxes().write(parcels);
    if (status.ok()) status = composer_->boxes().end_step(records_, true);
    if (status.ok() && fill_.head.kind != UnitKind::step)
        status = composer_->boxes().fill_fixed(fill_);
    return status;
}

Status BoxMessages::count(bool durable) {
    // Chunks that are written whole are written when they are counted, those of earlier records
    // too.
    const bool whole = is_netcdf4(plan_.options.format) && needs_whole_chunks(*plan_.definitions);
    if (records_ == counted_ && !durable && !whole) return {};
    Status status = alone([&] { return storage_.set_records(records_, durable); });
    if (status.ok()) status = alone([&] { return storage_.catch_up(); });
    if (status.ok()) counted_ = records_;
    return status;
}

Status BoxMessages::close(bool good, const std::vector<std::pair<int, Attribute>>& late) {
    Status status = team_.agree(storage_.close(good ? records_ : counted_, late));
    closed_ = true;
    return status;
}

}  // namespace thalweg::detail
