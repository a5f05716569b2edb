! SPDX-License-Identifier: Apache-2.0
!
!> Histories: files of instants, means and others, as a configuration requests them: part of module
!> thalweg. See docs/history.md.
module thalweg_history
  use, intrinsic :: iso_c_binding
  use thalweg_base, only: tw_session, tw_decomposition, tw_file, TW_EHANDLE
  use thalweg_c, only: check, c_text, c_settings, reversed, ending_function, handle_function, &
    pair_function
  use thalweg_restart, only: tw_restart
  implicit none
  private

  public :: tw_history_open, tw_history_coordinate, tw_history_field, tw_history_ready, &
    tw_history_time, tw_wants, tw_send, tw_send_block, tw_history_end_step, tw_history_save, &
    tw_history_load, tw_history_close, tw_history_memory

  !> A history; belongs to its session.
  type, bind(C), public :: tw_history
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr) :: session = c_null_ptr
  end type tw_history

  !> A field of a history, which ends with it.
  type, bind(C), public :: tw_field
    type(c_ptr) :: handle = c_null_ptr
    type(c_ptr) :: session = c_null_ptr
  end type tw_field

  interface

    !> call tw_history_coordinate(h, name, dims, array [, decomposition] [, attributes] [, ierr])
    !>
    !> Declares a coordinate, or another variable without time, of the fields that have its
    !> dimension or name it in an attribute. It is copied, and written once a file.
    !>   dims           names in file order, fastest first; '' for a scalar
    !>   array          as for tw_put
    !>   decomposition  of the array; without it, every rank has the whole array
    !>   attributes     'units=degrees_north; standard_name=latitude'
    !> Errors: TW_EARG, TW_EEXISTS, TW_ESHAPE, TW_ETYPE, TW_EHANDLE, TW_ESTATE. Local; the same
    !> arguments on every rank, except for the array.
    subroutine tw_history_coordinate(h, name, dims, array, decomposition, attributes, ierr) &
        bind(C, name='thalweg_f_coordinate')
      import :: tw_history, tw_decomposition, c_char, c_int
      type(tw_history), intent(in) :: h
      character(len=*, kind=c_char), intent(in) :: name, dims
      type(*), dimension(..), intent(in) :: array
      type(tw_decomposition), intent(in), optional :: decomposition
      character(len=*, kind=c_char), intent(in), optional :: attributes
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_history_coordinate

    !> call tw_send(field, array [, weight] [, ierr])
    !>
    !> Sends this rank's part of a field, for the time of the last tw_history_time. Fields that no
    !> stream uses are ignored.
    !>   array   as for tw_put, of the field's type
    !>   weight  in place of the step's length: 0 adds nothing; the same on every rank
    !> Errors: TW_ETYPE, TW_ESHAPE, TW_EARG, TW_EHANDLE, TW_ESTATE (before tw_history_time, or sent
    !> twice in a step). Local.
    subroutine tw_send(field, array, weight, ierr) bind(C, name='thalweg_f_send')
      import :: tw_field, c_double, c_int
      type(tw_field), intent(in) :: field
      type(*), dimension(..), intent(in) :: array
      real(c_double), intent(in), optional :: weight
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_send

    !> call tw_send_block(field, block, array [, ierr])
    !>
    !> Sends one box of the field's decomposition; each box once a step.
    !>   block  1 is this rank's first box
    !>   array  contiguous; the box with its halo
    !> Errors: as tw_send; TW_EBOUNDS. Local.
    subroutine tw_send_block(field, block, array, ierr) bind(C, name='thalweg_f_send_block')
      import :: tw_field, c_int
      type(tw_field), intent(in) :: field
      integer(c_int), intent(in) :: block
      type(*), dimension(..), intent(in) :: array
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_send_block

    integer(c_int) function c_open(session, config, calendar, start, settings, history) &
        bind(C, name='tw_history_open')
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: config(*), calendar(*), start(*), settings(*)
      type(c_ptr), intent(inout) :: history
    end function c_open

    integer(c_int) function c_field(history, name, type, dims, decomposition, attributes, field) &
        bind(C, name='tw_history_field')
      import
      type(c_ptr), value :: history
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: type
      character(kind=c_char), intent(in) :: dims(*)
      type(c_ptr), value :: decomposition
      character(kind=c_char), intent(in) :: attributes(*)
      type(c_ptr), intent(inout) :: field
    end function c_field

    integer(c_int) function c_time(history, seconds) bind(C, name='tw_history_time')
      import
      type(c_ptr), value :: history
      real(c_double), value :: seconds
    end function c_time

    integer(c_int) function c_memory(history, now, most) bind(C, name='tw_history_memory')
      import
      type(c_ptr), value :: history
      integer(c_int64_t), intent(out) :: now, most
    end function c_memory
  end interface
  procedure(handle_function), bind(C, name='tw_history_ready') :: c_ready
  procedure(handle_function), bind(C, name='tw_wants') :: c_wants
  procedure(handle_function), bind(C, name='tw_history_end_step') :: c_end_step
  procedure(pair_function), bind(C, name='tw_history_save') :: c_save
  procedure(pair_function), bind(C, name='tw_history_load') :: c_load
  procedure(ending_function), bind(C, name='tw_history_close') :: c_close

