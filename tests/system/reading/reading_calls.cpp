// Tests calls on a file that is open for reading: wrong calls, calls that differ between ranks, and
// files that are being written meanwhile: code and text are the same on all ranks, nothing hangs,
// and the file stays usable.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <cstdio>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "system/calls.hpp"

using namespace calls;  // NOLINT: for session, text() and the like

namespace {

int rank() { return check::state.rank; }
int ranks() { return check::state.size; }

tw_decomposition line = nullptr;  // two elements per rank
std::string path;

tw_decomposition decompose(std::int64_t low = 0, std::int64_t high = 0) {
    const std::int64_t shape = 2 * ranks(), start = 2 * rank(), count = 2;
    tw_decomposition made = nullptr;
    OK(tw_decompose_halo(session, "x", 1, &shape, &start, &count, &low, &high, &made));
    return made;
}

float value(int record, std::int64_t i) { return static_cast<float>(1000 * record + i); }

void put_record(tw_file file, int record) {
    const float values[2] = {value(record, 2 * rank()), value(record, 2 * rank() + 1)};
    OK(tw_put(file, "T", TW_FLOAT, values, 2));
    OK(tw_put(file, "U", TW_FLOAT, values, 2));
    OK(tw_end_step(file));
}

tw_file create(const char* settings) {
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), settings, &file));
    OK(tw_def_var(file, "T", TW_FLOAT, "time x", line));
    OK(tw_def_var(file, "U", TW_FLOAT, "time x", line));
    return file;
}

int get(tw_file file, const char* name, std::int64_t record, float* to) {
    return tw_get(file, name, line, record, TW_FLOAT, to, 2);
}

void check_record(tw_file file, int record) {
    float got[2] = {};
    OK(get(file, "T", record, got));
    CHECK(got[0] == value(record, 2 * rank()) && got[1] == value(record, 2 * rank() + 1));
}

/// Tests that a reader of a file that is being written finds only committed records, and that sync
/// finds new ones.
void while_written(const std::string& format) {
    tw_file writer = create(("publish=live; format=" + format).c_str()), reader = nullptr;
    put_record(writer, 0);
    OK(tw_open(session, path.c_str(), nullptr, &reader));
    put_record(writer, 1);
    std::int64_t n = 0;
    OK(tw_inq_dim(reader, "time", &n));
    CHECK(n == 1);
    float got[2] = {};
    check_record(reader, 0);
    REFUSED(get(reader, "T", 1, got), TW_EBOUNDS, "no record 1; the file has 1");
    OK(tw_sync(writer, 0));
    OK(tw_sync(reader, 0));
    check_record(reader, 1);
    OK(tw_close(&writer));
    OK(tw_close(&reader));
}

/// Tests that a reader finds chunks that existed when it opened the file, while the index grows.
void while_index_grows(const std::string& format) {
    // When the index grows, HDF5 moves the last of these chunks to another node of it.
    constexpr int known = 120;
    tw_file writer = create(("publish=live; format=" + format).c_str()), reader = nullptr;
    for (int r = 0; r < known; ++r) put_record(writer, r);
    OK(tw_sync(writer, 0));
    OK(tw_open(session, path.c_str(), nullptr, &reader));
    check_record(reader, 0);
    for (int r = known; r < 2 * known; ++r) put_record(writer, r);
    OK(tw_sync(writer, 0));
    for (int r = known - 1; r > 0; --r) check_record(reader, r);
    OK(tw_close(&writer));
    OK(tw_close(&reader));
}

/// Tests another file that gets the name of an open file before any of its data were read.
void replaced(const std::string& format) {
    const auto write = [&](const std::string& to, int record) {
        const std::string settings = "format=" + format;
        const float values[2] = {value(record, 2 * rank()), value(record, 2 * rank() + 1)};
        tw_file file = nullptr;
        OK(tw_create(session, to.c_str(), settings.c_str(), &file));
        if (record > 0) OK(tw_def_var(file, "other", TW_FLOAT, "x", line));
        OK(tw_def_var(file, "h", TW_FLOAT, "x", line));
        OK(tw_def_var(file, "T", TW_FLOAT, "time x", line));
        OK(tw_put(file, "h", TW_FLOAT, values, 2));
        OK(tw_put(file, "T", TW_FLOAT, values, 2));
        OK(tw_end_step(file));
        OK(tw_close(&file));
    };
    tw_file reader = nullptr;
    write(path, 0);
    write(path + ".new", 7);
    OK(tw_open(session, path.c_str(), nullptr, &reader));
    MPI_Barrier(check::state.comm);
    if (rank() == 0) CHECK(std::rename((path + ".new").c_str(), path.c_str()) == 0);
    MPI_Barrier(check::state.comm);
    check_record(reader, 0);
    float got[2] = {};
    OK(get(reader, "h", 0, got));
    CHECK(got[0] == value(0, 2 * rank()) && got[1] == value(0, 2 * rank() + 1));
    OK(tw_close(&reader));
}

