! SPDX-License-Identifier: Apache-2.0
!
!> Sessions: beginning, end, errors and summary: part of module thalweg.
module thalweg_session
  use, intrinsic :: iso_c_binding
#ifdef THALWEG_MPI_F08
  use mpi_f08, only: MPI_Comm
#endif
  use thalweg_base, only: tw_session, TW_OK
  use thalweg_c, only: check, c_text, c_settings, ending_function, f_text
  implicit none
  private

#ifndef THALWEG_SERIAL
  public :: tw_init, tw_init_components, tw_model_comm, tw_model_comm_integer
#endif
  public :: tw_init_serial, tw_finalize, tw_abandon, tw_cancel, tw_wait, tw_inq_role, tw_is_server, tw_strerror, &
    tw_error_message, tw_summary

  !> Forms of the text that tw_summary returns.
  integer(c_int), parameter, public :: TW_SUMMARY_JSON = 0
  integer(c_int), parameter, public :: TW_SUMMARY_TABLE = 1
  integer(c_int), parameter, public :: TW_SUMMARY_SETTINGS = 2

  ! The roles of a rank in its session.
  integer(c_int), parameter, public :: TW_MODEL = 0
  integer(c_int), parameter, public :: TW_SERVER = 1

#ifndef THALWEG_SERIAL
  !> io = tw_init(comm [, settings] [, ierr])
  !>
  !> Starts a session on a duplicate of comm.
  !>   comm      the participating ranks: type(MPI_Comm) of mpi_f08 (where the library was built with it),
  !>             or the integer of the module mpi and of mpif.h
  !>   settings  'name=value; ...', e.g. 'method=record; format=cdf5'. The environment
  !>             (THALWEG_METHOD, ...) overrides them; they override the configuration file.
  !> After an error the session can still be used for tw_error_message, and must be freed with
  !> tw_finalize.
  !> Errors: TW_EARG, TW_ESETTING, TW_ENOMEM, TW_EMPI. Collective over comm.
  interface tw_init
#ifdef THALWEG_MPI_F08
    module procedure init_mpi_f08
#endif
    module procedure init_mpi
  end interface tw_init

  !> call tw_init_components(comm, components, serves, ios [, settings] [, ierr])
  !>
  !> Starts the sessions of a coupled model whose components share their servers. Each rank is
  !> either a server, or in one or several components, or in none. A server is in all sessions: it
  !> returns from this call when all of them have ended, and then calls tw_finalize for each.
  !>   comm           all ranks of the components, and the servers; type(MPI_Comm) or integer
  !>   components(:)  the communicator of each component's ranks, of comm's type; MPI_COMM_NULL where this
  !>                  rank is not in the component
  !>   serves         .true. if this rank is a server; at least one is
  !>   ios(:)         receives as many sessions; those of components in which this rank is not are
  !>                  tw_session()
  !>   settings       as in tw_init, for all sessions; 'servers' must not be given. Files are written by the
  !>                  servers with 'service=servers'
  !> After an error no session can be used for more than tw_error_message; each must be freed with
  !> tw_finalize, if it is not tw_session().
  !> Errors: TW_EARG (a component has no ranks, or its communicator has other ranks; a rank of a component
  !> serves; no rank serves; the arrays differ in size), TW_EMISMATCH, TW_ESETTING, TW_ENOMEM, TW_EMPI; the
  !> same on every rank. Collective over comm.
  interface tw_init_components
#ifdef THALWEG_MPI_F08
    module procedure init_components_mpi_f08
#endif
    module procedure init_components_mpi
  end interface tw_init_components
#endif

  interface
#ifndef THALWEG_SERIAL
    integer(c_int) function c_init(comm, settings, session) bind(C, name='thalweg_f_init')
      import
      integer(c_int), value :: comm
      character(kind=c_char), intent(in) :: settings(*)
      type(c_ptr), intent(inout) :: session
    end function c_init

    integer(c_int) function c_init_components(comm, n, components, serves, settings, sessions) &
      bind(C, name='thalweg_f_init_components')
      import
      integer(c_int), value :: comm, n, serves
      integer(c_int), intent(in) :: components(*)
      character(kind=c_char), intent(in) :: settings(*)
      type(c_ptr), intent(inout) :: sessions(*)
    end function c_init_components

    integer(c_int) function c_model_comm(session, comm) bind(C, name='thalweg_f_model_comm')
      import
      type(c_ptr), value :: session
      integer(c_int), intent(out) :: comm
    end function c_model_comm
