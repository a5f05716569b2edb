// SPDX-License-Identifier: Apache-2.0
#include "fields/lists.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace thalweg::bench {
namespace {

struct Part {
    int rank;
    int ranks;
    std::int64_t begin(std::int64_t n) const { return n * rank / ranks; }
    std::int64_t end(std::int64_t n) const { return n * (rank + 1) / ranks; }
};

/// A permutation of [0, n) that needs no memory: a Feistel network over the next power of four. It
/// is applied repeatedly until the result is below n.
class Permutation {
public:
    explicit Permutation(std::int64_t n) : n_(static_cast<std::uint64_t>(n)) {
        while ((std::uint64_t{1} << (2 * half_)) < n_) ++half_;
    }
    std::int64_t operator()(std::int64_t i) const {
        std::uint64_t x = static_cast<std::uint64_t>(i);
        do {
            x = round(x);
        } while (x >= n_);
        return static_cast<std::int64_t>(x);
    }

private:
    std::uint64_t round(std::uint64_t x) const {
        const std::uint64_t mask = (std::uint64_t{1} << half_) - 1;
        std::uint64_t left = x >> half_, right = x & mask;
        for (std::uint64_t key = 2; key < 6; ++key) {
            std::uint64_t mixed = (right + key) * 0x9E3779B97F4A7C15u;
            mixed ^= mixed >> 29;
            mixed *= 0xC2B2AE3D27D4EB4Fu;
            const std::uint64_t next = left ^ ((mixed >> 32) & mask);
            left = right;
            right = next;
        }
        return left << half_ | right;
    }

