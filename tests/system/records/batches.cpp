// Tests batches: tw_put of the next record, tw_put_record of any record by any decomposition, and
// boxes, in one file and in random order, with every service; in a new file, or in one that other
// ranks or netCDF-C have made. The reference is kept in plain arrays. After each tw_sync the file
// is read by serial netCDF-C and through the handle that writes it. At the end it is compared with
// the file that serial netCDF-C writes: byte for byte or, for netCDF-4, as netCDF-C reads both.
// With --packed, all are netCDF-4 files with filters.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: batches [--seed N] [--cases N] [--seconds N] [--first N] [--packed]

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "batch_case.hpp"
#include "batch_reference.hpp"
#include "batch_writer.hpp"
#include "system/check.hpp"
#include "system/compare.hpp"
#include "system/compare_netcdf4.hpp"
#include "system/model.hpp"
#include "system/random.hpp"
#include "thalweg/thalweg.h"

namespace {

using namespace batches;

std::string folder;

bool passed(const BatchWriter& writer) {
    CHECK_TEXT(writer.good(), writer.error);
    return writer.good();
}

/// Makes the file that a run continues, and its reference.
void make_file(const Model& m, Case& c, const std::string& path, Reference& ref) {
    const Case& b = *c.before;
    for (std::size_t s = 0; s < b.steps.size(); ++s) apply(b, ref, s, std::max(c.ranks_before, 1));
    if (c.ranks_before == 0 && m.rank == 0) write_by_netcdf(path, b, ref);
    MPI_Comm few = MPI_COMM_NULL;
    MPI_Comm_split(m.comm, m.rank < c.ranks_before ? 0 : MPI_UNDEFINED, m.rank, &few);
    if (few != MPI_COMM_NULL) {
        Model early(few, "log=off");
        BatchWriter writer(early.session, early.rank, early.size, b, path);
        writer.create();
        for (std::size_t s = 0; s < b.steps.size() && writer.good(); ++s) {
            writer.begin_step();
            for (const Op& op : b.steps[s].ops)
                writer.put(s, at_record(op, static_cast<std::int64_t>(s)));
            writer.ok(tw_end_step(writer.file), "tw_end_step");
        }
        writer.ok(tw_close(&writer.file), "tw_close");
        passed(writer);
        early.end();
        MPI_Comm_free(&few);
    }
    MPI_Barrier(m.comm);
    c.first = std::min(c.first, ref.records);
    ref.first = c.first < 0 ? ref.records : c.first;
    ref.explicit_ = false;
    if (c.first < 0 || !c.drop) return;
    ref.records = c.first;
    for (std::size_t v = 0; v < c.variables.size(); ++v)
        if (c.variables[v].record)
            ref.values[v].resize(static_cast<std::size_t>(c.first * c.variables[v].elements()));
}

bool run(Model& m, Case c, const std::string& what) {
    const std::string path = folder + "/batches.nc";
    Reference ref(c);
    if (c.before) make_file(m, c, path, ref);
    check::step("{}: create", what);
    BatchWriter writer(m.session, m.rank, m.size, c, path);
    if (!writer.create()) return passed(writer);
    const bool tiles = !c.tiles.empty();
    const auto look = [&](const std::string& at) {
        if (m.rank != 0 || tiles) return;
        if (writer.good()) writer.error = difference(c, ref, at, at == path);
    };
    for (std::size_t s = 0; s < c.steps.size(); ++s) {
        writer.begin_step();
        if (c.steps[s].reopen) {
            check::step("{}: closed before step {}", what, s);
            writer.ok(tw_close(&writer.file), "tw_close");
            look(path);
            MPI_Barrier(m.comm);
            if (!writer.create(true)) return passed(writer);
            ref.first = ref.records - static_cast<std::int64_t>(s);
            ref.explicit_ = false;
        }
        int number = 0;
        for (const Op& given : c.steps[s].ops) {
            const Op op = at_record(given, ref.first + static_cast<std::int64_t>(s));
            check::step("{}: step {}, variable {}", what, s, op.variable);
            if (number++ == c.steps[s].sync_before)
                writer.ok(tw_sync(writer.file, 0), "tw_sync in a step");
            writer.put(s, op);
        }
        check::step("{}: end of step {}", what, s);
        if (!c.steps[s].open) writer.ok(tw_end_step(writer.file), "tw_end_step");
        apply(c, ref, s, m.size);
        if (!c.steps[s].sync) continue;
        writer.ok(tw_sync(writer.file, 0), "tw_sync");
        if (std::filesystem::exists(path + ".part")) look(path + ".part");
        check::step("{}: read after step {}", what, s);
        if (!tiles) writer.read_back(ref, mix(c.steps.size(), s));
        MPI_Barrier(m.comm);
    }
    check::step("{}: close", what);
    writer.ok(tw_close(&writer.file), "tw_close");
    if (tiles) {
        writer.ok(tw_open(m.session, path.c_str(), nullptr, &writer.file), "tw_open");
        for (std::uint64_t i = 0; i < 3 && writer.good(); ++i) writer.read_back(ref, c.seed + i);
        writer.ok(tw_close(&writer.file), "tw_close");
    } else if (m.rank == 0) {
        const std::string expected = path + ".expected";
        write_by_netcdf(expected, c, ref);
        if (writer.good())
            writer.error =
                c.netcdf4() ? netcdf4_difference(expected, path) : ::difference(expected, path);
    }
    MPI_Barrier(m.comm);
    for (int k = 0; k < c.parts && tiles && m.rank == 0; ++k)
        std::filesystem::remove(path + ".000" + std::to_string(k));
    if (m.rank == 0) std::filesystem::remove(path);
    int all = passed(writer) ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, m.comm);
    if (all == 0 && m.rank == 0)
        check::print(
            check::text("{} failed: {} x {} x {}, {}; of {} ranks with {}, record {}, drop {}",
                        what, c.nz, c.ny, c.nx, c.file, c.ranks_before,
                        c.before ? c.before->file.c_str() : "nothing", c.first, c.drop));
    return all == 1;
}

