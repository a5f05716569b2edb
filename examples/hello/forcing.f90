! SPDX-License-Identifier: Apache-2.0
!
! Reads the file of hello record by record; the library reads the next record while the model
! computes. Run it after hello, on any number of ranks: mpirun -n 3 forcing_f90
program forcing
  use mpi_f08
  use thalweg
  implicit none
  integer, parameter :: nx = 8, nz = 4
  type(tw_session) :: io
  type(tw_decomposition) :: cells
  type(tw_file) :: input
  real, allocatable, target :: T(:, :, :)
  integer :: rank, ranks, js, je, ny, step

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  io = tw_init(MPI_COMM_WORLD)
  input = tw_open(io, 'hello.nc', 'read_ahead=yes')
  ny = int(tw_inq_dim(input, 'lat'))
  js = 1 + rank*ny/ranks
  je = (rank + 1)*ny/ranks
  allocate (T(nx, nz, js:je))
  cells = tw_decompose(io, 'lon lev lat', shape=[nx, nz, ny], start=[1, 1, js], &
    count=[nx, nz, je - js + 1])
  do step = 1, int(tw_inq_dim(input, 'time'))
    call tw_get(input, 'T', T, cells, record=step)   ! begins to read the next record
    call compute(step)
  end do
  call tw_close(input)
  call tw_finalize(io)
  call MPI_Finalize()

contains

  subroutine compute(step)
    integer, intent(in) :: step
    if (js <= je) print '(a,i0,a,i0,a,f8.2)', 'rank ', rank, ', step ', step, ': ', sum(T)/size(T)
  end subroutine compute

end program forcing
