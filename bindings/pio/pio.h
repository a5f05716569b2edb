/* PIO's C interface, for programs that were written for PIO.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names, arguments, values and return codes are those of PIO 2; docs/pio.md says what differs.
 * Every function returns PIO_NOERR (0) or a code of netCDF, unless said otherwise. Ids count from
 * 0; dimensions, starts and counts are slowest first.
 */
#ifndef THALWEG_PIO_H
#define THALWEG_PIO_H

#include <mpi.h>
#include <netcdf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIO_OFFSET MPI_OFFSET
#define PIO_Offset MPI_Offset

#define PIO_DEFAULT (-1)

#define PIO_GLOBAL NC_GLOBAL
#define PIO_UNLIMITED NC_UNLIMITED
#define PIO_MAX_NAME NC_MAX_NAME
#define PIO_MAX_VAR_DIMS NC_MAX_VAR_DIMS
#define PIO_MAX_DIMS 1024
#define PIO_MAX_VARS 8192
#define PIO_MAX_ATTRS 8192

#define PIO_BYTE NC_BYTE
#define PIO_CHAR NC_CHAR
#define PIO_SHORT NC_SHORT
#define PIO_INT NC_INT
#define PIO_FLOAT NC_FLOAT
#define PIO_REAL NC_FLOAT
#define PIO_DOUBLE NC_DOUBLE
#define PIO_UBYTE NC_UBYTE
#define PIO_USHORT NC_USHORT
#define PIO_UINT NC_UINT
#define PIO_INT64 NC_INT64
#define PIO_UINT64 NC_UINT64
#define PIO_STRING NC_STRING

#define PIO_WRITE NC_WRITE
#define PIO_NOWRITE NC_NOWRITE
#define PIO_CLOBBER NC_CLOBBER
#define PIO_NOCLOBBER NC_NOCLOBBER
#define PIO_FILL NC_FILL
#define PIO_NOFILL NC_NOFILL
#define PIO_64BIT_OFFSET NC_64BIT_OFFSET
#define PIO_64BIT_DATA NC_64BIT_DATA

#define PIO_FILL_BYTE NC_FILL_BYTE
#define PIO_FILL_CHAR NC_FILL_CHAR
#define PIO_FILL_SHORT NC_FILL_SHORT
#define PIO_FILL_INT NC_FILL_INT
#define PIO_FILL_FLOAT NC_FILL_FLOAT
#define PIO_FILL_DOUBLE NC_FILL_DOUBLE
#define PIO_FILL_UBYTE NC_FILL_UBYTE
#define PIO_FILL_USHORT NC_FILL_USHORT
#define PIO_FILL_UINT NC_FILL_UINT
#define PIO_FILL_INT64 NC_FILL_INT64
#define PIO_FILL_UINT64 NC_FILL_UINT64

