// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>

#include "plan/calibrate/calibrate.hpp"
#include "storage/posix/file_system.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// Finds the folder on rank 0, because ranks may have different working folders.
/// @note Collective
Status find_folder(Team& team, const std::string& given, std::string& path, std::string& name) {
    std::vector<char> bytes;
    Status status;
    if (team.rank() == 0) {
        char resolved[PATH_MAX];
        if (::realpath(given.c_str(), resolved) == nullptr)
            status = system_failure(given, "cannot use the folder");
        else
            bytes.assign(resolved, resolved + std::strlen(resolved));
    }
    if (status = team.agree(status); !status.ok()) return status;
    team.world().broadcast(bytes, 0);
    path.assign(bytes.begin(), bytes.end());
    name = file_system_at(path).name;
    return {};
}

/// Measures memory, messages and folders. @note Collective
Status measure(Team& team, const CalibrateOptions& options, Machine& machine) {
    machine.ranks = team.size();
    machine.nodes = team.topology().nodes;
    machine.cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    measure_memory(team, options.seconds * 0.08, machine);
    measure_lists(team, options.seconds * 0.04, machine);
    measure_messages(team, options.seconds * 0.08, machine);
    measure_inside(team, options.seconds * 0.04, machine);
    const double each = options.seconds * 0.76 / static_cast<double>(options.folders.size());
    for (const std::string& given : options.folders) {
        Folder folder;
        std::string path, name;
        if (Status s = find_folder(team, given, path, name); !s.ok()) return s;
        folder.file_system = name;
        if (Status s = measure_folder(team, path, each, folder); !s.ok()) return s;
        machine.folders.push_back(folder);
    }
    return {};
}

/// Replaces the contents of a file. If this fails, an existing file stays as it was. Local.
Status write_file(const std::string& path, const std::string& text) {
    const std::string part = path + ".part";
    errno = 0;
    std::ofstream out(part, std::ios::binary);
    out << text;
    out.close();
    if (!out) return failure(TW_EIO, "{}: cannot write: {}", part, std::strerror(errno));
    if (std::rename(part.c_str(), path.c_str()) != 0) return system_failure(path, "cannot rename");
    return {};
}

std::string remark_of(const Machine& machine) {
    char day[32] = "";
    const std::time_t seconds = std::time(nullptr);
    std::tm utc{};
    if (gmtime_r(&seconds, &utc) != nullptr) std::strftime(day, sizeof day, "%Y-%m-%d", &utc);
    return fmt::format("Written by thalweg-plan calibrate on {}, with {} ranks on {} {}.", day,
                       machine.ranks, machine.nodes, machine.nodes == 1 ? "node" : "nodes");
}

}  // namespace

int calibrate(const CalibrateOptions& options) {
    Status status;
    const auto team = Team::make(make_mpi_comm(MPI_COMM_WORLD), 0, status);
    Machine machine;
    std::string text;
    if (status.ok()) status = measure(*team, options, machine);
    if (status.ok()) {
        text = text_of(machine, remark_of(machine));
        status = team->agree(team->rank() == 0 ? write_file(options.output, text) : Status{});
    }
    if (!team || team->rank() == 0) {
        if (status.ok())
            fmt::print("{}\nwritten to {}\n", text, options.output);
        else
            fmt::print(stderr, "thalweg-plan: calibrate: {}\n", status.text);
        std::fflush(stdout);
    }
    return status.ok() ? 0 : 1;
}

}  // namespace thalweg::planning
