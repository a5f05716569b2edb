! SPDX-License-Identifier: Apache-2.0
!
!> The restart file: everything that the model needs to continue as if it had not stopped, on any
!> number of ranks. The model recomputes its halos from the neighbours' cells, and the depths and
!> potentials from the thicknesses; an Adams-Bashforth step needs the tendencies of the two before.
module restart
  use, intrinsic :: iso_fortran_env, only: real64
  use thalweg
  use halo, only: patch_t
  use model, only: model_t, resume
  use streams, only: streams_t, save_streams
  implicit none
  private
  public :: restart_t, open_restart, write_restart, read_restart

  type :: restart_t
    type(tw_restart) :: arrays
    type(tw_decomposition) :: cells
  end type restart_t

contains

  !> Declares the rows and layers of the cells that this rank holds.
  subroutine open_restart(self, io, p)
    type(restart_t), intent(out) :: self
    type(tw_session), intent(in) :: io
    type(patch_t), intent(in) :: p
    self%cells = tw_decompose(io, 'x layer y', shape=[p%nx, p%nl, p%ny], &
      start=[1, p%ks, p%js], count=[p%nx, p%nk, p%nj])
    self%arrays = tw_restart_new(io)
  end subroutine open_restart

  !> Registers the arrays: before each write and read, because the three steps of tendencies change
  !> places in the arrays.
  subroutine register(self, p, m)
    type(restart_t), intent(in) :: self
    type(patch_t), intent(in) :: p
    type(model_t), intent(inout), target :: m
    call add('h', m%h(1:p%nx, :, 1:p%nj))
    call add('u', m%u(1:p%nx, :, 1:p%nj))
    call add('v', m%v(1:p%nx, :, 1:p%nj))
    call add('h_tendency', m%gh(:, :, :, m%now))
    call add('u_tendency', m%gu(:, :, :, m%now))
    call add('v_tendency', m%gv(:, :, :, m%now))
    call add('h_tendency_before', m%gh(:, :, :, m%before))
    call add('u_tendency_before', m%gu(:, :, :, m%before))
    call add('v_tendency_before', m%gv(:, :, :, m%before))

  contains

    subroutine add(name, array)
      character(len=*), intent(in) :: name
      real(real64), intent(inout), target :: array(:, :, :)
      call tw_restart_add(self%arrays, name, 'x y layer', array, self%cells)
    end subroutine add

  end subroutine register

  !> Writes the state of the model, and of open windows of its means if there are any.
  subroutine write_restart(self, p, m, path, means)
    type(restart_t), intent(in) :: self
    type(patch_t), intent(in) :: p
    type(model_t), intent(inout), target :: m
    character(len=*), intent(in) :: path
    type(streams_t), intent(in), optional :: means
    if (present(means)) then
      ! The arrays come first, as in a run that has read them.
      call register(self, p, m)
      call save_streams(means, self%arrays)
    end if
    call register(self, p, m)
    call tw_put_att(tw_restart_file(self%arrays), '', 'step', m%step)
    call tw_put_att(tw_restart_file(self%arrays), '', 'time_step', m%c%dt)
    call tw_restart_write(self%arrays, path)
  end subroutine write_restart

  !> Reads the restart. trouble: '', or the reason why the model cannot continue from the file, the
  !> same on every rank.
  subroutine read_restart(self, p, m, path, trouble)
    type(restart_t), intent(in) :: self
    type(patch_t), intent(in) :: p
    type(model_t), intent(inout), target :: m
    character(len=*), intent(in) :: path
    character(len=80), intent(out) :: trouble
    type(tw_file) :: file
    real(real64) :: dt
    call register(self, p, m)
    call tw_restart_read(self%arrays, path, file)
    call tw_get_att(file, '', 'step', m%step)
    call tw_get_att(file, '', 'time_step', dt)
    call tw_close(file)
    trouble = ''
    if (abs(dt - m%c%dt) > 0) trouble = 'the restart was written with another dt'
    call resume(m, p)
  end subroutine read_restart

end module restart