/// Tests sets of files that are replaced after they were opened. Readers open the files of a set
/// one after another; the new files must not be read as the original ones, however similar they
/// are.
void written_anew(const std::string& settings) {
    tw_session writing = nullptr;
    tw_decomposition to_write = nullptr;
    const auto turn = [&] {
        std::swap(session, writing);
        std::swap(line, to_write);
    };
    OK(tw_init(check::state.comm, "log=off", &writing));
    turn();
    line = decompose();
    turn();
    const auto write = [&](int record) {
        turn();
        // tw_create does not replace a folder of files.
        if (rank() == 0 && std::filesystem::is_directory(path)) std::filesystem::remove_all(path);
        MPI_Barrier(check::state.comm);
        tw_file file = create(settings.c_str());
        put_record(file, record);
        OK(tw_close(&file));
        turn();
    };
    for (const bool read_before : {false, true}) {
        tw_file reader = nullptr;
        float got[2] = {};
        write(0);
        OK(tw_open(session, path.c_str(), "read_ahead=no", &reader));
        if (read_before) check_record(reader, 0);
        for (const int times : {1, 2}) {
            for (int k = 0; k < times; ++k) write(3 + k);
            const int code = get(reader, read_before ? "U" : "T", 0, got);
            if (read_before && code == TW_OK) {  // the readers still have the old files open
                CHECK(got[0] == value(0, 2 * rank()) && got[1] == value(0, 2 * rank() + 1));
                continue;
            }
            CHECK(code == TW_ESTATE);
            const std::string text = tw_error_message(session);
            CHECK_TEXT(text.find("another file has taken this name") != std::string::npos, text);
        }
        OK(tw_sync(reader, 0));
        OK(get(reader, "T", 0, got));
        CHECK(got[0] == value(4, 2 * rank()) && got[1] == value(4, 2 * rank() + 1));
        OK(tw_close(&reader));
    }
    OK(tw_finalize(&writing));
}

void wrong_arguments() {
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    float got[8] = {};
    const std::int64_t extent = 2, stride = 4;
    REFUSED(get(file, "T", 2, got), TW_EBOUNDS, "variable 'T': no record 2");
    for (int record = 0; record < 2; ++record)
        OK(tw_get_array(file, "T", line, record, tw_dense(TW_FLOAT, got, 2), TW_DEFERRED));
    REFUSED(tw_read(file), TW_EARG, "variable 'T' has the same array twice");
    REFUSED(tw_get(file, "T", line, 0, static_cast<tw_type>(77), got, 2), TW_ETYPE, "type 77");
    REFUSED(tw_get(file, "T", line, 0, TW_CHAR, got, 2), TW_ETYPE, "'T'");
    REFUSED(tw_get(file, "T", line, 0, TW_FLOAT, got, 3), TW_ESHAPE, "3 elements");
    REFUSED(tw_get(file, "x", line, 0, TW_FLOAT, got, 2), TW_ENOTFOUND, "no variable 'x'");
    const std::int64_t three = 3;
    REFUSED(tw_get_array(file, "T", line, 0, tw_strided(TW_FLOAT, got, 1, &three, &stride), 0),
            TW_ESHAPE, "the array is (3)");
    OK(tw_get_array(file, "T", line, 0, tw_strided(TW_FLOAT, got, 1, &extent, &stride), 0));
    // Only the last rank passes wrong arguments.
    const bool odd = rank() == ranks() - 1;
    REFUSED(tw_get(file, "T", line, 0, TW_FLOAT, odd ? nullptr : got, 2), TW_EARG,
            "array is missing");
    CHECK(tw_get_array(file, "T", line, 7, tw_dense(TW_FLOAT, got, 2), TW_DEFERRED) == TW_EBOUNDS);
    CHECK(tw_put(file, "T", TW_FLOAT, got, 2) == TW_ESTATE);
    CHECK(tw_end_step(file) == TW_ESTATE);
    const char* name = nullptr;
    CHECK(tw_inq_name(file, TW_VARIABLE, nullptr, 2, &name) == TW_EBOUNDS);
    CHECK(tw_inq_name(file, TW_VARIABLE, nullptr, -1, &name) == TW_EBOUNDS);
    CHECK(tw_inq_name(file, static_cast<tw_item>(3), nullptr, 0, &name) == TW_EARG);
    CHECK(tw_inq(file, nullptr) == TW_EARG);
    CHECK(tw_inq_att(file, "T", "units", nullptr, nullptr) == TW_ENOTFOUND);
    CHECK(text().find("'units'") != std::string::npos);
    CHECK(tw_get(nullptr, "T", line, 0, TW_FLOAT, got, 2) == TW_EHANDLE);

    tw_session other = nullptr;
    OK(tw_init(check::state.comm, "log=off", &other));
    tw_decomposition foreign = nullptr;
    const std::int64_t shape = 2 * ranks(), start = 2 * rank(), count = 2;
    OK(tw_decompose(other, "x", 1, &shape, &start, &count, &foreign));
    REFUSED(tw_get(file, "T", foreign, 0, TW_FLOAT, got, 2), TW_EHANDLE, "another session");
    OK(tw_finalize(&other));

    const auto bad = static_cast<tw_edge>(7);
    const tw_edge clip = TW_HALO_CLIP, round = TW_HALO_PERIODIC;
    REFUSED(tw_fill_halo(line, &bad), TW_EARG, "edge 7");
    REFUSED(tw_fill_halo(line, nullptr), TW_EARG, "edges are missing");
    if (ranks() > 1)
        REFUSED(tw_fill_halo(line, odd ? &clip : &round), TW_EMISMATCH, "edges on rank");

    tw_file closed = file;
    check_record(file, 1);
    OK(tw_close(&file));
    tw_file_info info;
    CHECK(tw_inq(closed, &info) == TW_ECLOSED);
    CHECK(get(closed, "T", 0, got) == TW_ECLOSED);
}

