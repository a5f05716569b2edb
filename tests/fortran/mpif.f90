! SPDX-License-Identifier: Apache-2.0
!
!> A model that only uses mpif.h, so that communicators are integers; any compiler can compile it,
!> even without MPI modules. It writes arrays of several types and ranks, sections and halos, and
!> reads them back.
program mpif
  use, intrinsic :: iso_fortran_env, only: error_unit, int16, int32, int64, real32, real64
  use thalweg
  implicit none
  include 'mpif.h'

  integer, parameter :: nx = 13, ny_own = 4, nz = 3
  integer :: rank, ranks, code, status, i, j, k, failures, all_failures
  integer :: ny, js
  type(tw_session) :: io
  type(tw_decomposition) :: plane, turned, cube
  type(tw_file) :: file
  real(real64) :: t(0:nx+1, 0:ny_own+1, nz), t_back(nx, ny_own, nz)
  real(real32) :: ps(ny_own, nx)
  integer(int16) :: mask(nx, ny_own), mask_back(nx, ny_own)
  integer(int64) :: id(2*nx, ny_own), id_back(nx, ny_own)
  real(real64) :: scalar, scalar_back

  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
  failures = 0
  ny = ny_own * ranks
  js = ny_own * rank + 1

  io = tw_init(MPI_COMM_WORLD, 'log=off')
  call MPI_Comm_compare(tw_model_comm_integer(io), MPI_COMM_WORLD, status, code)
  call expect(status == MPI_CONGRUENT, 'the communicator of the model')
  plane = tw_decompose(io, 'x y', [nx, ny], [1, js], [nx, ny_own])
  turned = tw_decompose(io, 'y x', [ny, nx], [js, 1], [ny_own, nx])
  cube = tw_decompose(io, 'x y z', [nx, ny, nz], [1, js, 1], [nx, ny_own, nz])

  t = -1
  do k = 1, nz
    do j = 1, ny_own
      do i = 1, nx
        t(i, j, k) = 1000 * k + 100 * (js + j) + i
        ps(j, i) = real(10 * (js + j) + i, real32)
        mask(i, j) = int(js + j - i, int16)
        id(2*i - 1, j) = 2_int64**40 + 100 * (js + j) + i
      end do
    end do
  end do
  id(2::2, :) = -1
  scalar = 2.5_real64

  file = tw_create(io, 'mpif.nc')
  call tw_def_var(file, 'T', TW_DOUBLE, 'x y z time', cube)
  call tw_def_var(file, 'MASK', TW_SHORT, 'x y time', plane)
  call tw_def_var(file, 'PS', TW_FLOAT, 'x y time', turned)
  call tw_def_var(file, 'ID', TW_DOUBLE, 'x y', plane)
  call tw_def_var(file, 'S', TW_DOUBLE, 'time')
  call tw_put_att(file, '', 'title', 'by mpif.h')
  call tw_put(file, 'T', t(1:nx, 1:ny_own, :))
  call tw_put(file, 'MASK', mask)
  call tw_put(file, 'PS', ps)
  call tw_put(file, 'ID', id(1::2, :))
  call tw_put(file, 'S', scalar)
  call tw_end_step(file)
  call tw_put(file, 'NONE', scalar, status)
  call expect(status == TW_ENOTFOUND, 'a variable that is not defined')
  call tw_close(file)

  file = tw_open(io, 'mpif.nc')
  call tw_get(file, 'T', t_back, cube, 1)
  call expect(maxval(abs(t_back - t(1:nx, 1:ny_own, :))) < 1e-9_real64, 'T')
  call tw_get(file, 'MASK', mask_back, plane, 1)
  call expect(all(mask_back == mask), 'MASK')
  call tw_get(file, 'ID', id_back, plane)
  call expect(all(id_back == id(1::2, :)), 'ID, by a stride')
  call tw_get(file, 'S', scalar_back, record=1)
  call expect(abs(scalar_back - scalar) < 1e-9_real64, 'S')
  call tw_close(file)

  call MPI_Reduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, code)
  call tw_finalize(io)
  call MPI_Finalize(code)
  if (rank == 0) then
    if (all_failures /= 0) error stop 'mpif: FAILED'
    write (*, '(a)') 'mpif: PASSED'
  end if

contains

  subroutine expect(what, text)
    logical, intent(in) :: what
    character(len=*), intent(in) :: text
    if (what) return
    failures = failures + 1
    write (error_unit, '(a, i0, 2a)') 'rank ', rank, ': wrong: ', text
  end subroutine expect

end program mpif
