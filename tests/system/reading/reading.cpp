// Tests reading files that serial netCDF-C wrote: random dimensions, types, formats, records,
// chunks and filters, read by random decompositions with halos, as other types, on any number of
// ranks and nodes.
//
// SPDX-License-Identifier: Apache-2.0
//
// The reference for every element is netCDF-C's own conversion of that one element.
#include <netcdf.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "section.hpp"
#include "support/parts.hpp"
#include "system/check.hpp"
#include "system/oracle.hpp"
#include "system/random.hpp"
#include "system/random_settings.hpp"
#include "system/values.hpp"
#include "thalweg/thalweg.h"

namespace {

struct FileVariable {
    std::string name;
    tw_type type = TW_FLOAT;
    std::vector<int> dims;  // numbers of the dimensions in the file, slowest first, without the
                            // record dimension
    bool record = false;
};

/// The contents of a file, which the seed determines.
struct Contents {
    std::string format;
    std::vector<std::int64_t> dims;
    std::vector<FileVariable> variables;
    int records = 0;
};

Contents make_contents(Random& random) {
    Contents c;
    c.format = random.pick(
        std::vector<std::string>{"cdf1", "cdf2", "cdf5", "netcdf4", "netcdf4", "netcdf4-classic"});
    const std::int64_t nd = random.between(1, 4);
    for (std::int64_t d = 0; d < nd; ++d) c.dims.push_back(random.between(1, 9));
    c.records = static_cast<int>(random.between(1, 3));
    for (std::int64_t v = random.between(1, 6); v > 0; --v) {
        FileVariable var;
        var.name = "v" + std::to_string(v);
        var.type =
            random.pick(c.format == "cdf5" || c.format == "netcdf4" ? all_types() : cdf2_types());
        var.record = random.percent(50);
        std::vector<int> all(c.dims.size());
        std::iota(all.begin(), all.end(), 0);
        random.shuffle(all);
        all.resize(static_cast<std::size_t>(random.between(0, nd)));
        var.dims = all;
        if (!all.empty() && random.percent(5)) var.dims.push_back(all[0]);  // a square matrix
        c.variables.push_back(var);
    }
    return c;
}

std::string dim_name(int d) { return "dim " + std::to_string(d); }
std::string plain_name(int d) { return "dim_" + std::to_string(d); }

/// Makes values of every magnitude, except those whose conversion to another type is undefined in
/// C.
void make_values(std::vector<char>& bytes, tw_type type, Random& random) {
    const auto size = static_cast<std::size_t>(type_size(type));
    for (std::size_t at = 0; at < bytes.size(); at += size) {
        if (is_floating(type)) {
            const double scales[] = {1, 100, 40000, 3e9, 1e30};
            const double scale = scales[random.below(5)];
            put_floating(bytes.data() + at, type,
                         scale * (static_cast<double>(random.below(2000001)) / 1e6 - 1));
        } else {
            make_value(bytes.data() + at, type, type, random.next());
        }
    }
}

/// Chooses one of the ways in which netCDF-C can store a variable in HDF5.
void define_storage(const Oracle& oracle, int var, const FileVariable& v, bool grows,
                    const std::vector<std::int64_t>& length, Random& random) {
    const auto require = [&](int code, const char* call) { oracle.require(code, call); };
    const int id = oracle.id();
    if (random.percent(30) && v.type != TW_CHAR)
        require(nc_def_var_endian(id, var, random.percent(50) ? NC_ENDIAN_BIG : NC_ENDIAN_LITTLE),
                "nc_def_var_endian");
    if (length.empty()) return;
    const bool free = !v.record && !grows;
    std::int64_t bytes = type_size(v.type);
    for (const std::int64_t n : length) bytes *= n;
    if (free && bytes < 65536 && random.percent(20)) {  // HDF5 can keep no more in the header of a
                                                        // variable
        require(nc_def_var_chunking(id, var, NC_COMPACT, nullptr), "nc_def_var_chunking");
        return;
    }
    if (free && random.percent(20)) return;
    if (random.percent(70)) {
        std::vector<std::size_t> chunk;
        for (const std::int64_t n : length)
            chunk.push_back(static_cast<std::size_t>(random.between(1, n > 0 ? n : 4)));
        require(nc_def_var_chunking(id, var, NC_CHUNKED, chunk.data()), "nc_def_var_chunking");
    }
    if (random.percent(50))
        require(nc_def_var_deflate(id, var, random.percent(50), random.percent(70), 2),
                "nc_def_var_deflate");
    if (random.percent(30))
        require(nc_def_var_fletcher32(id, var, NC_FLETCHER32), "nc_def_var_fletcher32");
}

void write_file(const std::string& path, const Contents& c, Random& random) {
    Oracle oracle(path, c.format);
    const bool hdf5 = c.format.rfind("netcdf4", 0) == 0;
    // The record dimension is the first one without a length. Another one may also be unlimited.
    const int growing = c.format == "netcdf4" && random.percent(40) ? 0 : -1;
    if (growing >= 0) oracle.dim("time", NC_UNLIMITED);
    for (std::size_t d = 0; d < c.dims.size(); ++d)
        oracle.dim(plain_name(static_cast<int>(d)),
                   static_cast<int>(d) == growing ? std::int64_t(NC_UNLIMITED) : c.dims[d]);
    oracle.dim(dim_name(99), 3);  // a name that decompositions cannot have
    oracle.dim("time", NC_UNLIMITED);
    std::vector<int> ids;
    for (const FileVariable& v : c.variables) {
        std::vector<std::string> names;
        if (v.record) names.emplace_back("time");
        for (const int d : v.dims) names.push_back(plain_name(d));
        ids.push_back(oracle.var(v.name, v.type, names));
        oracle.att(ids.back(), "units", TW_CHAR, random.below(6), "metres");
        std::vector<char> values(5 * static_cast<std::size_t>(type_size(v.type)));
        make_values(values, v.type, random);
        oracle.att(ids.back(), "values", v.type, random.between(0, 5), values.data());
        if (random.percent(30))
            oracle.require(nc_def_var_fill(oracle.id(), ids.back(), 0, values.data()),
                           "nc_def_var_fill");
        if (!hdf5) continue;
        std::vector<std::int64_t> length;
        if (v.record) length.push_back(0);
        bool grows = false;
        for (const int d : v.dims) {
            grows |= d == growing;
            length.push_back(d == growing ? 0 : c.dims[static_cast<std::size_t>(d)]);
        }
        define_storage(oracle, ids.back(), v, grows, length, random);
    }
    const int last = growing < 0 ? -1 : oracle.var("long", TW_BYTE, {plain_name(growing)});
    oracle.att(NC_GLOBAL, "title", TW_CHAR, 4, "test");
    oracle.enddef(static_cast<std::size_t>(random.below(3) * 100));
    if (last >= 0) {
        const std::vector<char> ones(static_cast<std::size_t>(c.dims[0]), 1);
        oracle.require(oracle.put(last, TW_BYTE, {0}, {ones.size()}, ones.data()), "nc_put_vara");
    }
    bool all_records = false;
    for (std::size_t i = 0; i < c.variables.size(); ++i) {
        const FileVariable& v = c.variables[i];
        std::vector<std::size_t> start, count;
        std::int64_t n = 1;
        // Variables are not written completely, but one of them has all records.
        const auto add = [&](std::int64_t length) {
            start.push_back(0);
            count.push_back(static_cast<std::size_t>(length));
            n *= length;
        };
        if (v.record)
            add(all_records && random.percent(20) ? random.between(1, c.records) : c.records);
        all_records |= v.record;
        for (const int d : v.dims) {
            const std::int64_t length = c.dims[static_cast<std::size_t>(d)];
            add(random.percent(10) ? random.between(1, length) : length);
        }
        std::vector<char> values(static_cast<std::size_t>(n * type_size(v.type)));
        make_values(values, v.type, random);
        oracle.require(oracle.put(ids[i], v.type, start, count, values.data()), "nc_put_vara");
    }
    oracle.close();
}

/// One get of one rank: its decomposition, its array, and the expected contents.
struct Get {
    int variable = 0;
    std::int64_t record = 0;
    tw_type memory = TW_FLOAT;
    parts::Decomposition form;
    tw_decomposition decomposition = nullptr;
    std::vector<tw_edge> edges;
    parts::Array array;
    std::vector<char> expected;
};

/// Reads the section by netCDF-C, as the expected result. Each element is read by itself: of
/// variables with several unlimited dimensions, nc_get_vars gives wrong sections.
void expected(int id, int var, const Section& s, tw_type type, char* to) {
    for (std::int64_t i = 0; i < s.n; ++i, to += type_size(type)) {
        std::vector<std::size_t> at(s.count.size() + 1);
        std::int64_t rest = i;
        for (std::size_t d = s.count.size(); d-- > 0; rest /= s.count[d])
            at[d] = static_cast<std::size_t>(s.start[d] + rest % s.count[d] * s.stride[d]);
        const int status = nc_get_var1(id, var, at.data(), to);
        CHECK_TEXT(status == NC_NOERR, "nc_get_var1: {}", nc_strerror(status));
    }
}

class Run {
public:
    Run(std::uint64_t seed, std::string path) : seed_(seed), path_(std::move(path)) {}

