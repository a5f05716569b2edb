// Tests continuing sets of tiles.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "append.hpp"
#include "append_file.hpp"

using namespace append_file;  // NOLINT: functions for the files that the tests continue

namespace {

int parts() { return std::min(2, ranks()); }
std::string tile(int k) { return path + ".000" + std::to_string(k); }

std::string settings_of(const std::string& more) {
    return "method=tiles; files=tiles; tiles=" + std::to_string(parts()) + "x1; " + more;
}

void make_set(const std::string& more, int records = 3) {
    on_rank_0([] { std::filesystem::remove(path); });
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), settings_of(more).c_str(), &file));
    define(file);
    OK(tw_put_att_text(file, "", "history", "first run"));
    OK(put(file, "h", 9));
    for (int r = 0; r < records; ++r) step(file, r);
    OK(tw_close(&file));
}

/// Checks the records and h, reading the set by the library.
void expect_set(int source_line, const std::vector<int>& records, int h) {
    tw_file file = nullptr;
    check::step("line {}", source_line);
    OK(tw_open(session, path.c_str(), nullptr, &file));
    tw_file_info info{};
    OK(tw_inq(file, &info));
    CHECK_TEXT(info.records == static_cast<std::int64_t>(records.size()), "line {}: {} records",
               source_line, info.records);
    float got[2] = {};
    const auto expect = [&](int record) {
        CHECK_TEXT(got[0] == value(record, 2 * rank()) && got[1] == value(record, 2 * rank() + 1),
                   "line {}: record {} is {} {}", source_line, record, double(got[0]),
                   double(got[1]));
    };
    for (std::int64_t r = 0; r < info.records; ++r) {
        OK(tw_get(file, "T", line, r, TW_FLOAT, got, 2));
        expect(records[static_cast<std::size_t>(r)]);
    }
    OK(tw_get(file, "h", line, 0, TW_FLOAT, got, 2));
    expect(h);
    OK(tw_close(&file));
}

void add(const char* settings, int record, int from = -1) {
    tw_file file = append(settings);
    define(file);
    if (from >= 0) OK(tw_set_record(file, from, TW_DROP_LATER));
    step(file, record);
    OK(tw_put_att_text(file, "", "history", "second run, with more words"));
    OK(tw_put_att_text(file, "T", "units", "K"));
    OK(tw_close(&file));
}

void sets(const std::string& format) {
    make_set(format);
    add("mode=append", 3);
    expect_set(__LINE__, {0, 1, 2, 3}, 9);
    add("mode=append; service=background", 4);
    expect_set(__LINE__, {0, 1, 2, 3, 4}, 9);
    // The setting "method" is ignored, because the file is a set of tiles.
    add("mode=append; method=direct; durable=yes", 7, 1);
    expect_set(__LINE__, {0, 7}, 9);
    on_rank_0([] {
        for (int k = 0; k < parts(); ++k) {
            int id = 0;
            char words[60] = {};
            NC(nc_open(tile(k).c_str(), NC_NOWRITE, &id));
            NC(nc_get_att_text(id, NC_GLOBAL, "history", words));
            CHECK(std::string(words) == "second run, with more words");
            nc_close(id);
        }
    });
    tw_file file = nullptr;
    const auto refused_settings = [&](const char* settings, const std::string& words) {
        file = append(settings);
        define(file);
        REFUSED(tw_enddef(file), TW_ESETTING, words);
        CHECK(tw_close(&file) == TW_ESETTING);
    };
    refused_settings("mode=append; tiles=5x1", "setting tiles is 5x1, but the files are");
    expect_set(__LINE__, {0, 7}, 9);
    if (parts() < 2) return;
    refused_settings("mode=append; writers=1", "2 tiles need as many writers; there are only 1");
    // A killed run has counted a record in only one of the files.
    on_rank_0([] { std::filesystem::copy_file(tile(1), tile(1) + ".old"); });
    add("mode=append", 8);
    expect_set(__LINE__, {0, 7, 8}, 9);
    on_rank_0([] { std::filesystem::rename(tile(1) + ".old", tile(1)); });
    REFUSED(tw_open(session, path.c_str(), nullptr, &file), TW_EFORMAT,
            "has 2 records along dimension 'time'");
    add("mode=append", 6);
    expect_set(__LINE__, {0, 7, 6}, 9);
    // A file of the set is missing, or is replaced by another one.
    on_rank_0([] { std::filesystem::rename(tile(1), tile(1) + ".old"); });
    REFUSED(tw_open(session, path.c_str(), "mode=append", &file), TW_EIO, tile(1));
    on_rank_0([] { std::filesystem::copy_file(tile(0), tile(1)); });
    REFUSED(tw_open(session, path.c_str(), "mode=append", &file), TW_EFORMAT,
            "is the same part of the whole as");
    on_rank_0([] {
        std::filesystem::remove(tile(1));
        std::filesystem::rename(tile(1) + ".old", tile(1));
    });
    tw_file other = nullptr;
    file = append();
    REFUSED(tw_open(session, path.c_str(), "mode=append", &other), TW_EINUSE, "open in this");
    REFUSED(tw_open(session, (path + ".none").c_str(), "mode=append", &other), TW_EIO, "No such");
    define(file);
    OK(tw_close(&file));
    expect_set(__LINE__, {0, 7, 6}, 9);
}

/// Makes files as FMS does: an attribute of the coordinate variable contains the indices of the
/// whole dimension and of the tile.
void foreign_set(int mode) {
    on_rank_0([&] {
        for (int k = 0; k < parts(); ++k) {
            const int all = 2 * ranks(), begin = k * 2, end = k + 1 < parts() ? 2 : all;
            const auto n = static_cast<std::size_t>(end - begin);
            int id = 0, dims[2] = {}, x = 0, t = 0, h = 0;
            nc_create(tile(k).c_str(), NC_CLOBBER | mode, &id);
            nc_def_dim(id, "x", n, &dims[1]);
            nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]);
            nc_def_var(id, "x", NC_DOUBLE, 1, &dims[1], &x);
            nc_def_var(id, "h", NC_FLOAT, 1, &dims[1], &h);
            nc_def_var(id, "T", NC_FLOAT, 2, dims, &t);
            const int indices[4] = {1, all, begin + 1, end}, files = parts();
            nc_put_att_int(id, x, "domain_decomposition", NC_INT, 4, indices);
            nc_put_att_int(id, NC_GLOBAL, "NumFilesInSet", NC_INT, 1, &files);
            nc_enddef(id);
            std::vector<float> values(n);
            for (const int r : {0, 1, 9}) {
                for (std::size_t i = 0; i < n; ++i)
                    values[i] = value(r, begin + static_cast<std::int64_t>(i));
                const std::size_t start[2] = {static_cast<std::size_t>(r), 0}, count[2] = {1, n};
                if (r == 9)
                    nc_put_var_float(id, h, values.data());
                else
                    nc_put_vara_float(id, t, start, count, values.data());
            }
            CHECK(nc_close(id) == NC_NOERR);
        }
    });
    tw_file file = append();
    define(file);
    OK(tw_def_var(file, "x", TW_DOUBLE, "x", line));
    step(file, 2);
    OK(tw_close(&file));
    expect_set(__LINE__, {0, 1, 2}, 9);
}

}  // namespace

void appended_tiles() {
    const std::string before = path;
    path = folder + "/set.nc";
    for (const char* format : {"format=cdf5", "format=netcdf4", "format=netcdf4; deflate=1"})
        sets(format);
    for (const int mode : {0, NC_NETCDF4}) foreign_set(mode);
    path = before;
}
