! PIO's descriptors and constants. The values are PIO 2's: programs were compiled with them.
! SPDX-License-Identifier: Apache-2.0
module pio_types
  use iso_c_binding, only: c_bool, c_int
  use pio_kinds, only: i4, r4, r8
  implicit none
  private

  ! Descriptors hold only ids of the library, so programs may copy, extend and set them.
  type, public :: iosystem_desc_t
    integer(c_int) :: iosysid = -1
  end type iosystem_desc_t

  type, public :: file_desc_t
    integer(c_int) :: fh
    type(iosystem_desc_t), pointer :: iosystem => null()
  end type file_desc_t

  ! varid counts from 1; pio_global means the file's own attributes.
  type, public :: var_desc_t
    integer(i4) :: varid
    integer(i4) :: ncid
  end type var_desc_t

  type, public :: io_desc_t
    integer(i4) :: ioid
  end type io_desc_t

  type, public :: decompmap_t
    integer(i4) :: start
    integer(i4) :: length
  end type decompmap_t

  type, bind(c), public :: pio_rearr_comm_fc_opt_t
    logical(c_bool) :: enable_hs
    logical(c_bool) :: enable_isend
    integer(c_int) :: max_pend_req
  end type pio_rearr_comm_fc_opt_t

  type, bind(c), public :: pio_rearr_opt_t
    integer(c_int) :: comm_type
    integer(c_int) :: fcd
    type(pio_rearr_comm_fc_opt_t) :: comm_fc_opts_comp2io
    type(pio_rearr_comm_fc_opt_t) :: comm_fc_opts_io2comp
  end type pio_rearr_opt_t

  integer(i4), parameter, public :: pio_iotype_pnetcdf = 1
  integer(i4), parameter, public :: pio_iotype_netcdf = 2
  integer(i4), parameter, public :: pio_iotype_netcdf4c = 3
  integer(i4), parameter, public :: pio_iotype_netcdf4p = 4
  integer(i4), parameter, public :: iotype_pnetcdf = pio_iotype_pnetcdf
  integer(i4), parameter, public :: iotype_netcdf = pio_iotype_netcdf
  ! Values of SCORPIO.
  integer(i4), parameter, public :: pio_iotype_netcdf4p_nczarr = 5
  integer(i4), parameter, public :: pio_iotype_adios = 6
  integer(i4), parameter, public :: pio_iotype_adiosc = 7
  integer(i4), parameter, public :: pio_iotype_hdf5 = 8
  integer(i4), parameter, public :: pio_iotype_hdf5c = 9

  integer(i4), parameter, public :: pio_rearr_box = 1
  integer(i4), parameter, public :: pio_rearr_subset = 2
  integer(i4), parameter, public :: pio_rearr_any = 3    ! SCORPIO's
  integer(i4), parameter, public :: pio_rearr_contig = 4 ! SCORPIO's

  ! SCORPIO has pio_reduce_error -53 and pio_return_error -54.
  integer(i4), parameter, public :: pio_internal_error = -51
  integer(i4), parameter, public :: pio_bcast_error = -52
  integer(i4), parameter, public :: pio_return_error = -53
  integer(i4), parameter, public :: pio_reduce_error = -54
  integer(i4), parameter, public :: pio_default = -1

  integer, parameter, public :: pio_noerr = 0
  integer, parameter, public :: pio_global = 0
  integer, parameter, public :: pio_unlimited = 0
  integer, parameter, public :: pio_char = 2
  integer, parameter, public :: pio_short = 3
  integer, parameter, public :: pio_int = 4
  integer, parameter, public :: pio_real = 5
  integer, parameter, public :: pio_double = 6

  integer, parameter, public :: pio_write = 1
  integer, parameter, public :: pio_nowrite = 0
  integer, parameter, public :: pio_clobber = 0
  integer, parameter, public :: pio_noclobber = 4
  integer, parameter, public :: pio_fill = 0
  integer, parameter, public :: pio_nofill = 256
  integer, parameter, public :: pio_64bit_offset = 512
  integer, parameter, public :: pio_64bit_data = 32

  ! Storage of variables in netCDF-4 files: SCORPIO's names, netCDF's values.
  integer, parameter, public :: pio_chunked = 0
  integer, parameter, public :: pio_contiguous = 1
  integer, parameter, public :: pio_compact = 2

  integer, parameter, public :: pio_noquantize = 0
  integer, parameter, public :: pio_quantize_bitgroom = 1
  integer, parameter, public :: pio_quantize_granularbr = 2
  integer, parameter, public :: pio_quantize_bitround = 3

  integer, parameter, public :: pio_max_name = 256
  integer, parameter, public :: pio_max_var_dims = 6
  integer, parameter, public :: pio_max_dims = 1024
  integer, parameter, public :: pio_max_attrs = 8192
  integer, parameter, public :: pio_max_vars = 8192
  integer, parameter, public :: pio_num_ost = 16

  integer, parameter, public :: pio_fill_char = 0
  integer, parameter, public :: pio_fill_int = -2147483647
  real(r4), parameter, public :: pio_fill_float = 9.9692099683868690e+36_r4
  real(r8), parameter, public :: pio_fill_double = 9.9692099683868690e+36_r8

  integer, parameter, public :: pio_iosysid_invalid = -1
  integer, parameter, public :: pio_fh_invalid = -1
  integer, parameter, public :: pio_ioid_invalid = -1
  integer, parameter, public :: pio_varid_invalid = -1
  integer, parameter, public :: pio_einternal = -501

  integer, parameter, public :: pio_rearr_comm_unlimited_pend_req = -1
  enum, bind(c)
    enumerator :: pio_rearr_comm_p2p = 0
    enumerator :: pio_rearr_comm_coll = 1
  end enum
  enum, bind(c)
    enumerator :: pio_rearr_comm_fc_2d_enable = 0
    enumerator :: pio_rearr_comm_fc_1d_comp2io = 1
    enumerator :: pio_rearr_comm_fc_1d_io2comp = 2
    enumerator :: pio_rearr_comm_fc_2d_disable = 3
  end enum
  public :: pio_rearr_comm_p2p, pio_rearr_comm_coll
  public :: pio_rearr_comm_fc_2d_enable, pio_rearr_comm_fc_1d_comp2io
  public :: pio_rearr_comm_fc_1d_io2comp, pio_rearr_comm_fc_2d_disable
end module pio_types
