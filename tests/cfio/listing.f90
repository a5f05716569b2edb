! SPDX-License-Identifier: Apache-2.0
!
!> The complete example of the paper (Huang et al. 2014, listing 1), with the declarations that it
!> leaves out: the text between the two lines is as printed there. The paper also passes the
!> constant 0 as the argument in which cfio_def_var returns the variable's id.
program listing
  use support, only: begin, finish, expect, reader_open, reader_value, reader_close, rank
  use cfio
  implicit none
  integer, parameter :: LAT_PROC = 2, LON_PROC = 2, ratio = 4
  integer, parameter :: lat = 6, lon = 8, NF_FLOAT = 5
  character(len=*), parameter :: filename = 'listing.nc'
  integer :: ierr, ncid, dim(2), start(2), count(2), i, j, file
  real :: sst(lat/LAT_PROC, lon/LON_PROC)

  call begin()
  count = shape(sst)
  start = [mod(rank, LAT_PROC)*count(1) + 1, rank/LAT_PROC*count(2) + 1]
  sst = reshape([((real(10*(start(1) + i) + start(2) + j), i=0, count(1) - 1), &
    j=0, count(2) - 1)], shape(sst))

  !*******************************
  ! Initialize
  !*******************************
  ierr = cfio_init(LAT_PROC, LON_PROC, ratio)
  !*******************************
  ! computing and outputing
  !*******************************
  IF (cfio_proc_type() == CFIO_TYPE_CLIENT) THEN
    !******** Computing phase ********
    ! ......
    !******** I/O phase *************
    ! output data
    ierr = cfio_create(filename, 0, ncid)
    ierr = cfio_def_dim(ncid, "lat", lat, dim(1))
    ierr = cfio_def_dim(ncid, "lon", lon, dim(2))
    ierr = cfio_def_var(ncid, "sst", NF_FLOAT, 2, dim, 0)
    ierr = cfio_enddef(ncid)
    ierr = cfio_put_vara_real(ncid, 0, 2, start, count, sst)
    ierr = cfio_close(ncid)
    ierr = cfio_end_io()
  END IF
  !*******************************
  ! Finalize
  !*******************************
  ierr = cfio_finalize()
  !*******************************

  call expect(ierr == 0, 'cfio_finalize')
  if (rank == 0) then
    file = reader_open(filename)
    do j = 1, lon
      do i = 1, lat
        call expect(nint(reader_value(file, 'sst', [i, j])) == 10*i + j, 'sst')
      end do
    end do
    call reader_close(file)
  end if
  call finish()
end program listing
