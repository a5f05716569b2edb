! SPDX-License-Identifier: Apache-2.0
!
!> Checks that every procedure returns ierr and sets a text, and that the session can still be used.
program errors
  use, intrinsic :: iso_c_binding, only: c_associated
  use support
  use thalweg
  implicit none
  integer, parameter :: nx = 14
  type(tw_session) :: io
  type(tw_decomposition) :: d, first_rank, none, freed
  type(tw_file) :: file, other, copy
  integer :: status, first, start, n, same
  real, allocatable :: line(:), unallocated(:)
  logical :: flags(2) = .true.
  character, parameter :: b = achar(92)  ! LLVM's preprocessor doubles backslashes in literals
  complex :: waves(2) = 0
  character(len=:), allocatable :: text

  call begin()
  io = tw_init(MPI_COMM_WORLD, 'no_such_setting=1; log=off', status)
  call expect_status(status, TW_ESETTING, 'an unknown setting')
  call expect(index(tw_error_message(io), 'no_such_setting') > 0, 'its text')
  call tw_finalize(io, status)

  io = tw_init(MPI_COMM_WORLD, 'log=off', status)
  call expect_status(status, TW_OK, 'tw_init')
  call expect(tw_error_message(io) == '', 'no error yet')

  ! Roles: without servers every rank is a model rank.
  call expect_status(tw_inq_role(io, status), TW_MODEL, 'the role')
  call expect_status(status, TW_OK, 'tw_inq_role')
  call expect(.not. tw_is_server(io), 'no server')
  call MPI_Comm_compare(tw_model_comm(io, status), MPI_COMM_WORLD, same)
  call expect_status(status, TW_OK, 'tw_model_comm')
  call expect_status(same, MPI_CONGRUENT, 'the model''s communicator')

  ! Decompositions: either every rank has a part of the line, or rank 0 has all of it.
  start = 1 + rank*nx/ranks
  n = (rank + 1)*nx/ranks - rank*nx/ranks
  d = tw_decompose(io, 'x', [nx], [start], [n], ierr=status)
  call expect_status(status, TW_OK, 'tw_decompose')
  first_rank = tw_decompose(io, 'x', [nx], [1], [merge(nx, 0, rank == 0)], ierr=status)
  call expect_status(status, TW_OK, 'tw_decompose with nothing on some ranks')
  none = tw_decompose(io, 'x', [nx], [2], [nx], ierr=status)
  call expect_status(status, TW_EBOUNDS, 'a box outside the shape')
  none = tw_decompose(io, 'x y', [nx], [start], [n], ierr=status)
  call expect_status(status, TW_ESHAPE, 'fewer lengths than names')
  none = tw_decompose(io, 'x', [nx], [start], [n], halo_low=[1, 1], ierr=status)
  call expect_status(status, TW_ESHAPE, 'more halos than names')
  if (ranks > 1) then
    none = tw_decompose(io, 'x', [nx], [1], [nx], ierr=status)
    call expect_status(status, TW_EOVERLAP, 'boxes that overlap')
    none = tw_decompose(io, 'x', [nx + rank], [start], [n], ierr=status)
    call expect_status(status, TW_EMISMATCH, 'shapes that differ')
    call expect(len(tw_error_message(io)) > 0, 'the text of an error')
  end if

  ! A freed decomposition, and a copy of it.
  freed = tw_decompose(io, 'x', [nx], [start], [n])
  none = freed
  call tw_free_decomposition(freed, status)
  call expect_status(status, TW_OK, 'tw_free_decomposition')
  call expect(.not. c_associated(freed%handle) .and. .not. c_associated(freed%session), &
    'no handle')
  call tw_fill_halo(none, [TW_HALO_KEEP], status)
  call expect_status(status, TW_EHANDLE, 'the halo of a freed decomposition')
  call expect(index(tw_error_message(io), 'has been freed') > 0, 'the text of a freed one')
  call tw_free_decomposition(none, status)
  call expect_status(status, TW_EHANDLE, 'freed twice')
  call tw_free_decomposition(freed, status)
  call expect_status(status, TW_EHANDLE, 'no decomposition')

  ! Files and definitions.
  other = tw_create(io, 'no/such/folder/file.nc', ierr=status)
  call expect_status(status, TW_EIO, 'a missing folder')
  call expect(index(tw_error_message(io), 'no/such/folder') > 0, 'the text names the path')
  other = tw_create(io, 'file.nc', 'format=no_such_format', status)
  call expect_status(status, TW_ESETTING, 'an unknown value')
  other = tw_open(io, 'no_such_file.nc', ierr=status)
  call expect_status(status, TW_EIO, 'a missing file')
  call tw_def_dim(other, 'x', 3, status)
  call expect_status(status, TW_EHANDLE, 'a file that is not there')
  file = tw_create(io, 'file.nc', ierr=status)
  call expect_status(status, TW_OK, 'tw_create')
  other = tw_create(io, 'file.nc', ierr=status)
  call expect_status(status, TW_EINUSE, 'a file twice')
  call tw_def_dim(file, 'y', 3, status)
  call expect_status(status, TW_OK, 'tw_def_dim')
  call tw_def_dim(file, 'y', 3, status)
  call expect_status(status, TW_EEXISTS, 'a dimension twice')
  call tw_def_var(file, 'v', TW_FLOAT, 'x time', d, status)
  call expect_status(status, TW_OK, 'tw_def_var')
  call tw_def_var(file, 'v', TW_FLOAT, 'x time', d, status)
  call expect_status(status, TW_EEXISTS, 'a variable twice')
  call tw_set_var(file, 'no_such_variable', 'deflate=1', status)
  call expect_status(status, TW_ENOTFOUND, 'tw_set_var of no variable')
  call tw_set_var(file, 'v', 'deflate=10', status)
  call expect_status(status, TW_ESETTING, 'tw_set_var to what cannot be')
  call tw_set_var(file, 'v', 'no_such_setting=1', status)
  call expect_status(status, TW_ESETTING, 'tw_set_var of no setting')
  call tw_def_var(file, 'w', 12, 'x time', d, status)
  call expect_status(status, TW_ETYPE, 'an unknown type')
  call tw_def_var(file, 'w', TW_FLOAT, 'y time', d, status)
  call expect_status(status, TW_ESHAPE, 'dimensions that are not those of the decomposition')
  none%handle = other%handle
  call tw_def_var(file, 'w', TW_FLOAT, 'x time', none, status)
  call expect_status(status, TW_EHANDLE, 'a decomposition that was never made')
  call tw_def_var(file, 'first', TW_FLOAT, 'x time', first_rank, status)
  call expect_status(status, TW_OK, 'a variable of one rank')
  call tw_def_var(file, 'text', TW_CHAR, 'y', ierr=status)
  call expect_status(status, TW_OK, 'a text variable')
  call tw_put_att(file, 'no_such_variable', 'units', 'm', status)
  call expect_status(status, TW_ENOTFOUND, 'an attribute of no variable')
  call tw_put_att(file, 'v', 'valid', flags(1), status)
  call expect_status(status, TW_ETYPE, 'a logical attribute')
  call tw_put_att(file, 'v', 'valid', reshape([1, 2, 3, 4], [2, 2]), status)
  call expect_status(status, TW_ESHAPE, 'a rank-2 attribute')
  call tw_put_att(file, 'v', 'units', 'm', status)
  call expect_status(status, TW_OK, 'tw_put_att')
  call tw_enddef(file, status)
  call expect_status(status, TW_OK, 'tw_enddef')
  call tw_enddef(file, status)
  call expect_status(status, TW_ESTATE, 'tw_enddef twice')
  call tw_def_dim(file, 'z', 3, status)
  call expect_status(status, TW_ESTATE, 'a definition too late')

  ! Data.
  allocate (line(n))
  line = rank
  allocate (unallocated(3))
  deallocate (unallocated)
  call tw_put(file, 'no_such_variable', line, status)
  call expect_status(status, TW_ENOTFOUND, 'a put of no variable')
  call expect(index(tw_error_message(io), 'no_such_variable') > 0, 'the text names the variable')
  call tw_put(file, 'v', flags, status)
  call expect_status(status, TW_ETYPE, 'logical values')
  call tw_put(file, 'v', waves, status)
  call expect_status(status, TW_ETYPE, 'complex values')
  call tw_put(file, 'v', 'abcdef', status)
  call expect_status(status, TW_ETYPE, 'text into numbers')
  call tw_put(file, 'text', [1, 2, 3], status)
  call expect_status(status, TW_ETYPE, 'numbers into text')
  call tw_put(file, 'v', 1.0, status)
  call expect_status(status, TW_ESHAPE, 'a scalar')
  call tw_put(file, 'v', [line, 1.0], status)
  call expect_status(status, TW_ESHAPE, 'an array that is too long')
  call tw_put(file, 'v', line(2:), status)
  call expect_status(status, TW_ESHAPE, 'an array that is too short')
  call tw_put(file, 'v', reshape([line, line], [n, 2, 1]), status)
  call expect_status(status, TW_ESHAPE, 'an array with too many dimensions')
  call tw_put(file, 'v', unallocated, status)
  call expect_status(status, TW_EARG, 'no array on a rank that holds some')
  if (rank > 0) then
    call tw_put(file, 'first', unallocated, status)
    call expect_status(status, TW_OK, 'no array on a rank that holds nothing')
  else
    call put_assumed_size([(1.0, first=1, nx)])
  end if
  call tw_put_box(file, 'v', line, [start, 0], [n, 1], status)
  call expect_status(status, TW_EBOUNDS, 'a box before the first record')
  call tw_put_box(file, 'v', line, [start, 1, 1], [n, 1, 1], status)
  call expect_status(status, TW_ESHAPE, 'a box of too many dimensions')
  call tw_put_box(file, 'v', line, [start], [n], status)
  call expect_status(status, TW_ESHAPE, 'a box of too few dimensions')
  call tw_put_record(file, 'v', line, record=0, ierr=status)
  call expect_status(status, TW_EBOUNDS, 'a record before the first')
  call tw_put_box(file, 'v', line, [start, 1], [n + 1, 1], status)
  call expect_status(status, TW_ESHAPE, 'a box larger than the array')
  call tw_put_box(file, 'v', line(1:2), [start, 1], [2, 1], [nx, 1], status)
  call expect_status(status, TW_EBOUNDS, 'a section that ends outside')
  call tw_put_box(file, 'v', line(1:2), [start, 1], [2, 1], [0, 1], status)
  call expect_status(status, TW_EARG, 'a stride of 0')
  if (rank == 0) then
    call tw_put(file, 'v', line, status)
    call expect_status(status, TW_OK, 'tw_put')
  end if
  if (ranks > 1) then
    call tw_end_step(file, status)
    call expect_status(status, TW_EMISSING, 'a variable that is missing on some ranks')
    call expect(index(tw_error_message(io), "'v'") > 0, 'the text names the variable')
    if (rank > 0) then
      call tw_put(file, 'v', line, status)
      call expect_status(status, TW_OK, 'tw_put after the error')
    end if
  end if
  call tw_end_step(file, status)
  call expect_status(status, TW_OK, 'tw_end_step')
  call tw_get(file, 'v', line, d, ierr=status)
  call expect_status(status, TW_ESTATE, 'tw_get from a file being written')
  copy = file
  call tw_close(file, status)
  call expect_status(status, TW_OK, 'tw_close')
  call tw_put(file, 'v', line, status)
  call expect_status(status, TW_EHANDLE, 'a put after close')
  call tw_close(file, status)
  call expect_status(status, TW_EHANDLE, 'a second close')
  call tw_put(copy, 'v', line, status)
  call expect_status(status, TW_ECLOSED, 'a put with a copy of a closed handle')
  call tw_close(copy, status)
  call expect_status(status, TW_ECLOSED, 'a close with a copy of a closed handle')
  call tw_close(copy, status)
  call expect_status(status, TW_EHANDLE, 'a close with that copy again')
  call expect(.not. c_associated(file%session), 'no session')

  ! Recovery.
  if (rank == 0) then
    call tw_recover('no_such_file.nc', text=text, ierr=status)
    call expect_status(status, TW_ENOTFOUND, 'tw_recover of no file')
    call expect(index(text, 'no_such_file.nc.part') > 0, 'its text: '//text)
    call tw_recover('file.nc  ', text=text)
    call expect(text == 'file.nc: 1 record, already complete', 'tw_recover: '//text)
    call tw_recover('file.nc', TW_REPLACE_LONGER, ierr=status)
    call expect_status(status, TW_OK, 'tw_recover without a text')
  end if
  call MPI_Barrier(MPI_COMM_WORLD)

  ! Reading.
  file = tw_open(io, 'file.nc', ierr=status)
  call expect_status(status, TW_OK, 'tw_open')
  call expect(tw_inq_dim(file, 'no_such_dimension', status) == 0, 'length of no dimension')
  call expect_status(status, TW_ENOTFOUND, 'no such dimension')
  call tw_get(file, 'v', line, d, record=2, ierr=status)
  call expect_status(status, TW_EBOUNDS, 'a record that is not there')
  call tw_get(file, 'v', line, d, record=0, ierr=status)
  call expect_status(status, TW_EBOUNDS, 'record 0')
  call tw_get(file, 'v', line, none, ierr=status)
  call expect_status(status, TW_EHANDLE, 'tw_get for a decomposition that was never made')
  if (rank == 0) then
    call tw_get(file, 'v', line, none, ierr=status)
    call expect_status(status, TW_EHANDLE, 'tw_get for one that was never made on rank 0 alone')
  else
    call tw_get(file, 'v', line, d, ierr=status)
    call expect(status /= TW_OK, 'tw_get while rank 0 has no decomposition')
  end if
  line = -1
  none = tw_decompose(io, '*', [nx], [start], [n])
  call tw_get(file, 'v', line, none, ierr=status)
  call expect_status(status, TW_OK, 'tw_get by position')
  call expect(all(abs(line - rank) <= 0), 'its values')
  none = tw_decompose(io, '* x', [nx, 1], [start, 1], [n, 1], ierr=status)
  call expect_status(status, TW_EARG, 'a dimension with a name and one without')
  none = tw_decompose(io, 'x', [nx], [0], [1], ierr=status)
  call expect_status(status, TW_EBOUNDS, 'a start that is counted from 0')
  call expect(index(tw_error_message(io), "'x': start 0: in Fortran, starts count from 1") > 0, &
    'the advice for a start of 0: '//tw_error_message(io))
  none = tw_decompose(io, '* *', [nx, 1], [start, 1], [nx + 1, 1], ierr=status)
  call expect_status(status, TW_EBOUNDS, 'a box beyond a dimension without a name')
  call expect(index(tw_error_message(io), 'along dimension 1 exceed') > 0, &
    'the dimension''s number: '//tw_error_message(io))
  line = -1
  call tw_get(file, 'v', line, d, ierr=status)
  call expect_status(status, TW_OK, 'tw_get')
  call expect(all(abs(line - rank) <= 0), 'its values')
  call tw_put(file, 'v', line, status)
  call expect_status(status, TW_ESTATE, 'a put into a file that is read')
  call tw_close(file, status)
  call expect_status(status, TW_OK, 'tw_close of a file that is read')

  ! A close that does not wait, and a name that contains blanks in lists of names.
  file = tw_create(io, 'later.nc', 'service=background; close=later', status)
  call expect_status(status, TW_OK, 'tw_create with close=later')
  call tw_def_dim(file, 'ice '//b//' type', 2, status)
  call expect_status(status, TW_OK, 'a dimension with blanks')
  call tw_def_dim(file, 'y', 3, status)
  call tw_def_dim(file, 'time', TW_UNLIMITED, status)
  call tw_def_var(file, 'v', TW_FLOAT, '  ice'//b//' '//b//b//b//' type  y time ', ierr=status)
  call expect_status(status, TW_OK, 'a variable of such a dimension')
  call tw_put(file, 'v', reshape([real :: 1, 2, 3, 4, 5, 6], [2, 3]), status)
  call expect_status(status, TW_OK, 'a put of it')
  call tw_close(file, status)
  call expect_status(status, TW_OK, 'a close that does not wait')
  call tw_wait(io, 1, status)
  call expect_status(status, TW_OK, 'tw_wait for all but one')
  call tw_wait(io, ierr=status)
  call expect_status(status, TW_OK, 'tw_wait')
  call tw_wait(io, -1, status)
  call expect_status(status, TW_EARG, 'tw_wait for a negative number')
  file = tw_open(io, 'later.nc', ierr=status)
  call expect_status(status, TW_OK, 'the file')
  call expect_status(int(tw_inq_dim(file, 'ice '//b//' type')), 2, 'the length of its dimension')
  call tw_close(file, status)

  ! Reports.
  text = tw_summary(io, ierr=status)
  call expect_status(status, TW_OK, 'tw_summary')
  call expect(index(text, '{') == 1 .and. index(text, 'file.nc') > 0, 'the summary is JSON: '//text)
  text = tw_summary(io, TW_SUMMARY_TABLE)
  call expect(len(text) > 0, 'a table')
  text = tw_summary(io, TW_SUMMARY_SETTINGS, status)
  call expect_status(status, TW_OK, 'tw_summary of settings')
  call expect(index(text, 'method') > 0, 'settings')
  text = tw_summary(io, 3, status)
  call expect_status(status, TW_EARG, 'a summary of no known form')
  call tw_finalize(io, status)
  call expect_status(status, TW_OK, 'tw_finalize')
  call tw_finalize(io, status)
  call expect_status(status, TW_EHANDLE, 'tw_finalize twice')
  text = tw_summary(io, ierr=status)
  call expect_status(status, TW_EHANDLE, 'tw_summary without a session')
  call expect(.not. tw_is_server(io, status), 'no server without a session')
  call expect_status(status, TW_EHANDLE, 'tw_is_server without a session')
  call expect(tw_model_comm(io, status) == MPI_COMM_NULL, 'no communicator without a session')
  call expect_status(status, TW_EHANDLE, 'tw_model_comm without a session')
  deallocate (line, text)  ! so that leak checkers do not report them
  call finish()

contains

  !> The extent of an assumed-size array is unknown.
  subroutine put_assumed_size(array)
    real, intent(in) :: array(*)
    call tw_put(file, 'first', array(1:nx - 1), status)
    call expect_status(status, TW_ESHAPE, 'a section that is too short')
    call tw_put(file, 'first', array(1:nx), status)
    call expect_status(status, TW_OK, 'a section of an assumed-size array')
  end subroutine put_assumed_size

end program errors
