// Tests lists of global indices: random grids, orders in memory and file, partitions of every kind,
// holes and elements that no rank holds, with all methods, drivers and services, on any number of
// ranks and nodes; read back by other lists, with indices that several ranks want.
//
// SPDX-License-Identifier: Apache-2.0
//
// Serial netCDF-C reads every element of the file; each element has a unique value.
#include <netcdf.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "system/random.hpp"
#include "system/random_settings.hpp"
#include "thalweg/thalweg.h"

namespace {

using Numbers = std::vector<std::int64_t>;

std::int64_t volume(const Numbers& shape) {
    std::int64_t n = 1;
    for (const std::int64_t length : shape) n *= length;
    return n;
}

Numbers unflatten(std::int64_t index, const Numbers& shape) {
    Numbers at(shape.size());
    for (std::size_t d = shape.size(); d-- > 0; index /= shape[d]) at[d] = index % shape[d];
    return at;
}

std::int64_t flatten(const Numbers& at, const Numbers& shape) {
    std::int64_t index = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) index = index * shape[d] + at[d];
    return index;
}

std::string name_of(std::size_t d) { return std::string(1, static_cast<char>('a' + d)); }

/// The list of each rank over dimensions [first, first + count) of a grid.
struct Map {
    std::size_t first = 0, count = 1;
    std::vector<Numbers> lists;  // list of each rank

    Numbers extent(const Numbers& shape, std::size_t rank) const {
        Numbers e;
        for (std::size_t d = 0; d < shape.size(); ++d) {
            if (d == first) e.push_back(static_cast<std::int64_t>(lists[rank].size()));
            if (d < first || d >= first + count) e.push_back(shape[d]);
        }
        return e;
    }
};

Map make_map(Random& random, const Numbers& shape, int ranks, bool shared) {
    Map map;
    const auto nd = static_cast<std::int64_t>(shape.size());
    map.first = static_cast<std::size_t>(random.below(nd));
    map.count = static_cast<std::size_t>(
        random.between(1, std::min<std::int64_t>(3, nd - static_cast<std::int64_t>(map.first))));
    Numbers listed(shape.begin() + static_cast<std::ptrdiff_t>(map.first),
                   shape.begin() + static_cast<std::ptrdiff_t>(map.first + map.count));
    Numbers all(static_cast<std::size_t>(volume(listed)));
    std::iota(all.begin(), all.end(), 0);
    map.lists.resize(static_cast<std::size_t>(ranks));
    const std::int64_t kind = random.below(5);
    const std::int64_t left_out = random.percent(40) ? random.between(0, 60) : 0;
    const std::int64_t piece = kind == 0 ? 1 : random.between(1, 20);
    if (kind == 0) random.shuffle(all);
    std::int64_t owner = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (kind <= 2 && static_cast<std::int64_t>(i) % piece == 0) owner = random.below(ranks);
        if (kind == 3)
            owner = static_cast<std::int64_t>(i) * ranks / static_cast<std::int64_t>(all.size());
        if (kind == 4) owner = ranks / 2;  // only one rank has a list
        if (random.percent(static_cast<int>(left_out))) continue;
        map.lists[static_cast<std::size_t>(owner)].push_back(all[i]);
    }
    for (Numbers& list : map.lists) {
        if (shared)
            for (std::int64_t n = random.below(20); n > 0; --n)
                list.push_back(random.below(static_cast<std::int64_t>(all.size())));
        if (random.percent(30)) random.shuffle(list);
        if (random.percent(20)) std::reverse(list.begin(), list.end());
        if (random.percent(30))
            for (std::int64_t n = random.below(10); n > 0; --n)
                list.insert(list.begin() + static_cast<std::ptrdiff_t>(random.below(
                                               static_cast<std::int64_t>(list.size()) + 1)),
                            -1);
    }
    return map;
}

std::string describe(const Map& map) {
    std::string text =
        "list from " + std::to_string(map.first) + " over " + std::to_string(map.count) + ":";
    for (const Numbers& list : map.lists) {
        text += " [";
        for (const std::int64_t i : list) text += " " + std::to_string(i);
        text += " ]";
    }
    return text;
}