    void all() {
        Random random(seed_);  // makes the same choices on all ranks
        contents_ = make_contents(random);
        draw_straight(random);
        const std::string settings = RandomSettings::reading().draw(random);
        check::step("seed {}: write", seed_);
        if (check::state.rank == 0) {
            Random values(mix(seed_, 1));
            write_file(path_, contents_, values);
        }
        MPI_Barrier(check::state.comm);
        CHECK(nc_open(path_.c_str(), NC_NOWRITE, &id_) == NC_NOERR);
        expect(tw_init(check::state.comm, settings.c_str(), &session_), "tw_init");
        expect(tw_open(session_, path_.c_str(), nullptr, &file_), "tw_open");
        if (file_ != nullptr) {
            inquire();
            for (int batch = 0; batch < 3; ++batch) read_batch(random);
            for (int i = 0; i < 5; ++i) read_section(random);
        }
        if (random.percent(50) && file_ != nullptr) expect(tw_close(&file_), "tw_close");
        expect(tw_finalize(&session_), "tw_finalize");
        nc_close(id_);
        MPI_Barrier(check::state.comm);
    }

private:
    void expect(int status, const char* call) {
        CHECK_TEXT(status == TW_OK, "seed {}: {} gives {}: {}", seed_, call, status,
                   tw_error_message(session_));
    }

