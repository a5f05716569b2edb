// Compares random cases with the serial reference: whatever the decomposition or list, memory
// order, halo, stride, type, method, storage, budget and node size, the file must be byte for byte
// the one that serial netCDF-C writes; a netCDF-4 file must have the same contents, whatever the
// chunks and filters. Some variables are read back, too.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: property [--seed N] [--cases N] [--first N] [--seconds N] [--ncvalidator PATH] [--keep]
//                 [--verbose] [--method M] [--storage S] [--servers N [--last]]
// A case depends on seed, number and rank count only; the same three replay it.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "case.hpp"
#include "system/check.hpp"
#include "system/compare.hpp"
#include "system/compare_netcdf4.hpp"
#include "system/oracle.hpp"
#include "system/random.hpp"
#include "system/values.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr int cases_per_session = 20;

// ---- the reference -----------------------------------------------------------------------------

// Puts attributes. An attribute that is put again keeps its position and gets the later value.
void put_attributes(Oracle& oracle, const std::vector<Attribute>& attributes) {
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        const auto same = [&](const Attribute& other) {
            return other.var == attributes[i].var && other.name == attributes[i].name;
        };
        const auto here = attributes.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::any_of(attributes.begin(), here, same)) continue;
        const Attribute& a = *std::find_if(attributes.rbegin(), attributes.rend(), same);
        oracle.att(a.var < 0 ? NC_GLOBAL : a.var, a.name, a.type, a.n, a.values.data());
    }
}

void write_reference(const Case& c, std::size_t file, const std::string& path) {
    const File& f = c.files[file];
    Oracle oracle(path, f.format);
    const auto dim = [&](int d) {
        const Dim& x = c.dims[static_cast<std::size_t>(d)];
        oracle.dim(x.name, x.length);
        return x.name;
    };
    if (f.defines_time) oracle.dim(time_name, 0);
    for (const int d : f.defined_dims) dim(d);
    int a_record_variable = -1;
    for (const Variable& v : f.vars) {
        std::vector<std::string> names;
        if (v.record) {
            oracle.dim(time_name, 0);
            names.emplace_back(time_name);
        }
        for (const int d : v.dims) names.push_back(dim(d));
        const int id = oracle.var(v.name, v.type, names);
        if (v.record) a_record_variable = id;
    }
    put_attributes(oracle, f.attributes);
    oracle.enddef(f.header_pad);

    std::vector<char> bytes;
    for (int s = 0; s <= f.steps; ++s) {
        const auto& of_ranks = f.puts[static_cast<std::size_t>(s)];
        for (std::size_t r = 0; r < of_ranks.size(); ++r) {
            for (const Put& put : of_ranks[r]) {
                if (put.replaced) continue;
                const Variable& v = f.vars[static_cast<std::size_t>(put.var)];
                const std::size_t skip = v.record ? 1 : 0;
                std::vector<std::size_t> start(v.dims.size() + skip, 0);
                std::vector<std::size_t> count(v.dims.size() + skip, 1);
                if (v.record) start[0] = static_cast<std::size_t>(s);
                const Hasher hash(c, file, put, s);
                const std::int64_t size = type_size(put.memory);
                if (v.decomposition < 0 && r > 0) continue;
                const Decomposition x = c.decomposition_of(v);
                for (Box box : x.boxes[r]) {
                    box = {parts::in_order(x, v.dims, box.start),
                           parts::in_order(x, v.dims, box.count)};
                    if (volume(box) == 0) continue;
                    bytes.resize(static_cast<std::size_t>(volume(box) * size));
                    char* to = bytes.data();
                    std::vector<std::int64_t> global(box.start.size());
                    parts::for_each_index(box.count, [&](const std::vector<std::int64_t>& index) {
                        for (std::size_t d = 0; d < index.size(); ++d)
                            global[d] = box.start[d] + index[d];
                        make_value(to, put.memory, v.type, hash(v.dims, global));
                        to += size;
                    });
                    for (std::size_t d = 0; d < box.start.size(); ++d) {
                        start[d + skip] = static_cast<std::size_t>(box.start[d]);
                        count[d + skip] = static_cast<std::size_t>(box.count[d]);
                    }
                    oracle.require(oracle.put(put.var, put.memory, start, count, bytes.data()),
                                   "nc_put_vara");
                }
            }
        }
        bool ended = s < f.steps;
        for (const auto& puts : of_ranks)
            for (const Put& put : puts)
                ended = ended || f.vars[static_cast<std::size_t>(put.var)].record;
        if (ended && a_record_variable >= 0) {
            // A step in which no rank holds anything is a record, too. Put one fill value to create
            // it.
            std::size_t records = 0;
            int unlimited = -1;
            oracle.require(nc_inq_unlimdim(oracle.id(), &unlimited), "nc_inq_unlimdim");
            oracle.require(nc_inq_dimlen(oracle.id(), unlimited, &records), "nc_inq_dimlen");
            if (records <= static_cast<std::size_t>(s)) {
                const Variable& v = f.vars[static_cast<std::size_t>(a_record_variable)];
                std::vector<std::size_t> start(v.dims.size() + 1, 0);
                const std::vector<std::size_t> count(v.dims.size() + 1, 1);
                start[0] = static_cast<std::size_t>(s);
                std::array<char, 8> fill{};
                oracle.require(
                    nc_inq_var_fill(oracle.id(), a_record_variable, nullptr, fill.data()),
                    "nc_inq_var_fill");
                oracle.require(oracle.put(a_record_variable, v.type, start, count, fill.data()),
                               "nc_put_vara");
            }
        }
    }
    if (!f.late_attributes.empty()) {
        oracle.redef();
        put_attributes(oracle, f.late_attributes);
        oracle.enddef_again();
    }
    oracle.close();
}

