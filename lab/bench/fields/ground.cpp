// SPDX-License-Identifier: Apache-2.0
#include "fields/ground.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netcdf.h>
#include <pnetcdf.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <thalweg/thalweg.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "options.hpp"

namespace thalweg::bench {
namespace {

/// Throws rank 0's error on all ranks.
void throw_alike(const RankGroup& rank_group, std::string wrong) {
    int length = static_cast<int>(wrong.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, rank_group.comm());
    wrong.resize(static_cast<std::size_t>(length));
    MPI_Bcast(wrong.data(), length, MPI_CHAR, 0, rank_group.comm());
    if (!wrong.empty()) throw UsageError(wrong);
}

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

void check_folder(const RankGroup& rank_group, const std::string& folder, double bytes_needed) {
    std::string wrong;
    if (rank_group.rank() == 0) {
        struct stat s {};
        struct statvfs v {};
        if (::stat(folder.c_str(), &s) != 0)
            wrong = fmt::format("--dir {}: {}", folder, std::strerror(errno));
        else if (!S_ISDIR(s.st_mode))
            wrong = fmt::format("--dir {}: not a directory", folder);
        else if (::access(folder.c_str(), W_OK) != 0)
            wrong = fmt::format("--dir {}: {}", folder, std::strerror(errno));
        else if (::statvfs(folder.c_str(), &v) == 0) {
            const auto room = static_cast<double>(v.f_bavail) * static_cast<double>(v.f_frsize);
            if (room < bytes_needed)
                wrong = fmt::format("--dir {}: {:.1f} GB needed, {:.1f} GB free", folder,
                                    bytes_needed / 1e9, room / 1e9);
        }
    }
    throw_alike(rank_group, wrong);
}

void check_json_file(const RankGroup& rank_group, const std::string& path) {
    if (path.empty()) return;
    std::string wrong;
    if (rank_group.rank() == 0) {
        std::FILE* f = std::fopen(path.c_str(), "a");
        if (!f) wrong = fmt::format("--json {}: {}", path, std::strerror(errno));
        if (f) std::fclose(f);
    }
    throw_alike(rank_group, wrong);
}

std::string Ground::file_of(std::string method) const {
    // MPI-IO would interpret a prefix with a colon as a type of file system.
    for (char& c : method)
        if (c == ':' || c == '=' || c == '/') c = '-';
    return prefix_ + "-" + method;
}

Ground::Ground(const RankGroup& rank_group, const std::string& folder) : rank_group_(rank_group) {
    int id = static_cast<int>(getpid());
    MPI_Bcast(&id, 1, MPI_INT, 0, rank_group.comm());
    prefix_ = fmt::format("{}/thalweg-bench-{}", folder, id);
}

void Ground::prewarm(std::int64_t bytes) const {
    const auto ranks = static_cast<std::size_t>(rank_group_.ranks());
    std::vector<char> out(std::size_t{16384} * ranks, 1), in(out.size());
    MPI_Alltoall(out.data(), 16384, MPI_CHAR, in.data(), 16384, MPI_CHAR, rank_group_.comm());
    write_scratch(bytes);
    remove(scratch());
}

void Ground::level(std::int64_t bytes, const std::vector<std::string>& last_files) const {
    constexpr std::int64_t most = 1'000'000'000;  // less than the amount at which the kernel begins
                                                  // to write to disk
    write_scratch(std::min(bytes, most));
    for (const std::string& file : last_files) remove(file);
    remove(scratch());
    usleep(10'000);
    rank_group_.wait();
}

void Ground::remove(const std::string& path) const {
    if (rank_group_.rank() == 0 && !path.empty()) ::unlink(path.c_str());
}

void Ground::write_scratch(std::int64_t total) const {
    const int file = total > 0 ? ::open(scratch().c_str(), O_WRONLY | O_CREAT, 0666) : -1;
    if (file >= 0) {
        // Write in the largest pages of the page cache: a large free page can also serve small
        // requests later, but small ones cannot serve large requests.
        const std::vector<char> piece(std::size_t{2} << 20, 1);
        const auto size = static_cast<std::int64_t>(piece.size());
        for (std::int64_t at = total * rank_group_.rank() / rank_group_.ranks() / size * size;
             at < total * (rank_group_.rank() + 1) / rank_group_.ranks(); at += size)
            if (::pwrite(file, piece.data(), piece.size(), at) < 0) break;
        ::close(file);
    }
    rank_group_.wait();
}

}  // namespace thalweg::bench
