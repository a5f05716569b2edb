// SPDX-License-Identifier: Apache-2.0
#include "files.hpp"

#include <netcdf.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "storage_rules.hpp"

namespace thalweg::nc {

const char* const interface_name = "netCDF's interface";

}  // namespace thalweg::nc

namespace thalweg::netcdf::engine {

namespace {

// Returns the files of the process by the upper half of their ids. Never destroyed, as closing a
// file is collective.
std::vector<std::unique_ptr<File>>& files() {
    static auto* const all = new std::vector<std::unique_ptr<File>>(1 << 16);
    return *all;
}

std::unique_ptr<File>& slot(int ncid) {
    return files()[static_cast<std::size_t>(ncid) >> 16U & 0xffffU];
}

// Repeats a file's definitions in the real library, in the order of their ids.
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

}  // namespace

File& file_of(int ncid) {
    std::unique_ptr<File>& file = slot(ncid);
    if (file == nullptr || (ncid & 0xffff) != 0)
        throw Error{NC_EBADID, "there is no open file with the id " + std::to_string(ncid)};
    return *file;
}

void add_file(int ncid, std::unique_ptr<File> file) {
    at_end(close_files);
    slot(ncid) = std::move(file);
}

std::unique_ptr<File> remove_file(int ncid) {
    file_of(ncid);
    return std::move(slot(ncid));
}

void close_files() {
    for (std::unique_ptr<File>& file : files()) {
        if (file == nullptr) continue;
        if (file->is_first())
            std::fprintf(stderr, "thalweg: %s was not closed by the program\n",
                         file->path().c_str());
        attempt([&] { file->close(); });
        file.reset();
    }
}

int failed(const Error& error) {
    const char* const level = std::getenv("THALWEG_LOG");
    if (level != nullptr && (std::strcmp(level, "info") == 0 || std::strcmp(level, "debug") == 0))
        std::fprintf(stderr, "thalweg: info: %s: %s (%d)\n", interface_name, error.text.c_str(),
                     error.code);
    return error.code;
}

int leave(int ncid, const std::string& reason) {
    File& file = file_of(ncid);
    if (file.is_classic()) return NC_ENOTNC4;
    if (!file.is_writable()) return NC_EPERM;
    if (!file.is_new() || file.has_queue()) return NC_ENOTBUILT;
    const std::unique_ptr<File> own = remove_file(ncid);
    const nc::Table definitions = own->table();
    const bool defining = own->in_define_mode();
    own->discard();
    int code = forward(ncid, true, reason);
    if (code == 0) code = repeat(ncid, definitions);
    if (code == 0 && !defining) code = file_table()._enddef(ncid, 0, 1, 0, 1);
    return code;
}

}  // namespace thalweg::netcdf::engine
