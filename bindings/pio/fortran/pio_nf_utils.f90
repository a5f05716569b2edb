! SCORPIO's copies of attributes and variables from file to file.
! SPDX-License-Identifier: Apache-2.0
module pio_nf_utils
  use pio_helpers, only: raise
  use pio_kinds, only: i2, i4, pio_offset_kind, r4, r8
  use pio_nf, only: pio_inq_att, pio_inq_vartype
  use pio_types, only: file_desc_t, pio_char, pio_double, pio_int, pio_noerr, pio_real, pio_short, &
    var_desc_t
  use pionfatt_mod, only: get_att, put_att
  use pionfget_mod, only: get_var
  use pionfput_mod, only: put_var
  implicit none
  private

  public :: copy_pio_var, pio_copy_att

  interface copy_pio_var
    module procedure copy_pio_var01d, copy_pio_var2d
  end interface copy_pio_var

  integer, parameter :: nc_ebadtype = -45

contains

  integer function pio_copy_att(from_file, from_varid, attname, to_file, to_varid) result(ierr)
    type(file_desc_t), intent(in) :: from_file
    integer, intent(in) :: from_varid
    character(len=*), intent(in) :: attname
    type(file_desc_t), intent(in) :: to_file
    integer, intent(in) :: to_varid
    integer(i4), allocatable :: ints(:)
    integer(i2), allocatable :: shorts(:)
    real(r4), allocatable :: reals(:)
    real(r8), allocatable :: doubles(:)
    character(len=:), allocatable :: text
    integer(pio_offset_kind) :: length
    integer :: xtype

    ierr = pio_inq_att(from_file, from_varid, attname, xtype, length)
    if (ierr /= pio_noerr) return
    select case (xtype)
    case (pio_char)
      allocate (character(len=length) :: text)
      ierr = get_att(from_file, from_varid, attname, text)
      if (ierr == pio_noerr) ierr = put_att(to_file, to_varid, attname, text)
    case (pio_int)
      allocate (ints(length))
      ierr = get_att(from_file, from_varid, attname, ints)
      if (ierr == pio_noerr) ierr = put_att(to_file, to_varid, attname, ints)
    case (pio_short)
      allocate (shorts(length))
      ierr = get_att(from_file, from_varid, attname, shorts)
      if (ierr == pio_noerr) ierr = put_att(to_file, to_varid, attname, shorts)
    case (pio_real)
      allocate (reals(length))
      ierr = get_att(from_file, from_varid, attname, reals)
      if (ierr == pio_noerr) ierr = put_att(to_file, to_varid, attname, reals)
    case (pio_double)
      allocate (doubles(length))
      ierr = get_att(from_file, from_varid, attname, doubles)
      if (ierr == pio_noerr) ierr = put_att(to_file, to_varid, attname, doubles)
    case default
      ierr = raise(nc_ebadtype, 'PIO_copy_att: '//trim(attname)//' is of another type', &
        from_file%iosystem)
    end select
  end function pio_copy_att

  ! Copies a variable. varsz: number of values; for a text variable, the length of each string.
  ! strlength: number of strings (default: 1).
  subroutine copy_pio_var01d(ifile, ofile, ivdesc, ovdesc, varsz, strlength, ierr)
    type(file_desc_t), intent(in) :: ifile, ofile
    type(var_desc_t), intent(in) :: ivdesc, ovdesc
    integer, intent(in) :: varsz
    integer, intent(in), optional :: strlength
    integer, intent(out), optional :: ierr
    integer :: xtype, code, strings

    strings = 1
    if (present(strlength)) strings = strlength
    code = pio_inq_vartype(ifile, ivdesc, xtype)
    if (code == pio_noerr) then
      if (xtype == pio_char) then
        code = copy_text(ifile, ofile, ivdesc, ovdesc, varsz, strings)
      else
        code = copy_numbers(ifile, ofile, ivdesc, ovdesc, xtype, varsz)
      end if
    end if
    if (present(ierr)) ierr = code
  end subroutine copy_pio_var01d

  subroutine copy_pio_var2d(ifile, ofile, ivdesc, ovdesc, varsz, ierr)
    type(file_desc_t), intent(in) :: ifile, ofile
    type(var_desc_t), intent(in) :: ivdesc, ovdesc
    integer, intent(in) :: varsz(:)
    integer, intent(out), optional :: ierr
    integer :: xtype, code

    code = pio_inq_vartype(ifile, ivdesc, xtype)
    if (code == pio_noerr) then
      code = copy_numbers(ifile, ofile, ivdesc, ovdesc, xtype, product(varsz))
    end if
    if (present(ierr)) ierr = code
  end subroutine copy_pio_var2d

  integer function copy_text(ifile, ofile, ivdesc, ovdesc, length, strings) result(ierr)
    type(file_desc_t), intent(in) :: ifile, ofile
    type(var_desc_t), intent(in) :: ivdesc, ovdesc
    integer, intent(in) :: length, strings
    character(len=length) :: text(strings)

    ierr = get_var(ifile, ivdesc, text)
    if (ierr == pio_noerr) ierr = put_var(ofile, ovdesc, text)
  end function copy_text

  ! Copies integers as integers, and all other numbers as real(r8), which holds them exactly.
  integer function copy_numbers(ifile, ofile, ivdesc, ovdesc, xtype, length) result(ierr)
    type(file_desc_t), intent(in) :: ifile, ofile
    type(var_desc_t), intent(in) :: ivdesc, ovdesc
    integer, intent(in) :: xtype, length
    integer(i4), allocatable :: ints(:)
    real(r8), allocatable :: doubles(:)

    if (xtype == pio_int) then
      allocate (ints(length))
      ierr = get_var(ifile, ivdesc, ints)
      if (ierr == pio_noerr) ierr = put_var(ofile, ovdesc, ints)
    else
      allocate (doubles(length))
      ierr = get_var(ifile, ivdesc, doubles)
      if (ierr == pio_noerr) ierr = put_var(ofile, ovdesc, doubles)
    end if
  end function copy_numbers
end module pio_nf_utils
