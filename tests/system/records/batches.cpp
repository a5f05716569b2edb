// Tests batches: tw_put of the next record, tw_put_record of any record by any decomposition, and
// boxes, in one file and in random order, with every service. The reference is kept in plain
// arrays, the file is read by serial netCDF-C. With --packed, all are netCDF-4 files with filters.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: batches [--seed N] [--cases N] [--seconds N] [--first N] [--packed]

#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "batch_case.hpp"
#include "batch_reference.hpp"
#include "batch_writer.hpp"
#include "system/check.hpp"
#include "system/model.hpp"
#include "system/random.hpp"
#include "thalweg/thalweg.h"

namespace {

using namespace batches;

std::string folder;

bool run(Model& m, const Case& c, const std::string& what) {
    const std::string path = folder + "/batches.nc";
    check::step("%s: create", what.c_str());
    BatchWriter writer(m, c, path);
    if (!writer.create()) return false;
    Reference ref(c);
    const bool classic = c.file.find("netcdf4") == std::string::npos;
    const auto look = [&](const std::string& at) {
        if (m.rank != 0) return;
        const std::string wrong = difference(c, ref, at, at == path);
        if (writer.good) CHECK_TEXT(wrong.empty(), "%s", wrong.c_str());
        writer.good = writer.good && wrong.empty();
    };
    for (std::size_t s = 0; s < c.steps.size(); ++s) {
        writer.begin_step();
        if (c.steps[s].reopen && classic) {
            check::step("%s: closed before step %zu", what.c_str(), s);
            writer.ok(tw_close(&writer.file), "tw_close");
            look(path);
            MPI_Barrier(m.comm);
            if (!writer.create(true)) return false;
            ref.first = ref.records - static_cast<std::int64_t>(s);
            ref.explicit_ = false;
        }
        int number = 0;
        for (const Op& given : c.steps[s].ops) {
            const Op op = at_record(given, ref.first + static_cast<std::int64_t>(s));
            check::step("%s: step %zu, variable %d", what.c_str(), s, op.variable);
            if (number++ == c.steps[s].sync_before)
                writer.ok(tw_sync(writer.file, 0), "tw_sync in a step");
            writer.put(s, op);
        }
        check::step("%s: end of step %zu", what.c_str(), s);
        if (!c.steps[s].open) writer.ok(tw_end_step(writer.file), "tw_end_step");
        apply(c, ref, s, m.size);
        if (!c.steps[s].sync) continue;
        writer.ok(tw_sync(writer.file, 0), "tw_sync");
        if (std::filesystem::exists(path + ".part")) look(path + ".part");
        MPI_Barrier(m.comm);
    }
    check::step("%s: close", what.c_str());
    writer.ok(tw_close(&writer.file), "tw_close");
    look(path);
    int all = writer.good ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, m.comm);
    if (all == 0 && m.rank == 0)
        check::print(check::text("%s failed: %lld x %lld x %lld, %s", what.c_str(),
                                 static_cast<long long>(c.nz), static_cast<long long>(c.ny),
                                 static_cast<long long>(c.nx), c.file.c_str()));
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
};
std::vector<Service> services() {
    std::vector<Service> all{{"", "service=inline"}, {"", "service=background"}};
    const int ranks = check::state.size;
    if (ranks > 2) all.push_back({"node_size=2", "service=inline"});
    if (ranks > 2) all.push_back({"node_size=2", "service=background"});
    if (ranks > 1) all.push_back({"servers=1", "service=servers"});
    if (ranks > 2) all.push_back({"servers=2:last; node_size=2", "service=servers"});
    if (ranks > 4) all.push_back({"servers=3; node_size=2", "service=servers"});
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
    bounds.packed = check::has_flag(argc, argv, "--packed");
    folder = check::make_folder("batches");
    long done = 0;
    const bool hosts = has_several_hosts();
    for (const Service& s : services()) {
        const std::string settings = "log=off; " + s.session;
        {
            Model m(MPI_COMM_WORLD, settings);
            const double begin = MPI_Wtime();
            for (long k = first; m && k < cases; ++k) {
                int over = MPI_Wtime() - begin > seconds ? 1 : 0;
                MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX, m.comm);
                if (over != 0) break;
                const Case c =
                    make_case(mix(seed, static_cast<std::uint64_t>(k)), m.size, s.file,
                              hosts || s.session.find("node_size") != std::string::npos, bounds);
                if (!run(m, c, check::text("%s; case %ld", settings.c_str(), k))) break;
                ++done;
            }
            m.end();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (check::state.rank == 0) check::print(check::text("batches: %ld cases", done));
    check::remove_folder(folder);
    return check::verdict("batches");
}
