! The parts of PIO's modules that relink.f90 uses, as in another build of libpiof. A program is
! compiled and linked with this file, and run with the real libpiof. A change of these interfaces
! needs another SONAME.
! SPDX-License-Identifier: Apache-2.0
module pio_types
  use iso_c_binding, only: c_bool, c_int
  implicit none

  type :: iosystem_desc_t
    integer(c_int) :: iosysid = -1
  end type iosystem_desc_t

  type :: file_desc_t
    integer(c_int) :: fh
    type(iosystem_desc_t), pointer :: iosystem => null()
  end type file_desc_t

  type :: var_desc_t
    integer :: varid
    integer :: ncid
  end type var_desc_t

  type :: io_desc_t
    integer :: ioid
  end type io_desc_t

  type, bind(c) :: pio_rearr_comm_fc_opt_t
    logical(c_bool) :: enable_hs
    logical(c_bool) :: enable_isend
    integer(c_int) :: max_pend_req
  end type pio_rearr_comm_fc_opt_t

  type, bind(c) :: pio_rearr_opt_t
    integer(c_int) :: comm_type
    integer(c_int) :: fcd
    type(pio_rearr_comm_fc_opt_t) :: comm_fc_opts_comp2io
    type(pio_rearr_comm_fc_opt_t) :: comm_fc_opts_io2comp
  end type pio_rearr_opt_t

  integer, parameter :: r8 = selected_real_kind(13)
  integer, parameter :: pio_offset_kind = selected_int_kind(13)
  integer, parameter :: unset = -7777 ! value that the real library does not use
end module pio_types

module piolib_mod
  use pio_types
  implicit none

  interface pio_init
    module procedure init_intracom
  end interface pio_init

  interface pio_initdecomp
    module procedure initdecomp_dof_i4
  end interface pio_initdecomp

  interface pio_freedecomp
    module procedure freedecomp_ios
  end interface pio_freedecomp

  interface pio_setframe
    module procedure setframe
  end interface pio_setframe

  interface pio_seterrorhandling
    module procedure seterrorhandlingiosystem
  end interface pio_seterrorhandling