// ---- the library -------------------------------------------------------------------------------

// Runs a case through the library. All ranks make the same collective calls even if a call fails,
// so that a wrong result does not become a hang.
class Runner {
public:
    Runner(tw_session session, const Case& c, std::string folder)
        : session_(session), case_(c), folder_(std::move(folder)) {}

    bool run() {
        for (const Decomposition& x : case_.decompositions) decompositions_.push_back(decompose(x));
        std::vector<tw_file> handles(case_.files.size(), nullptr);
        int steps = 0;
        for (std::size_t k = 0; k < handles.size(); ++k) {
            define(k, decompositions_, &handles[k]);
            steps = std::max(steps, case_.files[k].steps);
        }
        kept_.resize(handles.size());
        // write several files at the same time, step by step
        for (int s = 0; s <= steps; ++s)
            for (std::size_t k = 0; k < handles.size(); ++k) {
                const File& f = case_.files[k];
                if (s > f.steps) continue;
                put_step(handles[k], k, s);
                if (s == f.steps) {
                    late_attributes(handles[k], f);
                    check::step("{} close {}", name_, f.name);
                    expect(tw_close(&handles[k]), "tw_close");
                    kept_[k].clear();
                    continue;
                }
                check::step("{} end_step {} {}", name_, s, f.name);
                expect(tw_end_step(handles[k]), "tw_end_step");
                for (Array& array : kept_[k]) parts::make_junk(array.bytes, 99);
                kept_[k].clear();
                if (f.sync[static_cast<std::size_t>(s)]) expect(tw_sync(handles[k], 0), "tw_sync");
            }
        return good_;
    }

