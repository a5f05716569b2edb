# SPDX-License-Identifier: Apache-2.0
"""PnetCDF's interface: its codes, and its functions."""

import re

VERSION = "1.12.3"

# Types in memory: suffix of the C names, C type.
TYPES = {
    "text": "char",
    "schar": "signed char",
    "uchar": "unsigned char",
    "short": "short",
    "ushort": "unsigned short",
    "int": "int",
    "uint": "unsigned int",
    "long": "long",
    "float": "float",
    "double": "double",
    "longlong": "long long",
    "ulonglong": "unsigned long long",
}

# Names of the codes, without NC_. Each line begins with the number of its first name, from which
# the numbers go down by one.
CODES = """
0 NOERR
-33 EBADID ENFILE EEXIST EINVAL EPERM ENOTINDEFINE EINDEFINE EINVALCOORDS EMAXDIMS ENAMEINUSE
-43 ENOTATT EMAXATTS EBADTYPE EBADDIM EUNLIMPOS EMAXVARS ENOTVAR EGLOBAL ENOTNC ESTS EMAXNAME
-54 EUNLIMIT ENORECVARS ECHAR EEDGE ESTRIDE EBADNAME ERANGE ENOMEM EVARSIZE EDIMSIZE ETRUNC
-65 EAXISTYPE
-68 EIO ENODATA
-77 EACCESS EAUTH
-90 ENOTFOUND ECANTREMOVE EINTERNAL EPNETCDF
-101 EHDFERR ECANTREAD ECANTWRITE ECANTCREATE EFILEMETA EDIMMETA EATTMETA EVARMETA ENOCOMPOUND
-110 EATTEXISTS ENOTNC4 ESTRICTNC3 ENOTNC3 ENOPAR EPARINIT EBADGRPID EBADTYPID ETYPDEFINED
-119 EBADFIELD EBADCLASS EMAPTYPE ELATEFILL ELATEDEF EDIMSCALE ENOGRP ESTORAGE EBADCHUNK
-128 ENOTBUILT EDISKLESS ECANTEXTEND EMPI
-134 ENULLPAD
-201 ESMALL ENOTINDEP EINDEP EFILE EREAD EWRITE EOFILE EMULTITYPES EIOMISMATCH ENEGATIVECNT
-211 EUNSPTETYPE EINVAL_REQUEST EAINT_TOO_SMALL ENOTSUPPORT ENULLBUF EPREVATTACHBUF ENULLABUF
-218 EPENDINGBPUT EINSUFFBUF ENOENT EINTOVERFLOW ENOTENABLED EBAD_FILE ENO_SPACE EQUOTA ENULLSTART
-227 ENULLCOUNT EINVAL_CMODE ETYPESIZE ETYPE_MISMATCH ETYPESIZE_MISMATCH ESTRICTCDF2 ENOTRECVAR
-234 ENOTFILL EINVAL_OMODE EPENDING EMAX_REQ EBADLOG EFLUSHED EADIOS
-250 EMULTIDEFINE EMULTIDEFINE_OMODE EMULTIDEFINE_DIM_NUM EMULTIDEFINE_DIM_SIZE
-254 EMULTIDEFINE_DIM_NAME EMULTIDEFINE_VAR_NUM EMULTIDEFINE_VAR_NAME EMULTIDEFINE_VAR_NDIMS
-258 EMULTIDEFINE_VAR_DIMIDS EMULTIDEFINE_VAR_TYPE EMULTIDEFINE_VAR_LEN EMULTIDEFINE_NUMRECS
-262 EMULTIDEFINE_VAR_BEGIN EMULTIDEFINE_ATTR_NUM EMULTIDEFINE_ATTR_SIZE EMULTIDEFINE_ATTR_NAME
-266 EMULTIDEFINE_ATTR_TYPE EMULTIDEFINE_ATTR_LEN EMULTIDEFINE_ATTR_VAL EMULTIDEFINE_FNC_ARGS
-270 EMULTIDEFINE_FILL_MODE EMULTIDEFINE_VAR_FILL_MODE EMULTIDEFINE_VAR_FILL_VALUE
-273 EMULTIDEFINE_CMODE
"""

