! SPDX-License-Identifier: Apache-2.0
!
! The history file of a model: a field with its coordinates and the time, on any number of ranks,
! with or without servers, and with an error that the model handles itself. Run it with:
! mpirun -n 2 history_f90
program history
  use mpi_f08
  use thalweg
  implicit none
  integer, parameter :: nx = 8, nz = 4, ny = 6, nsteps = 3
  real(8), parameter :: dt = 600
  type(MPI_Comm) :: comm
  type(tw_session) :: io
  type(tw_decomposition) :: cells
  type(tw_file) :: file
  real, allocatable :: T(:, :, :)
  integer :: rank, ranks, js, je, step, ierr, i

  call MPI_Init()
  io = tw_init(MPI_COMM_WORLD)
  if (tw_is_server(io)) then                         ! the server wrote while the model ran
    call tw_finalize(io)
    call MPI_Finalize()
    stop
  end if
  comm = tw_model_comm(io)                           ! all ranks but the servers
  call MPI_Comm_rank(comm, rank)
  call MPI_Comm_size(comm, ranks)
  js = 1 + rank*ny/ranks
  je = (rank + 1)*ny/ranks
  allocate (T(nx, nz, js-1:je+1))

  cells = tw_decompose(io, 'lon lev lat', shape=[nx, nz, ny], start=[1, 1, js], &
    count=[nx, nz, je - js + 1])
  file = tw_create(io, 'history.nc', ierr=ierr)
  if (ierr /= TW_OK) then                            ! the same on all ranks
    if (rank == 0) print '(a)', 'the run goes on without a history: '//tw_error_message(io)
  else
    call tw_def_var(file, 'T', TW_FLOAT, 'lon lat lev time', cells)
    call tw_def_var(file, 'time', TW_DOUBLE, 'time')
    call tw_def_var(file, 'lon', TW_DOUBLE, 'lon')
    call tw_put_att(file, 'T', 'units', 'K')
    call tw_put_att(file, 'time', 'units', 'seconds since 2000-01-01')
    call tw_put_att(file, 'lon', 'units', 'degrees_east')
    call tw_put_att(file, '', 'Conventions', 'CF-1.11')
    call tw_put(file, 'lon', [(360d0*(i - 1)/nx, i=1, nx)])
  end if

  do step = 1, nsteps
    T = 273 + step                                   ! the model computes
    if (ierr /= TW_OK) cycle
    call tw_put(file, 'T', T(:, :, js:je))
    call tw_put(file, 'time', step*dt)
    call tw_end_step(file)
  end do
  if (ierr == TW_OK) call tw_close(file)
  call tw_finalize(io)
  call MPI_Finalize()
end program history
