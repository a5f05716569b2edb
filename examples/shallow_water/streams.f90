! SPDX-License-Identifier: Apache-2.0
!
!> Output of means, extremes and instants, as the configuration file history.toml asks for it.
module streams
  use, intrinsic :: iso_fortran_env, only: real64
  use thalweg
  use halo, only: patch_t
  use model, only: model_t
  implicit none
  private
  public :: streams_t, open_streams, send_streams, save_streams, load_streams, close_streams

  type :: streams_t
    type(tw_history) :: history
    type(tw_field) :: thickness, along, surface
  end type streams_t

contains

  !> Declares the fields.
  subroutine open_streams(self, io, p, m, configuration)
    type(streams_t), intent(out) :: self
    type(tw_session), intent(in) :: io
    type(patch_t), intent(in) :: p
    type(model_t), intent(in) :: m
    character(len=*), intent(in) :: configuration
    type(tw_decomposition) :: cells, surface
    type(tw_history) :: h
    cells = tw_decompose(io, 'x layer y', shape=[p%nx, p%nl, p%ny], &
      start=[1, p%ks, p%js], count=[p%nx, p%nk, p%nj])
    surface = tw_decompose(io, 'x y', shape=[p%nx, p%ny], &
      start=[1, p%js], count=[p%nx, merge(p%nj, 0, p%top)])

    h = tw_history_open(io, configuration, calendar='noleap', start='2000-01-01')
    call tw_history_coordinate(h, 'x', 'x', m%x, attributes='units=m; long_name=along')
    call tw_history_coordinate(h, 'y', 'y', m%y, attributes='units=m; long_name=across')
    self%thickness = tw_history_field(h, 'h', TW_DOUBLE, 'x y layer', cells, &
      'units=m; standard_name=cell_thickness; long_name=layer thickness')
    self%along = tw_history_field(h, 'u', TW_DOUBLE, 'x y layer', cells, &
      'units=m s-1; standard_name=sea_water_x_velocity; long_name=velocity along x')
    self%surface = tw_history_field(h, 'ssh', TW_DOUBLE, 'x y', surface, &
      'units=m; standard_name=sea_surface_height_above_geoid')
    call tw_history_ready(h)
    self%history = h
  end subroutine open_streams

  !> Sends the model's state at the end of a step.
  subroutine send_streams(self, p, m)
    type(streams_t), intent(in) :: self
    type(patch_t), intent(in) :: p
    type(model_t), intent(in) :: m
    integer :: ni, nj
    ni = p%nx
    nj = p%nj
    call tw_history_time(self%history, m%step*m%c%dt)
    if (tw_wants(self%thickness)) call tw_send(self%thickness, m%h(1:ni, :, 1:nj))
    if (tw_wants(self%along)) &
      call tw_send(self%along, (m%u(0:ni-1, :, 1:nj) + m%u(1:ni, :, 1:nj))/2)
    if (tw_wants(self%surface)) &
      call tw_send(self%surface, m%m(1:ni, 1, 1:merge(nj, 0, p%top))/m%c%gravity)
    call tw_history_end_step(self%history)
  end subroutine send_streams

  !> Adds the state of open windows to a restart that is about to be written.
  subroutine save_streams(self, restart)
    type(streams_t), intent(in) :: self
    type(tw_restart), intent(in) :: restart
    call tw_history_save(self%history, restart)
  end subroutine save_streams

  !> Continues from the state in a restart's file.
  subroutine load_streams(self, io, path)
    type(streams_t), intent(in) :: self
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: path
    type(tw_file) :: file
    file = tw_open(io, path)
    call tw_history_load(self%history, file)
    call tw_close(file)
  end subroutine load_streams

  subroutine close_streams(self)
    type(streams_t), intent(inout) :: self
    call tw_history_close(self%history)
  end subroutine close_streams

end module streams
