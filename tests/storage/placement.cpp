// Tests, without MPI, how writers of compressed chunks get places in the file.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <netcdf.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "storage/netcdf4/index/hdf5_driver.hpp"
#include "storage/netcdf4/placement/chunk_placer.hpp"
#include "storage/storage.hpp"
#include "support/threads.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

/// Text that another writer appends to the file while its length is being set; see ftruncate().
std::atomic<const char*> meanwhile{nullptr};

PlacedChunk chunk(std::int64_t record, std::int64_t number, std::int64_t bytes) {
    return {0, record, number, 0, bytes};
}

std::vector<char> content(std::int64_t record, std::int64_t number, std::int64_t bytes) {
    std::vector<char> data(static_cast<std::size_t>(bytes));
    for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<char>(mix(static_cast<std::uint64_t>(record * 1000 + number), i));
    return data;
}

}  // namespace

/// Replaces the system's function in this program.
extern "C" int ftruncate(int fd, off_t length) {
    if (const char* text = meanwhile.exchange(nullptr); text != nullptr) {
        const auto bytes = static_cast<ssize_t>(std::strlen(text));
        EXPECT_EQ(pwrite(fd, text, static_cast<std::size_t>(bytes), length + 100), bytes);
    }
    return static_cast<int>(syscall(SYS_ftruncate, fd, length));
}

TEST(UnplacedChunks, PlacesComeInTheOrderOfAsking) {
    UnplacedChunks chunks(100);
    EXPECT_EQ(chunks.ask(), 0);
    chunks.add(chunk(0, 0, 3), "abc");
    chunks.add(chunk(0, 1, 2), "de");
    EXPECT_EQ(chunks.bytes(), 5);
    EXPECT_EQ(chunks.ask(), 8);
    EXPECT_EQ(chunks.bytes(), 0);
    const std::int64_t later = chunks.add(chunk(0, 0, 2), "fg");
    EXPECT_EQ(later, 5);
    EXPECT_EQ(chunks.first(), nullptr);
    EXPECT_EQ(chunks.ask(), 8);
    std::vector<char> data;
    const auto read = [&](std::int64_t position) {
        chunks.read(position, 2, data);
        return std::string(data.begin(), data.end());
    };
    EXPECT_EQ(read(later), "fg");
    EXPECT_EQ(read(3), "de");
    chunks.place(1000);
    ASSERT_NE(chunks.first(), nullptr);
    EXPECT_EQ(chunks.first()->at, 1000);
    EXPECT_EQ(std::string(chunks.first()->bytes.begin(), chunks.first()->bytes.end()), "abcde");
    EXPECT_EQ(chunks.first()->chunks[1].address, 3);
    EXPECT_EQ(read(3), "de");  // also while the lot is written, or after its write has failed
    chunks.drop_first();
    ASSERT_NE(chunks.first(), nullptr);
    EXPECT_EQ(chunks.first()->at, 1008);
    EXPECT_EQ(chunks.first()->chunks.size(), 1U);
    chunks.drop_first();
    EXPECT_EQ(chunks.first(), nullptr);
    // A lot (a group of chunks) that is full gets no more chunks.
    const std::vector<char> large(100, 'x');
    chunks.add(chunk(1, 0, 100), large.data());
    chunks.add(chunk(1, 1, 1), "y");
    EXPECT_EQ(chunks.ask(), 104 + 8);
    chunks.place(0);
    ASSERT_NE(chunks.first(), nullptr);
    EXPECT_EQ(chunks.first()->bytes.size(), 100U);
    chunks.drop_first();
    ASSERT_NE(chunks.first(), nullptr);
    EXPECT_EQ(chunks.first()->at, 104);
}

