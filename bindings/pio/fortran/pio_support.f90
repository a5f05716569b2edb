! Helpers of PIO that programs may use.
! SPDX-License-Identifier: Apache-2.0
module pio_support
  use iso_c_binding, only: c_f_pointer, c_null_char, c_null_ptr, c_ptr
  use iso_fortran_env, only: error_unit
  use mpi_f08, only: mpi_abort, mpi_comm_world, mpi_error_string, mpi_max_error_string, mpi_success
  use pio_c
  use pio_helpers, only: to_c
  use pio_kinds, only: pio_offset_kind
  use pio_types, only: io_desc_t, iosystem_desc_t, pio_double, pio_max_name, pio_noerr
  implicit none
  private

  public :: piodie, checkmpireturn, replace_c_null, pio_readdof, pio_writedof
  public :: pio_read_nc_dof, pio_write_nc_dof

  logical, public :: debug = .false.
  logical, public :: debugio = .false.
  logical, public :: debugasync = .false.

contains

  ! Prints the place and the reason, and ends the program on all ranks.
  subroutine piodie(file, line, msg, ival1, msg2, ival2, msg3, ival3, mpirank)
    character(len=*), intent(in) :: file
    integer, intent(in) :: line
    character(len=*), intent(in), optional :: msg, msg2, msg3
    integer, intent(in), optional :: ival1, ival2, ival3, mpirank
    integer :: ierr

    if (present(mpirank)) write (error_unit, '(a, i0, a)', advance='no') 'rank ', mpirank, ': '
    write (error_unit, '(2a, i0, a)', advance='no') file, ':', line, ':'
    call add(msg, ival1)
    call add(msg2, ival2)
    call add(msg3, ival3)
    write (error_unit, '(a)') ''
    call mpi_abort(mpi_comm_world, 1, ierr)
  contains
    subroutine add(text, number)
      character(len=*), intent(in), optional :: text
      integer, intent(in), optional :: number

      if (present(text)) write (error_unit, '(2a)', advance='no') ' ', text
      if (present(number)) write (error_unit, '(a, i0)', advance='no') ' ', number
    end subroutine add
  end subroutine piodie

  ! Ends the program if an MPI function failed.
  subroutine checkmpireturn(locmesg, errcode, file, line)
    character(len=*), intent(in) :: locmesg
    integer, intent(in) :: errcode
    character(len=*), intent(in), optional :: file
    integer, intent(in), optional :: line
    character(len=mpi_max_error_string) :: text
    integer :: length, ierr

    if (errcode == mpi_success) return
    call mpi_error_string(errcode, text, length, ierr)
    write (error_unit, '(3a)') locmesg, ' ', text(:length)
    if (present(file) .and. present(line)) call piodie(file, line)
  end subroutine checkmpireturn

  ! Replaces everything from the first NUL on by blanks.
  subroutine replace_c_null(istr, ilen)
    character(len=*), intent(inout) :: istr
    integer(pio_offset_kind), intent(in), optional :: ilen
    integer :: first, last

    last = len(istr)
    if (present(ilen)) last = int(ilen)
    first = index(istr(:last), c_null_char)
    if (first > 0) istr(first:last) = ' '
  end subroutine replace_c_null

  subroutine pio_writedof(file, gdims, dof, comm)
    character(len=*), intent(in) :: file
    integer, intent(in) :: gdims(:)
    integer(pio_offset_kind), intent(in) :: dof(:)
    integer, intent(in) :: comm

    call report(file, PIOc_writemap_from_f90(to_c(file), size(gdims), gdims, &
      size(dof, kind=pio_offset_kind), dof, comm))
  end subroutine pio_writedof

  subroutine pio_readdof(file, ndims, gdims, dof, comm)
    character(len=*), intent(in) :: file
    integer, intent(out) :: ndims
    integer, pointer :: gdims(:)
    integer(pio_offset_kind), pointer :: dof(:)
    integer, intent(in) :: comm
    integer(pio_offset_kind) :: length
    type(c_ptr) :: c_dims, c_map
    integer :: ierr

    ndims = 0
    length = 0
    c_dims = c_null_ptr
    c_map = c_null_ptr
    nullify (gdims, dof)
    ierr = PIOc_readmap_from_f90(to_c(file), ndims, c_dims, length, c_map, comm)
    call report(file, ierr)
    if (ierr /= pio_noerr) return
    call c_f_pointer(c_dims, gdims, [ndims])
    call c_f_pointer(c_map, dof, [length])
  end subroutine pio_readdof

  ! Writes a decomposition as a netCDF file.
  subroutine pio_write_nc_dof(ios, filename, cmode, iodesc, ret, title, history, fortran_order)
    type(iosystem_desc_t), intent(in) :: ios
    character(len=*), intent(in) :: filename
    integer, intent(in) :: cmode
    type(io_desc_t), intent(in) :: iodesc
    integer, intent(out) :: ret
    character(len=*), intent(in), optional :: title, history
    logical, intent(in), optional :: fortran_order
    integer :: order

    order = 0
    if (present(fortran_order)) order = merge(1, 0, fortran_order)
    ret = PIOc_write_nc_decomp(ios%iosysid, to_c(filename), cmode, iodesc%ioid, given(title), &
      given(history), order)
  contains
    ! Returns the text, or an empty one if there is none.
    function given(text)
      character(len=*), intent(in), optional :: text
      character(len=:), allocatable :: given

      given = c_null_char
      if (present(text)) given = to_c(text)
    end function given
  end subroutine pio_write_nc_dof

  ! Makes a decomposition from a netCDF file that pio_write_nc_dof has written.
  subroutine pio_read_nc_dof(ios, filename, iodesc, ret, title, history, fortran_order)
    type(iosystem_desc_t), intent(in) :: ios
    character(len=*), intent(in) :: filename
    type(io_desc_t), intent(inout) :: iodesc
    integer, intent(out) :: ret
    character(len=*), intent(inout), optional :: title, history
    logical, intent(inout), optional :: fortran_order
    character(len=pio_max_name + 1) :: c_title, c_history
    integer :: order

    order = 0
    ret = PIOc_read_nc_decomp_from_f90(ios%iosysid, to_c(filename), iodesc%ioid, pio_double, &
      c_title, c_history, order)
    if (ret /= pio_noerr) return
    call replace_c_null(c_title)
    call replace_c_null(c_history)
    if (present(title)) title = c_title
    if (present(history)) history = c_history
    if (present(fortran_order)) fortran_order = order /= 0
  end subroutine pio_read_nc_dof

  ! Prints an error, because PIO's subroutines for text files return no code.
  subroutine report(file, ierr)
    character(len=*), intent(in) :: file
    integer, intent(in) :: ierr

    if (ierr /= pio_noerr) write (error_unit, '(3a, i0)') 'PIO: ', trim(file), ': error ', ierr
  end subroutine report
end module pio_support