bool has_several_hosts() {
    MPI_Comm host = MPI_COMM_NULL;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    int here = 0, all = 0;
    MPI_Comm_size(host, &here);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_free(&host);
    return here < all;
}

struct Service {
    std::string session, file;
    int servers = 0;
};
std::vector<Service> services() {
    std::vector<Service> all{{"", "service=inline"}, {"", "service=background"}};
    const int ranks = check::state.size;
    if (ranks > 2) all.push_back({"node_size=2", "service=inline"});
    if (ranks > 2) all.push_back({"node_size=2", "service=background"});
    if (ranks > 1) all.push_back({"servers=1", "service=servers", 1});
    if (ranks > 2) all.push_back({"servers=2:last; node_size=2", "service=servers", 2});
    if (ranks > 4) all.push_back({"servers=3; node_size=2", "service=servers", 3});
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 40);
    const std::uint64_t seed = std::stoull(check::option(argc, argv, "--seed", "1"));
    const long cases = std::stol(check::option(argc, argv, "--cases", "1000"));
    const long first = std::stol(check::option(argc, argv, "--first", "0"));
    const double seconds = std::stod(check::option(argc, argv, "--seconds", "1"));
    Bounds bounds;
    bounds.again = true;
    bounds.packed = check::has_flag(argc, argv, "--packed");
    folder = check::make_folder("batches");
    long done = 0;
    const bool hosts = has_several_hosts();
    for (const Service& s : services()) {
        const std::string settings = "log=off; " + s.session;
        {
            Model m(MPI_COMM_WORLD, settings);
            bounds.tiles = s.servers > 0 ? std::min(s.servers, m.size) : m.size;
            const double begin = MPI_Wtime();
            for (long k = first; m && k < cases; ++k) {
                int over = MPI_Wtime() - begin > seconds ? 1 : 0;
                MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX, m.comm);
                if (over != 0) break;
                const Case c =
                    make_case(mix(seed, static_cast<std::uint64_t>(k)), m.size, s.file,
                              hosts || s.session.find("node_size") != std::string::npos, bounds);
                if (!run(m, c, check::text("{}; case {}", settings, k))) break;
                ++done;
            }
            m.end();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (check::state.rank == 0) check::print(check::text("batches: {} cases", done));
    return check::verdict("batches");
}