// Chunks that were written in place do not make those wait less that are written together.
TEST(Placement, WaitingChunksStayTogether) {
    Variable v;
    v.type = TW_BYTE;
    v.shape = {100};
    v.dims = {0, 1};
    v.record = true;
    v.packing.chunks = {1};
    const ChunkGrid grid = choose_grid(v, 1);
    std::vector<std::int64_t> writes;
    const auto write = [&](const char*, std::int64_t bytes, std::int64_t, const PlacedChunk&) {
        writes.push_back(bytes);
        return Status{};
    };
    double seconds = 0;
    ChunkPlacer placer(std::span(&grid, 1), true, write, seconds);
    const std::vector<char> data(8);
    for (std::int64_t i = 0; i < 100; i += 2) {
        bool is_new = false;
        ASSERT_TRUE(placer.put(chunk(0, i, 8), data.data()).ok());
        ASSERT_TRUE(placer.add(chunk(0, i + 1, 8), placer.place(chunk(0, i + 1, 8), is_new)).ok());
    }
    EXPECT_EQ(placer.settled(), 0);
    ASSERT_TRUE(placer.write_waiting().ok());
    EXPECT_EQ(placer.settled(), 100);
    EXPECT_EQ(writes, std::vector<std::int64_t>{400});
    const auto all = placer.take_counted([](const PlacedChunk&) { return true; });
    std::map<std::int64_t, std::int64_t> numbers;
    for (const PlacedChunk& c : all) EXPECT_TRUE(numbers.emplace(c.address, c.number).second);
    EXPECT_EQ(numbers.size(), 100U);
}

// Four writers that share memory with the header writer, and two that send messages, write at the
// same time.
TEST(Placement, WritersOfSeveralNodes) {
    constexpr int writers = 6, far = 4;  // number of the first remote writer
    constexpr std::int64_t first = 1000, units = 40;
    Variable v;
    v.type = TW_BYTE;
    v.shape = {writers, 1000};
    v.dims = {0, 1, 2};
    v.record = true;
    v.packing.chunks = {1, 1};
    const ChunkGrid grid = choose_grid(v, 1);
    std::vector<char> file(64 << 20, '\0');
    std::vector<std::unique_ptr<ChunkPlacer>> placers(writers);
    std::vector<std::int64_t> chunks_of(writers, 0);
    std::vector<double> seconds(writers, 0);
    const auto write = [&](const char* data, std::int64_t bytes, std::int64_t at,
                           const PlacedChunk&) {
        std::memcpy(file.data() + at, data, static_cast<std::size_t>(bytes));
        return Status{};
    };
    on_threads(writers, [&](std::unique_ptr<Comm> comm) {
        const int w = comm->rank();
        const auto at = static_cast<std::size_t>(w);
        placers[at] =
            std::make_unique<ChunkPlacer>(std::span(&grid, 1), w == 0, write, seconds[at]);
        placers[at]->set_end(first);
        placers[at]->share(*comm, 0, w < far, far - 1);
        EXPECT_EQ(placers[at]->beside_header_writer(), w < far);
    });
    ChunkPlacer& header_writer = *placers[0];
    std::atomic<int> busy{writers}, unsettled{writers};
    std::vector<std::thread> threads;
    for (int w = 0; w < writers; ++w)
        threads.emplace_back([&, w] {
            Random random(mix(static_cast<std::uint64_t>(w)));
            ChunkPlacer& placer = *placers[static_cast<std::size_t>(w)];
            bool moved = false;
            std::int64_t number = 0;
            for (std::int64_t unit = 0; unit < units; ++unit) {
                // Sometimes make more chunks than fit into one report to the header writer.
                for (std::int64_t k = random.below(unit % 7 == 0 ? 900 : 20); k > 0; --k) {
                    const std::int64_t at = w * 1000 + number++ % 1000;
                    const std::int64_t bytes = random.between(1, 300);
                    const auto data = content(unit, at, bytes);
                    const PlacedChunk one = chunk(unit, at, bytes);
                    bool is_new = false;
                    const std::int64_t place = k % 3 == 0 ? placer.place(one, is_new) : -1;
                    if (place < 0) {
                        ASSERT_TRUE(placer.put(one, data.data()).ok());
                    } else {
                        ASSERT_TRUE(placer.write_at(one, data.data(), bytes, place).ok());
                        ASSERT_TRUE(placer.add(one, place).ok());
                    }
                    if (number % 1000 == 0) break;
                }
                ASSERT_TRUE(placer.settle(moved).ok());
                EXPECT_TRUE(w >= far || placer.room_wanted() == 0);
            }
            chunks_of[static_cast<std::size_t>(w)] = placer.packed();
            --busy;
            while (placer.settled() < placer.packed() || (w == 0 && unsettled > 1)) {
                ASSERT_TRUE(placer.settle(moved).ok());
                std::this_thread::yield();
            }
            --unsettled;
        });
    // Threads act as services for the remote writers. Some wait long for space.
    std::vector<std::thread> services;
    for (int w = far; w < writers; ++w)
        services.emplace_back([&, w] {
            ChunkPlacer& placer = *placers[static_cast<std::size_t>(w)];
            for (bool last = false; !last;) {
                last = busy == 0;
                if (const std::int64_t bytes = placer.room_wanted(); bytes > 0) {
                    EXPECT_EQ(bytes % 8, 0);
                    placer.give_room(header_writer.take_room(bytes));
                }
                std::this_thread::yield();
            }
        });
    for (std::thread& t : services) t.join();
    for (std::thread& t : threads) t.join();
    for (int w = far; w < writers; ++w) {
        ChunkPlacer& placer = *placers[static_cast<std::size_t>(w)];
        if (const std::int64_t bytes = placer.room_wanted(); bytes > 0)
            placer.give_room(header_writer.take_room(bytes));
        bool moved = false;
        ASSERT_TRUE(placer.settle(moved).ok());
        EXPECT_EQ(placer.settled(), placer.packed());
        header_writer.add_placed(placer.take_placed());
        EXPECT_TRUE(placer.take_placed().empty());
    }
    bool moved = false;
    ASSERT_TRUE(header_writer.settle(moved).ok());
    const auto early =
        header_writer.take_counted([](const PlacedChunk& c) { return c.record < 10; });
    const auto late = header_writer.take_counted([](const PlacedChunk&) { return true; });
    std::int64_t all = 0;
    for (const std::int64_t n : chunks_of) all += n;
    EXPECT_EQ(static_cast<std::int64_t>(early.size() + late.size()), all);
    std::map<std::int64_t, std::int64_t> ranges;
    for (const auto* chunks : {&early, &late})
        for (const PlacedChunk& c : *chunks) {
            EXPECT_EQ(c.record < 10, chunks == &early);
            EXPECT_TRUE(ranges.emplace(c.address, c.bytes).second);
            const auto data = content(c.record, c.number, c.bytes);
            ASSERT_EQ(std::memcmp(data.data(), file.data() + c.address, data.size()), 0)
                << "chunk " << c.number << " of record " << c.record;
        }
    std::int64_t end = first;
    for (const auto& [address, bytes] : ranges) {
        ASSERT_GE(address, end);
        ASSERT_LT(address, end + 8);  // only alignment leaves unused bytes
        end = address + bytes;
    }
}

