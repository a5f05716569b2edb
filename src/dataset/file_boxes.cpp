// Boxes of any variable and record, put without a decomposition.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "comm/clock.hpp"
#include "dataset/file.hpp"
#include "storage/chunk_grid.hpp"

namespace thalweg::detail {

namespace {

/// Bytes of the words that describe a box in a parcel.
std::int64_t description(std::size_t dims) { return static_cast<std::int64_t>(8 * (5 + 2 * dims)); }

}  // namespace

Status File::put_box(const std::string& name, int type, const std::int64_t* start,
                     const std::int64_t* count, const void* data) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(figures_.put);
    if (Status s = usable(); !s.ok()) return s;
    const int rank = team_.rank();
    const int at = definitions_.find_variable(name);
    if (at < 0) return no_variable(definitions_, path_, name, rank);
    if (!service_ || !service_->boxes_allowed())
        return failure(TW_ESTATE,
                       "{}: variable '{}': boxes need service servers, or background on one node "
                       "(rank {})",
                       path_, name, rank);
    if (is_netcdf4(format_) && needs_whole_chunks(definitions_))
        return failure(TW_ESTATE,
                       "{}: variable '{}': boxes cannot be put into a file with filters or chunks "
                       "that were wished for (rank {})",
                       path_, name, rank);
    if (put_used_)
        return failure(TW_ESTATE, "{}: variable '{}': the file is written by tw_put (rank {})",
                       path_, name, rank);
    if (Status s = poll_service(); !s.ok()) return s;
    const Variable& v = definitions_.variables[static_cast<std::size_t>(at)];
    if (!valid_type(type))
        return failure(TW_ETYPE, "{}: variable '{}': {} (rank {})", path_, name, no_type(type),
                       rank);
    if ((type == TW_CHAR) != (v.type == TW_CHAR))
        return failure(TW_ETYPE,
                       "{}: variable '{}' is of type {}; type {} cannot be converted "
                       "(rank {})",
                       path_, name, name_of(v.type), type, rank);
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
    boxed_ = true;
    if (empty) return {};
    if (data == nullptr)
        return failure(TW_EARG, "{}: variable '{}': no data given (rank {})", path_, name, rank);
    const std::int64_t first = v.record ? start[0] : 0, records = v.record ? count[0] : 1;
    if (first + records > most_records(format_))
        return failure(TW_EFORMAT,
                       "{}: variable '{}': record {} is more than format {} can count; cdf5 can "
                       "(rank {})",
                       path_, name, options_.wording.index(first + records - 1), name_of(format_),
                       rank);
    ArrayView view;
    view.type = static_cast<tw_type>(type);
    use_netcdf_byte_rule(at, view);
    const char* from = static_cast<const char*>(data);
    misfits_[static_cast<std::size_t>(at)] = 0;
    for (std::int64_t r = 0; r < records; ++r) {
        if (Status s = queue_box(at, first + r, box, from, view.type); !s.ok()) return s;
        from += box.volume() * static_cast<std::int64_t>(size_of(view.type));
    }
    if (v.record) box_records_ = std::max(box_records_, first + records);
    return take_misfits(true);
}

Status File::queue_box(int variable, std::int64_t record, const Box& box, const char* data,
                       tw_type type) {
    const auto at = static_cast<std::size_t>(variable);
    const Variable& v = definitions_.variables[at];
    const auto size = static_cast<std::int64_t>(v.element());
    Outbox& outbox = service_->outbox();
    if (box.volume() > 1 && box.volume() * size > outbox.capacity() / 4) {
        Box first = box;
        const Box second = halve(first);  // each half is contiguous in the data
        if (Status s = queue_box(variable, record, first, data, type); !s.ok()) return s;
        return queue_box(variable, record, second,
                         data + first.volume() * static_cast<std::int64_t>(size_of(type)), type);
    }
    // The unit's descriptor needs its place, too.
    open_bytes_ += Outbox::rounded(box.volume() * size) + description(v.dims.size() + 8);
    if (open_bytes_ > outbox.capacity() / 2) {
        if (Status s = publish_boxes(false); !s.ok()) return s;
        open_bytes_ = Outbox::rounded(box.volume() * size) + description(v.dims.size() + 8);
    }
    char* to = outbox.take(box.volume() * size);
    if (to == nullptr) return no_room(v);
    const RowKernel kernel = pack_kernel(type, v.type, order_);
    const auto from_size = static_cast<std::ptrdiff_t>(size_of(type));
    misfits_[at] += kernel(to, size, data, from_size, box.volume(), fill_[at].data());
    Parcel::Entry entry;
    entry.variable = variable;
    entry.record = record;
    entry.held = held_box(box, v.shape);
    entry.at = outbox.position(to);
    boxes_.push_back(entry);
    return {};
}

Status File::publish_boxes(bool ends) {
    if (Status s = poll_service(); !s.ok()) return s;
    if (!ends && boxes_.empty()) return {};
    Parcel parcel = open_parcel(UnitKind::boxes);
    parcel.head.ends = ends;
    parcel.entries = std::move(boxes_);
    boxes_.clear();
    open_bytes_ = 0;
    if (ends) ++figures_.steps;
    service_->publish(parcel);
    return {};
}

}  // namespace thalweg::detail
