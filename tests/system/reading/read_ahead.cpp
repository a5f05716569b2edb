// Tests reading ahead while the model computes: the values are right and up to date whatever was
// read ahead, and errors of reading ahead are returned by the read that requests the data.
// reading.cpp reads records in random order.
//
// Usage: read_ahead [--kinds classic|netcdf4] [--servers N]
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "system/calls.hpp"

using namespace calls;  // NOLINT: for session, text() and the like

namespace {

constexpr std::int64_t nx = 24, per_rank = 5, records = 9;

std::int64_t rows() { return per_rank * check::state.size; }
const char* const names[] = {"T", "U", "V", "fixed"};
constexpr int fixed_size = 3;

/// A kind of file, and how it is written.
struct Kind {
    const char* settings;
    const char* data = "";  ///< suffix of the name of one of its files
    enum Origin { own, foreign, continued } origin = own;
};
const Kind classic_kinds[] = {
    {""},
    {"method=tiles; files=tiles", ".0000"},
    {"files=variable", "/U.nc"},
};
const Kind netcdf4_kinds[] = {
    {"format=netcdf4"},
    {"format=netcdf4; chunks=y=3,x=7"},
    {"format=netcdf4; deflate=1; chunks=y=4,x=10"},
    {"format=netcdf4; method=tiles; files=tiles; deflate=1", ".0000"},
    {"format=netcdf4", "", Kind::foreign},
    {"mode=append", "", Kind::continued},
};
Kind kind;

int version = 0;  ///< version of all values

double value(int variable, std::int64_t record, std::int64_t row, std::int64_t x) {
    return static_cast<double>(version * 4000000 + variable * 1000000 + record * 100000 + row * nx +
                               x);
}

tw_decomposition parts = nullptr;
std::int64_t first_row = 0;
std::string path;

/// Makes a decomposition over the ranks of the model.
void decompose() {
    // the first rank has the last rows
    const std::int64_t shape[] = {rows(), nx}, count[] = {per_rank, nx};
    const std::int64_t start[] = {rows() - per_rank * (check::state.rank + 1), 0};
    first_row = start[0];
    OK(tw_decompose(session, "y x", 1, shape, start, count, &parts));
}

std::vector<double> values(int v, std::int64_t record, std::int64_t row, std::int64_t count) {
    std::vector<double> data;
    for (std::int64_t i = 0; i < count * nx; ++i)
        data.push_back(value(v, record, row + i / nx, i % nx));
    return data;
}

void define(tw_file file) {
    for (int v = 0; v < 3; ++v) OK(tw_def_var(file, names[v], TW_DOUBLE, "time y x", parts));
    OK(tw_def_var(file, names[fixed_size], TW_DOUBLE, "y x", parts));
}

tw_file create(const std::string& settings) {
    tw_file file = nullptr;
    if (check::state.rank == 0) std::filesystem::remove_all(path);
    check::everywhere(true);
    OK(tw_create(session, path.c_str(), (settings + "; " + kind.settings).c_str(), &file));
    define(file);
    const std::vector<double> data = values(fixed_size, 0, first_row, per_rank);
    OK(tw_put(file, names[fixed_size], TW_DOUBLE, data.data(), per_rank * nx));
    return file;
}

void write_record(tw_file file, std::int64_t record) {
    std::vector<double> data[3];
    for (int v = 0; v < 3; ++v) {
        data[v] = values(v, record, first_row, per_rank);
        OK(tw_put(file, names[v], TW_DOUBLE, data[v].data(), per_rank * nx));
    }
    OK(tw_end_step(file));
}

/// Writes a file by netCDF-C, with chunks of several records, deflate and a checksum. A file of
/// kind `foreign`, which the library cannot continue, also has another byte order and compact
/// storage.
void write_foreign(std::size_t record_count) {
    check::step("netCDF-C writes");
    if (check::state.rank == 0) {
        int file = -1, dims[3], ids[4];
        const auto good = [](int status) { CHECK_TEXT(status == NC_NOERR, nc_strerror(status)); };
        std::filesystem::remove_all(path);
        good(nc_create(path.c_str(), NC_NETCDF4 | NC_CLOBBER, &file));
        good(nc_def_dim(file, "time", NC_UNLIMITED, &dims[0]));
        good(nc_def_dim(file, "y", static_cast<std::size_t>(rows()), &dims[1]));
        good(nc_def_dim(file, "x", nx, &dims[2]));
        for (int v = 0; v < 3; ++v) good(nc_def_var(file, names[v], NC_DOUBLE, 3, dims, &ids[v]));
        good(nc_def_var(file, names[fixed_size], NC_DOUBLE, 2, dims + 1, &ids[fixed_size]));
        const std::size_t chunks[] = {4, 3, 7};
        for (int v = 0; v < 3; ++v) good(nc_def_var_chunking(file, ids[v], NC_CHUNKED, chunks));
        good(nc_def_var_deflate(file, ids[1], 1, 1, 2));
        good(nc_def_var_fletcher32(file, ids[2], NC_FLETCHER32));
        if (kind.origin == Kind::foreign) {
            good(nc_def_var_endian(file, ids[2], NC_ENDIAN_BIG));
            good(nc_def_var_chunking(file, ids[fixed_size], NC_COMPACT, nullptr));
        }
        const std::size_t count[] = {1, static_cast<std::size_t>(rows()), nx};
        for (std::size_t r = 0; r < record_count; ++r)
            for (int v = 0; v < 3; ++v) {
                const std::size_t start[] = {r, 0, 0};
                good(nc_put_vara_double(file, ids[v], start, count,
                                        values(v, static_cast<std::int64_t>(r), 0, rows()).data()));
            }
        good(nc_put_var_double(file, ids[fixed_size], values(fixed_size, 0, 0, rows()).data()));
        good(nc_close(file));
    }
    check::everywhere(true);
}

/// A file that is read, and the arrays for it.
struct Input {
    explicit Input(const char* settings = "read_ahead=yes") {
        OK(tw_open(session, path.c_str(), settings, &file));
    }
    ~Input() { OK(tw_close(&file)); }
    Input(const Input&) = delete;
    Input& operator=(const Input&) = delete;