#endif

    integer(c_int) function c_init_serial(settings, session) bind(C, name='thalweg_f_init_serial')
      import
      character(kind=c_char), intent(in) :: settings(*)
      type(c_ptr), intent(inout) :: session
    end function c_init_serial

    integer(c_int) function c_cancel(session, why) bind(C, name='tw_cancel')
      import
      type(c_ptr), intent(inout) :: session
      character(kind=c_char), intent(in) :: why(*)
    end function c_cancel

    integer(c_int) function c_wait(session, most) bind(C, name='tw_wait')
      import
      type(c_ptr), value :: session
      integer(c_int64_t), value :: most
    end function c_wait

    type(c_ptr) function c_strerror(status) bind(C, name='tw_strerror')
      import
      integer(c_int), value :: status
    end function c_strerror

    integer(c_int) function c_inq_role(session, role) bind(C, name='tw_inq_role')
      import
      type(c_ptr), value :: session
      integer(c_int), intent(inout) :: role
    end function c_inq_role

    type(c_ptr) function c_error_message(session) &
        bind(C, name='thalweg_f_error_message')
      import
      type(c_ptr), value :: session
    end function c_error_message

    integer(c_int) function c_summary(session, form, text) bind(C, name='tw_summary')
      import
      type(c_ptr), value :: session
      integer(c_int), value :: form
      type(c_ptr), intent(inout) :: text
    end function c_summary
  end interface
  procedure(ending_function), bind(C, name='tw_finalize') :: c_finalize
  procedure(ending_function), bind(C, name='tw_abandon') :: c_abandon

contains

#ifdef THALWEG_MPI_F08
  function init_mpi_f08(comm, settings, ierr) result(io)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(tw_session) :: io
    io = init_mpi(comm%MPI_VAL, settings, ierr)
  end function init_mpi_f08
#endif

#ifndef THALWEG_SERIAL
  function init_mpi(comm, settings, ierr) result(io)
    integer, intent(in) :: comm
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(tw_session) :: io
    integer(c_int) :: status
    status = c_init(int(comm, c_int), c_settings(settings), io%handle)
    call check(status, io%handle, 'tw_init', ierr)
  end function init_mpi
#endif

#ifdef THALWEG_MPI_F08
  subroutine init_components_mpi_f08(comm, components, serves, ios, settings, ierr)
    type(MPI_Comm), intent(in) :: comm
    type(MPI_Comm), intent(in) :: components(:)
    logical, intent(in) :: serves
    type(tw_session), intent(inout) :: ios(:)
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    call init_components_mpi(comm%MPI_VAL, components%MPI_VAL, serves, ios, settings, ierr)
  end subroutine init_components_mpi_f08
#endif

#ifndef THALWEG_SERIAL
  subroutine init_components_mpi(comm, components, serves, ios, settings, ierr)
    integer, intent(in) :: comm
    integer, intent(in) :: components(:)
    logical, intent(in) :: serves
    type(tw_session), intent(inout) :: ios(:)
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(c_ptr) :: handles(size(components))
    integer(c_int) :: status, n
    ! Sizes that do not fit are an error on all ranks.
    n = merge(size(components), -1, size(components) == size(ios))
    handles = c_null_ptr
    status = c_init_components(int(comm, c_int), n, int(components, c_int), merge(1_c_int, 0_c_int, serves), &
                               c_settings(settings), handles)
    if (n > 0) ios%handle = handles
    call check(status, c_null_ptr, 'tw_init_components', ierr)
  end subroutine init_components_mpi
#endif

  !> Starts a session of this process alone: for programs without MPI. If MPI is running, this is
  !> tw_init with MPI_COMM_SELF. If it is not, the session may begin and end at any time, and
  !> storage=pnetcdf is an error. Processes that a launcher started each have a session of their
  !> own, and must write files of their own. Errors: TW_ESETTING, TW_ENOMEM.
  function tw_init_serial(settings, ierr) result(io)
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(tw_session) :: io
    integer(c_int) :: status
    status = c_init_serial(c_settings(settings), io%handle)
    call check(status, io%handle, 'tw_init_serial', ierr)
  end function tw_init_serial

  !> Closes the files still open, writes the summary if the setting 'summary' asks for it, and frees
  !> the session with its decompositions, files and restarts. Their handles must not be used
  !> afterwards.
  !> Errors: the first one that no other call has returned yet; TW_EMPI if MPI_Finalize was called
  !> first. Collective.
  subroutine tw_finalize(io, ierr)
    type(tw_session), intent(inout) :: io
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: status
    status = c_finalize(io%handle)
    call check(status, io%handle, 'tw_finalize', ierr)
  end subroutine tw_finalize

  !> Ends this rank's part of a session without the others: for a program that cannot continue and
  !> is about to call MPI_Abort or error stop. Open files remain as PATH.part; tw_recover, or the
  !> command thalweg recover, can complete them. Errors: TW_EHANDLE. Local.
  subroutine tw_abandon(io, ierr)
    type(tw_session), intent(inout) :: io
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: status
    status = c_abandon(io%handle)
    call check(status, io%handle, 'tw_abandon', ierr)
  end subroutine tw_abandon

  !> Ends the session on all ranks, because this rank cannot go on with the others. They get
  !> TW_ECANCELED, with this rank and the text, from the collective call of this session that they
  !> are in or make next, and from later ones. Open files remain as PATH.part. Waits until all ranks
  !> are in such a call: if some of them may wait for this rank elsewhere, use tw_abandon. Errors:
  !> TW_EHANDLE. Collective, but the other ranks may be in other calls.
  subroutine tw_cancel(io, why, ierr)
    type(tw_session), intent(inout) :: io
    character(*), intent(in) :: why
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: status
    status = c_cancel(io%handle, c_text(why))
    call check(status, io%handle, 'tw_cancel', ierr)
  end subroutine tw_cancel

  !> Waits for files that were closed with close=later, the oldest first, until at most `most` of
  !> them (default 0) are incomplete; with a large number it does not wait, and only gives the files
  !> that are written their final names. Errors: that of a file that failed after tw_close, if no
  !> call has returned it yet; TW_EARG, TW_EMISMATCH. Collective.
  subroutine tw_wait(io, most, ierr)
    type(tw_session), intent(in) :: io
    integer, intent(in), optional :: most
    integer(c_int), intent(out), optional :: ierr
    integer(c_int64_t) :: left
    left = 0
    if (present(most)) left = int(most, c_int64_t)
    call check(c_wait(io%handle, left), io%handle, 'tw_wait', ierr)
  end subroutine tw_wait

  !> Returns this rank's role, TW_MODEL or TW_SERVER. With the setting 'servers' some ranks are
  !> dedicated to I/O: on them tw_init runs the server, and returns when all model ranks have called
  !> tw_finalize; a server then only has to call tw_finalize itself. Errors: TW_EHANDLE. Local.
  function tw_inq_role(io, ierr) result(role)
    type(tw_session), intent(in) :: io
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: role
    integer(c_int) :: status
    role = TW_MODEL
    status = c_inq_role(io%handle, role)
    call check(status, io%handle, 'tw_inq_role', ierr)
  end function tw_inq_role

  !> Tests if this rank is a server: tw_inq_role(io) == TW_SERVER. Errors: TW_EHANDLE. Local.
  function tw_is_server(io, ierr) result(server)
    type(tw_session), intent(in) :: io
    integer(c_int), intent(out), optional :: ierr
    logical :: server
    server = tw_inq_role(io, ierr) == TW_SERVER
  end function tw_is_server

