// Boxes of any variable and record, and puts that name their decomposition and record: whatever the
// variable's definition says.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "comm/clock.hpp"
#include "dataset/file.hpp"
#include "decomposition/match.hpp"
#include "exchange/dense.hpp"
#include "exchange/pack_part.hpp"
#include "service/inline_file.hpp"
#include "storage/netcdf4/chunk_grid.hpp"

namespace thalweg::detail {

namespace {

/// Bytes of the words that describe a box in a parcel.
std::int64_t description(const HeldBox& held) {
    // A list tells two words a run at most.
    const std::int64_t list =
        held.list ? 8 + 3 * static_cast<std::int64_t>(held.list->list->runs.size()) : 0;
    return 8 * (6 + 2 * held.box.nd + list);
}

/// Decompositions whose fit to a variable is remembered.
constexpr std::size_t most_placed = 64;

}  // namespace

/// Whether the file can have boxes.
Status File::allow_boxes(int variable) const {
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    if (is_netcdf4(format_) && needs_whole_chunks(definitions_))
        return failure(TW_ESTATE,
                       "{}: variable '{}': tw_put_box and tw_put_record cannot write to a file "
                       "with filters or requested chunks (rank {})",
                       path_, v.name, team_.rank());
    if (!service_ && storage_->collective())
        return failure(TW_ESTATE,
                       "{}: variable '{}': tw_put_box and tw_put_record do not work with "
                       "storage={}; use posix (rank {})",
                       path_, v.name, storage_->name(), team_.rank());
    return {};
}

/// Whether a variable can be written by boxes now. On the first use a file with service inline gets
/// what it needs for them; the other ranks follow when they all meet.
/// @param first, records  those of a record variable
Status File::use_boxes(int variable, std::int64_t first, std::int64_t records) {
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    Pending& pending = pending_[static_cast<std::size_t>(variable)];
    const bool open = !v.record || (first <= records_ && records_ < first + records);
    if (open && (pending.put || (pending.written && v.record)))
        return failure(TW_ESTATE,
                       "{}: variable '{}': tw_put has written this record in this step; call "
                       "tw_end_step before tw_put_box or tw_put_record (rank {})",
                       path_, v.name, team_.rank());
    if (!service_ && !early_) {
        Status status = alone([&] { return make_inline_file(); });
        if (!status.ok()) return with_place(std::move(status), variable);
    }
    boxed_ = given_ = true;
    pending.boxed |= open;
    return {};
}

/// What a file with service inline needs for boxes. Local.
Status File::make_inline_file() {
    ServicePlan plan;
    plan.path = path_;
    plan.serial = serial_;
    plan.definitions = &definitions_;
    plan.layout = layout_choice_;
    if (direct_) {  // fills what no rank holds with this layout, too
        plan.layout.method = "record";
        plan.layout.writers = team_.size();
    }
    if (options_.piece > 0) plan.piece = options_.piece;
    plan.options = storage_options();
    std::int64_t held = 0;
    if (held_.empty()) {
        for (const Variable& v : definitions_.variables) {
            held_.push_back(held_by(*v.decomposition, v.order, v.shape));
            FillValue fill{};
            v.fill_value(fill.data());
            if (order_ == Order::big_endian) to_big_endian(v.type, fill.data());
            fill_.push_back(fill);
        }
        told_ = Holdings(definitions_);
    }
    for (const Variable& v : definitions_.variables) {
        held += Outbox::rounded(v.decomposition->held * static_cast<std::int64_t>(v.element()));
        has_records_ |= v.record;
    }
    plan.holdings = &told_;
    // Takes memory as it is used: a step of tw_put, and half of it for boxes.
    plan.queue = Outbox::rounded(2 * held + std::max<std::int64_t>(options_.staging, 1 << 20));
    auto file = std::make_unique<InlineFile>(team_, plan, map_, writers_, *storage_);
    std::vector<char> written;
    for (const Pending& p : pending_) written.push_back(p.written);
    if (Status status = file->begin(records_, filled_, std::move(written)); !status.ok())
        return status;
    early_ = std::move(file);
    return {};
}

/// Some rank has boxes: from now on all that is put goes the same way. What was put before in this
/// step comes first. @note Collective
Status File::turn_to_boxes() {
    const auto turn = [&]() -> Status {
        if (!early_)
            if (Status s = make_inline_file(); !s.ok()) return s;
        service_ = std::move(early_);
        for (std::size_t i = 0; i < pending_.size(); ++i) {
            Pending& p = pending_[i];
            if (!p.put || p.deferred()) continue;
            const ArrayView view = p.view;
            const std::int64_t misfits = misfits_[i];  // found when it was copied
            p.view = {};
            if (Status s = queue_variable(static_cast<int>(i), view); !s.ok()) return s;
            misfits_[i] = misfits;
        }
        return {};
    };
    Status status = team_.agree(alone(turn));
    if (!status.ok()) return keep(std::move(status));
    boxed_ = together_ = true;
    staging_.reset();
    return {};
}

Status File::check_records(int variable, std::int64_t first, std::int64_t records) const {
    if (first + records <= most_records(format_)) return {};
    return failure(TW_EFORMAT,
                   "{}: variable '{}': format {} cannot count record {}; cdf5 can "
                   "(rank {})",
                   path_, definitions_.variables[static_cast<std::size_t>(variable)].name,
                   name_of(format_), options_.wording.index(first + records - 1), team_.rank());
}

Status File::put_box(const std::string& name, int type, const std::int64_t* start,
                     const std::int64_t* count, const void* data) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(figures_.put);
    int at = -1;
    if (Status s = check_type(name, type, at); !s.ok()) return s;
    if (Status s = poll_service(); !s.ok()) return s;
    const int rank = team_.rank();
    const Variable& v = definitions_.variables[static_cast<std::size_t>(at)];
    const std::size_t nd = v.dims.size();
    if (nd > 0 && (start == nullptr || count == nullptr))
        return failure(TW_EARG, "{}: variable '{}': start or count is missing (rank {})", path_,
                       name, rank);
    Box box;
    bool empty = false;
    for (std::size_t d = 0; d < nd; ++d) {
        const Dimension& dim = definitions_.dims[static_cast<std::size_t>(v.dims[d])];
        const bool record = v.record && d == 0;
        if (count[d] < 0 || start[d] < 0 ||
            (!record && (start[d] > dim.length || count[d] > dim.length - start[d])) ||
            (record && start[d] > INT64_MAX - count[d]))
            return failure(TW_EBOUNDS,
                           "{}: variable '{}': {} elements from {} along dimension '{}' of length "
                           "{} (rank {})",
                           path_, name, count[d], options_.wording.index(start[d]), dim.name,
                           record ? std::string("unlimited") : std::to_string(dim.length), rank);
        empty |= count[d] == 0;
        if (record) continue;
        box.low[box.nd] = start[d];
        box.count[box.nd++] = count[d];
    }
    const std::int64_t first = v.record ? start[0] : 0, records = v.record ? count[0] : 1;
    if (Status s = allow_boxes(at); !s.ok()) return s;
    if (empty) {
        boxed_ = given_ = true;
        return {};
    }
    if (data == nullptr)
        return failure(TW_EARG, "{}: variable '{}': the data are missing (null pointer) (rank {})",
                       path_, name, rank);
    if (Status s = check_records(at, first, records); !s.ok()) return s;
    if (Status s = use_boxes(at, first, records); !s.ok()) return s;
    ArrayView view;
    view.type = static_cast<tw_type>(type);
    use_netcdf_byte_rule(at, view);
    const auto size = static_cast<std::int64_t>(size_of(view.type));
    const HeldBox held = held_box(box, v.shape);
    Strided from;
    from.base = static_cast<const char*>(data);
    const std::int64_t bytes = dense_strides(box.nd, box.count, size, from.stride);
    for (std::int64_t r = 0; r < records; ++r, from.base += bytes)
        if (Status s = queue_box(at, first + r, held, box, from, view.type); !s.ok()) return s;
    if (v.record) box_records_ = std::max(box_records_, first + records);
    return take_misfits(true);
}

