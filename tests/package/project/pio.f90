! SPDX-License-Identifier: Apache-2.0
!
!> A program written for PIO, which must find the modules and the libraries.
program pio_f90
  use mpi
  use pio
  implicit none
  type(iosystem_desc_t) :: iosystem
  type(file_desc_t) :: file
  type(var_desc_t) :: v
  type(io_desc_t) :: iodesc
  integer :: rank, ierr, x

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call PIO_init(rank, MPI_COMM_WORLD, 1, 0, 1, PIO_rearr_box, iosystem)
  call PIO_initdecomp(iosystem, PIO_int, [4], [2 * rank + 2, 2 * rank + 1], iodesc)
  ierr = PIO_createfile(iosystem, file, PIO_iotype_pnetcdf, 'pio.nc', PIO_clobber)
  ierr = PIO_def_dim(file, 'x', 4, x)
  ierr = PIO_def_var(file, 'v', PIO_int, [x], v)
  ierr = PIO_enddef(file)
  call PIO_write_darray(file, v, iodesc, [2 * rank + 2, 2 * rank + 1], ierr)
  call PIO_closefile(file)
  call PIO_freedecomp(iosystem, iodesc)
  call PIO_finalize(iosystem, ierr)
  call MPI_Finalize(ierr)
end program pio_f90
