! SPDX-License-Identifier: Apache-2.0
!
! A program without MPI: writes a field of 8 x 4 x 6 points to serial.nc. It is the same with a
! library that was built with MPI and with one that was built without. Run it with: serial_f90
program serial
  use thalweg
  implicit none
  integer, parameter :: nx = 8, nz = 4, ny = 6, nsteps = 3
  type(tw_session) :: io
  type(tw_decomposition) :: cells
  type(tw_file) :: history
  real :: T(nx, nz, ny)
  integer :: step

  io = tw_init_serial()
  cells = tw_decompose(io, 'lon lev lat', shape=[nx, nz, ny], start=[1, 1, 1], count=[nx, nz, ny])
  history = tw_create(io, 'serial.nc')
  call tw_def_var(history, 'T', TW_FLOAT, 'lon lat lev time', cells)
  call tw_put_att(history, 'T', 'units', 'K')
  do step = 1, nsteps
    T = 273 + step                                   ! the model computes
    call tw_put(history, 'T', T)
    call tw_end_step(history)
  end do
  call tw_close(history)
  call tw_finalize(io)
end program serial
