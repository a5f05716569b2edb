// Sections of a variable that each rank gives by itself, over any records.
//
// Either each rank reads its own, or the records that some rank wants are read together: several of
// them at a time where they are small, and of each only what lies between the first and the last
// row that is wanted.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <numeric>

#include "comm/clock.hpp"
#include "dataset/reader.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t nothing = std::numeric_limits<std::int64_t>::min();

/// Ranks that read the same twice do not wait for each other; up to this share of all.
constexpr double most_read = 1.25;

/// Records, and parts of them, that are read together: enough for what ranks agree on to cost
/// little.
constexpr std::int64_t together_bytes = std::int64_t(1) << 20;  // a reader
constexpr std::int64_t most_together = 256, most_places = 4096;

/// The rows of a part that lie in `bounds`, as a place; none if there are no such rows. What one
/// reader should have stays together.
bool rows_within(const SourcePart& part, const Box& bounds, Place& place, Box& rows,
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
        if (rows.count[d] > 1) break;  // what follows are whole rows
    }
    place.bytes = rows.volume() * place.element;
    place.padded = (place.bytes + 3) / 4 * 4;
    place.shape.assign(rows.count.begin(), rows.count.begin() + rows.nd);
    place.grain = part.grain;
    return true;
}

/// How many of its records a rank wants before a record.
std::int64_t records_before(std::int64_t first, std::int64_t stride, std::int64_t records,
                            std::int64_t record) {
    if (records == 0 || record <= first) return 0;
    return std::min(records, (record - first - 1) / stride + 1);
}

}  // namespace

/// Start, count and stride of one dimension.
Status Reader::check_dimension(const BoxWish& wish, const Variable& v, std::size_t d) const {
    const int dim = v.dims[d];
    const std::string& name = source_->definitions().dims[dim].name;
    const bool record = v.record && d == 0;
    const std::int64_t length = record ? source_->records() : v.shape[d - (v.record ? 1 : 0)];
    const std::int64_t start = wish.start[d], count = wish.count[d];
    const std::int64_t stride = wish.stride == nullptr ? 1 : wish.stride[d];
    if (stride < 1)
        return failure(TW_EARG, "the stride along dimension '{}' is {}; it must be at least 1",
                       name, stride);
    if (count < 0)
        return failure(TW_EBOUNDS, "the count along dimension '{}' is {}; it must not be negative",
                       name, count);
    if (start >= 0 && start <= length &&
        (count == 0 || (start < length && count - 1 <= (length - 1 - start) / stride)))
        return {};
    return failure(TW_EBOUNDS, "{} elements from {}{} along dimension '{}', whose length is {}",
                   count, options_.wording.index(start),
                   stride == 1 ? std::string() : fmt::format(" with a stride of {}", stride), name,
                   length);
}