#define PIO_NOERR NC_NOERR
#define PIO_EBADID NC_EBADID
#define PIO_ENFILE NC_ENFILE
#define PIO_EEXIST NC_EEXIST
#define PIO_EINVAL NC_EINVAL
#define PIO_EPERM NC_EPERM
#define PIO_ENOTINDEFINE NC_ENOTINDEFINE
#define PIO_EINDEFINE NC_EINDEFINE
#define PIO_EINVALCOORDS NC_EINVALCOORDS
#define PIO_EMAXDIMS NC_EMAXDIMS
#define PIO_ENAMEINUSE NC_ENAMEINUSE
#define PIO_ENOTATT NC_ENOTATT
#define PIO_EMAXATTS NC_EMAXATTS
#define PIO_EBADTYPE NC_EBADTYPE
#define PIO_EBADDIM NC_EBADDIM
#define PIO_EUNLIMPOS NC_EUNLIMPOS
#define PIO_EMAXVARS NC_EMAXVARS
#define PIO_ENOTVAR NC_ENOTVAR
#define PIO_EGLOBAL NC_EGLOBAL
#define PIO_ENOTNC NC_ENOTNC
#define PIO_ESTS NC_ESTS
#define PIO_EMAXNAME NC_EMAXNAME
#define PIO_EUNLIMIT NC_EUNLIMIT
#define PIO_ENORECVARS NC_ENORECVARS
#define PIO_ECHAR NC_ECHAR
#define PIO_EEDGE NC_EEDGE
#define PIO_ESTRIDE NC_ESTRIDE
#define PIO_EBADNAME NC_EBADNAME
#define PIO_ERANGE NC_ERANGE
#define PIO_ENOMEM NC_ENOMEM
#define PIO_EVARSIZE NC_EVARSIZE
#define PIO_EDIMSIZE NC_EDIMSIZE
#define PIO_ETRUNC NC_ETRUNC
#define PIO_EAXISTYPE NC_EAXISTYPE
#define PIO_EDAP NC_EDAP
#define PIO_ECURL NC_ECURL
#define PIO_EIO NC_EIO
#define PIO_ENODATA NC_ENODATA
#define PIO_EDAPSVC NC_EDAPSVC
#define PIO_EDAS NC_EDAS
#define PIO_EDDS NC_EDDS
#define PIO_EDATADDS NC_EDATADDS
#define PIO_EDAPURL NC_EDAPURL
#define PIO_EDAPCONSTRAINT NC_EDAPCONSTRAINT
#define PIO_ETRANSLATION NC_ETRANSLATION
#define PIO_EHDFERR NC_EHDFERR
#define PIO_ECANTREAD NC_ECANTREAD
#define PIO_ECANTWRITE NC_ECANTWRITE
#define PIO_ECANTCREATE NC_ECANTCREATE
#define PIO_EFILEMETA NC_EFILEMETA
#define PIO_EDIMMETA NC_EDIMMETA
#define PIO_EATTMETA NC_EATTMETA
#define PIO_EVARMETA NC_EVARMETA
#define PIO_ENOCOMPOUND NC_ENOCOMPOUND
#define PIO_EATTEXISTS NC_EATTEXISTS
#define PIO_ENOTNC4 NC_ENOTNC4
#define PIO_ESTRICTNC3 NC_ESTRICTNC3
#define PIO_ENOTNC3 NC_ENOTNC3
#define PIO_ENOPAR NC_ENOPAR
#define PIO_EPARINIT NC_EPARINIT
#define PIO_EBADGRPID NC_EBADGRPID
#define PIO_EBADTYPID NC_EBADTYPID
#define PIO_ETYPDEFINED NC_ETYPDEFINED
#define PIO_EBADFIELD NC_EBADFIELD
#define PIO_EBADCLASS NC_EBADCLASS
#define PIO_EMAPTYPE NC_EMAPTYPE
#define PIO_ELATEFILL NC_ELATEFILL
#define PIO_ELATEDEF NC_ELATEDEF
#define PIO_EDIMSCALE NC_EDIMSCALE
#define PIO_ENOGRP NC_ENOGRP
#define PIO_ESTORAGE NC_ESTORAGE
#define PIO_EBADCHUNK NC_EBADCHUNK
#define PIO_ENOTBUILT NC_ENOTBUILT
#define PIO_EDISKLESS NC_EDISKLESS
#define PIO_EINDEP (-203)

#define PIO_REQ_NULL (-2) /* as in PIO: NC_REQ_NULL of PnetCDF minus 1 */

/* Error codes of PIO itself. */
#define PIO_FIRST_ERROR_CODE (-500)
#define PIO_EBADIOTYPE (-500)
#define PIO_EVARDIMMISMATCH (-501)
#define PIO_EBADREARR (-502)

enum PIO_QUANTIZE {
    PIO_NOQUANTIZE = 0,
    PIO_QUANTIZE_BITGROOM = 1,
    PIO_QUANTIZE_GRANULARBR = 2,
    PIO_QUANTIZE_BITROUND = 3
};

enum PIO_IOTYPE {
    PIO_IOTYPE_PNETCDF = 1,  /* a classic file */
    PIO_IOTYPE_NETCDF = 2,   /* a classic file */
    PIO_IOTYPE_NETCDF4C = 3, /* a netCDF-4 file */
    PIO_IOTYPE_NETCDF4P = 4  /* a netCDF-4 file */
};

enum PIO_REARRANGERS { PIO_REARR_BOX = 1, PIO_REARR_SUBSET = 2 };

enum PIO_ERROR_HANDLERS {
    PIO_INTERNAL_ERROR = -51, /* errors stop the program */
    PIO_BCAST_ERROR = -52,    /* errors are returned */
    PIO_RETURN_ERROR = -53    /* errors are returned */
};

enum PIO_REARR_COMM_TYPE { PIO_REARR_COMM_P2P = 0, PIO_REARR_COMM_COLL };

