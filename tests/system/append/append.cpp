// Tests continuing files: random files of netCDF-C or of the library, continued on another number
// of ranks, are compared with the same file written by netCDF-C in one run: byte for byte or, for
// netCDF-4, as netCDF-C reads them.
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
#include "append_case.hpp"
#include "support/parts.hpp"
#include "system/calls.hpp"
#include "system/compare.hpp"
#include "system/compare_netcdf4.hpp"
#include "system/random.hpp"
#include "system/random_settings.hpp"
#include "system/values.hpp"
#include "thalweg/thalweg.h"

using namespace append_case;  // NOLINT: the functions of a case

namespace {

/// Runs the library on the ranks of a session.
class Run {
public:
    Run(const Case& c, int run, MPI_Comm comm, tw_session session, Random random)
        : case_(c), run_(run), session_(session), random_(random) {
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
            tw_file_info info{};
            expect(tw_inq(file_, &info), "tw_inq");
            CHECK(info.records == case_.before);
        }
        define();
        if (run_ == 1 && case_.told)
            expect(tw_set_record(file_, case_.first, case_.drop ? TW_DROP_LATER : TW_KEEP_LATER),
                   "tw_set_record");
        put_fixed();
        const int first = run_ == 1 ? case_.first : 0;
        const int steps = run_ == 1 ? case_.steps : case_.before;
        std::vector<int> records(static_cast<std::size_t>(steps));
        std::iota(records.begin(), records.end(), first);
        if (in_parts()) random_.shuffle(records);
        for (const int r : records) {
            bool any = !in_parts();
            for (int v = 0; v < static_cast<int>(case_.vars.size()); ++v) {
                if (!case_.is_put(v, r, run_)) continue;
                put(v, r);
                any = true;
            }
            // Skip a step without puts: it would add a record, except if records are put by boxes.
            if (!any) continue;
            expect(tw_end_step(file_), "tw_end_step");
            if (random_.percent(10)) expect(tw_sync(file_, 0), "tw_sync");
        }
        expect(tw_close(&file_), "tw_close");
    }

private:
    struct Held {
        parts::Decomposition form;
        tw_decomposition decomposition = nullptr;  // null if each rank holds everything
    };

    void expect(int status, const char* call) {
        CHECK_TEXT(status == TW_OK, "seed %llu, %s: %s gives %d: %s",
                   static_cast<unsigned long long>(case_.seed), what_.c_str(), call, status,
                   tw_error_message(session_));
    }

    Held hold(const Var& v) {
        Held h;
        h.form = parts::whole(v.dims, case_.dims, size_);
        if (v.dims.empty() || random_.percent(20)) return h;
        h.form = parts::make_decomposition(random_, v.dims, case_.dims, size_, parts::Cover::all);
        std::vector<std::string> names;
        for (std::size_t d = 0; d < case_.dims.size(); ++d)
            names.push_back(dim_name(static_cast<int>(d)));
        expect(parts::declare(session_, names, h.form, rank_, &h.decomposition), "tw_decompose");
        return h;
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
            // Attributes that the file already has may or may not be set again.
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
        const auto put_value = [&](char* to, const std::vector<std::int64_t>& index) {
            std::int64_t element = 0;
            for (std::size_t d = 0; d < index.size(); ++d)
                element = element * case_.dims[static_cast<std::size_t>(v.dims[d])] + index[d];
            make_value(to, v.type, v.type, case_.hash_of(variable, record, run_, element));
        };
        if (in_parts() && case_.way == Way::boxes && h.form.listed == 0) {
            // If each rank holds the whole variable, only one rank puts it.
            if (h.decomposition == nullptr && rank_ > 0) return;
            for (const parts::Box& box : h.form.boxes[static_cast<std::size_t>(rank_)])
                put_box(v, record, parts::in_order(h.form, v.dims, box.start),
                        parts::in_order(h.form, v.dims, box.count), put_value);
            return;
        }
        parts::Array array =
            parts::place_array(h.form, rank_, false, true, type_size(v.type), random_);
        array.for_each_element([&](char* to, const std::vector<std::int64_t>& index) {
            put_value(to, parts::in_order(h.form, v.dims, index));
        });
        if (!in_parts())
            expect(tw_put(file_, v.name.c_str(), v.type, array.bytes.data(), array.n), "tw_put");
        else
            expect(tw_put_record(file_, v.name.c_str(), h.decomposition, record, v.type,
                                 array.bytes.data(), array.n),
                   "tw_put_record");
    }