/// Tests equal declarations: they share their data, but each handle has its own edges of halos.
void declared_again() {
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    const tw_decomposition kept = decompose(1, 1), round = decompose(1, 1);
    CHECK(kept != round);
    const tw_edge periodic = TW_HALO_PERIODIC;
    OK(tw_fill_halo(round, &periodic));
    float untouched[4] = {-1, -1, -1, -1}, filled[4] = {-1, -1, -1, -1};
    OK(tw_get(file, "T", kept, 0, TW_FLOAT, untouched, 4));
    OK(tw_get(file, "T", round, 0, TW_FLOAT, filled, 4));
    CHECK(untouched[0] == -1 && untouched[3] == -1 && untouched[1] == filled[1]);
    CHECK(filled[0] != -1 && filled[3] != -1);
    OK(tw_close(&file));
}

/// Tests that types of netCDF-4 that the library lacks are listed, and refused when they are read.
void foreign_types() {
    const std::string other = path + ".types";
    if (rank() == 0) {
        int id = 0, dim = 0, var = 0, group = 0, type = 0;
        const char* words[] = {"two", "words"};
        const signed char red = 1;
        int status = nc_create(other.c_str(), NC_CLOBBER | NC_NETCDF4, &id);
        status |= nc_def_dim(id, "x", 3, &dim);
        status |= nc_def_var(id, "v", NC_INT, 1, &dim, &var);
        status |= nc_put_att_string(id, var, "one", 1, words);
        status |= nc_put_att_string(id, var, "two", 2, words);
        status |= nc_def_enum(id, NC_BYTE, "colour", &type);
        status |= nc_insert_enum(id, type, "red", &red);
        status |= nc_def_var(id, "coloured", type, 1, &dim, &var);
        status |= nc_def_var(id, "text", NC_STRING, 1, &dim, &var);
        status |= nc_def_vlen(id, "ragged", NC_INT, &type);
        status |= nc_def_var(id, "rows", type, 1, &dim, &var);
        status |= nc_def_grp(id, "inner", &group);
        status |= nc_def_var(group, "hidden", NC_INT, 1, &dim, &var);
        status |= nc_close(id);
        CHECK(status == NC_NOERR);
    }
    MPI_Barrier(check::state.comm);
    tw_file file = nullptr;
    OK(tw_open(session, other.c_str(), nullptr, &file));
    tw_type type{};
    OK(tw_inq_var(file, "coloured", &type, nullptr, nullptr));
    CHECK(static_cast<int>(type) == 0);
    std::int32_t values[3] = {};
    REFUSED(tw_get(file, "coloured", nullptr, 0, TW_INT, values, 3), TW_EUNSUPPORTED, "colour");
    for (const char* name : {"text", "rows"})
        REFUSED(tw_get(file, name, nullptr, 0, TW_INT, values, 3), TW_EUNSUPPORTED, name);
    REFUSED(tw_get(file, "inner/hidden", nullptr, 0, TW_INT, values, 3), TW_EUNSUPPORTED, "group");
    OK(tw_get(file, "v", nullptr, 0, TW_INT, values, 3));
    CHECK(values[0] == NC_FILL_INT && values[2] == NC_FILL_INT);
    char text_of[4] = {};
    OK(tw_get_att_text(file, "v", "one", 4, text_of));
    CHECK(std::string(text_of) == "two");
    CHECK(tw_get_att(file, "v", "two", TW_INT, 2, values) == TW_EUNSUPPORTED);
    OK(tw_close(&file));
    if (rank() == 0) std::remove(other.c_str());
}

