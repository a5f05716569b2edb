// Generates maps of any size like those of E3SM: each rank computes its own part from the indices
// alone.
// SPDX-License-Identifier: Apache-2.0
#include "irregular/generators.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string_view>

namespace thalweg::bench::irregular {
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
    Permutation(std::int64_t n, std::uint64_t seed)
        : n_(static_cast<std::uint64_t>(n)), seed_(seed) {
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
        for (std::uint64_t key = seed_ + 1; key < seed_ + 5; ++key) {
            std::uint64_t mixed = (right + key) * 0x9E3779B97F4A7C15u;
            mixed ^= mixed >> 29;
            mixed *= 0xC2B2AE3D27D4EB4Fu;
            const std::uint64_t next = left ^ ((mixed >> 32) & mask);
            left = right;
            right = next;
        }
        return left << half_ | right;
    }

    std::uint64_t n_, seed_;
    unsigned half_ = 0;
};

/// An atmosphere on a cubed sphere with 72 levels; the order in the file is (lev, ncol). The ranks
/// get chunks of about 16 columns from all over the sphere, so that each chunk has day and night.
/// The order in memory is (chunk, lev, column), so elements are consecutive in the file only by
/// chance.
List atmosphere(std::int64_t elements, std::uint64_t seed, Part part) {
    constexpr std::int64_t levels = 72;
    const std::int64_t columns = std::max<std::int64_t>(1, elements / levels);
    const std::int64_t chunks = (columns + 15) / 16;
    // Neighbouring chunks often belong to the same rank, so distribute pairs of them.
    const Permutation dealt((chunks + 1) / 2, seed);
    List list{{{"lev", levels}, {"ncol", columns}}, 0, 2};
    for (std::int64_t c = part.begin(chunks + chunks % 2); c < part.end(chunks + chunks % 2); ++c) {
        const std::int64_t chunk = dealt(c / 2) * 2 + c % 2;
        for (std::int64_t level = 0; chunk < chunks && level < levels; ++level)
            for (std::int64_t column = chunk; column < columns; column += chunks)
                list.indices.push_back(level * columns + column);
    }
    return list;
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

/// An ocean with 100 levels; the order in the file is (nCells, nVertLevels). The ranks divide the
/// cells along a Hilbert curve. The file has the cells in another order: strips of 4 neighbours.
List ocean(std::int64_t elements, std::uint64_t seed, Part part) {
    constexpr std::int64_t levels = 100, strip = 4;
    const std::int64_t cells = std::max<std::int64_t>(1, elements / levels / strip) * strip;
    const auto width = std::max<std::int64_t>(
        strip, static_cast<std::int64_t>(std::sqrt(static_cast<double>(cells))) / strip * strip);
    const std::int64_t height = (cells + width - 1) / width;
    int order = 0;
    while (std::int64_t{1} << order < std::max(width, height)) ++order;
    const Permutation numbered(cells / strip, seed);
    List list{{{"nCells", cells}, {"nVertLevels", levels}}, 0, 2};
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
        const std::int64_t index = numbered(cell / strip) * strip + cell % strip;
        for (std::int64_t level = 0; level < levels; ++level)
            list.indices.push_back(index * levels + level);
    }
    return list;
}

/// Land points on a grid of latitudes and longitudes; the order in the file is (lat, lon). Groups
/// of 16 neighbouring points are distributed over the ranks; points in the ocean are holes.
List land(std::int64_t elements, std::uint64_t seed, Part part) {
    const auto nlat = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(std::sqrt(static_cast<double>(elements) / 2)));
    const std::int64_t nlon = std::max<std::int64_t>(1, elements / nlat);
    constexpr double turn = 2 * std::numbers::pi;
    const double shift = static_cast<double>(seed % 97);
    const auto is_land = [&](std::int64_t lat, std::int64_t lon) {
        const double y = static_cast<double>(lat) / static_cast<double>(nlat);
        const double x = static_cast<double>(lon) / static_cast<double>(nlon);
        return std::sin(turn * (2 * x + y) + shift) + std::sin(turn * (5 * y - 3 * x)) +
                   0.6 * std::sin(turn * (23 * x + 17 * y)) + 0.4 * std::sin(turn * 61 * x) >
               0.7;
    };
    constexpr std::int64_t clump = 16;
    List list{{{"lat", nlat}, {"lon", nlon}}, 0, 2};
    for (std::int64_t at = part.rank * clump; at < nlat * nlon; at += part.ranks * clump)
        for (std::int64_t i = at; i < std::min(at + clump, nlat * nlon); ++i)
            list.indices.push_back(is_land(i / nlon, i % nlon) ? i : -1);
    return list;
}

/// Columns of an unstructured grid. Each rank has groups of 16 neighbours from all over the grid. A
/// group is consecutive in the file, as are the parts of a larger triangle or hexagon.
List columns(std::int64_t elements, std::uint64_t seed, Part part) {
    constexpr std::int64_t together = 16;
    const std::int64_t columns = std::max<std::int64_t>(1, elements);
    const std::int64_t groups = (columns + together - 1) / together;
    const Permutation dealt(groups, seed);
    List list{{{"column", columns}}, 0, 1};
    for (std::int64_t g = part.begin(groups); g < part.end(groups); ++g) {
        const std::int64_t first = dealt(g) * together;
        for (std::int64_t i = first; i < std::min(first + together, columns); ++i)
            list.indices.push_back(i);
    }
    return list;
}

struct Generator {
    std::string_view name;
    const char* text;
    List (*make)(std::int64_t elements, std::uint64_t seed, Part part);
};

constexpr std::array generators = {
    Generator{"f", "columns of an atmosphere, spread over the ranks in chunks", atmosphere},
    Generator{"g", "cells of an ocean, divided along a space-filling curve", ocean},
    Generator{"c", "columns of an unstructured grid, 16 neighbours at a time", columns},
    Generator{"i", "land points in clumps, without the ocean", land},
};

const Generator& generator(const std::string& kind) {
    for (const Generator& g : generators)
        if (g.name == kind) return g;
    throw std::invalid_argument("--maps " + kind + ": must be f, g, c or i");
}

}  // namespace

List generate(const std::string& kind, std::int64_t elements, std::uint64_t seed, int rank,
              int ranks) {
    return generator(kind).make(elements, seed, {rank, ranks});
}

const char* generator_text(const std::string& kind) { return generator(kind).text; }

}  // namespace thalweg::bench::irregular