    /// Compares everything that netCDF's inquiry functions return.
    void inquire() {
        check::step("seed {}: inquire", seed_);
        int ndims = 0, nvars = 0, natts = 0, unlimited = -1;
        nc_inq(id_, &ndims, &nvars, &natts, &unlimited);
        const char* name = nullptr;
        tw_file_info info{};
        expect(tw_inq(file_, &info), "tw_inq");
        std::size_t n = 0;
        nc_inq_dimlen(id_, unlimited, &n);
        CHECK(info.ndims == ndims && info.nvars == nvars && info.natts == natts &&
              contents_.format == info.format);
        CHECK(info.records == static_cast<std::int64_t>(n));
        char text[NC_MAX_NAME + 1];
        for (int d = 0; d < ndims; ++d) {
            nc_inq_dim(id_, d, text, &n);
            std::int64_t length = -1;
            expect(tw_inq_name(file_, TW_DIMENSION, nullptr, d, &name), "tw_inq_name");
            CHECK(std::string(name) == text);
            expect(tw_inq_dim(file_, text, &length), "tw_inq_dim");
            CHECK(length == static_cast<std::int64_t>(n));
        }
        CHECK(std::string(info.unlimited) == "time");
        for (int v = 0; v < nvars; ++v) inquire_variable(v);
        inquire_attributes(NC_GLOBAL, "", natts);
    }

