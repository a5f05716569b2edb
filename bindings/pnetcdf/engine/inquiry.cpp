// Inquiries.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "nc/base/types.hpp"
#include "pnetcdf/engine/calls.hpp"

namespace thalweg::pnetcdf::engine::calls {

namespace {

int variables(File& file, bool records) {
    const nc::Table& t = file.table();
    return static_cast<int>(
        std::count_if(t.variables.begin(), t.variables.end(),
                      [&](const Variable& v) { return t.is_record(v) == records; }));
}

}  // namespace

void ncmpi_inq_format(File& file, int* format) { set(format, number_of(file.definitions.format)); }

void ncmpi_inq_version(File& file, int* mode) {
    const int format = number_of(file.definitions.format);
    set(mode, format == NC_FORMAT_64BIT_DATA     ? NC_64BIT_DATA
              : format == NC_FORMAT_64BIT_OFFSET ? NC_64BIT_OFFSET
                                                 : NC_CLASSIC_MODEL);
}

void ncmpi_inq(File& file, int* dims, int* vars, int* attributes, int* unlimited) {
    const nc::Table& t = file.table();
    set(dims, t.dimensions.size());
    set(vars, t.variables.size());
    set(attributes, t.attributes.size());
    set(unlimited, t.unlimited());
}

void ncmpi_inq_ndims(File& file, int* n) { ncmpi_inq(file, n, nullptr, nullptr, nullptr); }
void ncmpi_inq_nvars(File& file, int* n) { ncmpi_inq(file, nullptr, n, nullptr, nullptr); }
void ncmpi_inq_natts(File& file, int* n) { ncmpi_inq(file, nullptr, nullptr, n, nullptr); }
void ncmpi_inq_unlimdim(File& file, int* id) { ncmpi_inq(file, nullptr, nullptr, nullptr, id); }

void ncmpi_inq_num_fix_vars(File& file, int* n) { set(n, variables(file, false)); }

void ncmpi_inq_num_rec_vars(File& file, int* n) { set(n, variables(file, true)); }

void ncmpi_inq_path(File& file, int* length, char* path) {
    set(length, file.handle().path.size());
    set(path, file.handle().path);
}

// ---- dimensions ---------------------------------------------------------------------------------

void ncmpi_inq_dimid(File& file, const char* name, int* id) {
    set(id, file.table().dimension_named(checked(name)));
}

void ncmpi_inq_dim(File& file, int id, char* name, MPI_Offset* length) {
    set(name, file.table().dimension(id).name);
    if (length != nullptr) *length = file.length_of(id);
}

void ncmpi_inq_dimname(File& file, int id, char* name) { ncmpi_inq_dim(file, id, name, nullptr); }

void ncmpi_inq_dimlen(File& file, int id, MPI_Offset* length) {
    ncmpi_inq_dim(file, id, nullptr, length);
}

// ---- variables ----------------------------------------------------------------------------------

void ncmpi_inq_varid(File& file, const char* name, int* id) {
    set(id, file.table().variable_named(checked(name)));
}

void ncmpi_inq_var(File& file, int id, char* name, nc_type* type, int* n, int* dims,
                   int* attributes) {
    const Variable& v = variable_of(file.definitions, id);
    set(name, v.name);
    set(type, v.type);
    set(n, v.dims.size());
    if (dims != nullptr) std::copy(v.dims.begin(), v.dims.end(), dims);
    set(attributes, v.attributes.size());
}

void ncmpi_inq_varname(File& file, int id, char* name) {
    ncmpi_inq_var(file, id, name, nullptr, nullptr, nullptr, nullptr);
}

void ncmpi_inq_vartype(File& file, int id, nc_type* type) {
    ncmpi_inq_var(file, id, nullptr, type, nullptr, nullptr, nullptr);
}

void ncmpi_inq_varndims(File& file, int id, int* n) {
    ncmpi_inq_var(file, id, nullptr, nullptr, n, nullptr, nullptr);
}

void ncmpi_inq_vardimid(File& file, int id, int* dims) {
    ncmpi_inq_var(file, id, nullptr, nullptr, nullptr, dims, nullptr);
}

void ncmpi_inq_varnatts(File& file, int id, int* n) {
    set(n, file.table().attributes_of(id).size());
}

void ncmpi_inq_var_fill(File& file, int id, int* no_fill, void* value) {
    const Variable& v = variable_of(file.definitions, id);
    set(no_fill, v.storage.no_fill ? 1 : 0);
    const std::string fill = nc::Table::fill_of(v);
    if (value != nullptr) std::memcpy(value, fill.data(), fill.size());
}

// ---- places and sizes ---------------------------------------------------------------------------

void ncmpi_inq_varoffset(File& file, int id, MPI_Offset* offset) {
    variable_of(file.definitions, id);
    if (offset != nullptr) *offset = file.layout.places().begin.at(static_cast<std::size_t>(id));
}

void ncmpi_inq_header_size(File& file, MPI_Offset* size) { set(size, file.layout.header_size()); }

void ncmpi_inq_header_extent(File& file, MPI_Offset* size) {
    set(size, file.layout.places().extent);
}

void ncmpi_inq_recsize(File& file, MPI_Offset* size) {
    set(size, file.layout.places().record_bytes);
}

// Returns the bytes that this rank has put. On the first rank, which writes the header, this
// includes the header.
void ncmpi_inq_put_size(File& file, MPI_Offset* size) {
    const bool header =
        file.state.session.rank() == 0 && file.handle().writable && !file.handle().defines;
    set(size, file.handle().put + (header ? file.layout.header_size() : 0));
}

void ncmpi_inq_get_size(File& file, MPI_Offset* size) { set(size, file.handle().got); }

void ncmpi_inq_striping(File&, int* size, int* count) {
    set(size, 0);
    set(count, 0);
}

void ncmpi_inq_nreqs(File& file, int* n) { set(n, file.handle().requests.size()); }

void ncmpi_inq_buffer_size(File& file, MPI_Offset* bytes) {
    set(bytes, file.handle().buffer_size());
}

void ncmpi_inq_buffer_usage(File& file, MPI_Offset* bytes) {
    set(bytes, file.handle().buffer_usage());
}

// Returns the program's hints, and PnetCDF's hints with the values in use.
void ncmpi_inq_file_info(File& file, MPI_Info* used) {
    if (used == nullptr) return;
    const MPI_Info given = file.handle().hints;
    if (given != MPI_INFO_NULL)
        MPI_Info_dup(given, used);
    else
        MPI_Info_create(used);
    // Alignments are chosen when the definitions of a new file end.
    const detail::HeaderPadding spacing =
        file.definitions.spacing.value_or(detail::HeaderPadding{});
    const auto padded = [](Index n) { return std::to_string((n + 3) / 4 * 4); };
    const Index own = file.handle().hint("nc_var_align_size"),
                own_header = file.handle().hint("nc_header_align_size");
    const std::string header = padded(own_header > 0 ? own_header : spacing.var_align),
                      vars = padded(own > 0 ? own : 4),
                      records = padded(std::max<Index>(spacing.record_align, 4));
    const char* const hints[][2] = {
        {"nc_header_align_size", header.c_str()},  {"nc_var_align_size", vars.c_str()},
        {"nc_record_align_size", records.c_str()}, {"nc_header_read_chunk_size", "262144"},
        {"nc_in_place_swap", "disable"},           {"nc_ibuf_size", "16777216"},
        {"pnetcdf_subfiling", "disable"},          {"nc_num_subfiles", "0"}};
    for (const auto& hint : hints) MPI_Info_set(*used, hint[0], hint[1]);
}

void ncmpi_get_file_info(File& file, MPI_Info* used) { ncmpi_inq_file_info(file, used); }

}  // namespace thalweg::pnetcdf::engine::calls