Status Reader::check(const BoxWish& wish, BoxRequest& request) const {
    if (Status status = find(wish.name, request.variable); !status.ok()) return status;
    const Variable& v = variable(request.variable);
    const auto checked = [&]() -> Status {
        if (!valid_type(wish.type)) return failure(TW_ETYPE, "{}", no_type(wish.type));
        const auto type = static_cast<tw_type>(wish.type);
        if (!valid_type(v.type)) return source_->check(request.variable, 0);
        if ((type == TW_CHAR) != (v.type == TW_CHAR))
            return failure(TW_ETYPE, "it has type {}, not {}", name_of(v.type), name_of(type));
        if (v.shape.size() > static_cast<std::size_t>(max_dims))
            return failure(TW_EUNSUPPORTED, "it has {} dimensions; the maximum is {}",
                           v.shape.size(), max_dims);
        if (Status status = check_ndims(v, wish.ndims); !status.ok()) return status;
        if (!v.dims.empty() && (wish.start == nullptr || wish.count == nullptr))
            return failure(TW_EARG, "start or count is missing (null pointer)");
        bool empty = false;
        for (std::size_t d = 0; d < v.dims.size(); ++d) {
            if (Status status = check_dimension(wish, v, d); !status.ok()) return status;
            empty |= wish.count[d] == 0;
        }
        if (wish.data == nullptr && !empty)
            return failure(TW_EARG, "the array is missing (null pointer)");
        request.view.data = static_cast<const char*>(wish.data);
        request.view.type = type;
        // As in writing: a byte of CDF-1 and CDF-2 is signed or unsigned, as the user likes.
        if (v.type == TW_BYTE && type == TW_UBYTE && source_->byte_of_any_sign())
            request.view.type = TW_BYTE;
        const std::size_t lead = v.record ? 1 : 0;
        const auto stride = [&](std::size_t d) {
            return wish.stride == nullptr ? 1 : wish.stride[d];
        };
        Section& section = request.section;
        section.box.nd = v.shape.size();
        for (std::size_t d = 0; d < v.shape.size(); ++d) {
            request.count[d] = wish.count[d + lead];
            section.step[d] = stride(d + lead);
            section.box.low[d] = wish.start[d + lead];
            section.box.count[d] = empty ? 0 : (request.count[d] - 1) * section.step[d] + 1;
        }
        if (empty && v.record && source_->records() == 0) return {};
        if (empty) return source_->check(request.variable, 0);
        request.first = v.record ? wish.start[0] : 0;
        request.stride = v.record ? stride(0) : 1;
        request.records = v.record ? wish.count[0] : 1;
        Status status = readable(request.variable, request.first);
        if (!status.ok() || request.records == 1) return status;
        return readable(request.variable, request.first + (request.records - 1) * request.stride);
    };
    return with_place(checked(), request.variable);
}

/// The parts of a record that lie in some bounds.
std::vector<Reader::BoxPart> Reader::box_parts(const BoxRequest& request, const Box& bounds) const {
    const Variable& v = variable(request.variable);
    std::vector<BoxPart> result;
    if (v.elements() == 0) return result;
    for (const SourcePart& part : source_->parts(request.variable, readers_.size())) {
        BoxPart p;
        Box rows;
        p.place.element = v.element();
        if (!rows_within(part, bounds, p.place, rows, p.source.first)) continue;
        p.source.variable = request.variable;
        p.source.part = part;
        WantedBox wanted;
        if (request.records > 0 && section_within(request.section, rows, wanted)) p.wanted = wanted;
        result.push_back(std::move(p));
    }
    return result;
}

/// What is wanted of a part; of the first record of the array.
Delivery Reader::box_delivery(const BoxRequest& request, const BoxPart& part) const {
    const Variable& v = variable(request.variable);
    const std::int64_t size = size_of(request.view.type);
    const int nd = request.section.box.nd;
    const std::span lengths(request.count.data(), nd);
    bool dense = true;
    for (int d = 0; d < nd; ++d) dense &= request.section.step[d] == 1;
    Delivery d;
    d.array = request.view;
    d.boxes.push_back(*part.wanted);
    d.kernel = unpack_kernel(v.type, request.view.type, source_->order(request.variable),
                             dense && volume(lengths) * size * request.records > in_cache);
    d.origin.base = request.view.data;
    d.origin.stride = strides_of(lengths);
    for (int i = 0; i < nd; ++i) d.origin.stride[i] *= size;
    d.step = request.section.step;
    return d;
}

