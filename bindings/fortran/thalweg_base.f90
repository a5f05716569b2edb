! SPDX-License-Identifier: Apache-2.0
!
!> The handles, types and status codes: part of module thalweg.
module thalweg_base
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_null_ptr
  implicit none
  private

  !> A session, from tw_init to tw_finalize.
  type, bind(C), public :: tw_session
    type(c_ptr) :: handle = c_null_ptr
  end type tw_session

  !> The elements of an index space that each rank holds; belongs to its session, until
  !> tw_free_decomposition.
  type, bind(C), public :: tw_decomposition
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr) :: session = c_null_ptr
    integer(c_int) :: ndims = 0
  end type tw_decomposition

  !> An open file.
  type, bind(C), public :: tw_file
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr) :: session = c_null_ptr
  end type tw_file

  ! Types of variables in the file; the values are netCDF's.
  integer(c_int), parameter, public :: TW_BYTE = 1
  integer(c_int), parameter, public :: TW_CHAR = 2
  integer(c_int), parameter, public :: TW_SHORT = 3
  integer(c_int), parameter, public :: TW_INT = 4
  integer(c_int), parameter, public :: TW_FLOAT = 5
  integer(c_int), parameter, public :: TW_DOUBLE = 6
  integer(c_int), parameter, public :: TW_UBYTE = 7
  integer(c_int), parameter, public :: TW_USHORT = 8
  integer(c_int), parameter, public :: TW_UINT = 9
  integer(c_int), parameter, public :: TW_INT64 = 10
  integer(c_int), parameter, public :: TW_UINT64 = 11

  ! Status codes: those of the table TW_STATUS_TABLE in thalweg.h (a test compares them).
  integer(c_int), parameter, public :: TW_OK = 0
  integer(c_int), parameter, public :: TW_EHANDLE = -1
  integer(c_int), parameter, public :: TW_EARG = -2
  integer(c_int), parameter, public :: TW_ENOTFOUND = -3
  integer(c_int), parameter, public :: TW_EEXISTS = -4
  integer(c_int), parameter, public :: TW_ESHAPE = -5
  integer(c_int), parameter, public :: TW_EBOUNDS = -6
  integer(c_int), parameter, public :: TW_EOVERLAP = -7
  integer(c_int), parameter, public :: TW_ETYPE = -8
  integer(c_int), parameter, public :: TW_ERANGE = -9
  integer(c_int), parameter, public :: TW_ESTATE = -10
  integer(c_int), parameter, public :: TW_EMISMATCH = -11
  integer(c_int), parameter, public :: TW_EMISSING = -12
  integer(c_int), parameter, public :: TW_EFORMAT = -13
  integer(c_int), parameter, public :: TW_EIO = -14
  integer(c_int), parameter, public :: TW_EINUSE = -15
  integer(c_int), parameter, public :: TW_ESETTING = -16
  integer(c_int), parameter, public :: TW_ECLOSED = -17
  integer(c_int), parameter, public :: TW_ENOMEM = -18
  integer(c_int), parameter, public :: TW_EMPI = -19
  integer(c_int), parameter, public :: TW_ENETCDF = -20
  integer(c_int), parameter, public :: TW_EUNSUPPORTED = -21
  integer(c_int), parameter, public :: TW_EINTERNAL = -22
  integer(c_int), parameter, public :: TW_ECHECKSUM = -23
  integer(c_int), parameter, public :: TW_EDIFFERENT = -24
  integer(c_int), parameter, public :: TW_ECANCELED = -25

end module thalweg_base
