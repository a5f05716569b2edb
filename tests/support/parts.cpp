// SPDX-License-Identifier: Apache-2.0
#include "support/parts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace parts {

std::int64_t volume(const Box& box) {
    std::int64_t product = 1;
    for (const std::int64_t n : box.count) product *= n;
    return product;
}

void make_junk(std::vector<char>& bytes, std::uint64_t seed) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] =
            static_cast<char>(static_cast<unsigned char>(mix(seed + i / 8) >> (8 * (i % 8))));
}

namespace {

void make_boxes(Random& random, const std::vector<std::int64_t>& shape, int ranks, Cover cover,
                Decomposition& to) {
    to.boxes.assign(static_cast<std::size_t>(ranks), {});
    Box whole{std::vector<std::int64_t>(shape.size(), 0), shape};
    const auto give = [&](const Box& box, std::int64_t rank) {
        to.boxes[static_cast<std::size_t>(rank)].push_back(box);
    };
    const std::int64_t kind = random.below(10);
    if (kind == 0) {  // one rank has everything
        give(whole, random.below(ranks));
        return;
    }
    if (kind <= 2) {  // as in models: contiguous parts of one dimension, in rank order
        const auto d =
            static_cast<std::size_t>(random.below(static_cast<std::int64_t>(shape.size())));
        for (int r = 0; r < ranks; ++r) {
            Box box = whole;
            box.start[d] = shape[d] * r / ranks;
            box.count[d] = shape[d] * (r + 1) / ranks - box.start[d];
            // A rank that holds nothing may have an empty box.
            if (box.count[d] > 0 || random.percent(50)) give(box, r);
        }
        return;
    }
    if (kind == 3) {  // ranks have rows in turn
        const auto d =
            static_cast<std::size_t>(random.below(static_cast<std::int64_t>(shape.size())));
        for (std::int64_t i = 0; i < std::min<std::int64_t>(shape[d], 60); ++i) {
            Box box = whole;
            box.start[d] = i;
            box.count[d] = i == 59 ? shape[d] - i : 1;
            give(box, i % ranks);
        }
        return;
    }
    std::vector<Box> boxes{whole};
    const std::int64_t wanted = random.percent(20) ? 60 : random.between(1, 3 * ranks);
    for (std::int64_t tries = 0;
         tries < 4 * wanted && static_cast<std::int64_t>(boxes.size()) < wanted; ++tries) {
        const auto b =
            static_cast<std::size_t>(random.below(static_cast<std::int64_t>(boxes.size())));
        const auto d =
            static_cast<std::size_t>(random.below(static_cast<std::int64_t>(shape.size())));
        if (boxes[b].count[d] < 2) continue;
        Box upper = boxes[b];
        const std::int64_t at = random.between(1, boxes[b].count[d] - 1);
        boxes[b].count[d] = at;
        upper.start[d] += at;
        upper.count[d] -= at;
        boxes.push_back(upper);
    }
    random.shuffle(boxes);
    int holes = random.percent(30) ? 30 : random.percent(5) ? 100 : 0;
    if (cover == Cover::all) holes = 0;
    for (const Box& box : boxes)
        if (!random.percent(holes)) give(box, random.below(ranks));
}

/// Chooses extents in memory that all boxes have in common.
void pad(Random& random, std::size_t nd, Decomposition& x) {
    x.padded.assign(nd, 1);
    for (std::size_t r = 0; r < x.boxes.size(); ++r) {
        for (const Box& box : x.boxes[r])
            for (std::size_t d = 0; d < nd; ++d)
                x.padded[d] = std::max(x.padded[d], box.count[d] + x.low[r][d] + x.high[r][d]);
        x.room.push_back(static_cast<std::int64_t>(x.boxes[r].size()) + random.below(3));
    }
    for (std::int64_t& n : x.padded) n += random.below(3);
}

/// Distributes the indices of some dimensions, in pieces or one by one, with holes; no rank has
/// some of them.
void make_lists(Random& random, int ranks, Cover cover, Decomposition& x) {
    std::vector<std::int64_t> lengths(
        x.shape.begin() + static_cast<std::ptrdiff_t>(x.first),
        x.shape.begin() + static_cast<std::ptrdiff_t>(x.first + x.listed));
    std::vector<std::int64_t> all(static_cast<std::size_t>(volume({{}, lengths})));
    std::iota(all.begin(), all.end(), 0);
    x.lists.resize(static_cast<std::size_t>(ranks));
    const std::int64_t kind = random.below(5);
    const int left_out =
        cover != Cover::all && random.percent(40) ? static_cast<int>(random.between(0, 60)) : 0;
    const std::int64_t piece = kind == 0 ? 1 : random.between(1, 20);
    if (kind == 0) random.shuffle(all);
    std::int64_t owner = ranks / 2;  // of all, in one kind
    for (std::int64_t i = 0; i < std::ssize(all); ++i) {
        if (kind <= 2 && i % piece == 0) owner = random.below(ranks);
        if (kind == 3) owner = i * ranks / std::ssize(all);
        if (!random.percent(left_out))
            x.lists[static_cast<std::size_t>(owner)].push_back(all[static_cast<std::size_t>(i)]);
    }
    for (std::vector<std::int64_t>& list : x.lists) {
        for (std::int64_t n = x.shared ? random.below(20) : 0; n > 0; --n)
            list.push_back(random.below(std::ssize(all)));
        if (random.percent(30)) random.shuffle(list);
        if (random.percent(20)) std::reverse(list.begin(), list.end());
        for (std::int64_t n = random.percent(30) ? random.below(10) : 0; n > 0; --n)
            list.insert(list.begin() + random.below(std::ssize(list) + 1), -1);
        std::vector<Box> boxes;
        for (std::int64_t index : list) {
            if (index < 0) continue;
            Box box{std::vector<std::int64_t>(x.shape.size(), 0), x.shape};
            for (std::size_t d = x.first + x.listed; d-- > x.first; index /= x.shape[d]) {
                box.start[d] = index % x.shape[d];
                box.count[d] = 1;
            }
            boxes.push_back(std::move(box));
        }
        x.boxes.push_back(std::move(boxes));
    }
}

/// Places the boxes of an array as tw_put expects them: dense, with halos, one after another.
void place_dense(const Decomposition& x, std::size_t r, std::int64_t size, Random& random,
                 Array& array) {
    const std::vector<Box>& boxes = array.boxes;
    const std::size_t nd = x.dims.size();
    for (std::size_t b = 0; b < boxes.size(); ++b) {
        std::int64_t stride = 1;
        std::int64_t own = 0;
        for (std::size_t d = nd; d-- > 0;) {
            array.strides[b][d] = stride * size;
            own += x.low[r][d] * stride;
            stride *=
                x.padded.empty() ? boxes[b].count[d] + x.low[r][d] + x.high[r][d] : x.padded[d];
        }
        // An empty box has no memory, whatever its halo.
        if (x.padded.empty() && volume(boxes[b]) == 0) stride = 0;
        array.base[b] = (array.n + own) * size;
        array.n += stride;
    }
    if (!x.padded.empty() && random.percent(50)) {
        array.n = x.room[r];
        for (const std::int64_t n : x.padded) array.n *= n;
    }
    array.bytes.resize(static_cast<std::size_t>(array.n * size));
}

/// Gives an array of certain extents strides and memory. Dimensions are nested in a random order,
/// with gaps, and some are stored backwards.
void scatter(std::int64_t size, Random& random, Array& array) {
    std::vector<std::size_t> order;
    for (std::size_t d = array.extent.size(); d-- > 0;) order.push_back(d);
    if (random.percent(20)) random.shuffle(order);
    array.stride.assign(array.extent.size(), 0);
    std::int64_t running = size * (random.percent(50) ? 1 : random.between(1, 3));
    for (const std::size_t d : order) {
        array.stride[d] = running;
        running = running * std::max<std::int64_t>(array.extent[d], 1) +
                  size * (random.percent(50) ? 0 : random.between(0, 3));
    }
    array.bytes.resize(static_cast<std::size_t>(running));
    for (std::size_t d = 0; d < array.stride.size(); ++d)
        if (random.percent(20)) {
            array.first += std::max<std::int64_t>(array.extent[d] - 1, 0) * array.stride[d];
            array.stride[d] = -array.stride[d];
        }
}

/// Places the elements of a list: the listed dimensions are one in memory.
void place_list(const Decomposition& x, std::size_t r, bool strided, std::int64_t size,
                Random& random, Array& array) {
    const std::size_t end = x.first + x.listed;
    for (std::size_t d = 0; d < x.dims.size(); ++d) {
        if (d == x.first) array.extent.push_back(std::ssize(x.lists[r]));
        if (d < x.first || d >= end) array.extent.push_back(x.shape[d]);
    }
    if (strided) {
        scatter(size, random, array);
    } else {
        array.stride.resize(array.extent.size());
        array.n = 1;
        for (std::size_t d = array.extent.size(); d-- > 0; array.n *= array.extent[d])
            array.stride[d] = array.n * size;
        array.bytes.resize(static_cast<std::size_t>(array.n * size));
    }
    std::size_t b = 0;
    for (std::size_t k = 0; k < x.lists[r].size(); ++k) {
        if (x.lists[r][k] < 0) continue;
        array.base[b] = array.first + static_cast<std::int64_t>(k) * array.stride[x.first];
        for (std::size_t d = 0; d < x.dims.size(); ++d)
            if (d < x.first || d >= end)
                array.strides[b][d] = array.stride[d < x.first ? d : d - x.listed + 1];
        ++b;
    }
}

/// Places the boxes as a section of a larger array.
void place_strided(const Decomposition& x, std::size_t r, bool with_halo, std::int64_t size,
                   Random& random, Array& array) {
    const std::vector<Box>& boxes = array.boxes;
    const std::size_t nd = x.dims.size();
    const bool over_boxes = boxes.size() != 1 || random.percent(20);
    std::vector<std::int64_t> halo(nd, 0);
    for (std::size_t d = 0; d < nd; ++d) halo[d] = with_halo ? x.low[r][d] + x.high[r][d] : 0;
    array.extent.assign(nd, 0);
    for (const Box& box : boxes)
        for (std::size_t d = 0; d < nd; ++d)
            array.extent[d] = std::max(array.extent[d], box.count[d] + halo[d]);
    auto room = static_cast<std::int64_t>(boxes.size());
    if (!x.padded.empty()) {
        for (std::size_t d = 0; d < nd; ++d)
            array.extent[d] = x.padded[d] - (with_halo ? 0 : x.low[r][d] + x.high[r][d]);
        if (random.percent(50)) room = x.room[r];
    }
    if (over_boxes) array.extent.insert(array.extent.begin(), room);
    scatter(size, random, array);
    const std::size_t skip = over_boxes ? 1 : 0;
    for (std::size_t b = 0; b < boxes.size(); ++b) {
        array.base[b] =
            array.first + (over_boxes ? array.stride[0] * static_cast<std::int64_t>(b) : 0);
        for (std::size_t d = 0; d < nd; ++d) {
            array.strides[b][d] = array.stride[d + skip];
            if (with_halo) array.base[b] += x.low[r][d] * array.strides[b][d];
        }
    }
}

}  // namespace