namespace {

constexpr std::int64_t ny = 4, nx = 6;

Definitions small_definitions() {
    Definitions d;
    d.dims = {{"time", 0}, {"y", ny}, {"x", nx}};
    Variable v;
    v.name = "v";
    v.type = TW_INT;
    v.dims = {0, 1, 2};
    v.shape = {ny, nx};
    v.record = true;
    v.packing.chunks = {1, nx};
    v.packing.codec = Packing::Codec::deflate;
    v.packing.level = 1;
    d.variables.push_back(v);
    return d;
}

/// Writes some elements of a record, all with the same value.
Status put(Storage& storage, std::int64_t record, std::int64_t first, std::int64_t n, int value) {
    const std::vector<int> data(static_cast<std::size_t>(n), value);
    Chunk c;
    c.record = record;
    c.first = first;
    c.elements = n;
    c.data = reinterpret_cast<const char*>(data.data());
    c.bytes = 4 * n;
    return storage.write({&c, 1});
}

std::vector<int> read_all(const std::string& path) {
    const QuietHdf5 quiet;
    int id = 0;
    EXPECT_EQ(nc_open(path.c_str(), NC_NOWRITE, &id), NC_NOERR);
    std::size_t records = 0;
    nc_inq_dimlen(id, 0, &records);
    std::vector<int> values(records * ny * nx);
    EXPECT_EQ(nc_get_var_int(id, 0, values.data()), NC_NOERR);
    nc_close(id);
    return values;
}

}  // namespace