/// Tests a reader that requests nothing, and is faster than the node that requests everything. It
/// must not overwrite data that are being sent to that node.
void reader_ahead() {
    const std::string other = path + ".ahead";
    constexpr std::int64_t n = std::int64_t(1) << 20;
    if (rank() == 0) {
        std::vector<float> values(n);
        for (std::int64_t i = 0; i < n; ++i)
            values[static_cast<std::size_t>(i)] = static_cast<float>(i);
        int id = 0, dim = 0, var = 0;
        int status = nc_create(other.c_str(), NC_CLOBBER | NC_64BIT_OFFSET, &id);
        status |= nc_def_dim(id, "x", n, &dim);
        status |= nc_def_var(id, "v", NC_FLOAT, 1, &dim, &var);
        status |= nc_enddef(id);
        status |= nc_put_var_float(id, var, values.data());
        status |= nc_close(id);
        CHECK(status == NC_NOERR);
    }
    MPI_Barrier(check::state.comm);
    const std::int64_t start = 0, count = rank() == ranks() - 1 ? n : 0;
    tw_decomposition last = nullptr;
    OK(tw_decompose(session, "x", 1, &n, &start, &count, &last));
    tw_file file = nullptr;
    OK(tw_open(session, other.c_str(), "piece=65536; readers=1", &file));
    std::vector<double> got(static_cast<std::size_t>(count));
    OK(tw_get(file, "v", last, 0, TW_DOUBLE, got.data(), count));
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < count; ++i)
        wrong += got[static_cast<std::size_t>(i)] != static_cast<double>(i);
    CHECK_TEXT(wrong == 0, "{} of {} values are wrong", wrong, count);
    OK(tw_close(&file));
    if (rank() == 0) std::remove(other.c_str());
}

}  // namespace

/// Tests that long runs need no exchange if all ranks read. If not all read, there is an exchange.
void straight() {
    const std::int64_t shape = 2 * ranks(), start = shape - 2 * rank() - 2, count = 2;
    tw_decomposition turned = nullptr;
    OK(tw_decompose(session, "x", 1, &shape, &start, &count, &turned));
    struct Row {
        const char *straight, *settings;
        bool exchanges;
    };
    for (const auto& [least, settings, exchanges] :
         {Row{"8", "", false}, {"9", "", true}, {"8", "readers=1", true}}) {
        setenv("THALWEG_TEST_STRAIGHT", least, 1);
        tw_file file = nullptr;
        OK(tw_open(session, path.c_str(), settings, &file));
        float got[2] = {};
        OK(tw_get(file, "T", turned, 1, TW_FLOAT, got, 2));
        CHECK(got[0] == value(1, start) && got[1] == value(1, start + 1));
        const char* json = nullptr;
        OK(tw_summary(session, TW_SUMMARY_JSON, &json));
        const std::string all = json;
        const bool any = all.find("\"messages\": 0,", all.rfind("\"path\"")) == std::string::npos;
        CHECK_TEXT(any == (exchanges && ranks() > 2), "{}: {}", settings, json);
        OK(tw_close(&file));
    }
    unsetenv("THALWEG_TEST_STRAIGHT");
}

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 30);
    const std::string folder = check::make_folder("reading_calls");
    path = folder + "/file.nc";
    using Way = std::pair<const char*, const char*>;
    for (const auto& [settings, format] : {Way("log=off", "cdf2"), Way("log=off", "netcdf4"),
                                           Way("log=off; node_size=2; piece=256", "cdf2")}) {
        OK(tw_init(check::state.comm, settings, &session));
        line = decompose();
        replaced(format);
        if (std::string(format) == "cdf2") {
            path = folder + "/set.nc";
            written_anew("method=tiles; files=tiles");
            path = folder + "/all";
            written_anew("files=variable");
            path = folder + "/file.nc";
        }
        while_index_grows(format);
        while_written(format);
        wrong_arguments();
        declared_again();
        foreign_types();
        if (std::string(settings).find("node_size") != std::string::npos) straight();
        OK(tw_finalize(&session));
    }
    OK(tw_init(check::state.comm, "log=off; node_size=1", &session));
    reader_ahead();
    OK(tw_finalize(&session));
    return check::verdict("reading_calls");
}
