// SPDX-License-Identifier: Apache-2.0
#include "decomposition/index_list.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "decomposition/varint.hpp"

namespace thalweg::detail {

namespace {

/// Calls visit(global, position, length) for each run of consecutive indices in a list, in memory
/// order.
template <class Visit>
void for_memory_runs(std::span<const std::int64_t> indices, std::int64_t row, Visit&& visit) {
    const std::int64_t n = indices.size();
    for (std::int64_t i = 0; i < n;) {
        const std::int64_t first = indices[i];
        if (first < 0) {
            ++i;
            continue;
        }
        std::int64_t most = std::min(n - i, Run::longest), length = 1;
        if (most > 1 && indices[i + 1] == first + 1) {
            most = std::min(most, row - first % row);
            while (length < most && indices[i + length] == first + length) ++length;
        }
        visit(first, i, length);
        i += length;
    }
}

/// Sorts runs whose indices are at least `low` and differ from it only in the last `bits` bits:
/// swaps runs into buckets by the first of these bits, then sorts each bucket. The number of
/// buckets is small enough for the cache.
void sort_by_bits(std::span<Run> runs, std::int64_t low, int bits) {
    constexpr int digit = 6;
    if (runs.size() <= 64 || bits == 0) {
        std::sort(runs.begin(), runs.end());
        return;
    }
    const int rest = std::max(0, bits - digit);
    const auto bucket_of = [&](const Run& r) -> std::size_t {
        return (r.global() - low) >> rest & ((1 << digit) - 1);
    };
    std::array<std::size_t, std::size_t(1) << digit> next{}, end{};
    for (const Run& r : runs) ++end[bucket_of(r)];
    for (std::size_t b = 1; b < end.size(); ++b) {
        next[b] = end[b - 1];
        end[b] += end[b - 1];
    }
    for (std::size_t b = 0; b < end.size(); ++b)
        for (; next[b] != end[b]; ++next[b]) {
            Run run = runs[next[b]];
            for (std::size_t home = bucket_of(run); home != b; home = bucket_of(run))
                std::swap(run, runs[next[home]++]);
            runs[next[b]] = run;
        }
    std::size_t begin = 0;
    for (const std::size_t e : end) {
        sort_by_bits(runs.subspan(begin, e - begin), low, rest);
        begin = e;
    }
}

}  // namespace

void sort_in_place(std::span<Run> runs) {
    if (std::is_sorted(runs.begin(), runs.end())) return;
    const auto [least, most] =
        std::minmax_element(runs.begin(), runs.end(),
                            [](const Run& a, const Run& b) { return a.global() < b.global(); });
    const std::uint64_t span = most->global() - least->global();
    sort_by_bits(runs, least->global(), std::bit_width(span));
}

namespace {

/// Splits runs into single elements, so that each occurrence of an index that occurs several times
/// can be found.
void make_single(std::vector<Run>& runs, std::int64_t elements) {
    std::vector<Run> singles;
    singles.reserve(elements);
    for (const Run& r : runs)
        for (std::int64_t i = 0; i < r.length(); ++i)
            singles.emplace_back(r.global() + i, r.position() + i, 1);
    runs = std::move(singles);
    sort_in_place(runs);
}

}  // namespace

Status compress(std::span<const std::int64_t> indices, std::int64_t total, std::int64_t row,
                bool shared, IndexList& list, std::int64_t& twice, IndexConvention wording) {
    if (std::ssize(indices) >= Run::most_positions)
        return failure(TW_EARG, "a list of {} indices; the number must be less than {}",
                       indices.size(), Run::most_positions);
    for (std::size_t i = 0; i < indices.size(); ++i)
        if (indices[i] < -1 || indices[i] >= total)
            return failure(
                TW_EBOUNDS,
                "position {} of the list has index {}; it must be from {} to {}, or {} for a hole",
                wording.index(i), wording.index(indices[i]), wording.index(0),
                wording.index(total - 1), wording.index(-1));
    std::size_t number = 0;
    for_memory_runs(indices, row, [&](std::int64_t, std::int64_t, std::int64_t) { ++number; });
    list.runs.reserve(number);
    for_memory_runs(indices, row,
                    [&](std::int64_t global, std::int64_t position, std::int64_t length) {
                        list.runs.emplace_back(global, position, length);
                        list.elements += length;
                    });
    sort_in_place(list.runs);
    for (std::size_t i = 1; i < list.runs.size(); ++i) {
        const Run &a = list.runs[i - 1], &b = list.runs[i];
        if (a.end() <= b.global()) continue;
        if (!shared) {
            twice = b.global();
            return failure(TW_EOVERLAP, "is in the list twice, at positions {} and {}",
                           wording.index(a.position() + (twice - a.global())),
                           wording.index(b.position()));
        }
        make_single(list.runs, list.elements);
        break;
    }
    return {};
}

std::int64_t find_position(const IndexList& list, std::int64_t global) {
    const auto run = std::partition_point(list.runs.begin(), list.runs.end(),
                                          [&](const Run& r) { return r.end() <= global; });
    if (run == list.runs.end() || run->global() > global) return -1;
    return run->position() + (global - run->global());
}

void sort_runs(std::vector<Run>& runs, std::int64_t row) {
    sort_in_place(runs);
    std::size_t kept = 0;
    for (const Run& r : runs) {
        if (kept > 0) {
            const Run last = runs[kept - 1];
            if (last.end() == r.global() && last.position() + last.length() == r.position() &&
                r.global() % row != 0 && last.length() + r.length() <= Run::longest) {
                runs[kept - 1] = Run(last.global(), last.position(), last.length() + r.length());
                continue;
            }
        }
        runs[kept++] = r;
    }
    runs.resize(kept);
}

std::span<const Run> Listing::near(const Box& box) const {
    std::int64_t first = 0, last = 0;
    for (std::size_t i = 0; i < dims.size(); ++i) {
        const int d = dims[i];
        first = first * shape[i] + box.low[d];
        last = last * shape[i] + box.low[d] + box.count[d] - 1;
    }
    const auto begin = std::partition_point(list->runs.begin(), list->runs.end(),
                                            [&](const Run& r) { return r.end() <= first; });
    const auto end = std::partition_point(begin, list->runs.end(),
                                          [&](const Run& r) { return r.global() <= last; });
    return {begin, end};
}

bool Listing::is_inside(const Box& box) const {
    std::int64_t plane = 1;
    for (std::size_t i = 1; i < dims.size(); ++i) {
        if (box.low[dims[i]] > 0 || box.count[dims[i]] < shape[i]) return false;
        plane *= shape[i];
    }
    if (list->runs.empty()) return true;
    const std::int64_t low = box.low[dims.front()], end = low + box.count[dims.front()];
    return list->runs.front().global() >= low * plane && list->runs.back().end() <= end * plane;
}

std::int64_t Listing::count(const Box& box) const {
    if (is_inside(box)) return list->elements;
    std::int64_t n = 0;
    for_runs(box, [&](const Box& part, std::int64_t, const Run&) { n += part.count[dims.back()]; });
    return n;
}

bool Listing::meets(const Box& box) const {
    if (dims.size() == 1 || is_inside(box)) return !near(box).empty();
    bool any = false;
    for_runs(box, [&](const Box&, std::int64_t, const Run&) { any = true; });
    return any;
}

std::shared_ptr<const Listing> Listing::within(const Box& box) const {
    auto clipped = std::make_shared<IndexList>();
    const auto add = [&](std::int64_t global, std::int64_t length) {
        clipped->runs.emplace_back(global, clipped->elements, length);
        clipped->elements += length;
    };
    if (is_inside(box)) {
        clipped->runs.reserve(list->runs.size());
        for (const Run& r : list->runs) add(r.global(), r.length());
    } else {
        for_runs(box, [&](const Box& part, std::int64_t, const Run&) {
            std::int64_t global = 0;
            for (std::size_t i = 0; i < dims.size(); ++i)
                global = global * shape[i] + part.low[dims[i]];
            add(global, part.count[dims.back()]);
        });
    }
    auto result = std::make_shared<Listing>(*this);
    result->list = std::move(clipped);
    return result;
}

std::shared_ptr<const Listing> Listing::part(const Box& box) const {
    auto result = std::make_shared<Listing>();
    result->dims = dims;
    for (const int d : dims) result->shape.push_back(box.count[d]);
    auto cut = std::make_shared<IndexList>();
    for_runs(box, [&](const Box& part, std::int64_t position, const Run&) {
        std::int64_t global = 0;
        for (const int d : dims) global = global * box.count[d] + part.low[d] - box.low[d];
        const std::int64_t length = part.count[dims.back()];
        cut->runs.emplace_back(global, position, length);
        cut->elements += length;
    });
    result->list = std::move(cut);
    return result;
}

std::shared_ptr<const Listing> Listing::touching(std::span<const Box> boxes) const {
    std::vector<bool> met(list->runs.size());
    for (const Box& box : boxes)
        for_runs(box, [&](const Box&, std::int64_t, const Run& run) {
            met[&run - list->runs.data()] = true;
        });
    auto chosen = std::make_shared<IndexList>();
    for (std::size_t i = 0; i < met.size(); ++i) {
        if (!met[i]) continue;
        chosen->runs.push_back(list->runs[i]);
        chosen->elements += list->runs[i].length();
    }
    auto result = std::make_shared<Listing>(*this);
    result->list = std::move(chosen);
    return result;
}

Index Listing::dense_shape(const Box& box) const {
    Index lengths = box.count;
    for (const int d : dims) lengths[d] = 1;
    lengths[dims.back()] = list->elements;
    return lengths;
}

std::shared_ptr<const Listing> unite(std::span<const std::shared_ptr<const Listing>> listings) {
    std::vector<Run> all;
    for (const auto& l : listings)
        all.insert(all.end(), l->list->runs.begin(), l->list->runs.end());
    sort_in_place(all);
    auto united = std::make_shared<IndexList>();
    std::int64_t reached = 0;  // end of all runs so far
    const std::int64_t row = listings.front()->shape.back();
    for (const Run& r : all) {
        const std::int64_t begin = std::max(reached, r.global());
        if (begin >= r.end()) continue;
        const std::int64_t length = r.end() - begin;
        reached = r.end();
        if (!united->runs.empty()) {
            Run& last = united->runs.back();
            if (last.end() == begin && begin % row != 0 && last.length() + length <= Run::longest) {
                last = Run(last.global(), last.position(), last.length() + length);
                united->elements += length;
                continue;
            }
        }
        united->runs.emplace_back(begin, united->elements, length);
        united->elements += length;
    }
    auto result = std::make_shared<Listing>(*listings.front());
    result->list = std::move(united);
    return result;
}

void append_runs(std::vector<std::int64_t>& words, std::span<const Run> runs) {
    std::vector<char> bytes;
    std::int64_t end = 0;
    for (const Run& r : runs) put_run(bytes, end, r.global(), r.length());
    const std::size_t n = (bytes.size() + 7) / 8;
    bytes.resize(8 * n);
    words.push_back(runs.size());
    words.push_back(n);
    const std::size_t at = words.size();
    words.resize(at + n);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(words.data() + at));
}

const std::int64_t* parse_runs(const std::int64_t* words, IndexList& list) {
    const std::int64_t number = words[0], n = words[1];
    list.runs.reserve(number);
    const char* at = reinterpret_cast<const char*>(words + 2);
    std::int64_t end = 0, global = 0, length = 0;
    for (std::int64_t i = 0; i < number; ++i) {
        get_run(at, end, global, length);
        list.runs.emplace_back(global, list.elements, length);
        list.elements += length;
    }
    return words + 2 + n;
}

}  // namespace thalweg::detail
