! SPDX-License-Identifier: Apache-2.0
!
! Writes columns that are distributed round-robin, as physics packages do to balance the load:
! T(level, column) in memory, 20 columns of 3 levels, is written to columns.nc as T(ncol, lev).
! Run it with: mpirun -n 3 columns_f90
program columns_of_ranks
  use mpi_f08
  use thalweg
  implicit none
  integer, parameter :: ncol = 20, nlev = 3
  type(tw_session) :: io
  type(tw_decomposition) :: columns
  type(tw_file) :: history
  integer, allocatable :: list(:)                    ! the columns of this rank, from 1
  real, allocatable :: T(:, :)
  integer :: rank, ranks, step, i, lev

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  list = [(i, i = rank + 1, ncol, ranks)]
  allocate (T(nlev, size(list)))

  io = tw_init(MPI_COMM_WORLD)
  columns = tw_decompose_list(io, 'lev ncol', shape=[nlev, ncol], listed='ncol', indices=list)
  history = tw_create(io, 'columns.nc')
  call tw_def_var(history, 'T', TW_FLOAT, 'ncol lev time', columns)
  do step = 1, 2
    do i = 1, size(list)                             ! the model computes
      T(:, i) = [(1000*step + 100*(lev - 1) + list(i) - 1, lev = 1, nlev)]
    end do
    call tw_put(history, 'T', T)
    call tw_end_step(history)
  end do
  call tw_close(history)
  call tw_finalize(io)
  call MPI_Finalize()
end program columns_of_ranks