Reader::BoxBounds Reader::box_bounds(const BoxRequest& request) {
    const Box& mine = request.section.box;
    std::array<std::int64_t, 2 * max_dims + 3> words;  // NOLINT: filled in the next line
    words.fill(nothing);
    if (request.records > 0) {
        for (int d = 0; d < mine.nd; ++d) {
            words[2 * d] = -mine.low[d];
            words[2 * d + 1] = mine.low[d] + mine.count[d];
        }
        words[2 * max_dims] = -request.first;
        words[2 * max_dims + 1] = request.first + (request.records - 1) * request.stride;
        words[2 * max_dims + 2] = request.records;
    }
    team_.all_reduce(words, Reduce::max);
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

/// Whether each rank had better read its own. @note Collective
bool Reader::boxes_straight(const BoxRequest& request, std::span<const BoxPart> own,
                            std::span<const BoxPart> all, const BoxBounds& bounds) {
    if (static_cast<int>(readers_.size()) < team_.size()) return false;
    double cost = 0, together = 0;
    for (const BoxPart& p : own)
        if (p.wanted)
            cost += section_cost(p.place, *p.wanted, request.section.step, shortest_run());
    for (const BoxPart& p : all) together += p.place.bytes;
    cost *= static_cast<double>(request.records);
    together *= static_cast<double>(bounds.most);
    std::int64_t sum = static_cast<std::int64_t>(std::min(cost, 4e18 / team_.size()));
    team_.all_reduce({&sum, 1}, Reduce::sum);
    return sum <= most_read * together;
}

/// Reads what this rank wants by itself.
/// @return this rank's own failure
Status Reader::take_box(const BoxRequest& request, std::span<const BoxPart> parts,
                        std::int64_t& misfits) {
    std::vector<Delivery> deliveries;
    for (const BoxPart& p : parts)
        if (p.wanted) deliveries.push_back(box_delivery(request, p));
    const std::int64_t bytes = volume(std::span(request.count.data(), request.section.box.nd)) *
                               size_of(request.view.type);
    const std::span<char> buffer = straight_buffer();
    StreamCounts counts;
    Status status;
    for (std::int64_t r = 0; r < request.records && status.ok(); ++r) {
        auto delivery = deliveries.begin();
        for (const BoxPart& p : parts) {
            if (!p.wanted || !status.ok()) continue;
            PlaceSource from = p.source;
            from.record = request.first + r * request.stride;
            status = read_section(p.place, from, *delivery, *source_, buffer, counts);
            delivery->origin.base += bytes;
            ++delivery;
        }
    }
    for (const Delivery& d : deliveries) misfits += d.misfits;
    add(figures_, counts);
    return status;
}

/// The exchange of so many records at a time. @note Collective
std::unique_ptr<Scatter> Reader::box_scatter(std::span<const BoxPart> parts, std::size_t records,
                                             bool wanted, Status& status) {
    Space space;
    std::vector<std::vector<WantedBox>> boxes;
    status = team_.agree(alone([&]() -> Status {
        for (std::size_t r = 0; r < records; ++r)
            for (const BoxPart& p : parts) {
                Place place = p.place;
                place.variable = space.places.size();
                place.offset = space.bytes;
                space.bytes += place.padded;
                space.places.push_back(std::move(place));
                boxes.emplace_back();
                if (wanted && p.wanted) boxes.back().push_back(*p.wanted);
            }
        return {};
    }));
    if (!status.ok()) return nullptr;
    return Scatter::make(team_, *arena_, std::move(space), std::move(boxes), readers_,
                         stream_options(), status);
}

namespace {

/// Records of a box that the ranks read together.
/// @param bytes    of its parts in a record
/// @param records  from the first to the last that some rank wants
std::int64_t records_at_once(std::int64_t readers, std::int64_t parts, std::int64_t bytes,
                             std::int64_t records) {
    return std::clamp<std::int64_t>(
        std::min(readers * together_bytes / bytes, most_places / std::max<std::int64_t>(1, parts)),
        1, std::min(most_together, records));
}

}  // namespace

/// Reads the records that some rank wants, in rounds of a few. @note Collective
/// @return this rank's own failure, or that of all
Status Reader::scatter_boxes(const BoxRequest& request, std::span<const BoxPart> parts,
                             const BoxBounds& bounds, std::int64_t& misfits) {
    std::int64_t bytes = 1;
    for (const BoxPart& p : parts) bytes += p.place.bytes;
    const std::int64_t window = records_at_once(std::ssize(readers_), std::ssize(parts), bytes,
                                                bounds.last - bounds.first + 1);
    const std::int64_t array_bytes =
        volume(std::span(request.count.data(), request.section.box.nd)) *
        size_of(request.view.type);

    std::vector<std::int64_t> words;  // which records of a window are wanted, and the next one
    std::unique_ptr<Scatter> scatter;
    std::size_t made_for = 0;
    Status status = team_.agree(alone([&]() -> Status {
        words.resize(static_cast<std::size_t>(window) + 1);
        return {};
    }));
    if (!status.ok()) return status;
    for (std::int64_t from = bounds.first; from != nothing;) {
        const auto before = [&](std::int64_t record) {
            return records_before(request.first, request.stride, request.records, record);
        };
        std::fill(words.begin(), words.end(), nothing);
        const std::int64_t begin = before(from), end = before(from + window);
        for (std::int64_t r = begin; r < end; ++r)
            words[request.first + r * request.stride - from] = 1;
        if (end < request.records) words.back() = -(request.first + end * request.stride);
        team_.all_reduce(words, Reduce::max);

        std::vector<PlaceSource> sources;
        std::vector<Delivery> deliveries;
        const auto prepare = [&]() -> Status {
            std::int64_t mine = begin;
            for (std::int64_t w = 0; w < window; ++w) {
                if (words[w] == nothing) continue;
                const bool wanted = mine < end && request.first + mine * request.stride == from + w;
                for (const BoxPart& p : parts) {
                    if (wanted && p.wanted) {
                        deliveries.push_back(box_delivery(request, p));
                        deliveries.back().place = sources.size();
                        deliveries.back().origin.base += mine * array_bytes;
                    }
                    sources.push_back(p.source);
                    sources.back().record = from + w;
                }
                mine += wanted;
            }
            return {};
        };
        // From here on no rank is in the pass before.
        Scatter::prepare(team_, *arena_);
        if (status.ok()) status = alone(prepare);
        if (status = team_.agree(status); !status.ok()) break;
        const auto records =
            static_cast<std::size_t>(std::count(words.begin(), words.end() - 1, std::int64_t(1)));
        if (records != made_for) {
            if (scatter) add(figures_, scatter->counts());
            scatter = box_scatter(parts, records, request.records > 0, status);
            made_for = records;
            if (!scatter) break;
        }
        status = scatter->run(sources, deliveries, *source_, nullptr);
        for (const Delivery& d : deliveries) misfits += d.misfits;
        from = words.back() == nothing ? nothing : -words.back();
    }
    if (scatter) add(figures_, scatter->counts());
    return status;
}

Status Reader::get_box(const BoxWish& wish) {
    BoxRequest request;
    std::vector<BoxPart> own, all;
    Status status = alone([&]() -> Status {
        if (Status wrong = check(wish, request); !wrong.ok()) return wrong;
        if (request.records > 0) own = box_parts(request, request.section.box);
        return {};
    });
    const auto describe = [&] {
        return fmt::format("of {}, variable '{}'", path_, variable(request.variable).name);
    };
    status = session_.meeting().enter(
        {Call::get_box, serial_, request.variable, false, std::ref(describe)}, status);
    if (!status.ok()) return status;
    Stopwatch watch(figures_.read);
    ++figures_.reads;
    const BoxBounds bounds = box_bounds(request);
    if (bounds.most == 0) return {};
    status = team_.agree(alone([&]() -> Status {
        all = box_parts(request, bounds.box);
        return {};
    }));
    if (!status.ok()) return status;
    const ReadAhead::Pause pause(ahead_.get());
    std::int64_t misfits = 0;
    status = boxes_straight(request, own, all, bounds)
                 ? alone([&] { return take_box(request, own, misfits); })
                 : scatter_boxes(request, all, bounds, misfits);
    if (status.ok() && misfits > 0)
        status = alone([&] {
            return with_place(failure(TW_ERANGE, "{} values are out of range for type {}", misfits,
                                      name_of(request.view.type)),
                              request.variable);
        });
    return team_.agree(status);
}

}  // namespace thalweg::detail
