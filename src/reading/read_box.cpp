// Reads sections: either each rank reads its own, or the requested records are read together:
// several small ones at a time, and of each only the range between the first and the last requested
// row.
// SPDX-License-Identifier: Apache-2.0
#include "reading/read_box.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/text/wrong_start.hpp"
#include "exchange/read/straight.hpp"
#include "reading/read_caches.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min();

/// Ranks may read the same bytes separately, so that they need not wait for each other. This is the
/// largest accepted ratio of all bytes that are read to distinct bytes.
constexpr double most_read = 1.25;

/// Size in bytes of what each reader reads between two agreements of the ranks: enough to make an
/// agreement cheap. The next two constants limit the numbers of records and of places.
constexpr std::int64_t together_bytes = std::int64_t(1) << 20;
constexpr std::int64_t most_together = 256, most_places = 4096;

/// Makes a place of the rows of a part that lie in `bounds`. Returns false if there are none. Data
/// that only one reader should read (see SourcePart::grain) are included completely.
bool rows_within(const SourcePart& part, const Box& bounds, VariableSlot& place, Box& rows,
                 std::int64_t& first) {
    Box common;
    if (!intersect(bounds, part.box, common)) return false;
    rows = part.box;
    first = 0;
    const Index stride = strides_of(std::span(part.box.count.data(), part.box.nd));
    const std::int64_t grain = std::max<std::int64_t>(1, part.grain / place.element);
    for (int d = 0; d < rows.nd; ++d) {
        const std::int64_t unit = grain / std::gcd(grain, stride[d]);
        const std::int64_t low = (common.low[d] - part.box.low[d]) / unit * unit;
        rows.low[d] += low;
        rows.count[d] = common.low[d] + common.count[d] - rows.low[d];
        first += low * stride[d];
        if (rows.count[d] > 1) break;  // all faster dimensions keep their whole length
    }
    place = place_of(rows, place.element, part.grain);
    return true;
}

/// Returns the number of requested records before the record `record`.
std::int64_t records_before(std::int64_t first, std::int64_t stride, std::int64_t records,
                            std::int64_t record) {
    if (records == 0 || record <= first) return 0;
    return std::min(records, (record - first - 1) / stride + 1);
}

/// Returns the number of records of a box that the ranks read between two agreements.
/// @param bytes    size in bytes of the box in one record
/// @param records  number of records from the first to the last requested one
std::int64_t records_at_once(std::int64_t readers, std::int64_t parts, std::int64_t bytes,
                             std::int64_t records) {
    return std::clamp<std::int64_t>(
        std::min(readers * together_bytes / bytes, most_places / std::max<std::int64_t>(1, parts)),
        1, std::min(most_together, records));
}

/// A part of a variable, and the section of it that is requested from each record.
struct BoxPart {
    VariableSlot place;
    PlaceSource source;
    std::optional<WantedBox> wanted;  ///< section requested by this rank
};

/// The smallest box and range of records that contain the requests of all ranks.
struct BoxBounds {
    Box box;
    std::int64_t first = 0, last = -1;  ///< first and last record
    /// Number of records in the largest request of any rank.
    std::int64_t most = 0;
};

/// A collective read of a section by each rank.
class BoxRead {
public:
    explicit BoxRead(ReadContext& file) : file_(file) {}

    /// Checks this rank's request. Local.
    Status prepare(const GetBoxArguments& arguments);
    Status agree(const Status& mine);
    Status run(const ReadCaches& read_caches);

private:
    Status check(const GetBoxArguments& arguments);
    Status check_dimension(const GetBoxArguments& arguments, std::size_t d) const;
    void set_section(const GetBoxArguments& arguments, bool empty);
    std::vector<BoxPart> parts_within(const Box& bounds) const;
    Delivery delivery_of(const BoxPart& part) const;
    BoxBounds find_bounds() const;
    bool each_its_own(const BoxBounds& bounds) const;
    Status read_own();
    std::unique_ptr<Scatter> make_scatter(std::size_t records, Status& status) const;
    Status read_together(const BoxBounds& bounds);

    const Variable& variable() const { return file_.variable(variable_); }
    /// Returns the size in bytes of one record in the array.
    std::int64_t record_bytes() const {
        return volume(std::span(count_.data(), section_.box.nd)) * size_of(view_.type);
    }
    std::int64_t record(std::int64_t i) const { return first_ + i * stride_; }

