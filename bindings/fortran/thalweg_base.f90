! SPDX-License-Identifier: Apache-2.0
!
!> What the module `thalweg` stands on: handles, constants, the C functions, and strings between
!> the two languages. Programs use the module `thalweg`, which passes the public names on.
module thalweg_base
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  public

  !> A session: what tw_init makes and tw_finalize ends.
  type, bind(C) :: tw_session
    type(c_ptr) :: handle = c_null_ptr
  end type tw_session

  !> What this rank holds of an index space; belongs to its session.
  type, bind(C) :: tw_decomposition
    type(c_ptr) :: handle = c_null_ptr
  end type tw_decomposition

  !> Arrays that are written and read all together; belongs to its session.
  type, bind(C) :: tw_restart
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr) :: session = c_null_ptr
  end type tw_restart

  !> An open file.
  type, bind(C) :: tw_file
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr) :: session = c_null_ptr
  end type tw_file

  ! Types of variables in the file: the values of netCDF.
  integer(c_int), parameter :: TW_BYTE = 1
  integer(c_int), parameter :: TW_CHAR = 2
  integer(c_int), parameter :: TW_SHORT = 3
  integer(c_int), parameter :: TW_INT = 4
  integer(c_int), parameter :: TW_FLOAT = 5
  integer(c_int), parameter :: TW_DOUBLE = 6
  integer(c_int), parameter :: TW_UBYTE = 7
  integer(c_int), parameter :: TW_USHORT = 8
  integer(c_int), parameter :: TW_UINT = 9
  integer(c_int), parameter :: TW_INT64 = 10
  integer(c_int), parameter :: TW_UINT64 = 11

  ! What a rank does in its session.
  integer(c_int), parameter :: TW_MODEL = 0
  integer(c_int), parameter :: TW_SERVER = 1

  !> Length of the record dimension in tw_def_dim.
  integer(int64), parameter :: TW_UNLIMITED = 0

  ! Status codes: those of the table TW_STATUS_TABLE in thalweg.h (a test compares them).
  integer(c_int), parameter :: TW_OK = 0
  integer(c_int), parameter :: TW_EHANDLE = -1
  integer(c_int), parameter :: TW_EARG = -2
  integer(c_int), parameter :: TW_ENOTFOUND = -3
  integer(c_int), parameter :: TW_EEXISTS = -4
  integer(c_int), parameter :: TW_ESHAPE = -5
  integer(c_int), parameter :: TW_EBOUNDS = -6
  integer(c_int), parameter :: TW_EOVERLAP = -7
  integer(c_int), parameter :: TW_ETYPE = -8
  integer(c_int), parameter :: TW_ERANGE = -9
  integer(c_int), parameter :: TW_ESTATE = -10
  integer(c_int), parameter :: TW_EMISMATCH = -11
  integer(c_int), parameter :: TW_EMISSING = -12
  integer(c_int), parameter :: TW_EFORMAT = -13
  integer(c_int), parameter :: TW_EIO = -14
  integer(c_int), parameter :: TW_EINUSE = -15
  integer(c_int), parameter :: TW_ESETTING = -16
  integer(c_int), parameter :: TW_ECLOSED = -17
  integer(c_int), parameter :: TW_ENOMEM = -18
  integer(c_int), parameter :: TW_EMPI = -19
  integer(c_int), parameter :: TW_ENETCDF = -20
  integer(c_int), parameter :: TW_EUNSUPPORTED = -21
  integer(c_int), parameter :: TW_EINTERNAL = -22
  integer(c_int), parameter :: TW_ECHECKSUM = -23
  integer(c_int), parameter :: TW_EDIFFERENT = -24

  !> What tw_set_record does with the later records: keeps or drops them.
  integer(c_int), parameter :: TW_KEEP_LATER = 0
  integer(c_int), parameter :: TW_DROP_LATER = 1

  ! The C functions: thalweg.h says what each does. Strings end with c_null_char.
  interface
    integer(c_int) function c_init(comm, settings, session) bind(C, name='thalweg_f_init')
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: settings(*)
      type(c_ptr), intent(inout) :: session
    end function c_init

    integer(c_int) function c_finalize(session) bind(C, name='tw_finalize')
      import
      type(c_ptr), intent(inout) :: session
    end function c_finalize

    type(c_ptr) function c_strerror(status) bind(C, name='tw_strerror')
      import
      integer(c_int), value :: status
    end function c_strerror

    integer(c_int) function c_inq_role(session, role) bind(C, name='tw_inq_role')
      import
      type(c_ptr), value :: session
      integer(c_int), intent(inout) :: role
    end function c_inq_role

    integer(c_int) function c_model_comm(session, comm) bind(C, name='thalweg_f_model_comm')
      import
      type(c_ptr), value :: session
      integer(c_int), intent(out) :: comm
    end function c_model_comm

    integer(c_int) function c_recover(path, text, length) bind(C, name='tw_recover')
      import
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(inout) :: text(*)
      integer(c_int64_t), value :: length
    end function c_recover

    type(c_ptr) function c_error_message(session) bind(C, name='tw_error_message')
      import
      type(c_ptr), value :: session
    end function c_error_message

    integer(c_int) function c_print_config(session) bind(C, name='tw_print_config')
      import
      type(c_ptr), value :: session
    end function c_print_config

    integer(c_int) function c_summary(session, json) bind(C, name='tw_summary')
      import
      type(c_ptr), value :: session
      type(c_ptr), intent(inout) :: json
    end function c_summary

    integer(c_int) function c_print_summary(session) bind(C, name='tw_print_summary')
      import
      type(c_ptr), value :: session
    end function c_print_summary

    integer(c_int) function c_decompose(session, dims, nblocks, shape, start, count, halo_low, &
        halo_high, decomposition) bind(C, name='tw_decompose_halo')
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: dims(*)
      integer(c_int), value :: nblocks
      integer(c_int64_t), intent(in) :: shape(*), start(*), count(*), halo_low(*), halo_high(*)
      type(c_ptr), intent(inout) :: decomposition
    end function c_decompose

    integer(c_int) function c_create(session, path, settings, file) bind(C, name='tw_create')
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(in) :: settings(*)
      type(c_ptr), intent(inout) :: file
    end function c_create

    integer(c_int) function c_open(session, path, settings, file) bind(C, name='tw_open')
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(in) :: settings(*)
      type(c_ptr), intent(inout) :: file
    end function c_open

    integer(c_int) function c_def_dim(file, name, length) bind(C, name='tw_def_dim')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: length
    end function c_def_dim

    integer(c_int) function c_def_var(file, name, type, dims, decomposition) &
        bind(C, name='tw_def_var')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type
      character(kind=c_char), intent(in) :: dims(*)
      type(c_ptr), value :: decomposition
    end function c_def_var

    integer(c_int) function c_set_var(file, name, settings) bind(C, name='tw_set_var')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*), settings(*)
    end function c_set_var

    integer(c_int) function c_set_record(file, record, later) bind(C, name='tw_set_record')
      import
      type(c_ptr), value :: file
      integer(c_int64_t), value :: record
      integer(c_int), value :: later
    end function c_set_record

    integer(c_int) function c_enddef(file) bind(C, name='tw_enddef')
      import
      type(c_ptr), value :: file
    end function c_enddef

    integer(c_int) function c_end_step(file) bind(C, name='tw_end_step')
      import
      type(c_ptr), value :: file
    end function c_end_step

    integer(c_int) function c_sync(file, durable) bind(C, name='tw_sync')
      import
      type(c_ptr), value :: file
      integer(c_int), value :: durable
    end function c_sync

    integer(c_int) function c_close(file) bind(C, name='tw_close')
      import
      type(c_ptr), intent(inout) :: file
    end function c_close

    integer(c_int) function c_inq_dim(file, name, length) bind(C, name='tw_inq_dim')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: length
    end function c_inq_dim

    !> Gives the status to ierr or, without ierr, stops the program if it is an error.
    subroutine check(status, session, procedure, ierr) bind(C, name='thalweg_f_check')
      import
      integer(c_int), value :: status
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: procedure(*)
      integer(c_int), intent(out), optional :: ierr
    end subroutine check

    integer(c_size_t) function c_strlen(text) bind(C, name='strlen')
      import
      type(c_ptr), value :: text
    end function c_strlen
  end interface