struct Case {
    Numbers grid;                     // lengths of the dimensions a, b, ...
    std::vector<std::size_t> memory;  // order of the dimensions in memory
    // Order of the dimensions in the file, for each variable.
    std::vector<std::vector<std::size_t>> files;
    std::vector<int> records;  // for each variable: it has records
    std::vector<int> types;
    int steps = 1;
    std::string settings;
};

template <class T>
T pick(Random& random, std::vector<T> from) {
    return random.pick(from);
}

Case make_case(Random& random, const std::string& method) {
    Case c;
    const std::int64_t nd = random.between(1, 4);
    const std::int64_t longest = nd == 1 ? pick<std::int64_t>(random, {40, 1000, 9000}) : 12;
    for (std::int64_t d = 0; d < nd; ++d) {
        c.grid.push_back(random.between(1, longest));
        c.memory.push_back(static_cast<std::size_t>(d));
    }
    random.shuffle(c.memory);
    for (std::int64_t v = random.between(1, 4); v > 0; --v) {
        std::vector<std::size_t> order = c.memory;
        if (random.percent(60)) random.shuffle(order);
        c.files.push_back(order);
        c.records.push_back(random.percent(50));
        c.types.push_back(pick<int>(random, {TW_DOUBLE, TW_FLOAT, TW_INT, TW_SHORT}));
    }
    c.steps = static_cast<int>(random.between(1, 3));
    RandomSettings settings = RandomSettings::writing();
    if (!method.empty()) settings.set("method", {method});
    const std::string format = pick<std::string>(random, {"cdf2", "cdf5", "cdf5", "netcdf4"});
    settings.set("format", {format});
    if (format == "netcdf4") settings.leave_out("storage").set("deflate", {"1"}, 50);
    settings.set("queue", {"4KiB"}, 20).set("staging", {"64MiB", "64MiB", "1"});
    c.settings = settings.draw(random);
    return c;
}

class Run {
public:
    Run(tw_session session, std::uint64_t seed, std::string path, const std::string& method)
        : session_(session), random_(seed), path_(std::move(path)), seed_(seed) {
        c_ = make_case(random_, method);
        for (const std::size_t d : c_.memory) {
            shape_.push_back(c_.grid[d]);
            dims_ += name_of(d) + " ";
        }
        map_ = make_map(random_, shape_, check::state.size, false);
        wanted_ = make_map(random_, shape_, check::state.size, true);
        strided_ = random_.percent(30);
        deferred_ = random_.percent(50);
    }

    void all() {
        check::step("case %llu: %s", static_cast<unsigned long long>(seed_), c_.settings.c_str());
        if (check::state.rank == 0 && std::getenv("THALWEG_TEST_VERBOSE") != nullptr) {
            std::string text = describe(map_) + " read by " + describe(wanted_);
            for (const std::int64_t n : shape_) text += " " + std::to_string(n);
            check::print(text);
        }
        const tw_decomposition written = decompose(map_, TW_LIST_UNIQUE);
        if (written == nullptr) return;
        write(written);
        MPI_Barrier(check::state.comm);
        if (check::state.rank == 0) compare();
        MPI_Barrier(check::state.comm);
        if (check::everywhere(check::state.failures == 0)) {
            if (const tw_decomposition d = decompose(wanted_, TW_LIST_SHARED); d != nullptr)
                read(d);
        }
    }

private:
    void expect(int status, const char* call) {
        ++check::state.checks;
        if (status != TW_OK)
            check::fail(__FILE__, __LINE__,
                        check::text("%s: %s", call, tw_error_message(session_)));
    }

    tw_decomposition decompose(const Map& map, tw_list_kind kind) {
        std::string listed;
        for (std::size_t i = 0; i < map.count; ++i)
            listed += name_of(c_.memory[map.first + i]) + " ";
        const Numbers& list = map.lists[static_cast<std::size_t>(check::state.rank)];
        tw_decomposition d = nullptr;
        expect(tw_decompose_list(session_, dims_.c_str(), shape_.data(), listed.c_str(),
                                 static_cast<std::int64_t>(list.size()), list.data(), kind, &d),
               "tw_decompose_list");
        return d;
    }

    /// Returns the value of an element of a variable in a record. It is small enough for all types.
    double value(std::size_t v, int record, const Numbers& at_memory) const {
        Numbers at(at_memory.size());
        for (std::size_t m = 0; m < at.size(); ++m) at[c_.memory[m]] = at_memory[m];
        return static_cast<double>(
            (flatten(at, c_.grid) * 7 + record * 13 + static_cast<std::int64_t>(v) * 101) % 30011);
    }

