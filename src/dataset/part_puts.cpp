// SPDX-License-Identifier: Apache-2.0
#include "dataset/part_puts.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/text/wrong_start.hpp"
#include "base/trace.hpp"
#include "exchange/pack/dense.hpp"

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

/// The section of a variable that is passed to tw_put_box.
struct SectionToPut {
    HeldBox held;   ///< elements of one record: a box or, if a stride is above 1, a list
    Index count{};  ///< number of elements along each dimension, without the record dimension
    std::int64_t first = 0, records = 1, step = 1;
    bool empty = false;  ///< the section has no elements

    std::int64_t last() const { return first + (records - 1) * step; }
    /// Computes the byte strides of the array with the elements of one record.
    /// @return size in bytes of a record in the array
    std::int64_t array_strides(std::int64_t element, Index& stride) const {
        const std::int64_t bytes = dense_strides(held.box.nd, count, element, stride);
        if (held.list)  // the listed dimensions are a single one in memory, see locate()
            for (std::size_t i = 0; i + 1 < held.list->dims.size(); ++i)
                stride[held.list->dims[i]] = 0;
        return bytes;
    }
};

/// Checks start, count and stride along one dimension.
/// @param length  length of the dimension; -1: unlimited
Status check_range(const std::string& dim, std::int64_t length, std::int64_t start,
                   std::int64_t count, std::int64_t stride, IndexConvention wording) {
    if (stride < 1)
        return failure(TW_EARG, "the stride along dimension '{}' is {}; it must be at least 1", dim,
                       stride);
    const std::int64_t end = length < 0 ? INT64_MAX : length;
    if (count >= 0 && start >= 0 && start <= end &&
        (count == 0 || (start < end && count - 1 <= (end - 1 - start) / stride)))
        return {};
    if (start < 0)
        return failure(TW_EBOUNDS, "dimension '{}': {}", dim, wrong_start(wording, start));
    return failure(TW_EBOUNDS, "{} elements from {}{} along dimension '{}' of length {}", count,
                   wording.index(start),
                   stride == 1 ? std::string() : fmt::format(" with a stride of {}", stride), dim,
                   length < 0 ? std::string("unlimited") : std::to_string(length));
}

/// Returns the elements of a section as a list. The listed dimensions are those from the first to
/// the last one that has a stride above 1; they are dense in memory.
std::shared_ptr<const Listing> list_section(const Box& box, const Index& count, const Index& stride,
                                            std::span<const std::int64_t> shape) {
    int begin = box.nd, end = 0;
    for (int d = 0; d < box.nd; ++d) {
        if (stride[d] == 1) continue;
        begin = std::min(begin, d);
        end = d + 1;
    }
    auto listing = std::make_shared<Listing>();
    std::int64_t elements = 1;
    for (int d = begin; d < end; ++d) {
        listing->dims.push_back(d);
        listing->shape.push_back(shape[d]);
        elements *= count[d];
    }
    auto list = std::make_shared<IndexList>();
    list->elements = elements;
    list->runs.reserve(elements);
    Index at{};
    for (std::int64_t position = 0; position < elements; ++position) {
        std::int64_t global = 0;
        for (int d = begin; d < end; ++d)
            global = global * shape[d] + box.low[d] + at[d] * stride[d];
        list->runs.emplace_back(global, position, 1);
        for (int d = end - 1; d >= begin && ++at[d] == count[d]; --d) at[d] = 0;
    }
    listing->list = std::move(list);
    return listing;
}

/// Checks the section of a variable that is passed to tw_put_box, and converts it to a held part of
/// each record.
Status read_section(const FileContext& file, const Variable& v, const BoxToPut& put,
                    SectionToPut& section) {
    const std::int64_t *const start = put.start, *const count = put.count;
    if (!v.dims.empty() && (start == nullptr || count == nullptr)) return no_section(v);
    Box box;
    Index stride{};
    bool strided = false;
    for (std::size_t d = 0; d < v.dims.size(); ++d) {
        const Dimension& dim = file.definitions.dims[v.dims[d]];
        const bool record = v.record && d == 0;
        const std::int64_t step = put.stride == nullptr ? 1 : put.stride[d];
        if (Status s = check_range(dim.name, record ? -1 : dim.length, start[d], count[d], step,
                                   file.options.wording);
            !s.ok())
            return s;
        section.empty |= count[d] == 0;
        if (record) {
            section.first = start[d];
            section.records = count[d];
            section.step = count[d] > 1 ? step : 1;
            continue;
        }
        const int to = box.nd++;
        stride[to] = count[d] > 1 ? step : 1;
        strided |= stride[to] > 1;
        section.count[to] = count[d];
        box.low[to] = start[d];
        box.count[to] = (count[d] - 1) * stride[to] + 1;
    }
    if (section.empty) return {};
    section.held = held_box(box, v.shape);
    if (strided) section.held.list = list_section(box, section.count, stride, v.shape);
    return {};
}

}  // namespace

