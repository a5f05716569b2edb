// SPDX-License-Identifier: Apache-2.0
#include "service/queue/box_messages.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "storage/netcdf4/chunk_grid.hpp"

namespace thalweg::detail {

BoxMessages::BoxMessages(Team& team, const ServicePlan& plan, const FileMap& map,
                         std::vector<int> writers, Storage& storage)
    : team_(team),
      plan_(plan),
      spaces_(make_spaces(*plan.definitions, map)),
      writer_ranks_(std::move(writers)),
      storage_(storage),
      layout_(make_layout(plan.layout)) {
    for (const int rank : writer_ranks_) packets_.push_back({rank, {}});
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
    auto memory = Outbox::memory_for(plan_.queue, *plan_.holdings, status, true);
    if (!memory) return status;
    outbox_ = std::make_unique<Outbox>(std::move(memory), 1, doorbell_, team_.world(), true);
    return {};
}

bool BoxMessages::publish(Parcel& parcel, std::int64_t keep) {
    if (!outbox_->publish(parcel, keep)) return false;
    Region& region = outbox_->region();
    records_ = std::max(records_, parcel.head.records);
    last_ = last_ || parcel.head.kind == UnitKind::last;
    if (Status status = alone([&]() -> Status {
            cut(parcel);
            return {};
        });
        !status.ok())
        region.fail(failure(TW_ENOMEM, "{}: no memory for what the writers are sent (rank {})",
                            plan_.path, team_.rank()));
    region.done[0].store(static_cast<std::uint32_t>(outbox_->published()),
                         std::memory_order_release);
    return true;
}

void BoxMessages::cut(const Parcel& parcel) {
    const auto& variables = plan_.definitions->variables;
    const Parcel packed = with_data(parcel, outbox_->base(), variables, *plan_.holdings);
    if (packed.entries.empty()) return;
    for (std::size_t w = 0; w < packets_.size(); ++w) {
        std::vector<char>& bytes = packets_[w].bytes;
        const std::size_t before = bytes.size();
        if (!append_clipped(packed, *layout_, static_cast<int>(w), spaces_, variables, bytes))
            bytes.resize(before);
    }
}

std::int64_t BoxMessages::waiting_bytes() const {
    std::int64_t bytes = 0;
    for (const Packet& p : packets_) bytes += static_cast<std::int64_t>(p.bytes.size());
    return bytes;
}

Status BoxMessages::finish(bool durable) {
    const auto end = [&](Status status) {
        status = team_.agree(status);
        if (!status.ok()) outbox_->region().fail(status);
        return status;
    };
    outbox_->drain();
    if (Status status = end(outbox_->failure()); !status.ok()) return status;
    std::int64_t words[] = {records_, last_ ? 1 : 0};
    team_.all_reduce(words, Reduce::max);
    records_ = words[0];
    last_ = words[1] != 0;
    std::vector<Packet> received;
    Status status = alone([&]() -> Status {
        std::vector<Packet> sent;
        for (Packet& p : packets_)
            if (!p.bytes.empty()) sent.push_back(std::move(p));
        const auto give_back = [&] {
            for (Packet& s : sent)
                for (Packet& p : packets_)
                    if (p.rank == s.rank) p.bytes = std::move(s.bytes);
        };
        try {
            received = team_.world().exchange(sent);
        } catch (const std::bad_alloc&) {
            give_back();
            throw;
        }
        give_back();
        return {};
    });
    for (Packet& p : packets_) p.bytes.clear();  // their memory serves the next step
    if (status = end(std::move(status)); !status.ok()) return status;
    status = composer_ ? alone([&] { return compose(received); }) : Status{};
    if (status.ok() && durable) status = storage_.sync();
    if (status = end(std::move(status)); !status.ok()) return status;
    return end(count(durable));
}

/// This writer's share of all ranks' boxes; then records are complete, and at the end the file.
Status BoxMessages::compose(const std::vector<Packet>& received) {
    std::vector<Parcel> parcels;
    for (const Packet& p : received) {
        auto its = parse_message(p.bytes, plan_.definitions->variables);
        std::move(its.begin(), its.end(), std::back_inserter(parcels));
    }
    std::stable_sort(parcels.begin(), parcels.end(),
                     [](const Parcel& a, const Parcel& b) { return a.head.rank < b.head.rank; });
    // All ranks have come as far.
    for (Parcel& p : parcels) p.head.step = 0;
    Status status = composer_->write_boxes(parcels);
    if (status.ok()) status = composer_->end_boxes(records_, true);
    if (status.ok() && last_) status = composer_->fill_fixed();
    return status;
}

Status BoxMessages::count(bool durable) {
    // Chunks that are written whole are written when they are counted, those of earlier records
    // too.
    const bool whole = is_netcdf4(plan_.options.format) && needs_whole_chunks(*plan_.definitions);
    if (records_ == counted_ && !durable && !whole) return {};
    Status status = storage_.set_records(records_, durable);
    if (status.ok()) status = storage_.catch_up();
    if (status.ok()) counted_ = records_;
    return status;
}

Status BoxMessages::close(bool good, const std::vector<std::pair<int, Attribute>>& late) {
    return team_.agree(storage_.close(good ? records_ : counted_, late));
}

}  // namespace thalweg::detail