enum PIO_REARR_COMM_FC_DIR {
    PIO_REARR_COMM_FC_2D_ENABLE = 0,
    PIO_REARR_COMM_FC_1D_COMP2IO,
    PIO_REARR_COMM_FC_1D_IO2COMP,
    PIO_REARR_COMM_FC_2D_DISABLE
};

#define PIO_REARR_COMM_UNLIMITED_PEND_REQ (-1)

/* Options of PIO's rearrangers: accepted, without effect. */
typedef struct rearr_comm_fc_opt {
    bool hs;
    bool isend;
    int max_pend_req;
} rearr_comm_fc_opt_t;

typedef struct rearr_opt {
    int comm_type;
    int fcd;
    rearr_comm_fc_opt_t comp2io;
    rearr_comm_fc_opt_t io2comp;
} rearr_opt_t;

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors and log ------------------------------------------------------------------------ */

int PIOc_strerror(int pioerr, char* errstr);
int PIOc_set_log_level(int level);
int PIOc_set_global_log_level(int iosysid, int level);
int PIOc_set_iosystem_error_handling(int iosysid, int method, int* old_method);
/* Returns the previous method. */
int PIOc_Set_IOSystem_Error_Handling(int iosysid, int method);
/* Sets the method for the iosystem of the file, and returns the previous one. */
int PIOc_Set_File_Error_Handling(int ncid, int method);

/* ---- iosystem ------------------------------------------------------------------------------ */

int PIOc_Init_Intracomm(MPI_Comm comp_comm, int num_iotasks, int stride, int base, int rearr,
                        int* iosysidp);
int PIOc_Init_Intracomm_from_F90(int f90_comp_comm, int num_iotasks, int stride, int base,
                                 int rearr, rearr_opt_t* rearr_opts, int* iosysidp);
int PIOc_init_async(MPI_Comm world, int num_io_procs, int* io_proc_list, int component_count,
                    int* num_procs_per_comp, int** proc_list, MPI_Comm* io_comm,
                    MPI_Comm* comp_comm, int rearranger, int* iosysidp);
int PIOc_init_async_from_comms(MPI_Comm world, int component_count, MPI_Comm* comp_comm,
                               MPI_Comm io_comm, int rearranger, int* iosysidp);
int PIOc_init_async_from_F90(int f90_world_comm, int num_io_procs, const int io_proc_list[],
                             int component_count, const int num_procs_per_comp[],
                             const int flat_proc_list[], int* f90_io_comm, int f90_comp_comm[],
                             int rearranger, int iosysidp[]);
int PIOc_init_async_comms_from_F90(int f90_world_comm, int component_count,
                                   const int f90_comp_comms[], int f90_io_comm, int rearranger,
                                   int iosysidp[]);
int PIOc_free_iosystem(int iosysid);
int PIOc_finalize(int iosysid); /* old name of PIOc_free_iosystem */
int PIOc_get_numiotasks(int iosysid, int* numiotasks);
int PIOc_iam_iotask(int iosysid, bool* ioproc);
int PIOc_iotask_rank(int iosysid, int* iorank);
int PIOc_iosystem_is_active(int iosysid, bool* active);
/* Returns 1 if the type is available, otherwise 0. */
int PIOc_iotype_available(int iotype);
int PIOc_set_rearr_opts(int iosysid, int comm_type, int fcd, bool enable_hs_c2i,
                        bool enable_isend_c2i, int max_pend_req_c2i, bool enable_hs_i2c,
                        bool enable_isend_i2c, int max_pend_req_i2c);
int PIOc_set_hint(int iosysid, const char* hint, const char* hintval);
int PIOc_set_blocksize(int newblocksize);
/* Returns the previous limit. */
PIO_Offset PIOc_set_buffer_size_limit(PIO_Offset limit);
int PIOc_set_chunk_cache(int iosysid, int iotype, PIO_Offset size, PIO_Offset nelems,
                         float preemption);
int PIOc_get_chunk_cache(int iosysid, int iotype, PIO_Offset* sizep, PIO_Offset* nelemsp,
                         float* preemptionp);

/* ---- decompositions ------------------------------------------------------------------------ */

/* Elements of the map are counted from 1; 0 is a hole. */
int PIOc_InitDecomp(int iosysid, int pio_type, int ndims, const int gdimlen[], int maplen,
                    const PIO_Offset compmap[], int* ioidp, const int* rearr,
                    const PIO_Offset* iostart, const PIO_Offset* iocount);
