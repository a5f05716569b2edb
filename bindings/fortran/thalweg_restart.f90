! SPDX-License-Identifier: Apache-2.0
!
!> Restarts: arrays that are registered once, and written and read together: part of module thalweg.
!> See docs/restarts.md.
module thalweg_restart
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use thalweg_attributes, only: c_inq_att_of, c_get_att_text_of, inq_att, get_att_text
  use thalweg_base, only: tw_session, tw_decomposition
  use thalweg_c, only: check, c_text, c_settings
  implicit none
  private

  public :: tw_restart_new, tw_restart_free, tw_restart_def_dim, tw_restart_add, &
    tw_restart_set_var, tw_restart_put_att, tw_restart_write, tw_restart_read, tw_restart_open, &
    tw_restart_get, tw_restart_close, tw_restart_found, tw_restart_inq_att, tw_restart_get_att, &
    tw_restart_get_att_text

  !> Arrays that are written and read together; belongs to its session.
  type, bind(C), public :: tw_restart
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr) :: session = c_null_ptr
  end type tw_restart

  !> Flags of tw_restart_add and tw_restart_get, which can be added.
  integer(c_int), parameter, public :: TW_REQUIRED = 0
  !> A file may lack the variable: a read then leaves the array unchanged.
  integer(c_int), parameter, public :: TW_OPTIONAL = 1
  !> The values are copied when the array is registered; the array can then be reused.
  integer(c_int), parameter, public :: TW_COPIED = 2
  !> On reading, dimensions match by position instead of by name; their lengths must be the same.
  integer(c_int), parameter, public :: TW_BY_POSITION = 4

  !> call tw_restart_def_dim(restart, name, length [, ierr]): defines a dimension that no
  !> decomposition names, for replicated arrays.
  !>   length  default or 64-bit integer, from 1
  !> Errors: TW_EARG, TW_EEXISTS, TW_ESHAPE. Local; the same arguments on every rank.
  interface tw_restart_def_dim
    module procedure def_dim_int32
    module procedure def_dim_int64
  end interface tw_restart_def_dim

  interface

    !> call tw_restart_add(restart, name, dims, array [, decomposition] [, flags] [, ierr])
    !>
    !> Registers an array; its variable in the file has the array's type. If the name is already
    !> registered, the new array replaces the old one.
    !>   dims           names in file order, fastest first: 'lon lat lev'; '' for a scalar
    !>   array          as for tw_put; it must stay at its address until the restart is freed or the
    !>                  name is registered again: a variable or a section of one, not an expression,
    !>                  with the attribute target or asynchronous; and not a dummy argument that
    !>                  is contiguous, of explicit shape or of assumed size, which may be a copy
    !>                  (see tw_put_deferred). No two names may share an array
    !>   decomposition  which rank holds what; its dimensions are those of the variable, in any
    !>                  order. Without it the array is replicated, and rank 0's values are written;
    !>                  its dimensions must come from other decompositions or tw_restart_def_dim
    !>   flags          TW_REQUIRED (default), or a sum of TW_OPTIONAL, TW_COPIED, TW_BY_POSITION.
    !>                  With TW_COPIED the library copies the values and does not use the array
    !>                  after the call, so one work array can serve many variables. The copy is
    !>                  written once: register the variable again before the next tw_restart_write.
    !>                  tw_restart_read skips such variables (see tw_restart_get)
    !> (The dummy array is a target, so that the compiler knows that later calls access it.)
    !> Errors: TW_EARG, TW_EEXISTS (registered with another type or other dimensions), TW_ENOTFOUND
    !> (an unknown dimension), TW_ESHAPE, TW_ETYPE, TW_EHANDLE, TW_EOVERLAP (a decomposition with
    !> shared indices), TW_ENOMEM. Local; the same arguments on every rank, except for the array.
    subroutine tw_restart_add(restart, name, dims, array, decomposition, flags, ierr) &
        bind(C, name='thalweg_f_restart_add')
      import :: tw_restart, tw_decomposition, c_char, c_int
      type(tw_restart), intent(in) :: restart
      character(len=*, kind=c_char), intent(in) :: name, dims
      type(*), dimension(..), intent(inout), asynchronous, target :: array
      type(tw_decomposition), intent(in), optional :: decomposition
      integer(c_int), intent(in), optional :: flags
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_restart_add

    !> call tw_restart_get(restart, name, dims, array [, decomposition] [, flags] [, ierr])
    !>
    !> Reads one variable of the file opened with tw_restart_open, and verifies its checksum. The
    !> array is not registered, and not used after the call.
    !>   dims, array, decomposition  as for tw_restart_add
    !>   flags                       TW_OPTIONAL (see tw_restart_found) and TW_BY_POSITION
    !> Errors: TW_ESTATE (no file is open), and those of tw_restart_add and tw_restart_read, after
    !> which the file stays open. Collective.
    subroutine tw_restart_get(restart, name, dims, array, decomposition, flags, ierr) &
        bind(C, name='thalweg_f_restart_get')
      import :: tw_restart, tw_decomposition, c_char, c_int
      type(tw_restart), intent(in) :: restart
      character(len=*, kind=c_char), intent(in) :: name, dims
      type(*), dimension(..), intent(inout) :: array
      type(tw_decomposition), intent(in), optional :: decomposition
      integer(c_int), intent(in), optional :: flags
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_restart_get

    !> call tw_restart_put_att(restart, var, name, value [, ierr]): sets an attribute of all files
    !> written from now on, of a registered variable or, with var = '', of the file, such as the
    !> model's time. A later call replaces it.
    !>   value  as for tw_put_att
    !> Errors: as tw_put_att. Local; the same arguments on every rank.
    subroutine tw_restart_put_att(restart, var, name, value, ierr) &
        bind(C, name='thalweg_f_restart_put_att')
      import :: tw_restart, c_char, c_int
      type(tw_restart), intent(in) :: restart
      character(len=*, kind=c_char), intent(in) :: var, name
      type(*), dimension(..), intent(in) :: value
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_restart_put_att

    !> call tw_restart_get_att(restart, var, name, value [, ierr]): numeric values of an attribute
    !> of the file that is open or was read last; as tw_get_att. Errors also: TW_ESTATE (nothing has
    !> been read). Local.
    subroutine tw_restart_get_att(restart, var, name, value, ierr) &
        bind(C, name='thalweg_f_restart_get_att')
      import :: tw_restart, c_char, c_int
      type(tw_restart), intent(in) :: restart
      character(len=*, kind=c_char), intent(in) :: var, name
      type(*), dimension(..), intent(inout) :: value
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_restart_get_att

    integer(c_int) function c_new(session, settings, restart) bind(C, name='tw_restart_new')
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: settings(*)
      type(c_ptr), intent(inout) :: restart
    end function c_new

    integer(c_int) function c_free(restart) bind(C, name='tw_restart_free')
      import
      type(c_ptr), intent(inout) :: restart
    end function c_free

    integer(c_int) function c_def_dim(restart, name, length) bind(C, name='tw_restart_def_dim')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: length
    end function c_def_dim

    integer(c_int) function c_write(restart, path) bind(C, name='tw_restart_write')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: path(*)
    end function c_write

    integer(c_int) function c_read(restart, path) bind(C, name='tw_restart_read')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: path(*)
    end function c_read

    integer(c_int) function c_set_var(restart, name, settings) bind(C, name='tw_restart_set_var')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*), settings(*)
    end function c_set_var

    integer(c_int) function c_open(restart, path) bind(C, name='tw_restart_open')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: path(*)
    end function c_open

    integer(c_int) function c_close(restart) bind(C, name='tw_restart_close')
      import
      type(c_ptr), value :: restart
    end function c_close

    integer(c_int) function c_found(restart, name, found) bind(C, name='tw_restart_found')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(inout) :: found
    end function c_found
  end interface

  procedure(c_inq_att_of), bind(C, name='tw_restart_inq_att') :: c_inq_att
  procedure(c_get_att_text_of), bind(C, name='tw_restart_get_att_text') :: c_get_att_text