    void inquire_variable(int v) {
        char text[NC_MAX_NAME + 1];
        nc_type type = 0;
        int nd = 0, na = 0, dims[NC_MAX_VAR_DIMS];
        nc_inq_var(id_, v, text, &type, &nd, dims, &na);
        const char* name = nullptr;
        expect(tw_inq_name(file_, TW_VARIABLE, nullptr, v, &name), "tw_inq_name");
        CHECK(std::string(name) == text);
        tw_type own_type{};
        int own_nd = 0, own_na = 0;
        expect(tw_inq_var(file_, text, &own_type, &own_nd, &own_na), "tw_inq_var");
        CHECK(static_cast<nc_type>(own_type) == type && own_nd == nd && own_na == na);
        for (int d = 0; d < nd; ++d) {
            char dim[NC_MAX_NAME + 1];
            std::size_t n = 0;
            nc_inq_dim(id_, dims[d], dim, &n);
            std::int64_t length = -1;
            expect(tw_inq_var_dim(file_, text, d, &name, &length), "tw_inq_var_dim");
            CHECK(std::string(name) == dim && length == static_cast<std::int64_t>(n));
        }
        inquire_attributes(v, text, na);
    }

    void inquire_attributes(int var, const char* owner, int natts) {
        for (int a = 0; a < natts; ++a) {
            char text[NC_MAX_NAME + 1];
            nc_type type = 0;
            std::size_t n = 0;
            nc_inq_attname(id_, var, a, text);
            nc_inq_att(id_, var, text, &type, &n);
            const char* name = nullptr;
            expect(tw_inq_name(file_, TW_ATTRIBUTE, owner, a, &name), "tw_inq_name");
            CHECK(std::string(name) == text);
            tw_type own_type{};
            std::int64_t own_n = -1;
            expect(tw_inq_att(file_, owner, text, &own_type, &own_n), "tw_inq_att");
            CHECK(static_cast<nc_type>(own_type) == type && own_n == static_cast<std::int64_t>(n));
            if (type == NC_CHAR) {
                std::string expected(n, '\0'), own(n + 1, '?');
                nc_get_att_text(id_, var, text, expected.data());
                expect(tw_get_att_text(file_, owner, text, own_n + 1, own.data()),
                       "tw_get_att_text");
                CHECK(own == expected + '\0');
                CHECK(tw_get_att_text(file_, owner, text, own_n, own.data()) == TW_ESHAPE);
                continue;
            }
            std::vector<char> expected(n * 8 + 8), own(n * 8 + 8);
            nc_get_att(id_, var, text, expected.data());
            expect(tw_get_att(file_, owner, text, own_type, own_n, own.data()), "tw_get_att");
            CHECK(own == expected);
            // If netCDF can convert all values, the results are equal; otherwise both refuse.
            std::vector<std::int32_t> a4(n + 1), b4(n + 1);
            const bool fits = nc_get_att_int(id_, var, text, a4.data()) == NC_NOERR;
            const int status = tw_get_att(file_, owner, text, TW_INT, own_n, b4.data());
            CHECK_TEXT(status == (fits ? TW_OK : TW_ERANGE), "{}", status);
            if (fits) CHECK(a4 == b4);
        }
    }

    void decompose(const FileVariable& v, Random& random, Get& get) {
        get.form = parts::make_decomposition(
            random, v.dims, contents_.dims, check::state.size,
            random.percent(15) ? parts::Cover::shared : parts::Cover::some);
        std::vector<std::string> names;
        for (std::size_t d = 0; d < contents_.dims.size(); ++d)
            names.push_back(plain_name(static_cast<int>(d)));
        expect(parts::declare(session_, names, get.form, check::state.rank, &get.decomposition),
               "tw_decompose");
        if (get.form.listed > 0 || random.percent(30)) return;
        for (tw_edge& edge : get.edges) edge = static_cast<tw_edge>(random.below(3));
        expect(tw_fill_halo(get.decomposition, get.edges.data()), "tw_fill_halo");
    }

