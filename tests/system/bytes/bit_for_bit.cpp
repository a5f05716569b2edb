// Writes one data set with every method, driver, writer count, node size and budget: all files must
// be the same, bit for bit.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: bit_for_bit [--keep FILE] [--all] [--verbose] [--servers N]
// The file that one rank writes serially is compared with that of serial netCDF-C, and all others
// with it. --keep leaves the file for readers.py. --all tries every combination. With --servers, N
// of the ranks are servers and write the files.

#include <mpi.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "dataset.hpp"
#include "system/check.hpp"
#include "system/compare.hpp"
#include "system/pnetcdf.hpp"
#include "thalweg/thalweg.h"

namespace {

using Names = std::vector<std::string>;

bool same_on_rank_0(const std::string& expected, const std::string& actual,
                    const std::string& what) {
    int equal = 1;
    if (check::state.rank == 0) {
        const std::string found = difference(expected, actual);
        CHECK_TEXT(found.empty(), "%s: %s", what.c_str(), found.c_str());
        equal = found.empty() ? 1 : 0;
    }
    MPI_Bcast(&equal, 1, MPI_INT, 0, check::state.comm);
    return equal == 1;
}

// Settings of files, in the order of the loops below. Each combination of them is tested, or some
// combinations are.
struct Choices {
    Names methods, storages, writers;
    int every = 1;
    bool same_order = false;  // all ranks put in the same order, so steps may exceed the queue
};

Choices inline_choices(int ranks) {
    return {{"auto", "serial", "direct", "slabs", "rows", "columns", "tiles"},
            {"posix", PNETCDF_BLOCKING, PNETCDF},
            {"auto", "1", "3", "2/node", std::to_string(ranks)},
            4};  // a number that has no factor in common with the number of writers, so that all
                 // pairs occur
}

// Queues with space for several steps, for one variable, or for a part of one.
Choices service_choices(const std::string& service, int ranks) {
    const std::string name = "posix; service=" + service;
    Choices c{{"auto", "serial", "slabs", "tiles"}, {}, {"1", "3", std::to_string(ranks)}, 5, true};
    for (const std::string queue : {"auto", "16KiB", "4KiB"})
        c.storages.push_back(name + "; queue=" + queue);
    if (service == "servers") {  // the servers are the writers
        c.writers = {"auto"};
        c.every = 2;
    }
    return c;
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const bool all = check::has_flag(argc, argv, "--all");
    const bool verbose = check::has_flag(argc, argv, "--verbose");
    const std::string keep = check::option(argc, argv, "--keep", "");
    const int servers = std::stoi(check::option(argc, argv, "--servers", "0"));
    const std::string folder = check::make_folder("bit_for_bit");
    const std::string reference = folder + "/reference.nc";
    const std::string serial = folder + "/serial.nc";
    const std::string path = folder + "/file.nc";

    check::step("one rank, serial");
    if (check::state.rank == 0) {
        dataset::write_reference(reference);
        tw_session alone = nullptr;
        CHECK(tw_init(MPI_COMM_SELF, "method=serial", &alone) == TW_OK);
        CHECK(dataset::write(MPI_COMM_SELF, alone, serial, "method=serial") == TW_OK);
        CHECK_TEXT(tw_finalize(&alone) == TW_OK, "tw_finalize");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    bool good = same_on_rank_0(reference, serial, "one rank, serial");

    int sessions = 0;
    int written = 0;
    const double begin = MPI_Wtime();
    for (const std::string node_size : {"0", "1", "2", "3"})
        for (const std::string buffer : {"8MiB", "64KiB"}) {
            int number =
                // Number of sessions so far. The same on every rank, including ranks that were
                // servers.
                sessions++;
            tw_session session = nullptr;
            std::string own = "node_size=" + node_size + "; buffer=" + buffer;
            if (servers > 0)
                own += "; servers=" + std::to_string(servers) + (buffer == "8MiB" ? "" : ":last");
            check::step("tw_init %s", own.c_str());
            CHECK(tw_init(MPI_COMM_WORLD, own.c_str(), &session) == TW_OK);
            MPI_Comm model = MPI_COMM_NULL;
            CHECK(tw_model_comm(session, &model) == TW_OK);
            std::vector<Choices> all_choices;
            if (model != MPI_COMM_NULL) {
                check::use(model);
                if (servers > 0)
                    all_choices = {service_choices("servers", check::state.size)};
                else
                    all_choices = {inline_choices(check::state.size),
                                   service_choices("background", check::state.size)};
            }
            for (const Choices& c : all_choices)
                for (const std::string& method : c.methods)
                    for (const std::string& storage : c.storages)
                        for (const std::string& writer : c.writers) {
                            // Test every third or fourth combination; which ones depends on the
                            // node size.
                            if (!all && (number++ + std::stoi(node_size)) % c.every != 0) continue;
                            const std::string settings =
                                "method=" + method + "; storage=" + storage + "; writers=" + writer;
                            check::step("%s; %s", own.c_str(), settings.c_str());
                            if (verbose && check::state.rank == 0)
                                check::print(own + "; " + settings);
                            const int status =
                                dataset::write(model, session, path, settings, c.same_order);
                            good = check::everywhere(status == TW_OK) && good;
                            good = same_on_rank_0(serial, path, own + "; " + settings) && good;
                            ++written;
                            if (check::state.rank == 0) ::unlink(path.c_str());
                        }
            check::use(MPI_COMM_WORLD);
            check::step("tw_finalize %s", own.c_str());
            CHECK(tw_finalize(&session) == TW_OK);
        }
    if (check::state.rank == 0) {
        check::print(check::text("bit_for_bit: %d files in %.1f s", written, MPI_Wtime() - begin));
        std::error_code ignored;
        if (!keep.empty())
            std::filesystem::copy_file(serial, keep,
                                       std::filesystem::copy_options::overwrite_existing, ignored);
        CHECK_TEXT(!ignored, "cannot copy the file to %s", keep.c_str());
        std::filesystem::remove_all(folder, ignored);
    }
    return check::verdict("bit_for_bit");
}
