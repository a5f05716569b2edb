! SPDX-License-Identifier: Apache-2.0
!
!> Tests lists of indices: the land points of a grid, distributed to the ranks in turn, with a hole
!> in each list. They are written, and read by lists that share points.
program lists
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use support
  use thalweg
  implicit none

  integer, parameter :: nx = 7, ny = 5, nz = 2
  type(tw_session) :: io
  type(tw_decomposition) :: land, wanted, none
  type(tw_file) :: file
  integer, allocatable :: list(:), field(:, :), got(:, :)
  integer(int64) :: same(3)
  integer :: status, i, k, id

  call begin()
  io = tw_init(MPI_COMM_WORLD, 'log=off')
  list = [0, (i, i = 2*rank + 1, nx*ny, 2*ranks)]      ! every other point is sea
  land = tw_decompose_list(io, 'lev lon lat', shape=[nz, nx, ny], listed='lon lat', indices=list)
  allocate (field(nz, size(list)))
  do i = 1, size(list)
    field(:, i) = [(100*k + list(i), k = 1, nz)]
  end do
  file = tw_create(io, 'lists.nc')
  call tw_def_var(file, 'v', TW_INT, 'lon lat lev', land)
  call tw_put_att(file, 'v', '_FillValue', -1)
  call tw_put(file, 'v', field)
  call tw_close(file)

  if (rank == 0) then
    id = reader_open('lists.nc')
    call expect(nint(reader_value(id, 'v', [1, 1, 1])) == 101, 'the first point')
    call expect(nint(reader_value(id, 'v', [2, 1, 1])) == -1, 'the sea')
    call expect(nint(reader_value(id, 'v', [3, 2, 2])) == -1, 'the sea above')
    call expect(nint(reader_value(id, 'v', [2, 2, 2])) == 209, 'a point above')
    call reader_close(int(id))
  end if

  same = [9_int64, 0_int64, 9_int64]
  wanted = tw_decompose_list(io, 'lev lon lat', shape=int([nz, nx, ny], int64), listed='lon lat', &
    indices=same, shared=.true.)
  allocate (got(nz, 3), source=-7)
  file = tw_open(io, 'lists.nc')
  call tw_get(file, 'v', got, wanted)
  call tw_close(file)
  call expect(all(got == reshape([109, 209, -7, -7, 109, 209], [nz, 3])), 'what ranks share')

  none = tw_decompose_list(io, 'lon lat', shape=[nx, ny], listed='lon lat', &
    indices=[nx*ny + 1], ierr=status)
  call expect_status(status, TW_EBOUNDS, 'an index outside')
  none = tw_decompose_list(io, 'lon lat', shape=[nx, ny], listed='lon lat', indices=[3, 3], &
    ierr=status)
  call expect_status(status, TW_EOVERLAP, 'an index twice')
  none = tw_decompose_list(io, 'lon lat', shape=[nx], listed='lon lat', indices=[3], ierr=status)
  call expect_status(status, TW_ESHAPE, 'a shape of one length')
  call tw_finalize(io)
  deallocate (list, field, got)  ! so that leak checkers do not report them
  call finish()
end program lists
