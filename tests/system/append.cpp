// Writing on in files that are there: random files of netCDF-C or of the library, continued on
// another number of ranks, against the same file written by netCDF-C in one go, byte for byte.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "append.hpp"
#include "check.hpp"
#include "oracle.hpp"
#include "random.hpp"
#include "random_settings.hpp"
#include "thalweg/thalweg.h"
#include "values.hpp"

namespace {

struct Var {
    std::string name;
    tw_type type = TW_FLOAT;
    std::vector<int> dims;  // slowest first, without the record dimension
    bool record = false;
    bool has_fill = false;
    bool put[2] = {};  // a fixed-size variable: at first, and when written on
};

/// What the seed says of both runs.
struct Case {
    std::string format;
    std::vector<std::int64_t> dims;
    std::vector<Var> vars;
    int before = 0, first = 0, steps = 0;  // records of the first run; of the second
    bool drop = false, told = false;       // whether tw_set_record is called
    bool by_library = false;               // who writes the first run
    int writers_before = 1;                // ranks of it
    std::size_t pad = 4096, align = 4, between = 0;

    int after() const { return drop ? first + steps : std::max(before, first + steps); }
    /// Which run's values a record has in the end.
    int run_of(int record) const { return record >= first && record < first + steps ? 1 : 0; }
};

std::string dim_name(int d) { return "d" + std::to_string(d); }

Case make_case(Random& random, int ranks) {
    Case c;
    c.format = random.pick(std::vector<std::string>{"cdf1", "cdf2", "cdf5"});
    for (std::int64_t d = random.between(1, 3); d > 0; --d) c.dims.push_back(random.between(1, 12));
    const auto nd = static_cast<std::int64_t>(c.dims.size());
    const bool single = random.percent(25);  // one record variable: it is not padded
    for (std::int64_t v = random.between(1, 6); v > 0; --v) {
        Var var;
        var.name = "v" + std::to_string(v);
        var.type = random.pick(c.format == "cdf5" ? all_types() : cdf2_types());
        var.record = single ? v == 1 : random.percent(65);
        var.dims.resize(static_cast<std::size_t>(nd));
        std::iota(var.dims.begin(), var.dims.end(), 0);
        random.shuffle(var.dims);
        var.dims.resize(static_cast<std::size_t>(random.between(0, nd)));
        var.has_fill = random.percent(30);
        var.put[0] = random.percent(70);
        var.put[1] = random.percent(40);
        c.vars.push_back(var);
    }
    c.before = static_cast<int>(random.below(5));
    c.steps = static_cast<int>(random.below(4));
    c.told = random.percent(50);
    c.first = c.told ? static_cast<int>(random.between(0, c.before)) : c.before;
    c.drop = c.told && random.percent(50);
    const bool records =
        std::any_of(c.vars.begin(), c.vars.end(), [](const Var& v) { return v.record; });
    if (!records) c.before = c.first = 0;
    c.by_library = random.percent(40);
    c.writers_before = static_cast<int>(random.between(1, ranks));
    if (!c.by_library) {
        c.pad = random.pick(std::vector<std::size_t>{0, 100, 4096});
        c.align = random.pick(std::vector<std::size_t>{4, 64, 512});
        c.between = random.pick(std::vector<std::size_t>{0, 0, 300});
    }
    return c;
}

/// Whether a step of a run puts a record variable.
bool is_put(const Case&, std::uint64_t seed, int var, int record, int run) {
    return mix(seed, static_cast<std::uint64_t>(1000 * var + 10 * record + run)) % 8 != 0;
}

std::uint64_t hash_of(std::uint64_t seed, int var, int record, int run, std::int64_t element) {
    const std::uint64_t which =
        mix(seed, static_cast<std::uint64_t>(1000 * var + 10 * record + run));
    return mix(which, static_cast<std::uint64_t>(element));
}

std::int64_t elements_of(const Case& c, const Var& v) {
    std::int64_t n = 1;
    for (const int d : v.dims) n *= c.dims[static_cast<std::size_t>(d)];
    return n;
}

/// All values of a variable (of a record).
std::vector<char> values_of(const Case& c, std::uint64_t seed, int var, int record, int run) {
    const Var& v = c.vars[static_cast<std::size_t>(var)];
    const std::int64_t n = elements_of(c, v), size = type_size(v.type);
    std::vector<char> values(static_cast<std::size_t>(n * size));
    for (std::int64_t i = 0; i < n; ++i)
        make_value(values.data() + i * size, v.type, v.type, hash_of(seed, var, record, run, i));
    return values;
}

constexpr char fill_byte = 7;  // of every byte of a _FillValue

/// The first run's file, or with `after` what must be there in the end.
void write_by_netcdf(const std::string& path, const Case& c, std::uint64_t seed, bool after) {
    Oracle oracle(path, c.format);
    for (std::size_t d = 0; d < c.dims.size(); ++d)
        oracle.dim(dim_name(static_cast<int>(d)), c.dims[d]);
    oracle.dim("time", NC_UNLIMITED);
    std::vector<int> ids;
    for (const Var& v : c.vars) {
        std::vector<std::string> names;
        if (v.record) names.emplace_back("time");
        for (const int d : v.dims) names.push_back(dim_name(d));
        ids.push_back(oracle.var(v.name, v.type, names));
        oracle.att(ids.back(), "units", TW_CHAR, 6, "metres");
        const std::vector<char> fill(8, fill_byte);
        if (v.has_fill) oracle.att(ids.back(), "_FillValue", v.type, 1, fill.data());
    }
    oracle.att(NC_GLOBAL, "title", TW_CHAR, 4, "test");
    oracle.require(nc__enddef(oracle.id(), c.pad, c.align, c.between, 4), "nc__enddef");
    for (int i = 0; i < static_cast<int>(c.vars.size()); ++i) {
        const Var& v = c.vars[static_cast<std::size_t>(i)];
        std::vector<std::size_t> start(v.dims.size(), 0), count;
        for (const int d : v.dims)
            count.push_back(static_cast<std::size_t>(c.dims[static_cast<std::size_t>(d)]));
        const auto put = [&](int record, int run) {
            const std::vector<char> values = values_of(c, seed, i, record, run);
            oracle.require(
                oracle.put(ids[static_cast<std::size_t>(i)], v.type, start, count, values.data()),
                "put");
        };
        if (!v.record) {
            if (after && v.put[1])
                put(0, 1);
            else if (v.put[0])
                put(0, 0);
            continue;
        }
        start.insert(start.begin(), 0);
        count.insert(count.begin(), 1);
        const int records = after ? c.after() : c.before;
        for (int r = 0; r < records; ++r) {
            const int run = after ? c.run_of(r) : 0;
            start[0] = static_cast<std::size_t>(r);
            if (is_put(c, seed, i, r, run)) put(r, run);
        }
    }
    // Records of which no variable was put at the end are there all the same.
    const int records = after ? c.after() : c.before;
    std::size_t n = 0;
    int unlimited = -1;
    nc_inq_unlimdim(oracle.id(), &unlimited);
    nc_inq_dimlen(oracle.id(), unlimited, &n);
    for (int i = 0; i < static_cast<int>(c.vars.size()) && static_cast<int>(n) < records; ++i) {
        const Var& v = c.vars[static_cast<std::size_t>(i)];
        if (!v.record) continue;
        std::vector<std::size_t> start(v.dims.size() + 1, 0), count{1};
        for (const int d : v.dims)
            count.push_back(static_cast<std::size_t>(c.dims[static_cast<std::size_t>(d)]));
        start[0] = static_cast<std::size_t>(records - 1);
        std::vector<char> values(static_cast<std::size_t>(elements_of(c, v) * type_size(v.type)));
        std::vector<char> fill(8, 0);
        nc_inq_var_fill(oracle.id(), ids[static_cast<std::size_t>(i)], nullptr, fill.data());
        for (std::size_t at = 0; at < values.size(); ++at)
            values[at] = fill[at % static_cast<std::size_t>(type_size(v.type))];
        oracle.require(
            oracle.put(ids[static_cast<std::size_t>(i)], v.type, start, count, values.data()),
            "put");
        break;
    }
    oracle.close();
}

/// One run of the library over the ranks of a session.
class Run {
public:
    Run(const Case& c, std::uint64_t seed, int run, MPI_Comm comm, tw_session session,
        Random random)
        : case_(c), seed_(seed), run_(run), session_(session), random_(random) {
        MPI_Comm_rank(comm, &rank_);
        MPI_Comm_size(comm, &size_);
    }

