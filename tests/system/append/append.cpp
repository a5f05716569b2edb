// Tests files that cannot be continued, definitions that differ, and what other programs see while
// a file is continued. Each error must have the same code and message on all ranks, and must not
// change the file. Random files are continued by tests/system/records/batches.cpp.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "append.hpp"
#include "append_file.hpp"
#include "system/compare.hpp"
#include "system/pnetcdf.hpp"

using namespace append_file;  // NOLINT: functions for the file that the tests continue

namespace {

/// Definitions that differ from the file's are refused by the call that ends the definitions, and
/// change nothing.
template <class Define>
void different(int line_number, const std::string& words, Define&& define_otherwise) {
    on_rank_0([] {
        std::filesystem::copy_file(path, path + ".copy",
                                   std::filesystem::copy_options::overwrite_existing);
    });
    tw_file file = append();
    define_otherwise(file);
    check::step("line {}", line_number);
    judge_all(__FILE__, line_number, "tw_enddef", tw_enddef(file), TW_EDIFFERENT, words);
    CHECK(put(file, "T", 0) == TW_EDIFFERENT);
    judge_all(__FILE__, line_number, "tw_close", tw_close(&file), TW_EDIFFERENT, words);
    on_rank_0([&] {
        const std::string what = difference(path + ".copy", path);
        CHECK_TEXT(what.empty(), "line {}: {}", line_number, what);
    });
}

void definitions() {
    make();
    different(__LINE__, "has variable 'h', but the model does not define it",
              [](tw_file f) { OK(tw_def_var(f, "T", TW_FLOAT, "time x", line)); });
    different(__LINE__, "defines variable 'U'", [](tw_file f) {
        define(f);
        OK(tw_def_var(f, "U", TW_FLOAT, "time x", line));
    });
    different(__LINE__, "variable 'h' is float h(x) in the file, but double h(x) in the model",
              [](tw_file f) {
                  OK(tw_def_var(f, "T", TW_FLOAT, "time x", line));
                  OK(tw_def_var(f, "h", TW_DOUBLE, "x", line));
              });
    different(__LINE__, "float h(x) in the file, but float h(time, x) in the model", [](tw_file f) {
        OK(tw_def_var(f, "T", TW_FLOAT, "time x", line));
        OK(tw_def_var(f, "h", TW_FLOAT, "time x", line));
    });
    different(__LINE__, "dimension 'y', which has length 4", [](tw_file f) {
        define(f);
        OK(tw_def_dim(f, "y", 4));
    });
    different(__LINE__, "dimension 'x' has length", [](tw_file f) {
        OK(tw_def_dim(f, "x", 2 * ranks() + 1));
        OK(tw_def_var(f, "h", TW_FLOAT, "x", nullptr));
    });
    different(__LINE__, "dimension 'time' is unlimited in the file, but has length 3",
              [](tw_file f) { OK(tw_def_dim(f, "time", 3)); });
    different(__LINE__,
              "attribute of 'T' '_FillValue' = float 5 in the model, but none in the file",
              [](tw_file f) {
                  define(f);
                  const float fill = 5;
                  OK(tw_put_att(f, "T", "_FillValue", TW_FLOAT, 1, &fill));
              });
    different(__LINE__, "has variable 'T'", [](tw_file) {});
}

void whereabouts() {
    make();
    tw_file file = append(), other = nullptr;
    REFUSED(tw_open(session, path.c_str(), "mode=append", &other), TW_EINUSE, "open in this");
    REFUSED(tw_create(session, path.c_str(), nullptr, &other), TW_EINUSE, "open in this");
    CHECK(tw_set_record(file, 4, TW_KEEP_LATER) == TW_EBOUNDS);
    CHECK(text().find("record 4; the file has 3") != std::string::npos);
    CHECK(tw_set_record(file, -1, TW_KEEP_LATER) == TW_EBOUNDS);
    CHECK(tw_set_record(file, 1, static_cast<tw_later>(5)) == TW_EARG);
    const char* name = nullptr;
    tw_file_info info{};
    int nd = 0;
    std::int64_t length = 0;
    OK(tw_inq(file, &info));
    CHECK(std::string(info.format) == "cdf2" && info.ndims == 2 && info.nvars == 2 &&
          info.natts == 1 && info.records == 3);
    OK(tw_inq_name(file, TW_VARIABLE, nullptr, 1, &name));
    CHECK(std::string(name) == "h");
    OK(tw_inq_var(file, "T", nullptr, &nd, nullptr));
    OK(tw_inq_dim(file, "time", &length));
    CHECK(nd == 2 && length == 3);
    std::vector<char> said(10);
    OK(tw_get_att_text(file, "", "history", 10, said.data()));
    CHECK(std::string(said.data()) == "first run");
    float got[2];
    CHECK(tw_get(file, "T", line, 0, TW_FLOAT, got, 2) == TW_ESTATE);
    define(file);
    OK(tw_enddef(file));
    CHECK(tw_set_record(file, 1, TW_KEEP_LATER) == TW_ESTATE);
    OK(tw_close(&file));
    expect_file(__LINE__, {0, 1, 2}, 9);

    REFUSED(tw_create(session, path.c_str(), "mode=append", &file), TW_ESETTING, "tw_open");
    REFUSED(tw_open(session, path.c_str(), "mode=write", &file), TW_ESETTING, "read|append");
    REFUSED(tw_open(session, path.c_str(), "mode=append; method=tiles; files=tiles", &file),
            TW_ESETTING, "files is tiles, but there is no set of tiles of this name");
    refuse_others("cdf2", "cdf5", "netcdf4");
    OK(tw_create(session, (path + ".new").c_str(), nullptr, &file));
    CHECK(tw_set_record(file, 0, TW_KEEP_LATER) == TW_ESTATE);
    OK(tw_close(&file));
    if (ranks() > 1) {
        file = append();
        define(file);
        OK(tw_set_record(file, rank() == 0 ? 1 : 2, TW_KEEP_LATER));
        REFUSED(tw_enddef(file), TW_EMISMATCH, "first record 1, 3 kept on rank 0");
        CHECK(tw_close(&file) == TW_EMISMATCH);
    }
    expect_file(__LINE__, {0, 1, 2}, 9);
}

/// Tests files that cannot be continued.
void others() {
    const std::string missing = folder + "/missing.nc", odd = folder + "/odd.nc";
    tw_file file = nullptr;
    const auto refuse = [&](const std::string& name, int code, const std::string& words) {
        REFUSED(tw_open(session, name.c_str(), "mode=append", &file), code, words);
        CHECK(file == nullptr);
    };
    const auto contents = [&](const std::string& bytes) {
        on_rank_0([&] { std::ofstream(odd, std::ios::binary) << bytes; });
    };
    refuse(missing, TW_EIO, "No such file");
    refuse(folder, TW_EFORMAT, "directory");
    contents("");
    refuse(odd, TW_EFORMAT, "odd.nc");
    contents("time, T\n0, 273.15\n");
    refuse(odd, TW_EFORMAT, "does not begin with CDF");
    make();
    on_rank_0([] { std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8); });
    refuse(path, TW_EIO, "variable 'T': the file is truncated");
    on_rank_0([] { std::filesystem::resize_file(path, 1000); });
    refuse(path, TW_EIO, "truncated");
    if (geteuid() != 0) {  // root may write to any file
        make();
        on_rank_0([] { std::filesystem::permissions(path, std::filesystem::perms::owner_read); });
        refuse(path, TW_EIO, "Permission denied");
        on_rank_0([] { std::filesystem::permissions(path, std::filesystem::perms::owner_all); });
    }
}

