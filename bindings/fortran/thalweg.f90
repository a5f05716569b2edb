! SPDX-License-Identifier: Apache-2.0
!
!> Thalweg: parallel output of Earth-system model fields in file order. The Fortran interface.
!>
!> Conventions
!> - Dimension names are listed fastest first, as Fortran's arrays are: 'lon lat lev time'. Shapes,
!>   starts, counts and halos follow the same order. Indices and records start at 1.
!> - Trailing blanks of names, paths and settings do not count.
!> - Every procedure has an optional last argument ierr, a default integer: TW_OK or one of the
!>   negative codes; tw_error_message gives the full text. Without ierr an error prints this text
!>   to standard error and stops all ranks of the program (MPI_Abort).
!> - A procedure marked "Collective" must be called by every rank of the session's communicator,
!>   and gives the same status on each. All others are local: no rank waits for another.
!> - Lengths, counts and indices are 64-bit or default integers.
module thalweg
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use mpi_f08, only: MPI_Comm
  use thalweg_base, only: tw_session, tw_decomposition, tw_file, &
    TW_BYTE, TW_CHAR, TW_SHORT, TW_INT, TW_FLOAT, TW_DOUBLE, TW_UBYTE, TW_USHORT, TW_UINT, &
    TW_INT64, TW_UINT64, TW_UNLIMITED, TW_MODEL, TW_SERVER, &
    TW_OK, TW_EHANDLE, TW_EARG, TW_ENOTFOUND, TW_EEXISTS, TW_ESHAPE, TW_EBOUNDS, TW_EOVERLAP, &
    TW_ETYPE, TW_ERANGE, TW_ESTATE, TW_EMISMATCH, TW_EMISSING, TW_EFORMAT, TW_EIO, TW_EINUSE, &
    TW_ESETTING, TW_ECLOSED, TW_ENOMEM, TW_EMPI, TW_ENETCDF, TW_EUNSUPPORTED, TW_EINTERNAL, &
    TW_ECHECKSUM, TW_EDIFFERENT, TW_KEEP_LATER, TW_DROP_LATER
  use thalweg_base, only: check, name_count, reversed, c_text, c_settings, f_text, &
    c_init, c_finalize, c_strerror, c_error_message, c_print_config, c_summary, &
    c_print_summary, c_decompose, c_create, c_open, c_def_dim, c_def_var, c_set_var, &
    c_set_record, c_enddef, c_end_step, c_sync, c_close, c_inq_dim, c_inq_role, c_model_comm, &
    c_recover
  use thalweg_lists, only: tw_decompose_list
  use thalweg_reading, only: tw_inq, tw_inq_dim_name, tw_inq_unlimited, tw_inq_var_name, &
    tw_inq_var, tw_inq_var_dim, tw_inq_att_name, tw_inq_att, tw_get_att, tw_get_att_text, &
    tw_get_deferred, tw_read, tw_prefetch, tw_fill_halo, TW_HALO_KEEP, TW_HALO_CLIP, &
    TW_HALO_PERIODIC
  use thalweg_restart, only: tw_restart, tw_restart_new, tw_restart_free, tw_restart_def_dim, &
    tw_restart_add, tw_restart_put_att, tw_restart_write, tw_restart_read, tw_restart_found, &
    tw_restart_inq_att, tw_restart_get_att, tw_restart_get_att_text, TW_REQUIRED, TW_OPTIONAL
  implicit none
  private

  public :: tw_session, tw_decomposition, tw_file, tw_restart
  public :: TW_BYTE, TW_CHAR, TW_SHORT, TW_INT, TW_FLOAT, TW_DOUBLE, TW_UBYTE, TW_USHORT, &
    TW_UINT, TW_INT64, TW_UINT64, TW_UNLIMITED, TW_MODEL, TW_SERVER
  public :: TW_OK, TW_EHANDLE, TW_EARG, TW_ENOTFOUND, TW_EEXISTS, TW_ESHAPE, TW_EBOUNDS, &
    TW_EOVERLAP, TW_ETYPE, TW_ERANGE, TW_ESTATE, TW_EMISMATCH, TW_EMISSING, TW_EFORMAT, TW_EIO, &
    TW_EINUSE, TW_ESETTING, TW_ECLOSED, TW_ENOMEM, TW_EMPI, TW_ENETCDF, TW_EUNSUPPORTED, &
    TW_EINTERNAL, TW_ECHECKSUM, TW_EDIFFERENT, TW_KEEP_LATER, TW_DROP_LATER
  public :: tw_init, tw_finalize, tw_inq_role, tw_is_server, tw_model_comm, tw_strerror, &
    tw_error_message, tw_print_config, tw_summary, tw_print_summary, tw_decompose, &
    tw_decompose_list
  public :: tw_create, tw_open, tw_def_dim, tw_def_var, tw_put_att, tw_set_var, &
    tw_set_record, tw_enddef, tw_put, tw_put_deferred, tw_put_box, tw_end_step, tw_sync, &
    tw_close, tw_recover, tw_inq_dim, tw_get
  public :: tw_inq, tw_inq_dim_name, tw_inq_unlimited, tw_inq_var_name, tw_inq_var, &
    tw_inq_var_dim, tw_inq_att_name, tw_inq_att, tw_get_att, tw_get_att_text, tw_get_deferred, &
    tw_read, tw_prefetch, tw_fill_halo, TW_HALO_KEEP, TW_HALO_CLIP, TW_HALO_PERIODIC
  public :: tw_restart_new, tw_restart_free, tw_restart_def_dim, tw_restart_add, &
    tw_restart_put_att, tw_restart_write, tw_restart_read, tw_restart_found, tw_restart_inq_att, &
    tw_restart_get_att, tw_restart_get_att_text, TW_REQUIRED, TW_OPTIONAL

  !> io = tw_init(comm [, settings] [, ierr])
  !>
  !> Starts a session on a duplicate of comm.
  !>   comm      the ranks that take part: type(MPI_Comm) of mpi_f08, or the integer of mpi
  !>   settings  'name=value; ...', e.g. 'method=record; format=cdf5'. The environment
  !>             (THALWEG_METHOD, ...) overrides them; they override the configuration file.
  !> After an error the session is still there for tw_error_message and tw_finalize.
  !> Errors: TW_EARG, TW_ESETTING, TW_ENOMEM, TW_EMPI. Collective over comm.
  interface tw_init
    module procedure init_mpi_f08
    module procedure init_mpi
  end interface tw_init

  !> d = tw_decompose(io, dims, shape, start, count [, halo_low] [, halo_high] [, ierr])
  !>
  !> Declares which elements of an index space this rank holds: any number of boxes.
  !>   dims       names in the order of the array in memory, fastest first: 'lon lev lat'
  !>   shape      (ndims) global lengths, the same on every rank
  !>   start      (ndims) first global index of this rank's box, from 1; or (ndims, nblocks), one
  !>              column a box; nblocks may be 0 and may differ between ranks
  !>   count      as start: the lengths of each box
  !>   halo_low   (ndims) elements that the array has before each box, e.g. [1, 0, 1]; for tw_get
  !>   halo_high  and tw_put with the whole array, an array section does not need them
  !> The integers are all of kind int32 or all of kind int64.
  !> Errors: TW_EARG, TW_ESHAPE, TW_EBOUNDS, TW_EOVERLAP (an element held twice), TW_EMISMATCH.
  !> Collective.
  interface tw_decompose
    module procedure box_int32
    module procedure box_int64
    module procedure boxes_int32
    module procedure boxes_int64
  end interface tw_decompose

  !> call tw_def_dim(file, name, length [, ierr]): defines a dimension; TW_UNLIMITED makes the
  !> record dimension. Needed only for dimensions that no decomposition names.
  !>   length  default or 64-bit integer
  !> Errors: TW_EARG, TW_EEXISTS, TW_ESTATE, TW_EFORMAT, TW_ECLOSED. Local; every rank alike.
  interface tw_def_dim
    module procedure def_dim_int32
    module procedure def_dim_int64
  end interface tw_def_dim

  !> call tw_set_record(file, record [, later] [, ierr]): of a file opened with mode=append: which
  !> of its records the first step writes, in place of the one behind the last. Each step then
  !> writes the next record, whole: variables that are not put are filled.
  !>   record  from 1 to the number of records and 1; default or 64-bit integer
  !>   later   the records from there on: TW_KEEP_LATER (default): they stay until they are written
  !>           over; TW_DROP_LATER: they are dropped when the definitions end
  !> Errors: TW_EBOUNDS, TW_EARG, TW_ESTATE, TW_ECLOSED. Local, before the definitions end; every
  !> rank alike.
  interface tw_set_record
    module procedure set_record_int32
    module procedure set_record_int64
  end interface tw_set_record

  ! These take any array as it is: type, kind, rank, extents and strides travel in its descriptor,
  ! and neither the compiler nor this interface copies it.
  interface

    !> call tw_put(file, name, array [, ierr])
    !>
    !> Hands over this rank's part of the variable `name`; of a record variable, for the record
    !> under way. The array may change when the call returns.
    !>   array  of type integer (1, 2, 4, 8 bytes), real (4, 8) or character, any strides: the box
    !>          of the variable's decomposition in the decomposition's order, with or without its
    !>          halo; with one more, last, dimension where a rank has several boxes (extents as for
    !>          the largest box). Replicated variables: all of it, the same on every rank; a scalar
    !>          for a variable without dimensions. Numbers are converted as netCDF does.
    !>          character(len=n) with n /= 1 has a first dimension of n letters more. An array that
    !>          is not allocated counts as empty.
    !> Errors: TW_ENOTFOUND, TW_ETYPE (logical, complex, derived types; numbers into text or text
    !> into numbers), TW_ESHAPE, TW_ESTATE, TW_ECLOSED, TW_ENOMEM, or an earlier failed write of
    !> the file.
    !> Local, but for the first call of a file in define mode, which does tw_enddef.
    subroutine tw_put(file, name, array, ierr) bind(C, name='thalweg_f_put')
      import :: tw_file, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(in) :: array
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_put

    !> call tw_put_deferred(file, name, array [, ierr])
    !>
    !> As tw_put, but without the copy: the array must stay as it is, and where it is, until
    !> tw_end_step, tw_sync or tw_close of the file returns. So it must be a variable or a section
    !> of one, not an expression, and should have the attribute target or asynchronous.
    subroutine tw_put_deferred(file, name, array, ierr) bind(C, name='thalweg_f_put_deferred')
      import :: tw_file, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(in), asynchronous :: array
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_put_deferred

  end interface

  !> call tw_put_box(file, name, array, start, count [, ierr])
  !>
  !> Puts a box of a variable, whatever its decomposition; it becomes part of the file at the next
  !> tw_end_step, tw_sync or tw_close. A file that is written by boxes is written by boxes alone.
  !>   array         as for tw_put, of as many elements as the box has, in the order of the
  !>                 variable's dimensions; free for reuse when the call returns. One that is not
  !>                 contiguous is copied.
  !>   start, count  of all dimensions of the variable, fastest first, the record dimension
  !>                 included; start from 1; a count of 0 puts nothing. Both of kind int32 or both
  !>                 of kind int64.
  !> Errors: TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE (start, count and array do not fit each other),
  !> TW_EBOUNDS, TW_ERANGE, TW_ESTATE (tw_put was used on the file, or its service is inline),
  !> TW_ECLOSED, TW_ENOMEM, or an earlier failure of the file. Local.
  interface tw_put_box
    subroutine put_box_int32(file, name, array, start, count, ierr) &
        bind(C, name='thalweg_f_put_box_int32')
      import :: tw_file, c_char, c_int, c_int32_t
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(in) :: array
      integer(c_int32_t), intent(in) :: start(:), count(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine put_box_int32
    subroutine put_box_int64(file, name, array, start, count, ierr) &
        bind(C, name='thalweg_f_put_box_int64')
      import :: tw_file, c_char, c_int, c_int64_t
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(in) :: array
      integer(c_int64_t), intent(in) :: start(:), count(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine put_box_int64
  end interface tw_put_box

  interface

    !> call tw_get(file, name, array [, decomposition] [, record] [, ierr])
    !>
    !> Reads this rank's part of a variable, whatever the order of its dimensions in the file.
    !>   array          as for tw_put; halos are left as they are unless tw_fill_halo says
    !>                  otherwise
    !>   decomposition  who wants what; without it every rank reads the whole variable
    !>   record         from 1, which is the default; ignored for variables without records
    !> Errors: TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE, TW_EBOUNDS (no such record), TW_ERANGE, TW_EIO,
    !> TW_EHANDLE (a decomposition that was never made). Collective.
    subroutine tw_get(file, name, array, decomposition, record, ierr) bind(C, name='thalweg_f_get')
      import :: tw_file, tw_decomposition, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(inout) :: array
      type(tw_decomposition), intent(in), optional :: decomposition
      integer(c_int), intent(in), optional :: record
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_get

    !> call tw_put_att(file, var, name, value [, ierr])
    !>
    !> Sets an attribute of a variable or, with var = '', of the file.
    !>   value  a character scalar (all of it, trailing blanks too), or a number or rank-1 array of
    !>          numbers: integer (1, 2, 4, 8 bytes) or real (4, 8). The attribute gets its type.
    !> Allowed until tw_close, and to be the same on every rank (found by tw_enddef or tw_close).
    !> Errors: TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE (rank above 1), TW_EFORMAT (8-byte integers need
    !> CDF-5), TW_ESTATE, TW_ECLOSED, TW_ENOMEM. Local.
    subroutine tw_put_att(file, var, name, value, ierr) bind(C, name='thalweg_f_put_att')
      import :: tw_file, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: var, name
      type(*), dimension(..), intent(in) :: value
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_put_att

  end interface

contains

  ! ---- session ---------------------------------------------------------------------------------

  function init_mpi_f08(comm, settings, ierr) result(io)
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(tw_session) :: io
    io = init_mpi(comm%MPI_VAL, settings, ierr)
  end function init_mpi_f08

  function init_mpi(comm, settings, ierr) result(io)
    integer, intent(in) :: comm
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(tw_session) :: io
    integer(c_int) :: status
    status = c_init(int(comm, c_int), c_settings(settings), io%handle)
    call check(status, io%handle, c_text('tw_init'), ierr)
  end function init_mpi

  !> Closes the files still open, writes the summary if the settings ask for it, frees the session
  !> with its decompositions and files. Their handles must not be used any more.
  !> Errors: the first one that no other call has returned. Collective.
  subroutine tw_finalize(io, ierr)
    type(tw_session), intent(inout) :: io
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: status
    status = c_finalize(io%handle)
    call check(status, io%handle, c_text('tw_finalize'), ierr)
  end subroutine tw_finalize

  !> This rank's role, TW_MODEL or TW_SERVER. With the setting 'servers' some ranks are set aside:
  !> on them tw_init serves until all model ranks have called tw_finalize, and then returns; all
  !> they have left to do is to call tw_finalize themselves. Errors: TW_EHANDLE. Local.
  function tw_inq_role(io, ierr) result(role)
    type(tw_session), intent(in) :: io
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: role
    integer(c_int) :: status
    role = TW_MODEL
    status = c_inq_role(io%handle, role)
    call check(status, io%handle, c_text('tw_inq_role'), ierr)
  end function tw_inq_role

  !> Whether this rank is a server: tw_inq_role(io) == TW_SERVER. Errors: TW_EHANDLE. Local.
  function tw_is_server(io, ierr) result(server)
    type(tw_session), intent(in) :: io
    integer(c_int), intent(out), optional :: ierr
    logical :: server
    server = tw_inq_role(io, ierr) == TW_SERVER
  end function tw_is_server

  !> The communicator of the ranks that are no servers, in the order of the session's: what the
  !> model uses in place of the one it gave to tw_init. It belongs to the session and lives until
  !> tw_finalize; MPI_COMM_NULL on a server. Its component MPI_VAL is the integer of the module
  !> mpi.
  !> Errors: TW_EHANDLE. Local.
  function tw_model_comm(io, ierr) result(comm)
    type(tw_session), intent(in) :: io
    integer(c_int), intent(out), optional :: ierr
    type(MPI_Comm) :: comm
    integer(c_int) :: status, number
    status = c_model_comm(io%handle, number)
    comm%MPI_VAL = number
    call check(status, io%handle, c_text('tw_model_comm'), ierr)
  end function tw_model_comm

  !> Name and text of a status code: 'TW_ESHAPE: shape, size or rank does not fit'. Local.
  function tw_strerror(status) result(text)
    integer(c_int), intent(in) :: status
    character(len=:), allocatable :: text
    text = f_text(c_strerror(status))
  end function tw_strerror

  !> Full text of this rank's last error in this session, '' if there was none. Local.
  function tw_error_message(io) result(text)
    type(tw_session), intent(in) :: io
    character(len=:), allocatable :: text
    text = f_text(c_error_message(io%handle))
  end function tw_error_message

  !> Prints all settings, with where each comes from, on rank 0. Errors: TW_EHANDLE. Collective.
  subroutine tw_print_config(io, ierr)
    type(tw_session), intent(in) :: io
    integer(c_int), intent(out), optional :: ierr
    call check(c_print_config(io%handle), io%handle, c_text('tw_print_config'), ierr)
  end subroutine tw_print_config

  !> JSON text of the session so far: phases (seconds of the slowest rank), bytes, messages, peak
  !> memory, per file. The same on every rank. Errors: TW_EHANDLE. Collective.
  function tw_summary(io, ierr) result(json)
    type(tw_session), intent(in) :: io
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: json
    type(c_ptr) :: text
    integer(c_int) :: status
    text = c_null_ptr
    status = c_summary(io%handle, text)
    if (status == TW_OK) then
      json = f_text(text)
    else
      json = ''
    end if
    call check(status, io%handle, c_text('tw_summary'), ierr)
  end function tw_summary

  !> Prints the summary as a table on rank 0. Errors: TW_EHANDLE. Collective.
  subroutine tw_print_summary(io, ierr)
    type(tw_session), intent(in) :: io
    integer(c_int), intent(out), optional :: ierr
    call check(c_print_summary(io%handle), io%handle, c_text('tw_print_summary'), ierr)
  end subroutine tw_print_summary

  ! ---- decomposition ---------------------------------------------------------------------------

  function box_int32(io, dims, shape, start, count, halo_low, halo_high, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims
    integer(int32), intent(in) :: shape(:), start(:), count(:)
    integer(int32), intent(in), optional :: halo_low(:), halo_high(:)
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    d = boxes_int32(io, dims, shape, reshape(start, [size(start), 1]), &
      reshape(count, [size(count), 1]), halo_low, halo_high, ierr)
  end function box_int32

  function box_int64(io, dims, shape, start, count, halo_low, halo_high, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims
    integer(int64), intent(in) :: shape(:), start(:), count(:)
    integer(int64), intent(in), optional :: halo_low(:), halo_high(:)
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    d = boxes_int64(io, dims, shape, reshape(start, [size(start), 1]), &
      reshape(count, [size(count), 1]), halo_low, halo_high, ierr)
  end function box_int64

  function boxes_int32(io, dims, shape, start, count, halo_low, halo_high, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims
    integer(int32), intent(in) :: shape(:), start(:, :), count(:, :)
    integer(int32), intent(in), optional :: halo_low(:), halo_high(:)
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    integer(int64), allocatable :: low(:), high(:)
    if (present(halo_low)) low = int(halo_low, int64)
    if (present(halo_high)) high = int(halo_high, int64)
    d = boxes_int64(io, dims, int(shape, int64), int(start, int64), int(count, int64), low, &
      high, ierr)
  end function boxes_int32

  function boxes_int64(io, dims, shape, start, count, halo_low, halo_high, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims
    integer(int64), intent(in) :: shape(:), start(:, :), count(:, :)
    integer(int64), intent(in), optional :: halo_low(:), halo_high(:)
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    integer(int64), allocatable :: lengths(:), low(:), high(:)
    integer(c_int) :: status, nblocks
    integer :: n
    logical :: fits

    n = name_count(dims)
    fits = size(shape) == n .and. size(start, 1) == n .and. size(count, 1) == n &
      .and. size(start, 2) == size(count, 2)
    if (present(halo_low)) fits = fits .and. size(halo_low) == n
    if (present(halo_high)) fits = fits .and. size(halo_high) == n

    ! Collective: ranks whose arrays do not fit take part as well, with an invalid number of boxes.
    nblocks = -1
    allocate (lengths(n), low(n), high(n), source=0_int64)
    if (fits) then
      nblocks = size(start, 2)
      lengths = shape
      if (present(halo_low)) low = halo_low
      if (present(halo_high)) high = halo_high
    end if
    status = c_decompose(io%handle, reversed(dims), nblocks, backwards(lengths), &
      columns_backwards(start) - 1, columns_backwards(count), backwards(low), backwards(high), &
      d%handle)
    if (fits) then
      call check(status, io%handle, c_text('tw_decompose'), ierr)
    else
      d%handle = c_null_ptr
      call check(TW_ESHAPE, c_null_ptr, c_text('tw_decompose: shape, start, count or halo has not &
        &one value for each name of "'//dims//'"'), ierr)
    end if
  end function boxes_int64

  !> The other order of the dimensions.
  pure function backwards(array) result(turned)
    integer(int64), intent(in) :: array(:)
    integer(int64) :: turned(size(array))
    turned = array(size(array):1:-1)
  end function backwards

  pure function columns_backwards(array) result(turned)
    integer(int64), intent(in) :: array(:, :)
    integer(int64) :: turned(size(array))
    turned = reshape(array(size(array, 1):1:-1, :), [size(array)])
  end function columns_backwards

  ! ---- files: definitions ----------------------------------------------------------------------

  !> file = tw_create(io, path [, settings] [, ierr]): creates a netCDF file, which appears under
  !> its own name when it is closed.
  !>   settings  'name=value; ...' for this file alone: method, storage, format, ...
  !> Errors: TW_EARG, TW_ESETTING, TW_EINUSE (open in this session), TW_EIO. Collective.
  function tw_create(io, path, settings, ierr) result(file)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: path
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(tw_file) :: file
    integer(c_int) :: status
    file%session = io%handle
    status = c_create(io%handle, c_text(path), c_settings(settings), file%handle)
    call check(status, io%handle, c_text('tw_create'), ierr)
  end function tw_create

  !> file = tw_open(io, path [, settings] [, ierr]): opens an existing netCDF file, classic or
  !> netCDF-4, or a set of tiles (path.0000 ...) for reading; or a classic one with
  !> settings='mode=append' to write on in it: the model defines the file's variables as for
  !> tw_create, and steps add records.
  !> Errors: TW_EARG, TW_ESETTING, TW_EIO, TW_EFORMAT; with mode=append also TW_EUNSUPPORTED
  !> (netCDF-4, tiles), TW_EINUSE (open in this session), and from the end of the definitions
  !> TW_EDIFFERENT (the file is defined otherwise, and stays as it is). Collective.
  function tw_open(io, path, settings, ierr) result(file)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: path
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(tw_file) :: file
    integer(c_int) :: status
    file%session = io%handle
    status = c_open(io%handle, c_text(path), c_settings(settings), file%handle)
    call check(status, io%handle, c_text('tw_open'), ierr)
  end function tw_open

  subroutine def_dim_int32(file, name, length, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: name
    integer(int32), intent(in) :: length
    integer(c_int), intent(out), optional :: ierr
    call def_dim_int64(file, name, int(length, int64), ierr)
  end subroutine def_dim_int32

  subroutine def_dim_int64(file, name, length, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: name
    integer(int64), intent(in) :: length
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: status
    status = c_def_dim(file%handle, c_text(name), length)
    call check(status, file%session, c_text('tw_def_dim'), ierr)
  end subroutine def_dim_int64

  !> call tw_def_var(file, name, type, dims [, decomposition] [, ierr]): defines a variable.
  !>   type           TW_FLOAT, ...: its type in the file
  !>   dims           names in file order, fastest first, the record dimension last:
  !>                  'lon lat lev time'; '' for a scalar. Names of the decomposition that are not
  !>                  defined yet get its lengths; the last name, if it is neither, becomes the
  !>                  record (unlimited) dimension.
  !>   decomposition  who holds what, its dimensions those of the variable without the record
  !>                  dimension, in any order. Without it the variable is replicated: every rank
  !>                  holds the whole, and rank 0's values are written.
  !> Errors: TW_EARG, TW_EEXISTS, TW_ENOTFOUND, TW_ESHAPE, TW_ETYPE, TW_EFORMAT, TW_ESTATE,
  !> TW_ECLOSED, TW_EHANDLE (a decomposition that was never made). Local; every rank alike.
  subroutine tw_def_var(file, name, type, dims, decomposition, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: name
    integer(c_int), intent(in) :: type
    character(len=*), intent(in) :: dims
    type(tw_decomposition), intent(in), optional :: decomposition
    integer(c_int), intent(out), optional :: ierr
    type(c_ptr) :: holders
    integer(c_int) :: status
    holders = c_null_ptr
    if (present(decomposition)) then
      holders = decomposition%handle
      if (.not. c_associated(holders)) then
        call check(TW_EHANDLE, c_null_ptr, c_text('tw_def_var: the decomposition of '//name// &
          ' was never made'), ierr)
        return
      end if
    end if
    status = c_def_var(file%handle, c_text(name), type, reversed(dims), holders)
    call check(status, file%session, c_text('tw_def_var'), ierr)
  end subroutine tw_def_var

  !> call tw_set_var(file, name, settings [, ierr]): sets how a variable of a netCDF-4 file is
  !> stored: 'deflate=1; chunks=lev=10', of the settings deflate, shuffle, zstd, quantize and
  !> chunks, which come before those of the file. Before the definitions end.
  !> Errors: TW_ESETTING, TW_ENOTFOUND, TW_ESTATE. Local; every rank alike.
  subroutine tw_set_var(file, name, settings, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: name, settings
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: status
    status = c_set_var(file%handle, c_text(name), c_text(settings))
    call check(status, file%session, c_text('tw_set_var'), ierr)
  end subroutine tw_set_var

  subroutine set_record_int32(file, record, later, ierr)
    type(tw_file), intent(in) :: file
    integer(int32), intent(in) :: record
    integer(c_int), intent(in), optional :: later
    integer(c_int), intent(out), optional :: ierr
    call set_record_int64(file, int(record, int64), later, ierr)
  end subroutine set_record_int32

  subroutine set_record_int64(file, record, later, ierr)
    type(tw_file), intent(in) :: file
    integer(int64), intent(in) :: record
    integer(c_int), intent(in), optional :: later
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: what
    what = TW_KEEP_LATER
    if (present(later)) what = later
    call check(c_set_record(file%handle, record - 1, what), file%session, &
      c_text('tw_set_record'), ierr)
  end subroutine set_record_int64

  !> Ends the definitions: compares them over the ranks, writes the header. Optional: the first
  !> tw_put, tw_end_step, tw_sync or tw_close does it. Errors: TW_EMISMATCH, TW_EFORMAT, TW_EIO,
  !> TW_EDIFFERENT (they are not those of a file opened with mode=append), TW_ESTATE, TW_ECLOSED.
  !> Collective.
  subroutine tw_enddef(file, ierr)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(out), optional :: ierr
    call check(c_enddef(file%handle), file%session, c_text('tw_enddef'), ierr)
  end subroutine tw_enddef

  ! ---- files: data -----------------------------------------------------------------------------

  !> Writes what was put and ends the record; the next tw_put belongs to the next one.
  !> Errors: TW_EMISSING (a variable put on some ranks only; the step stays open), TW_ERANGE
  !> (values did not fit; written as netCDF would), TW_EIO, TW_ECLOSED. Collective.
  subroutine tw_end_step(file, ierr)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(out), optional :: ierr
    call check(c_end_step(file%handle), file%session, c_text('tw_end_step'), ierr)
  end subroutine tw_end_step

  !> call tw_sync(file [, durable] [, ierr]): makes all ended records readable to others and, with
  !> durable = .true., safe from a power loss. Errors: as tw_end_step. Collective.
  subroutine tw_sync(file, durable, ierr)
    type(tw_file), intent(in) :: file
    logical, intent(in), optional :: durable
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: flag
    flag = 0
    if (present(durable)) flag = merge(1_c_int, 0_c_int, durable)
    call check(c_sync(file%handle, flag), file%session, c_text('tw_sync'), ierr)
  end subroutine tw_sync

  !> Writes what is left, completes the file and gives it its name. Later calls with the same
  !> handle return TW_ECLOSED, until tw_finalize. Errors: as tw_end_step. Collective.
  subroutine tw_close(file, ierr)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(out), optional :: ierr
    type(c_ptr) :: handle
    handle = file%handle
    call check(c_close(handle), file%session, c_text('tw_close'), ierr)
  end subroutine tw_close

  !> call tw_recover(path [, text] [, ierr]): completes the file that a killed run left under its
  !> temporary name: what was committed stays, what was not is cut off, and the file gets its own
  !> name.
  !>   path  the file's own name or its temporary one, path.part
  !>   text  receives what was done, or why it failed
  !> Errors: TW_ENOTFOUND, TW_EFORMAT (the run was killed before the definitions ended; nothing is
  !> changed), TW_EIO. Local: one process calls it, without a session and without MPI.
  subroutine tw_recover(path, text, ierr)
    character(len=*), intent(in) :: path
    character(len=:), allocatable, intent(out), optional :: text
    integer(c_int), intent(out), optional :: ierr
    character(len=4096, kind=c_char) :: words
    character(len=:), allocatable :: said
    integer(c_int) :: status
    words = c_null_char
    status = c_recover(c_text(path), words, int(len(words), int64))
    said = words(:index(words, c_null_char) - 1)
    if (present(text)) text = said
    call check(status, c_null_ptr, c_text('tw_recover: '//said), ierr)
  end subroutine tw_recover

  !> length = tw_inq_dim(file, name [, ierr]): 64-bit length of a dimension, 0 after an error; of
  !> the record dimension the number of records. Errors: TW_ENOTFOUND, TW_ECLOSED. Local.
  function tw_inq_dim(file, name, ierr) result(length)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(int64) :: length
    integer(c_int) :: status
    length = 0
    status = c_inq_dim(file%handle, c_text(name), length)
    if (status /= TW_OK) length = 0
    call check(status, file%session, c_text('tw_inq_dim'), ierr)
  end function tw_inq_dim

end module thalweg