Decomposition make_decomposition(Random& random, std::vector<int> dims,
                                 const std::vector<std::int64_t>& lengths, int ranks, Cover cover) {
    Decomposition result;
    random.shuffle(dims);
    result.dims = std::move(dims);
    std::vector<std::int64_t>& shape = result.shape;
    for (const int d : result.dims) shape.push_back(lengths[static_cast<std::size_t>(d)]);
    if (cover == Cover::shared || random.percent(25)) {
        result.shared = cover == Cover::shared;
        const auto nd = static_cast<std::int64_t>(shape.size());
        result.first = static_cast<std::size_t>(random.below(nd));
        std::int64_t indices = 1;
        const std::int64_t most = random.between(1, nd - static_cast<std::int64_t>(result.first));
        for (std::int64_t n = 0; n < most; ++n) {
            indices *= shape[result.first + static_cast<std::size_t>(n)];
            if (n == 0 || indices <= 1000) result.listed = static_cast<std::size_t>(n) + 1;
        }
        result.low.assign(static_cast<std::size_t>(ranks), std::vector<std::int64_t>(shape.size()));
        result.high = result.low;
        make_lists(random, ranks, cover, result);
        return result;
    }
    make_boxes(random, shape, ranks, cover, result);
    result.with_halo = random.percent(35);
    const bool own_halos = random.percent(30);
    for (int r = 0; r < ranks; ++r) {
        std::vector<std::int64_t> low(shape.size(), 0);
        std::vector<std::int64_t> high(shape.size(), 0);
        if (result.with_halo) {
            for (std::size_t d = 0; d < shape.size(); ++d) {
                low[d] = random.between(0, 2);
                high[d] = random.between(0, 2);
            }
            if (r > 0 && !own_halos) {
                low = result.low[0];
                high = result.high[0];
            }
        }
        result.low.push_back(low);
        result.high.push_back(high);
    }
    if (random.percent(20)) pad(random, shape.size(), result);
    return result;
}

