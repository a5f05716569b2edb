! SPDX-License-Identifier: Apache-2.0
!
!> A stack of shallow-water layers over an infinitely deep ocean at rest, in a beta-plane channel:
!> periodic along x, walls along y. Layer 1 is the uppermost.
!>
!>   du/dt = + q V - dB/dx + nu lap(u)       q = (f + dv/dx - du/dy)/h    potential vorticity
!>   dv/dt = - q U - dB/dy + nu lap(v)       B = M + (u^2 + v^2)/2        Bernoulli function
!>   dh/dt = - dU/dx - dV/dy                 U = h u, V = h v             transports
!>
!>   D(k) = h(1) + ... + h(k)                depth of the lower interface of layer k
!>   M(k) = g'(k) D(k) + ... + g'(nl) D(nl)  Montgomery potential, 0 in the ocean at rest below
!>
!> Through D and M every layer feels all others (Bleck and Smith 1990). A term -(h0/h)^3 in B keeps
!> layers from vanishing where fronts grow (Salmon 2002). In space: the Arakawa C
!> grid with Sadourny's (1975) potential-enstrophy conserving scheme; thickness in flux form, so
!> that the mass of each layer is conserved. In time: third-order Adams-Bashforth (Durran 1991).
!>
!> The test case is the baroclinically unstable jet on a beta plane of Phillips (1954), with as many
!> layers as wanted: a jet u = U sech^2(y/L) in the upper layers that vanishes in the lower ones, in
!> geostrophic balance, disturbed by small meanders. Eddies fill the jet after a month.
!>
!>   Bleck, R., Smith, L. T., 1990: J. Geophys. Res. 95(C3), 3273-3285
!>   Durran, D. R., 1991: Mon. Wea. Rev. 119, 702-720
!>   Phillips, N. A., 1954: Tellus 6, 273-286
!>   Sadourny, R., 1975: J. Atmos. Sci. 32, 680-689
!>   Salmon, R., 2002: J. Mar. Res. 60, 605-638
module model
  use, intrinsic :: iso_fortran_env, only: real64
  use mpi_f08
  use halo, only: patch_t, exchange_rows, pass_down, pass_up
  implicit none
  private
  public :: parameters_t, model_t, initialize, resume, longest_step, advance, total_mass, healthy

  real(real64), parameter :: pi = acos(-1.0_real64)

  !> Parameters of the model, in SI units.
  type :: parameters_t
    real(real64) :: dx = 10e3_real64           !< cell width along x and y
    real(real64) :: dt = 720                   !< time step
    real(real64) :: f0 = 1e-4_real64           !< Coriolis parameter in the middle of the channel
    real(real64) :: beta = 1.6e-11_real64      !< change of the Coriolis parameter along y
    real(real64) :: gravity = 9.81_real64
    real(real64) :: depth = 1000               !< all layers together, at rest
    real(real64) :: buoyancy = 0.02_real64     !< sum of the reduced gravities of all interfaces
    real(real64) :: jet_speed = 0.5_real64     !< U in the formula of the jet
    real(real64) :: jet_width = 50e3_real64    !< L in the formula of the jet
    real(real64) :: meander = 30               !< displacement of the interfaces, m
    real(real64) :: viscosity = 200
    real(real64) :: thinnest = 20              !< layers thinner than this, m, become stiff
  end type parameters_t

  !> Fields are held as (x, layer, y) with a halo of one cell along x and y. h is in the middle of
  !> a cell, u on its eastern edge, v on its northern edge.
  type :: model_t
    type(parameters_t) :: c
    integer :: step = 0
    real(real64), allocatable :: reduced_gravity(:)                !< g', (nl)
    real(real64), allocatable :: x(:), y(:), f(:)                  !< (nx), (ny), (ny)
    real(real64), allocatable, dimension(:, :, :) :: h, u, v       !< state
    real(real64), allocatable, dimension(:, :, :) :: d, m          !< interface depth, potential
    real(real64), allocatable, dimension(:, :, :, :) :: gh, gu, gv !< tendencies of three steps
    integer :: now = 1, before = 2, earlier = 3                    !< their indices in gh, gu, gv
    real(real64), allocatable, dimension(:, :, :) :: q, uh, vh, b  !< work space
    real(real64), allocatable :: f_corner(:)                       !< f on the northern edges
  end type model_t