    float* place(int v) {
        data[v].assign(per_rank * nx, -1);
        return data[v].data();
    }
    int get(int v, std::int64_t record) {
        check::step("tw_get {} {}", names[v], record);
        return tw_get(file, names[v], parts, record, TW_FLOAT, place(v), per_rank * nx);
    }
    void ask(int v, std::int64_t record) {
        OK(tw_get_array(file, names[v], parts, record, tw_dense(TW_FLOAT, place(v), per_rank * nx),
                        TW_DEFERRED));
    }
    void expect(int v, std::int64_t record) const {
        for (std::int64_t i = 0; i < per_rank * nx; ++i) {
            const auto wanted = static_cast<float>(value(v, record, first_row + i / nx, i % nx));
            const float got = data[v][static_cast<std::size_t>(i)];
            CHECK_TEXT(got == wanted, "{} record {} element {} is {}, not {}", names[v], record, i,
                       got, wanted);
            if (got != wanted) return;
        }
    }
    void read(int v, std::int64_t record) {
        const int status = get(v, record);
        CHECK_TEXT(status == TW_OK, "{}: {}", status, text());
        expect(v, record);
    }
    void read_all(std::int64_t record) {
        for (int v = 0; v < 3; ++v) ask(v, record);
        OK(tw_read(file));
        for (int v = 0; v < 3; ++v) expect(v, record);
    }