    template <class Value>
    void put_box(const Var& v, int record, std::vector<std::int64_t> start,
                 std::vector<std::int64_t> count, Value&& put_value) {
        std::vector<char> values;
        const auto size = static_cast<std::size_t>(type_size(v.type));
        parts::for_each_index(count, [&](std::vector<std::int64_t> index) {
            for (std::size_t d = 0; d < index.size(); ++d) index[d] += start[d];
            values.resize(values.size() + size);
            put_value(values.data() + values.size() - size, index);
        });
        if (v.record) {
            start.insert(start.begin(), record);
            count.insert(count.begin(), 1);
        }
        values.push_back(0);  // no array is missing, even if it has no elements
        expect(tw_put_box(file_, v.name.c_str(), v.type, start.data(), count.data(), nullptr,
                          values.data()),
               "tw_put_box");
    }

    bool in_parts() const { return run_ == 1 && case_.way != Way::steps; }

    const Case& case_;
    int run_, rank_ = 0, size_ = 1;
    tw_session session_;
    Random random_;
    tw_file file_ = nullptr;
    std::vector<Held> held_;
    std::string what_;
};

std::string choose_settings(const Case& c, Random& random, bool servers, bool first) {
    RandomSettings settings = RandomSettings::writing();
    const bool steps = c.way == Way::steps;
    if (servers && c.parts <= 2)  // each tile needs a writer, and there are only a few servers
        settings.set("service", {"inline", "servers", "servers"});
    if (steps) settings.set("staging", {"0"}, 20);
    settings.set("queue", {steps ? "4KiB" : "1MiB"}, 20);
    if (c.netcdf4())
        settings.set("storage", {"auto", "netcdf4"});
    else if (!steps || !c.tiles.empty())  // PnetCDF takes neither boxes nor tiles
        settings.set("storage", {"auto", "posix"});
    if (!c.tiles.empty()) settings.leave_out("writers");
    const bool tiles = !c.tiles.empty() && (first || random.percent(50));
    if (tiles)
        settings.set("method", {"tiles"})
            .set("files", {"tiles"})
            .set("tiles", {first ? c.tiles : "auto"});
    if (first && c.netcdf4())
        settings.set("deflate", {"0", "0", "1"})
            .set("shuffle", {"auto", "auto", "yes"})
            .set("chunks", {"auto", "auto", "d0=3", "d0=2,d1=1"});
    return settings.draw(random);
}

/// Compares a set of tiles, as the library reads it, with a file of netCDF-C; returns the
/// difference.
std::string tile_difference(const std::string& expected, const std::string& path) {
    tw_session alone = nullptr;
    tw_file file = nullptr;
    int id = 0;
    tw_file_info info{};
    std::size_t n = 0;
    std::string wrong;
    if (tw_init(MPI_COMM_SELF, "log=off", &alone) != TW_OK ||
        tw_open(alone, path.c_str(), nullptr, &file) != TW_OK || tw_inq(file, &info) != TW_OK)
        wrong = tw_error_message(alone);
    if (nc_open(expected.c_str(), NC_NOWRITE, &id) != NC_NOERR) wrong = "no reference";
    int unlimited = -1;
    nc_inq_unlimdim(id, &unlimited);
    nc_inq_dimlen(id, unlimited, &n);
    if (wrong.empty() && info.records != static_cast<std::int64_t>(n))
        wrong = check::text("%ld records, not %zu", static_cast<long>(info.records), n);
    for (int v = 0; v < info.nvars && wrong.empty(); ++v) {
        char name[NC_MAX_NAME + 1] = "";
        nc_type type = 0;
        int nd = 0, dims[4] = {}, number = 0;
        nc_inq_varname(id, v, name);
        nc_inq_varid(id, name, &number);
        nc_inq_var(id, number, nullptr, &type, &nd, dims, nullptr);
        std::int64_t start[4] = {}, count[4] = {}, elements = 1;
        for (int d = 0; d < nd; ++d) {
            nc_inq_dimlen(id, dims[d], &n);
            count[d] = static_cast<std::int64_t>(n);
            elements *= count[d];
        }
        const auto bytes = static_cast<std::size_t>(elements * type_size(tw_type(type)));
        std::vector<char> x(bytes + 1), y(bytes + 1);
        nc_get_var(id, number, x.data());
        if (tw_get_box(file, name, tw_type(type), start, count, nullptr, y.data()) != TW_OK)
            wrong = tw_error_message(alone);
        else if (x != y)
            wrong = check::text("%s differs", name);
    }
    nc_close(id);
    if (file != nullptr) tw_close(&file);
    tw_finalize(&alone);
    return wrong;
}

