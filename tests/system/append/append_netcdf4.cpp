// Tests continuing netCDF-4 files: contents of other libraries, files that cannot be continued, and
// the treatment of attributes.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "append.hpp"
#include "append_file.hpp"
#include "system/compare.hpp"

using namespace append_file;  // NOLINT: functions for the file that the tests continue

namespace {

void nothing(int, int, int, bool) {}

/// Adds one record.
void add_one(const char* settings = "mode=append") {
    tw_file file = append(settings);
    define(file);
    step(file, 3);
    OK(tw_close(&file));
    expect_file(__LINE__, {0, 1, 2, 3}, 9);
}

/// Tests files that cannot be continued. The message must name the variable and the reason.
void refusals() {
    tw_file file = nullptr;
    const auto refuse = [&](const std::string& words, auto&& more) {
        make_by_netcdf(more);
        on_rank_0([] {
            std::filesystem::copy_file(path, path + ".copy",
                                       std::filesystem::copy_options::overwrite_existing);
        });
        REFUSED(tw_open(session, path.c_str(), "mode=append", &file), TW_EUNSUPPORTED, words);
        CHECK(file == nullptr);
        on_rank_0([&] { CHECK(difference(path + ".copy", path).empty()); });
    };
    refuse("variable 'T': its elements are big-endian", [](int id, int t, int, bool put) {
        if (!put) NC(nc_def_var_endian(id, t, NC_ENDIAN_BIG));
    });
    refuse("variable 'h': its storage in HDF5 is compact", [](int id, int, int h, bool put) {
        if (!put) NC(nc_def_var_chunking(id, h, NC_COMPACT, nullptr));
    });
    refuse("variable 'both': it has several unlimited dimensions", [](int id, int, int, bool put) {
        int dims[2] = {}, v = 0;
        if (put) return;
        NC(nc_def_dim(id, "other", NC_UNLIMITED, &dims[1]));
        NC(nc_inq_dimid(id, "time", &dims[0]));
        NC(nc_def_var(id, "both", NC_INT, 2, dims, &v));
    });
    refuse("variable 'second': the record dimension is not its first one",
           [](int id, int, int, bool put) {
               int dims[2] = {}, v = 0;
               if (put) return;
               NC(nc_inq_dimid(id, "x", &dims[0]));
               NC(nc_inq_dimid(id, "time", &dims[1]));
               NC(nc_def_var(id, "second", NC_INT, 2, dims, &v));
           });
    make_by_netcdf(nothing);
    REFUSED(tw_open(session, path.c_str(), "mode=append; format=netcdf4-classic", &file),
            TW_ESETTING, "the file has format netcdf4");
    refuse_others("netcdf4", "cdf5", "posix");
    expect_file(__LINE__, {0, 1, 2}, 9);
    on_rank_0([] { std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8); });
    REFUSED(tw_open(session, path.c_str(), "mode=append", &file), TW_EFORMAT, "truncated");
}

/// Tests that strings, groups and user-defined types stay as they are.
void left_alone() {
    const auto more = [](int id, int, int, bool put) {
        static int names = 0, group = 0, its = 0, obs = 0, reading = 0;
        const char* words[] = {"a", "bc"};
        if (!put) {
            int dims[2] = {};
            NC(nc_inq_dimid(id, "time", &dims[0]));
            NC(nc_def_dim(id, "two", 2, &dims[1]));
            NC(nc_def_var(id, "names", NC_STRING, 1, &dims[1], &names));
            NC(nc_def_dim(id, "obs", NC_UNLIMITED, &obs));
            NC(nc_def_var(id, "reading", NC_INT, 1, &obs, &reading));
            NC(nc_put_att_string(id, NC_GLOBAL, "authors", 2, words));
            NC(nc_put_att_string(id, names, "one", 1, words));
            NC(nc_def_grp(id, "group", &group));
            NC(nc_def_var(group, "inner", NC_INT, 1, &dims[1], &its));
            return;
        }
        const int values[] = {4, 5, 6};
        const std::size_t start = 0, count = 3;
        NC(nc_put_var_string(id, names, words));
        NC(nc_put_vara_int(id, reading, &start, &count, values));
        NC(nc_put_var_int(group, its, values));
    };
    make_by_netcdf(more);
    tw_file file = append();
    define(file);
    OK(tw_def_dim(file, "obs", 3));
    OK(tw_def_var(file, "reading", TW_INT, "obs", nullptr));
    OK(tw_put_att_text(file, "", "history", "second run"));
    step(file, 3);
    const int other = 50;
    const std::int64_t start = 1, count = rank() == 0 ? 1 : 0;
    OK(tw_put_box(file, "reading", TW_INT, &start, &count, nullptr, &other));
    OK(tw_close(&file));
    expect_file(__LINE__, {0, 1, 2, 3}, 9);
    inside([](int id) {
        int group = 0;
        char* words[2] = {};
        NC(nc_get_var_string(id, number_of(id, "names"), words));
        CHECK(std::strcmp(words[0], "a") == 0 && std::strcmp(words[1], "bc") == 0);
        nc_free_string(2, words);
        NC(nc_get_att_string(id, NC_GLOBAL, "authors", words));
        CHECK(std::strcmp(words[1], "bc") == 0);
        nc_free_string(2, words);
        int values[3] = {};
        NC(nc_get_var_int(id, number_of(id, "reading"), values));
        CHECK(values[0] == 4 && values[1] == 50 && values[2] == 6);
        NC(nc_inq_grp_ncid(id, "group", &group));
        NC(nc_get_var_int(group, 0, values));
        CHECK(values[0] == 4 && values[1] == 5);
    });
    // The model cannot define variables that the library cannot write.
    file = append();
    define(file);
    OK(tw_def_dim(file, "obs", 3));
    OK(tw_def_var(file, "reading", TW_INT, "obs", nullptr));
    OK(tw_def_dim(file, "two", 2));
    OK(tw_def_var(file, "names", TW_CHAR, "two", nullptr));
    REFUSED(tw_enddef(file), TW_EDIFFERENT,
            "variable 'names', which cannot be written: it is of type string");
    CHECK(tw_close(&file) == TW_EDIFFERENT);

    // Record variables that are not written keep their values.
    make_by_netcdf([](int id, int, int, bool put) {
        int time = 0, group = 0, v = 0;
        if (put) return;
        NC(nc_inq_dimid(id, "time", &time));
        NC(nc_def_grp(id, "group", &group));
        NC(nc_def_var(group, "inner", NC_INT, 1, &time, &v));
    });
    add_one();
    file = append();
    define(file);
    OK(tw_set_record(file, 1, TW_DROP_LATER));
    REFUSED(tw_enddef(file), TW_EUNSUPPORTED, "records cannot be dropped: variable 'group/inner'");
    CHECK(tw_close(&file) == TW_EUNSUPPORTED);
    expect_file(__LINE__, {0, 1, 2, 3}, 9);
}

