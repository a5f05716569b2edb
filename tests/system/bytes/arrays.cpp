// SPDX-License-Identifier: Apache-2.0
#include "arrays.hpp"

#include <algorithm>

#include "system/values.hpp"

void make_junk(std::vector<char>& bytes, std::uint64_t seed) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] =
            static_cast<char>(static_cast<unsigned char>(mix(seed + i / 8) >> (8 * (i % 8))));
}

namespace {

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
    // Dimensions are nested in a random order, with gaps, and some are stored backwards.
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

Array place_array(const Case& c, int decomposition, const std::vector<int>& dims, int rank,
                  bool strided, bool with_halo, std::int64_t size, Random& random) {
    Array array;
    array.strided = strided;
    if (decomposition < 0) {
        Box whole;
        for (const int d : dims) {
            whole.start.push_back(0);
            whole.count.push_back(c.dims[static_cast<std::size_t>(d)].length);
        }
        std::vector<std::int64_t> strides(dims.size());
        std::int64_t running = size;
        for (std::size_t d = dims.size(); d-- > 0;) {
            strides[d] = running;
            running *= whole.count[d];
            if (strided) running += size * random.between(0, 2);
        }
        array.n = volume(whole);
        array.bytes.resize(static_cast<std::size_t>(running));
        if (strided) {
            array.extent = whole.count;
            array.stride = strides;
        }
        array.boxes.push_back(whole);
        array.base.push_back(0);
        array.strides.push_back(strides);
    } else {
        const Decomposition& x = c.decompositions[static_cast<std::size_t>(decomposition)];
        const auto r = static_cast<std::size_t>(rank);
        array.boxes = x.boxes[r];
        array.base.assign(array.boxes.size(), 0);
        array.strides.assign(array.boxes.size(), std::vector<std::int64_t>(x.dims.size()));
        if (strided)
            place_strided(x, r, with_halo, size, random, array);
        else
            place_dense(x, r, size, random, array);
    }
    make_junk(array.bytes, random.next());
    return array;
}

Array make_array(const Case& c, std::size_t file, int step, const Put& put, int rank,
                 Random& random) {
    const Variable& var = c.files[file].vars[static_cast<std::size_t>(put.var)];
    const std::uint64_t same_on_all =
        mix(c.seed + 1009 * file + 31 * static_cast<std::uint64_t>(step) +
            static_cast<std::uint64_t>(put.var));
    Array array = place_array(c, var.decomposition, var.dims, rank, put.strided,
                              same_on_all % 2 == 0, type_size(put.memory), random);
    Hasher hash(c, file, put, step);
    // Only rank 0's values of a replicated variable are written.
    if (var.decomposition < 0) hash.base ^= static_cast<std::uint64_t>(rank) * 77777;
    const std::vector<int>& dims =
        var.decomposition < 0 ? var.dims
                              : c.decompositions[static_cast<std::size_t>(var.decomposition)].dims;
    array.for_each_element([&](char* to, const std::vector<std::int64_t>& global) {
        make_value(to, put.memory, var.type, hash(dims, global));
    });
    return array;
}
