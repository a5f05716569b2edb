// Tests how variables are cut into chunks, and the filters. Without MPI.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <malloc.h>
#include <zlib.h>

#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "storage/chunked/packer.hpp"
#include "storage/chunked/partial_chunk_cache.hpp"
#include "storage/netcdf4/placement/chunk_addresses.hpp"

using namespace thalweg::detail;

namespace {

Variable variable(std::vector<std::int64_t> shape, std::vector<std::int64_t> arguments = {}) {
    Variable v;
    v.name = "v";
    v.type = TW_INT;
    v.shape = std::move(shape);
    for (std::size_t i = 0; i <= v.shape.size(); ++i) v.dims.push_back(static_cast<int>(i));
    v.record = true;
    v.packing.chunks = std::move(arguments);
    return v;
}

/// Checks that each element is at its place in one chunk, and that the rest of the chunks contains
/// fill values.
void expect_covered(const Variable& v, std::int64_t target) {
    const ChunkGrid g = choose_grid(v, target);
    std::vector<int> values(static_cast<std::size_t>(g.elements()));
    std::iota(values.begin(), values.end(), 1);
    Definitions d;
    d.variables.push_back(v);
    const std::vector<StoredFilter> none;
    Packer packer(d, {&g, 1}, {&none, 1});
    std::vector<int> seen(values.size(), 0);
    std::set<std::int64_t> numbers;
    const auto take = [&](int, std::int64_t, std::int64_t number, const FilteredChunk& c) {
        EXPECT_TRUE(numbers.insert(number).second);
        EXPECT_EQ(c.bytes, g.chunk_bytes());
        const Index corner = g.corner(number);
        for (std::int64_t i = 0; i < g.chunk_elements(); ++i) {
            Index at{};
            bool inside = true;
            std::int64_t rest = i;
            for (std::size_t k = g.chunk.size(); k-- > 0; rest /= g.chunk[k]) {
                at[k] = corner[k] + rest % g.chunk[k];
                inside &= at[k] < g.shape[k];
            }
            int value = 0;
            std::memcpy(&value, c.data + i * 4, 4);
            if (!inside) {
                EXPECT_EQ(value, -2147483647);
                continue;
            }
            const auto place = static_cast<std::size_t>(linear(g.shape, at));
            EXPECT_EQ(value, values[place]);
            ++seen[place];
        }
        return Status{};
    };
    const auto load = [](const Band&, char*) {
        return Status(failure(TW_EINTERNAL, "bands that are written in order need no values"));
    };
    const auto pack = [&](const Band& band, const char* elements) {
        return packer.pack_band(0, band.record, band.number, elements, take);
    };
    const auto lacks = [](const Band&, const char*, std::int64_t) { return false; };
    PartialChunkCache bands(::testing::TempDir() + "bands", d, {&g, 1}, load, pack, lacks, 1 << 20);
    // Write pieces of many lengths, in order.
    for (std::int64_t first = 0, n = 1; first < g.elements(); first += n, n = n * 3 % 101) {
        n = std::min(n, g.elements() - first);
        Chunk piece;
        piece.first = first;
        piece.elements = n;
        piece.data = reinterpret_cast<const char*>(values.data() + first);
        ASSERT_TRUE(bands.write(piece).ok());
    }
    EXPECT_EQ(static_cast<std::int64_t>(numbers.size()), g.chunks());
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
}

/// Gives every second band a place in a file.
struct SecondBands final : BandPlaces {
    std::int64_t place(const Band& band, bool& is_new) override {
        if (band.number % 2 == 0) return -1;
        is_new = !added.contains(band);
        if (!is_new) return added.at(band);
        file.resize(file.size() + (1 << 13));
        return std::ssize(file) - (1 << 13);
    }
    Status write_at(const Band&, const char* from, std::int64_t bytes, std::int64_t at) override {
        std::copy_n(from, bytes, file.begin() + at);
        return {};
    }
    Status read_at(char* to, std::int64_t bytes, std::int64_t at) override {
        std::copy_n(file.begin() + at, bytes, to);
        return {};
    }
    Status add(const Band& band, std::int64_t at) override {
        EXPECT_EQ(added.emplace(band, at).first->second, at);
        return {};
    }
    std::vector<char> file;
    std::map<Band, std::int64_t> added;  ///< address of each band that the file contains
};

/// Writes and reads random ranges in any order, with packing in between. Compares the values with a
/// plain array.
void expect_any_ranges(const Variable& v, const ChunkGrid& g, std::mt19937_64& random,
                       std::int64_t memory) {
    Definitions d;
    d.variables.push_back(v);
    const std::vector<StoredFilter> none;
    Packer packer(d, {&g, 1}, {&none, 1});
    std::map<std::pair<std::int64_t, std::int64_t>, std::vector<char>> chunks;
    const auto load = [&](const Band& band, char* to) -> Status {
        if (!chunks.contains({band.record, band.number * g.chunks_a_band()})) {
            std::fill_n(reinterpret_cast<int*>(to), g.records * g.elements_of(band.number),
                        -2147483647);
            return {};
        }
        const auto give = [&](std::int64_t number, std::vector<char>& elements) -> Status {
            elements = chunks.at({band.record, number});
            return {};
        };
        return packer.unpack_band(0, band.number, to, give);
    };
    const auto keep = [&](int, std::int64_t record, std::int64_t number, const FilteredChunk& c) {
        chunks[{record, number}].assign(c.data, c.data + c.bytes);
        return Status{};
    };
    SecondBands in_file;
    const auto pack = [&](const Band& band, const char* elements) {
        bool is_new = true;
        const std::int64_t at = in_file.place(band, is_new);
        if (at < 0) return packer.pack_band(0, band.record, band.number, elements, keep);
        (void)in_file.write_at(band, elements, g.records * g.elements_of(band.number) * 4, at);
        return in_file.add(band, at);
    };
    constexpr int fill = -2147483647;
    const auto lacks = [&](const Band& band, const char* elements, std::int64_t bytes) {
        return are_all(v.fill_value(), 4, elements, bytes) && !in_file.added.contains(band) &&
               !chunks.contains({band.record, band.number * g.chunks_a_band()});
    };
    PartialChunkCache bands(::testing::TempDir() + "bands", d, {&g, 1}, load, pack, lacks, memory,
                            &in_file);
    constexpr std::int64_t records = 3;
    const auto n = static_cast<std::size_t>(g.elements());
    std::vector<std::vector<int>> wanted(records, std::vector<int>(n, fill));
    for (int i = 0; i < 60; ++i) {
        Chunk c;
        c.record = static_cast<std::int64_t>(random() % records);
        c.first = static_cast<std::int64_t>(random() % n);
        c.elements =
            1 + static_cast<std::int64_t>(random() % (n - static_cast<std::size_t>(c.first)));
        const auto length = static_cast<std::size_t>(c.elements);
        const auto from = wanted[static_cast<std::size_t>(c.record)].begin() + c.first;
        std::vector<int> values(length);
        if (random() % 3 == 0) {
            ASSERT_TRUE(bands.read(c, reinterpret_cast<char*>(values.data())).ok());
            ASSERT_TRUE(std::equal(values.begin(), values.end(), from));
            continue;
        }
        if (i % 4 == 0)
            std::fill(values.begin(), values.end(), fill);
        else
            std::iota(values.begin(), values.end(), 1000 * i);
        c.data = reinterpret_cast<const char*>(values.data());
        ASSERT_TRUE(bands.write(c).ok());
        std::copy(values.begin(), values.end(), from);
        if (random() % 4 != 0) continue;
        ASSERT_TRUE(bands.pass_on([&](const Band& b) { return b.record <= c.record; }).ok());
    }
}

/// Fill values are stored only in bands that also have others.
TEST(PartialChunkCache, StoresNoBandsOfFillValues) {
    Definitions d;
    d.variables.push_back(variable({4, 8}, {1, 8}));
    const ChunkGrid g = choose_grid(d.variables[0], 1);
    SecondBands in_file;
    int taken = 0;
    const auto load = [&](const Band&, char* to) {
        fill_with(d.variables[0].fill_value(), 4, to, 8);
        return Status{};
    };
    const auto take = [&](const Band&, const char*) { return ++taken, Status{}; };
    const auto lacks = [&](const Band&, const char* elements, std::int64_t bytes) {
        return are_all(d.variables[0].fill_value(), 4, elements, bytes);
    };
    PartialChunkCache bands(::testing::TempDir() + "bands", d, {&g, 1}, load, take, lacks, 1 << 20,
                            &in_file);
    std::vector<int> values(8, -2147483647);
    const auto write = [&](std::int64_t first, std::int64_t n) {
        Chunk c;
        c.first = first;
        c.elements = n;
        c.data = reinterpret_cast<const char*>(values.data());
        ASSERT_TRUE(bands.write(c).ok());
    };
    for (const std::int64_t band : {0, 8})
        for (const std::int64_t part : {0, 3}) write(band + part, part == 0 ? 3 : 5);
    write(16, 3);
    write(24, 3);
    EXPECT_TRUE(in_file.file.empty());
    values[1] = 7;
    write(19, 5);
    write(27, 5);
    EXPECT_EQ(taken, 1);
    ASSERT_EQ(in_file.added.size(), 1U);
    const auto [band, at] = *in_file.added.begin();
    EXPECT_EQ(band.number, 3);
    int found[8];
    std::memcpy(found, in_file.file.data() + at, sizeof found);
    EXPECT_EQ(std::vector<int>(found, found + 3), std::vector<int>(3, -2147483647));
    EXPECT_EQ(found[4], 7);
}

/// The table of places must hold what was added, and little more than 16 bytes for each chunk.
TEST(ChunkAddresses, TakeLittleMemory) {
    ChunkGrid one, many, grouped;
    one.number = {};
    many.number = {5, 30};
    grouped.number = {2};
    grouped.records = 4;
    const std::vector<ChunkGrid> grids{one, many, grouped};
    constexpr std::int64_t records = 20000;
    ChunkAddresses places(grids);
    const std::size_t before = mallinfo2().uordblks;
    std::int64_t added = 0;
    const auto for_chunks = [&](const auto& act) {
        for (std::int64_t v = 0; v < std::ssize(grids); ++v) {
            const ChunkGrid& grid = grids[static_cast<std::size_t>(v)];
            for (std::int64_t r = 0; r < (v == 1 ? 100 : records); r += grid.records)
                for (std::int64_t n = 0; n < grid.chunks(); ++n)
                    act(PlacedChunk{v, r, n, 8 * r + n, 1 + r + v});
        }
    };
    for_chunks([&](const PlacedChunk& c) {
        places.add(c);
        ++added;
    });
    const auto bytes = static_cast<std::int64_t>(mallinfo2().uordblks - before);
    EXPECT_LT(bytes, 24 * added) << added << " chunks";
    for_chunks([&](const PlacedChunk& c) {
        PlacedChunk found{c.variable, c.record, c.number};
        ASSERT_TRUE(places.find(found));
        EXPECT_EQ(found.address, c.address);
        EXPECT_EQ(found.bytes, c.bytes);
    });
    for (const PlacedChunk c : {PlacedChunk{1, 100, 0}, PlacedChunk{0, records, 0},
                                PlacedChunk{2, records, 1}, PlacedChunk{1, 500, 149}}) {
        PlacedChunk found = c;
        EXPECT_FALSE(places.find(found)) << c.variable << " " << c.record;
    }
}

}  // namespace

