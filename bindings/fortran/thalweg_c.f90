! SPDX-License-Identifier: Apache-2.0
!
!> Helpers of module thalweg for calling C: errors, texts, names in C's order. Internal.
module thalweg_c
  use, intrinsic :: iso_c_binding
  implicit none
  private

  public :: check, c_text, c_settings, f_text, name_count, reversed

  interface
    subroutine c_check(status, session, procedure, ierr) bind(C, name='thalweg_f_check')
      import
      integer(c_int), value :: status
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: procedure(*)
      integer(c_int), intent(out), optional :: ierr
    end subroutine c_check

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

  !> Returns the position of the last character of the name that begins at `first` in a list. Blanks
  !> separate names; a backslash escapes a blank or a backslash in a name.
  pure integer function name_end(names, first)
    character(len=*), intent(in) :: names
    integer, intent(in) :: first
    ! LLVM's preprocessor doubles a backslash in a literal, so the constant is computed.
    character, parameter :: backslash = achar(92)
    integer :: next
    next = first
    do while (next <= len(names))
      if (names(next:next) == ' ') exit
      if (names(next:next) == backslash .and. next < len(names)) then
        if (names(next+1:next+1) == ' ' .or. names(next+1:next+1) == backslash) next = next + 1
      end if
      next = next + 1
    end do
    name_end = next - 1
  end function name_end

  !> Returns the number of names in a list.
  pure integer function name_count(names)
    character(len=*), intent(in) :: names
    integer :: first
    name_count = 0
    first = verify(names, ' ')
    do while (first > 0 .and. first <= len(names))
      if (names(first:first) == ' ') then
        first = first + 1
        cycle
      end if
      name_count = name_count + 1
      first = name_end(names, first) + 1
    end do
  end function name_count

  !> Returns the names in reverse order, for C: 'lon lat time' becomes "time lat lon".
  pure function reversed(names) result(ended)
    character(len=*), intent(in) :: names
    character(len=:), allocatable :: ended
    integer :: first, last
    ended = ''
    first = 1
    do while (first <= len(names))
      if (names(first:first) == ' ') then
        first = first + 1
        cycle
      end if
      last = name_end(names, first)
      if (len(ended) > 0) ended = ' '//ended
      ended = names(first:last)//ended
      first = last + 1
    end do
    ended = ended//c_null_char
  end function reversed

end module thalweg_c