#ifndef THALWEG_SERIAL
  !> Returns the communicator of the ranks that are not servers, in the order of the session's
  !> communicator; the model uses it in place of the one it passed to tw_init. It belongs to the
  !> session and is valid until tw_finalize; MPI_COMM_NULL on a server. The type is type(MPI_Comm)
  !> of mpi_f08, or integer if the library was built without mpi_f08. Errors: TW_EHANDLE. Local.
  function tw_model_comm(io, ierr) result(comm)
    type(tw_session), intent(in) :: io
    integer(c_int), intent(out), optional :: ierr
#ifdef THALWEG_MPI_F08
    type(MPI_Comm) :: comm
    comm%MPI_VAL = model_comm(io, 'tw_model_comm', ierr)
#else
    integer :: comm
    comm = model_comm(io, 'tw_model_comm', ierr)
#endif
  end function tw_model_comm

  !> Returns the communicator of tw_model_comm as an integer, as the module mpi and mpif.h use it,
  !> in every build. Errors: TW_EHANDLE. Local.
  function tw_model_comm_integer(io, ierr) result(comm)
    type(tw_session), intent(in) :: io
    integer(c_int), intent(out), optional :: ierr
    integer :: comm
    comm = model_comm(io, 'tw_model_comm_integer', ierr)
  end function tw_model_comm_integer

  function model_comm(io, procedure, ierr) result(comm)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: procedure
    integer(c_int), intent(out), optional :: ierr
    integer :: comm
    integer(c_int) :: status, number
    status = c_model_comm(io%handle, number)
    comm = number
    call check(status, io%handle, procedure, ierr)
  end function model_comm
#endif

  !> Returns the name and text of a status code: 'TW_EBOUNDS: index out of bounds'. Local.
  function tw_strerror(status) result(text)
    integer(c_int), intent(in) :: status
    character(len=:), allocatable :: text
    text = f_text(c_strerror(status))
  end function tw_strerror

  !> Returns the full text of this rank's last error in this session, '' if there was none. Local.
  function tw_error_message(io) result(text)
    type(tw_session), intent(in) :: io
    character(len=:), allocatable :: text
    text = f_text(c_error_message(io%handle))
  end function tw_error_message

  !> text = tw_summary(io [, form] [, ierr]): a summary of the session so far, the same on every
  !> rank.
  !>   form  TW_SUMMARY_JSON (default): phases (seconds of the slowest rank), bytes, messages, peak
  !>         memory, totals per file; TW_SUMMARY_TABLE: the most important of these figures, to be
  !>         printed; TW_SUMMARY_SETTINGS: all settings, and where each value comes from
  !> Errors: TW_EARG, TW_EHANDLE, TW_EMISMATCH. Collective.
  function tw_summary(io, form, ierr) result(text)
    type(tw_session), intent(in) :: io
    integer(c_int), intent(in), optional :: form
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: text
    type(c_ptr) :: words
    integer(c_int) :: chosen, status
    words = c_null_ptr
    chosen = TW_SUMMARY_JSON
    if (present(form)) chosen = form
    status = c_summary(io%handle, chosen, words)
    text = ''
    if (status == TW_OK) text = f_text(words)
    call check(status, io%handle, 'tw_summary', ierr)
  end function tw_summary

end module thalweg_session
