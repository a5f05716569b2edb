# SPDX-License-Identifier: Apache-2.0
"""PnetCDF's interface: its codes, and its functions by the kinds of their arguments."""

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

# Codes, their names without NC_, and what they mean.
CODES = """
0 NOERR no error
-33 EBADID no file is open with this id
-34 ENFILE too many files are open
-35 EEXIST the file exists and must not be replaced
-36 EINVAL an argument is invalid
-37 EPERM the file is open for reading
-38 ENOTINDEFINE the file is in data mode
-39 EINDEFINE the file is in define mode
-40 EINVALCOORDS an index is outside of the dimension
-41 EMAXDIMS too many dimensions
-42 ENAMEINUSE the name is in use
-43 ENOTATT no attribute has this name or number
-44 EMAXATTS too many attributes
-45 EBADTYPE no such type, or the format does not have it
-46 EBADDIM no dimension has this id or name
-47 EUNLIMPOS the record dimension has to be the first
-48 EMAXVARS too many variables
-49 ENOTVAR no variable has this id or name
-50 EGLOBAL NC_GLOBAL is no variable
-51 ENOTNC the file is no netCDF file
-52 ESTS the text is too short
-53 EMAXNAME the name is too long
-54 EUNLIMIT there is a record dimension already
-55 ENORECVARS there are no record variables
-56 ECHAR text and numbers are not converted into each other
-57 EEDGE start + count is beyond the dimension
-58 ESTRIDE a stride is less than 1
-59 EBADNAME the name has characters that are not allowed
-60 ERANGE a value is outside the range of the type
-61 ENOMEM out of memory
-62 EVARSIZE a variable is larger than the format allows
-63 EDIMSIZE a dimension is longer than the format allows
-64 ETRUNC the file is truncated or damaged
-65 EAXISTYPE unknown type of an axis
-68 EIO reading or writing failed
-69 ENODATA the variable has no data
-77 EACCESS access to the file is denied
-78 EAUTH the user is not authorized
-90 ENOTFOUND the file does not exist
-91 ECANTREMOVE the file cannot be removed
-92 EINTERNAL internal error
-93 EPNETCDF error of PnetCDF
-101 EHDFERR error of HDF5
-102 ECANTREAD the file cannot be read
-103 ECANTWRITE the file cannot be written
-104 ECANTCREATE the file cannot be created
-105 EFILEMETA metadata of the file are damaged
-106 EDIMMETA metadata of a dimension are damaged
-107 EATTMETA metadata of an attribute are damaged
-108 EVARMETA metadata of a variable are damaged
-109 ENOCOMPOUND the type is no compound
-110 EATTEXISTS the attribute exists
-111 ENOTNC4 only netCDF-4 files have this
-112 ESTRICTNC3 the classic model does not have this
-113 ENOTNC3 only classic files have this
-114 ENOPAR the file is not open for several ranks
-115 EPARINIT access by several ranks cannot begin
-116 EBADGRPID no group has this id
-117 EBADTYPID no type has this id
-118 ETYPDEFINED the type is defined and cannot be changed
-119 EBADFIELD no field has this id
-120 EBADCLASS the class of the type is invalid
-121 EMAPTYPE only atomic types can be mapped
-122 ELATEFILL a fill value cannot be set after data have been put
-123 ELATEDEF this cannot be changed after enddef
-124 EDIMSCALE error of a dimension scale
-125 ENOGRP there is no such group
-126 ESTORAGE storage is contiguous or chunked
-127 EBADCHUNK the size of a chunk is invalid
-128 ENOTBUILT the library was built without this
-129 EDISKLESS error of a file in memory
-130 ECANTEXTEND records cannot be added by independent calls
-131 EMPI an MPI function failed
-134 ENULLPAD the padding of the header is not zero
-201 ESMALL MPI_Offset is too small for the file
-202 ENOTINDEP an independent call in collective data mode
-203 EINDEP a collective call in independent data mode
-204 EFILE the operation on the file failed
-205 EREAD reading the file failed
-206 EWRITE writing the file failed
-207 EOFILE the file could not be created or opened
-208 EMULTITYPES the MPI datatype has elements of several types
-209 EIOMISMATCH the array in memory and the section differ in size
-210 ENEGATIVECNT a count is negative
-211 EUNSPTETYPE the elements of the MPI datatype have a type that is not supported
-212 EINVAL_REQUEST no request has this id
-213 EAINT_TOO_SMALL MPI_Aint is too small for the value
-214 ENOTSUPPORT this is not supported
-215 ENULLBUF the buffer to attach has no size
-216 EPREVATTACHBUF a buffer is attached already
-217 ENULLABUF no buffer is attached
-218 EPENDINGBPUT requests still use the attached buffer
-219 EINSUFFBUF the attached buffer is too small
-220 ENOENT the file does not exist
-221 EINTOVERFLOW the value does not fit into 4 bytes
-222 ENOTENABLED this is not enabled
-223 EBAD_FILE the name of the file is invalid
-224 ENO_SPACE no space is left on the device
-225 EQUOTA the disk quota is exceeded
-226 ENULLSTART start is NULL
-227 ENULLCOUNT count is NULL
-228 EINVAL_CMODE invalid mode to create a file
-229 ETYPESIZE the MPI datatype of the file is larger than the variable
-230 ETYPE_MISMATCH the MPI datatype of the file is not of the variable's type
-231 ETYPESIZE_MISMATCH the MPI datatypes of file and memory differ in size
-232 ESTRICTCDF2 only CDF-5 files have this
-233 ENOTRECVAR the variable has no record dimension
-234 ENOTFILL the variable is not filled
-235 EINVAL_OMODE invalid mode to open a file
-236 EPENDING requests were not waited for when the file was closed
-237 EMAX_REQ a request is larger than 2 GiB
-238 EBADLOG unknown format of the log file
-239 EFLUSHED the request has been carried out and cannot be cancelled
-240 EADIOS error of ADIOS
-250 EMULTIDEFINE definitions differ between ranks
-251 EMULTIDEFINE_OMODE the modes to open the file differ between ranks
-252 EMULTIDEFINE_DIM_NUM the numbers of dimensions differ between ranks
-253 EMULTIDEFINE_DIM_SIZE lengths of a dimension differ between ranks
-254 EMULTIDEFINE_DIM_NAME names of a dimension differ between ranks
-255 EMULTIDEFINE_VAR_NUM the numbers of variables differ between ranks
-256 EMULTIDEFINE_VAR_NAME names of a variable differ between ranks
-257 EMULTIDEFINE_VAR_NDIMS numbers of a variable's dimensions differ between ranks
-258 EMULTIDEFINE_VAR_DIMIDS dimensions of a variable differ between ranks
-259 EMULTIDEFINE_VAR_TYPE types of a variable differ between ranks
-260 EMULTIDEFINE_VAR_LEN sizes of a variable differ between ranks
-261 EMULTIDEFINE_NUMRECS the numbers of records differ between ranks
-262 EMULTIDEFINE_VAR_BEGIN places of a variable differ between ranks
-263 EMULTIDEFINE_ATTR_NUM the numbers of attributes differ between ranks
-264 EMULTIDEFINE_ATTR_SIZE sizes of attributes differ between ranks
-265 EMULTIDEFINE_ATTR_NAME names of an attribute differ between ranks
-266 EMULTIDEFINE_ATTR_TYPE types of an attribute differ between ranks
-267 EMULTIDEFINE_ATTR_LEN lengths of an attribute differ between ranks
-268 EMULTIDEFINE_ATTR_VAL values of an attribute differ between ranks
-269 EMULTIDEFINE_FNC_ARGS arguments of a collective call differ between ranks
-270 EMULTIDEFINE_FILL_MODE fill modes differ between ranks
-271 EMULTIDEFINE_VAR_FILL_MODE fill modes of a variable differ between ranks
-272 EMULTIDEFINE_VAR_FILL_VALUE fill values of a variable differ between ranks
-273 EMULTIDEFINE_CMODE the modes to create the file differ between ranks
"""

