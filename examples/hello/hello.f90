! SPDX-License-Identifier: Apache-2.0
!
! The smallest complete program: writes a field of 8 x 4 x 6 points, of which each rank holds some
! rows, to hello.nc in file order. Run it with: mpirun -n 2 hello_f90
program hello
  use mpi_f08
  use thalweg
  implicit none
  integer, parameter :: nx = 8, nz = 4, ny = 6, nsteps = 3
  type(tw_session) :: io
  type(tw_decomposition) :: cells
  type(tw_file) :: history
  real, allocatable :: T(:, :, :)
  integer :: rank, ranks, js, je, step

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  js = 1 + rank*ny/ranks
  je = (rank + 1)*ny/ranks
  allocate (T(nx, nz, js-1:je+1))                    ! this rank's rows, with a halo

  io = tw_init(MPI_COMM_WORLD)
  cells = tw_decompose(io, 'lon lev lat', shape=[nx, nz, ny], start=[1, 1, js], &
    count=[nx, nz, je - js + 1])
  history = tw_create(io, 'hello.nc')
  call tw_def_var(history, 'T', TW_FLOAT, 'lon lat lev time', cells)
  call tw_put_att(history, 'T', 'units', 'K')
  do step = 1, nsteps
    T = 273 + step                                   ! the model computes
    call tw_put(history, 'T', T(:, :, js:je))        ! an array section: T has a halo
    call tw_end_step(history)
  end do
  call tw_close(history)
  call tw_finalize(io)
  call MPI_Finalize()
end program hello
