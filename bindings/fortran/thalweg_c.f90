! SPDX-License-Identifier: Apache-2.0
!
!> Helpers of module thalweg for calling C: errors, texts, names in C's order, and the forms that
!> several of C's functions have. Internal.
module thalweg_c
  use, intrinsic :: iso_c_binding
  implicit none
  private

  public :: check, c_text, c_settings, f_text, name_count, reversed
  public :: handle_function, ending_function, opening_function, pair_function

  !> Largest number of dimensions of a variable.
  integer, parameter, public :: most_dims = 16

  abstract interface
    !> A function of an object, as tw_end_step.
    integer(c_int) function handle_function(handle) bind(C)
      import
      type(c_ptr), value :: handle
    end function handle_function

    !> A function that frees an object, as tw_close.
    integer(c_int) function ending_function(handle) bind(C)
      import
      type(c_ptr), intent(inout) :: handle
    end function ending_function

    !> A function that makes a handle for a path, as tw_create.
    integer(c_int) function opening_function(session, path, settings, handle) bind(C)
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: path(*), settings(*)
      type(c_ptr), intent(inout) :: handle
    end function opening_function

    !> A function of two objects, as tw_history_save.
    integer(c_int) function pair_function(handle, other) bind(C)
      import
      type(c_ptr), value :: handle, other
    end function pair_function
  end interface

  interface
    subroutine c_check(status, session, procedure, ierr) bind(C, name='thalweg_f_check')
      import
      integer(c_int), value :: status
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: procedure(*)
      integer(c_int), intent(out), optional :: ierr
    end subroutine c_check

    integer(c_int) function c_reverse(names, size, list) bind(C, name='thalweg_f_reverse')
      import
      character(kind=c_char), intent(in) :: names(*)
      integer(c_size_t), value :: size
      character(kind=c_char), intent(out) :: list(*)
    end function c_reverse

    integer(c_size_t) function c_strlen(text) bind(C, name='strlen')
      import
      type(c_ptr), value :: text
    end function c_strlen
  end interface

contains

  !> Returns the status in ierr; without ierr, an error stops the program.
  !>   procedure  name of the procedure that was called, for the message
  subroutine check(status, session, procedure, ierr)
    integer(c_int), intent(in) :: status
    type(c_ptr), intent(in) :: session
    character(len=*), intent(in) :: procedure
    integer(c_int), intent(out), optional :: ierr
    call c_check(status, session, c_text(procedure), ierr)
  end subroutine check

  !> Returns the text without trailing blanks, with C's terminating null character.
  pure function c_text(text) result(ended)
    character(len=*), intent(in) :: text
    character(len=:), allocatable :: ended
    ended = trim(text)//c_null_char
  end function c_text

  !> Returns the text as c_text does; an empty text if it is absent.
  pure function c_settings(text) result(ended)
    character(len=*), intent(in), optional :: text
    character(len=:), allocatable :: ended
    ended = c_null_char
    if (present(text)) ended = c_text(text)
  end function c_settings

  !> Returns a copy of a C string.
  function f_text(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(len=:), allocatable :: copy
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    if (.not. c_associated(text)) then
      copy = ''
      return
    end if
    call c_f_pointer(text, letters, [c_strlen(text)])
    allocate (character(len=size(letters)) :: copy)
    do i = 1, size(letters)
      copy(i:i) = letters(i)
    end do
  end function f_text

  !> Returns the names of a list in reverse order, for C: 'lon lat time' becomes "time lat lon".
  function reversed(names) result(ended)
    character(len=*), intent(in) :: names
    character(len=:), allocatable :: ended
    character(len=len(names) + 1) :: list
    integer(c_int) :: n
    n = c_reverse(names, len(names, c_size_t), list)
    ended = list(:index(list, c_null_char))
  end function reversed

  !> Returns the number of names in a list.
  integer function name_count(names)
    character(len=*), intent(in) :: names
    character(len=len(names) + 1) :: list
    name_count = c_reverse(names, len(names, c_size_t), list)
  end function name_count

end module thalweg_c