/// How a decomposition holds a variable, which was found out before or is now.
Status File::place(int variable, const std::shared_ptr<const Decomposition>& decomposition,
                   const Placed*& placed) {
    for (const Placed& p : placed_) {
        if (p.variable != variable || p.decomposition != decomposition) continue;
        placed = &p;
        return {};
    }
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    std::vector<std::string> dims;
    for (std::size_t d = v.record ? 1 : 0; d < v.dims.size(); ++d)
        dims.push_back(definitions_.dims[static_cast<std::size_t>(v.dims[d])].name);
    Placed made;
    made.variable = variable;
    made.decomposition = decomposition;
    if (Status s = match_dimensions(*decomposition, dims, v.shape, made.order); !s.ok()) return s;
    if (decomposition->listed && decomposition->listed->shared)
        return failure(TW_EOVERLAP,
                       "the decomposition is TW_LIST_SHARED, which allows reading only");
    made.held = held_by(*decomposition, made.order, v.shape);
    if (placed_.size() == most_placed) placed_.erase(placed_.begin());
    placed_.push_back(std::move(made));
    placed = &placed_.back();
    return {};
}

/// @param check  completes the view of the array, given the decomposition
template <class Check>
Status File::put_placed(const std::string& name,
                        const std::shared_ptr<const Decomposition>& decomposition,
                        std::int64_t record, int type, const void* data, Check&& check) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(figures_.put);
    int at = -1;
    if (Status s = check_type(name, type, at); !s.ok()) return s;
    if (Status s = poll_service(); !s.ok()) return s;
    const Variable& v = definitions_.variables[static_cast<std::size_t>(at)];
    if (v.record && (record < 0 || record == INT64_MAX))
        return failure(TW_EBOUNDS, "{}: variable '{}': record is {}; the first one is {} (rank {})",
                       path_, name, options_.wording.index(record), options_.wording.index(0),
                       team_.rank());
    return alone([&]() -> Status {
        const std::int64_t first = v.record ? record : 0;
        if (Status s = check_records(at, first, 1); !s.ok()) return s;
        std::shared_ptr<const Decomposition> whole = decomposition;
        if (!whole) {
            std::vector<std::string> dims;
            for (std::size_t d = v.record ? 1 : 0; d < v.dims.size(); ++d)
                dims.push_back(definitions_.dims[static_cast<std::size_t>(v.dims[d])].name);
            whole = v.decomposition->replicated
                        ? v.decomposition
                        : replicate(team_.rank(), std::move(dims), v.shape, options_.wording);
        }
        ArrayView view;
        view.data = static_cast<const char*>(data);
        view.type = static_cast<tw_type>(type);
        if (Status s = with_place(check(*whole, view), at); !s.ok()) return s;
        if (data == nullptr && whole->stored > 0)
            return failure(TW_EARG,
                           "{}: variable '{}': the data are missing (null pointer) (rank {})",
                           path_, name, team_.rank());
        Placed own;
        const Placed* placed = &own;
        if (decomposition) {
            if (Status s = with_place(place(at, whole, placed), at); !s.ok()) return s;
        } else if (team_.rank() == 0) {
            own.order = v.order;
            for (std::size_t d = 0; d < own.order.size(); ++d) own.order[d] = static_cast<int>(d);
            own.held = held_by(*whole, own.order, v.shape);
        }
        if (Status s = allow_boxes(at); !s.ok()) return s;
        if (Status s = use_boxes(at, first, 1); !s.ok()) return s;
        use_netcdf_byte_rule(at, view);
        for (const HeldBox& held : placed->held) {
            const Strided from = locate(*whole, placed->order, held, view);
            if (Status s = queue_box(at, first, held, held.box, from, view.type); !s.ok()) return s;
        }
        // Also where this rank holds nothing of it: the record is there.
        if (v.record) box_records_ = std::max(box_records_, first + 1);
        return take_misfits(true);
    });
}

