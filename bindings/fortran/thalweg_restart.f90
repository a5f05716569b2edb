! SPDX-License-Identifier: Apache-2.0
!
!> Restarts: arrays that are registered once, and written and read all together: part of module
!> thalweg. docs/restarts.md tells what is promised.
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

  !> Arrays that are written and read all together; belongs to its session.
  type, bind(C), public :: tw_restart
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr) :: session = c_null_ptr
  end type tw_restart

  !> Flags of tw_restart_add and tw_restart_get, which can be added up.
  integer(c_int), parameter, public :: TW_REQUIRED = 0
  !> A file may lack the variable: then a read leaves the array as it is.
  integer(c_int), parameter, public :: TW_OPTIONAL = 1
  !> The values are copied when the array is registered, which is then free for others.
  integer(c_int), parameter, public :: TW_COPIED = 2
  !> In a file that is read, the dimensions may have other names; their lengths must be the same.
  integer(c_int), parameter, public :: TW_BY_POSITION = 4

  !> call tw_restart_def_dim(restart, name, length [, ierr]): defines a dimension that no
  !> decomposition names, for replicated arrays.
  !>   length  default or 64-bit integer, from 1
  !> Errors: TW_EARG, TW_EEXISTS, TW_ESHAPE. Local; every rank alike.
  interface tw_restart_def_dim
    module procedure def_dim_int32
    module procedure def_dim_int64
  end interface tw_restart_def_dim

  interface

    !> call tw_restart_add(restart, name, dims, array [, decomposition] [, flags] [, ierr])
    !>
    !> Registers an array, which gets a variable of its own type. A name that is registered already
    !> gets the new array.
    !>   dims           names in file order, fastest first: 'lon lat lev'; '' for a scalar
    !>   array          as for tw_put; it must stay where it is until the restart is freed or the
    !>                  name registered anew: a variable or a section of one, not an expression,
    !>                  with the attribute target or asynchronous; and not a dummy argument that
    !>                  is contiguous, of explicit shape or of assumed size, which may be a copy
    !>                  (see tw_put_deferred). No two names can have the same array
    !>   decomposition  who holds what, its dimensions those of the variable, in any order. Without
    !>                  it the array is replicated, and rank 0's values are written; its dimensions
    !>                  are known from other decompositions or tw_restart_def_dim
    !>   flags          TW_REQUIRED (default), or TW_OPTIONAL, TW_COPIED, TW_BY_POSITION, added up.
    !>                  With TW_COPIED the array is no longer used when the call returns: many fields
    !>                  can pass through one work array. The copy is written once, so register anew
    !>                  before the next tw_restart_write; tw_restart_read passes over it (see
    !>                  tw_restart_get)
    !> (The dummy array is a target as well, for the compiler to know that later calls reach it.)
    !> Errors: TW_EARG, TW_EEXISTS (registered with another type or other dimensions), TW_ENOTFOUND
    !> (an unknown dimension), TW_ESHAPE, TW_ETYPE, TW_EHANDLE, TW_ENOMEM. Local; every rank alike.
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
    !> Reads one variable of the file that tw_restart_open has opened, and compares its checksum.
    !> Nothing is registered, and the array is no longer used when the call returns.
    !>   dims, array, decomposition  as for tw_restart_add
    !>   flags                       TW_OPTIONAL (see tw_restart_found) and TW_BY_POSITION
    !> Errors: TW_ESTATE (no file is open), and as of tw_restart_add and tw_restart_read; the file
    !> stays open. Collective.
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
    !> Errors: as tw_put_att. Local; every rank alike.
    subroutine tw_restart_put_att(restart, var, name, value, ierr) &
        bind(C, name='thalweg_f_restart_put_att')
      import :: tw_restart, c_char, c_int
      type(tw_restart), intent(in) :: restart
      character(len=*, kind=c_char), intent(in) :: var, name
      type(*), dimension(..), intent(in) :: value
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_restart_put_att

    !> call tw_restart_get_att(restart, var, name, value [, ierr]): numbers of an attribute of the
    !> file that was read last; as tw_get_att. Errors also: TW_ESTATE (nothing has been read).
    !> Local.
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

  !> restart = tw_restart_new(io [, settings] [, ierr]): begins a restart.
  !>   settings  as for tw_create; the files are durable unless it says durable=no, and have
  !>             checksums unless it says checksum=no
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

  !> Frees it; the arrays are the model's. What is not freed is by tw_finalize. Errors: TW_EHANDLE.
  !> Local.
  subroutine tw_restart_free(restart, ierr)
    type(tw_restart), intent(inout) :: restart
    integer(c_int), intent(out), optional :: ierr
    call check(c_free(restart%handle), c_null_ptr, 'tw_restart_free', ierr)
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
  !> in all files written from now on, as tw_set_var: 'fill=0'. Whatever no rank holds becomes the
  !> fill value.
  !> Errors: TW_ESETTING (also: quantize), TW_ENOTFOUND. Local; every rank alike.
  subroutine tw_restart_set_var(restart, name, settings, ierr)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: name, settings
    integer(c_int), intent(out), optional :: ierr
    call check(c_set_var(restart%handle, c_text(name), c_text(settings)), restart%session, &
      'tw_restart_set_var', ierr)
  end subroutine tw_restart_set_var

  !> call tw_restart_write(restart, path [, ierr]): writes all registered arrays, as they are now. A
  !> file of that name is replaced when the new one is complete and on the device; after an error it
  !> is still there.
  !> Errors: TW_EARG, TW_EINUSE, TW_EMISMATCH (the ranks have registered different variables),
  !> TW_EMISSING (a copy, of TW_COPIED, has been written already), TW_ESTATE (before
  !> tw_restart_close), TW_EFORMAT, TW_EIO, TW_ENOMEM. Collective.
  subroutine tw_restart_write(restart, path, ierr)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    call check(c_write(restart%handle, c_text(path)), restart%session, 'tw_restart_write', ierr)
  end subroutine tw_restart_write

  !> call tw_restart_read(restart, path [, ierr]): reads all registered arrays, whatever the number
  !> of ranks that wrote them, and compares the checksums. Halos are filled as tw_fill_halo says.
  !> Errors: as tw_open; TW_ENOTFOUND, TW_ESHAPE, TW_ETYPE, TW_ECHECKSUM, each naming the variable;
  !> TW_EMISMATCH. After an error the arrays may hold anything. Collective.
  subroutine tw_restart_read(restart, path, ierr)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    call check(c_read(restart%handle, c_text(path)), restart%session, 'tw_restart_read', ierr)
  end subroutine tw_restart_read

  !> call tw_restart_open(restart, path [, ierr]): opens a file, for tw_restart_get to read one
  !> variable at a time.
  !> Errors: as tw_open; TW_ESTATE (one is open). Collective.
  subroutine tw_restart_open(restart, path, ierr)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: path
    integer(c_int), intent(out), optional :: ierr
    call check(c_open(restart%handle, c_text(path)), restart%session, 'tw_restart_open', ierr)
  end subroutine tw_restart_open

  !> call tw_restart_close(restart [, ierr]): closes it; its attributes can still be asked for.
  !> Errors: TW_ESTATE (none is open), TW_EIO. Collective.
  subroutine tw_restart_close(restart, ierr)
    type(tw_restart), intent(in) :: restart
    integer(c_int), intent(out), optional :: ierr
    call check(c_close(restart%handle), restart%session, 'tw_restart_close', ierr)
  end subroutine tw_restart_close

  !> found = tw_restart_found(restart, name [, ierr]): whether the file that is open has a variable,
  !> or the one that was read last a registered one. Errors: TW_ENOTFOUND (not registered),
  !> TW_ESTATE (nothing has been read). Local.
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
  !> of an attribute of the file that was read last. Errors: TW_ENOTFOUND, TW_ESTATE. Local.
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
  !> was read last; '' after an error. Errors: TW_ENOTFOUND, TW_ETYPE, TW_ESTATE. Local.
  function tw_restart_get_att_text(restart, var, name, ierr) result(text)
    type(tw_restart), intent(in) :: restart
    character(len=*), intent(in) :: var, name
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: text
    text = get_att_text(c_inq_att, c_get_att_text, restart%handle, restart%session, &
      'tw_restart_get_att_text', var, name, ierr)
  end function tw_restart_get_att_text

end module thalweg_restart