# Kinds of arguments: C type. The Fortran interfaces count ids from 1, and pass texts with a length.
KINDS = {
    "comm": "MPI_Comm",
    "info": "MPI_Info",
    "name": "const char *",
    "ncid": "int",
    "varid": "int",
    "dimid": "int",
    "number": "int",  # number of an attribute, counted as ids are
    "int": "int",
    "offset": "MPI_Offset",
    "type": "nc_type",
    "dims": "const int *",
    "value": "const void *",
    "ints": "int *",
    "requests": "int *",
    "out_name": "char *",
    "out_int": "int *",
    "out_varid": "int *",
    "out_dimid": "int *",
    "out_number": "int *",
    "out_dims": "int *",
    "out_offset": "MPI_Offset *",
    "out_type": "nc_type *",
    "out_info": "MPI_Info *",
    "out_value": "void *",
}

# Functions that are no puts or gets, without ncmpi_: KIND:NAME of each argument.
FUNCTIONS = """
strerror int:err
strerrno int:err
inq_libvers
create comm:comm name:path int:cmode info:info out_int:ncidp
open comm:comm name:path int:omode info:info out_int:ncidp
inq_file_info ncid:ncid out_info:info_used
get_file_info ncid:ncid out_info:info_used
delete name:filename info:info
enddef ncid:ncid
_enddef ncid:ncid offset:h_minfree offset:v_align offset:v_minfree offset:r_align
redef ncid:ncid
set_default_format int:format out_int:old_formatp
inq_default_format out_int:formatp
sync ncid:ncid
flush ncid:ncid
sync_numrecs ncid:ncid
abort ncid:ncid
begin_indep_data ncid:ncid
end_indep_data ncid:ncid
close ncid:ncid
set_fill ncid:ncid int:fillmode out_int:old_modep
def_var_fill ncid:ncid varid:varid int:no_fill value:fill_value
fill_var_rec ncid:ncid varid:varid offset:recno
def_dim ncid:ncid name:name offset:len out_dimid:idp
def_var ncid:ncid name:name type:xtype int:ndims dims:dimidsp out_varid:varidp
rename_dim ncid:ncid dimid:dimid name:name
rename_var ncid:ncid varid:varid name:name
inq ncid:ncid out_int:ndimsp out_int:nvarsp out_int:ngattsp out_dimid:unlimdimidp
inq_format ncid:ncid out_int:formatp
inq_file_format name:filename out_int:formatp
inq_version ncid:ncid out_int:mode
inq_striping ncid:ncid out_int:striping_size out_int:striping_count
inq_ndims ncid:ncid out_int:ndimsp
inq_nvars ncid:ncid out_int:nvarsp
inq_num_rec_vars ncid:ncid out_int:nvarsp
inq_num_fix_vars ncid:ncid out_int:nvarsp
inq_natts ncid:ncid out_int:ngattsp
inq_unlimdim ncid:ncid out_dimid:unlimdimidp
inq_dimid ncid:ncid name:name out_dimid:idp
inq_dim ncid:ncid dimid:dimid out_name:name out_offset:lenp
inq_dimname ncid:ncid dimid:dimid out_name:name
inq_dimlen ncid:ncid dimid:dimid out_offset:lenp
inq_var ncid:ncid varid:varid out_name:name out_type:xtypep out_int:ndims out_dims:dims out_int:atts
inq_varid ncid:ncid name:name out_varid:varidp
inq_varname ncid:ncid varid:varid out_name:name
inq_vartype ncid:ncid varid:varid out_type:xtypep
inq_varndims ncid:ncid varid:varid out_int:ndimsp
inq_vardimid ncid:ncid varid:varid out_dims:dimidsp
inq_varnatts ncid:ncid varid:varid out_int:nattsp
inq_varoffset ncid:ncid varid:varid out_offset:offset
inq_put_size ncid:ncid out_offset:size
inq_get_size ncid:ncid out_offset:size
inq_header_size ncid:ncid out_offset:size
inq_header_extent ncid:ncid out_offset:extent
inq_malloc_size out_offset:size
inq_malloc_max_size out_offset:size
inq_malloc_list
inq_files_opened out_int:num ints:ncids
inq_recsize ncid:ncid out_offset:recsize
inq_var_fill ncid:ncid varid:varid out_int:no_fill out_value:fill_value
inq_path ncid:ncid out_int:pathlen out_name:path
inq_att ncid:ncid varid:varid name:name out_type:xtypep out_offset:lenp
inq_attid ncid:ncid varid:varid name:name out_number:idp
inq_atttype ncid:ncid varid:varid name:name out_type:xtypep
inq_attlen ncid:ncid varid:varid name:name out_offset:lenp
inq_attname ncid:ncid varid:varid number:attnum out_name:name
copy_att ncid:ncid_in varid:varid_in name:name ncid:ncid_out varid:varid_out
rename_att ncid:ncid varid:varid name:name name:newname
del_att ncid:ncid varid:varid name:name
wait ncid:ncid int:count requests:requests ints:statuses
wait_all ncid:ncid int:count requests:requests ints:statuses
cancel ncid:ncid int:count requests:requests ints:statuses
buffer_attach ncid:ncid offset:bufsize
buffer_detach ncid:ncid
inq_buffer_usage ncid:ncid out_offset:usage
inq_buffer_size ncid:ncid out_offset:size
inq_nreqs ncid:ncid out_int:nreqs
"""

# Functions that return a text instead of a code.
TEXTS = {"strerror", "strerrno", "inq_libvers"}
# Functions that make a file, that end one or concern several, and that concern none.
OPENING = {"create", "open"}
FILES = {"close", "abort", "copy_att", "inq_files_opened"}
WITHOUT_FILE = TEXTS | {
    "delete", "inq_file_format", "set_default_format", "inq_default_format", "inq_malloc_size",
    "inq_malloc_max_size", "inq_malloc_list",
}  # fmt: skip

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
    return [line.split(None, 2) for line in CODES.strip().splitlines()]


def functions():
    """Yields the name of each function that is no put or get, and the kinds and names of its
    arguments."""
    for line in FUNCTIONS.strip().splitlines():
        name, *arguments = line.split()
        yield name, [argument.split(":") for argument in arguments]


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
