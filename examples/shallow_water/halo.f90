! SPDX-License-Identifier: Apache-2.0
!
!> The patch of each rank, and the communication between ranks at every step.
!>
!> The channel is cut into strips along y and, on request, into groups of layers:
!> a patch for each strip and group, with all of x. Neighbours in y exchange one row of halo.
!> Neighbours in the vertical pass on the running sums over the layers, from the top down or from
!> the bottom up, so that every sum has the same order on any number of ranks.
module halo
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  implicit none
  private
  public :: patch_t, make_patch, exchange_rows, pass_down, pass_up

  !> This rank's part of the channel.
  type :: patch_t
    type(MPI_Comm) :: comm
    integer :: rank = 0
    integer :: nx = 0, nl = 0, ny = 0  !< cells, layers and rows of the channel
    integer :: ks = 1, nk = 0          !< first layer here, number of layers here
    integer :: js = 1, nj = 0          !< first row here, number of rows here
    integer :: south = MPI_PROC_NULL, north = MPI_PROC_NULL
    integer :: above = MPI_PROC_NULL, below = MPI_PROC_NULL
    logical :: top = .true., bottom = .true.
  end type patch_t

contains

  !> Gives this rank its patch. trouble: '', or the reason why the number of ranks does not fit, the
  !> same on every rank.
  subroutine make_patch(comm, nx, nl, ny, layer_ranks, p, trouble)
    type(MPI_Comm), intent(in) :: comm
    integer, intent(in) :: nx, nl, ny, layer_ranks
    type(patch_t), intent(out) :: p
    character(len=80), intent(out) :: trouble
    integer :: ranks, rows, row, group

    p%comm = comm
    p%nx = nx
    p%nl = nl
    p%ny = ny
    call MPI_Comm_size(comm, ranks)
    call MPI_Comm_rank(comm, p%rank)
    trouble = ''
    if (nx < 2 .or. ny < 2 .or. nl < 1) trouble = 'nx and ny have to be 2 or more, layers 1 or more'
    if (layer_ranks < 1 .or. layer_ranks > nl) trouble = 'layer_ranks is not from 1 to layers'
    if (trouble /= '') return
    rows = ranks/layer_ranks
    if (rows*layer_ranks /= ranks) trouble = 'the number of ranks is no multiple of layer_ranks'
    if (rows > ny) trouble = 'there are more ranks along y than rows'
    if (trouble /= '') return

    row = p%rank/layer_ranks
    group = mod(p%rank, layer_ranks)
    p%js = 1 + row*ny/rows
    p%nj = (row + 1)*ny/rows - row*ny/rows
    p%ks = 1 + group*nl/layer_ranks
    p%nk = (group + 1)*nl/layer_ranks - group*nl/layer_ranks
    if (row > 0) p%south = p%rank - layer_ranks
    if (row < rows - 1) p%north = p%rank + layer_ranks
    p%top = group == 0
    p%bottom = group == layer_ranks - 1
    if (.not. p%top) p%above = p%rank - 1
    if (.not. p%bottom) p%below = p%rank + 1
  end subroutine make_patch

  !> Fills the halos of fields (0:nx+1, nk, 0:nj+1): x is periodic, y has free-slip walls.
  !> v lives on the northern edges of the cells: its rows 0 and ny are the walls.
  subroutine exchange_rows(p, h, u, v)
    type(patch_t), intent(in) :: p
    real(real64), intent(inout), dimension(0:, :, 0:) :: h, u, v
    real(real64), dimension(p%nx + 2, p%nk, 3) :: to_south, to_north, from_south, from_north
    integer, parameter :: northward = 1, southward = 2
    integer :: n

    n = p%nj
    call wrap(h, p%nx)
    call wrap(u, p%nx)
    call wrap(v, p%nx)
    to_south(:, :, 1) = h(:, :, 1)
    to_south(:, :, 2) = u(:, :, 1)
    to_south(:, :, 3) = v(:, :, 1)
    to_north(:, :, 1) = h(:, :, n)
    to_north(:, :, 2) = u(:, :, n)
    to_north(:, :, 3) = v(:, :, n)
    call MPI_Sendrecv(to_north, size(to_north), MPI_DOUBLE_PRECISION, p%north, northward, &
      from_south, size(from_south), MPI_DOUBLE_PRECISION, p%south, northward, p%comm, &
      MPI_STATUS_IGNORE)
    call MPI_Sendrecv(to_south, size(to_south), MPI_DOUBLE_PRECISION, p%south, southward, &
      from_north, size(from_north), MPI_DOUBLE_PRECISION, p%north, southward, p%comm, &
      MPI_STATUS_IGNORE)

    if (p%south == MPI_PROC_NULL) then
      h(:, :, 0) = h(:, :, 1)
      u(:, :, 0) = u(:, :, 1)
      v(:, :, 0) = 0
    else
      h(:, :, 0) = from_south(:, :, 1)
      u(:, :, 0) = from_south(:, :, 2)
      v(:, :, 0) = from_south(:, :, 3)
    end if
    if (p%north == MPI_PROC_NULL) then
      h(:, :, n+1) = h(:, :, n)
      u(:, :, n+1) = u(:, :, n)
      v(:, :, n:n+1) = 0
    else
      h(:, :, n+1) = from_north(:, :, 1)
      u(:, :, n+1) = from_north(:, :, 2)
      v(:, :, n+1) = from_north(:, :, 3)
    end if
  end subroutine exchange_rows

  !> Fills the halo along x, which is periodic.
  subroutine wrap(a, nx)
    real(real64), intent(inout) :: a(0:, :, 0:)
    integer, intent(in) :: nx
    a(0, :, :) = a(nx, :, :)
    a(nx+1, :, :) = a(1, :, :)
  end subroutine wrap

  !> Adds up a(:, k, :) from the top layer down: total(:, k, :) is the sum of layers 1 to k.
  subroutine pass_down(p, a, total)
    type(patch_t), intent(in) :: p
    real(real64), intent(in) :: a(0:, :, 0:)
    real(real64), intent(out) :: total(0:, :, 0:)
    real(real64) :: running(0:p%nx+1, 0:p%nj+1)
    integer :: k
    running = 0
    call MPI_Recv(running, size(running), MPI_DOUBLE_PRECISION, p%above, 3, p%comm, &
      MPI_STATUS_IGNORE)
    do k = 1, p%nk
      running = running + a(:, k, :)
      total(:, k, :) = running
    end do
    call MPI_Send(running, size(running), MPI_DOUBLE_PRECISION, p%below, 3, p%comm)
  end subroutine pass_down

  !> Adds up factor(k)*a(:, k, :) from the bottom layer up: total(:, k, :) is the sum of layers nl
  !> to k. factor counts all layers, 1 to nl.
  subroutine pass_up(p, factor, a, total)
    type(patch_t), intent(in) :: p
    real(real64), intent(in) :: factor(:)
    real(real64), intent(in) :: a(0:, :, 0:)
    real(real64), intent(out) :: total(0:, :, 0:)
    real(real64) :: running(0:p%nx+1, 0:p%nj+1)
    integer :: k
    running = 0
    call MPI_Recv(running, size(running), MPI_DOUBLE_PRECISION, p%below, 4, p%comm, &
      MPI_STATUS_IGNORE)
    do k = p%nk, 1, -1
      running = running + factor(p%ks + k - 1)*a(:, k, :)
      total(:, k, :) = running
    end do
    call MPI_Send(running, size(running), MPI_DOUBLE_PRECISION, p%above, 4, p%comm)
  end subroutine pass_up

end module halo