/// Tests that attributes are set which the file lacks or has with other values, including long
/// attributes and many of them.
void attributes(const char* settings) {
    const auto more = [](int id, int t, int, bool put) {
        if (put) return;
        for (int i = 0; i < 12; ++i)  // more attributes than HDF5 keeps in the header of a variable
            NC(nc_put_att_int(id, t, ("a" + std::to_string(i)).c_str(), NC_INT, 1, &i));
        NC(nc_put_att_text(id, NC_GLOBAL, "history", 9, "first run"));
        NC(nc_put_att_text(id, NC_GLOBAL, "empty", 0, ""));
    };
    const std::string text_long(70000, 'l'), text_middle(5000, 'm');
    make_by_netcdf(more);
    for (int run = 0; run < 2; ++run) {
        tw_file file = append(settings);
        define(file);
        OK(tw_put_att_text(file, "", "history", run == 0 ? "second run" : "a third run"));
        OK(tw_put_att_text(file, "T", "long", text_long.c_str()));
        OK(tw_put_att_text(file, "h", "middle", text_middle.c_str()));
        const int changed = 70 + run;
        OK(tw_put_att(file, "T", "a7", TW_INT, 1, &changed));
        step(file, 3 + run);
        const double numbers[3] = {1.5, 2.5, 3.5};
        OK(tw_put_att(file, "", "numbers", TW_DOUBLE, 3, numbers));
        OK(tw_put_att_text(file, "", "nothing", ""));
        OK(tw_close(&file));
    }
    expect_file(__LINE__, {0, 1, 2, 3, 4}, 9);
    inside([&](int id) {
        const int t = number_of(id, "T"), h = number_of(id, "h");
        const auto text_of = [&](int v, const char* name) {
            std::size_t n = 0;
            NC(nc_inq_attlen(id, v, name, &n));
            std::string found(n, ' ');
            NC(nc_get_att_text(id, v, name, found.data()));
            return found;
        };
        CHECK(text_of(NC_GLOBAL, "history") == "a third run");
        CHECK(text_of(NC_GLOBAL, "nothing").empty());
        CHECK(text_of(t, "long") == text_long);
        CHECK(text_of(h, "middle") == text_middle);
        for (int i = 0; i < 12; ++i) {
            int found = 0;
            NC(nc_get_att_int(id, t, ("a" + std::to_string(i)).c_str(), &found));
            CHECK(found == (i == 7 ? 71 : i));
        }
        double found[3] = {};
        NC(nc_get_att_double(id, NC_GLOBAL, "numbers", found));
        CHECK(found[0] == 1.5 && found[2] == 3.5);
    });
}