/* For reading only: elements may occur more than once in the map. */
int PIOc_InitDecomp_ReadOnly(int iosysid, int pio_type, int ndims, const int gdimlen[], int maplen,
                             const PIO_Offset compmap[], int* ioidp, const int* rearr,
                             const PIO_Offset* iostart, const PIO_Offset* iocount);
int PIOc_InitDecomp_bc(int iosysid, int basetype, int ndims, const int gdimlen[],
                       const long int start[], const long int count[], int* ioidp);
/* Elements of the map are counted from 0; -1 is a hole. */
int PIOc_init_decomp(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                     const PIO_Offset* compmap, int* ioidp, int rearranger,
                     const PIO_Offset* iostart, const PIO_Offset* iocount);
int PIOc_init_decomp_ReadOnly(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                              const PIO_Offset* compmap, int* ioidp, int rearranger,
                              const PIO_Offset* iostart, const PIO_Offset* iocount);
int PIOc_freedecomp(int iosysid, int ioid);
/* Returns the length of the map. */
int PIOc_get_local_array_size(int ioid);
int PIOc_readmap(const char* file, int* ndims, int** gdims, PIO_Offset* fmaplen, PIO_Offset** map,
                 MPI_Comm comm);
int PIOc_readmap_from_f90(const char* file, int* ndims, int** gdims, PIO_Offset* maplen,
                          PIO_Offset** map, int f90_comm);
int PIOc_writemap(const char* file, int ndims, const int* gdims, PIO_Offset maplen, PIO_Offset* map,
                  MPI_Comm comm);
int PIOc_writemap_from_f90(const char* file, int ndims, const int gdims[], PIO_Offset maplen,
                           const PIO_Offset map[], int f90_comm);
int PIOc_write_decomp(const char* file, int iosysid, int ioid, MPI_Comm comm);
int PIOc_write_nc_decomp(int iosysid, const char* filename, int cmode, int ioid, const char* title,
                         const char* history, int fortran_order);
int PIOc_read_nc_decomp(int iosysid, const char* filename, int* ioid, MPI_Comm comm, int pio_type,
                        char* title, char* history, int* fortran_order);
/* Function that PIO's C interface lacks; used by the Fortran interface. Collective over the
 * iosystem. */
int PIOc_read_nc_decomp_from_f90(int iosysid, const char* filename, int* ioid, int pio_type,
                                 char* title, char* history, int* fortran_order);

/* ---- distributed arrays -------------------------------------------------------------------- */

int PIOc_advanceframe(int ncid, int varid);
int PIOc_setframe(int ncid, int varid, int frame);
int PIOc_write_darray(int ncid, int varid, int ioid, PIO_Offset arraylen, void* array,
                      void* fillvalue);
int PIOc_write_darray_multi(int ncid, const int* varids, int ioid, int nvars, PIO_Offset arraylen,
                            void* array, const int* frame, void** fillvalue, bool flushtodisk);
int PIOc_read_darray(int ncid, int varid, int ioid, PIO_Offset arraylen, void* array);
/* Function that PIO's C interface lacks; used by the Fortran interface. The array has the given
 * type, which may differ from that of the decomposition. */
int PIOc_write_darray_type(int ncid, int varid, int ioid, nc_type type, PIO_Offset arraylen,
                           const void* array, const void* fillvalue);
int PIOc_read_darray_type(int ncid, int varid, int ioid, nc_type type, PIO_Offset arraylen,
                          void* array);

/* ---- files --------------------------------------------------------------------------------- */

int PIOc_createfile(int iosysid, int* ncidp, int* iotype, const char* fname, int mode);
int PIOc_create(int iosysid, const char* path, int cmode, int* ncidp);
int PIOc_openfile(int iosysid, int* ncidp, int* iotype, const char* fname, int mode);
int PIOc_openfile2(int iosysid, int* ncidp, int* iotype, const char* fname, int mode);
int PIOc_open(int iosysid, const char* path, int mode, int* ncidp);
int PIOc_closefile(int ncid);
int PIOc_deletefile(int iosysid, const char* filename);
int PIOc_redef(int ncid);
int PIOc_enddef(int ncid);
int PIOc_sync(int ncid);
/* Function that PIO's C interface lacks; used by the Fortran interface. Begins to write what was
 * put, without waiting. */
int PIOc_flush(int ncid);
/* Returns 1 if the file is open, otherwise 0. */
int PIOc_File_is_Open(int ncid);

