! SPDX-License-Identifier: Apache-2.0
!
!> Restarts: arrays that are registered once, and written and read together: part of module thalweg.
!> See docs/restarts.md.
module thalweg_restart
  use, intrinsic :: iso_c_binding
  use thalweg_base, only: tw_session, tw_decomposition, tw_file
  use thalweg_c, only: check, c_text, c_settings, ending_function
  implicit none
  private

  public :: tw_restart_new, tw_restart_free, tw_restart_file, tw_restart_add, tw_restart_write, &
    tw_restart_read

  !> Arrays that are written and read together; belongs to its session.
  type, bind(C), public :: tw_restart
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr) :: session = c_null_ptr
  end type tw_restart

  !> Flags of tw_restart_add, which can be added.
  integer(c_int), parameter, public :: TW_REQUIRED = 0
  !> A file may lack the variable: a read then leaves the array unchanged.
  integer(c_int), parameter, public :: TW_OPTIONAL = 1
  !> The values are copied when the array is registered; the array can then be reused.
  integer(c_int), parameter, public :: TW_COPIED = 2
  !> On reading, dimensions match by position instead of by name; their lengths must be the same.
  integer(c_int), parameter, public :: TW_BY_POSITION = 4

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
    !>   decomposition  elements that each rank holds; has the variable's dimensions, in any
    !>                  order. Without it the array is replicated, and rank 0's values are written;
    !>                  its dimensions must come from other decompositions or tw_restart_file
    !>   flags          TW_REQUIRED (default), or a sum of TW_OPTIONAL, TW_COPIED, TW_BY_POSITION.
    !>                  With TW_COPIED the library copies the values and does not use the array
    !>                  after the call, so one work array can serve many variables. The copy is
    !>                  written once: register the variable again before the next tw_restart_write.
    !>                  tw_restart_read skips such variables; read them from the file
    !>                  that it opens
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

    integer(c_int) function c_new(session, settings, restart) bind(C, name='tw_restart_new')
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: settings(*)
      type(c_ptr), intent(inout) :: restart
    end function c_new

    integer(c_int) function c_file(restart, file) bind(C, name='tw_restart_file')
      import
      type(c_ptr), value :: restart
      type(c_ptr), intent(inout) :: file
    end function c_file

    integer(c_int) function c_write(restart, path) bind(C, name='tw_restart_write')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: path(*)
    end function c_write

    integer(c_int) function c_read(restart, path, file) bind(C, name='tw_restart_read')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: path(*)
      type(c_ptr), intent(inout), optional :: file
    end function c_read
  end interface
  procedure(ending_function), bind(C, name='tw_restart_free') :: c_free

contains

  !> restart = tw_restart_new(io [, settings] [, ierr]): creates a restart.
  !>   settings  as for tw_create; here durable=yes is the default; checksums=no omits the checksums
  !> Errors: TW_EARG, TW_ESETTING, TW_EMISMATCH. Collective.
  function tw_restart_new(io, settings, ierr) result(restart)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(tw_restart) :: restart
    restart%session = io%handle
    call check(c_new(io%handle, c_settings(settings), restart%handle), io%handle, &
      'tw_restart_new', ierr)
  end function tw_restart_new

  !> Frees the restart, not the arrays; tw_finalize frees those that are left. Files that
  !> tw_restart_read has opened stay open. Errors: TW_EHANDLE. Local.
  subroutine tw_restart_free(restart, ierr)
    type(tw_restart), intent(inout) :: restart
    integer(c_int), intent(out), optional :: ierr
    call check(c_free(restart%handle), restart%session, 'tw_restart_free', ierr)
    if (.not. c_associated(restart%handle)) restart%session = c_null_ptr
  end subroutine tw_restart_free

  !> file = tw_restart_file(restart [, ierr]): the definitions of the files that the restart will
  !> write, for tw_def_dim (a dimension that no decomposition names, for replicated arrays),
  !> tw_put_att (the model's time, ...) and tw_set_var ('fill=0'; of registered variables, without
  !> quantize, which would lose bits). They can be called at any time, with the same arguments on
  !> every rank, and are valid for all files written from then on. All other procedures return
  !> TW_ESTATE for this file, which belongs to the restart. Errors: TW_EHANDLE. Local.
  function tw_restart_file(restart, ierr) result(file)
    type(tw_restart), intent(in) :: restart
    integer(c_int), intent(out), optional :: ierr
    type(tw_file) :: file
    file%session = restart%session
    call check(c_file(restart%handle, file%handle), restart%session, 'tw_restart_file', ierr)
  end function tw_restart_file

  !> call tw_restart_write(restart, path [, ierr]): writes the current values of all registered
  !> arrays. An existing file of that name is replaced only when the new one is complete and, unless
  !> durable=no, synced to the device; after an error it is unchanged.
  !> Errors: TW_EARG, TW_EINUSE, TW_EMISMATCH (registered variables or paths differ between ranks),
  !> TW_EMISSING (the copy of a variable registered with TW_COPIED has already been written),
  !> TW_EFORMAT, TW_EIO, TW_ENOMEM. Collective.
  subroutine tw_restart_write(restart, path, ierr)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    call check(c_write(restart%handle, c_text(path)), restart%session, 'tw_restart_write', ierr)
  end subroutine tw_restart_write

  !> call tw_restart_read(restart, path [, file] [, ierr]): reads all registered arrays, whatever
  !> the number of ranks that wrote them, and verifies the checksums. Halos are read as set with
  !> tw_fill_halo.
  !>   file  receives the open file, for inquiry, attributes, and variables that are not registered,
  !>         such as those of a model with one work array for many variables (see TW_COPIED); tw_get
  !>         verifies the checksum of each variable. Close it with tw_close. On all ranks or on none
  !> Errors: as tw_open; TW_ENOTFOUND, TW_ESHAPE, TW_ETYPE, TW_ECHECKSUM, all of which name the
  !> variable; TW_EMISMATCH. After an error the contents of the arrays are undefined. Collective.
  subroutine tw_restart_read(restart, path, file, ierr)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: path
    type(tw_file), intent(out), optional :: file
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: status
    if (present(file)) then
      status = c_read(restart%handle, c_text(path), file%handle)
      file%session = restart%session
    else
      status = c_read(restart%handle, c_text(path))
    end if
    call check(status, restart%session, 'tw_restart_read', ierr)
  end subroutine tw_restart_read

end module thalweg_restart