Status data_missing() { return failure(TW_EARG, "the data are missing (null pointer)"); }

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
    Stopwatch watch(file_.figures.times[FileTimes::put]);
    Span span("put");
    span.variable(name);
    int at = -1;
    if (Status s = file_.find_variable(name, put.type, at); !s.ok()) return s;
    const Variable& v = file_.variable(at);
    SectionToPut section;
    const Status read = catch_errors([&] { return read_section(file_, v, put, section); });
    if (!read.ok()) return file_.in_variable(read, at);
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
        return file_.in_variable(v.dims.empty() ? no_section(v) : data_missing(), at);
    if (Status s = file_.check_record(at, section.last()); !s.ok()) return s;
    Part& part = puts.part;
    part.record = section.first;
    part.array.data = static_cast<const char*>(put.data);
    part.array.type = static_cast<tw_type>(put.type);
    // If only one rank puts a whole record, for example that of a scalar, the record can be written
    // as a whole.
    const bool whole =
        section.records == 1 && !section.held.list && section.held.box.volume() == v.elements();
    part.holding = whole ? find_whole(at, file_.team.rank()) : hold_section(section.held);
    part.array.dense = whole;
    puts.bytes = section.array_strides(size_of(part.array.type), part.array.stride);
    puts.alone = put.alone;
    if (put.packed) part.packed = part.array.data;
    return put_parts(puts);
}

Status PartPuts::put_record(const std::string& name, const RecordToPut& put) {
    Stopwatch watch(file_.figures.times[FileTimes::put]);
    Span span("put");
    span.variable(name).record(put.record);
    int at = -1;
    if (Status s = file_.find_variable(name, put.array.type, at); !s.ok()) return s;
    const IndexConvention& wording = file_.options.wording;
    if (file_.variable(at).record && (put.record < 0 || put.record == INT64_MAX))
        return file_.in_variable(failure(TW_EBOUNDS, "record is {}; the first one is {}",
                                         wording.index(put.record), wording.index(0)),
                                 at);
    return catch_errors([&] { return put_record_of(at, put); });
}

Status PartPuts::put_record_of(int at, const RecordToPut& put) {
    const Variable& v = file_.variable(at);
    PartsToPut puts;
    puts.deferred = put.deferred;
    puts.borrowed = put.borrowed;
    Part& part = puts.part;
    part.variable = at;
    part.record = v.record ? put.record : 0;
    if (Status s = file_.check_record(at, part.record); !s.ok()) return s;
    if (!put.decomposition) part.holding = find_whole(at, 0);
    const Decomposition& d = put.decomposition ? *put.decomposition : *part.holding->decomposition;
    if (Status s = check_array(d, put.array, part.array); !s.ok())
        return file_.in_variable(std::move(s), at);
    if (lacks_data(d, put.array)) return file_.in_variable(data_missing(), at);
    if (put.packed) part.packed = part.array.data;
    if (put.decomposition)
        if (Status s = find_holding(at, put.decomposition, part.holding); !s.ok())
            return file_.in_variable(std::move(s), at);
    return put_parts(puts);
}

Status PartPuts::put_parts(PartsToPut& puts) {
    const Variable& v = file_.variable(puts.part.variable);
    const Batch::Put& put = batch_[puts.part.variable];
    if (!puts.alone && batch_.is_open(puts) && (put.put || (put.written && v.record)))
        return file_.in_variable(
            failure(TW_ESTATE,
                    "tw_put has written this record in this step; call tw_end_step before "
                    "tw_put_box or tw_put_record"),
            puts.part.variable);
    file_.use_netcdf_byte_rule(puts.part.variable, puts.part.array.type);
    return service_.put({}, puts);
}

}  // namespace thalweg::detail
