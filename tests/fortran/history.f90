! SPDX-License-Identifier: Apache-2.0
!
!> Tests histories: a mean and a maximum of a field with a halo, continued from a restart.
program histories
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use support
  use thalweg
  implicit none

  integer, parameter :: nx = 5
  character, parameter :: nl = new_line('a')
  character(len=*), parameter :: config = '[[stream]]'//nl//'name = "day"'//nl// &
    'every = "1 day"'//nl//'fields = ["T"]'//nl//'path = "day.nc"'//nl//'type = "double"'//nl// &
    '[stream.field.Tmax]'//nl//'of = "T"'//nl//'op = "max"'//nl
  type(tw_session) :: io
  type(tw_decomposition) :: rows, none
  type(tw_history) :: h
  type(tw_field) :: field, other
  type(tw_restart) :: restart
  type(tw_file) :: file
  real(real64) :: t(0:nx + 1, 2), mean(nx, 2), largest(nx, 2), lon(nx), time
  integer(int64) :: now, most
  integer :: step, status, i

  call begin()
  io = tw_init(MPI_COMM_WORLD, 'log=off')
  rows = tw_decompose(io, 'lon lat', [nx, 2*ranks], [1, 2*rank + 1], [nx, 2], [1, 0], [1, 0])
  lon = [(10*i, i=1, nx)]

  call open_history()
  restart = tw_restart_new(io, 'durable=no')
  call expect(.not. tw_wants(field), 'nothing is wanted before a time')
  do step = 1, 30
    call run_step()
  end do
  call tw_history_memory(h, now, most)
  call expect(now == 2*16*nx .and. most == now, 'the memory of a mean and a maximum')
  call tw_history_save(h, restart)
  call tw_restart_write(restart, 'history_restart.nc')
  call tw_history_close(h)

  call open_history()
  call tw_restart_read(restart, 'history_restart.nc', file)
  call tw_history_load(h, file)
  call tw_close(file)
  do step = 31, 48
    call run_step()
  end do
  call tw_send(field, t, ierr=status)
  call expect_status(status, TW_ESTATE, 'a field without a time')
  call tw_history_close(h)

  file = tw_open(io, 'day.nc')
  do step = 1, 2
    call tw_get(file, 'T', mean, rows, record=step)
    call tw_get(file, 'Tmax', largest, rows, record=step)
    call tw_get(file, 'time', time, record=step)
    call expect(abs(time - (step - 0.5_real64)) <= 0, 'the middle of the day')
    do i = 1, nx
      call expect(all(abs(mean(i, :) - (24*step - 11.5_real64 + 100*i)) <= 0), 'a mean')
      call expect(all(abs(largest(i, :) - (24*step + 100*i)) <= 0), 'a maximum')
    end do
  end do
  call tw_get(file, 'lon', lon)
  call expect(all(abs(lon - [(10*i, i=1, nx)]) <= 0), 'the coordinate')
  call tw_close(file)

  h = tw_history_open(io, '[[stream]]'//nl//'evry = 1'//nl, 'noleap', '2000-01-01', ierr=status)
  call expect_status(status, TW_ESETTING, 'a wrong configuration')
  h = tw_history_open(io, config, calendar='noleap', start='2000-01-01')
  other = tw_history_field(h, 'T', TW_DOUBLE, 'lon lat', none, ierr=status)
  call expect_status(status, TW_EHANDLE, 'a decomposition that was never made')
  call tw_history_close(h)
  call tw_restart_free(restart)
  call tw_finalize(io)
  call finish()

contains

  subroutine open_history()
    h = tw_history_open(io, config, calendar='noleap', start='2000-01-01')
    call tw_history_coordinate(h, 'lon', 'lon', lon, attributes='units=degrees_east')
    field = tw_history_field(h, 'T', TW_DOUBLE, 'lon lat', rows, &
      'units=K; standard_name=air_temperature')
    call tw_history_ready(h)
  end subroutine open_history

  subroutine run_step()
    integer :: k
    t = -1e30_real64
    do k = 1, nx
      t(k, :) = step + 100*k
    end do
    call tw_history_time(h, 3600.0_real64*step)
    if (mod(step, 2) == 1) then
      call tw_send(field, t)
    else if (tw_wants(field)) then
      call tw_send_block(field, 1, t)
      call tw_send_block(field, 2, t, status)
      call expect_status(status, TW_EBOUNDS, 'a box that a rank does not have')
    end if
    call tw_history_end_step(h)
  end subroutine run_step

end program histories
