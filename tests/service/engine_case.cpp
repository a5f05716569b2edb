// SPDX-License-Identifier: Apache-2.0
#include "service/engine_case.hpp"

#include <gtest/gtest.h>
#include <netcdf.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <iterator>

#include "storage/classic/header_reader.hpp"
#include "storage/netcdf4/index/hdf5_driver.hpp"

namespace thalweg::detail {

namespace {

double stored(const Variable& v, const char* at, Order order) {
    char bytes[8];
    const auto n = v.element();
    std::copy_n(at, n, bytes);
    if (order == Order::big_endian && std::endian::native == std::endian::little)
        std::reverse(bytes, bytes + n);
    switch (v.type) {
        case TW_BYTE: return *reinterpret_cast<const signed char*>(bytes);
        case TW_SHORT: return *reinterpret_cast<const short*>(bytes);
        case TW_INT: return *reinterpret_cast<const int*>(bytes);
        case TW_FLOAT: return *reinterpret_cast<const float*>(bytes);
        default: return *reinterpret_cast<const double*>(bytes);
    }
}

}  // namespace

Case::Case(Random& random)
    : ranks(random.pick<int>({1, 2, 3, 5, 7})), node_size(random.pick<int>({0, 0, 1, 2})) {
    use(random_plan(random, 9));
    options.service = random.pick<std::string>({"inline", "background", "servers"});
    options.method = random.pick<std::string>({"serial", "slabs", "record", "record"});
    if (options.service == "inline" && random.percent(25)) options.method = "direct";
    if (options.service == "servers") {
        servers = random.pick<int>({1, 1, 2, 3, 5, 7});
        node_size = random.pick<int>({0, 1, 2, 3});
        last = random.percent(50);
    }
    options.storage = "posix";
    options.format = "cdf2";
    // Some buffers are too small for a step. Puts are then collective, or made as boxes.
    boxes = random.percent(80);
    alike = random.pick<int>({0, 50, 90, 100});
    options.staging = boxes ? 1 << 20 : 1024;
    options.queue = boxes ? random.pick<std::int64_t>({-1, 1 << 20}) : 4096;
    // With little memory, only few words can describe which ranks hold which pieces.
    options.buffer = random.pick<std::int64_t>({1 << 18, 1 << 14});
    options.piece = random.pick<std::int64_t>({0, 256, 4096});
    options.alignment = random.pick<std::int64_t>({1, 64, 512});
    layout.method = options.method;
    layout.alignment = options.alignment;
    choose_writers(random);
}

void Case::pack(Random& random) {
    options.storage = "netcdf4";
    options.format = "netcdf4";
    if (options.method != "serial") options.method = "record";
    layout.method = options.method;
    choose_writers(random);
    for (Variable& v : plan.definitions.variables) {
        if (v.shape.empty()) continue;
        v.packing.codec = Packing::Codec::deflate;
        v.packing.level = 1;
        v.packing.shuffle = random.percent(50);
        for (const std::int64_t length : v.shape)
            v.packing.chunks.push_back(random.between(1, length));
    }
}

void Case::use(Plan its_plan) {
    plan = std::move(its_plan);
    Definitions& definitions = plan.definitions;
    const auto time = static_cast<int>(definitions.dims.size());
    for (Variable& v : definitions.variables) {
        if (!v.record) continue;
        v.dims.front() = time;
        definitions.dims.set({"time", 0});
    }
    plan.lay_out();
}

void Case::choose_writers(Random& random) {
    layout.writers = servers > 0                  ? servers
                     : options.method == "serial" ? 1
                     : options.method == "direct" ? ranks
                                                  : static_cast<int>(random.between(1, ranks));
    if (servers > 0) return;
    std::vector<int> members;
    for (int r = 0; r < ranks; ++r) members.push_back(r);
    if (options.method != "direct") random.shuffle(members);
    writers.assign(members.begin(), members.begin() + layout.writers);
}

std::int64_t Case::file_bytes() const {
    const FileMap& map = plan.spaces.map;
    return map.record_begin + most_records * map.record_bytes + map.fixed_end + 4096;
}

std::string Case::describe() const {
    return std::to_string(ranks) + " ranks and " + std::to_string(servers) +
           " servers in nodes of " + std::to_string(node_size) + ", " + options.service + ", " +
           options.method + (packed() ? ", compressed" : "");
}

Box whole_of(const Variable& v) {
    Box box;
    box.nd = static_cast<int>(v.shape.size());
    std::copy(v.shape.begin(), v.shape.end(), box.count.begin());
    return box;
}

Box share_of(const Variable& v, const Dealt& dealt, int rank, int ranks) {
    Box box = whole_of(v);
    if (box.nd == 0 || dealt.kind == Dealt::Kind::first_has_all) {
        if (box.nd > 0 && rank > 0) box.count[0] = 0;
        return box;
    }
    const std::int64_t at = (rank + dealt.first) % ranks, n = v.shape[0];
    box.low[0] = n * at / ranks;
    box.count[0] = n * (at + 1) / ranks - box.low[0];
    if (dealt.hole && rank == 0) box.count[0] = 0;
    return box;
}

std::vector<Box> blocks_of(const Variable& v, const Dealt& dealt, int rank, int ranks) {
    const Box mine = share_of(v, dealt, rank, ranks);
    if (!dealt.halves || mine.nd == 0 || mine.count[0] < 2) return {mine};
    std::vector<Box> blocks{mine, mine};
    const std::int64_t lower = mine.count[0] / 2;
    blocks[0].low[0] += lower;
    blocks[0].count[0] -= lower;
    blocks[1].count[0] = lower;
    return blocks;
}

std::vector<std::int64_t> elements_in(const Variable& v, const Box& box) {
    std::vector<std::int64_t> elements;
    Sent::for_elements(v, box, [&](std::int64_t e) { elements.push_back(e); });
    return elements;
}

std::vector<std::int64_t> elements_of(const Variable& v, const Dealt& dealt, int rank, int ranks) {
    std::vector<std::int64_t> elements;
    if (dealt.kind == Dealt::Kind::first_has_all) {
        if (rank == 0) elements = elements_in(v, whole_of(v));
        return elements;
    }
    if (dealt.kind == Dealt::Kind::shares) {
        for (const Box& box : blocks_of(v, dealt, rank, ranks))
            for (const std::int64_t e : elements_in(v, box)) elements.push_back(e);
        return elements;
    }
    for (std::int64_t e = 0; e < v.elements(); ++e) {
        const std::uint64_t drawn = mix(dealt.seed, static_cast<std::uint64_t>(e));
        const auto owner = static_cast<int>(drawn % static_cast<std::uint64_t>(ranks));
        if (owner != rank || (dealt.hole && drawn % 7 == 0)) continue;
        elements.push_back(e);
    }
    Random random(mix(dealt.seed, static_cast<std::uint64_t>(rank) + 100000));
    random.shuffle(elements);
    if (random.percent(30))
        elements.insert(elements.begin() + random.below(elements.size() + 1), -1);
    return elements;
}

double value_of(int variable, std::int64_t version, std::int64_t element) {
    return static_cast<double>(mix(static_cast<std::uint64_t>(variable * 7919 + version),
                                   static_cast<std::uint64_t>(element)) %
                               100);
}

Expected::Expected(const Case& c) {
    for (const Variable& v : c.plan.definitions.variables) {
        const std::int64_t n = v.elements() * (v.record ? c.most_records : 1);
        values.emplace_back(static_cast<std::size_t>(n), -1.0);
    }
}

void Expected::put(int variable, const Variable& v, std::int64_t record, std::int64_t element,
                   double value) {
    values[static_cast<std::size_t>(variable)]
          [static_cast<std::size_t>(record * v.elements() + element)] = value;
}

namespace {

/// Compares the file, as netCDF-C reads it, with the expected contents.
void compare_packed(const Case& c, const Expected& expected) {
    const QuietHdf5 quiet;
    int id = 0, time = -1, wrong = 0;
    ASSERT_EQ(nc_open(c.path.c_str(), NC_NOWRITE, &id), NC_NOERR) << c.describe();
    std::size_t records = 0;
    nc_inq_unlimdim(id, &time);
    if (time >= 0) nc_inq_dimlen(id, time, &records);
    EXPECT_EQ(static_cast<std::int64_t>(records), expected.records) << c.describe();
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
        const Variable& v = c.plan.definitions.variables[i];
        const auto n =
            static_cast<std::size_t>(v.elements()) * (v.record ? records : std::size_t(1));
        std::vector<double> found(n + 1);
        int number = 0;
        EXPECT_EQ(nc_inq_varid(id, v.name.c_str(), &number), NC_NOERR);
        EXPECT_EQ(nc_get_var_double(id, number, found.data()), NC_NOERR) << c.describe();
        for (std::size_t e = 0; e < n; ++e) {
            double wanted = expected.values[i][e];
            if (wanted < 0) wanted = stored(v, v.fill_value().data(), Order::native);
            if (found[e] != wanted && ++wrong <= 3)
                ADD_FAILURE() << v.name << ", element " << e << " is " << found[e] << ", not "
                              << wanted << " (" << c.describe() << ")";
        }
    }
    nc_close(id);
}

}  // namespace