    /// Reads some variables of a file with other decompositions and types, and compares the values
    /// with those that serial netCDF reads. Collective; the file must be complete.
    bool read_back(std::size_t k, const std::string& expected) {
        const File& f = case_.files[k];
        Random random(mix(case_.seed, k + 4711));  // makes the same choices on all ranks
        if (!random.percent(30)) return good_;
        Random own(mix(case_.seed, k + 4711 + 100 * static_cast<std::uint64_t>(check::state.rank)));
        check::step("{} open {}", name_, f.name);
        tw_file handle = nullptr;
        expect(tw_open(session_, (folder_ + "/" + f.name).c_str(), nullptr, &handle), "tw_open");
        int id = -1;
        if (nc_open(expected.c_str(), NC_NOWRITE, &id) != NC_NOERR) return false;
        for (int tries = 0; tries < 4; ++tries) {
            const int v = static_cast<int>(random.below(static_cast<std::int64_t>(f.vars.size())));
            const Variable& var = f.vars[static_cast<std::size_t>(v)];
            std::size_t records = 0;
            int unlimited = -1;
            if (var.record) {
                nc_inq_unlimdim(id, &unlimited);
                nc_inq_dimlen(id, unlimited, &records);
                if (records == 0) continue;
            }
            const std::int64_t record = random.below(static_cast<std::int64_t>(records));
            // Any decomposition of the same dimensions can be used, in any order of dimensions.
            std::vector<int> fitting{-1};
            for (std::size_t x = 0; x < case_.decompositions.size(); ++x) {
                const Decomposition& one = case_.decompositions[x];
                if (one.unnamed ? one.dims == var.dims
                                : std::is_permutation(one.dims.begin(), one.dims.end(),
                                                      var.dims.begin(), var.dims.end()))
                    fitting.push_back(static_cast<int>(x));
            }
            const int x = random.pick(fitting);
            const tw_type memory =
                var.type == TW_CHAR || own.percent(60) ? var.type : own.pick(wider_types(var.type));
            check::step("{} get {} of {}", name_, var.name, f.name);
            const Decomposition form =
                x < 0 ? parts::whole(var.dims, case_.lengths(), check::state.size)
                      : case_.decompositions[static_cast<std::size_t>(x)];
            const bool with_halo = random.percent(50);
            Array array = parts::place_array(form, check::state.rank, own.percent(30), with_halo,
                                             type_size(memory), own);
            Array wanted = array;
            read_reference(id, v, var, record, memory, form, wanted);
            const tw_decomposition d =
                x < 0 ? nullptr : decompositions_[static_cast<std::size_t>(x)];
            const int status = array.strided ? tw_get_array(handle, var.name.c_str(), d, record,
                                                            array.handle(memory), 0)
                                             : tw_get(handle, var.name.c_str(), d, record, memory,
                                                      array.bytes.data(), array.n);
            expect(status, "tw_get");
            ++check::state.checks;
            if (array.bytes != wanted.bytes && good_) {
                const auto at =
                    std::mismatch(array.bytes.begin(), array.bytes.end(), wanted.bytes.begin())
                        .first -
                    array.bytes.begin();
                check::fail(__FILE__, __LINE__,
                            check::text("{} record {} read as {} with decomposition {}{} differs "
                                        "from byte {} of the array of {}",
                                        var.name, record, type_name(memory), x,
                                        array.strided ? ", strided" : "", at, array.bytes.size()));
                good_ = false;
            }
        }
        nc_close(id);
        expect(tw_close(&handle), "tw_close");
        return good_;
    }

    void set_name(std::string name) { name_ = std::move(name); }

private:
    static std::vector<tw_type> wider_types(tw_type type) {
        std::vector<tw_type> result{TW_DOUBLE};
        for (const tw_type t : number_types())
            if (!is_floating(type) && !is_floating(t) && lowest(t) <= lowest(type) &&
                highest(t) >= highest(type))
                result.push_back(t);
        return result;
    }

    // Makes the expected array after a read: only the elements of its boxes change.
    void read_reference(int id, int v, const Variable& var, std::int64_t record, tw_type memory,
                        const Decomposition& form, Array& array) const {
        const std::size_t skip = var.record ? 1 : 0;
        std::vector<std::size_t> lengths;
        std::size_t elements = 1;
        for (const int d : var.dims) {
            lengths.push_back(
                static_cast<std::size_t>(case_.dims[static_cast<std::size_t>(d)].length));
            elements *= lengths.back();
        }
        std::vector<std::size_t> start(var.dims.size() + skip + 1, 0);
        std::vector<std::size_t> count(var.dims.size() + skip + 1, 1);
        if (var.record) start[0] = static_cast<std::size_t>(record);
        std::copy(lengths.begin(), lengths.end(),
                  count.begin() + static_cast<std::ptrdiff_t>(skip));
        const auto size = static_cast<std::size_t>(type_size(memory));
        std::vector<char> whole(elements * size);
        const int status = get_values(id, v, memory, start, count, whole.data());
        if (status != NC_NOERR)
            check::fail(__FILE__, __LINE__, std::string("reference: ") + nc_strerror(status));
        array.for_each_element([&](char* to, const std::vector<std::int64_t>& global) {
            std::size_t at = 0;
            const std::vector<std::int64_t> index = parts::in_order(form, var.dims, global);
            for (std::size_t i = 0; i < index.size(); ++i)
                at = at * lengths[i] + static_cast<std::size_t>(index[i]);
            std::memcpy(to, whole.data() + at * size, size);
        });
    }