TEST(Chunks, CoverEveryElementOnce) {
    for (const std::int64_t target : {4, 40, 100, 1000, 1 << 20}) {
        expect_covered(variable({7}), target);
        expect_covered(variable({5, 6}), target);
        expect_covered(variable({11, 1, 13}), target);
        expect_covered(variable({1, 9, 4}), target);
    }
    expect_covered(variable({7, 9}, {2, 4}), 100);
    expect_covered(variable({4, 7, 9}, {1, 3, 0}), 100);
    expect_covered(variable({4, 6, 9}, {1, 3, 2}), 100);
    expect_covered(variable({4, 7, 9}, {3, 0, 5}), 100);
}

TEST(Chunks, AreRangesWhereNothingIsWished) {
    const ChunkGrid g = choose_grid(variable({26, 192, 288}), 2 << 20);
    EXPECT_EQ(g.chunk, (std::vector<std::int64_t>{9, 192, 288}));
    EXPECT_TRUE(g.in_order);
    EXPECT_EQ(g.band, g.chunk_elements());
    // 1021 is prime: chunks of one row each would be far too short.
    EXPECT_EQ(choose_grid(variable({3, 1021, 50}), 20000).chunk,
              (std::vector<std::int64_t>{1, 1021, 50}));
    EXPECT_EQ(choose_grid(variable({}), 100).chunks(), 1);
}

