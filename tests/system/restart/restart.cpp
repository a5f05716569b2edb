// Tests restarts: random arrays of random bits, written by some ranks and read by others, in other
// decompositions (boxes with halos, lists of indices), by any method, service and format.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: restart [--seconds S] [--seed N] [--servers N]
// The reference for a file's contents is serial netCDF-C; for its checksums, their definition
// (docs/restarts.md), element by element.
#include <netcdf.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "system/random.hpp"
#include "system/random_settings.hpp"
#include "system/restart/definitions.hpp"
#include "system/values.hpp"
#include "thalweg/thalweg.h"

namespace {

using Numbers = std::vector<std::int64_t>;

struct Variable {
    std::string name;
    tw_type type = TW_DOUBLE;
    std::vector<int> dims;  // numbers of the dimensions in file order
    bool replicated = false, has_fill = false;
    std::vector<char> raw;  // values as netCDF-C reads them from the file
};

struct Model {
    Numbers lengths;  // length of each dimension
    std::vector<Variable> variables;
    Numbers shape(const Variable& v) const {
        Numbers result;
        for (const int d : v.dims) result.push_back(lengths[static_cast<std::size_t>(d)]);
        return result;
    }
};

std::string dim_name(int d) { return "d" + std::to_string(d); }

std::int64_t product(const Numbers& shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t position(const Numbers& shape, const Numbers& index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + index[d];
    return at;
}

/// Returns the bits of an element. They can be any bits, even for floating-point numbers.
std::uint64_t bits_of(std::uint64_t seed, const Variable& v, std::int64_t at) {
    return mix(mix(seed, mix(static_cast<std::uint64_t>(v.name[1]))),
               static_cast<std::uint64_t>(at));
}

Model make_model(Random& random) {
    Model m;
    for (std::int64_t d = random.between(1, 4); d > 0; --d)
        m.lengths.push_back(random.between(1, 9));
    const tw_type first = random.percent(50) ? TW_DOUBLE : TW_FLOAT;
    for (std::int64_t i = random.between(1, 6); i > 0; --i) {
        Variable v;
        v.name = "v" + std::string(1, static_cast<char>('a' + i));
        v.type = random.percent(40) ? first : random.pick(all_types());
        v.dims.resize(m.lengths.size());
        std::iota(v.dims.begin(), v.dims.end(), 0);
        random.shuffle(v.dims);
        v.dims.resize(static_cast<std::size_t>(random.between(0, std::int64_t(v.dims.size()))));
        v.replicated = v.dims.empty() || random.percent(20);
        v.has_fill = random.percent(30);
        m.variables.push_back(v);
    }
    return m;
}

/// The decomposition of a variable in one run, and this rank's array.
struct Array {
    tw_decomposition decomposition = nullptr;
    std::vector<int> order;  // dimension of the variable for each dimension in memory
    std::vector<Numbers> start, count;
    Numbers low, high;
    std::vector<tw_edge> edges;
    std::size_t first_listed = 0, listed = 0;  // first memory dimension of the list, and their
                                               // number; 0 for boxes
    Numbers list;
    bool strided = false, bare = false;
    std::vector<char> bytes;
    Numbers extent, stride;
    std::int64_t n = 0;
};

class Run {
public:
    Run(const Model& model, MPI_Comm comm, const std::string& settings, std::string title)
        : model_(model), title_(std::move(title)) {
        expect(tw_init(comm, settings.c_str(), &session_), "tw_init");
        tw_role role = TW_MODEL;
        expect(tw_inq_role(session_, &role), "tw_inq_role");
        if (role == TW_MODEL) expect(tw_model_comm(session_, &comm_), "tw_model_comm");
        if (comm_ == MPI_COMM_NULL) return;
        MPI_Comm_rank(comm_, &rank_);
        MPI_Comm_size(comm_, &size_);
    }
    bool is_model() const { return comm_ != MPI_COMM_NULL; }
    int rank() const { return rank_; }

    /// Registers an array for each variable. `random` gives the same numbers on all ranks.
    void begin(Random& random, const std::string& settings) {
        expect(tw_restart_new(session_, settings.c_str(), &restart_), "tw_restart_new");
        for (std::size_t d = 0; d < model_.lengths.size(); ++d)
            if (random.percent(50) || needed(static_cast<int>(d)))
                expect(tw_def_dim(definitions_of(restart_), dim_name(static_cast<int>(d)).c_str(),
                                  model_.lengths[d]),
                       "tw_def_dim");
        arrays_.resize(model_.variables.size());
        for (std::size_t i = 0; i < arrays_.size(); ++i) {
            hold(model_.variables[i], random, arrays_[i]);
            add(i);
        }
    }

    void fill_arrays(std::uint64_t seed) {
        for (std::size_t i = 0; i < arrays_.size(); ++i) {
            const Variable& v = model_.variables[i];
            for_own(i, [&](char* at, std::int64_t pos, bool own) {
                const std::uint64_t bits = own ? bits_of(seed, v, pos) : 0;
                std::memcpy(at, &bits, static_cast<std::size_t>(type_size(v.type)));
            });
        }
    }

    void write(const std::string& path) {
        for (const Variable& v : model_.variables) {
            expect(tw_put_att_text(definitions_of(restart_), v.name.c_str(), "units", "m"),
                   "put_att_text");
            const std::uint64_t bits = 0x0102030405060708ULL;
            if (v.has_fill)
                expect(tw_put_att(definitions_of(restart_), v.name.c_str(), "_FillValue", v.type, 1,
                                  &bits),
                       "tw_put_att");
        }
        // Some arrays get other contents before the file is written.
        for (std::size_t i = 1; i < arrays_.size(); i += 2) {
            hand_over(i, TW_COPIED);
            for (char& b : arrays_[i].bytes) b = 0x33;
        }
        const double time = 1.5;
        expect(tw_put_att(definitions_of(restart_), nullptr, "time", TW_DOUBLE, 1, &time),
               "put_att");
        expect(tw_restart_write(restart_, path.c_str()), "tw_restart_write");
    }

    void read_and_compare(const std::string& path) {
        for (Array& a : arrays_)
            for (char& b : a.bytes) b = 0x5a;
        double nothing = 7;
        expect(
            tw_restart_add(restart_, "not_there", TW_DOUBLE, "", nullptr, &nothing, 1, TW_OPTIONAL),
            "tw_restart_add");
        tw_file file = nullptr;
        expect(tw_restart_read(restart_, path.c_str(), &file), "tw_restart_read");
        double time = 0;
        expect(tw_get_att(file, "", "time", TW_DOUBLE, 1, &time), "get_att");
        CHECK_TEXT(time == 1.5 && nothing == 7, "%s", title_.c_str());
        for (std::size_t i = 0; i < arrays_.size(); ++i) compare(i);
        // read variables one by one, from the last to the first
        for (std::size_t i = arrays_.size(); i-- > 0;) {
            for (char& b : arrays_[i].bytes) b = 0x5a;
            expect(tw_get_array(file, model_.variables[i].name.c_str(), arrays_[i].decomposition, 0,
                                array_of(i), 0),
                   "tw_get_array");
            compare(i);
        }
        expect(tw_close(&file), "tw_close");
    }

    void end() {
        if (restart_ != nullptr) expect(tw_restart_free(&restart_), "tw_restart_free");
        expect(tw_finalize(&session_), "tw_finalize");
    }

private:
    void expect(int status, const char* call) {
        CHECK_TEXT(status == TW_OK, "%s: %s gives %s: %s", title_.c_str(), call,
                   tw_strerror(status), tw_error_message(session_));
    }

    /// Tests if a replicated variable has the dimension.
    bool needed(int d) const {
        return std::any_of(model_.variables.begin(), model_.variables.end(), [&](const auto& v) {
            return v.replicated && std::count(v.dims.begin(), v.dims.end(), d) > 0;
        });
    }

    void hold(const Variable& v, Random& random, Array& a) {
        const std::size_t nd = v.dims.size();
        a.order.resize(nd);
        std::iota(a.order.begin(), a.order.end(), 0);
        a.low.assign(nd, 0);
        a.high.assign(nd, 0);
        a.edges.assign(nd, TW_HALO_KEEP);
        const Numbers file_shape = model_.shape(v);
        if (v.replicated) {
            a.start.emplace_back(nd, 0);
            a.count.push_back(file_shape);
            return;
        }
        random.shuffle(a.order);
        Numbers shape;
        std::string names;
        for (const int d : a.order) {
            shape.push_back(file_shape[static_cast<std::size_t>(d)]);
            names += dim_name(v.dims[static_cast<std::size_t>(d)]) + " ";
        }
        if (random.percent(35)) {
            hold_list(v, random, shape, names, a);
            return;
        }
        using Box = std::pair<Numbers, Numbers>;
        std::vector<Box> boxes{{Numbers(nd, 0), shape}};
        for (std::int64_t cuts = random.below(3 * size_); cuts > 0; --cuts) {
            Box& box = boxes[static_cast<std::size_t>(random.below(std::int64_t(boxes.size())))];
            const auto d = static_cast<std::size_t>(random.below(std::int64_t(nd)));
            if (box.second[d] < 2) continue;
            const std::int64_t first = random.between(1, box.second[d] - 1);
            Box rest = box;
            rest.first[d] += first;
            rest.second[d] -= first;
            box.second[d] = first;
            boxes.push_back(rest);
        }
        const bool holes = random.percent(40);  // some elements are held by no rank
        Numbers start, count;
        for (const Box& box : boxes) {
            const bool lost = holes && random.percent(20);
            if (random.below(size_) != rank_ || lost) continue;
            a.start.push_back(box.first);
            a.count.push_back(box.second);
            start.insert(start.end(), box.first.begin(), box.first.end());
            count.insert(count.end(), box.second.begin(), box.second.end());
        }
        if (random.percent(60))
            for (std::size_t d = 0; d < nd; ++d) {
                a.low[d] = random.below(3);
                a.high[d] = random.below(3);
            }
        expect(tw_decompose_halo(session_, names.c_str(), static_cast<int>(a.start.size()),
                                 shape.data(), start.data(), count.data(), a.low.data(),
                                 a.high.data(), &a.decomposition),
               "tw_decompose_halo");
        for (tw_edge& edge : a.edges) edge = static_cast<tw_edge>(random.below(3));
    }

    /// Makes lists of indices in any order, with holes. Some indices are in no list.
    void hold_list(const Variable& v, Random& random, const Numbers& shape,
                   const std::string& names, Array& a) {
        const auto nd = static_cast<std::int64_t>(shape.size());
        a.first_listed = static_cast<std::size_t>(random.below(nd));
        a.listed = static_cast<std::size_t>(
            random.between(1, nd - static_cast<std::int64_t>(a.first_listed)));
        std::string listed;
        std::int64_t n = 1;
        for (std::size_t d = a.first_listed; d < a.first_listed + a.listed; ++d) {
            listed += dim_name(v.dims[static_cast<std::size_t>(a.order[d])]) + " ";
            n *= shape[d];
        }
        Numbers all(static_cast<std::size_t>(n));
        std::iota(all.begin(), all.end(), 0);
        if (random.percent(50)) random.shuffle(all);
        const bool left_out = random.percent(40), holes = random.percent(40);
        for (const std::int64_t index : all) {
            const std::int64_t owner = random.below(size_);
            const bool lost = left_out && random.percent(20);
            if (owner == rank_ && !lost) a.list.push_back(index);
            if (owner == rank_ && holes && index % 5 == 0) a.list.push_back(-1);
        }
        Numbers extent = shape;
        const auto at = extent.begin() + static_cast<std::ptrdiff_t>(a.first_listed);
        extent.erase(at + 1, at + static_cast<std::ptrdiff_t>(a.listed));
        extent[a.first_listed] = static_cast<std::int64_t>(a.list.size());
        a.start.emplace_back(extent.size(), 0);
        a.count.push_back(extent);
        expect(tw_decompose_list(session_, names.c_str(), shape.data(), listed.c_str(),
                                 static_cast<std::int64_t>(a.list.size()), a.list.data(),
                                 TW_LIST_UNIQUE, &a.decomposition),
               "tw_decompose_list");
    }

    /// Makes the array and registers it.
    void add(std::size_t i) {
        const Variable& v = model_.variables[i];
        Array& a = arrays_[i];
        Random own(mix(static_cast<std::uint64_t>(rank_), i));
        a.strided = own.percent(30) && a.start.size() == 1;
        a.bare = a.strided && i % 2 == 0;  // the same on every rank
        const std::int64_t gap = a.strided ? own.below(3) : 0;
        const std::int64_t size = type_size(v.type);
        a.n = 0;
        for (const Numbers& count : a.count) {
            std::int64_t n = 1;
            a.extent.clear();
            for (std::size_t d = 0; d < count.size(); ++d) {
                a.extent.push_back(count[d] + (a.bare ? 0 : a.low[d] + a.high[d]));
                n *= a.extent.back();
            }
            a.n += n;
        }
        a.stride.assign(a.extent.size(), 0);
        std::int64_t step = size * (gap + 1);
        for (std::size_t d = a.extent.size(); d-- > 0;) {
            a.stride[d] = step;
            step *= a.extent[d];
        }
        a.bytes.assign(static_cast<std::size_t>(a.n * size * (gap + 1)), 0x5a);
        hand_over(i, TW_REQUIRED);
        if (own.percent(20)) hand_over(i, TW_REQUIRED);
        // Set the edges of halos after the arrays were registered: the edges must apply to these
        // arrays, too.
        if (a.decomposition != nullptr && a.listed == 0)
            expect(tw_fill_halo(a.decomposition, a.edges.data()), "tw_fill_halo");
    }

    tw_array array_of(std::size_t i) const {
        const Array& a = arrays_[i];
        const tw_type type = model_.variables[i].type;
        return a.strided ? tw_strided(type, a.bytes.data(), static_cast<int>(a.extent.size()),
                                      a.extent.data(), a.stride.data())
                         : tw_dense(type, a.bytes.data(), a.n);
    }

    /// Registers an array.
    void hand_over(std::size_t i, int flags) {
        const Variable& v = model_.variables[i];
        const Array& a = arrays_[i];
        std::string dims;
        for (const int d : v.dims) dims += dim_name(d) + " ";
        if (a.strided)
            expect(tw_restart_add_array(restart_, v.name.c_str(), dims.c_str(), a.decomposition,
                                        array_of(i), flags),
                   "tw_restart_add_array");
        else
            expect(tw_restart_add(restart_, v.name.c_str(), v.type, dims.c_str(), a.decomposition,
                                  arrays_[i].bytes.data(), a.n, flags),
                   "tw_restart_add");
    }

    /// Calls visit(address, position in the variable, false for a halo) for each element that a
    /// read fills.
    template <class Visit>
    void for_own(std::size_t i, Visit&& visit) {
        const Variable& v = model_.variables[i];
        Array& a = arrays_[i];
        const Numbers shape = model_.shape(v);
        std::int64_t begin = 0;
        for (std::size_t b = 0; b < a.count.size(); ++b) {
            const std::size_t nd = a.count[b].size();
            Numbers extent(nd), stride(nd), at(nd, 0);
            std::int64_t n = type_size(v.type);
            for (std::size_t d = nd; d-- > 0;) {
                extent[d] = a.count[b][d] + (a.bare ? 0 : a.low[d] + a.high[d]);
                stride[d] = a.strided ? a.stride[d] : n;
                n *= extent[d];
            }
            for (bool more = product(extent) > 0; more;) {
                visit_element(a, shape, b, begin, at, stride, visit);
                more = false;
                for (std::size_t d = nd; d-- > 0 && !more;) {
                    more = ++at[d] < extent[d];
                    if (!more) at[d] = 0;
                }
            }
            begin += n;
        }
    }

    template <class Visit>
    void visit_element(Array& a, const Numbers& shape, std::size_t b, std::int64_t begin,
                       const Numbers& at, const Numbers& stride, Visit& visit) {
        if (a.listed > 0) {
            visit_listed(a, shape, at, stride, visit);
            return;
        }
        Numbers index(at.size());
        std::int64_t byte = begin;
        bool own = true;
        for (std::size_t d = 0; d < at.size(); ++d) {
            const auto f = static_cast<std::size_t>(a.order[d]);
            const std::int64_t inside = at[d] - (a.bare ? 0 : a.low[d]);
            byte += at[d] * stride[d];
            index[f] = a.start[b][d] + inside;
            if (inside >= 0 && inside < a.count[b][d]) continue;
            own = false;
            const bool outside = index[f] < 0 || index[f] >= shape[f];
            if (a.edges[d] == TW_HALO_KEEP || (a.edges[d] == TW_HALO_CLIP && outside)) return;
            index[f] = (index[f] % shape[f] + shape[f]) % shape[f];
        }
        visit(a.bytes.data() + byte, position(shape, index), own);
    }

    template <class Visit>
    void visit_listed(Array& a, const Numbers& shape, const Numbers& at, const Numbers& stride,
                      Visit& visit) {
        std::int64_t rest = a.list[static_cast<std::size_t>(at[a.first_listed])], byte = 0;
        if (rest < 0) return;  // a hole
        for (std::size_t d = 0; d < at.size(); ++d) byte += at[d] * stride[d];
        Numbers index(shape.size());
        for (std::size_t d = shape.size(); d-- > 0;) {
            const auto f = static_cast<std::size_t>(a.order[d]);
            if (d < a.first_listed) {
                index[f] = at[d];
            } else if (d >= a.first_listed + a.listed) {
                index[f] = at[d - a.listed + 1];
            } else {
                index[f] = rest % shape[f];
                rest /= shape[f];
            }
        }
        visit(a.bytes.data() + byte, position(shape, index), true);
    }

    /// Checks that the elements that were read are those of the file, and that the rest of the
    /// array has not changed.
    void compare(std::size_t i) {
        const Variable& v = model_.variables[i];
        const std::vector<char> got = arrays_[i].bytes;
        std::fill(arrays_[i].bytes.begin(), arrays_[i].bytes.end(), 0x5a);
        const auto size = static_cast<std::size_t>(type_size(v.type));
        for_own(i, [&](char* at, std::int64_t pos, bool) {
            std::memcpy(at, v.raw.data() + static_cast<std::size_t>(pos) * size, size);
        });
        CHECK_TEXT(got == arrays_[i].bytes, "%s: %s has other values", title_.c_str(),
                   v.name.c_str());
    }

    const Model& model_;
    std::string title_;
    tw_session session_ = nullptr;
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = -1, size_ = 0;
    tw_restart restart_ = nullptr;
    std::vector<Array> arrays_;
};

/// Checks the file by netCDF-C: elements have the model's values, or the fill value.
void look(Model& model, const std::string& path, std::uint64_t seed, const std::string& title) {
    int id = 0;
    const int status = nc_open(path.c_str(), NC_NOWRITE, &id);
    CHECK_TEXT(status == NC_NOERR, "%s: nc_open: %s", title.c_str(), nc_strerror(status));
    for (Variable& v : model.variables) {
        const auto size = static_cast<std::size_t>(type_size(v.type));
        const std::int64_t n = product(model.shape(v));
        v.raw.assign(static_cast<std::size_t>(n) * size, 0);
        int var = -1, no_fill = 0;
        nc_type type = NC_NAT;
        std::uint64_t fill = 0;
        CHECK(nc_inq_varid(id, v.name.c_str(), &var) == NC_NOERR);
        CHECK(nc_inq_vartype(id, var, &type) == NC_NOERR && type == static_cast<nc_type>(v.type));
        CHECK(nc_inq_var_fill(id, var, &no_fill, &fill) == NC_NOERR);
        CHECK(nc_get_var(id, var, v.raw.data()) == NC_NOERR);
        for (std::int64_t at = 0; at < n; ++at) {
            const char* value = v.raw.data() + static_cast<std::size_t>(at) * size;
            const std::uint64_t bits = bits_of(seed, v, at);
            CHECK_TEXT(std::memcmp(value, &bits, size) == 0 ||
                           (!v.replicated && std::memcmp(value, &fill, size) == 0),
                       "%s: %s is wrong at %lld", title.c_str(), v.name.c_str(),
                       static_cast<long long>(at));
        }
    }
    nc_close(id);
}

/// Chooses settings for tw_restart_new, for writing.
std::string choose_restart_settings(Random& random, const std::string& session_settings) {
    std::string settings = random.percent(10) ? "" : "durable=no; ";
    if (session_settings.find("storage=") != std::string::npos || random.percent(65))
        return settings;
    settings += "format=netcdf4; ";
    if (random.percent(30)) settings += "deflate=1; ";
    if (random.percent(20)) settings += "chunks=d0=2,d1=3; ";
    return settings;
}

std::string choose_settings(Random& random, int servers) {
    RandomSettings settings = RandomSettings::writing();
    settings.set("log", {"off"}).set("node_size", {"0", "0", "1", "2", "3"}).leave_out("durable");
    settings.set("buffer", {"64KiB"}, 30);
    if (servers > 0) settings.set("service", {"servers"}).set("servers", {std::to_string(servers)});
    // PnetCDF cannot write netCDF-4; most restarts can have either format.
    settings.set("storage", {PNETCDF}, 10);
    return settings.draw(random);
}

void round_trip(std::uint64_t seed, int servers, const std::string& path) {
    Random random(mix(seed, 77));  // makes the same choices on all ranks
    Model model = make_model(random);
    const std::string settings = choose_settings(random, servers);
    const std::string of_restart = choose_restart_settings(random, settings);
    const std::string title =
        check::text("seed %llu, %s; %s", static_cast<unsigned long long>(seed), settings.c_str(),
                    of_restart.c_str());
    check::step("%s: write", title.c_str());
    Random writing(mix(seed, 78)), reading(mix(seed, 79));
    {
        Run run(model, MPI_COMM_WORLD, settings, title);
        if (run.is_model()) {
            run.begin(writing, of_restart);
            run.fill_arrays(seed + 1);  // write an older generation first, which the next one
                                        // replaces
            if (random.percent(30)) run.write(path);
            run.fill_arrays(seed);
            run.write(path);
        }
        run.end();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    check::step("%s: look", title.c_str());
    look(model, path, seed, title);

    // the file is read by ranks in another order
    Random ranks(mix(seed, 80));
    const int readers = static_cast<int>(ranks.between(1, check::state.size));
    const bool reads = check::state.rank < readers;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, reads ? 0 : MPI_UNDEFINED, -check::state.rank, &comm);
    if (reads) {
        check::step("%s: read", title.c_str());
        Run run(model, comm, choose_settings(ranks, 0), title);
        run.begin(reading, "");
        run.read_and_compare(path);
        run.end();
        MPI_Comm_free(&comm);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const auto seed = std::stoull(check::option(argc, argv, "--seed", "1"));
    const double seconds = std::stod(check::option(argc, argv, "--seconds", "3"));
    const int servers = std::stoi(check::option(argc, argv, "--servers", "0"));
    const std::string folder = check::make_folder("restart");
    const double begin = MPI_Wtime();
    int cases = 0;
    for (std::uint64_t i = 0;; ++i) {
        int more = MPI_Wtime() - begin < seconds ? 1 : 0;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (more == 0) break;
        round_trip(seed * 1000000 + i, servers, folder + "/restart.nc");
        ++cases;
    }
    if (check::state.rank == 0) check::print(check::text("restart: %d cases", cases));
    check::remove_folder(folder);
    return check::verdict("restart");
}
