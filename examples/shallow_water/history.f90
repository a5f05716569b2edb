! SPDX-License-Identifier: Apache-2.0
!
!> The history file: everything that a model needs to write one netCDF file from all its ranks.
!>
!> The model holds its fields as (x, layer, y); each rank holds some rows and layers, with a halo.
!> The file has the whole fields as (time, layer, y, x). The names of the dimensions describe both
!> orders: nothing is gathered or transposed here.
module history
  use, intrinsic :: iso_fortran_env, only: real64
  use thalweg
  use halo, only: patch_t
  use model, only: model_t
  implicit none
  private
  public :: history_t, open_history, write_history, close_history

  type :: history_t
    type(tw_file) :: file
  end type history_t

contains

  !> Creates the file at path and defines what is in it.
  subroutine open_history(self, io, p, m, path)
    type(history_t), intent(out) :: self
    type(tw_session), intent(in) :: io
    type(patch_t), intent(in) :: p
    type(model_t), intent(in) :: m
    character(len=*), intent(in) :: path
    type(tw_decomposition) :: cells, surface, base
    integer :: k

    ! This rank holds its rows and layers of the cells. Ranks with the top layer also hold the
    ! surface, and ranks with the bottom layer the base; the other ranks hold nothing of these.
    cells = tw_decompose(io, 'x layer y', shape=[p%nx, p%nl, p%ny], &
      start=[1, p%ks, p%js], count=[p%nx, p%nk, p%nj])
    surface = tw_decompose(io, 'x y', shape=[p%nx, p%ny], &
      start=[1, p%js], count=[p%nx, merge(p%nj, 0, p%top)])
    base = tw_decompose(io, 'x y', shape=[p%nx, p%ny], &
      start=[1, p%js], count=[p%nx, merge(p%nj, 0, p%bottom)])

    self%file = tw_create(io, path)
    call define('h', TW_FLOAT, 'x y layer time', 'layer thickness', 'm', 'cell_thickness', cells)
    call define('u', TW_FLOAT, 'x y layer time', 'velocity along x', 'm s-1', &
      'sea_water_x_velocity', cells)
    call define('v', TW_FLOAT, 'x y layer time', 'velocity along y', 'm s-1', &
      'sea_water_y_velocity', cells)
    call define('ssh', TW_FLOAT, 'x y time', 'height of the surface', 'm', &
      'sea_surface_height_above_geoid', surface)
    call define('base', TW_FLOAT, 'x y time', 'depth of the base of the lowest layer', 'm', '', &
      base)

    ! Coordinates: small, known to every rank, written once.
    call define('time', TW_DOUBLE, 'time', 'time', 'seconds since 2000-01-01 00:00:00', 'time')
    call define('x', TW_DOUBLE, 'x', 'distance along the channel', 'm', '')
    call define('y', TW_DOUBLE, 'y', 'distance across the channel', 'm', '')
    call define('layer', TW_INT, 'layer', 'number of the layer from the surface down', '1', '')
    call define('f', TW_DOUBLE, 'y', 'Coriolis parameter', 's-1', 'coriolis_parameter')
    call tw_put_att(self%file, 'time', 'calendar', 'proleptic_gregorian')
    call tw_put_att(self%file, 'time', 'axis', 'T')
    call tw_put_att(self%file, 'x', 'axis', 'X')
    call tw_put_att(self%file, 'y', 'axis', 'Y')
    call tw_put_att(self%file, 'layer', 'axis', 'Z')
    call tw_put_att(self%file, 'layer', 'positive', 'down')

    call tw_put_att(self%file, '', 'Conventions', 'CF-1.10')
    call tw_put_att(self%file, '', 'title', 'Baroclinically unstable jet in a beta-plane channel')
    call tw_put_att(self%file, '', 'source', 'layered shallow-water model, an example of Thalweg')
    call tw_put_att(self%file, '', 'references', 'Phillips, N. A., 1954: Tellus 6, 273-286')
    call tw_put_att(self%file, '', 'time_step', m%c%dt)
    call tw_put_att(self%file, '', 'reduced_gravity', m%reduced_gravity)

    call tw_put(self%file, 'x', m%x)
    call tw_put(self%file, 'y', m%y)
    call tw_put(self%file, 'layer', [(k, k=1, p%nl)])
    call tw_put(self%file, 'f', m%f)

  contains

    subroutine define(name, type, dims, long_name, units, standard_name, held)
      character(len=*), intent(in) :: name, dims, long_name, units, standard_name
      integer, intent(in) :: type
      type(tw_decomposition), intent(in), optional :: held
      call tw_def_var(self%file, name, type, dims, held)
      call tw_put_att(self%file, name, 'long_name', long_name)
      call tw_put_att(self%file, name, 'units', units)
      if (standard_name /= '') call tw_put_att(self%file, name, 'standard_name', standard_name)
      if (present(held)) call tw_put_att(self%file, name, 'cell_methods', 'time: point')
    end subroutine define

  end subroutine open_history

  !> Writes one record: the model's state now. u and v are averaged to the middle of the cells.
  subroutine write_history(self, p, m)
    type(history_t), intent(in) :: self
    type(patch_t), intent(in) :: p
    type(model_t), intent(in) :: m
    integer :: ni, nj
    ni = p%nx
    nj = p%nj
    call tw_put(self%file, 'time', m%step*m%c%dt)
    call tw_put(self%file, 'h', m%h(1:ni, :, 1:nj))
    call tw_put(self%file, 'u', (m%u(0:ni-1, :, 1:nj) + m%u(1:ni, :, 1:nj))/2)
    call tw_put(self%file, 'v', (m%v(1:ni, :, 0:nj-1) + m%v(1:ni, :, 1:nj))/2)
    call tw_put(self%file, 'ssh', m%m(1:ni, 1, 1:merge(nj, 0, p%top))/m%c%gravity)
    call tw_put(self%file, 'base', m%d(1:ni, p%nk, 1:merge(nj, 0, p%bottom)))
    call tw_end_step(self%file)
  end subroutine write_history

  !> Completes the file.
  subroutine close_history(self)
    type(history_t), intent(inout) :: self
    call tw_close(self%file)
  end subroutine close_history

end module history