TEST(Chunks, OfSeveralThreadsAreThoseOfOneInTheSameOrder) {
    using Packed = std::vector<std::pair<std::int64_t, std::string>>;  // numbers and contents
    const Variable v = variable({37, 64, 100});
    const std::vector<StoredFilter> filters{{2, 4}, {1, 1, 1}};
    Definitions d;
    d.variables.push_back(v);
    for (const std::int64_t target : {20000, 200000, 40 << 20}) {
        const ChunkGrid g = choose_grid(v, target);
        std::vector<int> values(static_cast<std::size_t>(g.elements()));
        std::iota(values.begin(), values.end(), 7);
        const auto pack = [&](int threads) {
            Packer packer(d, {&g, 1}, {&filters, 1}, threads);
            Packed packed;
            const auto take = [&](int, std::int64_t, std::int64_t number, const FilteredChunk& c) {
                packed.emplace_back(number, std::string(c.data, c.data + c.bytes));
                return Status{};
            };
            const std::int64_t bands = (g.elements() + g.band - 1) / g.band;
            for (std::int64_t i = 0; i < 60 * bands; ++i) {
                const std::int64_t band = i % bands;
                const auto* const data =
                    reinterpret_cast<const char*>(values.data() + band * g.band);
                EXPECT_TRUE(packer.pack_band(0, i / bands, band, data, take).ok());
            }
            EXPECT_EQ(packer.waits(0, 59, 0), threads > 1);
            EXPECT_TRUE(packer.finish(take).ok());
            EXPECT_FALSE(packer.waits(0, 59, 0));
            return packed;
        };
        const Packed wanted = pack(1);
        EXPECT_EQ(std::ssize(wanted), 60 * g.chunks());
        for (const int threads : {2, 5}) EXPECT_EQ(pack(threads), wanted);
    }
}