    ReadContext& file_;
    int variable_ = 0;
    /// First requested record, and distance between requested records.
    std::int64_t first_ = 0, stride_ = 1;
    std::int64_t records_ = 0;  ///< number of requested records; 0: nothing is requested
    Section section_;           ///< requested section, the same in each record
    Index count_{};             ///< extents of one record's section in the array
    ArrayView view_;
    /// Parts of which this rank requests data, and parts of which any rank requests data.
    std::vector<BoxPart> own_, all_;
    std::int64_t misfits_ = 0;
};

/// Checks start, count and stride of one dimension. Local.
Status BoxRead::check_dimension(const GetBoxArguments& arguments, std::size_t d) const {
    const Variable& v = variable();
    const int dim = v.dims[d];
    const std::string& name = file_.source->definitions().dims[dim].name;
    const bool record = v.record && d == 0;
    const std::int64_t length = record ? file_.source->records() : v.shape[d - (v.record ? 1 : 0)];
    const std::int64_t start = arguments.start[d], count = arguments.count[d];
    const std::int64_t stride = arguments.stride == nullptr ? 1 : arguments.stride[d];
    if (stride < 1)
        return failure(TW_EARG, "the stride along dimension '{}' is {}; it must be at least 1",
                       name, stride);
    if (count < 0)
        return failure(TW_EBOUNDS, "the count along dimension '{}' is {}; it must not be negative",
                       name, count);
    if (start >= 0 && start <= length &&
        (count == 0 || (start < length && count - 1 <= (length - 1 - start) / stride)))
        return {};
    if (start < 0)
        return failure(TW_EBOUNDS, "dimension '{}': {}", name,
                       wrong_start(file_.options.wording, start));
    return failure(TW_EBOUNDS, "{} elements from {}{} along dimension '{}', whose length is {}",
                   count, file_.options.wording.index(start),
                   stride == 1 ? std::string() : fmt::format(" with a stride of {}", stride), name,
                   length);
}

Status BoxRead::check(const GetBoxArguments& arguments) {
    const Variable& v = variable();
    if (Status s = file_.check_type(variable_, arguments.type); !s.ok()) return s;
    if (std::ssize(v.shape) > max_dims)
        return failure(TW_EUNSUPPORTED, "it has {} dimensions; the maximum is {}", v.shape.size(),
                       max_dims);
    if (!v.dims.empty() && (arguments.start == nullptr || arguments.count == nullptr))
        return no_section(v);
    bool empty = false;
    for (std::size_t d = 0; d < v.dims.size(); ++d) {
        if (Status status = check_dimension(arguments, d); !status.ok()) return status;
        empty |= arguments.count[d] == 0;
    }
    if (arguments.data == nullptr && !empty)
        return v.dims.empty() ? no_section(v)
                              : failure(TW_EARG, "the array is missing (null pointer)");
    set_section(arguments, empty);
    if (empty && v.record && file_.source->records() == 0) return {};
    if (empty) return file_.source->check(variable_, 0);
    Status status = file_.source->check(variable_, first_);
    if (!status.ok() || records_ == 1) return status;
    return file_.source->check(variable_, record(records_ - 1));
}

void BoxRead::set_section(const GetBoxArguments& arguments, bool empty) {
    const Variable& v = variable();
    view_.data = static_cast<const char*>(arguments.data);
    view_.type = file_.type_of_array(variable_, arguments.type);
    const std::size_t lead = v.record ? 1 : 0;
    const auto stride = [&](std::size_t d) {
        return arguments.stride == nullptr ? 1 : arguments.stride[d];
    };
    section_.box.nd = v.shape.size();
    for (std::size_t d = 0; d < v.shape.size(); ++d) {
        count_[d] = arguments.count[d + lead];
        section_.step[d] = stride(d + lead);
        section_.box.low[d] = arguments.start[d + lead];
        section_.box.count[d] = empty ? 0 : (count_[d] - 1) * section_.step[d] + 1;
    }
    if (empty) return;
    first_ = v.record ? arguments.start[0] : 0;
    stride_ = v.record ? stride(0) : 1;
    records_ = v.record ? arguments.count[0] : 1;
}

Status BoxRead::prepare(const GetBoxArguments& arguments) {
    if (Status status = file_.find(arguments.name, variable_); !status.ok()) return status;
    if (Status status = check(arguments); !status.ok()) return file_.with_place(status, variable_);
    if (records_ > 0) own_ = parts_within(section_.box);
    return {};
}