# Functions that are no puts or gets, without ncmpi_: those that concern no open file, that make a
# file, that end one or concern several, and those whose first argument is a file's id.
FUNCTIONS = {
    "PLAIN": """
const char *strerror(int err)
const char *strerrno(int err)
const char *inq_libvers(void)
int delete(const char *filename, MPI_Info info)
int set_default_format(int format, int *old_formatp)
int inq_default_format(int *formatp)
int inq_file_format(const char *filename, int *formatp)
int inq_malloc_size(MPI_Offset *size)
int inq_malloc_max_size(MPI_Offset *size)
int inq_malloc_list(void)
""",
    "OPENING": """
int create(MPI_Comm comm, const char *path, int cmode, MPI_Info info, int *ncidp)
int open(MPI_Comm comm, const char *path, int omode, MPI_Info info, int *ncidp)
""",
    "FILES": """
int abort(int ncid)
int close(int ncid)
int inq_files_opened(int *num, int *ncids)
int copy_att(int ncid_in, int varid_in, const char *name, int ncid_out, int varid_out)
""",
    "OF_FILE": """
int inq_file_info(int ncid, MPI_Info *info_used)
int get_file_info(int ncid, MPI_Info *info_used)
int enddef(int ncid)
int _enddef(int ncid, MPI_Offset h_free, MPI_Offset v_align, MPI_Offset v_free, MPI_Offset r_align)
int redef(int ncid)
int sync(int ncid)
int flush(int ncid)
int sync_numrecs(int ncid)
int begin_indep_data(int ncid)
int end_indep_data(int ncid)
int set_fill(int ncid, int fillmode, int *old_modep)
int def_var_fill(int ncid, int varid, int no_fill, const void *fill_value)
int fill_var_rec(int ncid, int varid, MPI_Offset recno)
int def_dim(int ncid, const char *name, MPI_Offset len, int *idp)
int def_var(int ncid, const char *name, nc_type xtype, int ndims, const int *dimidsp, int *varidp)
int rename_dim(int ncid, int dimid, const char *name)
int rename_var(int ncid, int varid, const char *name)
int inq(int ncid, int *ndimsp, int *nvarsp, int *ngattsp, int *unlimdimidp)
int inq_format(int ncid, int *formatp)
int inq_version(int ncid, int *mode)
int inq_striping(int ncid, int *striping_size, int *striping_count)
int inq_ndims(int ncid, int *ndimsp)
int inq_nvars(int ncid, int *nvarsp)
int inq_num_rec_vars(int ncid, int *nvarsp)
int inq_num_fix_vars(int ncid, int *nvarsp)
int inq_natts(int ncid, int *ngattsp)
int inq_unlimdim(int ncid, int *unlimdimidp)
int inq_dimid(int ncid, const char *name, int *idp)
int inq_dim(int ncid, int dimid, char *name, MPI_Offset *lenp)
int inq_dimname(int ncid, int dimid, char *name)
int inq_dimlen(int ncid, int dimid, MPI_Offset *lenp)
int inq_var(int ncid, int varid, char *name, nc_type *xtypep, int *ndims, int *dims, int *atts)
int inq_varid(int ncid, const char *name, int *varidp)
int inq_varname(int ncid, int varid, char *name)
int inq_vartype(int ncid, int varid, nc_type *xtypep)
int inq_varndims(int ncid, int varid, int *ndimsp)
int inq_vardimid(int ncid, int varid, int *dimidsp)
int inq_varnatts(int ncid, int varid, int *nattsp)
int inq_varoffset(int ncid, int varid, MPI_Offset *offset)
int inq_put_size(int ncid, MPI_Offset *size)
int inq_get_size(int ncid, MPI_Offset *size)
int inq_header_size(int ncid, MPI_Offset *size)
int inq_header_extent(int ncid, MPI_Offset *extent)
int inq_recsize(int ncid, MPI_Offset *recsize)
int inq_var_fill(int ncid, int varid, int *no_fill, void *fill_value)
int inq_path(int ncid, int *pathlen, char *path)
int inq_att(int ncid, int varid, const char *name, nc_type *xtypep, MPI_Offset *lenp)
int inq_attid(int ncid, int varid, const char *name, int *idp)
int inq_atttype(int ncid, int varid, const char *name, nc_type *xtypep)
int inq_attlen(int ncid, int varid, const char *name, MPI_Offset *lenp)
int inq_attname(int ncid, int varid, int attnum, char *name)
int rename_att(int ncid, int varid, const char *name, const char *newname)
int del_att(int ncid, int varid, const char *name)
int wait(int ncid, int count, int *requests, int *statuses)
int wait_all(int ncid, int count, int *requests, int *statuses)
int cancel(int ncid, int count, int *requests, int *statuses)
int buffer_attach(int ncid, MPI_Offset bufsize)
int buffer_detach(int ncid)
int inq_buffer_usage(int ncid, MPI_Offset *usage)
int inq_buffer_size(int ncid, MPI_Offset *size)
int inq_nreqs(int ncid, int *nreqs)
""",
}

# Sections of a variable, by the arguments that name them.
SECTIONS = {
    "var": [],
    "var1": ["start"],
    "vara": ["start", "count"],
    "vars": ["start", "count", "stride"],
    "varm": ["start", "count", "stride", "imap"],
    "varn": None,
    "vard": None,
}


def codes():
    """Yields number and name of each code."""
    for line in CODES.strip().splitlines():
        first, *names = line.split()
        yield from ((int(first) - i, name) for i, name in enumerate(names))


def functions():
    """Yields kind, type of the result, name and arguments of each function that is no put or get of
    a variable."""
    for kind, lines in FUNCTIONS.items():
        for line in lines.strip().splitlines():
            yield kind, *re.fullmatch(r"(.*?)(\w+)\((.*)\)", line).groups()
    of_att = "int ncid, int varid, const char *name"
    for memory, c in {"": "void", **TYPES}.items():
        suffix = f"_{memory}" if memory else ""
        of_type = "" if memory == "text" else "nc_type xtype, "
        put = f"{of_att}, {of_type}MPI_Offset len, const {c} *op"
        yield "OF_FILE", "int ", f"put_att{suffix}", put
        yield "OF_FILE", "int ", f"get_att{suffix}", f"{of_att}, {c} *ip"


def data_functions():
    """Yields verb, section, type in memory (None: an MPI datatype says it) and together of each put
    and get."""
    for verb in ("put", "get", "iput", "iget", "bput", "mput", "mget"):
        for section in SECTIONS:
            if section == "vard" and verb not in ("put", "get"):
                continue
            if section == "varn" and verb.startswith("m"):
                continue
            for memory in [None] if section == "vard" else [None, *TYPES]:
                yield verb, section, memory, False
                if verb[0] not in "ib":
                    yield verb, section, memory, True


def data_name(verb, section, memory, together):
    return f"{verb}_{section}{'_' + memory if memory else ''}{'_all' if together else ''}"