    void expect(int status, const char* call) {
        ++check::state.checks;
        if (status == TW_OK) return;
        if (good_)
            check::fail(__FILE__, __LINE__,
                        check::text("{} gave {}: {}", call, tw_strerror(status),
                                    tw_error_message(session_)));
        good_ = false;
    }

    tw_decomposition decompose(const Decomposition& x) {
        check::step("{} decompose", name_);
        tw_decomposition result = nullptr;
        expect(parts::declare(session_, case_.names(), x, check::state.rank, &result),
               "tw_decompose");
        inquire(x, result);
        return result;
    }

    /// Checks that tw_inq_decomposition returns what was declared.
    void inquire(const Decomposition& x, tw_decomposition d) {
        tw_decomposition_info got{};
        expect(tw_inq_decomposition(d, &got), "tw_inq_decomposition");
        const auto r = static_cast<std::size_t>(check::state.rank);
        const auto equal = [](const std::int64_t* a, const std::vector<std::int64_t>& b) {
            return std::equal(b.begin(), b.end(), a);
        };
        std::vector<std::int64_t> start, count;
        std::int64_t held = 0;
        for (const Box& box : x.boxes[r]) {
            start.insert(start.end(), box.start.begin(), box.start.end());
            count.insert(count.end(), box.count.begin(), box.count.end());
            held += volume(box);
        }
        bool same = got.ndims == std::ssize(x.dims) && equal(got.shape, x.shape) &&
                    got.held == held && got.nlisted == static_cast<int>(x.listed);
        if (x.listed > 0)
            same = same && got.first_listed == static_cast<int>(x.first) && got.nblocks == 0 &&
                   got.n == std::ssize(x.lists[r]) && equal(got.indices, x.lists[r]) &&
                   got.kind == (x.shared ? TW_LIST_SHARED : TW_LIST_UNIQUE);
        else
            same = same && got.nblocks == std::ssize(x.boxes[r]) && equal(got.start, start) &&
                   equal(got.count, count) && equal(got.halo_low, x.low[r]) &&
                   equal(got.halo_high, x.high[r]) && equal(got.extent, x.padded) &&
                   got.boxes == (x.padded.empty() ? 0 : x.room[r]);
        CHECK_TEXT(same, "{}: tw_inq_decomposition", name_);
    }

    void define(std::size_t k, const std::vector<tw_decomposition>& decompositions,
                tw_file* handle) {
        const File& f = case_.files[k];
        check::step("{} create {}", name_, f.name);
        expect(tw_create(session_, (folder_ + "/" + f.name).c_str(), f.settings.c_str(), handle),
               "tw_create");
        check::step("{} define {}", name_, f.name);
        if (f.defines_time) expect(tw_def_dim(*handle, time_name, TW_UNLIMITED), "tw_def_dim");
        for (const int d : f.defined_dims) {
            const Dim& x = case_.dims[static_cast<std::size_t>(d)];
            expect(tw_def_dim(*handle, x.name.c_str(), x.length), "tw_def_dim");
        }
        for (const Variable& v : f.vars) {
            std::string names = v.record ? time_name : "";
            for (const int d : v.dims)
                names += (names.empty() ? "" : " ") + case_.dims[static_cast<std::size_t>(d)].name;
            // The record dimension must be defined if no decomposition leads to it.
            if (v.record && v.decomposition < 0 && !f.defines_time && !time_known(f, v))
                expect(tw_def_dim(*handle, time_name, TW_UNLIMITED), "tw_def_dim");
            expect(tw_def_var(*handle, v.name.c_str(), v.type, names.c_str(),
                              v.decomposition < 0
                                  ? nullptr
                                  : decompositions[static_cast<std::size_t>(v.decomposition)]),
                   "tw_def_var");
            if (!v.settings.empty())
                expect(tw_set_var(*handle, v.name.c_str(), v.settings.c_str()), "tw_set_var");
        }
        put_attributes(*handle, f, f.attributes);
        if (f.enddef) {
            check::step("{} enddef {}", name_, f.name);
            expect(tw_enddef(*handle), "tw_enddef");
        }
    }