    /// Gets the value of an element in the type in memory. Returns true if netCDF-C can convert it.
    bool element(const Get& get, const std::vector<std::int64_t>& index, char* to) {
        const FileVariable& v = contents_.variables[static_cast<std::size_t>(get.variable)];
        std::vector<std::size_t> start, one;
        if (v.record) start.push_back(static_cast<std::size_t>(get.record));
        for (const std::int64_t i : index) start.push_back(static_cast<std::size_t>(i));
        one.assign(start.size() + 1, 1);
        start.push_back(0);
        const int status = get_values(id_, get.variable, get.memory, start, one, to);
        if (status == NC_NOERR) return true;
        CHECK_TEXT(status == NC_ERANGE, nc_strerror(status));
        fill_value(get.memory, to);
        return false;
    }

    static void fill_value(tw_type type, char* to) {
        switch (type) {
            case TW_BYTE: return put_value(to, NC_FILL_BYTE);
            case TW_CHAR: return put_value(to, NC_FILL_CHAR);
            case TW_SHORT: return put_value(to, NC_FILL_SHORT);
            case TW_INT: return put_value(to, std::int32_t(NC_FILL_INT));
            case TW_FLOAT: return put_value(to, NC_FILL_FLOAT);
            case TW_DOUBLE: return put_value(to, NC_FILL_DOUBLE);
            case TW_UBYTE: return put_value(to, std::uint8_t(NC_FILL_UBYTE));
            case TW_USHORT: return put_value(to, std::uint16_t(NC_FILL_USHORT));
            case TW_UINT: return put_value(to, std::uint32_t(NC_FILL_UINT));
            case TW_INT64: return put_value(to, std::int64_t(NC_FILL_INT64));
            case TW_UINT64: return put_value(to, std::uint64_t(NC_FILL_UINT64));
        }
    }

    /// Makes the expected contents of the array. Returns true if all values fit its type.
    bool prepare(Get& get) {
        const FileVariable& v = contents_.variables[static_cast<std::size_t>(get.variable)];
        parts::Array wanted = get.array;
        bool fits = true;
        wanted.for_each_filled(
            get.edges, get.form.shape, [&](char* to, const std::vector<std::int64_t>& index, bool) {
                fits &= element(get, parts::in_order(get.form, v.dims, index), to);
            });
        get.expected = wanted.bytes;
        return fits;
    }

    int issue(Get& get, bool deferred) {
        const std::string& name = contents_.variables[static_cast<std::size_t>(get.variable)].name;
        return tw_get_array(file_, name.c_str(), get.decomposition, get.record,
                            get.array.handle(get.memory), deferred ? TW_DEFERRED : 0);
    }

    void read_batch(Random& random) {
        const bool deferred = random.percent(50);
        std::vector<Get> gets(static_cast<std::size_t>(deferred ? random.between(0, 5) : 1));
        Random own(mix(random.next(), static_cast<std::uint64_t>(check::state.rank)));
        bool fits = true;
        for (Get& get : gets) {
            get.variable = static_cast<int>(
                random.below(static_cast<std::int64_t>(contents_.variables.size())));
            const FileVariable& v = contents_.variables[static_cast<std::size_t>(get.variable)];
            get.record = random.below(contents_.records);
            get.memory = v.type == TW_CHAR || own.percent(50) ? v.type : own.pick(number_types());
            std::vector<int> sorted = v.dims;
            std::sort(sorted.begin(), sorted.end());
            const bool twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
            get.edges.assign(v.dims.size(), TW_HALO_KEEP);
            get.form = parts::whole(v.dims, contents_.dims, check::state.size);
            if (!v.dims.empty() && !twice && !random.percent(20)) decompose(v, random, get);
            // The strided arrays of all ranks have halos, or none does.
            get.array = parts::place_array(get.form, check::state.rank, own.percent(30),
                                           random.percent(50), type_size(get.memory), own);
            fits &= prepare(get);
        }
        int all_fit = fits ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &all_fit, 1, MPI_INT, MPI_MIN, check::state.comm);
        // read twice, because the plan exists the second time
        for (int again = 0; again < 2; ++again) {
            check::step("seed {}: read", seed_);
            int status = TW_OK;
            for (Get& get : gets) {
                status = issue(get, deferred);
                if (deferred) expect(status, "tw_get_array");
                if (deferred && random.percent(30)) expect(tw_prefetch(file_), "tw_prefetch");
            }
            if (deferred) status = tw_read(file_);
            CHECK_TEXT(status == (all_fit ? TW_OK : TW_ERANGE), "seed {}: {}: {}", seed_, status,
                       tw_error_message(session_));
            for (const Get& get : gets) compare(get);
        }
    }

