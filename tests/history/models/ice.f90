! SPDX-License-Identifier: Apache-2.0
!
!> Sea ice with elements that are missing in some steps, and fields on rows and on columns. It
!> writes monthly means weighted by the area of ice, minima of five days, instants to files of 20
!> records, and monthly means of daily maxima. Its two arguments are the first and the last step of
!> the run; a run that does not begin at step 1 continues from the restart of the run before.
program ice
  use, intrinsic :: ieee_arithmetic, only: ieee_quiet_nan, ieee_value
  use, intrinsic :: iso_fortran_env, only: real64
  use ranks, only: begin_model, end_model, share
  use thalweg
  implicit none

  integer, parameter :: nx = 10, ny = 12
  real(real64), parameter :: dt = 10800
  type(tw_session) :: io
  type(tw_decomposition) :: by_rows, by_columns
  type(tw_history) :: history
  type(tw_restart) :: restart
  type(tw_file) :: file
  type(tw_field) :: area, thickness, snow, speed
  real(real64), allocatable :: a(:, :), h(:, :), s(:, :)
  real, allocatable :: v(:, :)
  integer :: rows(2), columns(2), js, je, is, ie, i, j, step, first, last

  first = argument(1)
  last = argument(2)
  io = begin_model()
  rows = share(io, ny)
  js = rows(1)
  je = rows(2)
  columns = share(io, nx)
  is = columns(1)
  ie = columns(2)
  by_rows = tw_decompose(io, 'x y', [nx, ny], [1, js], [nx, je - js + 1])
  by_columns = tw_decompose(io, 'x y', [nx, ny], [is, 1], [ie - is + 1, ny])

  history = tw_history_open(io, 'ice.toml', calendar='360_day', start='2001-12-20')
  area = tw_history_field(history, 'siconc', TW_DOUBLE, 'x y', by_rows, 'units=1')
  thickness = tw_history_field(history, 'sithick', TW_DOUBLE, 'x y', by_rows, &
    'units=m; missing=varying')
  snow = tw_history_field(history, 'sisnthick', TW_DOUBLE, 'x y', by_rows, &
    'units=m; missing=varying; missing_value=nan')
  speed = tw_history_field(history, 'sispeed', TW_FLOAT, 'x y', by_columns, 'units=m s-1')
  call tw_history_ready(history)
  restart = tw_restart_new(io)
  if (first > 1) then
    call tw_restart_read(restart, 'restart.nc', file)
    call tw_history_load(history, file)
    call tw_close(file)
  end if

  allocate (a(nx, js:je), h(nx, js:je), s(nx, js:je), v(is:ie, ny))
  do step = first, last
    do j = js, je
      do i = 1, nx
        a(i, j) = 0.25_real64*mod(i + j + step, 5)
        if (i == 3) a(i, j) = 0  ! never any ice
        h(i, j) = i + 0.5_real64*j + mod(3*step, 7)
        s(i, j) = h(i, j)/4
        if (a(i, j) <= 0 .or. mod(i*j + step, 11) == 0) h(i, j) = 1e20_real64
        if (mod(j + step, 4) == 0) s(i, j) = ieee_value(s(i, j), ieee_quiet_nan)
      end do
    end do
    do j = 1, ny
      do i = is, ie
        v(i, j) = real(i*j + mod(13*step + i, 19))
      end do
    end do
    call tw_history_time(history, dt*step)
    call tw_send(area, a)
    call tw_send(thickness, h)
    call tw_send(snow, s)
    call tw_send(speed, v)
    call tw_history_end_step(history)
  end do
  deallocate (a, h, s, v)
  call tw_history_save(history, restart)
  call tw_restart_write(restart, 'restart.nc')
  call tw_restart_free(restart)
  call tw_history_close(history)
  call end_model(io)

contains

  integer function argument(n)
    integer, intent(in) :: n
    character(len=10) :: text
    call get_command_argument(n, text)
    read (text, *) argument
  end function argument

end program ice
