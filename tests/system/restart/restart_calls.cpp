// Tests restarts with errors in calls, files and data: every rank gets the same error, which names
// the variable, and the existing file does not change.
//
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <cstring>
#include <fstream>

#include "support/content.hpp"
#include "system/errors/bad_input.hpp"
#include "system/restart/definitions.hpp"

using namespace bad_input;  // NOLINT: the macros that check calls

namespace {

/// Two variables over (y, x), of which ranks have rows held as (x, y), and a replicated variable.
struct State {
    const std::int64_t nx = 5, ny = 2 * static_cast<std::int64_t>(ranks()) + 3;
    std::int64_t start = 0, count = 0;
    tw_session session;
    tw_decomposition cells = nullptr;
    tw_restart restart = nullptr;
    std::vector<double> h, u;
    std::vector<std::int32_t> levels{1, 2, 3};

    /// @param last  number of rows at the end that no rank holds
    explicit State(tw_session s, const std::string& settings = "durable=no", std::int64_t last = 0)
        : session(s) {
        const std::int64_t rows = ny - last;
        start = rows * rank() / ranks();
        count = rows * (rank() + 1) / ranks() - start;
        const Numbers shape{nx, ny}, first{0, start}, n{nx, count};
        OK(tw_decompose(session, "x y", 1, shape.data(), first.data(), n.data(), &cells));
        OK(tw_restart_new(session, settings.c_str(), &restart));
        OK(tw_def_dim(definitions_of(restart), "level", 3));
        set(1);
        OK(add("h", h));
        OK(add("u", u));
        OK(tw_restart_add(restart, "levels", TW_INT, "level", nullptr, levels.data(), 3,
                          TW_REQUIRED));
    }
    int add(const char* name, std::vector<double>& values) {
        return tw_restart_add(restart, name, TW_DOUBLE, "y x", cells, values.data(),
                              static_cast<std::int64_t>(values.size()), TW_REQUIRED);
    }
    double value(double generation, std::int64_t y, std::int64_t x) const {
        return generation * 1e4 + static_cast<double>(y * nx + x);
    }
    void set(double generation) {
        const bool first = h.empty();
        std::vector<double> values;
        for (std::int64_t x = 0; x < nx; ++x)
            for (std::int64_t y = start; y < start + count; ++y)
                values.push_back(value(generation, y, x));
        if (first) h = u = values;  // later values are put in the same arrays
        std::copy(values.begin(), values.end(), h.begin());
        std::transform(values.begin(), values.end(), u.begin(), [](double v) { return -v; });
    }
    bool has(double generation) {
        const std::vector<double> read_h = h, read_u = u;
        set(generation);
        return read_h == h && read_u == u;
    }
    int write(const std::string& path) { return tw_restart_write(restart, path.c_str()); }
    int read(const std::string& path) { return tw_restart_read(restart, path.c_str(), nullptr); }
    /// Checks that the file still contains the values of a generation.
    void expect(const std::string& path, double generation) {
        set(99);
        OK(read(path));
        CHECK_TEXT(has(generation), path);
    }
};

/// Changes a file on rank 0.
template <class Change>
void change(const std::string& path, Change&& act) {
    if (rank() == 0) {
        std::string bytes = content_of(path);
        act(bytes);
        std::ofstream(path, std::ios::binary) << bytes;
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/// Returns the bytes of a value in the file.
std::string big_endian(double value) {
    std::string bytes(8, '\0');
    std::memcpy(bytes.data(), &value, 8);
    std::reverse(bytes.begin(), bytes.end());
    return bytes;
}

std::size_t place(const std::string& bytes, double value) {
    const auto at = bytes.find(big_endian(value));
    CHECK_TEXT(at != std::string::npos, "no {} in the file", value);
    return at == std::string::npos ? 0 : at;
}

void registering() {
    Session s, other;
    State state(s);
    tw_restart r = state.restart;
    double d[3] = {};
    const auto add = [&](const char* name, tw_type type, const char* dims, tw_decomposition held,
                         void* data, std::int64_t n, int flags = TW_REQUIRED) {
        return tw_restart_add(r, name, type, dims, held, data, n, flags);
    };
    HERE(TW_ENOTFOUND, WORDS("'v'", "'nowhere'"), add("v", TW_DOUBLE, "nowhere", nullptr, d, 3));
    HERE(TW_ENOTFOUND, WORDS("'v'", "'time'"), add("v", TW_DOUBLE, "time y x", state.cells, d, 3));
    HERE(TW_ESHAPE, WORDS("'v'", "2 elements", rank_word(rank())),
         add("v", TW_DOUBLE, "level", nullptr, d, 2));
    HERE(TW_ESHAPE, WORDS("'v'", "7 elements"), add("v", TW_DOUBLE, "y x", state.cells, d, 7));
    HERE(TW_ESHAPE, {"'v'"}, add("v", TW_DOUBLE, "y", state.cells, d, 3));
    HERE(TW_EARG, {"'v'"}, add("v", TW_DOUBLE, "level", nullptr, nullptr, 3));
    HERE(TW_EARG, WORDS("'v'", "8"), add("v", TW_DOUBLE, "level", nullptr, d, 3, 8));
    HERE(TW_ETYPE, WORDS("'v'", "99"), add("v", static_cast<tw_type>(99), "level", nullptr, d, 3));
    HERE(TW_EARG, {"variable"}, add("", TW_DOUBLE, "level", nullptr, d, 3));
    HERE(TW_EEXISTS, WORDS("'h'", "double (y x)"),
         add("h", TW_FLOAT, "y x", state.cells, state.h.data(),
             static_cast<std::int64_t>(state.h.size())));
    HERE(TW_EEXISTS, {"'levels'"}, add("levels", TW_INT, "", nullptr, d, 1));
    HERE(TW_ESHAPE, WORDS("'v'", "dimensions"),
         tw_restart_add_array(r, "v", "y x", state.cells,
                              tw_strided(TW_DOUBLE, d, 1, nullptr, nullptr), TW_REQUIRED));
    HERE(TW_EARG, {"'v'"},
         tw_restart_add_array(r, "v", "y x", state.cells,
                              tw_strided(TW_DOUBLE, d, 2, nullptr, nullptr), TW_REQUIRED));
    {
        State foreign(other);
        HERE(TW_EHANDLE, WORDS("'v'", "another session"),
             add("v", TW_DOUBLE, "y x", foreign.cells, d, 3));
    }
    HERE(TW_ESHAPE, {"'new'"}, tw_def_dim(definitions_of(r), "new", 0));
    HERE(TW_ESHAPE, {"'new'"}, tw_def_dim(definitions_of(r), "new", -3));
    HERE(TW_EEXISTS, {"'x'"}, tw_def_dim(definitions_of(r), "x", 3));
    HERE(TW_ENOTFOUND, WORDS("'units'", "'v'"),
         tw_put_att_text(definitions_of(r), "v", "units", "m"));
    HERE(TW_EARG, {"'units'"}, tw_put_att_text(definitions_of(r), "h", "units", nullptr));
    HERE(TW_ETYPE, WORDS("_FillValue", "'h'"),
         tw_put_att(definitions_of(r), "h", "_FillValue", TW_FLOAT, 1, d));
    // The handle stands for definitions, so other functions refuse it.
    tw_file file = definitions_of(r);
    HERE(TW_ESTATE, WORDS("restart", "only dimensions"), tw_put(file, "h", TW_DOUBLE, d, 1));
    tw_file_info info;
    HERE(TW_ESTATE, {"restart"}, tw_inq(file, &info));
    HERE(TW_ESTATE, {"restart"}, tw_get_att(file, nullptr, "time", TW_DOUBLE, 1, d));
    HERE(TW_ESTATE, {"restart"}, tw_get(file, "h", nullptr, 0, TW_DOUBLE, d, 1));
    HERE(TW_ESTATE, {"restart"}, tw_sync(file, 0));
    HERE(TW_ESTATE, {"restart"}, tw_close(&file));
    HERE(TW_EARG, {"handle"}, tw_restart_file(r, nullptr));
    tw_file freed = definitions_of(r);
    CHECK(tw_restart_write(nullptr, "x") == TW_EHANDLE);
    CHECK(tw_restart_read(nullptr, "x", nullptr) == TW_EHANDLE);
    CHECK(tw_restart_new(nullptr, nullptr, &r) == TW_EHANDLE);
    ALL(TW_ESETTING, {"no_such"}, tw_restart_new(s, "no_such=1", &r));
    ALL(TW_EARG, {"handle"}, tw_restart_new(s, nullptr, nullptr));
    // A variable that is registered again keeps its attributes.
    OK(tw_put_att_text(definitions_of(state.restart), "u", "units", "m/s"));
    OK(state.add("u", state.u));
    // a failed call must leave nothing behind
    OK(state.write(path_of("registering.nc")));
    state.expect(path_of("registering.nc"), 1);
    if (rank() == 0) {
        int id = 0, u = 0;
        char units[4] = {};
        CHECK(nc_open(path_of("registering.nc").c_str(), NC_NOWRITE, &id) == NC_NOERR);
        CHECK(nc_inq_varid(id, "u", &u) == NC_NOERR);
        CHECK(nc_get_att_text(id, u, "units", units) == NC_NOERR && std::string(units) == "m/s");
        CHECK(nc_close(id) == NC_NOERR);
    }
    OK(tw_restart_free(&state.restart));
    CHECK(tw_def_dim(freed, "new", 3) == TW_ECLOSED);
    CHECK(tw_restart_file(state.restart, &file) == TW_EHANDLE);
    CHECK(state.restart == nullptr && tw_restart_free(&state.restart) == TW_EHANDLE);
}

void disagreeing() {
    if (ranks() == 1) return;
    const bool odd = rank() == last_rank();
    const std::string path = path_of("disagreeing.nc");
    Session s;
    State state(s);
    OK(state.write(path));
    state.set(2);
    double d = 0;
    ALL(TW_EMISMATCH, WORDS("path", rank_word(last_rank())), state.write(odd ? path + "2" : path));
    tw_file file = nullptr;
    ALL(TW_EMISMATCH, WORDS("tw_restart_read", "arguments"),
        tw_restart_read(state.restart, path.c_str(), odd ? &file : nullptr));
    ALL(TW_EMISMATCH, {"durable"},
        tw_restart_new(s, odd ? "durable=no" : "durable=yes", &state.restart));
    {
        State more(s);
        if (odd) OK(tw_restart_add(more.restart, "extra", TW_DOUBLE, "", nullptr, &d, 1, 0));
        ALL(TW_EMISMATCH, WORDS("disagreeing.nc", "extra", rank_word(last_rank())),
            more.write(path));
        ALL(CODES(TW_ENOTFOUND, TW_EMISMATCH), {"extra"}, more.read(path));
        if (!odd) OK(tw_restart_add(more.restart, "extra", TW_DOUBLE, "", nullptr, &d, 1, 0));
        const int mine = rank();
        OK(tw_put_att(definitions_of(more.restart), nullptr, "step", TW_INT, 1, &mine));
        ALL(TW_EMISMATCH, WORDS("disagreeing.nc", "'step'"), more.write(path));
    }
    CHECK(!exists(path + ".part"));
    State again(s);
    again.expect(path, 1);
}

/// Tests files that do not fit the model.
void other_files() {
    Session s;
    State state(s);
    const std::string path = path_of("other.nc");
    std::vector<double> d(1);
    // contents of a file, and words in the text of the error
    struct Other {
        std::string x, y;  // names of the dimensions
        std::int64_t nx, ny;
        tw_type type;
        std::vector<std::string> dims;
        int code;
        calls::Words words;
    };
    const std::int64_t nx = state.nx, ny = state.ny;
    const std::vector<Other> others{
        {"x", "y", nx, ny, TW_DOUBLE, {"y", "x"}, TW_OK, {}},
        {"x", "y", nx, ny, TW_FLOAT, {"y", "x"}, TW_OK, {}},
        {"x", "y", nx, ny, TW_INT, {"y", "x"}, TW_OK, {}},
        {"x", "y", nx, ny, TW_DOUBLE, {"time", "y", "x"}, TW_OK, {}},
        {"x", "y", nx, ny, TW_DOUBLE, {"x", "y"}, TW_ESHAPE, {"'h'", "other.nc", "(x="}},
        {"x", "y", nx + 1, ny, TW_DOUBLE, {"y", "x"}, TW_ESHAPE, {"'h'", "x=6", "x=5"}},
        {"x", "y", nx, ny, TW_DOUBLE, {"y"}, TW_ESHAPE, {"'h'"}},
        {"x", "lat", nx, ny, TW_DOUBLE, {"lat", "x"}, TW_ESHAPE, {"'h'", "lat="}},
        {"x", "y", nx, ny, TW_INT64, {"y", "x"}, TW_ETYPE, {"'h'", "int64", "double"}},
        {"x", "y", nx, ny, TW_CHAR, {"y", "x"}, TW_ETYPE, {"'h'", "char"}},
    };
    for (const Other& o : others) {
        if (rank() == 0) {
            Oracle oracle(path, "cdf5");
            oracle.dim("time", 0);
            oracle.dim(o.y, o.ny);
            oracle.dim(o.x, o.nx);
            oracle.dim("level", 3);
            const int h = oracle.var("h", o.type, o.dims);
            const int u = oracle.var("u", TW_DOUBLE, {o.y, o.x});
            const int levels = oracle.var("levels", TW_INT, {"level"});
            oracle.enddef();
            const std::vector<std::int32_t> three{4, 5, 6};
            oracle.require(oracle.put(levels, TW_INT, {0}, {3}, three.data()), "levels");
            if (o.code == TW_OK) {
                std::vector<double> values, minus;
                for (std::int64_t y = 0; y < ny; ++y)
                    for (std::int64_t x = 0; x < nx; ++x) values.push_back(state.value(3, y, x));
                for (const double v : values) minus.push_back(-v);
                std::vector<std::size_t> start(o.dims.size(), 0), count(o.dims.size(), 1);
                count[count.size() - 2] = static_cast<std::size_t>(ny);
                count.back() = static_cast<std::size_t>(nx);
                oracle.require(oracle.put(h, TW_DOUBLE, start, count, values.data()), "h");
                start.resize(2);
                oracle.require(
                    oracle.put(u, TW_DOUBLE, {0, 0},
                               {static_cast<std::size_t>(ny), static_cast<std::size_t>(nx)},
                               minus.data()),
                    "u");
            }
            oracle.close();
        }
        MPI_Barrier(MPI_COMM_WORLD);
        tw_file file = nullptr;
        ALL(o.code, o.words, tw_restart_read(state.restart, path.c_str(), &file));
        CHECK((file != nullptr) == (o.code == TW_OK));
        if (o.code != TW_OK) continue;
        CHECK(state.has(3) && state.levels[2] == 6);
        OK(tw_close(&file));
    }
    OK(state.write(path));
    OK(tw_restart_add(state.restart, "absent", TW_DOUBLE, "", nullptr, d.data(), 1, 0));
    ALL(TW_ENOTFOUND, WORDS("'absent'", "other.nc"), state.read(path));
    ALL(TW_EIO, {"nowhere.nc"}, state.read(path_of("nowhere.nc")));
    ALL(TW_EARG, {"empty"}, state.read(""));
    change(path, [](std::string& bytes) { bytes = "no netCDF file"; });
    ALL(TW_EFORMAT, {"other.nc"}, state.read(path));
}

/// Tests an array whose type cannot hold all values of the file's type.
void narrower_types() {
    const std::string path = path_of("types.nc");
    Session s;
    const struct {
        tw_type file, memory;
        int code;
    } cases[] = {{TW_INT, TW_INT64, TW_OK},      {TW_UINT, TW_INT64, TW_OK},
                 {TW_USHORT, TW_FLOAT, TW_OK},   {TW_SHORT, TW_UINT64, TW_ETYPE},
                 {TW_INT, TW_UINT, TW_ETYPE},    {TW_INT, TW_FLOAT, TW_ETYPE},
                 {TW_UINT64, TW_INT64, TW_ETYPE}};
    for (const auto& c : cases) {
        std::int64_t memory[8] = {};
        tw_restart out = nullptr, in = nullptr;
        OK(tw_restart_new(s, "durable=no", &out));
        OK(tw_restart_add(out, "n", c.file, "", nullptr, memory, 1, TW_REQUIRED));
        OK(tw_restart_write(out, path.c_str()));
        OK(tw_restart_new(s, "durable=no", &in));
        OK(tw_restart_add(in, "n", c.memory, "", nullptr, memory + 1, 1, TW_REQUIRED));
        ALL(c.code, c.code == TW_OK ? calls::Words{} : WORDS("'n'", "types.nc"),
            tw_restart_read(in, path.c_str(), nullptr));
        OK(tw_restart_free(&out));
        OK(tw_restart_free(&in));
    }
}

/// Tests files in which bytes have changed.
void corrupted() {
    const std::string path = path_of("corrupted.nc");
    Session s;
    State state(s), no_checks(s, "checksums=no");
    const std::int64_t y = state.ny - 1;
    const auto flip = [&](double value, int byte) {
        change(path, [&](std::string& bytes) {
            bytes[place(bytes, value) + static_cast<std::size_t>(byte)] ^= 1;
        });
    };
    const auto rewrite = [&] {
        state.set(1);
        OK(state.write(path));
        state.expect(path, 1);
    };
    rewrite();
    flip(state.value(1, y, 2), 7);
    ALL(TW_ECHECKSUM, WORDS("corrupted.nc", "'h'"), state.read(path));
    OK(no_checks.read(path));
    rewrite();
    flip(-state.value(1, 0, 3), 0);
    ALL(TW_ECHECKSUM, WORDS("corrupted.nc", "'u'"), state.read(path));
    rewrite();
    change(path, [&](std::string& bytes) {  // two values are exchanged
        const auto a = place(bytes, state.value(1, 0, 1)), b = place(bytes, state.value(1, y, 4));
        std::swap_ranges(bytes.begin() + std::ptrdiff_t(a), bytes.begin() + std::ptrdiff_t(a) + 8,
                         bytes.begin() + std::ptrdiff_t(b));
    });
    ALL(TW_ECHECKSUM, {"'h'"}, state.read(path));
    rewrite();
    flip(state.value(1, y, 2), 3);
    flip(-state.value(1, y, 2), 3);
    ALL(TW_ECHECKSUM, WORDS("'h'", "'u'"), state.read(path));
    rewrite();
    change(path + ".sums", [&](std::string& bytes) { bytes[bytes.size() - 20] ^= 1; });
    ALL(TW_ECHECKSUM, {"'u'"}, state.read(path));
    rewrite();
    change(path + ".sums", [&](std::string& bytes) { bytes.resize(40); });
    ALL(TW_EFORMAT, {"corrupted.nc.sums"}, state.read(path));
    // A changed part is found even if no reading rank holds it.
    rewrite();
    State less(s, "durable=no", 2);
    less.set(99);
    OK(less.read(path));
    CHECK(less.has(1));
    flip(state.value(1, y, 2), 7);
    ALL(TW_ECHECKSUM, {"'h'"}, less.read(path));
    // It is also found in elements that no writing rank held, which have the fill value.
    less.set(5);
    OK(less.write(path));
    OK(state.read(path));
    less.expect(path, 5);
    flip(NC_FILL_DOUBLE, 7);
    ALL(TW_ECHECKSUM, {"'h'"}, state.read(path));
    // The checksum is computed from values in the file's type.
    std::vector<float> narrow(state.h.size());
    std::vector<double> wide(state.h.size());
    tw_restart writes = nullptr, reads = nullptr;
    OK(tw_restart_new(s, "durable=no", &writes));
    OK(tw_restart_new(s, "durable=no", &reads));
    const auto n = static_cast<std::int64_t>(narrow.size());
    float scalar = 3;
    double wide_scalar = 0;
    OK(tw_restart_add(writes, "f", TW_FLOAT, "y x", state.cells, narrow.data(), n, 0));
    OK(tw_restart_add(writes, "s", TW_FLOAT, "", nullptr, &scalar, 1, 0));
    OK(tw_restart_add(reads, "f", TW_DOUBLE, "y x", state.cells, wide.data(), n, 0));
    OK(tw_restart_add(reads, "s", TW_DOUBLE, "", nullptr, &wide_scalar, 1, 0));
    for (std::size_t i = 0; i < narrow.size(); ++i)
        narrow[i] = 1.0F / static_cast<float>(3 + state.start * state.nx + std::int64_t(i));
    OK(tw_restart_write(writes, path.c_str()));
    OK(tw_restart_read(reads, path.c_str(), nullptr));
    CHECK(std::equal(wide.begin(), wide.end(), narrow.begin()) && wide_scalar == 3);
    change(path, [](std::string& bytes) { bytes[bytes.size() - 1] ^= 1; });  // a byte of the scalar
    ALL(TW_ECHECKSUM, {"'s'"}, tw_restart_read(reads, path.c_str(), nullptr));
    // truncate the file
    rewrite();
    change(path, [](std::string& bytes) { bytes.resize(bytes.size() - 40); });
    ALL(TW_EIO, WORDS("corrupted.nc", "'u'"), state.read(path));
}

/// Tests a variable of many pieces, each of which has a checksum.
void long_variable() {
    if (!base_settings.empty() || ranks() > 3) return;
    const std::string path = path_of("long.nc");
    Session s;
    const std::int64_t total = (std::int64_t(4) << 20) * ranks() + 17;
    const std::int64_t start = total * rank() / ranks();
    const std::int64_t n = total * (rank() + 1) / ranks() - start;
    tw_decomposition parts = nullptr;
    OK(tw_decompose(s, "x", 1, &total, &start, &n, &parts));
    std::vector<signed char> bytes(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = static_cast<signed char>((start + std::int64_t(i)) * 31 % 101);
    std::vector<std::int16_t> wide(bytes.size());
    tw_restart writes = nullptr, reads = nullptr;
    OK(tw_restart_new(s, "durable=no", &writes));
    OK(tw_restart_new(s, "durable=no", &reads));
    OK(tw_restart_add(writes, "b", TW_BYTE, "x", parts, bytes.data(), n, 0));
    OK(tw_restart_add(reads, "b", TW_SHORT, "x", parts, wide.data(), n, 0));
    OK(tw_restart_write(writes, path.c_str()));
    OK(tw_restart_read(reads, path.c_str(), nullptr));
    CHECK(std::equal(bytes.begin(), bytes.end(), wide.begin()));
    change(path, [](std::string& file) { file[file.size() - 8] ^= 1; });
    ALL(TW_ECHECKSUM, {"'b'"}, tw_restart_read(reads, path.c_str(), nullptr));
}

/// Tests that the existing file stays if a write fails.
void failing_writes() {
    const std::string path = path_of("failing.nc");
    Session s;
    State state(s, "");
    OK(state.write(path));
    state.set(2);
    ALL(TW_EIO, {"no/such"}, state.write(path_of("no/such/file.nc")));
    ALL(TW_EIO, {"directory"}, state.write(folder));
    {
        State in_use(s);
        tw_file file = nullptr;
        OK(tw_open(s, path.c_str(), nullptr, &file));
        ALL(TW_EINUSE, {"failing.nc"}, in_use.write(path));
        OK(tw_close(&file));
    }
    struct rlimit before {};
    getrlimit(RLIMIT_FSIZE, &before);
    struct rlimit small = before;
    small.rlim_cur = 4300;  // a limit on the file size that lies within the header
    setrlimit(RLIMIT_FSIZE, &small);
    ALL(TW_EIO, WORDS("failing.nc", "File too large"), state.write(path));
    setrlimit(RLIMIT_FSIZE, &before);
    state.expect(path, 1);
    state.set(3);
    OK(state.write(path));
    CHECK(!exists(path + ".part"));
    state.expect(path, 3);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    ::signal(SIGXFSZ, SIG_IGN);
    const std::string root = check::make_folder("restart_calls");
    for (const std::string set : {"", "method=record; node_size=2; writers=1/node",
                                  "service=background", "method=direct"}) {
        base_settings = set;
        folder = root + "/" + std::to_string(std::hash<std::string>{}(set) % 100000);
        if (rank() == 0) ::mkdir(folder.c_str(), 0777);
        MPI_Barrier(MPI_COMM_WORLD);
        const std::pair<const char*, void (*)()> tests[] = {
            {"registering", registering},      {"disagreeing", disagreeing},
            {"other_files", other_files},      {"corrupted", corrupted},
            {"long_variable", long_variable},  {"failing_writes", failing_writes},
            {"narrower_types", narrower_types}};
        for (const auto& [name, run] : tests) {
            check::state.test = std::string(name) + " [" + set + "]";
            run();
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    return check::verdict("restart_calls");
}
