// A writer of netCDF-4 that is killed between any two of its writes leaves all records that it had
// counted. Without MPI.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <netcdf.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "storage/committed.hpp"
#include "storage/storage.hpp"

using namespace thalweg::detail;

namespace {

constexpr std::int64_t rows = 6, columns = 11, all_records = 80;

/// What a child tells its parent, whatever becomes of it.
struct Shared {
    long writes_left;  ///< then it dies; negative: never
    long writes;
    std::int64_t counted;  ///< records
};
Shared* shared = nullptr;

int value(std::int64_t record, std::int64_t i) { return static_cast<int>(record * 1000 + i); }

/// More chunks a record than one, so that nodes of the index are split often, and one upwards.
Definitions definitions(bool filtered) {
    Definitions d;
    d.dims = {{"time", 0}, {"y", rows}, {"x", columns}};
    for (const char* name : {"a", "b"}) {
        Variable v;
        v.name = name;
        v.type = TW_INT;
        v.dims = {0, 1, 2};
        v.shape = {rows, columns};
        v.record = true;
        v.packing.chunks = {1, columns};
        if (filtered) v.packing.codec = Packing::Codec::deflate;
        v.packing.level = 1;
        v.decomposition = replicate(0, {"y", "x"}, v.shape);
        d.variables.push_back(v);
    }
    if (!filtered) {  // one chunk a record, at its known place
        d.variables[0].packing = d.variables[1].packing = {};
    }
    return d;
}

void write_records(const std::string& path, bool filtered) {
    const Definitions d = definitions(filtered);
    const auto storage = make_netcdf4_storage();
    const auto comm = make_serial_comm();
    StorageOptions options;
    options.format = Format::netcdf4;
    FileMap map;
    if (!storage->create(*comm, path, d, options, true, map).ok()) std::_Exit(1);
    if (!storage->set_records(0, false).ok()) std::_Exit(2);
    shared->counted = 0;
    std::vector<int> data(static_cast<std::size_t>(rows * columns));
    for (std::int64_t r = 0; r < all_records; ++r) {
        for (std::size_t i = 0; i < data.size(); ++i)
            data[i] = value(r, static_cast<std::int64_t>(i));
        for (int v = 0; v < 2; ++v) {
            Chunk c;
            c.variable = v;
            c.record = r;
            c.elements = rows * columns;
            c.offset = map.offset[static_cast<std::size_t>(v)] + r * map.record_bytes;
            c.data = reinterpret_cast<const char*>(data.data());
            c.bytes = c.elements * 4;
            if (!storage->write({&c, 1}).ok()) std::_Exit(3);
        }
        if (!storage->set_records(r + 1, false).ok()) std::_Exit(4);
        shared->counted = r + 1;
    }
    std::_Exit(storage->close(all_records, {}).ok() ? 0 : 5);
}

/// "" if all counted records are there.
std::string look(const std::string& path) {
    int id = 0;
    if (const int status = nc_open(path.c_str(), NC_NOWRITE, &id); status != NC_NOERR)
        return nc_strerror(status);
    std::string wrong;
    std::size_t records = 0;
    nc_inq_dimlen(id, 0, &records);
    const auto counted = static_cast<std::size_t>(shared->counted);
    // The last count may have been under way.
    if (records < counted || records > counted + 1)
        wrong = fmt::format("{} records, {} were counted", records, counted);
    std::vector<int> data(records * rows * columns);
    for (int v = 0; v < 2 && wrong.empty(); ++v) {
        if (records > 0 && nc_get_var_int(id, v, data.data()) != NC_NOERR) wrong = "unreadable";
        for (std::size_t i = 0; i < counted * rows * columns && wrong.empty(); ++i)
            if (data[i] != value(static_cast<std::int64_t>(i) / (rows * columns),
                                 static_cast<std::int64_t>(i) % (rows * columns)))
                wrong = fmt::format("element {} of variable {} is {}", i, v, data[i]);
    }
    nc_close(id);
    return wrong;
}

/// Writes in a process of its own, which dies before a write.
/// @return how it ended
int run(const std::string& path, bool filtered, long writes) {
    *shared = {writes, 0, -1};
    const pid_t child = fork();
    if (child == 0) write_records(path, filtered);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

}  // namespace

/// Takes the place of the system's in this program.
extern "C" ssize_t pwrite(int fd, const void* from, std::size_t bytes, off_t offset) {
    if (shared != nullptr) {
        if (shared->writes_left-- == 0) raise(SIGKILL);
        ++shared->writes;
    }
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}

TEST(Netcdf4, AKilledWriterLeavesWhatItHadCounted) {
    shared = static_cast<Shared*>(
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(shared, MAP_FAILED);
    const std::string path = "netcdf4_killed_" + std::to_string(getpid()) + ".nc";
    for (const bool filtered : {false, true}) {
        ASSERT_EQ(run(path, filtered, -1), 0);
        EXPECT_EQ(look(path), "");
        const long writes = shared->writes;
        EXPECT_GT(writes, 5 * all_records);
        int counted = 0;
        int undefined = 0;
        // Each write of the definitions, and some of the data.
        for (long n = 0; n < writes; n += n < 40 ? 1 : filtered ? 11 : 5) {
            std::filesystem::remove(path);
            const int status = run(path, filtered, n);
            ASSERT_TRUE(WIFSIGNALED(status)) << status;
            Committed found;
            const Status whole = find_committed(path, found);
            if (shared->counted < 0) {  // nothing is promised yet
                undefined += whole.code == TW_EFORMAT ? 1 : 0;
                ASSERT_TRUE(whole.ok() || whole.code == TW_EFORMAT) << whole.text;
                if (whole.ok()) {
                    shared->counted = 0;
                    ASSERT_EQ(look(path), "");
                }
                continue;
            }
            ASSERT_TRUE(whole.ok()) << "killed before write " << n << ": " << whole.text;
            EXPECT_GE(found.records, shared->counted);
            ++counted;
            ASSERT_EQ(look(path), "") << "killed before write " << n << " of " << writes;
        }
        EXPECT_GT(counted, 30);
        EXPECT_GT(undefined, 2);
    }
    std::filesystem::remove(path);
    munmap(shared, sizeof *shared);
    shared = nullptr;
}