int PIOc_inq(int ncid, int* ndimsp, int* nvarsp, int* ngattsp, int* unlimdimidp);
int PIOc_inq_format(int ncid, int* formatp);
int PIOc_inq_ndims(int ncid, int* ndimsp);
int PIOc_inq_nvars(int ncid, int* nvarsp);
int PIOc_inq_natts(int ncid, int* ngattsp);
int PIOc_inq_unlimdim(int ncid, int* unlimdimidp);
int PIOc_inq_unlimdims(int ncid, int* nunlimdimsp, int* unlimdimidsp);
int PIOc_inq_type(int ncid, nc_type xtype, char* name, PIO_Offset* sizep);
int PIOc_set_fill(int ncid, int fillmode, int* old_modep);

/* ---- dimensions ---------------------------------------------------------------------------- */

int PIOc_def_dim(int ncid, const char* name, PIO_Offset len, int* idp);
int PIOc_inq_dim(int ncid, int dimid, char* name, PIO_Offset* lenp);
int PIOc_inq_dimid(int ncid, const char* name, int* idp);
int PIOc_inq_dimname(int ncid, int dimid, char* name);
int PIOc_inq_dimlen(int ncid, int dimid, PIO_Offset* lenp);
int PIOc_rename_dim(int ncid, int dimid, const char* name);

/* ---- variables ----------------------------------------------------------------------------- */

int PIOc_def_var(int ncid, const char* name, nc_type xtype, int ndims, const int dimidsp[],
                 int* varidp);
int PIOc_inq_varid(int ncid, const char* name, int* varidp);
int PIOc_inq_var(int ncid, int varid, char* name, nc_type* xtypep, int* ndimsp, int* dimidsp,
                 int* nattsp);
int PIOc_inq_varname(int ncid, int varid, char* name);
int PIOc_inq_vartype(int ncid, int varid, nc_type* xtypep);
int PIOc_inq_varndims(int ncid, int varid, int* ndimsp);
int PIOc_inq_vardimid(int ncid, int varid, int dimidsp[]);
int PIOc_inq_varnatts(int ncid, int varid, int* nattsp);
int PIOc_rename_var(int ncid, int varid, const char* name);
int PIOc_def_var_fill(int ncid, int varid, int no_fill, const void* fill_value);
int PIOc_inq_var_fill(int ncid, int varid, int* no_fill, void* fill_valuep);
int PIOc_def_var_deflate(int ncid, int varid, int shuffle, int deflate, int deflate_level);
int PIOc_inq_var_deflate(int ncid, int varid, int* shufflep, int* deflatep, int* deflate_levelp);
int PIOc_def_var_chunking(int ncid, int varid, int storage, const PIO_Offset chunksizesp[]);
int PIOc_inq_var_chunking(int ncid, int varid, int* storagep, PIO_Offset chunksizesp[]);
int PIOc_def_var_endian(int ncid, int varid, int endian);
int PIOc_inq_var_endian(int ncid, int varid, int* endianp);
int PIOc_set_var_chunk_cache(int ncid, int varid, PIO_Offset size, PIO_Offset nelems,
                             float preemption);
int PIOc_get_var_chunk_cache(int ncid, int varid, PIO_Offset* sizep, PIO_Offset* nelemsp,
                             float* preemptionp);
int PIOc_def_var_quantize(int ncid, int varid, int quantize_mode, int nsd);
int PIOc_inq_var_quantize(int ncid, int varid, int* quantize_mode, int* nsdp);
int PIOc_def_var_zstandard(int ncid, int varid, int level);
int PIOc_inq_var_zstandard(int ncid, int varid, int* hasfilterp, int* levelp);
int PIOc_def_var_bzip2(int ncid, int varid, int level);
int PIOc_inq_var_bzip2(int ncid, int varid, int* hasfilterp, int* levelp);
int PIOc_def_var_szip(int ncid, int varid, int options_mask, int pixels_per_block);
int PIOc_inq_var_szip(int ncid, int varid, int* options_maskp, int* pixels_per_blockp);
int PIOc_def_var_filter(int ncid, int varid, unsigned int id, size_t nparams,
                        const unsigned int* params);
int PIOc_inq_var_filter_ids(int ncid, int varid, size_t* nfiltersp, unsigned int* filterids);
int PIOc_inq_var_filter_info(int ncid, int varid, unsigned int id, size_t* nparamsp,
                             unsigned int* params);