    std::uint64_t n_;
    unsigned half_ = 0;
};

using Indices = std::vector<std::int64_t>;

/// Deals chunks of about 16 columns from all over a cubed sphere, so that each chunk has day and
/// night. Neighbouring chunks often belong to the same rank, so pairs of them are dealt. The order
/// in memory of the flattened list is (chunk, level, column), so elements are consecutive in the
/// file only by chance.
void deal_chunks(std::int64_t levels, std::int64_t columns, Part part, Indices& points,
                 Indices& all) {
    const std::int64_t chunks = (columns + 15) / 16;
    const Permutation dealt((chunks + 1) / 2);
    for (std::int64_t c = part.begin(chunks + chunks % 2); c < part.end(chunks + chunks % 2); ++c) {
        const std::int64_t chunk = dealt(c / 2) * 2 + c % 2;
        if (chunk >= chunks) continue;
        for (std::int64_t column = chunk; column < columns; column += chunks)
            points.push_back(column);
        for (std::int64_t level = 0; level < levels; ++level)
            for (std::int64_t column = chunk; column < columns; column += chunks)
                all.push_back(level * columns + column);
    }
}

/// Returns the position after d cells on a Hilbert curve through a square of side 2^order.
std::array<std::int64_t, 2> hilbert(int order, std::int64_t d) {
    std::int64_t x = 0, y = 0;
    for (std::int64_t s = 1; s < std::int64_t{1} << order; s *= 2, d /= 4) {
        const std::int64_t rx = 1 & (d / 2), ry = 1 & (d ^ rx);
        if (ry == 0) {
            if (rx == 1) {
                x = s - 1 - x;
                y = s - 1 - y;
            }
            std::swap(x, y);
        }
        x += s * rx;
        y += s * ry;
    }
    return {x, y};
}

/// Divides the cells of an ocean along a Hilbert curve. The file has the cells in another order:
/// strips of 4 neighbours.
Indices divide_cells(std::int64_t cells, Part part) {
    constexpr std::int64_t strip = 4;
    const auto width = std::max<std::int64_t>(
        strip, static_cast<std::int64_t>(std::sqrt(static_cast<double>(cells))) / strip * strip);
    const std::int64_t height = (cells + width - 1) / width;
    int order = 0;
    while (std::int64_t{1} << order < std::max(width, height)) ++order;
    const Permutation numbered(std::max<std::int64_t>(1, cells / strip));
    // Returns the number of cells in the square of side 2^squared that begins at cell d of the
    // curve.
    const auto cells_from = [&](std::int64_t d, int squared) {
        const std::int64_t side = std::int64_t{1} << squared;
        const auto at = hilbert(order, d);
        const std::int64_t x = at[0] / side * side, y = at[1] / side * side;
        const std::int64_t whole = cells / width, rest = cells % width;
        const auto overlap = [](std::int64_t low, std::int64_t n, std::int64_t end) {
            return std::clamp<std::int64_t>(end - low, 0, n);
        };
        return overlap(y, side, whole) * overlap(x, side, width) +
               (whole >= y && whole < y + side ? overlap(x, side, rest) : 0);
    };
    Indices found;
    std::int64_t passed = 0;
    for (std::int64_t d = 0; passed < part.end(cells);) {
        // Skip the cells before this rank's part, in squares as large as possible.
        int squared = 0;
        while (squared < order && d % (std::int64_t{4} << (2 * squared)) == 0) ++squared;
        while (squared > 0 && passed + cells_from(d, squared) > part.begin(cells)) --squared;
        if (squared > 0) {
            passed += cells_from(d, squared);
            d += std::int64_t{1} << (2 * squared);
            continue;
        }
        const auto [x, y] = hilbert(order, d++);
        const std::int64_t cell = y * width + x;
        if (x >= width || cell >= cells) continue;
        if (passed++ < part.begin(cells)) continue;
        const std::int64_t strips = cells / strip;
        found.push_back(cell / strip < strips ? numbered(cell / strip) * strip + cell % strip
                                              : cell);
    }
    return found;
}

/// Deals groups of 16 neighbouring points of a grid; points in the ocean are holes.
Indices deal_land(std::int64_t nlat, std::int64_t nlon, Part part) {
    constexpr double turn = 2 * std::numbers::pi;
    const auto is_land = [&](std::int64_t lat, std::int64_t lon) {
        const double y = static_cast<double>(lat) / static_cast<double>(nlat);
        const double x = static_cast<double>(lon) / static_cast<double>(nlon);
        return std::sin(turn * (2 * x + y) + 1) + std::sin(turn * (5 * y - 3 * x)) +
                   0.6 * std::sin(turn * (23 * x + 17 * y)) + 0.4 * std::sin(turn * 61 * x) >
               0.7;
    };
    constexpr std::int64_t clump = 16;
    Indices found;
    for (std::int64_t at = part.rank * clump; at < nlat * nlon; at += part.ranks * clump)
        for (std::int64_t i = at; i < std::min(at + clump, nlat * nlon); ++i)
            found.push_back(is_land(i / nlon, i % nlon) ? i : -1);
    return found;
}

}  // namespace

std::int64_t List::product(std::size_t from, std::size_t to) const {
    std::int64_t n = 1;
    for (std::size_t d = from; d < to; ++d) n *= shape[d];
    return n;
}

IndexMap generate_map(const std::string& kind, const std::vector<std::int64_t>& shape, int rank,
                      int ranks, bool flattened) {
    const Part part{rank, ranks};
    IndexMap map{{shape, 0, shape.size(), {}}};
    Indices& all = map.flattened.indices;
    if (kind == "i") {
        all = deal_land(shape[0], shape[1], part);
        return map;
    }
    const bool levels_last = kind == "g";
    List points{shape, levels_last ? 0u : 1u, 1, {}};
    const std::int64_t levels = shape[levels_last ? 1 : 0], n = shape[points.first];
    if (levels_last) {
        points.indices = divide_cells(n, part);
        if (flattened)
            for (const std::int64_t cell : points.indices)
                for (std::int64_t level = 0; level < levels; ++level)
                    all.push_back(cell * levels + level);
    } else {
        deal_chunks(flattened ? levels : 0, n, part, points.indices, all);
    }
    map.factored = std::move(points);
    return map;
}

}  // namespace thalweg::bench