    void write(const std::string& path, const std::string& settings) {
        const std::string all = settings + (run_ == 1 ? "; mode=append" : "");
        what_ = all;
        if (run_ == 0) {
            expect(tw_create(session_, path.c_str(), all.c_str(), &file_), "tw_create");
        } else {
            expect(tw_open(session_, path.c_str(), all.c_str(), &file_), "tw_open");
            std::int64_t records = -1;
            expect(tw_inq(file_, nullptr, nullptr, nullptr, nullptr, &records), "tw_inq");
            CHECK(records == case_.before);
        }
        define();
        if (run_ == 1 && case_.told)
            expect(tw_set_record(file_, case_.first, case_.drop ? TW_DROP_LATER : TW_KEEP_LATER),
                   "tw_set_record");
        put_fixed();
        const int first = run_ == 1 ? case_.first : 0;
        const int steps = run_ == 1 ? case_.steps : case_.before;
        for (int r = first; r < first + steps; ++r) {
            for (int v = 0; v < static_cast<int>(case_.vars.size()); ++v)
                if (case_.vars[static_cast<std::size_t>(v)].record &&
                    is_put(case_, seed_, v, r, run_))
                    put(v, r);
            expect(tw_end_step(file_), "tw_end_step");
            if (random_.percent(10)) expect(tw_sync(file_, 0), "tw_sync");
        }
        expect(tw_close(&file_), "tw_close");
    }

private:
    struct Held {
        tw_decomposition decomposition = nullptr;
        std::vector<int> order;  // of the memory: dimensions of the variable
        std::vector<std::int64_t> start, count;
        std::vector<std::int64_t> list;  // if it is held by a list: over the memory's dimension
        std::size_t listed = 0;
        std::int64_t index(std::size_t m, std::int64_t i) const {
            return !list.empty() && m == listed ? list[static_cast<std::size_t>(i)] : start[m] + i;
        }
    };

