! SPDX-License-Identifier: Apache-2.0
!
!> Makes an error in a call without ierr, which must print its text and stop the program.
program stop_on_error
  use mpi_f08
  use thalweg
  implicit none
  type(tw_session) :: io
  type(tw_file) :: file
  call MPI_Init()
  io = tw_init(MPI_COMM_WORLD, 'log=off')
  file = tw_create(io, 'stop.nc')
  call tw_put(file, 'no_such_variable', [1.0, 2.0])
  print '(a)', 'still running'
  call tw_finalize(io)
  call MPI_Finalize()
end program stop_on_error
