// SPDX-License-Identifier: Apache-2.0
#include "dataset/box_puts.hpp"

#include <numeric>
#include <utility>

#include "decomposition/match.hpp"

namespace thalweg::detail {

namespace {

/// Decompositions whose fit to a variable is remembered.
constexpr std::size_t most_placed = 64;

}  // namespace

/// Whether records of a variable can be written by boxes now.
/// @param open  whether they are of the current record, or of a fixed-size variable
Status BoxPuts::check_open(int variable, bool open) const {
    const Variable& v = file_.variable(variable);
    const Batch::Part& part = batch_[variable];
    if (open && (part.put || (part.written && v.record)))
        return failure(TW_ESTATE,
                       "{}: variable '{}': tw_put has written this record in this step; call "
                       "tw_end_step before tw_put_box or tw_put_record (rank {})",
                       file_.path, v.name, file_.team.rank());
    return {};
}

/// From here on the file has boxes.
void BoxPuts::begin_boxes(int variable, bool open) {
    batch_.boxed = batch_.given = true;
    batch_[variable].boxed |= open;
}

/// Values that did not fit are told at once, and again to all ranks when they meet.
Status BoxPuts::end_put(std::int64_t records) {
    batch_.note_records(records);
    return service_.take_misfits();
}

Status BoxPuts::put_box(const std::string& name, const BoxToPut& put) {
    int at = -1;
    if (Status s = file_.find_variable(name, put.type, at); !s.ok()) return s;
    if (Status s = service_.poll(); !s.ok()) return s;
    const Variable& v = file_.variable(at);
    SectionToPut section;
    const auto read = [&]() -> Status {
        if (Status s = check_ndims(v, put.ndims); !s.ok()) return s;
        return read_section(file_.definitions, v, put.start, put.count, put.stride,
                            file_.options.wording, section);
    };
    if (Status s = file_.in_variable(alone(read), at); !s.ok()) return s;
    if (Status s = service_.allow_boxes(at); !s.ok()) return s;
    if (section.empty) {
        batch_.boxed = batch_.given = true;
        return {};
    }
    if (put.data == nullptr)
        return failure(TW_EARG, "{}: variable '{}': the data are missing (null pointer) (rank {})",
                       file_.path, name, file_.team.rank());
    if (Status s = file_.check_record(at, section.last()); !s.ok()) return s;
    if (is_whole(at, section)) return alone([&] { return put_whole_box(at, section, put); });
    const bool open = !v.record || section.has(batch_.record);
    if (Status s = check_open(at, open); !s.ok()) return s;
    if (Status s = service_.check_room(at, {&section.held, 1}, section.records); !s.ok()) return s;
    begin_boxes(at, open);
    BoxPart part;
    part.variable = at;
    part.held = &section.held;
    part.type = static_cast<tw_type>(put.type);
    part.from.base = static_cast<const char*>(put.data);
    const std::int64_t bytes = section.array_strides(size_of(part.type), part.from.stride);
    file_.use_netcdf_byte_rule(at, part.type);
    for (part.record = section.first; part.record <= section.last(); part.record += section.step) {
        if (Status s = service_.put_box(part); !s.ok()) return s;
        part.from.base += bytes;
    }
    return end_put(v.record ? section.last() + 1 : 0);
}

bool BoxPuts::is_whole(int variable, const SectionToPut& section) const {
    const Variable& v = file_.variable(variable);
    return section.records == 1 && !section.held.list && section.held.box.volume() == v.elements();
}

/// All of a record that one rank puts alone, such as a scalar: the same as by a decomposition that
/// gives it all to this rank.
Status BoxPuts::put_whole_box(int variable, const SectionToPut& section, const BoxToPut& box) {
    RecordPut put;
    put.placed = place_whole(variable, file_.team.rank());
    put.record = section.first;
    put.view.data = static_cast<const char*>(box.data);
    put.view.type = static_cast<tw_type>(box.type);
    return put_placed(put);
}

void BoxPuts::keep(std::shared_ptr<const Placed> placed) {
    if (placed_.size() == most_placed) placed_.erase(placed_.begin());
    placed_.push_back(std::move(placed));
}

/// How a decomposition holds a variable, which was found out before or is now.
Status BoxPuts::place(int variable, const std::shared_ptr<const Decomposition>& decomposition,
                      std::shared_ptr<const Placed>& placed) {
    for (const auto& p : placed_) {
        if (p->variable != variable || p->decomposition != decomposition) continue;
        placed = p;
        return {};
    }
    const Variable& v = file_.variable(variable);
    auto made = std::make_shared<Placed>();
    made->variable = variable;
    made->decomposition = decomposition;
    made->key = Placed::key_of(*decomposition);
    if (Status s =
            match_dimensions(*decomposition, file_.definitions.fixed_dims(v), v.shape, made->order);
        !s.ok())
        return s;
    if (decomposition->listed && decomposition->listed->shared)
        return failure(TW_EOVERLAP,
                       "the decomposition is TW_LIST_SHARED, which allows reading only");
    made->held = held_by(*decomposition, made->order, v.shape);
    placed = made;
    keep(std::move(made));
    return {};
}

/// One rank has all of a variable; the others' arrays, if they give any, do not matter.
std::shared_ptr<const Placed> BoxPuts::place_whole(int variable, int holder) {
    const std::int64_t key = Placed::key_of_holder(holder);
    for (const auto& p : placed_)
        if (p->variable == variable && p->key == key) return p;
    const Variable& v = file_.variable(variable);
    auto made = std::make_shared<Placed>();
    made->variable = variable;
    made->decomposition =
        replicate(file_.team.rank() == holder ? 0 : 1, file_.definitions.fixed_dims(v), v.shape,
                  file_.options.wording);
    made->key = key;
    made->order.resize(v.order.size());
    std::iota(made->order.begin(), made->order.end(), 0);
    made->held = held_by(*made->decomposition, made->order, v.shape);
    keep(made);
    return made;
}

Status BoxPuts::put_record(const std::string& name, const RecordToPut& put) {
    int at = -1;
    if (Status s = file_.find_variable(name, put.array.type, at); !s.ok()) return s;
    if (Status s = service_.poll(); !s.ok()) return s;
    const Wording& wording = file_.options.wording;
    if (file_.variable(at).record && (put.record < 0 || put.record == INT64_MAX))
        return failure(TW_EBOUNDS, "{}: variable '{}': record is {}; the first one is {} (rank {})",
                       file_.path, name, wording.index(put.record), wording.index(0),
                       file_.team.rank());
    return alone([&] { return put_record_of(at, put); });
}

Status BoxPuts::put_record_of(int at, const RecordToPut& put) {
    const Variable& v = file_.variable(at);
    const int rank = file_.team.rank();
    const std::int64_t record = v.record ? put.record : 0;
    if (Status s = file_.check_record(at, record); !s.ok()) return s;
    RecordPut placed;
    placed.record = record;
    placed.deferred = put.array.deferred;
    placed.placed = put.decomposition ? nullptr : place_whole(at, 0);
    const Decomposition& d = put.decomposition ? *put.decomposition : *placed.placed->decomposition;
    if (Status s = put.array.check(d, placed.view); !s.ok())
        return file_.in_variable(std::move(s), at);
    if (put.array.lacks_data(d))
        return failure(TW_EARG, "{}: variable '{}': the data are missing (null pointer) (rank {})",
                       file_.path, v.name, rank);
    if (put.decomposition)
        if (Status s = place(at, put.decomposition, placed.placed); !s.ok())
            return file_.in_variable(std::move(s), at);
    if (Status s = service_.allow_boxes(at); !s.ok()) return s;
    return put_placed(placed);
}

Status BoxPuts::put_placed(RecordPut put) {
    const int at = put.placed->variable;
    const Variable& v = file_.variable(at);
    const bool open = !v.record || put.record == batch_.record;
    if (Status s = check_open(at, open); !s.ok()) return s;
    file_.use_netcdf_byte_rule(at, put.view.type);
    if (Status s = service_.check_record_room(put); !s.ok()) return s;
    begin_boxes(at, open);
    if (Status s = service_.put_record(put); !s.ok()) return s;
    // Also where this rank holds nothing of it: the record is there.
    return end_put(v.record ? put.record + 1 : 0);
}

}  // namespace thalweg::detail