    void expect(int status, const char* call) {
        CHECK_TEXT(status == TW_OK, "seed %llu, %s: %s gives %d: %s",
                   static_cast<unsigned long long>(seed_), what_.c_str(), call, status,
                   tw_error_message(session_));
    }

    std::int64_t length(const Var& v, int d) const {
        return case_.dims[static_cast<std::size_t>(v.dims[static_cast<std::size_t>(d)])];
    }

    /// Cut along one dimension, into boxes or lists of indices, in any order in memory; or the
    /// whole on every rank.
    Held hold(const Var& v) {
        Held h;
        h.order.resize(v.dims.size());
        std::iota(h.order.begin(), h.order.end(), 0);
        const bool whole = v.dims.empty() || random_.percent(20);
        if (!whole) random_.shuffle(h.order);
        const std::int64_t along =
            v.dims.empty() ? 0 : random_.below(static_cast<std::int64_t>(v.dims.size()));
        std::string names;
        std::vector<std::int64_t> shape;
        for (const int d : h.order) {
            const std::int64_t n = length(v, d);
            const bool cut = !whole && d == h.order[static_cast<std::size_t>(along)];
            const std::int64_t begin = cut ? n * rank_ / size_ : 0;
            shape.push_back(n);
            h.start.push_back(begin);
            h.count.push_back((cut ? n * (rank_ + 1) / size_ : n) - begin);
            names += dim_name(v.dims[static_cast<std::size_t>(d)]) + " ";
        }
        if (!whole && random_.percent(30))
            hold_list(h, names, shape, static_cast<std::size_t>(along));
        else if (!whole)
            expect(tw_decompose(session_, names.c_str(), 1, shape.data(), h.start.data(),
                                h.count.data(), &h.decomposition),
                   "tw_decompose");
        return h;
    }

