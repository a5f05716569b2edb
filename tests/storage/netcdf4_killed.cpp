// Tests that a writer of netCDF-4 which is killed between any two of its writes leaves all records
// that it had counted. Without MPI.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <netcdf.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "publish/committed.hpp"
#include "storage/netcdf4/whole.hpp"
#include "storage/storage.hpp"
#include "storage_kills.hpp"

using namespace thalweg::detail;

namespace netcdf4_killed {
namespace {

constexpr std::int64_t rows = 6, columns = 11;

struct Job {
    bool filtered = false;
    int variables = 2;
    std::int64_t records = 80;
};

int value(int variable, std::int64_t record, std::int64_t i) {
    return static_cast<int>(variable * 1'000'000 + record * 1000 + i);
}

/// Returns definitions with more than one chunk per record, so that nodes of the index are often
/// split, including an inner node.
Definitions definitions(const Job& job) {
    Definitions d;
    d.dims = {{"time", 0}, {"y", rows}, {"x", columns}};
    for (int i = 0; i < job.variables; ++i) {
        Variable v;
        v.name = "v" + std::to_string(i);
        v.type = TW_INT;
        v.dims = {0, 1, 2};
        v.shape = {rows, columns};
        v.record = true;
        v.packing.chunks = {1, columns};
        if (job.filtered) v.packing.codec = Packing::Codec::deflate;
        v.packing.level = 1;
        // Without filters, there is one chunk per record, and its address is known.
        if (!job.filtered) v.packing = {};
        d.variables.push_back(v);
    }
    return d;
}

void write_records(const std::string& path, const Job& job) {
    const Definitions d = definitions(job);
    const auto storage = make_netcdf4_storage();
    const auto comm = make_serial_comm();
    StorageOptions options;
    options.format = Format::netcdf4;
    FileMap map;
    if (!storage->create(*comm, path, d, options, true, map).ok()) std::_Exit(1);
    if (!storage->set_records(0, false).ok()) std::_Exit(2);
    kills::shared->counted = 0;
    std::vector<int> data(static_cast<std::size_t>(rows * columns));
    for (std::int64_t r = 0; r < job.records; ++r) {
        for (int v = 0; v < job.variables; ++v) {
            for (std::size_t i = 0; i < data.size(); ++i)
                data[i] = value(v, r, static_cast<std::int64_t>(i));
            Chunk c;
            c.variable = v;
            c.record = r;
            c.elements = rows * columns;
            c.offset = map.offset[static_cast<std::size_t>(v)] + r * map.record_bytes;
            c.data = reinterpret_cast<const char*>(data.data());
            c.bytes = c.elements * 4;
            if (!storage->write({&c, 1}).ok()) std::_Exit(3);
        }
        if (!storage->end_unit(r + 1, true).ok()) std::_Exit(4);
        if (!storage->set_records(r + 1, false).ok()) std::_Exit(4);
        kills::shared->counted = r + 1;
    }
    std::_Exit(storage->close(job.records, {}).ok() ? 0 : 5);
}

/// Returns "" if all counted records exist and the rest of the file is right.
std::string look(const std::string& path, const Job& job) {
    int id = 0;
    if (const int status = nc_open(path.c_str(), NC_NOWRITE, &id); status != NC_NOERR)
        return nc_strerror(status);
    std::string wrong;
    std::size_t records = 0;
    nc_inq_dimlen(id, 0, &records);
    const auto counted = static_cast<std::size_t>(kills::shared->counted);
    // A run killed while it counts may have counted one record more than it has reported.
    if (records < counted || records > counted + 1)
        wrong = fmt::format("{} records, {} were counted", records, counted);
    std::vector<int> data(records * rows * columns);
    for (int v = 0; v < job.variables && wrong.empty(); ++v) {
        if (records > 0 && nc_get_var_int(id, v, data.data()) != NC_NOERR) wrong = "unreadable";
        for (std::size_t i = 0; i < data.size() && wrong.empty(); ++i)
            if (data[i] != value(v, static_cast<std::int64_t>(i) / (rows * columns),
                                 static_cast<std::int64_t>(i) % (rows * columns)))
                wrong = fmt::format("element {} of variable {} is {}", i, v, data[i]);
    }
    nc_close(id);
    return wrong;
}

int run(const std::string& path, const Job& job, long calls) {
    return kills::in_child([&] { write_records(path, job); }, calls);
}

class Netcdf4Killed : public testing::Test {
protected:
    ~Netcdf4Killed() override { std::filesystem::remove(path); }

    const kills::Shared memory;
    const std::string path = kills::path_of("netcdf4_killed");
};

}  // namespace

TEST_F(Netcdf4Killed, LeavesWhatWasCounted) {
    for (const bool filtered : {false, true}) {
        const Job job{filtered};
        ASSERT_EQ(run(path, job, -1), 0);
        EXPECT_EQ(look(path, job), "");
        const long writes = kills::shared->calls;
        EXPECT_GT(writes, 4 * job.records);
        int counted = 0;
        int undefined = 0;
        // Kill the run at each write of the definitions, and at some writes of the data.
        for (long n = 0; n < writes; n += n < 40 ? 1 : filtered ? 11 : 5) {
            std::filesystem::remove(path);
            const int status = run(path, job, n);
            ASSERT_TRUE(WIFSIGNALED(status)) << status;
            Committed found;
            const Status whole = find_committed(path, found);
            if (kills::shared->counted < 0) {  // no record has been counted yet
                undefined += whole.code == TW_EFORMAT ? 1 : 0;
                ASSERT_TRUE(whole.ok() || whole.code == TW_EFORMAT) << whole.text;
                if (whole.ok()) {
                    kills::shared->counted = 0;
                    ASSERT_EQ(look(path, job), "");
                }
                continue;
            }
            ASSERT_TRUE(whole.ok()) << "killed before write " << n << ": " << whole.text;
            EXPECT_GE(found.records, kills::shared->counted);
            // A header of two pages is not written at once, so variables may differ in their
            // length.
            if (found.records != found.shortest) {
                ASSERT_TRUE(cut_netcdf4(path, found.shortest).ok());
            }
            ++counted;
            ASSERT_EQ(look(path, job), "") << "killed before write " << n << " of " << writes;
        }
        EXPECT_GT(counted, 30);
        EXPECT_GT(undefined, 2);
    }
}

/// If the headers need several pages, some variables may be longer than others, until tw_recover
/// cuts them.
TEST_F(Netcdf4Killed, IsCutToWhatAllVariablesHave) {
    const Job job{false, 30, 4};
    ASSERT_EQ(run(path, job, -1), 0);
    const long writes = kills::shared->calls;
    int uneven = 0;
    for (long n = 60; n < writes; n += 3) {
        std::filesystem::remove(path);
        ASSERT_TRUE(WIFSIGNALED(run(path, job, n)));
        Committed found;
        if (kills::shared->counted < 1) continue;
        ASSERT_TRUE(find_committed(path, found).ok());
        EXPECT_GE(found.shortest, kills::shared->counted);
        if (found.shortest == found.records) continue;
        ++uneven;
        EXPECT_NE(look(path, job), "");
        const Status cut = cut_netcdf4(path, found.shortest);
        ASSERT_TRUE(cut.ok()) << cut.text;
        ASSERT_TRUE(find_committed(path, found).ok());
        EXPECT_EQ(found.shortest, found.records);
        ASSERT_EQ(look(path, job), "") << "killed before write " << n << " of " << writes;
    }
    EXPECT_GT(uneven, 1);
}

}  // namespace netcdf4_killed
