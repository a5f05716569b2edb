// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <netcdf.h>
#include <pnetcdf.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <thalweg/thalweg.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace thalweg::bench {
namespace {

std::string processor() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        const auto colon = line.find(": ");
        if (line.rfind("model name", 0) == 0 && colon != std::string::npos)
            return line.substr(colon + 2);
    }
    return "unknown";
}

/// Returns the type and the options of the file system that is mounted at a folder.
std::string file_system(const std::string& folder) {
    struct stat s {};
    if (::stat(folder.c_str(), &s) != 0) return "unknown";
    const std::string device = fmt::format("{}:{}", major(s.st_dev), minor(s.st_dev));
    std::ifstream mounts("/proc/self/mountinfo");
    for (std::string line; std::getline(mounts, line);) {
        std::istringstream in(line);
        std::string id, parent, dev, root, point, options, field, type;
        in >> id >> parent >> dev >> root >> point >> options;
        if (dev != device) continue;
        while (in >> field && field != "-") {
        }
        if (in >> type) return type + " (" + options + ")";
    }
    return "unknown";
}

std::string mpi_version() {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(text, &length);
    const std::string version(text, static_cast<std::size_t>(length));
    return version.substr(0, version.find_first_of(",\n"));
}

std::string hdf5_version() {
    // Declared here because HDF5's header is not needed otherwise; netCDF-C links HDF5.
    using Function = int (*)(unsigned*, unsigned*, unsigned*);
    const auto get = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "H5get_libversion"));
    unsigned v[3] = {0, 0, 0};
    if (!get || get(&v[0], &v[1], &v[2]) < 0) return "unknown";
    return fmt::format("{}.{}.{}", v[0], v[1], v[2]);
}

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

}  // namespace

nlohmann::ordered_json describe_machine(const RankGroup& rank_group, const std::string& folder) {
    utsname system{};
    uname(&system);
    nlohmann::ordered_json machine;
    machine["processor"] = processor();
    machine["cores"] = sysconf(_SC_NPROCESSORS_ONLN);
    machine["nodes"] = rank_group.nodes();
    machine["memory_bytes"] = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) *
                              static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
    machine["kernel"] = fmt::format("{} {}", system.sysname, system.release);
    double load = 0;  // load by other programs, if it was measured before
    if (getloadavg(&load, 1) == 1) machine["load_average"] = load;
    machine["file_system"] = file_system(folder);
    machine["mpi"] = mpi_version();
    machine["mpi_io"] = environment("OMPI_MCA_io");
    const std::string pnetcdf = ncmpi_inq_libvers();
    machine["pnetcdf"] = pnetcdf.substr(0, pnetcdf.find(" of "));
    const std::string netcdf = nc_inq_libvers();
    machine["netcdf_c"] = netcdf.substr(0, netcdf.find(" of "));
    machine["hdf5"] = hdf5_version();
    machine["thalweg"] =
        fmt::format("{}.{}.{}", TW_VERSION_MAJOR, TW_VERSION_MINOR, TW_VERSION_PATCH);
    return machine;
}

std::string date_now() {
    const time_t t = ::time(nullptr);
    tm utc{};
    gmtime_r(&t, &utc);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return text;
}

}  // namespace thalweg::bench