contains

  !> h = tw_history_open(io, config, calendar, start [, settings] [, ierr]): begins a history.
  !>   config    path of a TOML file; or its text, if it has a newline
  !>   calendar  CF's name: 'standard', 'noleap', '360_day', ...
  !>   start     date of time 0, '2000-01-01' or '2000-01-01 06:00:00'; that of the first run
  !>   settings  as for tw_create, for all files; and 'step=1800', the model's step in seconds
  !> Errors: TW_EARG, TW_EIO, TW_ESETTING (the text has all errors, with their lines),
  !> TW_EMISMATCH. Collective.
  function tw_history_open(io, config, calendar, start, settings, ierr) result(h)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: config, calendar, start
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(tw_history) :: h
    h%session = io%handle
    call check(c_open(io%handle, c_text(config), c_text(calendar), c_text(start), &
      c_settings(settings), h%handle), io%handle, 'tw_history_open', ierr)
  end function tw_history_open

  !> field = tw_history_field(h, name, type, dims [, decomposition] [, attributes] [, ierr]):
  !> declares a field.
  !>   type           TW_FLOAT, ...: type of the arrays that are sent
  !>   dims           names in file order, fastest first, without time: 'lon lat lev'
  !>   decomposition  of the field; without it, every rank has the whole field
  !>   attributes     'units=K; standard_name=air_temperature; missing=varying; missing_value=1e20'
  !> Errors: as tw_history_coordinate. Local; the same arguments on every rank.
  function tw_history_field(h, name, type, dims, decomposition, attributes, ierr) result(field)
    type(tw_history), intent(in) :: h
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: type
    character(len=*), intent(in) :: dims
    type(tw_decomposition), intent(in), optional :: decomposition
    character(len=*), intent(in), optional :: attributes
    integer(c_int), intent(out), optional :: ierr
    type(tw_field) :: field
    type(c_ptr) :: holders
    holders = c_null_ptr
    field%session = h%session
    if (present(decomposition)) then
      holders = decomposition%handle
      if (.not. c_associated(holders)) then
        call check(TW_EHANDLE, c_null_ptr, &
          'tw_history_field: the decomposition was never created, or was freed', ierr)
        return
      end if
    end if
    call check(c_field(h%handle, c_text(name), type, reversed(dims), holders, &
      c_settings(attributes), field%handle), h%session, 'tw_history_field', ierr)
  end function tw_history_field

  !> Ends the declarations, checks the configuration against them and reserves memory.
  !> Errors: TW_ESETTING (the text has all errors), TW_EMISMATCH, TW_ENOMEM, TW_ESTATE. Collective.
  subroutine tw_history_ready(h, ierr)
    type(tw_history), intent(in) :: h
    integer(c_int), intent(out), optional :: ierr
    call check(c_ready(h%handle), h%session, 'tw_history_ready', ierr)
  end subroutine tw_history_ready

  !> Sets the time to which the fields sent from now on belong: the end of the step, in seconds
  !> since the start. It grows from step to step. Errors: TW_EARG, TW_ESTATE. Local.
  subroutine tw_history_time(h, seconds, ierr)
    type(tw_history), intent(in) :: h
    real(c_double), intent(in) :: seconds
    integer(c_int), intent(out), optional :: ierr
    call check(c_time(h%handle, seconds), h%session, 'tw_history_time', ierr)
  end subroutine tw_history_time

  !> Tests if a field sent now would be used. Costs one comparison. Local.
  function tw_wants(field) result(wanted)
    type(tw_field), intent(in) :: field
    logical :: wanted
    wanted = c_wants(field%handle) /= 0
  end function tw_wants

  !> Ends the step: writes the records that are due. A step in which none is due makes no call of
  !> MPI. Errors: TW_EMISSING, TW_EMISMATCH, TW_EARG, TW_ERANGE, TW_ESTATE, or one of the files; the
  !> record is then lost, and the model may go on. Collective if a record is due.
  subroutine tw_history_end_step(h, ierr)
    type(tw_history), intent(in) :: h
    integer(c_int), intent(out), optional :: ierr
    call check(c_end_step(h%handle), h%session, 'tw_history_end_step', ierr)
  end subroutine tw_history_end_step

  !> Syncs the records that the history has written so far, and registers its state in a restart.
  !> Must be called before each tw_restart_write. Errors: TW_ESTATE, or one of tw_restart_add or of
  !> the files. Collective.
  subroutine tw_history_save(h, restart, ierr)
    type(tw_history), intent(in) :: h
    type(tw_restart), intent(in) :: restart
    integer(c_int), intent(out), optional :: ierr
    call check(c_save(h%handle, restart%handle), h%session, 'tw_history_save', ierr)
  end subroutine tw_history_save

  !> Reads the state that tw_history_save registered, on any number of ranks: after
  !> tw_history_ready, before the first tw_history_time. The next records continue the files.
  !>   file  as tw_restart_read has opened it
  !> Errors: TW_EDIFFERENT (a stream's definition has changed), TW_ENOTFOUND, TW_EFORMAT, or one of
  !> tw_get. Collective.
  subroutine tw_history_load(h, file, ierr)
    type(tw_history), intent(in) :: h
    type(tw_file), intent(in) :: file
    integer(c_int), intent(out), optional :: ierr
    call check(c_load(h%handle, file%handle), h%session, 'tw_history_load', ierr)
  end subroutine tw_history_load

  !> Returns the bytes that this rank keeps from step to step for windows that are open, now and at
  !> most so far. Errors: TW_EHANDLE, TW_ECLOSED. Local.
  subroutine tw_history_memory(h, now, most, ierr)
    type(tw_history), intent(in) :: h
    integer(c_int64_t), intent(out) :: now, most
    integer(c_int), intent(out), optional :: ierr
    call check(c_memory(h%handle, now, most), h%session, 'tw_history_memory', ierr)
  end subroutine tw_history_memory

  !> Ends the step, if that was not done, and the history, and closes its files. Windows that
  !> are not complete are dropped, or written if the configuration says at_close = "write". Errors:
  !> as tw_history_end_step and tw_close; TW_EMISMATCH (the ranks are at different times).
  !> Collective.
  subroutine tw_history_close(h, ierr)
    type(tw_history), intent(inout) :: h
    integer(c_int), intent(out), optional :: ierr
    call check(c_close(h%handle), h%session, 'tw_history_close', ierr)
  end subroutine tw_history_close

end module thalweg_history