Status File::put_record(const std::string& name,
                        const std::shared_ptr<const Decomposition>& decomposition,
                        std::int64_t record, int type, const void* data, std::int64_t n) {
    return put_placed(
        name, decomposition, record, type, data,
        [&](const Decomposition& d, ArrayView& view) { return check_dense(d, n, view); });
}

Status File::put_record_strided(const std::string& name,
                                const std::shared_ptr<const Decomposition>& decomposition,
                                std::int64_t record, int type, const void* data, int rank,
                                const std::int64_t* extent, const std::int64_t* byte_stride) {
    return put_placed(name, decomposition, record, type, data,
                      [&](const Decomposition& d, ArrayView& view) {
                          return check_strided(d, rank, extent, byte_stride, view);
                      });
}

/// A variable that every rank has whole and that is too large for the queue, as rank 0 has it.
Status File::queue_whole(int variable, const ArrayView& view) {
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    boxed_ = true;
    for (const HeldBox& held : held_[static_cast<std::size_t>(variable)]) {
        const Strided from = locate(*v.decomposition, v.order, held, view);
        if (Status s =
                queue_box(variable, v.record ? records_ : 0, held, held.box, from, view.type);
            !s.ok())
            return s;
    }
    return {};
}

/// Packs what a held box has of a part of itself into the open unit.
Status File::queue_box(int variable, std::int64_t record, const HeldBox& held, const Box& part,
                       const Strided& from, tw_type type) {
    const auto at = static_cast<std::size_t>(variable);
    const Variable& v = definitions_.variables[at];
    const auto size = static_cast<std::int64_t>(v.element());
    HeldBox packed = held_box(part, v.shape);
    if (held.list) {
        if (!has_any(held, part)) return {};
        packed.list = held.list->within(part);
    }
    const std::int64_t bytes = elements_of(packed) * size;
    Outbox& outbox = boxes_service().outbox();
    if (part.volume() > 1 && bytes + description(packed) > outbox.capacity() / 4) {
        Box first = part;
        const Box second = halve(first);
        if (Status s = queue_box(variable, record, held, first, from, type); !s.ok()) return s;
        return queue_box(variable, record, held, second, from, type);
    }
    // The unit's descriptor needs its place, too.
    const std::int64_t needed = Outbox::rounded(bytes) + description(packed);
    if (open_bytes_ + needed > outbox.capacity() / 2 && boxes_service().publishes_alone())
        if (Status s = publish_boxes(); !s.ok()) return s;
    const std::int64_t waiting = boxes_service().waiting_bytes();
    if (boxes_service().collective() && (open_bytes_ + needed > outbox.capacity() / 8 * 7 ||
                                         waiting + open_bytes_ + needed > options_.staging))
        return no_room_for_boxes(v);
    char* to = outbox.take(bytes);
    if (to == nullptr && boxes_service().publishes_alone() && !outbox.stuck()) {
        if (Status s = publish_boxes(); !s.ok()) return s;
        to = outbox.take(bytes);
    }
    if (to == nullptr && outbox.stuck()) return mismatch(Call::put, variable);
    if (to == nullptr) return outbox.no_memory() ? no_room(v) : no_room_for_boxes(v);
    open_bytes_ += needed;
    if (boxes_.empty()) boxes_mark_ = outbox.mark();
    misfits_[at] += pack_part(packers_, held, part, from, to, pack_kernel(type, v.type, order_),
                              size, fill_[at].data());
    Parcel::Entry entry;
    entry.variable = variable;
    entry.record = record;
    entry.held = std::move(packed);
    entry.at = outbox.position(to);
    boxes_.push_back(std::move(entry));
    return {};
}