    /// Reads another section on each rank, or the same one, and compares it with netCDF-C's.
    void read_section(Random& random) {
        Random own(mix(random.next(), static_cast<std::uint64_t>(check::state.rank)));
        const auto var = static_cast<int>(random.below(std::ssize(contents_.variables)));
        const FileVariable& v = contents_.variables[static_cast<std::size_t>(var)];
        std::vector<std::int64_t> shape;
        if (v.record) shape.push_back(contents_.records);
        for (const int d : v.dims) shape.push_back(contents_.dims[static_cast<std::size_t>(d)]);
        const bool same = random.percent(20);
        Random alike(random.next());
        Section s(shape, same ? alike : own);
        if (!same && own.percent(10) && !s.count.empty()) {  // this rank reads nothing
            s.count[0] = 0;
            s.n = 0;
        }
        const auto bytes = static_cast<std::size_t>(s.n * type_size(v.type));
        std::vector<char> wanted(bytes + 8, 'g'), got(bytes + 8, 'g');
        expected(id_, var, s, v.type, wanted.data());
        const bool ones =
            std::all_of(s.stride.begin(), s.stride.end(), [](std::int64_t k) { return k == 1; });
        check::step("seed {}: section of {}", seed_, v.name);
        expect(tw_get_box(file_, v.name.c_str(), v.type, s.start.data(), s.count.data(),
                          ones && own.percent(50) ? nullptr : s.stride.data(),
                          s.n == 0 ? nullptr : got.data()),
               "tw_get_box");
        CHECK_TEXT(got == wanted, "seed {}: {} ({}): the section differs", seed_, v.name,
                   type_name(v.type));
    }

    void compare(const Get& get) {
        ++check::state.checks;
        if (get.array.bytes == get.expected) return;
        const auto at =
            std::mismatch(get.array.bytes.begin(), get.array.bytes.end(), get.expected.begin());
        const FileVariable& v = contents_.variables[static_cast<std::size_t>(get.variable)];
        check::fail(__FILE__, __LINE__,
                    check::text("seed {}: {} ({}) record {} as {}{}{}: byte {} of {} differs",
                                seed_, v.name, type_name(v.type), get.record, type_name(get.memory),
                                get.array.strided ? ", strided" : "",
                                get.decomposition == nullptr ? ", whole" : "",
                                at.first - get.array.bytes.begin(), get.array.bytes.size()));
    }

    std::uint64_t seed_;
    std::string path_;
    Contents contents_;
    int id_ = -1;
    tw_session session_ = nullptr;
    tw_file file_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const auto seed =
        static_cast<std::uint64_t>(std::atoll(check::option(argc, argv, "--seed", "1").c_str()));
    const long cases = std::atol(check::option(argc, argv, "--cases", "1000").c_str());
    const double seconds = std::atof(check::option(argc, argv, "--seconds", "5").c_str());
    const std::string folder = check::make_folder("reading");
    const auto begin = std::chrono::steady_clock::now();
    long done = 0;
    for (; done < cases; ++done) {
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
        if (!check::everywhere(spent.count() < seconds && check::state.failures == 0)) break;
        Run(mix(seed, static_cast<std::uint64_t>(done)), folder + "/file.nc").all();
    }
    if (check::state.rank == 0) std::fprintf(stderr, "reading: %ld cases\n", done);
    return check::verdict("reading");
}
