! SPDX-License-Identifier: Apache-2.0
!
! Reads two records of the file of hello; each rank reads some rows and a halo row on either side,
! if there is one. Run it after hello, on any number of ranks: mpirun -n 3 restart_f90
program restart
  use mpi_f08
  use thalweg
  implicit none
  integer, parameter :: nx = 8, nz = 4
  type(tw_session) :: io
  type(tw_decomposition) :: cells
  type(tw_file) :: history
  real, allocatable, target :: T(:, :, :), T_old(:, :, :)
  integer :: rank, ranks, js, je, ny, steps

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  io = tw_init(MPI_COMM_WORLD)
  history = tw_open(io, 'hello.nc')
  ny = int(tw_inq_dim(history, 'lat'))
  steps = int(tw_inq_dim(history, 'time'))
  js = 1 + rank*ny/ranks
  je = (rank + 1)*ny/ranks
  allocate (T(nx, nz, js-1:je+1), T_old(nx, nz, js-1:je+1))
  cells = tw_decompose(io, 'lon lev lat', shape=[nx, nz, ny], start=[1, 1, js], &
    count=[nx, nz, je - js + 1], halo_low=[0, 0, 1], halo_high=[0, 0, 1])
  call tw_fill_halo(cells, [TW_HALO_KEEP, TW_HALO_KEEP, TW_HALO_CLIP])
  call tw_get_deferred(history, 'T', T, cells, record=steps)
  call tw_get_deferred(history, 'T', T_old, cells, record=steps - 1)
  call tw_read(history)                              ! both, in one go through the file
  call tw_close(history)
  if (js <= je) print '(a,i0,a,2f8.2)', 'rank ', rank, ': ', T(1, 1, js), T_old(1, 1, js)
  call tw_finalize(io)
  call MPI_Finalize()
end program restart
