! Writes, continues and reads a file by netCDF's module for Fortran, as a model does.
!
! SPDX-License-Identifier: Apache-2.0
program nf90
  use mpi
  use netcdf
  implicit none
  integer, parameter :: wide = 5, levels = 3
  character(*), parameter :: path = 'nf90.nc'
  integer :: rank, ranks, code, file, x, z, time, temperature, times, step, mode, records
  real :: values(wide, levels, 1), read(wide, levels, 1)

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  call check(nf90_create(path, ior(nf90_netcdf4, nf90_mpiio), file, comm=MPI_COMM_WORLD, info=MPI_INFO_NULL))
  call check(nf90_set_fill(file, nf90_nofill, mode))
  call check(nf90_def_dim(file, 'x', wide * ranks, x))
  call check(nf90_def_dim(file, 'z', levels, z))
  call check(nf90_def_dim(file, 'time', nf90_unlimited, time))
  call check(nf90_def_var(file, 'time', nf90_double, [time], times))
  call check(nf90_def_var(file, 'temperature', nf90_float, [x, z, time], temperature, chunksizes=[wide, levels, 1]))
  call check(nf90_def_var_deflate(file, temperature, 1, 1, 1))
  call check(nf90_put_att(file, temperature, 'units', 'K'))
  call check(nf90_enddef(file))
  do step = 1, 3
    call put(step)
    call check(nf90_sync(file))
  end do
  call check(nf90_close(file))

  call check(nf90_open(path, ior(nf90_write, nf90_mpiio), file, comm=MPI_COMM_WORLD, info=MPI_INFO_NULL))
  call check(nf90_inq_varid(file, 'time', times))
  call check(nf90_inq_varid(file, 'temperature', temperature))
  call put(4)
  call check(nf90_redef(file))
  call check(nf90_put_att(file, nf90_global, 'history', 'continued'))
  call check(nf90_enddef(file))
  call put(5)
  call check(nf90_close(file))

  call check(nf90_open(path, ior(nf90_nowrite, nf90_mpiio), file, comm=MPI_COMM_WORLD, info=MPI_INFO_NULL))
  call check(nf90_inquire(file, unlimiteddimid=time))
  call check(nf90_inquire_dimension(file, time, len=records))
  if (records /= 5) call fail('the number of records is wrong')
  do step = 1, 5
    call set(step, modulo(rank + 1, ranks))
    call check(nf90_get_var(file, temperature, read, [modulo(rank + 1, ranks) * wide + 1, 1, step]))
    if (any(read /= values)) call fail('values are wrong')
  end do
  call check(nf90_close(file))
  call MPI_Finalize(code)

contains

  subroutine set(step, owner)
    integer, intent(in) :: step, owner
    integer :: i, k
    values(:, :, 1) = reshape([((1000. * step + 100. * owner + 10. * k + i, i=1, wide), k=1, levels)], [wide, levels])
  end subroutine set

  subroutine put(step)
    integer, intent(in) :: step
    call set(step, rank)
    call check(nf90_var_par_access(file, times, nf90_collective))
    call check(nf90_var_par_access(file, temperature, nf90_collective))
    call check(nf90_put_var(file, times, [dble(step)], [step], [1]))
    call check(nf90_put_var(file, temperature, values, [rank * wide + 1, 1, step], [wide, levels, 1]))
  end subroutine put

  subroutine check(returned)
    integer, intent(in) :: returned
    if (returned /= nf90_noerr) call fail(trim(nf90_strerror(returned)))
  end subroutine check

  subroutine fail(text)
    character(*), intent(in) :: text
    print '(a, i0, 2a)', 'rank ', rank, ': ', text
    call MPI_Abort(MPI_COMM_WORLD, 1, code)
  end subroutine fail
end program nf90
