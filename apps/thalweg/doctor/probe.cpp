// SPDX-License-Identifier: Apache-2.0
#include "doctor/probe.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

#include "front/slots.hpp"

namespace thalweg::app {

namespace {

/// The lines with the results of a child process that has loaded a library.
struct Answer {
    char version[64] = "";
    int slot = 0, table_version = 0;
};

/// Finds a slot of the library for a dispatch table, by registering a table with empty entries.
void find_slot(void* library, Answer& answer) {
    struct Table {
        int model, dispatch_version;
        std::array<void*, 77> entries;
    };
    using Define = int (*)(int, Table*, char*);
    using Inquire = int (*)(int, Table**, char*);
    const auto define = reinterpret_cast<Define>(dlsym(library, "nc_def_user_format"));
    const auto inquire = reinterpret_cast<Inquire>(dlsym(library, "nc_inq_user_format"));
    const auto initialize = reinterpret_cast<int (*)()>(dlsym(library, "nc_initialize"));
    if (define == nullptr || inquire == nullptr) return;
    if (initialize != nullptr) initialize();
    static Table table{};
    const netcdf::Registered found = netcdf::register_table(table, inquire, define);
    answer.slot = found.mode;
    answer.table_version = found.version;
}

Answer ask(const std::string& path) {
    Answer answer;
    void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND);
    if (library == nullptr) return answer;
    using Version = const char* (*)();
    if (const auto version = reinterpret_cast<Version>(dlsym(library, "nc_inq_libvers")))
        std::snprintf(answer.version, sizeof answer.version, "%s", version());
    if (char* const space = std::strchr(answer.version, ' ')) *space = '\0';
    find_slot(library, answer);
    return answer;
}

}  // namespace

NetcdfFacts probe_netcdf(const std::string& path) {
    int ends[2];
    if (pipe(ends) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
        const Answer answer = ask(path);
        _exit(write(ends[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
    }
    close(ends[1]);
    Answer answer;
    if (child < 0 || read(ends[0], &answer, sizeof answer) != sizeof answer) answer = {};
    close(ends[0]);
    if (child > 0) waitpid(child, nullptr, 0);
    return {answer.version, answer.slot, answer.table_version};
}

}  // namespace thalweg::app
