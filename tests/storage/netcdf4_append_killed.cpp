// Tests that a run which continues a netCDF-4 file of netCDF-C, and is killed between any two of
// its calls that change the file, leaves the existing records and those that it had counted.
// Without MPI.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <netcdf.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "publish/committed.hpp"
#include "storage/netcdf4/index/undo.hpp"
#include "storage/source.hpp"
#include "storage/storage.hpp"
#include "storage_kills.hpp"
#include "write_record.hpp"

using namespace thalweg::detail;

namespace netcdf4_append_killed {
namespace {

constexpr std::int64_t rows = 6, columns = 11;
constexpr std::int64_t before = 5, added = 6;

/// A variable with one value per record, or with rows x columns.
struct Kind {
    const char* name;
    bool grid;
    std::vector<std::size_t> chunk;
    int deflate;
    bool sum;
};

const std::vector<Kind>& kinds() {
    static const std::vector<Kind> all{
        {"time", false, {512}, 0, false},      // netCDF-C's default chunk length
        {"packed_time", false, {3}, 1, true},  // its chunks are rewritten with each record
        {"a", true, {1, 2, 11}, 1, false},    {"b", true, {1, 6, 11}, 0, false},
        {"c", true, {2, 4, 3}, 2, false},
    };
    return all;
}

int value(std::int64_t record, std::int64_t i) { return static_cast<int>(record * 1000 + i); }

std::vector<int> values(const Kind& kind, std::int64_t record) {
    std::vector<int> all(kind.grid ? rows * columns : 1);
    std::iota(all.begin(), all.end(), value(record, 0));
    return all;
}

void check(int code) {
    if (code != NC_NOERR) std::_Exit(10);
}

void make_file(const std::string& path) {
    int id = 0, dims[3] = {};
    check(nc_create(path.c_str(), NC_CLOBBER | NC_NETCDF4, &id));
    check(nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
    check(nc_def_dim(id, "y", rows, &dims[1]));
    check(nc_def_dim(id, "x", columns, &dims[2]));
    for (const Kind& kind : kinds()) {
        int v = 0;
        check(nc_def_var(id, kind.name, NC_INT, kind.grid ? 3 : 1, dims, &v));
        check(nc_def_var_chunking(id, v, NC_CHUNKED, kind.chunk.data()));
        if (kind.deflate > 0) check(nc_def_var_deflate(id, v, 1, 1, kind.deflate));
        if (kind.sum) check(nc_def_var_fletcher32(id, v, NC_FLETCHER32));
        // Adds more attributes than HDF5 keeps in an object's header.
        for (const char* name : {"p", "q", "r", "s", "t", "u", "v", "w", "x"})
            check(nc_put_att_text(id, v, name, 10, "some words"));
    }
    int fixed = 0;
    check(nc_def_var(id, "fixed", NC_INT, 1, &dims[1], &fixed));
    check(nc_put_att_text(id, NC_GLOBAL, "history", 9, "first run"));
    check(nc_enddef(id));
    for (std::size_t v = 0; v < kinds().size(); ++v)
        for (std::int64_t r = 0; r < before; ++r) {
            const std::size_t start[3] = {static_cast<std::size_t>(r), 0, 0},
                              count[3] = {1, rows, columns};
            check(nc_put_vara_int(id, static_cast<int>(v), start, count,
                                  values(kinds()[v], r).data()));
        }
    check(nc_close(id));
}

struct Second {
    std::int64_t kept;  ///< number of records that the file keeps; later ones are dropped
    bool boxes, attributes;
};

Attribute text(const std::string& name, const std::string& words) {
    Attribute a;
    a.name = name;
    a.n = std::ssize(words);
    a.values.assign(words.begin(), words.end());
    return a;
}

void write_on(const std::string& path, const Second& run) {
    const auto comm = make_serial_comm();
    Status status;
    Definitions d;
    const auto source = open_source(*comm, path, false, status);
    if (!status.ok() || !find_writable(source->contents(), d).ok()) std::_Exit(1);
    StorageOptions options;
    options.format = Format::netcdf4;
    options.existing = {true, run.kept, run.kept};
    FileMap map;
    const auto storage = make_netcdf4_storage();
    if (!storage->open(*comm, path, d, options, true, map).ok()) std::_Exit(2);
    if (run.boxes) storage->begin_boxes();
    for (std::int64_t r = run.kept; r < run.kept + added; ++r) {
        for (std::size_t v = 0; v < kinds().size(); ++v) {
            const std::vector<int> all = values(kinds()[v], r);
            if (!write_record(*storage, map, v, r, all).ok()) std::_Exit(3);
        }
        if (!storage->end_unit(r + 1, true).ok() || !storage->set_records(r + 1, false).ok())
            std::_Exit(4);
        kills::shared->counted = r + 1;
    }
    LateAttributes late;
    if (run.attributes) {
        late.emplace_back(-1, text("history", "second run, and many more words than in the first"));
        late.emplace_back(2, text("units", "K"));
        late.emplace_back(3, text("p", std::string(70000, 'p')));
    }
    std::_Exit(storage->close(run.kept + added, late).ok() ? 0 : 5);
}

/// Checks a file by netCDF-C: the number of records, and the values of records before `counted`.
/// Returns the error.
std::string look(const std::string& path, std::int64_t least, std::int64_t most,
                 std::int64_t counted) {
    int id = 0;
    if (const int code = nc_open(path.c_str(), NC_NOWRITE, &id); code != NC_NOERR)
        return nc_strerror(code);
    std::string wrong;
    std::size_t records = 0;
    nc_inq_dimlen(id, 0, &records);
    const auto n = static_cast<std::int64_t>(records);
    if (n < least || n > most) wrong = fmt::format("{} records, not {} to {}", n, least, most);
    for (std::size_t v = 0; v < kinds().size(); ++v)
        for (std::int64_t r = 0; r < std::min(n, counted) && wrong.empty(); ++r) {
            const std::vector<int> expected = values(kinds()[v], r);
            std::vector<int> found(expected.size());
            const std::size_t start[3] = {static_cast<std::size_t>(r), 0, 0},
                              count[3] = {1, rows, columns};
            const int code = nc_get_vara_int(id, static_cast<int>(v), start, count, found.data());
            if (code != NC_NOERR)
                wrong = fmt::format("{}, record {}: {}", kinds()[v].name, r, nc_strerror(code));
            else if (found != expected)
                wrong = fmt::format("{}, record {} is wrong", kinds()[v].name, r);
        }
    std::vector<int> fixed(rows);
    if (wrong.empty() &&
        (nc_get_var_int(id, static_cast<int>(kinds().size()), fixed.data()) != NC_NOERR ||
         fixed != std::vector<int>(rows, NC_FILL_INT)))
        wrong = "the variable of fixed size is wrong";
    nc_close(id);
    return wrong;
}

class Netcdf4Append : public testing::TestWithParam<Second> {};

TEST_P(Netcdf4Append, AKilledRunLeavesWhatWasThereAndWhatItHadCounted) {
    const Second run = GetParam();
    kills::Shared memory;
    const std::string path = kills::path_of("netcdf4_append");
    make_file(path);
    const std::string original = path + ".original";
    std::filesystem::copy_file(path, original, std::filesystem::copy_options::overwrite_existing);
    const auto write = [&] { write_on(path, run); };
    ASSERT_EQ(kills::in_child(write, -1), 0);
    const std::int64_t all = run.kept + added;
    ASSERT_EQ(look(path, all, all, all), "");
    const long calls = kills::shared->calls;
    int undone = 0, killed = 0;
    // Kill the run at each call while the file is opened and closed, and at some of the calls in
    // between.
    for (long n = 0; n < calls; n += n < 50 || n > calls - 50 ? 1 : 5) {
        std::filesystem::copy_file(original, path,
                                   std::filesystem::copy_options::overwrite_existing);
        const int status = kills::in_child(write, n);
        ASSERT_TRUE(WIFSIGNALED(status)) << status;
        ++killed;
        SCOPED_TRACE(fmt::format("killed before call {} of {}, {} records counted", n, calls,
                                 kills::shared->counted));
        const bool changing = has_undo(path);
        if (changing) {
            // If the library cannot read the file, compare with the contents that are expected.
            Status seen;
            EXPECT_EQ(open_source(*make_serial_comm(), path, false, seen), nullptr);
            EXPECT_EQ(seen.code, TW_EINUSE) << seen.text;
            bool done = false;
            ASSERT_TRUE(undo(path, done).ok());
            ASSERT_TRUE(done);
            ++undone;
        }
        const bool counted = kills::shared->counted >= 0;
        const std::int64_t least = counted ? kills::shared->counted : run.kept;
        // A run killed before it first counts its records may leave all `before` old records. A run
        // killed while it counts may have counted one more than it has reported.
        const std::int64_t most = counted ? least + 1 : std::max(before, run.kept + 1);
        ASSERT_EQ(look(path, least, most, least), "");
        Committed found;
        const Status whole = find_committed(path, found);
        ASSERT_TRUE(whole.ok()) << whole.text;
        if (n % 7 != 0) continue;  // test sometimes that the file can be continued
        ASSERT_EQ(kills::in_child(write, -1), 0);
        ASSERT_EQ(look(path, all, all, all), "");
    }
    EXPECT_GT(killed, 40);
    const bool together = run.kept < before || run.attributes;
    EXPECT_EQ(undone > 0, together);
    std::filesystem::remove(path);
    std::filesystem::remove(original);
}

INSTANTIATE_TEST_SUITE_P(Runs, Netcdf4Append,
                         testing::Values(Second{before, true, true}, Second{4, false, true},
                                         Second{0, false, false}));

}  // namespace
}  // namespace netcdf4_append_killed
