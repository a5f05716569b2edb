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

#include "support/parts.hpp"
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

/// A variable's decomposition in one run, and this rank's array.
struct Held {
    parts::Decomposition form;
    tw_decomposition decomposition = nullptr;
    std::vector<tw_edge> edges;
    parts::Array array;
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
        held_.resize(model_.variables.size());
        for (std::size_t i = 0; i < held_.size(); ++i) {
            hold(model_.variables[i], random, held_[i]);
            add(i);
        }
    }

    void fill_arrays(std::uint64_t seed) {
        for (std::size_t i = 0; i < held_.size(); ++i) {
            const Variable& v = model_.variables[i];
            held_[i].array.for_each_element([&](char* at, const Numbers& index) {
                const std::uint64_t bits = bits_of(seed, v, position_of(i, index));
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
        for (std::size_t i = 1; i < held_.size(); i += 2) {
            hand_over(i, TW_COPIED);
            for (char& b : held_[i].array.bytes) b = 0x33;
        }
        const double time = 1.5;
        expect(tw_put_att(definitions_of(restart_), nullptr, "time", TW_DOUBLE, 1, &time),
               "put_att");
        expect(tw_restart_write(restart_, path.c_str()), "tw_restart_write");
    }

    void read_and_compare(const std::string& path) {
        for (Held& h : held_)
            for (char& b : h.array.bytes) b = 0x5a;
        double nothing = 7;
        expect(
            tw_restart_add(restart_, "not_there", TW_DOUBLE, "", nullptr, &nothing, 1, TW_OPTIONAL),
            "tw_restart_add");
        tw_file file = nullptr;
        expect(tw_restart_read(restart_, path.c_str(), &file), "tw_restart_read");
        double time = 0;
        expect(tw_get_att(file, "", "time", TW_DOUBLE, 1, &time), "get_att");
        CHECK_TEXT(time == 1.5 && nothing == 7, title_);
        for (std::size_t i = 0; i < held_.size(); ++i) compare(i);
        // read variables one by one, from the last to the first
        for (std::size_t i = held_.size(); i-- > 0;) {
            for (char& b : held_[i].array.bytes) b = 0x5a;
            expect(tw_get_array(file, model_.variables[i].name.c_str(), held_[i].decomposition, 0,
                                held_[i].array.handle(model_.variables[i].type), 0),
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
        CHECK_TEXT(status == TW_OK, "{}: {} gives {}: {}", title_, call, tw_strerror(status),
                   tw_error_message(session_));
    }

    /// Tests if a replicated variable has the dimension.
    bool needed(int d) const {
        return std::any_of(model_.variables.begin(), model_.variables.end(), [&](const auto& v) {
            return v.replicated && std::count(v.dims.begin(), v.dims.end(), d) > 0;
        });
    }

    void hold(const Variable& v, Random& random, Held& h) {
        h.edges.assign(v.dims.size(), TW_HALO_KEEP);
        h.form = parts::whole(v.dims, model_.lengths, size_);
        if (v.replicated) return;
        h.form = parts::make_decomposition(random, v.dims, model_.lengths, size_);
        std::vector<std::string> names;
        for (std::size_t d = 0; d < model_.lengths.size(); ++d)
            names.push_back(dim_name(static_cast<int>(d)));
        expect(parts::declare(session_, names, h.form, rank_, &h.decomposition), "tw_decompose");
        for (tw_edge& edge : h.edges)
            if (h.form.listed == 0) edge = static_cast<tw_edge>(random.below(3));
    }

    /// Makes the array and registers it.
    void add(std::size_t i) {
        Held& h = held_[i];
        Random own(mix(static_cast<std::uint64_t>(rank_), i));
        h.array = parts::place_array(h.form, rank_, own.percent(30), i % 2 == 1,
                                     type_size(model_.variables[i].type), own);
        hand_over(i, TW_REQUIRED);
        if (own.percent(20)) hand_over(i, TW_REQUIRED);
        // Set the edges of halos after the arrays were registered: the edges must apply to these
        // arrays, too.
        if (h.decomposition != nullptr && h.form.listed == 0)
            expect(tw_fill_halo(h.decomposition, h.edges.data()), "tw_fill_halo");
    }

    /// Registers an array.
    void hand_over(std::size_t i, int flags) {
        const Variable& v = model_.variables[i];
        Held& h = held_[i];
        std::string dims;
        for (const int d : v.dims) dims += dim_name(d) + " ";
        if (h.array.strided)
            expect(tw_restart_add_array(restart_, v.name.c_str(), dims.c_str(), h.decomposition,
                                        h.array.handle(v.type), flags),
                   "tw_restart_add_array");
        else
            expect(tw_restart_add(restart_, v.name.c_str(), v.type, dims.c_str(), h.decomposition,
                                  h.array.bytes.data(), h.array.n, flags),
                   "tw_restart_add");
    }

    std::int64_t position_of(std::size_t i, const Numbers& index) const {
        const Variable& v = model_.variables[i];
        return position(model_.shape(v), parts::in_order(held_[i].form, v.dims, index));
    }

    /// Checks that the elements that were read are those of the file, and that the rest of the
    /// array has not changed.
    void compare(std::size_t i) {
        const Variable& v = model_.variables[i];
        parts::Array& array = held_[i].array;
        const std::vector<char> got = array.bytes;
        std::fill(array.bytes.begin(), array.bytes.end(), 0x5a);
        const auto size = static_cast<std::size_t>(type_size(v.type));
        array.for_each_filled(held_[i].edges, held_[i].form.shape,
                              [&](char* at, const Numbers& index, bool) {
                                  const auto pos = static_cast<std::size_t>(position_of(i, index));
                                  std::memcpy(at, v.raw.data() + pos * size, size);
                              });
        CHECK_TEXT(got == array.bytes, "{}: {} has other values", title_, v.name);
    }

    const Model& model_;
    std::string title_;
    tw_session session_ = nullptr;
    MPI_Comm comm_ = MPI_COMM_NULL;
    int rank_ = -1, size_ = 0;
    tw_restart restart_ = nullptr;
    std::vector<Held> held_;
};

/// Checks the file by netCDF-C: elements have the model's values, or the fill value.
void look(Model& model, const std::string& path, std::uint64_t seed, const std::string& title) {
    int id = 0;
    const int status = nc_open(path.c_str(), NC_NOWRITE, &id);
    CHECK_TEXT(status == NC_NOERR, "{}: nc_open: {}", title, nc_strerror(status));
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
                       "{}: {} is wrong at {}", title, v.name, at);
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
    const std::string title = check::text("seed {}, {}; {}", seed, settings, of_restart);
    check::step("{}: write", title);
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
    check::step("{}: look", title);
    look(model, path, seed, title);

    // the file is read by ranks in another order
    Random ranks(mix(seed, 80));
    const int readers = static_cast<int>(ranks.between(1, check::state.size));
    const bool reads = check::state.rank < readers;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, reads ? 0 : MPI_UNDEFINED, -check::state.rank, &comm);
    if (reads) {
        check::step("{}: read", title);
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
    if (check::state.rank == 0) check::print(check::text("restart: {} cases", cases));
    return check::verdict("restart");
}
