! SPDX-License-Identifier: Apache-2.0
!
!> An ocean of rows with halos, whose coast differs between the levels. It writes daily means to a
!> file for each month, monthly maxima, means of five days of a gulf that crosses the first meridian,
!> and daily means at moorings.
program ocean
  use, intrinsic :: iso_fortran_env, only: real64
  use ranks, only: begin_model, end_model, share
  use thalweg
  implicit none

  integer, parameter :: nx = 12, ny = 9, nz = 3, steps = 240
  real(real64), parameter :: dt = 21600
  real, parameter :: land = 1e20, surface_land = -999
  type(tw_session) :: io
  type(tw_decomposition) :: water, surface
  type(tw_history) :: history
  type(tw_field) :: temperature, height
  real, allocatable :: t(:, :, :), z(:, :)
  integer :: rows(2), js, je, i, j, k, step

  io = begin_model()
  rows = share(io, ny)
  js = rows(1)
  je = rows(2)
  water = tw_decompose(io, 'lon lat lev', [nx, ny, nz], [1, js, 1], [nx, je - js + 1, nz], &
    [1, 1, 0], [1, 1, 0])
  surface = tw_decompose(io, 'lon lat', [nx, ny], [1, js], [nx, je - js + 1])

  history = tw_history_open(io, 'ocean.toml', calendar='noleap', start='2000-01-01')
  call tw_history_coordinate(history, 'lon', 'lon', [(30*(i - 1._real64), i=1, nx)], &
    attributes='units=degrees_east; standard_name=longitude')
  call tw_history_coordinate(history, 'lat', 'lat', [(10*(j - 5._real64), j=1, ny)], &
    attributes='units=degrees_north; standard_name=latitude')
  call tw_history_coordinate(history, 'lev', 'lev', [5., 15., 25.], &
    attributes='units=m; positive=down')
  temperature = tw_history_field(history, 'thetao', TW_FLOAT, 'lon lat lev', water, &
    'units=degC; standard_name=sea_water_potential_temperature; missing=fixed')
  height = tw_history_field(history, 'zos', TW_FLOAT, 'lon lat', surface, &
    'units=m; missing=fixed; missing_value=-999')
  call tw_history_ready(history)

  allocate (t(0:nx + 1, js - 1:je + 1, nz), z(nx, js:je))
  t = -7e30  ! the halo, which must not be written
  do step = 1, steps
    do k = 1, nz
      do j = js, je
        do i = 1, nx
          t(i, j, k) = i + 10*j + 100*k + mod(7*step + i*j, 13) + 0.25
          if (i <= k .and. j < 5) t(i, j, k) = land
        end do
      end do
    end do
    do j = js, je
      do i = 1, nx
        z(i, j) = i - j + 0.5*mod(5*step + i, 11)
        if (i == 1 .and. j < 5) z(i, j) = surface_land
      end do
    end do
    call tw_history_time(history, dt*step)
    if (tw_wants(temperature)) call tw_send(temperature, t)
    if (tw_wants(height)) call tw_send(height, z)
    call tw_history_end_step(history)
  end do
  deallocate (t, z)
  call tw_history_close(history)
  call end_model(io)
end program ocean
