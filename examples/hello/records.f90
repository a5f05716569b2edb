! SPDX-License-Identifier: Apache-2.0
!
! Writes records in the order in which a program has them, each by the decomposition at hand, and
! corrects a point later; then reads some of it back. Run it with: mpirun -n 2 records_f90
program records
  use mpi_f08
  use thalweg
  implicit none
  integer, parameter :: nx = 8, ny = 6
  type(tw_session) :: io
  type(tw_decomposition) :: rows, columns
  type(tw_file) :: file
  real, allocatable :: by_row(:, :), by_column(:, :)
  real :: series(nx/2, 1, 2)
  integer :: rank, ranks, is, ie, js, je

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  is = 1 + rank*nx/ranks
  ie = (rank + 1)*nx/ranks
  js = 1 + rank*ny/ranks
  je = (rank + 1)*ny/ranks
  allocate (by_row(nx, js:je), by_column(is:ie, ny))
  by_row = 2
  by_column = 1

  io = tw_init(MPI_COMM_WORLD)
  rows = tw_decompose(io, 'x y', shape=[nx, ny], start=[1, js], count=[nx, je - js + 1])
  columns = tw_decompose(io, 'x y', shape=[nx, ny], start=[is, 1], count=[ie - is + 1, ny])
  file = tw_create(io, 'records.nc')
  call tw_def_dim(file, 'time', TW_UNLIMITED)
  call tw_def_dim(file, 'x', nx)
  call tw_def_dim(file, 'y', ny)
  call tw_def_var(file, 'flow', TW_FLOAT, 'x y time')   ! no decomposition yet
  call tw_put_record(file, 'flow', by_row, rows, record=2)
  call tw_put_record(file, 'flow', by_column, columns, record=1)
  call tw_end_step(file)                                ! both are in the file
  if (rank == 0) call tw_put_box(file, 'flow', [7.0], start=[3, 2, 1], count=[1, 1, 1])
  call tw_end_step(file)                                ! changes one point of record 1
  call tw_sync(file)
  call tw_get_box(file, 'flow', series, start=[1, 2, 1], count=[nx/2, 1, 2], stride=[2, 1, 1])
  if (rank == 0) print '(f0.0,1x,f0.0)', series(2, 1, :)
  call tw_close(file)
  call tw_finalize(io)
  call MPI_Finalize()
end program records
