// SPDX-License-Identifier: Apache-2.0
#include "doctor/program.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "doctor/probe.hpp"
#include "run/program.hpp"

namespace thalweg::app {

namespace {

namespace fs = std::filesystem;

void line(const char* subject, const std::string& text) {
    fmt::print("  {:<11}{}\n", subject, text);
}

/// Asks the loader which libraries it would load for a program, and returns their paths.
std::vector<std::string> libraries_of(const std::string& path) {
    std::string quoted;
    for (const char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    const std::string command =
        fmt::format("LD_PRELOAD= LD_TRACE_LOADED_OBJECTS=1 '{}' 2>/dev/null", quoted);
    std::vector<std::string> found;
    std::FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return found;
    char text[4096];
    while (std::fgets(text, sizeof text, pipe) != nullptr) {
        std::istringstream words(text);
        std::string name, arrow, place;
        if (words >> name >> arrow >> place && arrow == "=>" && place.starts_with('/'))
            found.push_back(place);
    }
    pclose(pipe);
    return found;
}

/// Returns the libraries whose file names begin with one of the given words.
std::vector<std::string> named(const std::vector<std::string>& libraries,
                               const std::vector<std::string>& beginnings) {
    std::vector<std::string> found;
    for (const std::string& path : libraries) {
        const std::string name = fs::path(path).filename();
        if (std::any_of(beginnings.begin(), beginnings.end(),
                        [&](const std::string& b) { return name.starts_with(b); }))
            found.push_back(path);
    }
    return found;
}

void say_paths(const char* subject, const std::vector<std::string>& paths) {
    for (const std::string& path : paths) line(subject, path);
    if (paths.empty()) line(subject, "none");
}

/// Returns the interpreter of a script; empty if the file is not a script.
std::string interpreter_of(const std::string& path) {
    std::ifstream file(path);
    std::string first;
    if (!std::getline(file, first) || !first.starts_with("#!")) return "";
    std::istringstream words(first.substr(2));
    std::string program, argument;
    words >> program >> argument;
    return fs::path(program).filename() == "env" ? find_program(argument) : program;
}

bool same_mpi(const std::vector<std::string>& libraries) {
    const std::string own = std::string(THALWEG_MPI_NAMES) + ":";
    return std::any_of(libraries.begin(), libraries.end(), [&](const std::string& path) {
        return own.find(fs::path(path).filename().string() + ":") != std::string::npos;
    });
}

/// Prints which files of a netCDF library the shim takes.
/// @return false if it takes none
bool say_taken(const std::string& library, const std::vector<std::string>& mpi) {
    const NetcdfFacts facts = probe_netcdf(library);
    line("netCDF", fmt::format("{} ({})", library,
                               facts.version.empty() ? "cannot be loaded" : facts.version));
    if (facts.slot == 0) {
        line("taken",
             "nothing: this netCDF takes no dispatch table; netCDF-C 4.8 or later, built "
             "with netCDF-4, does");
        return false;
    }
    line("table", fmt::format("version {}, mode bit {:#x}", facts.table_version, facts.slot));
    const char* const given = std::getenv("THALWEG_NETCDF");
    const std::string choice = given != nullptr && *given != '\0' ? given : "parallel";
    if (choice == "off") {
        line("taken", "nothing: THALWEG_NETCDF is off");
        return false;
    }
    if (mpi.empty())
        line("with MPI",
             "no MPI is linked: files with a communicator are taken if it is loaded "
             "later, and is this build's");
    else if (same_mpi(mpi))
        line("taken", "files that are created or opened with a communicator");
    else
        line("not taken",
             fmt::format("files with a communicator: this build's MPI is {}", THALWEG_MPI_NAMES));
    line(choice == "parallel" ? "not taken" : "taken",
         choice == "parallel" ? "files created without communicator: thalweg run --serial=yes"
                              : "files created without communicator");
    return mpi.empty() || same_mpi(mpi) || choice != "parallel";
}

/// Prints which files of PnetCDF libraries the shim takes.
/// @return false if it takes none
bool say_taken_of_pnetcdf(const std::vector<std::string>& libraries,
                          const std::vector<std::string>& mpi) {
    say_paths("PnetCDF", libraries);
    if (libraries.empty()) return false;
#ifdef THALWEG_TAKES_PNETCDF
    const char* const given = std::getenv("THALWEG_PNETCDF");
    const bool off = given != nullptr && std::string(given) == "off";
    if (!off && same_mpi(mpi)) {
        line("taken", "classic files of ncmpi_create and ncmpi_open");
        return true;
    }
    line("not taken",
         off ? "files of PnetCDF: THALWEG_PNETCDF is off"
             : fmt::format("files of PnetCDF: this build's MPI is {}", THALWEG_MPI_NAMES));
#else
    (void)mpi;
    line("not taken", "files of PnetCDF: this installation was built without it");
#endif
    return false;
}

bool examine(const std::string& command) {
    fmt::print("{}\n", command);
    std::string path = find_program(command);
    if (const std::string interpreter = interpreter_of(path); !interpreter.empty()) {
        line("script", interpreter +
                           ": what it loads later is not known here; thalweg run --tell "
                           "file says it for each file");
        path = interpreter;
    }
    const Program program = read_program(path, {"nc_create", "ncmpi_create"});
    if (!program.readable || !program.dynamic) {
        line("taken", program.readable ? "nothing: the program is static"
                                       : "nothing: not a program of this machine");
        return false;
    }
    for (const std::string& name : program.defined)
        line("static", fmt::format("the program has {} inside: calls of it are not taken; link "
                                   "netCDF as a shared library",
                                   name));
    if (find_shim().empty()) {
        line("taken", "nothing: this installation lacks libthalweg_shim.so");
        return false;
    }
    const std::vector<std::string> libraries = libraries_of(path);
    const std::vector<std::string> mpi = named(libraries, {"libmpi.so", "libmpich.so"});
    say_paths("MPI", mpi);
    say_paths("HDF5", named(libraries, {"libhdf5.so", "libhdf5_serial.so", "libhdf5_openmpi.so",
                                        "libhdf5_mpich.so"}));
    bool any = say_taken_of_pnetcdf(named(libraries, {"libpnetcdf."}), mpi);
    const std::vector<std::string> netcdf =
        named(libraries, {"libnetcdf.", "libnetcdf_", "libnetcdf-"});
    if (netcdf.empty()) {
        line("netCDF", "none is linked; one that is loaded later is taken all the same");
        return any || program.defined.empty();
    }
    for (const std::string& library : netcdf) any = say_taken(library, mpi) || any;
    return any;
}

}  // namespace

bool are_programs(const std::vector<std::string>& words) {
    std::error_code error;
    return !words.empty() && std::all_of(words.begin(), words.end(), [&](const std::string& word) {
        const bool is_path = word.find('/') != std::string::npos;
        return (is_path ? !fs::is_directory(word, error) : !fs::exists(word, error)) &&
               !find_program(word).empty();
    });
}

int examine_programs(const std::vector<std::string>& commands) {
    int code = 0;
    for (const std::string& command : commands)
        if (!examine(command)) code = 1;
    return code;
}

}  // namespace thalweg::app
