// SPDX-License-Identifier: Apache-2.0
#include "terminal.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace thalweg::app {

namespace {

/// Tests, by its name, if a process is a launcher of MPI programs.
bool is_launcher(pid_t process) {
    std::string name;
    std::ifstream(fmt::format("/proc/{}/comm", process)) >> name;
    for (const char* known : {"mpirun", "mpiexec", "orterun", "prterun", "hydra", "orted", "prted"})
        if (name.starts_with(known)) return true;
    return false;
}

pid_t parent_of(pid_t process) {
    std::ifstream status(fmt::format("/proc/{}/status", process));
    for (std::string word; status >> word;)
        if (word == "PPid:") {
            pid_t parent = 0;
            status >> parent;
            return parent;
        }
    return 0;
}

}  // namespace

bool on_terminal(int stream) {
    pid_t launcher = getppid();
    if (!is_launcher(launcher)) return isatty(stream) == 1;
    // If there are several launchers, the output comes from the outermost one.
    while (is_launcher(parent_of(launcher))) launcher = parent_of(launcher);
    std::error_code error;
    const std::string target =
        std::filesystem::read_symlink(fmt::format("/proc/{}/fd/{}", launcher, stream), error);
    return target.starts_with("/dev/pts/") || target.starts_with("/dev/tty");
}

}  // namespace thalweg::app