contains

  !> Allocates the fields and sets the jet.
  subroutine initialize(self, p, c)
    type(model_t), intent(out) :: self
    type(patch_t), intent(in) :: p
    type(parameters_t), intent(in) :: c
    real(real64) :: shear(p%nl), s, middle, x
    integer :: i, j, k, layer

    self%c = c
    shear = thermocline([(k, k=1, p%nl)], p%nl, 0.2_real64)
    shear = c%jet_speed*shear/sum(shear)
    self%reduced_gravity = 0.2_real64 + thermocline([(k, k=1, p%nl)], p%nl, 0.3_real64)
    self%reduced_gravity = c%buoyancy*self%reduced_gravity/sum(self%reduced_gravity)
    self%x = [((i - 0.5_real64)*c%dx, i=1, p%nx)]
    self%y = [((j - 0.5_real64)*c%dx, j=1, p%ny)]
    middle = 0.5_real64*p%ny*c%dx
    self%f = c%f0 + c%beta*(self%y - middle)
    self%f_corner = [(c%f0 + c%beta*((p%js + j - 1)*c%dx - middle), j=0, p%nj)]

    allocate (self%h(0:p%nx+1, p%nk, 0:p%nj+1), source=0.0_real64)
    allocate (self%u, self%v, self%d, self%m, self%q, self%uh, self%vh, self%b, source=self%h)
    allocate (self%gh(p%nx, p%nk, p%nj, 3), source=0.0_real64)
    allocate (self%gu, self%gv, source=self%gh)

    do j = 1, p%nj
      s = (self%y(p%js + j - 1) - middle)/c%jet_width
      do k = 1, p%nk
        layer = p%ks + k - 1
        do i = 1, p%nx
          x = self%x(i)/(p%nx*c%dx)
          self%u(i, k, j) = sum(shear(layer:))/cosh(s)**2
          self%h(i, k, j) = interface_depth(c, shear, self%reduced_gravity, layer, s, x) &
            - interface_depth(c, shear, self%reduced_gravity, layer - 1, s, x)
        end do
      end do
    end do
    call resume(self, p)
  end subroutine initialize

  !> Computes the rest of the state from h, u and v of the cells. Collective.
  subroutine resume(self, p)
    type(model_t), intent(inout) :: self
    type(patch_t), intent(in) :: p
    call exchange_rows(p, self%h, self%u, self%v)
    call diagnose(self, p)
  end subroutine resume

  !> Returns the depth of the lower interface of a layer (0: the surface) in geostrophic balance
  !> with the jet, g' dD/dy = - f (u(layer) - u(layer + 1)), plus meanders that fade above and below
  !> mid-depth.
  !> s: distance from the jet in units of its width; x: from 0 to 1 along the channel.
  pure real(real64) function interface_depth(c, shear, reduced_gravity, layer, s, x) result(depth)
    type(parameters_t), intent(in) :: c
    real(real64), intent(in) :: shear(:), reduced_gravity(:)  ! at all interfaces
    integer, intent(in) :: layer
    real(real64), intent(in) :: s, x
    integer :: wave, nl
    nl = size(shear)
    depth = c%depth*layer/nl
    if (layer == 0) return
    depth = depth - shear(layer)/reduced_gravity(layer)*(c%f0*c%jet_width*tanh(s) &
      + c%beta*c%jet_width**2*(s*tanh(s) - log(cosh(s))))
    do wave = 5, 9
      depth = depth + 0.2_real64*c%meander*thermocline(layer, nl, 0.2_real64)/cosh(s)**2 &
        *cos(2*pi*wave*x + wave**2)
    end do
  end function interface_depth

  !> Returns the strength of the thermocline at a layer: 1 at mid-depth, less above and below.
  pure elemental real(real64) function thermocline(layer, nl, width)
    integer, intent(in) :: layer, nl
    real(real64), intent(in) :: width
    thermocline = exp(-((real(layer, real64)/nl - 0.5_real64)/width)**2)
  end function thermocline

  !> Returns the longest stable time step, s: the fastest wave, carried by the jet, within the limit
  !> 0.72 of the Adams-Bashforth scheme. The speed comes from the vertical modes of the layers at
  !> rest, with
  !> c^2 h = H (g'(k) d(k) + ... + g'(nl) d(nl)), d = h(1) + ... + h(k), by power iteration.
  pure real(real64) function longest_step(self)
    type(model_t), intent(in) :: self
    real(real64) :: h(size(self%reduced_gravity)), m(size(self%reduced_gravity)), c2
    integer :: k, n, iteration
    n = size(h)
    h = 1
    do iteration = 1, 100
      m = [(self%reduced_gravity(k)*sum(h(:k)), k=1, n)]
      h = [(self%c%depth/n*sum(m(k:)), k=1, n)]
      c2 = maxval(h)
      h = h/c2
    end do
    longest_step = 0.72_real64*self%c%dx/(2*sqrt(2.0_real64)*(sqrt(c2) + self%c%jet_speed))
  end function longest_step

  !> Computes the interface depths and Montgomery potentials of the present state, halos included.
  subroutine diagnose(self, p)
    type(model_t), intent(inout) :: self
    type(patch_t), intent(in) :: p
    call pass_down(p, self%h, self%d)
    call pass_up(p, self%reduced_gravity, self%d, self%m)
  end subroutine diagnose

  !> Advances the model by one time step. Collective.
  subroutine advance(self, p)
    type(model_t), intent(inout) :: self
    type(patch_t), intent(in) :: p
    real(real64) :: a(3)
    integer :: places(3)

    places = [self%earlier, self%now, self%before]
    self%now = places(1)
    self%before = places(2)
    self%earlier = places(3)
    call tendencies(self, p, self%gh(:, :, :, self%now), self%gu(:, :, :, self%now), &
      self%gv(:, :, :, self%now))

    self%step = self%step + 1
    select case (self%step)
    case (1)
      a = [1, 0, 0]
    case (2)
      a = [1.5_real64, -0.5_real64, 0.0_real64]
    case default
      a = [23, -16, 5]/12.0_real64
    end select
    a = a*self%c%dt
    call step_forward(self%h, self%gh)
    call step_forward(self%u, self%gu)
    call step_forward(self%v, self%gv)
    call resume(self, p)

  contains

    subroutine step_forward(field, g)
      real(real64), intent(inout) :: field(0:, :, 0:)
      real(real64), intent(in) :: g(:, :, :, :)
      integer :: i, j, k
      do j = 1, p%nj
        do k = 1, p%nk
          do i = 1, p%nx
            field(i, k, j) = field(i, k, j) + (a(1)*g(i, k, j, self%now) &
              + a(2)*g(i, k, j, self%before) + a(3)*g(i, k, j, self%earlier))
          end do
        end do
      end do
    end subroutine step_forward

  end subroutine advance

  !> Computes the right-hand sides gh, gu, gv of the three equations. Each value depends on its
  !> neighbours only, in an order of operations that does not depend on the patch.
  subroutine tendencies(self, p, gh, gu, gv)
    type(model_t), intent(inout) :: self
    type(patch_t), intent(in) :: p
    real(real64), intent(out), dimension(:, :, :) :: gh, gu, gv
    real(real64) :: r, rr, nu, thin
    integer :: i, j, k

    r = 1/self%c%dx
    rr = r*r
    nu = self%c%viscosity
    thin = self%c%buoyancy*self%c%thinnest/3
    associate (h => self%h, u => self%u, v => self%v, m => self%m, q => self%q, uh => self%uh, &
        vh => self%vh, b => self%b, f => self%f_corner, nx => p%nx, nj => p%nj)
      do j = 0, nj + 1
        do k = 1, p%nk
          do i = 0, nx
            uh(i, k, j) = 0.5_real64*(h(i, k, j) + h(i+1, k, j))*u(i, k, j)
          end do
        end do
      end do
      do j = 0, nj
        do k = 1, p%nk
          do i = 0, nx + 1
            vh(i, k, j) = 0.5_real64*(h(i, k, j) + h(i, k, j+1))*v(i, k, j)
          end do
          do i = 0, nx
            q(i, k, j) = (f(j+1) + (v(i+1, k, j) - v(i, k, j))*r - (u(i, k, j+1) - u(i, k, j))*r) &
              /(0.25_real64*((h(i, k, j) + h(i+1, k, j)) + (h(i, k, j+1) + h(i+1, k, j+1))))
          end do
        end do
      end do
      do j = 1, nj + 1
        do k = 1, p%nk
          do i = 1, nx + 1
            b(i, k, j) = (m(i, k, j) - thin*(self%c%thinnest/h(i, k, j))**3) &
              + 0.25_real64*((u(i, k, j)**2 + u(i-1, k, j)**2) &
              + (v(i, k, j)**2 + v(i, k, j-1)**2))
          end do
        end do
      end do
      do j = 1, nj
        do k = 1, p%nk
          do i = 1, nx
            gh(i, k, j) = -((uh(i, k, j) - uh(i-1, k, j)) + (vh(i, k, j) - vh(i, k, j-1)))*r
            gu(i, k, j) = 0.125_real64*(q(i, k, j) + q(i, k, j-1)) &
              *((vh(i, k, j) + vh(i+1, k, j)) + (vh(i, k, j-1) + vh(i+1, k, j-1))) &
              - (b(i+1, k, j) - b(i, k, j))*r &
              + nu*rr*(((u(i-1, k, j) + u(i+1, k, j)) + (u(i, k, j-1) + u(i, k, j+1))) &
              - 4*u(i, k, j))
            gv(i, k, j) = -0.125_real64*(q(i, k, j) + q(i-1, k, j)) &
              *((uh(i, k, j) + uh(i, k, j+1)) + (uh(i-1, k, j) + uh(i-1, k, j+1))) &
              - (b(i, k, j+1) - b(i, k, j))*r &
              + nu*rr*(((v(i-1, k, j) + v(i+1, k, j)) + (v(i, k, j-1) + v(i, k, j+1))) &
              - 4*v(i, k, j))
          end do
        end do
      end do
      if (p%js + nj - 1 == p%ny) gv(:, :, nj) = 0  ! the northern wall
    end associate
  end subroutine tendencies

  !> Returns the sum of all thicknesses times the cells' area, m3. It is the same on every rank and
  !> for any number of ranks: values are first added up in each row, and then the rows in a fixed
  !> order. Collective.
  real(real64) function total_mass(self, p)
    type(model_t), intent(in) :: self
    type(patch_t), intent(in) :: p
    real(real64) :: rows(p%nl, p%ny)
    integer :: j, k
    rows = 0
    do j = 1, p%nj
      do k = 1, p%nk
        rows(p%ks + k - 1, p%js + j - 1) = sum(self%h(1:p%nx, k, j))
      end do
    end do
    ! Every row has one rank: all other ranks add zeros.
    call MPI_Allreduce(MPI_IN_PLACE, rows, size(rows), MPI_DOUBLE_PRECISION, MPI_SUM, p%comm)
    total_mass = sum(rows)*self%c%dx**2
  end function total_mass

  !> Tests that no layer has vanished and no value is infinite or not a number, on any rank.
  !> Collective.
  logical function healthy(self, p)
    type(model_t), intent(in) :: self
    type(patch_t), intent(in) :: p
    associate (h => self%h(1:p%nx, :, 1:p%nj), u => self%u(1:p%nx, :, 1:p%nj), &
        v => self%v(1:p%nx, :, 1:p%nj))
      healthy = all(h > 0 .and. h < 2*self%c%depth) .and. all(abs(u) < 100) .and. all(abs(v) < 100)
    end associate
    call MPI_Allreduce(MPI_IN_PLACE, healthy, 1, MPI_LOGICAL, MPI_LAND, p%comm)
  end function healthy

end module model
