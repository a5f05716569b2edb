! SPDX-License-Identifier: Apache-2.0
!
! Stand-ins for the modules of MPI, for an MPI that was built with another Fortran compiler. They
! have the declarations that tests use, with integer handles, based on mpif.h.
module mpi
  implicit none
  include 'mpif.h'
end module mpi

module mpi_f08
  use mpi
  implicit none
  private

  public :: MPI_COMM_WORLD, MPI_COMM_NULL, MPI_CONGRUENT, MPI_INTEGER, MPI_SUM
  public :: MPI_Init, MPI_Finalize, MPI_Comm_rank, MPI_Comm_size, MPI_Comm_compare, MPI_Comm_split, &
    MPI_Barrier, MPI_Allreduce

contains

  subroutine MPI_Init()
    integer :: ierr
    external :: pmpi_init
    call pmpi_init(ierr)
  end subroutine MPI_Init

  subroutine MPI_Finalize()
    integer :: ierr
    external :: pmpi_finalize
    call pmpi_finalize(ierr)
  end subroutine MPI_Finalize

  subroutine MPI_Comm_rank(comm, rank)
    integer, intent(in) :: comm
    integer, intent(out) :: rank
    integer :: ierr
    external :: pmpi_comm_rank
    call pmpi_comm_rank(comm, rank, ierr)
  end subroutine MPI_Comm_rank

  subroutine MPI_Comm_size(comm, ranks)
    integer, intent(in) :: comm
    integer, intent(out) :: ranks
    integer :: ierr
    external :: pmpi_comm_size
    call pmpi_comm_size(comm, ranks, ierr)
  end subroutine MPI_Comm_size

  subroutine MPI_Comm_compare(one, other, same)
    integer, intent(in) :: one, other
    integer, intent(out) :: same
    integer :: ierr
    external :: pmpi_comm_compare
    call pmpi_comm_compare(one, other, same, ierr)
  end subroutine MPI_Comm_compare

  subroutine MPI_Comm_split(comm, color, key, part)
    integer, intent(in) :: comm, color, key
    integer, intent(out) :: part
    integer :: ierr
    external :: pmpi_comm_split
    call pmpi_comm_split(comm, color, key, part, ierr)
  end subroutine MPI_Comm_split

  subroutine MPI_Barrier(comm)
    integer, intent(in) :: comm
    integer :: ierr
    external :: pmpi_barrier
    call pmpi_barrier(comm, ierr)
  end subroutine MPI_Barrier

  subroutine MPI_Allreduce(mine, all, n, type, op, comm)
    integer, intent(in) :: mine, n, type, op, comm
    integer, intent(out) :: all
    integer :: ierr
    external :: pmpi_allreduce
    call pmpi_allreduce(mine, all, n, type, op, comm, ierr)
  end subroutine MPI_Allreduce
end module mpi_f08