contains

  !> The text without trailing blanks, ended as C expects.
  pure function c_text(text) result(ended)
    character(len=*), intent(in) :: text
    character(len=:), allocatable :: ended
    ended = trim(text)//c_null_char
  end function c_text

  !> As c_text; empty without a text.
  pure function c_settings(text) result(ended)
    character(len=*), intent(in), optional :: text
    character(len=:), allocatable :: ended
    ended = c_null_char
    if (present(text)) ended = c_text(text)
  end function c_settings

  !> A copy of a C string.
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

  !> Number of names in a list separated by blanks.
  pure integer function name_count(names)
    character(len=*), intent(in) :: names
    integer :: i
    name_count = 0
    do i = 1, len(names)
      if (names(i:i) == ' ') cycle
      if (i > 1) then
        if (names(i-1:i-1) /= ' ') cycle
      end if
      name_count = name_count + 1
    end do
  end function name_count

  !> The names in the other order, for C: 'lon lat time' becomes "time lat lon".
  pure function reversed(names) result(ended)
    character(len=*), intent(in) :: names
    character(len=:), allocatable :: ended
    integer :: first, last
    ended = ''
    last = len_trim(names)
    do while (last > 0)
      first = index(names(:last), ' ', back=.true.) + 1
      ended = ended//names(first:last)
      last = len_trim(names(:first-1))
      if (last > 0) ended = ended//' '
    end do
    ended = ended//c_null_char
  end function reversed

end module thalweg_base
