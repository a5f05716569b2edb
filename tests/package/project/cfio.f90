! SPDX-License-Identifier: Apache-2.0
!
!> A program written for CFIO, which must find the module and the library. It starts with fewer
!> ranks than it needs.
program cfio_program
  use cfio
  use mpi
  implicit none
  integer :: code, ierr
  call MPI_Init(ierr)
  code = cfio_init(100, 100, 1)
  call MPI_Finalize(ierr)
  if (code /= -3) stop 1
end program cfio_program
