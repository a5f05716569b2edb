// Tests reading through the handle that writes a file, with every service and format: it returns
// the data that the last tw_sync has made readable, and no more. batches.cpp reads what random
// batches have written.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "system/calls.hpp"
#include "system/pnetcdf.hpp"

using namespace calls;  // NOLINT: for session, text() and the like

namespace {

constexpr std::int64_t ny = 14, nx = 9;

std::string folder;

int rank() { return check::state.rank; }
int ranks() { return check::state.size; }

float value(std::int64_t record, std::int64_t y, std::int64_t x) {
    return static_cast<float>(1000 * (record + 1) + 20 * y + x);
}

struct Written {
    std::string path;
    tw_decomposition rows = nullptr, columns = nullptr;
    std::int64_t low = 0, high = 0;   // range of this rank's rows
    std::int64_t west = 0, east = 0;  // range of this rank's columns
    tw_file file = nullptr;

    explicit Written(const std::string& settings) : path(folder + "/written.nc") {
        low = ny * rank() / ranks();
        high = ny * (rank() + 1) / ranks();
        west = nx * (ranks() - 1 - rank()) / ranks();
        east = nx * (ranks() - rank()) / ranks();
        const std::int64_t shape[] = {ny, nx}, turned[] = {nx, ny};
        const std::int64_t start[] = {low, 0}, count[] = {high - low, nx};
        const std::int64_t start2[] = {west, 0}, count2[] = {east - west, ny};
        OK(tw_decompose(session, "y x", 1, shape, start, count, &rows));
        OK(tw_decompose(session, "x y", 1, turned, start2, count2, &columns));
        OK(tw_create(session, path.c_str(), settings.c_str(), &file));
        define();
    }
    void define() {
        OK(tw_def_var(file, "T", TW_FLOAT, "time y x", rows));
        OK(tw_def_var(file, "h", TW_FLOAT, "y x", rows));
        OK(tw_def_dim(file, "letters", 5));
        OK(tw_def_var(file, "name", TW_CHAR, "letters", nullptr));
        OK(tw_put_att_text(file, "T", "units", "K"));
    }
    std::vector<float> own(std::int64_t record) const {
        std::vector<float> data;
        for (std::int64_t y = low; y < high; ++y)
            for (std::int64_t x = 0; x < nx; ++x) data.push_back(value(record, y, x));
        return data;
    }
    void put(const char* name, std::int64_t record) {
        const std::vector<float> data = own(record);
        OK(tw_put(file, name, TW_FLOAT, data.data(), static_cast<std::int64_t>(data.size())));
    }
    void step(std::int64_t record) {
        put("T", record);
        OK(tw_end_step(file));
    }
    int get_columns(const char* name, std::int64_t record, std::vector<float>& to) {
        to.assign(static_cast<std::size_t>((east - west) * ny), -1);
        return tw_get(file, name, columns, record, TW_FLOAT, to.data(),
                      static_cast<std::int64_t>(to.size()));
    }
    bool are_columns(const std::vector<float>& got, std::int64_t record) const {
        std::size_t at = 0;
        for (std::int64_t x = west; x < east; ++x)
            for (std::int64_t y = 0; y < ny; ++y)
                if (got[at++] != value(record, y, x)) return false;
        return true;
    }
    void check_record(std::int64_t record) {
        std::vector<float> got;
        OK(get_columns("T", record, got));
        CHECK(are_columns(got, record));
    }
    /// Reads another section on each rank, over all records, and checks it.
    void check_section(std::int64_t records) {
        const std::int64_t start[] = {0, rank() % ny, 1}, stride[] = {1, 3, 2};
        const std::int64_t count[] = {records, (ny - 1 - start[1]) / 3 + 1, 4};
        std::vector<double> got(static_cast<std::size_t>(records * count[1] * count[2]), -1);
        OK(tw_get_box(file, "T", TW_DOUBLE, start, count, stride, got.data()));
        bool good = true;
        std::size_t at = 0;
        for (std::int64_t r = 0; r < records; ++r)
            for (std::int64_t y = 0; y < count[1]; ++y)
                for (std::int64_t x = 0; x < count[2]; ++x)
                    good &= got[at++] == static_cast<double>(value(r, start[1] + 3 * y, 1 + 2 * x));
        CHECK(good);
    }
    std::int64_t records() {
        tw_file_info info{};
        OK(tw_inq(file, &info));
        return info.records;
    }
};

void check_inquiry(Written& w, const std::string& format) {
    const char* name = nullptr;
    int natts = -1, nd = 0;
    std::int64_t length = 0;
    tw_file_info info{};
    OK(tw_inq(w.file, &info));
    CHECK(info.ndims == 4 && info.nvars == 3 && info.natts == 0 && info.records == 2);
    CHECK(info.format != nullptr && format == info.format && info.ngroups == 0);
    CHECK(std::string(info.unlimited) == "time");
    OK(tw_inq_dim(w.file, "time", &length));
    CHECK(length == 2);
    OK(tw_inq_dim(w.file, "x", &length));
    CHECK(length == nx);
    tw_type type{};
    OK(tw_inq_var(w.file, "T", &type, &nd, &natts));
    CHECK(type == TW_FLOAT && nd == 3 && natts == 1);
    OK(tw_inq_var_dim(w.file, "T", 1, &name, &length));
    CHECK(std::string(name) == "y" && length == ny);
    OK(tw_inq_name(w.file, TW_VARIABLE, nullptr, 1, &name));
    CHECK(std::string(name) == "h");
    char units[8] = "";
    OK(tw_get_att_text(w.file, "T", "units", 8, units));
    CHECK(std::string(units) == "K");
    CHECK(tw_inq_var(w.file, "U", &type, &nd, &natts) == TW_ENOTFOUND);
}

void before_sync(Written& w) {
    std::vector<float> got(static_cast<std::size_t>(ny * nx));
    const std::int64_t start[] = {0, 0, 0}, count[] = {1, 1, 1};
    REFUSED(w.get_columns("T", 0, got), TW_ESTATE, "tw_sync");
    REFUSED(tw_get_box(w.file, "T", TW_FLOAT, start, count, nullptr, got.data()), TW_ESTATE,
            "tw_sync");
    CHECK(tw_get_array(w.file, "T", w.rows, 0, tw_dense(TW_FLOAT, got.data(), 1), TW_DEFERRED) ==
          TW_ESTATE);
    REFUSED(tw_read(w.file), TW_ESTATE, "tw_sync");
    REFUSED(tw_prefetch(w.file), TW_ESTATE, "tw_prefetch");
    tw_file_info info;
    CHECK(tw_inq(w.file, &info) == TW_ESTATE);
    CHECK(text().find("tw_sync") != std::string::npos);
    // The form of a variable is known as soon as it is defined.
    tw_type type{};
    int nd = -1, natts = -1;
    OK(tw_inq_var(w.file, "T", &type, &nd, &natts));
    CHECK(type == TW_FLOAT && nd == 3 && natts == 1);
    CHECK(tw_inq_var(w.file, "U", nullptr, &nd, nullptr) == TW_ENOTFOUND);
}

void write_and_read(const std::string& settings, const std::string& format) {
    Written w(settings);
    const bool rests = format == "netcdf4" && settings.find("inline") == std::string::npos;
    before_sync(w);
    w.put("h", 7);
    w.step(0);
    w.step(1);
    before_sync(w);
    OK(tw_sync(w.file, 0));
    check_inquiry(w, format);
    // The first read opens the file. A rank that is in another call gets an error.
    std::vector<float> got, other, h;
    if (ranks() > 1) {
        REFUSED(rank() == 0 ? tw_sync(w.file, 0) : w.get_columns("T", 0, got), TW_EMISMATCH,
                "tw_get");
        OK(tw_sync(w.file, 0));
    }
    w.check_record(1);
    w.check_section(2);
    OK(w.get_columns("h", 0, h));
    CHECK(w.are_columns(h, 7));
    // Several variables at once, and one with strides.
    std::vector<double> all(static_cast<std::size_t>(ny * nx));
    got.assign(static_cast<std::size_t>((w.high - w.low) * nx), -1);
    other = got;
    OK(tw_get_array(w.file, "T", w.rows, 0,
                    tw_dense(TW_FLOAT, got.data(), static_cast<std::int64_t>(got.size())),
                    TW_DEFERRED));
    OK(tw_get_array(w.file, "T", nullptr, 1, tw_dense(TW_DOUBLE, all.data(), ny * nx),
                    TW_DEFERRED));
    {
        const std::int64_t extent[] = {w.high - w.low, nx}, stride[] = {4 * nx, -4};
        OK(tw_get_array(w.file, "h", w.rows, 0,
                        tw_strided(TW_FLOAT, other.empty() ? other.data() : other.data() + nx - 1,
                                   2, extent, stride),
                        TW_DEFERRED));
    }
    CHECK(tw_get_array(w.file, "T", w.rows, 2, tw_dense(TW_FLOAT, got.data(), 1), TW_DEFERRED) ==
          TW_EBOUNDS);
    CHECK(tw_get_array(w.file, "U", w.rows, 0, tw_dense(TW_FLOAT, got.data(), 1), TW_DEFERRED) ==
          TW_ENOTFOUND);
    OK(tw_read(w.file));
    CHECK(got == w.own(0));
    const std::vector<float> wanted = w.own(7);
    bool good = true;
    for (std::size_t i = 0; i < other.size(); ++i) {
        const auto row = i / static_cast<std::size_t>(nx) * static_cast<std::size_t>(nx);
        good &= other[i] == wanted[row + static_cast<std::size_t>(nx) - 1 - (i - row)];
    }
    CHECK(good);
    CHECK(all.back() == static_cast<double>(value(1, ny - 1, nx - 1)) &&
          all.front() == static_cast<double>(value(1, 0, 0)));
    // tw_read reports the errors of an array.
    OK(tw_get_array(w.file, "T", w.rows, 0, tw_dense(TW_FLOAT, all.data(), ny * nx + 1),
                    TW_DEFERRED));
    REFUSED(tw_read(w.file), TW_ESHAPE, "'T'");
    OK(tw_read(w.file));
    // Data put after the last tw_sync are not read, even if they are already in the file.
    w.step(2);
    OK(tw_put_att_text(w.file, "", "title", "late"));
    CHECK(w.records() == 2);
    std::int64_t n = 0;
    CHECK(tw_inq_att(w.file, "", "title", nullptr, &n) == TW_ENOTFOUND);
    const std::int64_t zero = 0, five = 5;
    char letters[6] = "";
    if (rests) {
        REFUSED(w.get_columns("T", 0, got), TW_ESTATE, "directly after tw_sync");
        REFUSED(tw_get_box(w.file, "name", TW_CHAR, &zero, &five, nullptr, letters), TW_ESTATE,
                "directly after tw_sync");
        REFUSED(tw_read(w.file), TW_ESTATE, "directly after tw_sync");
    } else {
        REFUSED(w.get_columns("T", 2, got), TW_EBOUNDS, "no record 2; the file has 2");
        w.check_record(0);
        // A variable that was not put reads as fill values.
        std::fill_n(letters, 5, 'x');
        OK(tw_get(w.file, "name", nullptr, 0, TW_CHAR, letters, 5));
        CHECK(std::all_of(letters, letters + 5, [](char c) { return c == '\0'; }));
        OK(tw_get_box(w.file, "name", TW_CHAR, &zero, &five, nullptr, letters));
        CHECK(std::all_of(letters, letters + 5, [](char c) { return c == '\0'; }));
    }
    OK(tw_put(w.file, "name", TW_CHAR, "river", 5));
    if (!rests) OK(tw_get(w.file, "name", nullptr, 0, TW_CHAR, letters, 5));
    w.put("T", 3);
    OK(tw_sync(w.file, 1));
    if (!rests) OK(tw_end_step(w.file));  // the file may already contain the record when it is read
    CHECK(w.records() == 3);
    REFUSED(w.get_columns("T", 3, got), TW_EBOUNDS, "no record 3; the file has 3");
    OK(tw_inq_att(w.file, "", "title", nullptr, &n));
    CHECK(n == 4);
    for (std::int64_t r = 2; r >= 0; --r) w.check_record(r);
    w.check_section(3);
    OK(tw_get(w.file, "name", nullptr, 0, TW_CHAR, letters, 5));
    CHECK(std::string(letters) == "river");
    if (rests) OK(tw_end_step(w.file));
    // Adds many records, so that what the reader knows about the file is out of date.
    for (std::int64_t r = 4; r < 40; ++r) {
        w.step(r);
        const bool syncs = r % 9 == 0;
        if (syncs) OK(tw_sync(w.file, 0));
        if (rests ? syncs : r % 5 == 0) w.check_record(r % 3);
    }
    OK(tw_sync(w.file, 0));
    w.check_section(40);
    w.check_record(39);
    const char* json = nullptr;
    OK(tw_summary(session, TW_SUMMARY_JSON, &json));
    CHECK(std::string(json).find("inputs") != std::string::npos);
    OK(tw_close(&w.file));
    OK(tw_open(session, w.path.c_str(), nullptr, &w.file));
    w.check_section(40);
    OK(tw_close(&w.file));
}

void refused(const std::string& settings, const char* words) {
    Written w(settings);
    w.put("h", 7);
    w.step(0);
    OK(tw_sync(w.file, 0));
    CHECK(w.records() == 1);
    std::vector<float> got;
    REFUSED(w.get_columns("T", 0, got), TW_EUNSUPPORTED, words);
    w.step(1);
    OK(tw_close(&w.file));
}

void with_service(const std::string& of_session, const std::string& service) {
    in_session("log=off; " + of_session, [&] {
        for (const std::string format : {"cdf2", "cdf5", "netcdf4"})
            write_and_read(service + "; format=" + format, format);
        write_and_read(service + "; format=netcdf4; deflate=1", "netcdf4");
        write_and_read(service + "; method=direct; readers=1; publish=live", "cdf2");
        if (service != "service=inline") return;
        write_and_read("service=inline; storage=" PNETCDF, "cdf2");
        write_and_read("service=inline; method=serial; piece=4KiB", "cdf2");
        refused("storage=memory", "memory");
        refused("method=tiles; files=tiles; tiles=1x1; writers=1", "files=tiles");
    });
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    folder = check::make_folder("read_written");
    const int size = check::state.size;
    with_service("", "service=inline");
    with_service("node_size=2", "service=inline");
    with_service("", "service=background");
    with_service("node_size=2", "service=background; writers=1/node");
    if (size > 1) with_service("servers=1:last", "service=servers");
    if (size > 3) with_service("servers=2; node_size=2", "service=servers");
    return check::verdict("read_written");
}