TEST(Chunks, ThatCannotBeTakenAreDropped) {
    const std::vector<StoredFilter> filters{{1, 1, 1}};
    ChunkBatch batch(2, 32 << 20);
    for (int number = 0; number < 4; ++number)
        std::memset(batch.add(0, 0, number, filters, 1 << 17), number, 1 << 17);
    int taken = 0;
    const auto take = [&](int, std::int64_t, std::int64_t, const FilteredChunk&) {
        return ++taken == 2 ? Status(failure(TW_EIO, "full")) : Status{};
    };
    EXPECT_EQ(batch.finish(take).code, TW_EIO);
    EXPECT_TRUE(batch.finish(take).ok());
    EXPECT_EQ(taken, 2);
}

TEST(Filters, DeflateIsAStreamOfZlib) {
    std::vector<float> values(5000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i / 7);
    const auto* data = reinterpret_cast<const char*>(values.data());
    Packing packing;
    packing.codec = Packing::Codec::deflate;
    packing.shuffle = true;
    for (packing.level = 1; packing.level <= 9; ++packing.level) {
        Compressor compressor;
        const FilteredChunk c = compressor.apply(filters_of(packing, 4), data, 20000);
        EXPECT_LT(c.bytes, 10000);
        std::vector<char> back(20000), expected(20000);
        uLongf size = back.size();
        ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(back.data()), &size,
                             reinterpret_cast<const Bytef*>(c.data), static_cast<uLong>(c.bytes)),
                  Z_OK);
        ASSERT_EQ(size, back.size());
        for (std::size_t i = 0; i < 5000; ++i)
            for (std::size_t k = 0; k < 4; ++k) expected[k * 5000 + i] = data[i * 4 + k];
        EXPECT_EQ(back, expected);
    }
}

TEST(Filters, ASumOfFletcher32IsNoZeroWhereSomethingIsSummed) {
    const auto sum = [](const char* words, std::int64_t n) { return fletcher32(words, n); };
    EXPECT_EQ(sum("\0\0\0\0", 4), 0U);
    EXPECT_EQ(sum("\xFF\xFF", 2), 0xFFFFFFFFU);
    EXPECT_EQ(sum("\x80\x00\x7F\xFF", 4), 0x8000FFFFU);
    EXPECT_EQ(sum("\x01", 1), 0x01000100U);
}

TEST(Filters, ChunksOfAWrongLengthAreNotUndone) {
    Decompressor decompressor;
    for (const std::size_t length : {15, 17}) {
        std::vector<char> raw(length, 1), elements;
        EXPECT_NE(decompressor.undo({{2, 4}}, 0, raw, 16, elements), nullptr);
    }
}

TEST(Chunks, AreWrittenInAnyRanges) {
    std::mt19937_64 random(1);
    const auto expect_of = [&](const Variable& v, std::int64_t target) {
        for (const std::int64_t records : {1, 2, 5}) {
            ChunkGrid g = choose_grid(v, target);
            g.records = records;
            for (const std::int64_t memory : {0, 400, 32 << 20})
                expect_any_ranges(v, g, random, memory);
        }
    };
    for (const std::int64_t target : {4, 40, 1000, 1 << 20}) {
        expect_of(variable({}), target);
        expect_of(variable({7}), target);
        expect_of(variable({5, 6}), target);
        expect_of(variable({5, 7, 6}, {2, 3, 4}), target);
        expect_of(variable({4, 1, 13}, {0, 1, 5}), target);
    }
}

TEST(Chunks, OfAFileAreAsTheyAreThere) {
    const Variable v = variable({5, 6});
    const std::int64_t chunk[] = {4, 2, 6};
    const ChunkGrid g = grid_of(v, chunk);
    EXPECT_TRUE(g.chunked && g.records == 4 && g.band == 12 && g.in_order);
    EXPECT_EQ(g.chunk, (std::vector<std::int64_t>{2, 6}));
    EXPECT_EQ(g.number, (std::vector<std::int64_t>{3, 1}));
    EXPECT_EQ(g.chunk_bytes(), 4 * 12 * 4);
    EXPECT_EQ(g.first_record(7), 4);
    EXPECT_FALSE(grid_of(v, {}).chunked);
}