/// Tests that records become visible when their steps end, not before, and that a killed run leaves
/// all records that were visible.
void meanwhile(const std::string& settings, const char* created = "format=cdf2") {
    check::step("{}; {}", settings, created);
    make(created);
    tw_file file = append(("mode=append; " + settings).c_str());
    define(file);
    OK(tw_enddef(file));
    expect_file(__LINE__, {0, 1, 2}, 9);
    OK(put(file, "T", 3));
    expect_file(__LINE__, {0, 1, 2}, 9);
    OK(tw_end_step(file));
    OK(tw_sync(file, 0));
    expect_file(__LINE__, {0, 1, 2, 3}, 9);
    OK(put(file, "h", 8));
    OK(tw_close(&file));
    expect_file(__LINE__, {0, 1, 2, 3}, 8);

    // Write from the second record on: the later records disappear at once.
    file = append(("mode=append; " + settings).c_str());
    define(file);
    OK(tw_set_record(file, 1, TW_DROP_LATER));
    expect_file(__LINE__, {0, 1, 2, 3}, 8);
    OK(tw_enddef(file));
    expect_file(__LINE__, {0}, 8);
    step(file, 5);
    OK(tw_sync(file, 0));
    expect_file(__LINE__, {0, 5}, 8);
    OK(tw_close(&file));
    expect_file(__LINE__, {0, 5}, 8);

    // Replace the first record: the other record stays.
    file = append(("mode=append; " + settings).c_str());
    define(file);
    OK(tw_set_record(file, 0, TW_KEEP_LATER));
    step(file, 6);
    OK(tw_sync(file, 0));
    expect_file(__LINE__, {6, 5}, 8);
    OK(tw_close(&file));
    expect_file(__LINE__, {6, 5}, 8);
}

