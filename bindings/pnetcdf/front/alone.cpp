// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/front/functions.hpp"

#include <fcntl.h>
#include <netcdf.h>
#include <pnetcdf.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace thalweg::pnetcdf::alone {

namespace {

struct Code {
    int number;
    const char* name;
};

constexpr Code codes[] = {
#define CODE(number, name) {number, name},
#include "pnetcdf_codes.inc"
#undef CODE
};

const Code* find_code(int number) {
    for (const Code& code : codes)
        if (code.number == number) return &code;
    return nullptr;
}

std::atomic<int> default_format{NC_FORMAT_CLASSIC};

/// Returns PnetCDF's code for an error of the system.
int code_of_system(int error) {
    switch (error) {
        case ENOENT: return NC_ENOENT;
        case EEXIST: return NC_EEXIST;
        case EACCES:
        case EPERM: return NC_EACCESS;
        case EROFS: return NC_EPERM;
        case ENOSPC: return NC_ENO_SPACE;
        case EDQUOT: return NC_EQUOTA;
        case ENAMETOOLONG:
        case ENOTDIR: return NC_EBAD_FILE;
        default: return NC_EFILE;
    }
}

/// Returns 0 if this process may use a file as `use`, an argument of access(2), says; otherwise
/// PnetCDF's code.
int code_of_access(const std::string& path, int use) {
    return access(path.c_str(), use) == 0 ? 0 : code_of_system(errno);
}

std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// Returns 0 if the path and mode of a call are valid; otherwise PnetCDF's code.
int code_of_arguments(const netcdf::Call& call) {
    constexpr int both = NC_64BIT_OFFSET | NC_64BIT_DATA;
    if ((call.mode & both) == both) return call.create ? NC_EINVAL_CMODE : NC_EINVAL_OMODE;
    if ((call.mode & NC_NETCDF4) != 0) return NC_ENOTBUILT;
    return call.path.empty() ? NC_EBAD_FILE : 0;
}

int code_of_create(const netcdf::Call& call) {
    if (access(call.path.c_str(), F_OK) != 0)
        return code_of_access(folder_of(call.path), W_OK | X_OK);
    return (call.mode & NC_NOCLOBBER) != 0 ? NC_EEXIST : code_of_access(call.path, W_OK);
}

int code_of_open(const netcdf::Call& call) {
    const int use = (call.mode & NC_WRITE) != 0 ? R_OK | W_OK : R_OK;
    if (const int code = code_of_access(call.path, use); code != 0) return code;
    int format = NC_FORMAT_UNKNOWN;
    if (const int code = ncmpi_inq_file_format(call.path.c_str(), &format); code != 0) return code;
    return format == NC_FORMAT_NETCDF4 ? NC_ENOTBUILT : 0;
}

}  // namespace

const char* ncmpi_strerror(int code) {
    constexpr int first_own = -201;  // netCDF has the codes above
    if (code > 0) return std::strerror(code);
    return code <= first_own && find_code(code) != nullptr ? find_code(code)->name
                                                           : nc_strerror(code);
}

const char* ncmpi_strerrno(int code) {
    thread_local std::string text;
    if (const Code* const known = find_code(code)) return known->name;
    text = "Unknown code " + std::to_string(code);
    return text.c_str();
}

const char* ncmpi_inq_libvers() { return PNETCDF_VERSION " by Thalweg"; }

int ncmpi_delete(const char* path, MPI_Info) {
    return unlink(path) == 0 ? 0 : code_of_system(errno);
}

int ncmpi_inq_file_format(const char* path, int* format) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return code_of_system(errno);
    char first[8] = {};
    const ssize_t got = read(file, first, sizeof first);
    const int error = errno;
    close(file);
    if (got < 0) return code_of_system(error);
    int found = NC_FORMAT_UNKNOWN;
    if (std::memcmp(first, "CDF\1", 4) == 0) found = NC_FORMAT_CLASSIC;
    if (std::memcmp(first, "CDF\2", 4) == 0) found = NC_FORMAT_64BIT_OFFSET;
    if (std::memcmp(first, "CDF\5", 4) == 0) found = NC_FORMAT_64BIT_DATA;
    if (std::memcmp(first, "\211HDF\r\n\032\n", 8) == 0) found = NC_FORMAT_NETCDF4;
    if (format != nullptr) *format = found;
    return found == NC_FORMAT_UNKNOWN ? NC_ENOTNC : 0;
}

int ncmpi_set_default_format(int format, int* old) {
    if (old != nullptr) *old = default_format;
    if (format != NC_FORMAT_CLASSIC && format != NC_FORMAT_64BIT_OFFSET &&
        format != NC_FORMAT_64BIT_DATA)
        return NC_EINVAL;
    default_format = format;
    return 0;
}

int ncmpi_inq_default_format(int* format) {
    if (format != nullptr) *format = default_format;
    return 0;
}

int ncmpi_inq_malloc_size(MPI_Offset*) { return NC_ENOTENABLED; }

int ncmpi_inq_malloc_max_size(MPI_Offset*) { return NC_ENOTENABLED; }

int ncmpi_inq_malloc_list() { return NC_ENOTENABLED; }

int refuse(const netcdf::Call& call) {
    int rank = 0, code = 0;
    MPI_Comm_rank(call.comm, &rank);
    if (rank == 0) {
        code = code_of_arguments(call);
        if (code == 0) code = call.create ? code_of_create(call) : code_of_open(call);
        if (code == 0) code = NC_ENOTSUPPORT;
        if (code == NC_ENOTSUPPORT || code == NC_ENOTBUILT)
            std::fprintf(
                stderr, "thalweg: %s: %s, and there is no PnetCDF to do it (error %d)\n",
                call.path.c_str(),
                call.reason.empty() ? "its mode or name is not supported" : call.reason.c_str(),
                code);
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, call.comm);
    return code;
}

}  // namespace thalweg::pnetcdf::alone