    // Tests if an earlier variable creates the record dimension.
    static bool time_known(const File& f, const Variable& until) {
        for (const Variable& v : f.vars) {
            if (&v == &until) return false;
            if (v.record) return true;
        }
        return false;
    }

    void put_attributes(tw_file handle, const File& f, const std::vector<Attribute>& attributes) {
        for (const Attribute& a : attributes) {
            const char* var =
                a.var < 0 ? nullptr : f.vars[static_cast<std::size_t>(a.var)].name.c_str();
            if (a.type == TW_CHAR && a.n % 2 == 1 && a.name != "_FillValue")
                expect(tw_put_att_text(handle, var, a.name.c_str(),
                                       std::string(a.values.begin(), a.values.end()).c_str()),
                       "tw_put_att_text");
            else
                expect(tw_put_att(handle, var, a.name.c_str(), a.type, a.n, a.values.data()),
                       "tw_put_att");
        }
    }

    void late_attributes(tw_file handle, const File& f) {
        if (f.late_attributes.empty()) return;
        check::step("{} late attributes {}", name_, f.name);
        put_attributes(handle, f, f.late_attributes);
    }

    void put_step(tw_file handle, std::size_t k, int s) {
        const File& f = case_.files[k];
        Random random(mix(case_.seed, static_cast<std::uint64_t>(check::state.rank * 100 + s) + 7));
        for (const Put& put :
             f.puts[static_cast<std::size_t>(s)][static_cast<std::size_t>(check::state.rank)]) {
            const Variable& v = f.vars[static_cast<std::size_t>(put.var)];
            check::step("{} put {} step {} {}", name_, v.name, s, f.name);
            Array array = make_array(case_, k, s, put, check::state.rank, random);
            int status = TW_OK;
            if (array.strided || put.deferred)
                status = tw_put_array(handle, v.name.c_str(), array.handle(put.memory),
                                      put.deferred ? TW_DEFERRED : 0);
            else
                status = tw_put(handle, v.name.c_str(), put.memory, array.bytes.data(), array.n);
            expect(status, "tw_put");
            if (put.deferred)
                kept_[k].push_back(std::move(array));
            else
                parts::make_junk(array.bytes, 98);
        }
    }

    tw_session session_;
    const Case& case_;
    std::string folder_;
    std::string name_;
    std::vector<tw_decomposition> decompositions_;
    std::vector<std::vector<Array>> kept_;  // arrays of each file, which are kept until the step
                                            // ends
    bool good_ = true;
};

// Tests if ncvalidator can check a file. For a file without records, netCDF-C writes up to where
// the first record would begin, which ncvalidator calls too long.
bool validates(const File& f) {
    for (const auto& of_ranks : f.puts)
        for (const auto& puts : of_ranks)
            for (const Put& put : puts)
                if (f.vars[static_cast<std::size_t>(put.var)].record) return true;
    return f.steps > 0;
}

