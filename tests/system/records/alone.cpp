// Sections that a rank writes by itself, between puts of the same variable by other calls.
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>
#include <thalweg/alone.h>

#include <cstdint>
#include <string>
#include <vector>

#include "system/calls.hpp"

using calls::session;

namespace {

using Values = std::vector<double>;

constexpr std::int64_t columns = 9001, rows_each = 6;
const int &rank = check::state.rank, &ranks = check::state.size;
std::string folder;

double value(std::int64_t row, std::int64_t column, int of) {
    return static_cast<double>(of * 100000 + row * 1000 + column % 997);
}

/// Rows of this rank, counted from its first one, with the columns from `first` on.
struct Section {
    std::int64_t start[2], count[2];
    Values values;

    Section(std::int64_t row, std::int64_t rows, std::int64_t first, std::int64_t width, int of)
        : start{rank * rows_each + row, first}, count{rows, width} {
        for (std::int64_t r = 0; r < rows; ++r)
            for (std::int64_t c = 0; c < width; ++c)
                values.push_back(value(start[0] + r, first + c, of));
    }
    int put(tw_file file, const char* name) const {
        return tw_put_box(file, name, TW_DOUBLE, start, count, nullptr, values.data());
    }
    int put_alone(tw_file file, const char* name) const {
        return tw_put_box_as(file, name, TW_DOUBLE, start, count, nullptr, values.data(), TW_ALONE);
    }
};

tw_file define(const std::string& path, const std::string& settings) {
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), settings.c_str(), &file));
    OK(tw_def_dim(file, "time", TW_UNLIMITED));
    OK(tw_def_dim(file, "row", rows_each * ranks));
    OK(tw_def_dim(file, "column", columns));
    OK(tw_def_var(file, "hole", TW_FLOAT, "row column", nullptr));
    OK(tw_def_var(file, "filled", TW_DOUBLE, "row column", nullptr));
    OK(tw_def_var(file, "record", TW_DOUBLE, "time row column", nullptr));
    OK(tw_set_var(file, "hole", "fill=none"));
    OK(tw_enddef(file));
    return file;
}

/// Some ranks write much by themselves, others nothing; all put small sections and, at last, the
/// rows of which no rank has written any.
void written(const std::string& format) {
    const std::string path = folder + "/alone.nc";
    const tw_file made = define(path, "service=inline; format=" + format);
    tw_file file = made;
    const bool writes = rank % 2 == 0;
    if (writes) OK(Section(0, 3, 0, columns, 1).put_alone(file, "hole"));
    OK(Section(1, 1, 40, 20, 2).put(file, "hole"));  // over it
    const Section later(1, 1, 0, columns, 3);
    CHECK(later.put_alone(file, "hole") == TW_EUNSUPPORTED);  // the put before it waits
    OK(tw_end_step(file));
    if (writes) OK(Section(2, 1, 100, 5000, 4).put_alone(file, "hole"));
    OK(Section(4, 2, 0, columns, 5).put(file, "hole"));
    OK(tw_close(&file));

    OK(tw_open(session, path.c_str(), nullptr, &file));
    Values got(static_cast<std::size_t>(rows_each * columns), -1), wanted;
    const std::int64_t start[] = {rank * rows_each, 0}, count[] = {rows_each, columns};
    OK(tw_get_box(file, "hole", TW_DOUBLE, start, count, nullptr, got.data()));
    for (std::int64_t r = 0; r < rows_each; ++r)
        for (std::int64_t c = 0; c < columns; ++c) {
            int of = r >= 4 ? 5 : r < 3 && writes ? 1 : 0;
            if (r == 1 && c >= 40 && c < 60) of = 2;
            if (r == 2 && writes && c >= 100 && c < 5100) of = 4;
            wanted.push_back(of == 0 ? 0 : value(start[0] + r, c, of));
        }
    CHECK(got == wanted);
    OK(tw_close(&file));
}

/// A byte in a classic file may be unsigned, as in other puts.
void unsigned_bytes() {
    tw_file file = nullptr;
    OK(tw_create(session, (folder + "/bytes.nc").c_str(), "service=inline; format=cdf2", &file));
    OK(tw_def_dim(file, "rank", ranks));
    OK(tw_def_var(file, "byte", TW_BYTE, "rank", nullptr));
    OK(tw_set_var(file, "byte", "fill=none"));
    OK(tw_enddef(file));
    const std::int64_t start = rank, count = 1;
    const unsigned char high = 200;
    unsigned char got = 0;
    OK(tw_put_box_as(file, "byte", TW_UBYTE, &start, &count, nullptr, &high, TW_ALONE));
    OK(tw_close(&file));
    OK(tw_open(session, (folder + "/bytes.nc").c_str(), nullptr, &file));
    OK(tw_get_box(file, "byte", TW_UBYTE, &start, &count, nullptr, &got));
    CHECK(got == high);
    OK(tw_close(&file));
}

/// Calls that are not possible write nothing.
void unsupported() {
    for (const char* settings :
         {"service=inline; format=cdf5", "service=background; format=cdf5",
          "service=inline; format=netcdf4", "service=inline; format=netcdf4; deflate=1",
          "service=inline; format=cdf5; checksums=yes"}) {
        check::step(settings);
        tw_file file = define(folder + "/unsupported.nc", settings);
        const Section section(0, 2, 0, columns, 1);
        CHECK(section.put_alone(file, "filled") == TW_EUNSUPPORTED);
        const std::string list = settings;
        const bool possible =
            list == "service=inline; format=cdf5" || list == "service=inline; format=netcdf4";
        CHECK(section.put_alone(file, "hole") == (possible ? TW_OK : TW_EUNSUPPORTED));
        const std::int64_t start[] = {0, 0, 0}, count[] = {1, 1, columns};
        CHECK(tw_put_box_as(file, "record", TW_DOUBLE, start, count, nullptr, section.values.data(),
                            TW_ALONE) == TW_EUNSUPPORTED);
        const std::int64_t beyond[] = {rows_each * ranks, 0};
        CHECK(tw_put_box_as(file, "hole", TW_DOUBLE, beyond, section.count, nullptr,
                            section.values.data(), TW_ALONE) == TW_EBOUNDS);
        OK(tw_close(&file));
    }
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    folder = check::make_folder("alone");
    for (const char* settings : {"", "writers=1", "node_size=2"}) {
        OK(tw_init(MPI_COMM_WORLD, settings, &session));
        for (const char* format : {"cdf5", "netcdf4"}) written(format);
        unsigned_bytes();
        unsupported();
        OK(tw_finalize(&session));
    }
    return check::verdict("alone");
}
