! Helpers shared by the modules of PIO's interface: text to and from C, sections of variables,
! errors that only Fortran can find. Programs do not use this module.
! SPDX-License-Identifier: Apache-2.0
module pio_helpers
  use iso_c_binding, only: c_char, c_null_char
  use iso_fortran_env, only: error_unit
  use mpi_f08, only: mpi_abort, mpi_comm_world
  use pio_c
  use pio_kinds, only: pio_offset_kind
  use pio_types, only: file_desc_t, iosystem_desc_t, pio_internal_error, pio_noerr, pio_return_error
  implicit none
  private

  public :: to_c, from_c, take_name, raise, settle, section, whole, one, element

  integer, parameter, public :: nc_einval = -36 ! an argument is invalid
  integer, parameter, public :: nc_ests = -41   ! the character variable is too short
  integer, parameter, public :: longest_name = 1024

contains

  ! Converts a text to C, without trailing blanks.
  pure function to_c(text) result(c_text)
    character(len=*), intent(in) :: text
    character(kind=c_char, len=len_trim(text) + 1) :: c_text

    c_text = trim(text)//c_null_char
  end function to_c

  ! Converts a C text up to its NUL, padded with blanks. fits: the text fits, or only blanks were
  ! cut off.
  subroutine from_c(c_text, text, fits)
    character(kind=c_char), intent(in) :: c_text(:)
    character(len=*), intent(inout) :: text
    logical, intent(inout), optional :: fits
    integer :: i

    text = ' '
    do i = 1, size(c_text)
      if (c_text(i) == c_null_char) exit
      if (i <= len(text)) then
        text(i:i) = c_text(i)
      else if (c_text(i) /= ' ' .and. present(fits)) then
        fits = .false.
      end if
    end do
  end subroutine from_c

  ! Stores a name from C. Returns an error if it does not fit.
  integer function take_name(c_text, name, call_name, iosystem) result(ierr)
    character(kind=c_char), intent(in) :: c_text(:)
    character(len=*), intent(inout) :: name
    character(len=*), intent(in) :: call_name
    type(iosystem_desc_t), pointer, intent(in), optional :: iosystem
    logical :: fits

    fits = .true.
    call from_c(c_text, name, fits)
    ierr = pio_noerr
    if (.not. fits) ierr = raise(nc_ests, call_name, iosystem)
  end function take_name

  ! Returns the code of an error that Fortran itself has found. With PIO_INTERNAL_ERROR the program
  ! ends, as with errors that the library finds. Without an iosystem the code is only returned.
  integer function raise(code, message, iosystem) result(ierr)
    integer, intent(in) :: code
    character(len=*), intent(in) :: message
    type(iosystem_desc_t), pointer, intent(in), optional :: iosystem
    integer :: method, ignored

    ierr = code
    if (.not. present(iosystem)) return
    if (.not. associated(iosystem)) return
    method = PIOc_Set_IOSystem_Error_Handling(iosystem%iosysid, pio_return_error)
    ignored = PIOc_Set_IOSystem_Error_Handling(iosystem%iosysid, method)
    if (method /= pio_internal_error) return
    write (error_unit, '(4a)') 'PIO: ', message, ': ', description(code)
    call mpi_abort(mpi_comm_world, 1, ignored)
  end function raise

  ! Ends a subroutine with an optional ierr. Without ierr, prints the text of an error that does not
  ! end the program, as it would go unnoticed.
  subroutine settle(code, name, iosysid, ierr)
    integer, intent(in) :: code
    character(len=*), intent(in) :: name
    integer, intent(in) :: iosysid
    integer, intent(out), optional :: ierr
    integer :: rank, ignored

    if (present(ierr)) then
      ierr = code
    else if (code /= pio_noerr) then
      rank = 0
      ignored = PIOc_iotask_rank(iosysid, rank)
      if (rank == 0) write (error_unit, '(4a)') 'PIO: ', name, ': ', description(code)
    end if
  end subroutine settle

  function description(code) result(text)
    integer, intent(in) :: code
    character(len=:), allocatable :: text
    character(kind=c_char) :: buffer(longest_name)
    character(len=longest_name) :: line
    integer :: ignored

    buffer = c_null_char
    ignored = PIOc_strerror(code, buffer)
    call from_c(buffer, line)
    text = trim(line)
  end function description

  ! Converts start and count for C. The program's arrays may be longer than the variable's number of
  ! dimensions, if the additional counts are 1 or less. Missing numbers become -1, which the library
  ! refuses on all ranks alike; an error raised here could occur on one rank only.
  subroutine section(ncid, varid, start, count, c_start, c_count)
    integer, intent(in) :: ncid, varid, start(:), count(:)
    integer(pio_offset_kind), allocatable, intent(out) :: c_start(:), c_count(:)
    integer :: ndims, i

    ndims = size(start)
    if (PIOc_inq_varndims(ncid, varid - 1, ndims) /= pio_noerr) ndims = size(start)
    allocate (c_start(ndims), c_count(ndims), source=-1_pio_offset_kind)
    do i = 1, min(ndims, size(start))
      c_start(ndims - i + 1) = start(i) - 1
    end do
    do i = 1, min(ndims, size(count))
      c_count(ndims - i + 1) = count(i)
    end do
    if (ndims == 0) return
    if (any(count(ndims + 1:) > 1)) c_count = -1
  end subroutine section

  ! Returns start and count of the whole variable, with the records that it has.
  subroutine whole(ncid, varid, c_start, c_count)
    integer, intent(in) :: ncid, varid
    integer(pio_offset_kind), allocatable, intent(out) :: c_start(:), c_count(:)
    integer, allocatable :: dimids(:)
    integer :: ndims, i, ignored

    ndims = 0
    ignored = PIOc_inq_varndims(ncid, varid - 1, ndims)
    allocate (c_start(ndims), source=0_pio_offset_kind)
    allocate (c_count(ndims), source=-1_pio_offset_kind)
    allocate (dimids(ndims), source=-1)
    if (ndims == 0) return
    ignored = PIOc_inq_vardimid(ncid, varid - 1, dimids)
    do i = 1, ndims
      ignored = PIOc_inq_dimlen(ncid, dimids(i), c_count(i))
    end do
  end subroutine whole

  subroutine one(ncid, varid, index, c_start, c_count)
    integer, intent(in) :: ncid, varid, index(:)
    integer(pio_offset_kind), allocatable, intent(out) :: c_start(:), c_count(:)

    call section(ncid, varid, index, spread(1, 1, size(index)), c_start, c_count)
  end subroutine one

  ! Returns start and count of the element at an index, up to the end of the fastest dimension. For
  ! a text variable, the index may leave out the dimension of the characters.
  subroutine element(ncid, varid, index, c_start, c_count)
    integer, intent(in) :: ncid, varid, index(:)
    integer(pio_offset_kind), allocatable, intent(out) :: c_start(:), c_count(:)
    integer(pio_offset_kind), allocatable :: lengths(:), origin(:)
    integer :: ndims

    call whole(ncid, varid, origin, lengths)
    ndims = size(lengths)
    if (size(index) == ndims - 1) then
      call section(ncid, varid, [1, index], spread(1, 1, ndims), c_start, c_count)
    else
      call one(ncid, varid, index, c_start, c_count)
    end if
    if (ndims > 0) c_count(ndims) = lengths(ndims) - c_start(ndims)
  end subroutine element

end module pio_helpers