// Chooses settings of the session: node sizes, and defaults that files do not set.
std::string session_settings(std::uint64_t seed, long servers, bool last) {
    Random random(seed);
    std::string text = "log=error; node_size=" + std::to_string(random.below(4));
    if (servers > 0) {
        text += "; servers=" + std::to_string(servers);
        if (random.percent(30) || last) text += ":last";
    }
    if (random.percent(30)) text += "; method=slabs";
    if (random.percent(60))
        text +=
            "; buffer=" + random.pick(std::vector<std::string>{"64KiB", "64KiB", "100000", "1MiB"});
    return text;
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 90);
    const std::uint64_t seed = std::stoull(check::option(argc, argv, "--seed", "1"));
    const long cases = std::stol(check::option(argc, argv, "--cases", "300"));
    const long first = std::stol(check::option(argc, argv, "--first", "0"));
    const double seconds = std::stod(check::option(argc, argv, "--seconds", "0"));
    const std::string validator = check::option(argc, argv, "--ncvalidator", "");
    const bool keep = check::has_flag(argc, argv, "--keep");
    const bool verbose = check::has_flag(argc, argv, "--verbose");
    const Limits limits{check::option(argc, argv, "--method", ""),
                        check::option(argc, argv, "--storage", "")};
    const long servers = std::stol(check::option(argc, argv, "--servers", "0"));
    const bool last = check::has_flag(argc, argv, "--last");
    const std::string folder = check::make_folder("property");
    if (check::state.rank == 0)
        check::print(check::text("property: seed {}, cases {} to {}, {} ranks, {} servers", seed,
                                 first, first + cases - 1, check::state.size, servers));

    const double begin = MPI_Wtime();
    long done = 0;
    bool good = true;
    const auto go_on = [&](long next) {
        int over = !good || next >= first + cases || (seconds > 0 && MPI_Wtime() - begin > seconds)
                       ? 1
                       : 0;
        MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX, check::state.comm);
        return over == 0;
    };
    for (long block = first; go_on(block); block += cases_per_session) {
        check::step("session of case {}", block);
        tw_session session = nullptr;
        const std::string settings = session_settings(
            mix(seed, static_cast<std::uint64_t>(block / cases_per_session) + 1000000007), servers,
            last);
        const int begun = tw_init(MPI_COMM_WORLD, settings.c_str(), &session);
        CHECK_TEXT(begun == TW_OK, "{}: {}", settings, tw_error_message(session));
        good = begun == TW_OK;  // status on all ranks
        if (!good) break;
        tw_role role = TW_MODEL;
        CHECK(tw_inq_role(session, &role) == TW_OK);
        if (role == TW_SERVER) {
            check::step("a server leaves");
            CHECK(tw_finalize(&session) == TW_OK);
            continue;
        }
        MPI_Comm model = MPI_COMM_NULL;
        CHECK(tw_model_comm(session, &model) == TW_OK);
        check::use(model);
        const int ranks = check::state.size;
        for (long k = block; k < std::min(block + cases_per_session, first + cases); ++k) {
            if (!go_on(k)) break;
            const std::string name = check::text("case {}", k);
            check::step("{} make", name);
            const Case c = make_case(mix(seed, static_cast<std::uint64_t>(k)), ranks, limits);
            if (verbose && check::state.rank == 0)
                check::print(name + ", session: " + settings + "\n" + describe(c));
            Runner runner(session, c, folder);
            runner.set_name(name);
            bool equal = check::everywhere(runner.run());
            check::step("{} compare", name);
            // Different ranks compare the files of a case, to save time.
            for (std::size_t f = 0; f < c.files.size(); ++f) {
                if (check::state.rank != static_cast<int>(f) % ranks) continue;
                const std::string path = folder + "/" + c.files[f].name;
                const std::string expected = folder + "/expected_" + c.files[f].name;
                write_reference(c, f, expected);
                const bool netcdf4 = c.files[f].format.rfind("netcdf4", 0) == 0;
                const std::string what =
                    netcdf4 ? netcdf4_difference(expected, path) : difference(expected, path);
                CHECK_TEXT(what.empty(), "{} {}: {}", name, c.files[f].name, what);
                if (!what.empty()) equal = false;
                if (equal && !netcdf4 && !validator.empty() && k % 50 == 0 &&
                    validates(c.files[f])) {
                    const int refused = std::system((validator + " -q " + path).c_str());
                    CHECK_TEXT(refused == 0, "ncvalidator refuses the file of {}", name);
                }
            }
            good = check::everywhere(equal);
            for (std::size_t f = 0; f < c.files.size() && good; ++f)
                good =
                    check::everywhere(runner.read_back(f, folder + "/expected_" + c.files[f].name));
            ++done;
            if (!good && check::state.rank == 0)
                check::print(
                    check::text("{} failed; session settings: {}\n{}  files: {}\n  replay: mpirun "
                                "-n {} property "
                                "--seed {} --first {} --cases 1 --keep",
                                name, settings, describe(c), folder, ranks, seed, k));
            if (good && !keep && check::state.rank == 0)
                for (const File& f : c.files) {
                    ::unlink((folder + "/" + f.name).c_str());
                    ::unlink((folder + "/expected_" + f.name).c_str());
                }
            MPI_Barrier(check::state.comm);
        }
        check::step("finalize");
        check::use(MPI_COMM_WORLD);
        CHECK(tw_finalize(&session) == TW_OK);
    }
    if (check::state.rank == 0)
        check::print(check::text("property: {} cases in {} s", done, MPI_Wtime() - begin));
    if (keep || !good) check::state.folders.clear();
    return check::verdict("property");
}