    /// Calls visit(position in the array, index in memory order); the index is empty for a hole.
    template <class Visit>
    void for_array(const Map& map, Visit&& visit) const {
        const auto rank = static_cast<std::size_t>(check::state.rank);
        const Numbers extent = map.extent(shape_, rank);
        Numbers listed(shape_.begin() + static_cast<std::ptrdiff_t>(map.first),
                       shape_.begin() + static_cast<std::ptrdiff_t>(map.first + map.count));
        for (std::int64_t i = 0; i < volume(extent); ++i) {
            const Numbers place = unflatten(i, extent);
            const std::int64_t global = map.lists[rank][static_cast<std::size_t>(place[map.first])];
            Numbers at;
            if (global >= 0) {
                at.assign(place.begin(), place.begin() + static_cast<std::ptrdiff_t>(map.first));
                const Numbers inside = unflatten(global, listed);
                at.insert(at.end(), inside.begin(), inside.end());
                at.insert(at.end(), place.begin() + static_cast<std::ptrdiff_t>(map.first) + 1,
                          place.end());
            }
            visit(i, at);
        }
    }

    /// Returns the byte strides of an array whose elements are two apart, with the last dimension
    /// slowest.
    Numbers strides(const Numbers& extent) const {
        Numbers stride(extent.size());
        std::int64_t n = 2 * static_cast<std::int64_t>(sizeof(double));
        for (std::size_t d = 0; d < extent.size(); ++d) {
            stride[d] = n;
            n *= extent[d];
        }
        return stride;
    }

    /// Converts a position in the dense array to one in the current array.
    std::size_t place(std::int64_t i, const Numbers& extent) const {
        if (!strided_) return static_cast<std::size_t>(i);
        const Numbers at = unflatten(i, extent), stride = strides(extent);
        std::int64_t byte = 0;
        for (std::size_t d = 0; d < at.size(); ++d) byte += at[d] * stride[d];
        return static_cast<std::size_t>(byte) / sizeof(double);
    }

    void write(tw_decomposition d) {
        tw_file file = nullptr;
        expect(tw_create(session_, path_.c_str(), c_.settings.c_str(), &file), "tw_create");
        if (file == nullptr) return;
        for (std::size_t v = 0; v < c_.files.size(); ++v) {
            std::string names = c_.records[v] != 0 ? "time " : "";
            for (const std::size_t dim : c_.files[v]) names += name_of(dim) + " ";
            expect(tw_def_var(file, ("v" + std::to_string(v)).c_str(),
                              static_cast<tw_type>(c_.types[v]), names.c_str(), d),
                   "tw_def_var");
        }
        const Numbers extent = map_.extent(shape_, static_cast<std::size_t>(check::state.rank));
        const auto n = volume(extent);
        for (int s = 0; s < c_.steps; ++s) {
            std::vector<std::vector<double>> arrays(c_.files.size());
            for (std::size_t v = 0; v < arrays.size(); ++v) {
                if (c_.records[v] == 0 && s > 0) continue;
                std::vector<double>& array = arrays[v];
                array.assign(static_cast<std::size_t>(strided_ ? 2 * n + 1 : n + 1), 1e300);
                for_array(map_, [&](std::int64_t i, const Numbers& at) {
                    if (!at.empty()) array[place(i, extent)] = value(v, s, at);
                });
                const std::string name = "v" + std::to_string(v);
                if (strided_)
                    expect(tw_put_array(
                               file, name.c_str(),
                               tw_strided(TW_DOUBLE, array.data(), static_cast<int>(extent.size()),
                                          extent.data(), strides(extent).data()),
                               deferred_ ? TW_DEFERRED : 0),
                           "tw_put_array");
                else if (deferred_)
                    expect(tw_put_array(file, name.c_str(), tw_dense(TW_DOUBLE, array.data(), n),
                                        TW_DEFERRED),
                           "tw_put_array");
                else
                    expect(tw_put(file, name.c_str(), TW_DOUBLE, array.data(), n), "tw_put");
            }
            expect(tw_end_step(file), "tw_end_step");
        }
        expect(tw_close(&file), "tw_close");
    }