contains

  !> restart = tw_restart_new(io [, settings] [, ierr]): creates a restart.
  !>   settings  as for tw_create; here durable=yes is the default; checksum=no omits the checksums
  !> Errors: TW_EARG, TW_ESETTING, TW_EMISMATCH. Collective.
  function tw_restart_new(io, settings, ierr) result(restart)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(tw_restart) :: restart
    integer(c_int) :: status
    restart%session = io%handle
    status = c_new(io%handle, c_settings(settings), restart%handle)
    call check(status, io%handle, 'tw_restart_new', ierr)
  end function tw_restart_new

  !> Frees the restart, not the arrays; tw_finalize frees those that are left. Errors: TW_EHANDLE,
  !> TW_ESTATE (a file is open: call tw_restart_close first). Local.
  subroutine tw_restart_free(restart, ierr)
    type(tw_restart), intent(inout) :: restart
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: status
    status = c_free(restart%handle)
    call check(status, restart%session, 'tw_restart_free', ierr)
    if (.not. c_associated(restart%handle)) restart%session = c_null_ptr
  end subroutine tw_restart_free

  subroutine def_dim_int32(restart, name, length, ierr)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: name
    integer(int32), intent(in) :: length
    integer(c_int), intent(out), optional :: ierr
    call def_dim_int64(restart, name, int(length, int64), ierr)
  end subroutine def_dim_int32

  subroutine def_dim_int64(restart, name, length, ierr)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: length
    integer(c_int), intent(out), optional :: ierr
    call check(c_def_dim(restart%handle, c_text(name), length), restart%session, &
      'tw_restart_def_dim', ierr)
  end subroutine def_dim_int64

  !> call tw_restart_set_var(restart, name, settings [, ierr]): settings of one registered variable
  !> in all files written from now on, as tw_set_var: 'fill=0'. Elements that no rank holds get the
  !> fill value.
  !> Errors: TW_ESETTING (also: quantize, which would lose bits), TW_ENOTFOUND. Local; the same
  !> arguments on every rank.
  subroutine tw_restart_set_var(restart, name, settings, ierr)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: name, settings
    integer(c_int), intent(out), optional :: ierr
    call check(c_set_var(restart%handle, c_text(name), c_text(settings)), restart%session, &
      'tw_restart_set_var', ierr)
  end subroutine tw_restart_set_var

  !> call tw_restart_write(restart, path [, ierr]): writes the current values of all registered
  !> arrays. An existing file of that name is replaced only when the new one is complete and, unless
  !> durable=no, synced to the device; after an error it is unchanged.
  !> Errors: TW_EARG, TW_EINUSE, TW_EMISMATCH (registered variables or paths differ between ranks),
  !> TW_EMISSING (the copy of a variable registered with TW_COPIED has already been written),
  !> TW_ESTATE (between tw_restart_open and tw_restart_close), TW_EFORMAT, TW_EIO, TW_ENOMEM.
  !> Collective.
  subroutine tw_restart_write(restart, path, ierr)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    call check(c_write(restart%handle, c_text(path)), restart%session, 'tw_restart_write', ierr)
  end subroutine tw_restart_write

  !> call tw_restart_read(restart, path [, ierr]): reads all registered arrays, whatever the number
  !> of ranks that wrote them, and verifies the checksums. Halos are read as set with tw_fill_halo.
  !> Errors: as tw_open; TW_ENOTFOUND, TW_ESHAPE, TW_ETYPE, TW_ECHECKSUM, all of which name the
  !> variable; TW_EMISMATCH; TW_ESTATE (between tw_restart_open and tw_restart_close). After an
  !> error the contents of the arrays are undefined. Collective.
  subroutine tw_restart_read(restart, path, ierr)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    call check(c_read(restart%handle, c_text(path)), restart%session, 'tw_restart_read', ierr)
  end subroutine tw_restart_read

  !> call tw_restart_open(restart, path [, ierr]): opens a file for tw_restart_get, which reads one
  !> variable at a time.
  !> Errors: as tw_open; TW_ESTATE (a file is already open). Collective.
  subroutine tw_restart_open(restart, path, ierr)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    call check(c_open(restart%handle, c_text(path)), restart%session, 'tw_restart_open', ierr)
  end subroutine tw_restart_open

  !> call tw_restart_close(restart [, ierr]): closes the file opened with tw_restart_open; its
  !> attributes remain available. Errors: TW_ESTATE (no file is open), TW_EIO. Collective.
  subroutine tw_restart_close(restart, ierr)
    type(tw_restart), intent(in) :: restart
    integer(c_int), intent(out), optional :: ierr
    call check(c_close(restart%handle), restart%session, 'tw_restart_close', ierr)
  end subroutine tw_restart_close

  !> found = tw_restart_found(restart, name [, ierr]): whether the open file has a variable or, if
  !> none is open, whether the file read last has a registered one. Errors: TW_ENOTFOUND (not
  !> registered), TW_ESTATE (nothing has been read). Local.
  function tw_restart_found(restart, name, ierr) result(found)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: name
    integer(c_int), intent(out), optional :: ierr
    logical :: found
    integer(c_int) :: there, status
    there = 0
    status = c_found(restart%handle, c_text(name), there)
    found = there /= 0
    call check(status, restart%session, 'tw_restart_found', ierr)
  end function tw_restart_found

  !> call tw_restart_inq_att(restart, var, name [, type] [, n] [, ierr]): type and number of values
  !> of an attribute of the file that is open or was read last. Errors: TW_ENOTFOUND, TW_ESTATE.
  !> Local.
  subroutine tw_restart_inq_att(restart, var, name, type, n, ierr)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: var, name
    integer(c_int), intent(out), optional :: type
    integer(c_int64_t), intent(out), optional :: n
    integer(c_int), intent(out), optional :: ierr
    call inq_att(c_inq_att, restart%handle, restart%session, 'tw_restart_inq_att', var, name, &
      type, n, ierr)
  end subroutine tw_restart_inq_att

  !> text = tw_restart_get_att_text(restart, var, name [, ierr]): a text attribute of the file that
  !> is open or was read last; '' after an error. Errors: TW_ENOTFOUND, TW_ETYPE, TW_ESTATE. Local.
  function tw_restart_get_att_text(restart, var, name, ierr) result(text)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: var, name
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: text
    text = get_att_text(c_inq_att, c_get_att_text, restart%handle, restart%session, &
      'tw_restart_get_att_text', var, name, ierr)
  end function tw_restart_get_att_text

end module thalweg_restart
