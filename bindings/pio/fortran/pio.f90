! The module that programs use: the names of PIO 2 and of SCORPIO.
! SPDX-License-Identifier: Apache-2.0
module pio
  use iso_c_binding ! PIO's module re-exports it
  use pio_kinds, only: pio_offset_kind
  use pio_nf
  use pio_nf_utils, only: pio_copy_att
  use pio_support, only: pio_read_nc_dof, pio_readdof, pio_write_nc_dof, pio_writedof
  use pio_types, only: file_desc_t, io_desc_t, iosystem_desc_t, pio_rearr_comm_fc_opt_t, &
    pio_rearr_opt_t, var_desc_t
  use pio_types, only: iotype_netcdf, iotype_pnetcdf, pio_iotype_netcdf, pio_iotype_netcdf4c, &
    pio_iotype_netcdf4p, pio_iotype_pnetcdf
  use pio_types, only: pio_iotype_adios, pio_iotype_adiosc, pio_iotype_hdf5, pio_iotype_hdf5c, &
    pio_iotype_netcdf4p_nczarr
  use pio_types, only: pio_rearr_any, pio_rearr_box, pio_rearr_contig, pio_rearr_subset
  use pio_types, only: pio_rearr_comm_coll, pio_rearr_comm_fc_1d_comp2io, &
    pio_rearr_comm_fc_1d_io2comp, pio_rearr_comm_fc_2d_disable, pio_rearr_comm_fc_2d_enable, &
    pio_rearr_comm_p2p, pio_rearr_comm_unlimited_pend_req
  use pio_types, only: pio_bcast_error, pio_default, pio_internal_error, pio_noerr, &
    pio_reduce_error, pio_return_error
  use pio_types, only: pio_char, pio_double, pio_int, pio_real, pio_short
  use pio_types, only: pio_64bit_data, pio_64bit_offset, pio_clobber, pio_fill, pio_global, &
    pio_max_name, pio_max_var_dims, pio_noclobber, pio_nofill, pio_nowrite, pio_unlimited, pio_write
  use pio_types, only: pio_fill_char, pio_fill_double, pio_fill_float, pio_fill_int
  use pio_types, only: pio_chunked, pio_compact, pio_contiguous
  use pio_types, only: pio_noquantize, pio_quantize_bitgroom, pio_quantize_bitround, &
    pio_quantize_granularbr
  use piodarray, only: pio_read_darray, pio_set_buffer_size_limit, pio_write_darray
  use piolib_mod
  use pionfatt_mod, only: pio_get_att => get_att, pio_inq_var_fill => inq_var_fill, &
    pio_put_att => put_att
  use pionfget_mod, only: pio_get_var => get_var
  use pionfput_mod, only: pio_put_var => put_var
  implicit none
  public

  ! The version of SCORPIO whose names are available.
  integer, parameter, private :: version(3) = [1, 7, 0]

contains

  integer function pio_get_version_major()
    pio_get_version_major = version(1)
  end function pio_get_version_major

  integer function pio_get_version_minor()
    pio_get_version_minor = version(2)
  end function pio_get_version_minor

  integer function pio_get_version_patch()
    pio_get_version_patch = version(3)
  end function pio_get_version_patch

  integer function pio_get_version_string(vstr) result(ierr)
    character(len=*), intent(out) :: vstr
    character(len=40) :: text

    write (text, '(i0, 2(".", i0), a)') version, ' (Thalweg)'
    vstr = text
    ierr = pio_noerr
  end function pio_get_version_string

  ! Returns an empty text, as there is no hash.
  integer function pio_get_version_hash(vstr) result(ierr)
    character(len=*), intent(out) :: vstr

    vstr = ' '
    ierr = pio_noerr
  end function pio_get_version_hash

  integer function pio_get_version(major, minor, patch, vstr) result(ierr)
    integer, intent(out), optional :: major, minor, patch
    character(len=*), intent(out), optional :: vstr

    ierr = pio_noerr
    if (present(major)) major = version(1)
    if (present(minor)) minor = version(2)
    if (present(patch)) patch = version(3)
    if (present(vstr)) ierr = pio_get_version_string(vstr)
  end function pio_get_version
end module pio