int PIOc_inq_filter_avail(int ncid, unsigned int id);

/* ---- attributes ---------------------------------------------------------------------------- */

int PIOc_inq_att(int ncid, int varid, const char* name, nc_type* xtypep, PIO_Offset* lenp);
int PIOc_inq_attid(int ncid, int varid, const char* name, int* idp);
int PIOc_inq_attlen(int ncid, int varid, const char* name, PIO_Offset* lenp);
int PIOc_inq_atttype(int ncid, int varid, const char* name, nc_type* xtypep);
int PIOc_inq_attname(int ncid, int varid, int attnum, char* name);
int PIOc_rename_att(int ncid, int varid, const char* name, const char* newname);
int PIOc_del_att(int ncid, int varid, const char* name);
int PIOc_put_att(int ncid, int varid, const char* name, nc_type xtype, PIO_Offset len,
                 const void* op);
int PIOc_put_att_text(int ncid, int varid, const char* name, PIO_Offset len, const char* op);
int PIOc_get_att(int ncid, int varid, const char* name, void* ip);
int PIOc_get_att_text(int ncid, int varid, const char* name, char* ip);

/* ---- attributes and variables, of the types below ------------------------------------------ */

/* X(suffix, type in memory) for functions such as PIOc_put_att_int and PIOc_get_vara_double. */
#define PIO_NUMBER_TYPES(X)                                                                        \
    X(schar, signed char)                                                                          \
    X(short, short)                                                                                \
    X(int, int)                                                                                    \
    X(long, long)                                                                                  \
    X(float, float)                                                                                \
    X(double, double)                                                                              \
    X(uchar, unsigned char)                                                                        \
    X(ushort, unsigned short)                                                                      \
    X(uint, unsigned int)                                                                          \
    X(longlong, long long)                                                                         \
    X(ulonglong, unsigned long long)

#define PIO_TYPES(X)                                                                               \
    X(text, char)                                                                                  \
    PIO_NUMBER_TYPES(X)

#define PIO_DECLARE_ATTRIBUTES(suffix, type)                                                       \
    int PIOc_put_att_##suffix(int ncid, int varid, const char* name, nc_type xtype,                \
                              PIO_Offset len, const type* op);                                     \
    int PIOc_get_att_##suffix(int ncid, int varid, const char* name, type* ip);
PIO_NUMBER_TYPES(PIO_DECLARE_ATTRIBUTES)

/* `suffix` is an underscore and a type. If it is empty, the buffer has the variable's own type. */
#define PIO_DECLARE_DATA_(suffix, type)                                                            \
    int PIOc_get_var##suffix(int ncid, int varid, type* buf);                                      \
    int PIOc_put_var##suffix(int ncid, int varid, const type* op);                                 \
    int PIOc_get_var1##suffix(int ncid, int varid, const PIO_Offset* index, type* buf);            \
    int PIOc_put_var1##suffix(int ncid, int varid, const PIO_Offset* index, const type* op);       \
    int PIOc_get_vara##suffix(int ncid, int varid, const PIO_Offset start[],                       \
                              const PIO_Offset count[], type* buf);                                \
    int PIOc_put_vara##suffix(int ncid, int varid, const PIO_Offset start[],                       \
                              const PIO_Offset count[], const type* op);                           \
    int PIOc_get_vars##suffix(int ncid, int varid, const PIO_Offset start[],                       \
                              const PIO_Offset count[], const PIO_Offset* stride, type* buf);      \
    int PIOc_put_vars##suffix(int ncid, int varid, const PIO_Offset start[],                       \
                              const PIO_Offset count[], const PIO_Offset* stride, const type* op); \
    int PIOc_get_vard##suffix(int ncid, int varid, int decompid, const PIO_Offset recnum,          \
                              type* buf);                                                          \
    int PIOc_put_vard##suffix(int ncid, int varid, int decompid, const PIO_Offset recnum,          \
                              const type* op);
#define PIO_DECLARE_DATA(suffix, type) PIO_DECLARE_DATA_(_##suffix, type)
PIO_TYPES(PIO_DECLARE_DATA)
PIO_DECLARE_DATA_(, void)

#undef PIO_DECLARE_ATTRIBUTES
#undef PIO_DECLARE_DATA
#undef PIO_DECLARE_DATA_

#ifdef __cplusplus
}
#endif

#endif
