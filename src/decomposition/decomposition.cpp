// SPDX-License-Identifier: Apache-2.0
#include "decomposition/decomposition.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/hash.hpp"
#include "base/text/wrong_start.hpp"
#include "comm/call_agreement.hpp"
#include "decomposition/cover.hpp"
#include "decomposition/directory.hpp"

namespace thalweg::detail {

namespace {

/// Adds the name of a dimension to the names of the dimensions before it; fails if it is not valid.
Status add_name(const Decomposition& d, std::size_t dim,
                std::map<std::string, std::int64_t>& names) {
    const auto [known, is_new] = names.try_emplace(d.dims[dim], d.shape[dim]);
    if (!is_new && d.listed)
        return failure(TW_EEXISTS,
                       "dimension '{}' is named twice in '{}', which a list cannot have",
                       d.dims[dim], d.wording.names(d.dims));
    if (known->second != d.shape[dim])
        return failure(TW_ESHAPE, "dimension '{}' is named twice in '{}', with lengths {} and {}",
                       d.dims[dim], d.wording.names(d.dims), known->second, d.shape[dim]);
    return {};
}

Status check_own(const Decomposition& d) {
    if (d.nd() == 0) return failure(TW_EARG, "a decomposition needs at least one dimension");
    if (d.nd() > max_dims)
        return failure(TW_EARG, "a decomposition has {} dimensions; the maximum is {}", d.nd(),
                       max_dims);
    if (d.dims.size() != d.shape.size())
        return failure(TW_EARG, "{} dimension names for {} lengths", d.dims.size(), d.shape.size());
    const auto nameless = std::count(d.dims.begin(), d.dims.end(), unnamed);
    if (nameless != 0 && nameless != d.nd())
        return failure(TW_EARG, "'{}': either all dimensions have names, or all are '{}'",
                       d.wording.names(d.dims), unnamed);
    std::map<std::string, std::int64_t> names;  // length of each dimension, keyed by name
    std::int64_t total = 1;
    for (int i = 0; i < d.nd(); ++i) {
        if (!d.by_position())
            if (Status status = add_name(d, i, names); !status.ok()) return status;
        if (d.shape[i] < 1)
            return failure(TW_ESHAPE, "dimension {} has length {}; it must be at least 1",
                           d.dim_in_words(i), d.shape[i]);
        if (__builtin_mul_overflow(total, d.shape[i], &total))
            return failure(TW_ESHAPE, "shape ({}) has more elements than 64 bits can count",
                           d.wording.list(d.shape));
        if (d.halo_low[i] < 0 || d.halo_high[i] < 0)
            return failure(TW_EARG, "dimension {} has a negative halo ({}, {})", d.dim_in_words(i),
                           d.halo_low[i], d.halo_high[i]);
    }
    for (std::size_t b = 0; b < d.blocks.size(); ++b) {
        const Box& box = d.blocks[b];
        for (int i = 0; i < d.nd(); ++i) {
            if (box.count[i] < 0)
                return failure(TW_ESHAPE, "block {}: count {} along dimension {} is negative",
                               d.wording.index(b), box.count[i], d.dim_in_words(i));
            if (box.count[i] > 0 && box.low[i] < 0)
                return failure(TW_EBOUNDS, "block {}, dimension {}: {}", d.wording.index(b),
                               d.dim_in_words(i), wrong_start(d.wording, box.low[i]));
            if (box.count[i] > 0 && box.low[i] > d.shape[i] - box.count[i])
                return failure(TW_EBOUNDS,
                               "block {}: start {} and count {} along dimension {} exceed its "
                               "length {}",
                               d.wording.index(b), d.wording.index(box.low[i]), box.count[i],
                               d.dim_in_words(i), d.shape[i]);
        }
    }
    return {};
}

/// Describes as text everything that all ranks must declare alike.
std::string text_of(const Decomposition& d) {
    std::string text =
        fmt::format("({}) of shape ({})", d.wording.names(d.dims), d.wording.list(d.shape));
    if (!d.listed) return text;
    const auto first = d.dims.begin() + d.listed->first;
    return text + fmt::format(", listed ({}){}", d.wording.names(std::span(first, d.listed->count)),
                              d.listed->shared ? ", shared" : "");
}

/// Returns an error that names the first difference between the ranks' declarations.
/// @note Collective
Status compare(Comm& comm, const Decomposition& d) {
    const auto differs = [&](const std::string& theirs, const std::string& mine) -> Status {
        if (theirs == mine) return {};
        return failure(TW_EMISMATCH, "the decomposition is {} on rank 0, but {} on rank {}", theirs,
                       mine, OfRank{comm.rank()});
    };
    Status status = compare_with_first(
        comm, [&] { return text_of(d); }, differs);
    return status.ok() ? failure(TW_EMISMATCH, "the decomposition differs between ranks") : status;
}

}  // namespace

std::string Decomposition::dim_in_words(int dim) const {
    if (!by_position()) return fmt::format("'{}'", dims[dim]);
    return std::to_string(wording.index(wording.fortran ? nd() - 1 - dim : dim));
}

namespace {

/// Returns, for each dimension of a file, the memory dimension of the same name; -1 if there is
/// none. Several dimensions of the same name are matched in order.
std::vector<int> match_names(std::span<const std::string> file,
                             std::span<const std::string> memory) {
    std::vector<int> order;
    for (std::size_t f = 0; f < file.size(); ++f) {
        auto left = std::count(file.begin(), file.begin() + f, file[f]);
        int at = -1;
        for (std::size_t m = 0; m < memory.size() && at < 0; ++m)
            if (memory[m] == file[f] && left-- == 0) at = m;
        order.push_back(at);
    }
    return order;
}

}  // namespace

Status match_dimensions(const Decomposition& decomposition, std::span<const std::string> dims,
                        std::span<const std::int64_t> shape, std::vector<int>& order) {
    const Decomposition& d = decomposition;
    if (d.by_position()) {
        if (!std::equal(shape.begin(), shape.end(), d.shape.begin(), d.shape.end()))
            return failure(TW_ESHAPE,
                           "its dimensions ({}) have the lengths ({}), but those of the "
                           "decomposition have ({})",
                           d.wording.names(dims), d.wording.list(shape), d.wording.list(d.shape));
        order.resize(dims.size());
        std::iota(order.begin(), order.end(), 0);
        return {};
    }
    order = match_names(dims, d.dims);
    if (dims.size() != d.dims.size() || std::count(order.begin(), order.end(), -1) > 0)
        return failure(TW_ESHAPE,
                       "its dimensions, without the record dimension, are ({}), but those of the "
                       "decomposition are ({})",
                       d.wording.names(dims), d.wording.names(d.dims));
    for (std::size_t f = 0; f < dims.size(); ++f) {
        const std::int64_t length = d.shape[order[f]];
        if (length != shape[f])
            return failure(TW_ESHAPE, "dimension '{}' has length {}, but {} in the decomposition",
                           dims[f], shape[f], length);
    }
    return {};
}

namespace {

/// Counts the elements of a box in memory. Returns false if 64 bits cannot count them. An empty box
/// has no halo.
bool count_with_halo(const Decomposition& d, const Box& box, std::int64_t& n) {
    n = box.volume() == 0 ? 0 : 1;
    for (int i = 0; i < d.nd() && n > 0; ++i) {
        std::int64_t length = 0;
        if (__builtin_add_overflow(d.halo_low[i], d.halo_high[i], &length) ||
            __builtin_add_overflow(length, box.count[i], &length) ||
            __builtin_mul_overflow(n, length, &n))
            return false;
    }
    return true;
}

}  // namespace

Status check_boxes(Decomposition& given) {
    if (Status status = check_own(given); !status.ok()) return status;
    for (const Box& box : given.blocks) {
        given.starts.push_back({given.stored, given.held});
        std::int64_t n = 0;
        if (!count_with_halo(given, box, n) ||
            __builtin_add_overflow(given.stored, n, &given.stored))
            return failure(TW_ESHAPE,
                           "the boxes of ({}) with halos ({}) and ({}) have more elements than 64 "
                           "bits can count",
                           given.wording.names(given.dims), given.wording.list(given.halo_low),
                           given.wording.list(given.halo_high));
        given.held += box.volume();
    }
    return {};
}

namespace {

/// Finds the positions of the listed dimensions among all dimensions of the decomposition.
Status place_listed(const Decomposition& d, const std::vector<std::string>& names, Listed& listed) {
    if (names.empty()) return failure(TW_EARG, "a list needs at least one listed dimension");
    const auto at = std::find(d.dims.begin(), d.dims.end(), names.front());
    const std::size_t left = d.dims.end() - at;
    if (names.size() > left || !std::equal(names.begin(), names.end(), at))
        return failure(TW_EARG,
                       "the listed dimensions ({}) must be adjacent in ({}), in the same order",
                       d.wording.names(names), d.wording.names(d.dims));
    if (d.by_position() && names.size() != d.dims.size())
        return failure(
            TW_EARG, "a list over dimensions without names must cover all of them: ({}), not ({})",
            d.wording.names(d.dims), d.wording.names(names));
    listed.first = at - d.dims.begin();
    listed.count = names.size();
    return {};
}

std::span<const std::int64_t> listed_shape(const Decomposition& d) {
    return std::span(d.shape).subspan(d.listed->first, d.listed->count);
}

/// Describes an index as text: its number and its position in the grid.
std::string name_index(const Decomposition& d, std::int64_t index) {
    const std::span<const std::int64_t> shape = listed_shape(d);
    if (shape.size() == 1) return fmt::format("index {}", d.wording.index(index));
    std::vector<std::int64_t> at(shape.size());
    std::int64_t rest = index;
    for (std::size_t i = shape.size(); i-- > 0; rest /= shape[i]) at[i] = rest % shape[i];
    for (std::int64_t& i : at) i = d.wording.index(i);
    return fmt::format("index {} ({})", d.wording.index(index), d.wording.list(at));
}

Status compress_own(const Decomposition& d, std::span<const std::int64_t> indices, IndexList& list,
                    int rank) {
    const std::span<const std::int64_t> shape = listed_shape(d);
    std::int64_t stored = 1;
    for (const std::int64_t length : d.listed_extent())
        if (__builtin_mul_overflow(stored, length, &stored))
            return failure(TW_ESHAPE,
                           "list over ({}): an array of ({}) has more elements than 64 bits "
                           "can count (rank {})",
                           d.wording.names(d.dims), d.wording.list(d.listed_extent()),
                           OfRank{rank});
    std::int64_t twice = -1;
    Status status =
        compress(indices, volume(shape), shape.back(), d.listed->shared, list, twice, d.wording);
    if (twice >= 0) status.text = fmt::format("{}: {}", name_index(d, twice), status.text);
    if (!status.ok())
        reword(status, "list over ({}): {} (rank {})", d.wording.names(d.dims), status.text,
               OfRank{rank});
    return status;
}

}  // namespace

std::vector<std::int64_t> Decomposition::listed_extent() const {
    std::vector<std::int64_t> extent;
    for (int i = 0; i < nd(); ++i) {
        if (!listed->covers(i)) extent.push_back(shape[i]);
        if (i == listed->first) extent.push_back(listed->length);
    }
    return extent;
}

Status check_list(Decomposition& given, const std::vector<std::string>& names, std::int64_t n,
                  bool shared) {
    auto listed = std::make_shared<Listed>();
    listed->shared = shared;
    listed->length = n;
    given.listed = listed;
    if (Status status = check_own(given); !status.ok()) return status;
    return place_listed(given, names, *listed);
}

Status take_list(Decomposition& given, std::span<const std::int64_t> indices, int rank) {
    auto listed = std::make_shared<Listed>(*given.listed);
    auto list = std::make_shared<IndexList>();
    listed->list = list;
    if (Status status = compress_own(given, indices, *list, rank); !status.ok()) return status;
    given.listed = listed;
    given.stored = volume(given.listed_extent());
    given.held = list->elements * (volume(given.shape) / volume(listed_shape(given)));
    return {};
}

Declaration::Declaration(const Decomposition& d, const Status& mine)
    : alike(equality_words(static_cast<std::int64_t>(hash_of(text_of(d))))),
      most{0, mine.ok() ? 0 : 1},
      sums{} {
    if (!mine.ok()) return;
    Cover cover;
    sums.held = d.held;
    if (!d.listed) {
        for (const Box& box : d.blocks) {
            if (box.volume() == 0) continue;
            cover.add(box);
            ++sums.blocks[0];
            for (int i = 0; i < d.nd(); ++i) sums.blocks[1 + i] += box.count[i];
        }
    } else if (!d.listed->shared) {
        cover.add(*d.listed->list);
        most[0] = std::ssize(d.listed->list->runs);
    }
    sums.cover_low = cover.low();
    sums.cover_high = cover.high();
}

namespace {

/// Finds indices that two ranks hold.
/// @note Collective; the status is the same on every rank
Status find_listed_twice(Team& team, const Declaration& all, const Decomposition& d) {
    Duplicate twice;
    Status status =
        find_duplicate(team, *d.listed->list, volume(listed_shape(d)), all.most[0], twice);
    if (!status.ok() || twice.global < 0) return status;
    return failure(TW_EOVERLAP,
                   "list over ({}): {} is held by rank {}, at position {}, and by rank {}, "
                   "at position {}",
                   d.wording.names(d.dims), name_index(d, twice.global), OfRank{twice.ranks[0]},
                   d.wording.index(twice.positions[0]), twice.ranks[1],
                   d.wording.index(twice.positions[1]));
}

}  // namespace

Status judge(Team& team, const Declaration& all, const Status& mine, Decomposition& d) {
    if (!are_alike(all.alike)) return compare(team.world(), d);
    if (all.most[1] != 0) return team.agree(mine);
    if (d.listed && d.listed->shared) return {};
    const std::int64_t listed = d.listed ? volume(listed_shape(d)) : 0;
    const std::span<const std::int64_t> space =
        d.listed ? std::span(&listed, 1) : std::span(d.shape);
    d.whole = all.sums.held == volume(d.shape) &&
              Cover::is_all(all.sums.cover_low, all.sums.cover_high, space);
    if (d.whole) return {};
    return d.listed ? find_listed_twice(team, all, d)
                    : team.agree(find_overlap(team.world(), d, all.sums.blocks));
}

std::shared_ptr<const Decomposition> replicate(int rank, std::vector<std::string> dims,
                                               std::vector<std::int64_t> shape,
                                               IndexConvention wording) {
    Decomposition d;
    d.wording = wording;
    d.dims = std::move(dims);
    d.shape = std::move(shape);
    d.halo_low.assign(d.shape.size(), 0);
    d.halo_high.assign(d.shape.size(), 0);
    d.whole = d.replicated = true;
    d.stored = volume(d.shape);
    if (rank == 0) {
        d.blocks.push_back(whole_box(d.shape));
        d.starts.push_back({});
        d.held = d.stored;
    }
    return std::make_shared<const Decomposition>(std::move(d));
}

HeldBox held_box(const Box& box, std::span<const std::int64_t> shape) {
    HeldBox held;
    held.box = box;
    Index corner = box.low;
    held.first = linear(shape, corner);
    for (int d = 0; d < box.nd; ++d) corner[d] += box.count[d] - 1;
    held.last = linear(shape, corner);
    return held;
}

std::vector<HeldBox> in_file_order(std::span<const Box> blocks, std::span<const int> order,
                                   std::span<const std::int64_t> file_shape) {
    std::vector<HeldBox> result;
    const int nd = order.size();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        Box box;
        box.nd = nd;
        for (int f = 0; f < nd; ++f) {
            const int m = order[f];
            box.low[f] = blocks[b].low[m];
            box.count[f] = blocks[b].count[m];
        }
        if (box.volume() == 0) continue;
        result.push_back(held_box(box, file_shape));
        result.back().block = b;
    }
    std::sort(result.begin(), result.end(),
              [](const HeldBox& a, const HeldBox& b) { return a.first < b.first; });
    return result;
}

std::vector<HeldBox> held_by(const Decomposition& d, std::span<const int> order,
                             std::span<const std::int64_t> file_shape) {
    if (!d.listed) return in_file_order(d.blocks, order, file_shape);
    if (d.held == 0) return {};
    return {held_list(d.listed->in_order(order, file_shape), file_shape)};
}

HeldBox held_list(std::shared_ptr<const Listing> list, std::span<const std::int64_t> file_shape) {
    Box box = whole_box(file_shape);
    // Along the slowest listed dimension, the box needs to contain only the range of the list.
    const int slowest = list->dims.front();
    const std::int64_t plane = volume(std::span(list->shape).subspan(1));
    box.low[slowest] = list->list->runs.front().global() / plane;
    box.count[slowest] = (list->list->runs.back().end() - 1) / plane + 1 - box.low[slowest];
    HeldBox held = held_box(box, file_shape);
    held.list = std::move(list);
    return held;
}

}  // namespace thalweg::detail
