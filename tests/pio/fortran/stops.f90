! With PIO_INTERNAL_ERROR the program ends, even if only Fortran finds the error.
! SPDX-License-Identifier: Apache-2.0
program stops
  use checks
  use pio
  implicit none

  type(iosystem_desc_t) :: iosystem
  type(file_desc_t) :: file
  type(var_desc_t) :: vardesc
  integer :: dim, values(3), ierr

  call begin()
  call pio_init(rank, MPI_COMM_WORLD, 1, 0, 1, pio_rearr_box, iosystem)
  ierr = pio_createfile(iosystem, file, pio_iotype_netcdf, 'stops.nc')
  ierr = pio_def_dim(file, 'x', 4, dim)
  ierr = pio_def_var(file, 'v', pio_int, [dim], vardesc)
  ierr = pio_enddef(file)
  ierr = pio_put_var(file, vardesc, [1, 2, 3, 4])
  ierr = pio_get_var(file, vardesc, values)
  print '(a)', 'still running'
  call finish()
end program stops