void compare(const Case& c, const Expected& expected, const std::vector<char>& in_memory) {
    if (c.packed()) return compare_packed(c, expected);
    std::vector<char> bytes = in_memory;
    FileMap map = c.plan.spaces.map;
    Order order = Order::native;
    if (!c.path.empty()) {
        std::ifstream file(c.path, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
        ClassicHeader header;
        const Status status = parse_classic_header(bytes, static_cast<std::int64_t>(bytes.size()),
                                                   c.path, header, nullptr);
        ASSERT_TRUE(status.ok()) << status.text << " (" << c.describe() << ")";
        map = header.map;
        order = Order::big_endian;
        EXPECT_EQ(header.records, expected.records) << c.describe();
    }
    int wrong = 0;
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
        const Variable& v = c.plan.definitions.variables[i];
        const auto size = v.element();
        const FillValue fill = v.fill_value();
        for (std::int64_t r = 0; r < (v.record ? expected.records : 1); ++r)
            for (std::int64_t e = 0; e < v.elements(); ++e) {
                const std::int64_t at =
                    map.offset[i] + r * (v.record ? map.record_bytes : 0) + e * size;
                ASSERT_LE(at + size, static_cast<std::int64_t>(bytes.size())) << c.describe();
                const double found = stored(v, bytes.data() + at, order);
                double wanted = expected.values[i][static_cast<std::size_t>(r * v.elements() + e)];
                if (wanted < 0) wanted = stored(v, fill.data(), Order::native);
                if (found != wanted && ++wrong <= 3)
                    ADD_FAILURE() << v.name << " of record " << r << ", element " << e << " is "
                                  << found << ", not " << wanted << " (" << c.describe() << ")";
            }
    }
}

}  // namespace thalweg::detail
