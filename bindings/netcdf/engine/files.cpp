// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <netcdf.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "storage_rules.hpp"

namespace thalweg::nc {

const char* const interface_name = "netCDF's interface";

}  // namespace thalweg::nc

namespace thalweg::netcdf::engine {

namespace {

// Returns the files of the process, indexed by the upper half of their ids. The list is never
// destroyed, because closing a file is collective.
std::vector<std::unique_ptr<File>>& files() {
    static auto* const all = new std::vector<std::unique_ptr<File>>(1 << 16);
    return *all;
}

std::atomic<pid_t> process{0};  // process that opened the files

std::unique_ptr<File>& slot(int ncid) {
    return files()[static_cast<std::size_t>(ncid) >> 16U & 0xffffU];
}

// Repeats the definitions of a file in the real library, in the order of their ids.
int repeat_storage(int ncid, int varid, const Storage& s) {
    const Table& real = file_table();
    int code = 0;
    const auto call = [&](auto action) {
        if (code == 0) code = action();
    };
    if (s.layout >= 0)
        call([&] {
            return real.def_var_chunking(ncid, varid, s.layout,
                                         s.chunks.empty() ? nullptr : s.chunks.data());
        });
    if (s.deflate != 0 || s.shuffle != 0)
        call([&] { return real.def_var_deflate(ncid, varid, s.shuffle, s.deflate, s.level); });
    for (const Filter& f : filters_of(s))
        if (f.id != deflate_filter && f.id != shuffle_filter)
            call([&] {
                return real.def_var_filter(ncid, varid, f.id, f.parameters.size(),
                                           f.parameters.data());
            });
    if (s.quantize != 0)
        call([&] { return real.def_var_quantize(ncid, varid, s.quantize, s.digits); });
    if (s.endian != NC_ENDIAN_NATIVE)
        call([&] { return real.def_var_endian(ncid, varid, s.endian); });
    if (s.no_fill) call([&] { return real.def_var_fill(ncid, varid, 1, nullptr); });
    return code;
}

int repeat_attributes(int ncid, int varid, const std::vector<Attribute>& attributes) {
    for (const Attribute& a : attributes) {
        const int code =
            file_table().put_att(ncid, varid, a.name.c_str(), a.type, static_cast<std::size_t>(a.n),
                                 a.bytes.data(), a.type);
        if (code != 0) return code;
    }
    return 0;
}

int repeat(int ncid, const nc::Table& definitions) {
    int id = 0;
    for (const Dimension& d : definitions.dimensions) {
        const std::size_t length = d.unlimited ? NC_UNLIMITED : static_cast<std::size_t>(d.length);
        const int code = file_table().def_dim(ncid, d.name.c_str(), length, &id);
        if (code != 0) return code;
    }
    int code = repeat_attributes(ncid, NC_GLOBAL, definitions.attributes);
    for (const Variable& v : definitions.variables) {
        if (code == 0)
            code = file_table().def_var(ncid, v.name.c_str(), v.type,
                                        static_cast<int>(v.dims.size()), v.dims.data(), &id);
        if (code == 0) code = repeat_storage(ncid, id, v.storage);
        if (code == 0) code = repeat_attributes(ncid, id, v.attributes);
    }
    return code;
}

// Repeats settings of the program other than definitions. The real library may have been built
// without some of them.
void repeat_settings(int ncid, const nc::Table& definitions, File& file) {
    const Table& real = file_table();
    int old = 0;
    real.set_fill(ncid, file.fill_mode(), &old);
    int varid = 0;
    for (const Variable& v : definitions.variables) {
        if (file.is_set_collective(varid)) real.var_par_access(ncid, varid, 1);  // NC_COLLECTIVE
        if (v.cache)
            real.set_var_chunk_cache(ncid, varid, static_cast<std::size_t>(v.cache->size),
                                     static_cast<std::size_t>(v.cache->elements),
                                     v.cache->preemption);
        varid++;
    }
}

// Tests if the definitions have the same ids in the real library.
bool has_same_ids(int ncid, const nc::Table& definitions) {
    const Table& real = file_table();
    int wanted = 0, id = -1;
    for (const Dimension& d : definitions.dimensions)
        if (real.inq_dimid(ncid, d.name.c_str(), &id) != 0 || id != wanted++) return false;
    wanted = 0;
    for (const Variable& v : definitions.variables)
        if (real.inq_varid(ncid, v.name.c_str(), &id) != 0 || id != wanted++) return false;
    return true;
}

// Removes and returns the open files whose sessions end with MPI, or the other ones. They are in
// the order of opening, which is the same on all ranks; their ids can differ.
std::vector<std::unique_ptr<File>> take_files(bool with_mpi) {
    std::vector<std::unique_ptr<File>> open;
    for (std::unique_ptr<File>& file : files())
        if (file != nullptr && file->ends_with_mpi() == with_mpi) open.push_back(std::move(file));
    std::sort(open.begin(), open.end(),
              [](const auto& a, const auto& b) { return a->opened < b->opened; });
    return open;
}

bool mpi_runs() {
    int began = 0, ended = 0;
    MPI_Initialized(&began);
    if (began != 0) MPI_Finalized(&ended);
    return began != 0 && ended == 0;
}

void close_unclosed(std::unique_ptr<File> file) {
    const std::string path = file->path();
    const bool tell = file->is_first();
    if (tell) std::fprintf(stderr, "thalweg: %s was not closed by the program\n", path.c_str());
    const Error error = error_of([&] { end_file(std::move(file), [](File& f) { f.close(); }); });
    if (tell && error.code != 0)
        std::fprintf(stderr, "thalweg: %s: %s (%d)\n", path.c_str(), error.text.c_str(),
                     error.code);
}

}  // namespace

File& file_of(int ncid) {
    std::unique_ptr<File>& file = slot(ncid);
    if (file == nullptr || (ncid & 0xffff) != 0)
        throw Error{NC_EBADID, "there is no open file with the id " + std::to_string(ncid)};
    return *file;
}

void add_file(int ncid, std::unique_ptr<File> file) {
    static std::atomic<long> opened{0};
    at_end(close_files);
    process = getpid();
    file->opened = opened++;
    slot(ncid) = std::move(file);
}

std::unique_ptr<File> remove_file(int ncid) {
    file_of(ncid);
    return std::move(slot(ncid));
}

File* find_written(const std::string& path) {
    const auto full = [](const std::string& p) {
        std::error_code none;
        return std::filesystem::absolute(p, none).lexically_normal();
    };
    if (process != getpid()) return nullptr;
    for (const std::unique_ptr<File>& file : files())
        if (file != nullptr && file->is_writable() && full(file->path()) == full(path))
            return file.get();
    return nullptr;
}

bool is_redirected(File& file, int mode) {
    if ((mode & NC_WRITE) != 0 || file.place() != file.path()) return true;
    const std::lock_guard lock(file.mutex());
    if (file.comm() == MPI_COMM_NULL) (void)error_of([&] { file.sync(); });
    return false;
}

void wait_for_closing() {
    Session* const alone = find_session(MPI_COMM_NULL);
    if (alone == nullptr || process != getpid()) return;
    const std::lock_guard lock(alone->mutex);
    tw_wait(alone->handle(), 0);
}

void close_files(bool with_mpi) {
    for (std::unique_ptr<File>& file : take_files(with_mpi)) close_unclosed(std::move(file));
}

void tell_unclosed_files() {
    if (process != getpid() || !mpi_runs()) return;
    std::vector<std::unique_ptr<File>> left = take_files(true);
    if (!left.empty())
        std::fprintf(stderr, "thalweg: the program ended without MPI_Finalize: %s%s incomplete\n",
                     left.front()->path().c_str(), left.size() == 1 ? " is" : " and others are");
    // Do not close these files: closing is collective, and objects that it needs may already have
    // been destroyed.
    for (std::unique_ptr<File>& file : left) (void)file.release();
}

int failed(const Error& error) {
    const char* const level = std::getenv("THALWEG_LOG");
    if (level != nullptr && (std::strcmp(level, "info") == 0 || std::strcmp(level, "debug") == 0))
        std::fprintf(stderr, "thalweg: info: %s: %s (%d)\n", interface_name, error.text.c_str(),
                     error.code);
    return error.code;
}

int leave(int ncid, const std::string& reason) {
    File& own = file_of(ncid);
    const std::lock_guard lock(own.mutex());
    if (own.is_classic()) return NC_ENOTNC4;
    if (own.format() != NC_FORMAT_NETCDF4) return NC_ESTRICTNC3;
    if (!own.is_writable()) return NC_EPERM;
    own.write_puts();
    const bool empty = own.is_new();
    const nc::Table definitions = own.table();
    const bool defining = own.in_define_mode();
    const std::unique_ptr<File> file = remove_file(ncid);
    if (empty)
        file->discard();
    else
        file->close_and_wait();
    int code = forward(ncid, empty, reason);
    if (code == 0 && empty) code = repeat(ncid, definitions);
    if (code == 0 && !has_same_ids(ncid, definitions))
        throw Error{NC_EINTERNAL, file->path() + ": netCDF-C gives the definitions other ids"};
    if (code == 0) repeat_settings(ncid, definitions, *file);
    if (code == 0 && empty && !defining) code = file_table()._enddef(ncid, 0, 1, 0, 1);
    return code;
}

}  // namespace thalweg::netcdf::engine