/// Tests that the file of a killed run keeps its name, and that the record that was being written
/// is cut off.
void recovered() {
    make();
    tw_file file = append("mode=append; service=inline");
    define(file);
    step(file, 3);
    OK(put(file, "T", 4));
    on_rank_0([] {
        const std::string left = path;
        path += ".left";
        std::filesystem::copy_file(left, path);
        std::ofstream(path, std::ios::binary | std::ios::app) << "half a record";
        char said[300];
        CHECK_TEXT(tw_recover(path.c_str(), TW_KEEP_LONGER, said, sizeof said) == TW_OK, said);
        CHECK_TEXT(std::string(said).find("4 records recovered; 13 bytes") != std::string::npos,
                   said);
        CHECK(look({0, 1, 2, 3}, 9).empty());
        std::filesystem::remove(path);
        path = left;
    });
    OK(tw_close(&file));
    expect_file(__LINE__, {0, 1, 2, 3, 4}, 9);
}

/// Returns a file that no library would make: it has gaps, variables of odd size without padding,
/// and a header that counts no records. It has the fixed-size byte variables b and c, and the
/// record variables r (bytes) and s (shorts).
std::string foreign(std::uint32_t count, int records, int b) {
    const int n = ranks() + 1;  // odd numbers and others, so mostly no multiple of 4
    std::string bytes("CDF\1", 4);
    const auto number = [&](std::uint32_t value, int size = 4) {
        for (int i = size - 1; i >= 0; --i) bytes += static_cast<char>(value >> (8 * i));
    };
    const auto name = [&](std::string text) {
        number(static_cast<std::uint32_t>(text.size()));
        text.resize((text.size() + 3) / 4 * 4, '\0');
        bytes += text;
    };
    const int fixed = 1000, records_at = 1500;
    const int record_bytes = (n + 3) / 4 * 4 + (2 * n + 3) / 4 * 4;
    number(count);
    number(10);
    number(2);
    name("time");
    number(0);
    name("x");
    number(static_cast<std::uint32_t>(n));
    number(0);
    number(0);
    number(11);
    number(4);
    const auto variable = [&](const char* its_name, bool record, tw_type type, int begin) {
        name(its_name);
        number(record ? 2 : 1);
        if (record) number(0);
        number(1);
        number(0);
        number(0);
        number(static_cast<std::uint32_t>(type));
        number(0);  // vsize, which readers need not use
        number(static_cast<std::uint32_t>(begin));
    };
    variable("b", false, TW_BYTE, fixed);
    variable("c", false, TW_BYTE, fixed + n);
    variable("r", true, TW_BYTE, records_at);
    variable("s", true, TW_SHORT, records_at + n);
    bytes.resize(fixed, '#');
    for (const int first : {b, 50})
        for (int i = 0; i < n; ++i) bytes += static_cast<char>(first + i);
    bytes.resize(static_cast<std::size_t>(records_at), '#');
    for (int r = 0; r < records; ++r) {
        for (int i = 0; i < n; ++i) bytes += static_cast<char>(r + i);
        for (int i = 0; i < n; ++i) number(static_cast<std::uint32_t>(300 * r + i), 2);
        if (r >= 2 && n % 2 == 1) number(0x8001, 2);  // the format's padding: a fill value
        // The bytes after the padding are unchanged, or 0.
        bytes.resize(static_cast<std::size_t>(records_at + (r + 1) * record_bytes),
                     r < 2 ? '#' : '\0');
    }
    return bytes;
}