    /// The same part, as a list in an order of its own.
    void hold_list(Held& h, const std::string& names, const std::vector<std::int64_t>& shape,
                   std::size_t along) {
        h.listed = along;
        h.list.resize(static_cast<std::size_t>(h.count[along]));
        std::iota(h.list.begin(), h.list.end(), h.start[along]);
        Random own(mix(seed_, static_cast<std::uint64_t>(rank_)));
        own.shuffle(h.list);
        std::string listed = names;
        for (std::size_t d = 0; d < along; ++d) listed.erase(0, listed.find(' ') + 1);
        listed.resize(listed.find(' '));
        expect(tw_decompose_list(session_, names.c_str(), shape.data(), listed.c_str(),
                                 h.count[along], h.list.data(), TW_LIST_UNIQUE, &h.decomposition),
               "tw_decompose_list");
    }

    void define() {
        for (std::size_t d = 0; d < case_.dims.size(); ++d)
            expect(tw_def_dim(file_, dim_name(static_cast<int>(d)).c_str(), case_.dims[d]),
                   "tw_def_dim");
        expect(tw_def_dim(file_, "time", TW_UNLIMITED), "tw_def_dim");
        std::vector<int> order(case_.vars.size());
        std::iota(order.begin(), order.end(), 0);
        if (run_ == 1) random_.shuffle(order);
        held_.resize(case_.vars.size());
        for (const int i : order) {
            const Var& v = case_.vars[static_cast<std::size_t>(i)];
            Held& h = held_[static_cast<std::size_t>(i)] = hold(v);
            std::string names = v.record ? "time " : "";
            for (const int d : v.dims) names += dim_name(d) + " ";
            expect(tw_def_var(file_, v.name.c_str(), v.type, names.c_str(), h.decomposition),
                   "tw_def_var");
            // What the file has need not be said again.
            if (run_ == 0 || random_.percent(50))
                expect(tw_put_att_text(file_, v.name.c_str(), "units", "metres"), "att");
            const std::vector<char> fill(8, fill_byte);
            if (v.has_fill && (run_ == 0 || random_.percent(50)))
                expect(tw_put_att(file_, v.name.c_str(), "_FillValue", v.type, 1, fill.data()),
                       "att");
        }
        if (run_ == 0 || random_.percent(50))
            expect(tw_put_att_text(file_, "", "title", "test"), "att");
    }

    void put_fixed() {
        for (int v = 0; v < static_cast<int>(case_.vars.size()); ++v) {
            const Var& var = case_.vars[static_cast<std::size_t>(v)];
            if (!var.record && var.put[run_]) put(v, 0);
        }
    }

    void put(int variable, int record) {
        const Var& v = case_.vars[static_cast<std::size_t>(variable)];
        const Held& h = held_[static_cast<std::size_t>(variable)];
        const std::int64_t size = type_size(v.type);
        std::int64_t n = 1;
        for (const std::int64_t c : h.count) n *= c;
        std::vector<char> values(static_cast<std::size_t>(n * size) + 1);
        std::vector<std::int64_t> index(v.dims.size());
        for (std::int64_t i = 0; i < n; ++i) {
            std::int64_t rest = i;
            for (std::size_t m = h.order.size(); m-- > 0;) {
                index[static_cast<std::size_t>(h.order[m])] = h.index(m, rest % h.count[m]);
                rest /= h.count[m];
            }
            std::int64_t element = 0;
            for (std::size_t d = 0; d < index.size(); ++d)
                element = element * length(v, static_cast<int>(d)) + index[d];
            make_value(values.data() + i * size, v.type, v.type,
                       hash_of(seed_, variable, record, run_, element));
        }
        expect(tw_put(file_, v.name.c_str(), v.type, values.data(), n), "tw_put");
    }