    /// Compares every element of the file, read by netCDF-C.
    void compare() {
        std::vector<char> held(static_cast<std::size_t>(volume(shape_)), 0);
        Numbers listed(shape_.begin() + static_cast<std::ptrdiff_t>(map_.first),
                       shape_.begin() + static_cast<std::ptrdiff_t>(map_.first + map_.count));
        std::vector<char> in_list(static_cast<std::size_t>(volume(listed)), 0);
        for (const Numbers& list : map_.lists)
            for (const std::int64_t g : list)
                if (g >= 0) in_list[static_cast<std::size_t>(g)] = 1;
        int id = -1;
        if (nc_open(path_.c_str(), NC_NOWRITE, &id) != NC_NOERR) {
            check::fail(__FILE__, __LINE__, "nc_open");
            return;
        }
        for (std::size_t v = 0; v < c_.files.size(); ++v) {
            int var = -1;
            nc_inq_varid(id, ("v" + std::to_string(v)).c_str(), &var);
            const int records = c_.records[v] != 0 ? c_.steps : 1;
            const std::int64_t each = volume(shape_);
            std::vector<double> got(static_cast<std::size_t>(each * records), -7);
            if (nc_get_var_double(id, var, got.data()) != NC_NOERR)
                check::fail(__FILE__, __LINE__, "nc_get_var_double");
            Numbers file_shape;
            for (const std::size_t d : c_.files[v]) file_shape.push_back(c_.grid[d]);
            const double fills[] = {
                0, 0, 0, NC_FILL_SHORT, NC_FILL_INT, NC_FILL_FLOAT, NC_FILL_DOUBLE};
            for (std::int64_t i = 0; i < each * records; ++i) {
                const Numbers at_file = unflatten(i % each, file_shape);
                Numbers at(shape_.size());
                for (std::size_t m = 0; m < at.size(); ++m)
                    for (std::size_t f = 0; f < at.size(); ++f)
                        if (c_.files[v][f] == c_.memory[m]) at[m] = at_file[f];
                const Numbers inside(
                    at.begin() + static_cast<std::ptrdiff_t>(map_.first),
                    at.begin() + static_cast<std::ptrdiff_t>(map_.first + map_.count));
                const bool any = in_list[static_cast<std::size_t>(flatten(inside, listed))] != 0;
                const double expected =
                    any ? value(v, static_cast<int>(i / each), at) : fills[c_.types[v]];
                ++check::state.checks;
                if (got[static_cast<std::size_t>(i)] == expected) continue;
                check::fail(
                    __FILE__, __LINE__,
                    check::text("v%zu: element %lld is %g, not %g", v, static_cast<long long>(i),
                                got[static_cast<std::size_t>(i)], expected));
                break;
            }
        }
        nc_close(id);
    }