/// What was queued before stays; the ranks have to meet before there is room again.
Status File::no_room_for_boxes(const Variable& v) const {
    const bool inline_ = options_.service == "inline";
    return failure(
        TW_ENOMEM,
        "{}: variable '{}': this rank has put more in this step than setting {} allows "
        "({} bytes): increase it, or call tw_end_step more often (rank {})",
        path_, v.name, inline_ ? "staging" : "queue",
        inline_ ? options_.staging : (service_ ? service_->outbox().capacity() : options_.queue),
        team_.rank());
}

/// Whether all of a replicated variable would not fit into the queue with the rest of a step; the
/// same on every rank.
bool File::goes_as_boxes(const Variable& v) const {
    // Where ranks publish together, boxes have to fit into the queue; inline has room enough.
    const bool can = options_.service == "servers" ||
                     (options_.service == "background" && team_.topology().nodes == 1);
    const std::int64_t queue = options_.queue >= 0 ? options_.queue : options_.staging;
    return can && v.decomposition->replicated &&
           v.elements() * static_cast<std::int64_t>(v.element()) >
               std::min(queue, options_.staging) / 8 &&
           !(is_netcdf4(format_) && needs_whole_chunks(definitions_));
}

/// Hands over the boxes so far, in the middle of a step. @note Collective where publish() is
Status File::publish_boxes() {
    if (Status s = poll_service(); !s.ok()) return s;
    // Where ranks publish together, all of them do.
    const bool none = boxes_.empty() && std::none_of(pending_.begin(), pending_.end(),
                                                     [](auto& p) { return p.queued != nullptr; });
    if (none && boxes_service().publishes_alone()) return {};
    Parcel parcel = open_parcel(UnitKind::boxes);
    parcel.head.ends = false;
    // What tw_put has queued goes with them, or it would keep the room that they need.
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        char*& queued = pending_[i].queued;
        if (queued == nullptr) continue;
        parcel.told.push_back({static_cast<int>(i), boxes_service().outbox().position(queued)});
        queued = nullptr;
    }
    parcel.entries = std::move(boxes_);
    boxes_.clear();
    open_bytes_ = 0;
    boxes_service().publish(parcel);
    return {};
}

}  // namespace thalweg::detail