Decomposition whole(const std::vector<int>& dims, const std::vector<std::int64_t>& lengths,
                    int ranks) {
    Decomposition x;
    x.dims = dims;
    for (const int d : dims) x.shape.push_back(lengths[static_cast<std::size_t>(d)]);
    const auto n = static_cast<std::size_t>(ranks);
    x.boxes.assign(n, {Box{std::vector<std::int64_t>(dims.size(), 0), x.shape}});
    x.low.assign(n, std::vector<std::int64_t>(dims.size(), 0));
    x.high = x.low;
    return x;
}

tw_status declare(tw_session session, const std::vector<std::string>& names, const Decomposition& x,
                  int rank, tw_decomposition* made) {
    const auto r = static_cast<std::size_t>(rank);
    const auto named = [&](std::size_t first, std::size_t count) {
        std::string list;
        for (std::size_t d = first; d < first + count; ++d)
            list += (list.empty() ? "" : " ") +
                    (x.unnamed ? "*" : names[static_cast<std::size_t>(x.dims[d])]);
        return list;
    };
    const std::string all = named(0, x.dims.size());
    if (x.listed > 0)
        return tw_decompose_list(session, all.c_str(), x.shape.data(),
                                 named(x.first, x.listed).c_str(), std::ssize(x.lists[r]),
                                 x.lists[r].data(), x.shared ? TW_LIST_SHARED : TW_LIST_UNIQUE,
                                 made);
    std::vector<std::int64_t> start, count;
    for (const Box& box : x.boxes[r]) {
        start.insert(start.end(), box.start.begin(), box.start.end());
        count.insert(count.end(), box.count.begin(), box.count.end());
    }
    const int n = static_cast<int>(x.boxes[r].size());
    const tw_status status =
        x.with_halo ? tw_decompose_halo(session, all.c_str(), n, x.shape.data(), start.data(),
                                        count.data(), x.low[r].data(), x.high[r].data(), made)
                    : tw_decompose(session, all.c_str(), n, x.shape.data(), start.data(),
                                   count.data(), made);
    if (status != TW_OK || x.padded.empty()) return status;
    return tw_pad(*made, x.padded.data(), x.room[r]);
}

std::vector<std::int64_t> in_order(const Decomposition& x, const std::vector<int>& dims,
                                   const std::vector<std::int64_t>& index) {
    if (x.dims == dims) return index;
    std::vector<std::int64_t> turned;
    for (const int d : dims)
        turned.push_back(index[static_cast<std::size_t>(std::find(x.dims.begin(), x.dims.end(), d) -
                                                        x.dims.begin())]);
    return turned;
}

Array place_array(const Decomposition& x, int rank, bool strided, bool with_halo, std::int64_t size,
                  Random& random) {
    Array array;
    array.strided = strided;
    const auto r = static_cast<std::size_t>(rank);
    array.boxes = x.boxes[r];
    array.base.assign(array.boxes.size(), 0);
    array.strides.assign(array.boxes.size(), std::vector<std::int64_t>(x.dims.size()));
    if (x.listed == 0 && (with_halo || !strided)) {
        array.low = x.low[r];
        array.high = x.high[r];
    }
    if (x.listed > 0)
        place_list(x, r, strided, size, random, array);
    else if (strided)
        place_strided(x, r, with_halo, size, random, array);
    else
        place_dense(x, r, size, random, array);
    make_junk(array.bytes, random.next());
    return array;
}

}  // namespace parts