    void read(tw_decomposition d) {
        check::step("case %llu, read", static_cast<unsigned long long>(seed_));
        tw_file file = nullptr;
        expect(tw_open(session_, path_.c_str(), "readers=auto", &file), "tw_open");
        if (file == nullptr) return;
        std::vector<char> in_list;
        Numbers listed(shape_.begin() + static_cast<std::ptrdiff_t>(map_.first),
                       shape_.begin() + static_cast<std::ptrdiff_t>(map_.first + map_.count));
        in_list.assign(static_cast<std::size_t>(volume(listed)), 0);
        for (const Numbers& list : map_.lists)
            for (const std::int64_t g : list)
                if (g >= 0) in_list[static_cast<std::size_t>(g)] = 1;
        const Numbers extent = wanted_.extent(shape_, static_cast<std::size_t>(check::state.rank));
        const auto n = volume(extent);
        std::vector<std::vector<double>> arrays(c_.files.size());
        const int record = c_.steps - 1;
        for (std::size_t v = 0; v < arrays.size(); ++v) {
            arrays[v].assign(static_cast<std::size_t>(strided_ ? 2 * n + 1 : n + 1), -5);
            const std::string name = "v" + std::to_string(v);
            if (strided_)
                expect(tw_get_array(
                           file, name.c_str(), d, record,
                           tw_strided(TW_DOUBLE, arrays[v].data(), static_cast<int>(extent.size()),
                                      extent.data(), strides(extent).data()),
                           deferred_ ? TW_DEFERRED : 0),
                       "tw_get_array");
            else if (deferred_)
                expect(tw_get_array(file, name.c_str(), d, record,
                                    tw_dense(TW_DOUBLE, arrays[v].data(), n), TW_DEFERRED),
                       "tw_get_array");
            else
                expect(tw_get(file, name.c_str(), d, record, TW_DOUBLE, arrays[v].data(), n),
                       "tw_get");
        }
        if (deferred_) expect(tw_read(file), "tw_read");
        for (std::size_t v = 0; v < arrays.size(); ++v) {
            bool good = true;
            for_array(wanted_, [&](std::int64_t i, const Numbers& at) {
                double expected = -5;
                if (!at.empty()) {
                    const Numbers inside(
                        at.begin() + static_cast<std::ptrdiff_t>(map_.first),
                        at.begin() + static_cast<std::ptrdiff_t>(map_.first + map_.count));
                    const double fills[] = {
                        0, 0, 0, NC_FILL_SHORT, NC_FILL_INT, NC_FILL_FLOAT, NC_FILL_DOUBLE};
                    expected = in_list[static_cast<std::size_t>(flatten(inside, listed))] != 0
                                   ? value(v, c_.records[v] != 0 ? record : 0, at)
                                   : fills[c_.types[v]];
                }
                ++check::state.checks;
                const double got = arrays[v][place(i, extent)];
                if (got == expected || !good) return;
                good = false;
                check::fail(__FILE__, __LINE__,
                            check::text("v%zu read: element %lld is %g, not %g", v,
                                        static_cast<long long>(i), got, expected));
            });
        }
        expect(tw_close(&file), "tw_close");
    }

    tw_session session_;
    Random random_;
    std::string path_;
    std::uint64_t seed_;
    Case c_;
    Numbers shape_;     // lengths in memory order
    std::string dims_;  // names of the dimensions
    Map map_, wanted_;
    bool strided_ = false, deferred_ = false;
};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const auto text = [&](const char* name, const char* otherwise) {
        return check::option(argc, argv, name, otherwise);
    };
    const auto seed = static_cast<std::uint64_t>(std::atoll(text("--seed", "1").c_str()));
    // number of a single case to run with all node sizes
    const std::string only = text("--only", "");
    const long cases = only.empty() ? std::atol(text("--cases", "1000").c_str()) : 4;
    const double seconds = std::atof(text("--seconds", "4").c_str());
    const std::string servers = text("--servers", "0");
    const std::string nodes[] = {"0", "1", "2", "3"};
    const std::string folder = check::make_folder("lists");
    const auto begin = std::chrono::steady_clock::now();
    long done = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        // ranks that were servers have not counted the cases
        MPI_Allreduce(MPI_IN_PLACE, &done, 1, MPI_LONG, MPI_MAX, check::state.comm);
        tw_session session = nullptr;
        const MPI_Comm world = check::state.comm;
        const std::string settings = "node_size=" + nodes[k] + "; servers=" + servers;
        if (tw_init(world, settings.c_str(), &session) != TW_OK) {
            check::fail(__FILE__, __LINE__, tw_error_message(session));
            break;
        }
        tw_role role = TW_MODEL;
        tw_inq_role(session, &role);
        if (role == TW_MODEL) {
            if (servers != "0") {
                MPI_Comm model = MPI_COMM_NULL;
                tw_model_comm(session, &model);
                check::use(model);
            }
            for (; done < cases; ++done) {
                const std::chrono::duration<double> spent =
                    std::chrono::steady_clock::now() - begin;
                if (!only.empty() && done > static_cast<long>(k)) break;
                if (!check::everywhere(spent.count() < seconds * static_cast<double>(k + 1) / 4 &&
                                       check::state.failures == 0))
                    break;
                Run(session,
                    only.empty() ? mix(seed, static_cast<std::uint64_t>(done))
                                 : std::strtoull(only.c_str(), nullptr, 10),
                    folder + "/file.nc", text("--method", ""))
                    .all();
            }
        }
        check::use(world);
        if (tw_finalize(&session) != TW_OK) check::fail(__FILE__, __LINE__, "tw_finalize");
    }
    if (check::state.rank == 0) {
        std::fprintf(stderr, "lists: %ld cases\n", done);
        std::remove((folder + "/file.nc").c_str());
        std::remove(folder.c_str());
    }
    return check::verdict("lists");
}