    const Case& case_;
    std::uint64_t seed_;
    int run_, rank_ = 0, size_ = 1;
    tw_session session_;
    Random random_;
    tw_file file_ = nullptr;
    std::vector<Held> held_;
    std::string what_;
};

std::string choose_settings(Random& random, bool servers) {
    RandomSettings settings = RandomSettings::writing();
    if (servers) settings.set("service", {"inline", "servers", "servers"});
    settings.set("staging", {"0"}, 20).set("queue", {"4KiB"}, 20);
    return settings.draw(random);
}

void one(std::uint64_t seed, const std::string& path, tw_session session, MPI_Comm comm,
         bool servers) {
    Random random(seed);  // the same choices on every rank
    const Case c = make_case(random, check::state.size);
    const std::string before = choose_settings(random, false),
                      after = choose_settings(random, servers);
    const Random choices(mix(seed, 5));
    if (c.by_library) {
        check::step("seed %llu: %s", static_cast<unsigned long long>(seed), before.c_str());
        const bool takes_part = check::state.rank < c.writers_before;
        MPI_Comm few = MPI_COMM_NULL;
        MPI_Comm_split(comm, takes_part ? 0 : MPI_UNDEFINED, check::state.rank, &few);
        if (takes_part) {
            tw_session own = nullptr;
            CHECK(tw_init(few, "log=off", &own) == TW_OK);
            Run(c, seed, 0, few, own, choices).write(path, before + "; format=" + c.format);
            CHECK(tw_finalize(&own) == TW_OK);
            MPI_Comm_free(&few);
        }
    } else if (check::state.rank == 0) {
        write_by_netcdf(path, c, seed, false);
    }
    MPI_Barrier(comm);
    check::step("seed %llu: %s, first %d of %d, %d steps%s", static_cast<unsigned long long>(seed),
                after.c_str(), c.first, c.before, c.steps, c.drop ? ", drop" : "");
    Run(c, seed, 1, comm, session, choices).write(path, after);
    MPI_Barrier(comm);
    if (check::state.rank == 0) {
        const std::string expected = path + ".expected";
        write_by_netcdf(expected, c, seed, true);
        const std::string what = difference(expected, path);
        CHECK_TEXT(what.empty(), "seed %llu: %s (%s by %s; first %d of %d, %d steps%s): %s",
                   static_cast<unsigned long long>(seed), after.c_str(), c.format.c_str(),
                   c.by_library ? before.c_str() : "netCDF-C", c.first, c.before, c.steps,
                   c.drop ? ", drop" : "", what.c_str());
        std::remove(expected.c_str());
        std::remove(path.c_str());
    }
    MPI_Barrier(comm);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 30);
    const auto seed =
        static_cast<std::uint64_t>(std::atoll(check::option(argc, argv, "--seed", "1").c_str()));
    const double seconds = std::atof(check::option(argc, argv, "--seconds", "4").c_str());
    const long cases = std::atol(check::option(argc, argv, "--cases", "1000").c_str());
    const std::string servers = check::option(argc, argv, "--servers", "0");
    const std::string folder = check::make_folder("append");
    long done = 0;
    Random sizes(seed);
    const auto begin = std::chrono::steady_clock::now();
    // Sessions of several node sizes, each for some cases.
    for (int turn = 0; done < cases; ++turn) {
        const auto node_size = sizes.pick(std::vector<std::string>{"0", "0", "1", "2", "3"});
        tw_session session = nullptr;
        check::use(MPI_COMM_WORLD);
        check::step("tw_init");
        const std::string settings =
            "log=off; node_size=" + node_size + "; servers=" + servers + "";
        CHECK(tw_init(MPI_COMM_WORLD, settings.c_str(), &session) == TW_OK);
        tw_role role = TW_MODEL;
        tw_inq_role(session, &role);
        bool more = true;
        if (role == TW_MODEL) {
            MPI_Comm comm = MPI_COMM_NULL;
            tw_model_comm(session, &comm);
            check::use(comm);
            for (int i = 0; i < 12 && done < cases && more; ++i) {
                const std::chrono::duration<double> spent =
                    std::chrono::steady_clock::now() - begin;
                more = check::everywhere(spent.count() < seconds && check::state.failures == 0);
                if (more)
                    one(mix(seed, static_cast<std::uint64_t>(done++)), folder + "/file.nc", session,
                        comm, servers != "0");
            }
            if (turn == 0 && servers == "0") appended_calls(session, comm, folder);
        }
        CHECK(tw_finalize(&session) == TW_OK);
        check::use(MPI_COMM_WORLD);
        int go_on = more ? 1 : 0;
        MPI_Allreduce(MPI_IN_PLACE, &go_on, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (go_on == 0) break;
        int most = static_cast<int>(done);
        MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        done = most;
    }
    if (check::state.rank == 0) std::fprintf(stderr, "append: %ld cases\n", done);
    check::remove_folder(folder);
    return check::verdict("append");
}