    tw_file file = nullptr;
    std::vector<float> data[4];
};

/// Returns a number of the summary's last input.
double figure(const std::string& name) {
    const char* json = nullptr;
    OK(tw_summary(session, TW_SUMMARY_JSON, &json));
    const std::string summary = json;
    const std::size_t at = summary.rfind("\"" + name + "\": ");
    return at == std::string::npos ? -1 : std::atof(summary.c_str() + at + name.size() + 4);
}

/// Reads until some data were read ahead in time, which must happen sooner or later, as each thread
/// gets processor time.
void in_time() {
    Input input;
    for (int turn = 0; turn < 500 && figure("ahead_bytes") <= 0; ++turn) {
        for (std::int64_t r = 0; r < 3; ++r) {
            input.read_all(r);
            usleep(500);
        }
    }
    CHECK(figure("ahead_bytes") > 0);
    if (std::string(kind.settings).find("deflate") == std::string::npos)
        CHECK(figure("ahead_bytes") + figure("unused_bytes") <= 2 * figure("bytes"));
}

void asked_for() {
    Input input(nullptr);
    OK(tw_prefetch(input.file));  // no data were requested
    for (std::int64_t r = 0; r < records; ++r) {
        input.ask(0, r);
        OK(tw_prefetch(input.file));
        input.ask(1, r);
        if (r % 2 == 0) OK(tw_prefetch(input.file));
        OK(tw_prefetch(input.file));
        if (r % 3 == 0) input.read(2, r / 3);
        if (r % 4 != 1) input.ask(2, r);
        if (r % 2 == 1) input.ask(fixed_size, 0);
        if (r % 4 == 1) OK(tw_prefetch(input.file));
        usleep(200);
        OK(tw_read(input.file));
        if (r % 2 == 1) input.expect(fixed_size, 0);
        input.expect(0, r);
        input.expect(1, r);
        if (r % 4 != 1) input.expect(2, r);
    }
    if (check::state.size == 1) return;
    // Ranks request different data and make different calls.
    const bool odd = check::state.rank == check::state.size - 1;
    input.ask(0, odd ? 1 : 0);
    check::step("tw_prefetch of different records");
    REFUSED(tw_prefetch(input.file), TW_EMISMATCH, "tw_prefetch");
    check::step("tw_read of different records");
    REFUSED(tw_read(input.file), TW_EMISMATCH, "tw_read");
    check::step("tw_prefetch and tw_read");
    REFUSED(odd ? tw_prefetch(input.file) : tw_read(input.file), TW_EMISMATCH, "tw_prefetch");
    input.read_all(3);
}

/// Tests a file that is closed while a record is read ahead, which takes a fifth of a second at
/// this rate.
void closed_under_way() {
    const double bytes = static_cast<double>(3 * rows() * nx * 8);
    const std::string settings = check::text("piece=64; bandwidth={}; read_ahead=yes", 5 * bytes);
    Input input(settings.c_str());
    input.read(0, 0);
    input.ask(1, 4);
    OK(tw_prefetch(input.file));
}

/// Tests that records which a writer adds are read after a sync has found them, but not before.
void records_that_come() {
    tw_file out = nullptr;
    if (kind.origin == Kind::own) {
        out = create("publish=live; piece=4KiB; staging=1MiB");
        write_record(out, 0);
    } else {
        write_foreign(1);
        OK(tw_open(session, path.c_str(), kind.settings, &out));
        define(out);
    }
    OK(tw_sync(out, 0));
    {
        Input input;
        for (std::int64_t r = 0; r < 4; ++r) {
            input.read_all(r);
            check::step("tw_get of a record that is not there yet");
            REFUSED(input.get(0, r + 1), TW_EBOUNDS, "no record");
            write_record(out, r + 1);
            OK(tw_sync(out, 0));
            OK(tw_sync(input.file, 0));
        }
    }
    for (std::int64_t r = 5; r < records; ++r) write_record(out, r);
    OK(tw_close(&out));
}

/// Tests that records which a writer has replaced are read in their new version after a sync, even
/// if the old version was read ahead.
void records_written_again() {
    tw_file out = create("publish=live; piece=4KiB; staging=1MiB");
    for (std::int64_t r = 0; r < 5; ++r) write_record(out, r);
    OK(tw_sync(out, 0));
    {
        Input input;
        input.read_all(0);
        input.ask(1, 2);
        OK(tw_prefetch(input.file));
        usleep(20000);  // gives the thread time to read ahead
        version = 1;
        for (const std::int64_t r : {1, 2, 3})
            for (int v = 0; v < 3; ++v) {
                const std::vector<double> data = values(v, r, first_row, per_rank);
                if (v > 0)
                    OK(tw_put_record(out, names[v], parts, r, TW_DOUBLE, data.data(),
                                     per_rank * nx));
                const std::int64_t start[] = {r, first_row, 0}, count[] = {1, per_rank, nx};
                if (v == 0)
                    OK(tw_put_box(out, names[v], TW_DOUBLE, start, count, nullptr, data.data()));
            }
        OK(tw_sync(out, 0));
        OK(tw_sync(input.file, 0));
        for (int v = 0; v < 3; v += 2) input.ask(v, 2);
        OK(tw_read(input.file));
        for (int v = 0; v < 3; ++v) input.expect(v, 2);
        for (const std::int64_t r : {1, 2, 3}) input.read_all(r);
        version = 0;
        input.read_all(4);
    }
    OK(tw_close(&out));
}

/// Checks that reads either return the written values or fail on all ranks alike.
void read_or_fail(Input& input, const char* what) {
    for (const std::int64_t r : {1, 2, 1}) {
        for (int v = 0; v < 4; ++v) input.ask(v, r);
        check::step("tw_read of a file that was {}", what);
        const int status = tw_read(input.file);
        if (status != TW_OK)
            REFUSED(status, status == TW_EFORMAT || status == TW_ESTATE ? status : TW_EIO, "");
        if (status == TW_OK)
            for (int v = 0; v < 4; ++v) input.expect(v, v == fixed_size ? 0 : r);
    }
}

/// Tests a file of the set that is replaced by a file of zeros; later the original is put back.
void replaced() {
    check::everywhere(true);
    const std::string data = path + kind.data, kept = path + "_kept";
    {
        Input input;
        input.read_all(0);
        check::everywhere(true);
        if (check::state.rank == 0) {
            std::filesystem::rename(data, kept);
            std::ofstream(data, std::ios::binary)
                << std::string(std::filesystem::file_size(kept), '\0');
        }
        check::everywhere(true);
        read_or_fail(input, "replaced");
    }
    if (check::state.rank == 0) std::filesystem::rename(kept, data);
    check::everywhere(true);
}

/// Tests a file that is truncated: data that were read before are still returned; for other data,
/// all ranks get an error.
void cut_off() {
    Input input;
    input.read_all(0);
    for (const std::uintmax_t part : {2, 100}) {
        check::everywhere(true);
        if (check::state.rank == 0) {
            const std::string data = path + kind.data;
            std::filesystem::resize_file(data, std::filesystem::file_size(data) / part);
        }
        check::everywhere(true);
        read_or_fail(input, "cut off");
    }
}

void run(const std::string& settings) {
    decompose();
    if (kind.origin == Kind::own) records_written_again();
    if (kind.origin == Kind::foreign)
        write_foreign(records);
    else
        records_that_come();
    if (settings.find("staging") == std::string::npos) in_time();
    asked_for();
    closed_under_way();
    replaced();
    cut_off();
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 30);
    const std::string kinds = check::option(argc, argv, "--kinds", "classic");
    const std::string servers = check::option(argc, argv, "--servers", "0");
    const std::string folder = check::make_folder("read_ahead");
    path = folder + "/file.nc";
    const std::span<const Kind> all =
        kinds == "classic" ? std::span<const Kind>(classic_kinds) : std::span(netcdf4_kinds);
    const std::vector<std::string> ways = {
        "piece=auto", "node_size=3; readers=1/node; staging=3KiB; piece=64",
        "node_size=2; piece=256", "readers=1; staging=1KiB; piece=300", "node_size=1; staging=10"};
    for (const Kind& k : all)
        // The ways of reading are the same for all kinds: test each of them for the first kind, and
        // two for the others.
        for (const std::string& settings : std::span(ways).first(&k == all.data() ? 5 : 2)) {
            kind = k;
            in_session(check::text("log=off; servers={}; service={}; {}", servers,
                                   servers == "0" ? "inline" : "servers", settings),
                       [&] { run(settings); });
        }
    return check::verdict("read_ahead");
}