// A chunk that a remote writer has packed, and that has no address yet, is changed in part.
TEST(Placement, AChunkChangesBeforeItHasAPlace) {
    const std::string path = "placement_" + std::to_string(getpid()) + ".nc";
    const Definitions definitions = small_definitions();
    std::vector<std::unique_ptr<Storage>> storages(2);
    on_threads(2, [&](std::unique_ptr<Comm> comm) {
        const int rank = comm->rank();
        auto& storage = storages[static_cast<std::size_t>(rank)];
        storage = make_netcdf4_storage();
        StorageOptions options;
        options.format = Format::netcdf4;
        options.writers = 2;
        options.beside_header_writer = rank == 0;
        FileMap map;
        const Status status = storage->create(*comm, path, definitions, options, true, map);
        ASSERT_TRUE(status.ok()) << status.text;
    });
    Storage &header_writer = *storages[0], &far = *storages[1];
    Placement *its = header_writer.placement(), *mine = far.placement();
    ASSERT_NE(its, nullptr);
    ASSERT_NE(mine, nullptr);
    EXPECT_TRUE(its->beside_header_writer());
    EXPECT_FALSE(mine->beside_header_writer());
    bool moved = false;
    for (Storage* s : {&header_writer, &far}) s->begin_boxes();
    // Rows 0 and 1 belong to the header writer, the others to the other writer.
    for (int r = 0; r < 2; ++r) {
        ASSERT_TRUE(put(header_writer, r, 0, 2 * nx, 10 + r).ok());
        ASSERT_TRUE(put(far, r, 2 * nx, 2 * nx, 20 + r).ok());
    }
    for (Storage* s : {&header_writer, &far}) ASSERT_TRUE(s->end_unit(2, false).ok());
    EXPECT_EQ(its->settled(), its->packed());
    EXPECT_EQ(mine->packed(), 4);
    EXPECT_EQ(mine->settled(), 0);
    ASSERT_TRUE(put(far, 1, 3 * nx + 2, 2, 99).ok());  // the rest of the row stays
    ASSERT_TRUE(far.end_unit(2, true).ok());
    EXPECT_EQ(mine->packed(), 5);
    const std::int64_t bytes = mine->room_wanted();
    EXPECT_GT(bytes, 0);
    EXPECT_EQ(mine->room_wanted(), 0);
    mine->give_room(its->take_room(bytes));
    ASSERT_TRUE(mine->settle(moved).ok());
    EXPECT_EQ(mine->settled(), 5);
    its->add_placed(mine->take_placed());
    // Do the same with a chunk that has an address already.
    ASSERT_TRUE(put(far, 0, 2 * nx, 1, 77).ok());
    ASSERT_TRUE(far.end_unit(2, true).ok());
    mine->give_room(its->take_room(mine->room_wanted()));
    ASSERT_TRUE(mine->settle(moved).ok());
    its->add_placed(mine->take_placed());
    ASSERT_TRUE(header_writer.set_records(2, false).ok());
    for (Storage* s : {&header_writer, &far}) ASSERT_TRUE(s->close(2, {}).ok());
    std::vector<int> wanted;
    for (int r = 0; r < 2; ++r) {
        wanted.insert(wanted.end(), 2 * nx, 10 + r);
        wanted.insert(wanted.end(), 2 * nx, 20 + r);
    }
    wanted[2 * nx] = 77;
    wanted[ny * nx + 3 * nx + 2] = wanted[ny * nx + 3 * nx + 3] = 99;
    EXPECT_EQ(read_all(path), wanted);
    std::filesystem::remove(path);
}

// The header writer extends the file while others write beyond its end: their data must stay.
TEST(Placement, WhatOthersWriteMeanwhileStays) {
    const std::string path = "placement_end_" + std::to_string(getpid()) + ".nc";
    const Definitions definitions = small_definitions();
    const auto comm = make_serial_comm();
    const auto storage = make_netcdf4_storage();
    StorageOptions options;
    options.format = Format::netcdf4;
    options.writers = 2;
    options.beside_header_writer = true;
    FileMap map;
    ASSERT_TRUE(storage->create(*comm, path, definitions, options, true, map).ok());
    static const char* const text = "a chunk of another writer";
    int found = 0;
    for (int r = 0; r < 600; ++r) {  // continue until the index needs space at the end of the file
        ASSERT_TRUE(put(*storage, r, 0, ny * nx, r).ok());
        ASSERT_TRUE(storage->end_unit(r + 1, false).ok());
        struct stat before {};
        ASSERT_EQ(stat(path.c_str(), &before), 0);
        meanwhile = text;
        ASSERT_TRUE(storage->set_records(r + 1, false).ok());
        found += meanwhile.exchange(nullptr) == nullptr ? 1 : 0;
        if (found > 0) break;
    }
    EXPECT_EQ(found, 0) << "its length was set, which cuts off what others write";
    ASSERT_TRUE(storage->close(600, {}).ok());
    EXPECT_EQ(read_all(path).size(), static_cast<std::size_t>(600 * ny * nx));
    std::filesystem::remove(path);
}