void foreign_layout(const std::string& settings) {
    constexpr std::uint32_t streaming = 0xffffffff;
    on_rank_0([] { std::ofstream(path, std::ios::binary) << foreign(streaming, 2, 10); });
    const std::int64_t n = ranks() + 1, start = rank(), count = rank() + 1 == ranks() ? 2 : 1;
    tw_decomposition cells = nullptr;
    OK(tw_decompose(session, "x", 1, &n, &start, &count, &cells));
    tw_file file = append(("mode=append; " + settings).c_str());
    std::int64_t records = 0;
    OK(tw_inq_dim(file, "time", &records));
    CHECK(records == 2);
    OK(tw_def_var(file, "s", TW_SHORT, "time x", cells));
    OK(tw_def_var(file, "r", TW_BYTE, "time x", cells));
    OK(tw_def_var(file, "c", TW_BYTE, "x", cells));
    OK(tw_def_var(file, "b", TW_BYTE, "x", cells));
    const auto put_from = [&](const char* name, int first) {
        const int values[2] = {first + rank(), first + rank() + 1};
        OK(tw_put(file, name, TW_INT, values, count));
    };
    put_from("b", 20);
    for (int r = 2; r < 4; ++r) {
        put_from("s", 300 * r);
        put_from("r", r);
        OK(tw_end_step(file));
    }
    OK(tw_close(&file));
    on_rank_0([&] {
        const std::string expected = path + ".expected";
        std::ofstream(expected, std::ios::binary) << foreign(4, 4, 20);
        const std::string what = difference(expected, path);
        CHECK_TEXT(what.empty(), "{}: {}", settings, what);
        std::filesystem::remove(expected);
    });
}

/// Tests that attributes are set which the file lacks or has with other values, and that all others
/// stay. If there is no space for them, the data are moved.
void attributes() {
    tw_file file = append();
    define(file);
    OK(tw_put_att_text(file, "", "history", "second run"));
    OK(tw_put_att_text(file, "T", "units", "K"));
    step(file, 3);
    OK(tw_put_att_text(file, "h", "units", "m"));
    OK(tw_close(&file));
    expect_file(__LINE__, {0, 1, 2, 3}, 9);
    OK(tw_open(session, path.c_str(), nullptr, &file));
    char said[20];
    OK(tw_get_att_text(file, "", "history", 20, said));
    CHECK(std::string(said) == "second run");
    OK(tw_get_att_text(file, "T", "units", 20, said));
    CHECK(std::string(said) == "K");
    OK(tw_get_att_text(file, "h", "units", 20, said));
    CHECK(std::string(said) == "m");
    OK(tw_close(&file));
}

void run() {
    decompose();
    definitions();
    whereabouts();
    others();
    for (const char* settings : {"method=record; writers=2", "method=direct", "storage=" PNETCDF,
                                 "storage=" PNETCDF_BLOCKING, "service=background", "durable=yes"})
        meanwhile(settings);
    for (const char* settings : {"method=record", "service=background", "durable=yes"})
        for (const char* created : {"format=netcdf4", "format=netcdf4-classic; deflate=1"})
            meanwhile(settings, created);
    appended_netcdf4();
    appended_tiles();
    recovered();
    for (const char* settings : {"method=record; alignment=1; writers=3", "method=direct",
                                 "method=slabs", "service=background"})
        foreign_layout(settings);
    make();
    attributes();
    for (const std::size_t pad : {0, 1000})
        for (const std::size_t align : {4, 512}) {
            make_by_netcdf(
                [](int id, int, int, bool put) {
                    if (!put) NC(nc_put_att_text(id, NC_GLOBAL, "history", 3, "run"));
                },
                0, pad, align);
            attributes();
        }
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    folder = check::make_folder("append");
    path = folder + "/calls.nc";
    in_session("log=off; node_size=3", run);
    return check::verdict("append");
}