contains

  subroutine init_intracom(comp_rank, comp_comm, num_iotasks, num_aggregator, stride, rearr, &
    iosystem, base, rearr_opts)
    integer, intent(in) :: comp_rank, comp_comm, num_iotasks, num_aggregator, stride, rearr
    type(iosystem_desc_t), intent(out) :: iosystem
    integer, intent(in), optional :: base
    type(pio_rearr_opt_t), intent(in), optional, target :: rearr_opts
    iosystem%iosysid = unset
    if (comp_rank + comp_comm + num_iotasks + num_aggregator + stride + rearr == unset) return
    if (present(base) .or. present(rearr_opts)) return
  end subroutine init_intracom

  subroutine pio_finalize(iosystem, ierr)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(out) :: ierr
    ierr = unset + iosystem%iosysid
  end subroutine pio_finalize

  subroutine initdecomp_dof_i4(iosystem, basepiotype, dims, compdof, iodesc, rearr, iostart, &
    iocount, ierr)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: basepiotype
    integer, intent(in) :: dims(:)
    integer, intent(in) :: compdof(:)
    type(io_desc_t), intent(inout) :: iodesc
    integer, intent(in), optional, target :: rearr
    integer(pio_offset_kind), intent(in), optional :: iostart(:), iocount(:)
    integer, intent(out), optional :: ierr
    iodesc%ioid = unset + iosystem%iosysid + basepiotype + size(dims) + size(compdof)
    if (present(rearr) .or. present(iostart) .or. present(iocount)) return
    if (present(ierr)) ierr = unset
  end subroutine initdecomp_dof_i4

  subroutine freedecomp_ios(ios, iodesc, ierr)
    type(iosystem_desc_t), intent(in) :: ios
    type(io_desc_t), intent(in) :: iodesc
    integer, intent(out), optional :: ierr
    if (present(ierr)) ierr = unset + ios%iosysid + iodesc%ioid
  end subroutine freedecomp_ios

  integer function pio_createfile(iosystem, file, iotype, fname, amode_in) result(ierr)
    type(iosystem_desc_t), intent(in), target :: iosystem
    type(file_desc_t), intent(inout) :: file
    integer, intent(in) :: iotype
    character(len=*), intent(in) :: fname
    integer, intent(in), optional :: amode_in
    file%fh = unset
    ierr = unset + iosystem%iosysid + iotype + len(fname)
    if (present(amode_in)) ierr = unset
  end function pio_createfile

  integer function pio_openfile(iosystem, file, iotype, fname, mode) result(ierr)
    type(iosystem_desc_t), intent(in), target :: iosystem
    type(file_desc_t), intent(inout) :: file
    integer, intent(in) :: iotype
    character(len=*), intent(in) :: fname
    integer, intent(in), optional :: mode
    file%fh = unset
    ierr = unset + iosystem%iosysid + iotype + len(fname)
    if (present(mode)) ierr = unset
  end function pio_openfile

  subroutine pio_closefile(file, ierr)
    type(file_desc_t), intent(inout) :: file
    integer, intent(out), optional :: ierr
    file%fh = unset
    if (present(ierr)) ierr = unset
  end subroutine pio_closefile

  subroutine setframe(file, vardesc, frame, ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    integer(pio_offset_kind), intent(in) :: frame
    integer, intent(out), optional :: ierr
    if (present(ierr)) ierr = unset + file%fh + vardesc%varid + int(frame)
  end subroutine setframe

  subroutine seterrorhandlingiosystem(iosystem, method, oldmethod)
    type(iosystem_desc_t), intent(in) :: iosystem
    integer, intent(in) :: method
    integer, intent(out), optional :: oldmethod
    if (present(oldmethod)) oldmethod = unset + iosystem%iosysid + method
  end subroutine seterrorhandlingiosystem
end module piolib_mod

module pio_nf
  use pio_types
  implicit none

  interface pio_def_dim
    module procedure def_dim_int_file
  end interface pio_def_dim

  interface pio_def_var
    module procedure def_var_md_desc
  end interface pio_def_var

  interface pio_enddef
    module procedure enddef_file
  end interface pio_enddef

  interface pio_inq_varid
    module procedure inq_varid_desc
  end interface pio_inq_varid

contains

  integer function def_dim_int_file(file, name, len, dimid) result(ierr)
    type(file_desc_t), intent(in) :: file
    character(len=*), intent(in) :: name
    integer, intent(in) :: len
    integer, intent(inout) :: dimid
    dimid = unset
    ierr = unset + file%fh + ichar(name(1:1)) + len
  end function def_dim_int_file

  integer function def_var_md_desc(file, name, type, dimids, vardesc) result(ierr)
    type(file_desc_t), intent(in) :: file
    character(len=*), intent(in) :: name
    integer, intent(in) :: type
    integer, intent(in) :: dimids(:)
    type(var_desc_t), intent(inout) :: vardesc
    vardesc%varid = unset
    ierr = unset + file%fh + len(name) + type + size(dimids)
  end function def_var_md_desc

  integer function enddef_file(file) result(ierr)
    type(file_desc_t), intent(in) :: file
    ierr = unset + file%fh
  end function enddef_file

  integer function inq_varid_desc(file, name, vardesc) result(ierr)
    type(file_desc_t), intent(in) :: file
    character(len=*), intent(in) :: name
    type(var_desc_t), intent(inout) :: vardesc
    vardesc%varid = unset
    ierr = unset + file%fh + len(name)
  end function inq_varid_desc
end module pio_nf

module piodarray
  use pio_types
  implicit none

  interface pio_write_darray
    module procedure write_darray_1d_double
  end interface pio_write_darray

  interface pio_read_darray
    module procedure read_darray_1d_double
  end interface pio_read_darray

contains

  subroutine write_darray_1d_double(file, vardesc, iodesc, array, iostat, fillval)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    type(io_desc_t), intent(in) :: iodesc
    real(r8), intent(in), target :: array(:)
    integer, intent(out) :: iostat
    real(r8), intent(in), optional :: fillval
    iostat = unset + file%fh + vardesc%varid + iodesc%ioid + size(array)
    if (present(fillval)) iostat = unset
  end subroutine write_darray_1d_double

  subroutine read_darray_1d_double(file, vardesc, iodesc, array, iostat)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    type(io_desc_t), intent(in) :: iodesc
    real(r8), intent(inout), target :: array(:)
    integer, intent(out) :: iostat
    array = unset
    iostat = unset + file%fh + vardesc%varid + iodesc%ioid
  end subroutine read_darray_1d_double
end module piodarray

module pionfput_mod
  use pio_types
  implicit none

  interface put_var
    module procedure put_var_0d_desc_double
  end interface put_var

contains

  integer function put_var_0d_desc_double(file, vardesc, ival) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    real(r8), intent(in) :: ival
    ierr = unset + file%fh + vardesc%varid + int(ival)
  end function put_var_0d_desc_double
end module pionfput_mod

module pionfatt_mod
  use pio_types
  implicit none

  interface put_att
    module procedure put_att_desc_text
  end interface put_att

  interface get_att
    module procedure get_att_desc_text
  end interface get_att

contains

  integer function put_att_desc_text(file, vardesc, name, values) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    character(len=*), intent(in) :: name
    character(len=*), intent(in) :: values
    ierr = unset + file%fh + vardesc%varid + len(name) + len(values)
  end function put_att_desc_text

  integer function get_att_desc_text(file, vardesc, name, values) result(ierr)
    type(file_desc_t), intent(in) :: file
    type(var_desc_t), intent(in) :: vardesc
    character(len=*), intent(in) :: name
    character(len=*), intent(inout) :: values
    values = ''
    ierr = unset + file%fh + vardesc%varid + len(name)
  end function get_att_desc_text
end module pionfatt_mod
