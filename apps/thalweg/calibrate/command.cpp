// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "calibrate/calibrate.hpp"
#include "progress.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"
#include "write_text.hpp"

namespace thalweg::app {

using namespace detail;
using namespace planning;

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
    Progress progress(100, team.rank());
    progress.add(0, "memory");
    measure_memory(team, options.seconds * 0.08, machine);
    progress.add(8, "index lists");
    measure_lists(team, options.seconds * 0.04, machine);
    progress.add(4, "messages");
    measure_messages(team, options.seconds * 0.08, machine);
    progress.add(8, "messages inside a node");
    measure_inside(team, options.seconds * 0.04, machine);
    progress.add(4, options.folders.front());
    const double each = options.seconds * 0.76 / static_cast<double>(options.folders.size());
    for (const std::string& given : options.folders) {
        Folder folder;
        std::string path, name;
        if (Status s = find_folder(team, given, path, name); !s.ok()) return s;
        folder.file_system = name;
        if (Status s = measure_folder(team, path, each, folder); !s.ok()) return s;
        machine.folders.push_back(folder);
        progress.add(76 / static_cast<std::int64_t>(options.folders.size()), given);
    }
    return {};
}

/// Writes the calibration file on rank 0. If this fails, an existing file stays as it was.
Status write_file(const std::string& path, const std::string& text) {
    const std::string part = path + ".part";
    if (Status status = write_text(part, text); !status.ok()) return status;
    if (std::rename(part.c_str(), path.c_str()) != 0) return system_failure(path, "cannot rename");
    return {};
}

std::string remark_of(const Machine& machine) {
    char day[32] = "";
    const std::time_t seconds = std::time(nullptr);
    std::tm utc{};
    if (gmtime_r(&seconds, &utc) != nullptr) std::strftime(day, sizeof day, "%Y-%m-%d", &utc);
    return fmt::format("Written by thalweg calibrate on {}, with {} ranks on {} {}.", day,
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
            fmt::print(stderr, "thalweg: calibrate: {}\n", status.text);
        std::fflush(stdout);
    }
    return status.ok() ? 0 : 1;
}

}  // namespace thalweg::app
