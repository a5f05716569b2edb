! SPDX-License-Identifier: Apache-2.0
!
! A coupled model: an atmosphere and an ocean, each on ranks of its own, and one rank that writes for
! both. Each component writes a file of its own, atmosphere.nc and ocean.nc, with T(lon, lat, time).
! Run it with: mpirun -n 5 components_f90
program components_of_a_model
  use mpi_f08
  use thalweg
  implicit none
  integer, parameter :: nx = 8, ny = 3, atmosphere = 1, ocean = 2, server = 3
  character(*), parameter :: names(2) = [character(10) :: 'atmosphere', 'ocean']
  type(tw_session) :: ios(2)
  type(tw_decomposition) :: rows
  type(tw_file) :: history
  type(MPI_Comm) :: comm, components(2)
  integer :: rank, ranks, own_rank, own_ranks, part, step
  real :: T(nx, ny)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  part = merge(server, merge(atmosphere, ocean, rank < ranks/2), rank == ranks - 1)

  call MPI_Comm_split(MPI_COMM_WORLD, part, rank, comm)
  components = MPI_COMM_NULL
  if (part /= server) components(part) = comm
  call tw_init_components(MPI_COMM_WORLD, components, part == server, ios, 'service=servers')
  if (part == server) then                           ! all components have ended
    call tw_finalize(ios(1))
    call tw_finalize(ios(2))
    call MPI_Finalize()
    stop
  end if

  call MPI_Comm_rank(comm, own_rank)
  call MPI_Comm_size(comm, own_ranks)
  rows = tw_decompose(ios(part), 'lon lat', shape=[nx, ny*own_ranks], start=[1, ny*own_rank + 1], count=[nx, ny])
  history = tw_create(ios(part), trim(names(part))//'.nc')
  call tw_def_var(history, 'T', TW_FLOAT, 'lon lat time', rows)
  do step = 1, 2*part                                ! the ocean takes more steps
    T = 100*part + step                              ! the model computes
    call tw_put(history, 'T', T)
    call tw_end_step(history)
  end do
  call tw_close(history)
  call tw_finalize(ios(part))
  call MPI_Finalize()
end program components_of_a_model