Status BoxRead::agree(const Status& mine) {
    const auto describe = [&] {
        return fmt::format("of {}, variable '{}'", file_.path, variable().name);
    };
    return file_.session.call_agreement().enter(
        {Call::get_box, file_.serial, variable_, false, std::ref(describe)}, mine);
}

/// Returns the parts of a record that have elements inside `bounds`.
std::vector<BoxPart> BoxRead::parts_within(const Box& bounds) const {
    const Variable& v = variable();
    std::vector<BoxPart> result;
    if (v.elements() == 0) return result;
    for (const SourcePart& part : file_.source->parts(variable_, file_.readers.size())) {
        BoxPart p;
        Box rows;
        p.place.element = v.element();
        if (!rows_within(part, bounds, p.place, rows, p.source.first)) continue;
        p.source.variable = variable_;
        p.source.part = part;
        WantedBox wanted;
        if (records_ > 0 && section_within(section_, rows, wanted)) p.wanted = wanted;
        result.push_back(std::move(p));
    }
    return result;
}

/// Returns the delivery of a part to the first record of the array.
Delivery BoxRead::delivery_of(const BoxPart& part) const {
    const Variable& v = variable();
    const int nd = section_.box.nd;
    bool dense = true;
    for (int d = 0; d < nd; ++d) dense &= section_.step[d] == 1;
    Delivery d;
    d.array = view_;
    d.boxes.push_back(*part.wanted);
    d.kernel = unpack_kernel(v.type, view_.type, file_.source->order(variable_),
                             dense && record_bytes() * records_ > bytes_in_cache);
    d.origin.base = view_.data;
    d.origin.stride = strides_of(std::span(count_.data(), nd));
    for (int i = 0; i < nd; ++i) d.origin.stride[i] *= size_of(view_.type);
    d.step = section_.step;
    return d;
}

/// Finds the bounds of the requests of all ranks.
/// @note Collective
BoxBounds BoxRead::find_bounds() const {
    const Box& mine = section_.box;
    std::array<std::int64_t, 2 * max_dims + 3> words;  // NOLINT: filled in the next line
    words.fill(nothing);
    if (records_ > 0) {
        for (int d = 0; d < mine.nd; ++d) {
            words[2 * d] = -mine.low[d];
            words[2 * d + 1] = mine.low[d] + mine.count[d];
        }
        words[2 * max_dims] = -first_;
        words[2 * max_dims + 1] = record(records_ - 1);
        words[2 * max_dims + 2] = records_;
    }
    file_.team.all_reduce(words, Reduce::max);
    BoxBounds bounds;
    bounds.box.nd = mine.nd;
    if (words[2 * max_dims] == nothing) return bounds;
    for (int d = 0; d < mine.nd; ++d) {
        bounds.box.low[d] = -words[2 * d];
        bounds.box.count[d] = words[2 * d + 1] - bounds.box.low[d];
    }
    bounds.first = -words[2 * max_dims];
    bounds.last = words[2 * max_dims + 1];
    bounds.most = words[2 * max_dims + 2];
    return bounds;
}

/// Tests if each rank should read its own data, without an exchange.
/// @note Collective
bool BoxRead::each_its_own(const BoxBounds& bounds) const {
    if (std::ssize(file_.readers) < file_.team.size()) return false;
    double cost = 0, together = 0;
    for (const BoxPart& p : own_)
        if (p.wanted) cost += section_cost(p.place, *p.wanted, section_.step, file_.shortest_run());
    for (const BoxPart& p : all_) together += p.place.bytes;
    cost *= records_;
    together *= bounds.most;
    std::int64_t sum = static_cast<std::int64_t>(std::min(cost, 4e18 / file_.team.size()));
    file_.team.all_reduce({&sum, 1}, Reduce::sum);
    return sum <= most_read * together;
}

/// Reads this rank's data without an exchange. @return this rank's own error
Status BoxRead::read_own() {
    std::vector<Delivery> deliveries;
    for (const BoxPart& p : own_)
        if (p.wanted) deliveries.push_back(delivery_of(p));
    const std::span<char> buffer = file_.straight_buffer();
    StreamCounts counts;
    Status status;
    for (std::int64_t r = 0; r < records_ && status.ok(); ++r) {
        auto delivery = deliveries.begin();
        for (const BoxPart& p : own_) {
            if (!p.wanted || !status.ok()) continue;
            PlaceSource from = p.source;
            from.record = record(r);
            status = read_straight(p.place, from, *delivery, *file_.source, buffer, counts);
            delivery->origin.base += record_bytes();
            ++delivery;
        }
    }
    for (const Delivery& d : deliveries) misfits_ += d.misfits;
    add(file_.figures, counts);
    return status;
}

