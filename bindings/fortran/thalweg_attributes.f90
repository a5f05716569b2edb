! SPDX-License-Identifier: Apache-2.0
!
!> Attributes of a file or of a restart, which differ only in the C functions. Internal.
module thalweg_attributes
  use, intrinsic :: iso_c_binding
  use thalweg_base, only: TW_OK
  use thalweg_c, only: check, c_text
  implicit none
  private

  public :: c_inq_att_of, c_get_att_text_of, inq_att, get_att_text

  ! tw_inq_att, tw_get_att_text and similar functions.
  abstract interface
    integer(c_int) function c_inq_att_of(owner, var, name, type, n) bind(C)
      import
      type(c_ptr), value :: owner
      character(kind=c_char), intent(in) :: var(*), name(*)
      integer(c_int), intent(inout) :: type
      integer(c_int64_t), intent(inout) :: n
    end function c_inq_att_of

    integer(c_int) function c_get_att_text_of(owner, var, name, size, text) bind(C)
      import
      type(c_ptr), value :: owner
      character(kind=c_char), intent(in) :: var(*), name(*)
      integer(c_int64_t), value :: size
      character(kind=c_char), intent(inout) :: text(*)
    end function c_get_att_text_of
  end interface

contains

  !> Type and number of values; `caller` is the name of the procedure that the program called.
  subroutine inq_att(c_inq, owner, session, caller, var, name, type, n, ierr)
    procedure(c_inq_att_of) :: c_inq
    type(c_ptr), intent(in) :: owner, session
    character(len=*), intent(in) :: caller, var, name
    integer(c_int), intent(out), optional :: type
    integer(c_int64_t), intent(out), optional :: n
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: kind, status
    integer(c_int64_t) :: values
    kind = 0
    values = 0
    status = c_inq(owner, c_text(var), c_text(name), kind, values)
    if (present(type)) type = kind
    if (present(n)) n = values
    call check(status, session, caller, ierr)
  end subroutine inq_att

  !> A text attribute, '' after an error.
  function get_att_text(c_inq, c_get, owner, session, caller, var, name, ierr) result(text)
    procedure(c_inq_att_of) :: c_inq
    procedure(c_get_att_text_of) :: c_get
    type(c_ptr), intent(in) :: owner, session
    character(len=*), intent(in) :: caller, var, name
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: text
    character(len=:), allocatable :: room
    integer(c_int) :: kind, status
    integer(c_int64_t) :: n
    kind = 0
    n = 0
    text = ''
    status = c_inq(owner, c_text(var), c_text(name), kind, n)
    if (status == TW_OK) then
      allocate (character(len=n + 1) :: room)
      status = c_get(owner, c_text(var), c_text(name), n + 1, room)
      if (status == TW_OK) text = room(:n)
    end if
    call check(status, session, caller, ierr)
  end function get_att_text

end module thalweg_attributes