void one(std::uint64_t seed, const std::string& path, bool servers) {
    const MPI_Comm comm = check::state.comm;
    Random random(seed);  // makes the same choices on all ranks
    const Case c = make_case(seed, random, check::state.size);
    const std::string before = choose_settings(c, random, false, true),
                      after = choose_settings(c, random, servers, false);
    const Random choices(mix(seed, 5));
    if (c.by_library) {
        check::step("seed %llu: %s", static_cast<unsigned long long>(seed), before.c_str());
        const bool takes_part = check::state.rank < c.writers_before;
        MPI_Comm few = MPI_COMM_NULL;
        MPI_Comm_split(comm, takes_part ? 0 : MPI_UNDEFINED, check::state.rank, &few);
        if (takes_part) {
            tw_session own = nullptr;
            CHECK(tw_init(few, "log=off", &own) == TW_OK);
            Run(c, 0, few, own, choices).write(path, before + "; format=" + c.format);
            CHECK(tw_finalize(&own) == TW_OK);
            MPI_Comm_free(&few);
        }
    } else if (check::state.rank == 0) {
        write_by_netcdf(path, c, false);
    }
    MPI_Barrier(comm);
    check::step("seed %llu: %s, first %d of %d, %d steps%s", static_cast<unsigned long long>(seed),
                after.c_str(), c.first, c.before, c.steps, c.drop ? ", drop" : "");
    Run(c, 1, comm, calls::session, choices).write(path, after);
    MPI_Barrier(comm);
    if (check::state.rank == 0) {
        const std::string expected = path + ".expected";
        write_by_netcdf(expected, c, true);
        const std::string what = !c.tiles.empty() ? tile_difference(expected, path)
                                 : c.netcdf4()    ? netcdf4_difference(expected, path)
                                                  : difference(expected, path);
        CHECK_TEXT(what.empty(), "seed %llu: %s (%s by %s; first %d of %d, %d steps%s): %s",
                   static_cast<unsigned long long>(seed), after.c_str(), c.format.c_str(),
                   c.by_library ? before.c_str() : "netCDF-C", c.first, c.before, c.steps,
                   c.drop ? ", drop" : "", what.c_str());
        std::remove(expected.c_str());
        std::remove(path.c_str());
        for (int k = 0; k < c.parts; ++k) std::remove((path + ".000" + std::to_string(k)).c_str());
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
    // --replay SEED:NODE_SIZE runs a single case again, with numbers from an error message.
    const std::string replay = check::option(argc, argv, "--replay", "");
    const std::string size_of_all = check::option(argc, argv, "--node-size", "");
    const std::string folder = check::make_folder("append");
    long done = 0;
    Random sizes(seed);
    const auto begin = std::chrono::steady_clock::now();
    // Run sessions with several node sizes, each for some of the cases.
    for (int turn = 0; done < cases; ++turn) {
        auto node_size = sizes.pick(std::vector<std::string>{"0", "0", "1", "2", "3"});
        if (!size_of_all.empty()) node_size = size_of_all;
        bool more = true;
        calls::in_session("log=off; node_size=" + node_size + "; servers=" + servers, [&] {
            for (int i = 0; i < 12 && done < cases && more; ++i) {
                const std::chrono::duration<double> spent =
                    std::chrono::steady_clock::now() - begin;
                more = check::everywhere(spent.count() < seconds && check::state.failures == 0);
                if (!more) break;
                const auto number = static_cast<std::uint64_t>(done++);
                one(replay.empty() ? mix(seed, number) : std::strtoull(replay.c_str(), nullptr, 10),
                    folder + "/file.nc", servers != "0");
                more = replay.empty();
            }
            if (turn == 0 && servers == "0" && replay.empty())
                appended_calls(calls::session, folder);
        });
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
