// PnetCDF's functions for the header of a file that the engine has open. They take the file in
// place of its id. Functions for data are in data_calls.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>
#include <netcdf.h>

#include <memory>

#include "pnetcdf/engine/file.hpp"
#include "types.hpp"

namespace thalweg::pnetcdf::engine {

// Creates or opens the file of a call. @return PnetCDF's code, or netcdf::step_aside
// @note Collective over the communicator of the call
int begin(Call& call, std::shared_ptr<File>* file);

// Prepares a file that the program writes for another id, or for a new file of its name.
// @return PnetCDF's code
// @note Collective
int use_again(const Call& call, const std::shared_ptr<File>& file);

// Closes or aborts an id of a file. @return PnetCDF's code
// @note Collective
int end(std::shared_ptr<File>& file, Handle& handle, bool abort);

namespace calls {

int ncmpi_redef(File& file);
int ncmpi_enddef(File& file);
int ncmpi__enddef(File& file, MPI_Offset header_free, MPI_Offset align, MPI_Offset fixed_free,
                  MPI_Offset record_align);
int ncmpi_def_dim(File& file, const char* name, MPI_Offset length, int* id);
int ncmpi_def_var(File& file, const char* name, nc_type type, int n, const int* dims, int* id);
int ncmpi_rename_dim(File& file, int id, const char* name);
int ncmpi_rename_var(File& file, int id, const char* name);
int ncmpi_set_fill(File& file, int mode, int* old);
int ncmpi_def_var_fill(File& file, int id, int no_fill, const void* value);
int ncmpi_fill_var_rec(File& file, int id, MPI_Offset record);
int ncmpi_begin_indep_data(File& file);
int ncmpi_end_indep_data(File& file);
int ncmpi_sync(File& file);
int ncmpi_flush(File& file);
int ncmpi_sync_numrecs(File& file);
int ncmpi_wait(File& file, int n, int* ids, int* statuses);
int ncmpi_wait_all(File& file, int n, int* ids, int* statuses);
int ncmpi_cancel(File& file, int n, int* ids, int* statuses);
int ncmpi_buffer_attach(File& file, MPI_Offset bytes);
int ncmpi_buffer_detach(File& file);
int ncmpi_del_att(File& file, int varid, const char* name);
int ncmpi_rename_att(File& file, int varid, const char* name, const char* new_name);
int ncmpi_inq_att(File& file, int varid, const char* name, nc_type* type, MPI_Offset* n);
int ncmpi_inq_atttype(File& file, int varid, const char* name, nc_type* type);
int ncmpi_inq_attlen(File& file, int varid, const char* name, MPI_Offset* n);
int ncmpi_inq_attid(File& file, int varid, const char* name, int* id);
int ncmpi_inq_attname(File& file, int varid, int number, char* name);
int ncmpi_inq_format(File& file, int* format);
int ncmpi_inq_version(File& file, int* mode);
int ncmpi_inq(File& file, int* dims, int* vars, int* attributes, int* unlimited);
int ncmpi_inq_ndims(File& file, int* n);
int ncmpi_inq_nvars(File& file, int* n);
int ncmpi_inq_natts(File& file, int* n);
int ncmpi_inq_unlimdim(File& file, int* id);
int ncmpi_inq_num_fix_vars(File& file, int* n);
int ncmpi_inq_num_rec_vars(File& file, int* n);
int ncmpi_inq_path(File& file, int* length, char* path);
int ncmpi_inq_dimid(File& file, const char* name, int* id);
int ncmpi_inq_dim(File& file, int id, char* name, MPI_Offset* length);
int ncmpi_inq_dimname(File& file, int id, char* name);
int ncmpi_inq_dimlen(File& file, int id, MPI_Offset* length);
int ncmpi_inq_varid(File& file, const char* name, int* id);
int ncmpi_inq_var(File& file, int id, char* name, nc_type* type, int* n, int* dims,
                  int* attributes);
int ncmpi_inq_varname(File& file, int id, char* name);
int ncmpi_inq_vartype(File& file, int id, nc_type* type);
int ncmpi_inq_varndims(File& file, int id, int* n);
int ncmpi_inq_vardimid(File& file, int id, int* dims);
int ncmpi_inq_varnatts(File& file, int id, int* n);
int ncmpi_inq_var_fill(File& file, int id, int* no_fill, void* value);
int ncmpi_inq_varoffset(File& file, int id, MPI_Offset* offset);
int ncmpi_inq_header_size(File& file, MPI_Offset* size);
int ncmpi_inq_header_extent(File& file, MPI_Offset* size);
int ncmpi_inq_recsize(File& file, MPI_Offset* size);
int ncmpi_inq_put_size(File& file, MPI_Offset* size);
int ncmpi_inq_get_size(File& file, MPI_Offset* size);
int ncmpi_inq_striping(File& file, int* size, int* count);
int ncmpi_inq_nreqs(File& file, int* n);
int ncmpi_inq_buffer_size(File& file, MPI_Offset* bytes);
int ncmpi_inq_buffer_usage(File& file, MPI_Offset* bytes);
int ncmpi_inq_file_info(File& file, MPI_Info* used);
int ncmpi_get_file_info(File& file, MPI_Info* used);
#define X(suffix, in_memory, number)                                                               \
    int ncmpi_put_att##suffix(File& file, int varid, const char* name, nc_type type, MPI_Offset n, \
                              const in_memory* values);                                            \
    int ncmpi_get_att##suffix(File& file, int varid, const char* name, in_memory* values);
THALWEG_NC_NUMBER_TYPES(X)
X(, void, NC_NAT)
#undef X
int ncmpi_put_att_text(File& file, int varid, const char* name, MPI_Offset n, const char* values);
int ncmpi_get_att_text(File& file, int varid, const char* name, char* values);

}  // namespace calls

}  // namespace thalweg::pnetcdf::engine
