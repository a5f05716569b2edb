// SPDX-License-Identifier: Apache-2.0
#include "dataset/part_puts.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::detail {

namespace {

/// Largest number of holdings that are kept for reuse.
constexpr std::size_t most_known = 64;

/// Adds an entry to a list; the oldest entry is removed if there are too many.
template <class Entry>
void keep(std::vector<Entry>& entries, std::type_identity_t<Entry> entry) {
    if (entries.size() == most_known) entries.erase(entries.begin());
    entries.push_back(std::move(entry));
}

Status data_missing(const FileContext& file, const std::string& variable) {
    return failure(TW_EARG, "{}: variable '{}': the data are missing (null pointer) (rank {})",
                   file.path, OfVariable{variable}, OfRank{file.team.rank()});
}

}  // namespace

// ---- holdings of a variable ---------------------------------------------------------------------

/// Finds the holding of a variable for a decomposition; makes it if there is none.
Status PartPuts::find_holding(int variable,
                              const std::shared_ptr<const Decomposition>& decomposition,
                              std::shared_ptr<const Holding>& holding) {
    holding = file_.holdings[variable];
    if (holding->decomposition == decomposition) return {};
    const Variable& v = file_.variable(variable);
    if (Status s = hold(decomposition, file_.definitions.fixed_dims(v), v.shape, known_, holding);
        !s.ok())
        return s;
    if (std::ranges::find(known_, holding) == known_.end()) keep(known_, holding);
    return {};
}

/// Returns the holding of a variable that one rank puts as a whole. The arrays of other ranks are
/// ignored.
std::shared_ptr<const Holding> PartPuts::find_whole(int variable, int holder) {
    const std::int64_t key = Holding::key_of_holder(holder);
    for (const auto& [of, known] : wholes_)
        if (of == variable && known->key == key) return known;
    const Variable& v = file_.variable(variable);
    auto made = hold_whole(file_.team.rank(), holder, file_.definitions.fixed_dims(v), v.shape,
                           file_.options.wording);
    keep(wholes_, {variable, made});
    return made;
}

// ---- puts ---------------------------------------------------------------------------------------

Status PartPuts::put_box(const std::string& name, const BoxToPut& put) {
    int at = -1;
    if (Status s = file_.find_variable(name, put.type, at); !s.ok()) return s;
    const Variable& v = file_.variable(at);
    SectionToPut section;
    const auto read = [&] {
        return read_section(file_.definitions, v, put.start, put.count, put.stride,
                            file_.options.wording, section);
    };
    if (Status s = file_.in_variable(alone(read), at); !s.ok()) return s;
    PartsToPut puts;
    puts.part.variable = at;
    puts.records = section.empty ? 0 : section.records;
    puts.step = section.step;
    if (section.empty) {
        Status status = service_.put({}, puts);
        if (status.ok()) batch_.boxed = batch_.given = true;
        return status;
    }
    if (put.data == nullptr)
        return v.dims.empty() ? file_.in_variable(no_section(v), at) : data_missing(file_, name);
    if (Status s = file_.check_record(at, section.last()); !s.ok()) return s;
    return alone([&]() -> Status {
        Part& part = puts.part;
        part.record = section.first;
        part.array.data = static_cast<const char*>(put.data);
        part.array.type = static_cast<tw_type>(put.type);
        // If only one rank puts a whole record, for example that of a scalar, the record can be
        // written as a whole.
        const bool whole = is_whole(at, section);
        part.holding = whole ? find_whole(at, file_.team.rank()) : hold_section(section.held);
        part.array.dense = whole;
        puts.bytes = section.array_strides(size_of(part.array.type), part.array.stride);
        puts.alone = put.alone;
        return put.alone ? service_.put({}, puts) : put_parts(puts);
    });
}

bool PartPuts::is_whole(int variable, const SectionToPut& section) const {
    const Variable& v = file_.variable(variable);
    return section.records == 1 && !section.held.list && section.held.box.volume() == v.elements();
}

Status PartPuts::put_record(const std::string& name, const RecordToPut& put) {
    int at = -1;
    if (Status s = file_.find_variable(name, put.array.type, at); !s.ok()) return s;
    const Wording& wording = file_.options.wording;
    if (file_.variable(at).record && (put.record < 0 || put.record == INT64_MAX))
        return failure(TW_EBOUNDS, "{}: variable '{}': record is {}; the first one is {} (rank {})",
                       file_.path, OfVariable{name}, wording.index(put.record), wording.index(0),
                       OfRank{file_.team.rank()});
    return alone([&] { return put_record_of(at, put); });
}

Status PartPuts::put_record_of(int at, const RecordToPut& put) {
    const Variable& v = file_.variable(at);
    PartsToPut puts;
    puts.deferred = put.deferred;
    Part& part = puts.part;
    part.variable = at;
    part.record = v.record ? put.record : 0;
    if (Status s = file_.check_record(at, part.record); !s.ok()) return s;
    if (!put.decomposition) part.holding = find_whole(at, 0);
    const Decomposition& d = put.decomposition ? *put.decomposition : *part.holding->decomposition;
    if (Status s = check_array(d, put.array, part.array); !s.ok())
        return file_.in_variable(std::move(s), at);
    if (lacks_data(d, put.array)) return data_missing(file_, v.name);
    if (put.decomposition)
        if (Status s = find_holding(at, put.decomposition, part.holding); !s.ok())
            return file_.in_variable(std::move(s), at);
    return put_parts(puts);
}

Status PartPuts::put_parts(PartsToPut& puts) {
    const Variable& v = file_.variable(puts.part.variable);
    const Batch::Put& put = batch_[puts.part.variable];
    if (batch_.is_open(puts) && (put.put || (put.written && v.record)))
        return failure(TW_ESTATE,
                       "{}: variable '{}': tw_put has written this record in this step; call "
                       "tw_end_step before tw_put_box or tw_put_record (rank {})",
                       file_.path, OfVariable{v.name}, OfRank{file_.team.rank()});
    file_.use_netcdf_byte_rule(puts.part.variable, puts.part.array.type);
    return service_.put({}, puts);
}

}  // namespace thalweg::detail