/// Makes the exchange that reads a given number of records at a time.
/// @note Collective
std::unique_ptr<Scatter> BoxRead::make_scatter(std::size_t records, Status& status) const {
    FileSection space;
    std::vector<std::vector<WantedBox>> boxes;
    for (std::size_t r = 0; r < records; ++r)
        for (const BoxPart& p : all_) {
            VariableSlot place = p.place;
            place.variable = space.places.size();
            place.offset = space.bytes;
            space.bytes += place.padded;
            space.places.push_back(std::move(place));
            boxes.emplace_back();
            if (p.wanted) boxes.back().push_back(*p.wanted);
        }
    return Scatter::make(file_.team, *file_.arena, std::move(space), std::move(boxes),
                         file_.readers, file_.stream_options(), status);
}

/// Reads the requested records in rounds of a few records.
/// @return this rank's own error, or the error that all ranks have
/// @note Collective
Status BoxRead::read_together(const BoxBounds& bounds) {
    std::int64_t bytes = 1;
    for (const BoxPart& p : all_) bytes += p.place.bytes;
    const std::int64_t window = records_at_once(std::ssize(file_.readers), std::ssize(all_), bytes,
                                                bounds.last - bounds.first + 1);
    // Numbers of requested records in a window, and the next requested record.
    std::vector<std::int64_t> words(static_cast<std::size_t>(window) + 1);
    std::unique_ptr<Scatter> scatter;
    std::size_t made_for = 0;
    Status status;
    for (std::int64_t from = bounds.first; from != nothing;) {
        const auto before = [&](std::int64_t limit) {
            return records_before(first_, stride_, records_, limit);
        };
        std::fill(words.begin(), words.end(), nothing);
        const std::int64_t begin = before(from), end = before(from + window);
        for (std::int64_t r = begin; r < end; ++r) words[record(r) - from] = 1;
        if (end < records_) words.back() = -record(end);
        file_.team.all_reduce(words, Reduce::max);

        std::vector<PlaceSource> sources;
        std::vector<Delivery> deliveries;
        std::int64_t mine = begin;
        for (std::int64_t w = 0; w < window; ++w) {
            if (words[w] == nothing) continue;
            const bool wanted = mine < end && record(mine) == from + w;
            for (const BoxPart& p : all_) {
                if (wanted && p.wanted) {
                    deliveries.push_back(delivery_of(p));
                    deliveries.back().place = sources.size();
                    deliveries.back().origin.base += mine * record_bytes();
                }
                sources.push_back(p.source);
                sources.back().record = from + w;
            }
            mine += wanted;
        }
        // The previous pass is over on all ranks, so its memory can be used again.
        Scatter::prepare(file_.team, *file_.arena);
        if (status = file_.team.agree(status); !status.ok()) break;
        const auto records =
            static_cast<std::size_t>(std::count(words.begin(), words.end() - 1, std::int64_t(1)));
        if (records != made_for) {
            if (scatter) add(file_.figures, scatter->counts());
            scatter = make_scatter(records, status);
            made_for = records;
            if (!scatter) break;
        }
        status = scatter->run(sources, deliveries, *file_.source, nullptr);
        for (const Delivery& d : deliveries) misfits_ += d.misfits;
        from = words.back() == nothing ? nothing : -words.back();
    }
    if (scatter) add(file_.figures, scatter->counts());
    return status;
}

Status BoxRead::run(const ReadCaches& read_caches) {
    const BoxBounds bounds = find_bounds();
    if (bounds.most == 0) return {};
    all_ = parts_within(bounds.box);
    const auto pause = read_caches.pause();
    Status status =
        each_its_own(bounds) ? catch_errors([&] { return read_own(); }) : read_together(bounds);
    if (status.ok() && misfits_ > 0)
        status = file_.with_place(failure(TW_ERANGE, "{} values are out of range for type {}",
                                          misfits_, name_of(view_.type)),
                                  variable_);
    return file_.team.agree(status);
}

}  // namespace

Status read_box(ReadContext& file, const ReadCaches& read_caches,
                const GetBoxArguments& arguments) {
    BoxRead call(file);
    Status status = call.agree(call.prepare(arguments));
    if (!status.ok()) return status;
    Stopwatch watch(file.figures.read);
    ++file.figures.reads;
    return call.run(read_caches);
}

}  // namespace thalweg::detail
