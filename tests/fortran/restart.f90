! SPDX-License-Identifier: Apache-2.0
!
!> Tests restarts: arrays of several kinds, registered with and without halos, written, changed, and
!> read again with the same and with another decomposition.
program restarts
  use, intrinsic :: iso_fortran_env, only: int16, int64, real64
  use mpi_f08
  use support
  use thalweg
  implicit none

  integer, parameter :: nx = 7, nz = 2
  type(tw_session) :: io
  type(tw_decomposition) :: rows, columns, other_names, none
  type(tw_restart) :: restart, other, work
  type(tw_file) :: file
  real(real64), allocatable, target :: t(:, :, :), other_t(:, :, :)
  real, target :: profile(nz), spare, another
  integer(int64), target :: clock
  character(len=8), target :: title
  integer :: ny, status, i0, ni, values(3)
  logical :: there
  character(len=:), allocatable :: text

  call begin()
  io = tw_init(MPI_COMM_WORLD, 'log=off')
  ny = 2*ranks
  ! Two rows per rank, as (x, z, y), with a halo of one in x and y.
  rows = tw_decompose(io, 'x z y', [nx, nz, ny], [1, 1, 2*rank + 1], [nx, nz, 2], [1, 0, 1], &
    [1, 0, 1])
  allocate (t(0:nx + 1, nz, 0:3))
  restart = tw_restart_new(io, 'durable=no')
  call tw_restart_add(restart, 't', 'x y z', t(1:nx, :, 1:2), rows)
  call tw_def_dim(tw_restart_file(restart), 'letter', 8)
  call tw_restart_add(restart, 'profile', 'z', profile)
  call tw_restart_add(restart, 'clock', '', clock)
  call tw_restart_add(restart, 'title', 'letter', title)
  call tw_restart_add(restart, 'spare', '', spare, flags=TW_OPTIONAL)
  t = -1
  call set(t(1:nx, :, 1:2), 2*rank)
  profile = [0.5, -0.0]
  clock = 2_int64**40 + 1
  title = 'a text'
  spare = 3
  file = tw_restart_file(restart)
  call tw_put_att(file, '', 'date', [2026, 11, 21])
  call tw_put_att(file, 't', 'units', 'K')
  call tw_restart_write(restart, 'restart.nc')

  t = -1
  profile = 1
  clock = 0
  title = ''
  call tw_restart_read(restart, 'restart.nc', file)
  call expect(all(same(t(1:nx, :, 1:2), wanted(2*rank))), 'the rows that were written')
  call expect(all(t(0, :, :) < 0) .and. all(t(:, :, 3) < 0), 'the halo of a section')
  call expect(abs(profile(1) - 0.5) <= 0 .and. sign(1.0, profile(2)) < 0, 'a replicated array')
  call expect(clock == 2_int64**40 + 1 .and. title == 'a text', 'a number and a text')
  call tw_inq_var(file, 'spare', ierr=status)
  call expect_status(status, TW_OK, 'what was there')
  call tw_get_att(file, '', 'date', values)
  call expect(all(values == [2026, 11, 21]), 'numbers of an attribute')
  text = tw_get_att_text(file, 't', 'units')
  call expect(text == 'K', 'the text of an attribute')
  inquire(file='restart.nc.sums', exist=there)
  call expect(there, 'the checksums')
  call tw_close(file)

  ! The whole array with its halo, which is filled. The array is registered again, before the edges
  ! of the halo are set.
  call tw_restart_add(restart, 't', 'x y z', t, rows)
  call tw_fill_halo(rows, [TW_HALO_PERIODIC, TW_HALO_KEEP, TW_HALO_CLIP])
  t = -1
  call tw_restart_read(restart, 'restart.nc')
  call expect(all(same(t(1:nx, :, 1:2), wanted(2*rank))), 'the rows, with a halo')
  call expect(all(same(t(0, :, 1:2), t(nx, :, 1:2))), 'the periodic halo')
  if (rank > 0) call expect(all(t(2, :, 0) < t(2, :, 1) .and. t(2, :, 0) > 0), 'the halo of rows')
  if (rank == 0) call expect(all(t(2, :, 0) < 0), 'the halo outside')

  ! Another distribution and order: parts of x, held as (z, y, x).
  i0 = rank*nx/ranks
  ni = (rank + 1)*nx/ranks - i0
  columns = tw_decompose(io, 'z y x', [nz, ny, nx], [1, 1, i0 + 1], [nz, ny, ni])
  allocate (other_t(nz, ny, ni))
  other = tw_restart_new(io)
  call tw_restart_add(other, 't', 'x y z', other_t, columns)
  spare = 4
  call tw_restart_add(other, 'not there', '', spare, flags=TW_OPTIONAL)
  call tw_restart_read(other, 'restart.nc')
  call expect(all(same(other_t, parts_of_x())), 'parts of x')
  call expect(abs(spare - 4) <= 0, 'what was not there')

  ! Two fields that pass through one work array.
  work = tw_restart_new(io, 'durable=no')
  other_t = parts_of_x()
  call tw_restart_add(work, 'first', 'x y z', other_t, columns, flags=TW_COPIED)
  other_t = -2*other_t
  call tw_restart_add(work, 'second', 'x y z', other_t, columns, flags=TW_COPIED)
  call tw_set_var(tw_restart_file(work), 'second', 'fill=0')
  other_t = 5
  call tw_restart_write(work, 'work.nc')
  call tw_restart_write(work, 'work.nc', status)
  call expect_status(status, TW_EMISSING, 'copies that have been written')
  call tw_restart_read(work, 'work.nc', file)
  call tw_get(file, 'second', other_t, columns)
  call expect(all(same(other_t, -2*parts_of_x())), 'the second field')
  call tw_get(file, 'first', other_t, columns)
  call expect(all(same(other_t, parts_of_x())), 'the first field')
  call tw_inq_var(file, 'third', ierr=status)
  call expect_status(status, TW_ENOTFOUND, 'no third field')
  call tw_get(file, 'first', other_t, none, ierr=status)
  call expect_status(status, TW_EHANDLE, 'no decomposition to read into')
  other_names = tw_decompose(io, 'c b a', [nz, ny, nx], [1, 1, i0 + 1], [nz, ny, ni])
  other_t = 5
  call tw_restart_add(work, 'first', 'a b c', other_t, other_names, ierr=status)
  call expect_status(status, TW_EEXISTS, 'other dimensions')
  call tw_get(file, 'first', other_t, other_names, ierr=status)
  call expect_status(status, TW_ESHAPE, 'dimensions of other names')
  call tw_close(file)
  call tw_restart_free(work)
  other_t = parts_of_x()

  ! Errors.
  call tw_restart_add(other, 't', 'y x z', other_t, columns, ierr=status)
  call expect_status(status, TW_EEXISTS, 'another order of dimensions')
  call tw_restart_add(other, 'u', 'x y w', other_t, columns, ierr=status)
  call expect_status(status, TW_ENOTFOUND, 'an unknown dimension')
  call tw_restart_add(other, 'u', 'x y z', other_t, none, ierr=status)
  call expect_status(status, TW_EHANDLE, 'a decomposition that was never made')
  call tw_restart_add(other, 'u', 'x y z', other_t(:, :, :0), columns, ierr=status)
  call expect_status(status, merge(TW_OK, TW_ESHAPE, ni == 0), 'an array that is too small')
  call tw_def_dim(tw_restart_file(other), 'w', 0_int64, status)
  call expect_status(status, TW_ESHAPE, 'a dimension without a length')
  another = 0
  call tw_restart_add(other, 'v', '', another, ierr=status)
  call expect_status(status, TW_OK, 'a scalar')
  call tw_restart_read(other, 'restart.nc', file, status)
  call expect_status(status, TW_ENOTFOUND, 'a variable that is missing')
  call expect(index(tw_error_message(io), '''v''') > 0, 'the text names it')
  call tw_close(file, status)
  call expect_status(status, TW_EHANDLE, 'no file after an error')
  call tw_restart_free(other)
  call tw_restart_free(other, status)
  call expect_status(status, TW_EHANDLE, 'what is free already')
  call tw_finalize(io)
  deallocate (t, other_t, text)  ! so that leak checkers do not report them
  call finish()

contains

  !> Returns the expected values of two rows from row j0 on.
  function wanted(j0)
    integer, intent(in) :: j0
    real(real64) :: wanted(nx, nz, 2)
    integer :: i, j, k
    do j = 1, 2
      do k = 1, nz
        wanted(:, k, j) = [(value(i, j0 + j, k), i=1, nx)]
      end do
    end do
  end function wanted

  function parts_of_x() result(part)
    real(real64) :: part(nz, ny, ni)
    integer :: i, j, k
    do i = 1, ni
      do j = 1, ny
        part(:, j, i) = [(value(i0 + i, j, k), k=1, nz)]
      end do
    end do
  end function parts_of_x

  pure real(real64) function value(i, j, k)
    integer, intent(in) :: i, j, k
    value = i + 10*j + 1000*k + 1/3.0_real64
  end function value

  elemental logical function same(a, b)
    real(real64), intent(in) :: a, b
    same = abs(a - b) <= 0
  end function same

  subroutine set(array, j0)
    real(real64), intent(out) :: array(:, :, :)
    integer, intent(in) :: j0
    array = wanted(j0)
  end subroutine set

end program restarts
