! Checks of the Fortran programs for PIO, and MPI as old models start it.
! SPDX-License-Identifier: Apache-2.0
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi
  implicit none
  public

  integer :: rank = 0, ranks = 1, failures = 0

contains

  subroutine begin()
    integer :: ierr

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  end subroutine begin

  subroutine check(fine, text)
    logical, intent(in) :: fine
    character(len=*), intent(in) :: text

    if (fine) return
    failures = failures + 1
    write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': FAILED: ', text
  end subroutine check

  subroutine check_code(code, expected, text)
    integer, intent(in) :: code, expected
    character(len=*), intent(in) :: text
    character(len=40) :: numbers

    write (numbers, '(a, i0, a, i0)') ': ', code, ', expected ', expected
    call check(code == expected, text//trim(numbers))
  end subroutine check_code

  ! Ends the program; exit status 1 if a check failed on any rank.
  subroutine finish()
    integer :: all_failures, ierr

    call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call MPI_Finalize(ierr)
    if (all_failures > 0) error stop 1
  end subroutine finish

  ! Returns this rank's part of n elements: the first, and their number.
  subroutine share(n, first, count)
    integer, intent(in) :: n
    integer, intent(out) :: first, count

    first = rank * n / ranks + 1
    count = (rank + 1) * n / ranks - first + 1
  end subroutine share
end module checks