/// Appends to a variable with the name of its second dimension, which HDF5 stores under another
/// name, and to a record variable with the name of the record dimension.
void names() {
    on_rank_0([] {
        int id = 0, dims[2] = {}, v = 0;
        NC(nc_create(path.c_str(), NC_CLOBBER | NC_NETCDF4, &id));
        NC(nc_def_dim(id, "time", NC_UNLIMITED, &dims[0]));
        NC(nc_def_dim(id, "x", length(), &dims[1]));
        NC(nc_def_var(id, "x", NC_FLOAT, 2, dims, &v));
        NC(nc_def_var(id, "time", NC_DOUBLE, 1, &dims[0], &v));
        NC(nc_close(id));
    });
    tw_file file = append();
    OK(tw_def_var(file, "x", TW_FLOAT, "time x", line));
    OK(tw_def_var(file, "time", TW_DOUBLE, "time", nullptr));
    for (int r = 0; r < 3; ++r) {
        const double now = r;
        OK(put(file, "x", r));
        OK(tw_put(file, "time", TW_DOUBLE, &now, 1));
        OK(tw_end_step(file));
    }
    OK(tw_close(&file));
    inside([](int id) {
        std::vector<float> x(3 * length());
        double time[3] = {};
        NC(nc_get_var_float(id, 0, x.data()));
        NC(nc_get_var_double(id, 1, time));
        CHECK(x[length() + 1] == value(1, 1) && x[2 * length()] == value(2, 0));
        CHECK(time[0] == 0 && time[2] == 2);
    });
}

/// Tests that the file's quantization applies to the new data.
void quantized() {
    make_by_netcdf([](int id, int t, int, bool put) {
        if (!put) NC(nc_def_var_quantize(id, t, NC_QUANTIZE_BITGROOM, 3));
        if (!put) NC(nc_def_var_deflate(id, t, 1, 1, 1));
    });
    tw_file file = append();
    define(file);
    step(file, 2);  // put the same values again, as record 3
    OK(tw_close(&file));
    inside([](int id) {
        CHECK(record_of(id, 3) == record_of(id, 2));
        CHECK(record_of(id, 3)[1] != value(2, 1));
    });
    // Storage settings of the model do not change those of the file.
    file = append();
    define(file);
    OK(tw_set_var(file, "T", "zstd=3; quantize=no"));
    step(file, 2);
    OK(tw_close(&file));
    inside([](int id) { CHECK(record_of(id, 4) == record_of(id, 2)); });
}

/// Tests that a fill value without the attribute _FillValue stays in the file and is used for new
/// records.
void filled() {
    for (const char* format : {"format=netcdf4", "format=netcdf4; deflate=1"}) {
        tw_file file = nullptr;
        OK(tw_create(session, path.c_str(), format, &file));
        define(file);
        OK(tw_set_var(file, "T", "fill=7.5"));
        step(file, 0);
        OK(tw_close(&file));
        for (const bool again : {false, true}) {
            file = append();
            define(file);
            if (again) OK(tw_set_var(file, "T", "fill=7.5"));
            OK(tw_end_step(file));
            OK(tw_close(&file));
        }
        inside([](int id) {
            CHECK(record_of(id, 0)[1] == value(0, 1));
            CHECK(record_of(id, 1)[1] == 7.5F && record_of(id, 2)[1] == 7.5F);
        });
        file = append();
        define(file);
        OK(tw_set_var(file, "T", "fill=8.5"));
        REFUSED(tw_enddef(file), TW_EDIFFERENT, "setting fill=8.5 of 'T' in the model, but the");
        CHECK(tw_close(&file) == TW_EDIFFERENT);
    }
}

/// Tests that the file stays as it is if nothing is written.
void untouched() {
    make_by_netcdf([](int id, int t, int, bool put) {
        int time = 0, v = 0;
        NC(nc_inq_dimid(id, "time", &time));
        // a variable without records
        if (!put) NC(nc_def_var(id, "short", NC_INT, 1, &time, &v));
        if (!put) NC(nc_def_var_deflate(id, t, 1, 1, 1));
    });
    on_rank_0([] {
        std::filesystem::copy_file(path, path + ".copy",
                                   std::filesystem::copy_options::overwrite_existing);
    });
    for (const char* settings : {"mode=append", "mode=append; service=background"}) {
        tw_file file = append(settings);
        define(file);
        OK(tw_def_var(file, "short", TW_INT, "time", nullptr));
        OK(tw_close(&file));
        on_rank_0([&] { CHECK(difference(path + ".copy", path).empty()); });
    }
    // An earlier record of this variable can be put; its other records have fill values.
    tw_file file = append();
    define(file);
    OK(tw_def_var(file, "short", TW_INT, "time", nullptr));
    const int seven = 7;
    OK(tw_put_record(file, "short", nullptr, 1, TW_INT, &seven, 1));
    OK(tw_close(&file));
    expect_file(__LINE__, {0, 1, 2}, 9);
    inside([](int id) {
        int found[3] = {};
        NC(nc_get_var_int(id, number_of(id, "short"), found));
        CHECK(found[0] == NC_FILL_INT && found[1] == 7 && found[2] == NC_FILL_INT);
    });
}

}  // namespace

void appended_netcdf4() {
    refusals();
    left_alone();
    for (const char* settings :
         {"mode=append", "mode=append; service=background", "mode=append; durable=yes"})
        attributes(settings);
    names();
    quantized();
    filled();
    untouched();
}
