! A program that was compiled and linked with another build of libpiof (relink_modules.f90), and
! runs with this one: descriptors that are extended, copied and set; optional arguments; strings.
! SPDX-License-Identifier: Apache-2.0
program relink
  use mpi
  use pio_nf
  use pio_types
  use piodarray
  use piolib_mod
  use pionfatt_mod, only: get_att, put_att
  use pionfput_mod, only: put_var
  implicit none

  integer, parameter :: internal_error = -51, return_error = -53, double = 6, offset_64 = 512

  type, extends(file_desc_t) :: history_t
    integer :: number = 5
  end type history_t

  type(iosystem_desc_t), target :: iosystem
  type(history_t) :: history
  type(file_desc_t) :: copy
  type(io_desc_t) :: rows
  type(var_desc_t) :: v, s
  type(pio_rearr_opt_t) :: options
  integer :: rank, ranks, failures, old, x, time, ierr, i
  real(r8) :: got(3)
  character(len=8) :: units

  failures = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  options%comm_type = 0
  options%fcd = 0
  options%comm_fc_opts_comp2io = pio_rearr_comm_fc_opt_t(.true., .false., 64)
  options%comm_fc_opts_io2comp = options%comm_fc_opts_comp2io
  call pio_init(rank, MPI_COMM_WORLD, 1, 0, 1, 1, iosystem, base=0, rearr_opts=options)
  call check(iosystem%iosysid >= 0, 'PIO_init')
  call pio_seterrorhandling(iosystem, return_error, oldmethod=old)
  call check(old == internal_error, 'PIO_seterrorhandling')
  call pio_initdecomp(iosystem, double, [2*ranks], [2*rank + 2, 0, 2*rank + 1], rows)
  ierr = pio_createfile(iosystem, history%file_desc_t, 1, 'relink_f90.nc  ', offset_64)
  call check(ierr == 0 .and. history%fh >= 0, 'PIO_createfile')
  call check(associated(history%iosystem, iosystem) .and. history%number == 5, 'the descriptor')
  call good(pio_def_dim(history%file_desc_t, 'time', 0, time), 'PIO_def_dim')
  call good(pio_def_dim(history%file_desc_t, 'x', 2*ranks, x), 'PIO_def_dim')
  call good(pio_def_var(history%file_desc_t, 'v', double, [x, time], v), 'PIO_def_var')
  call good(pio_def_var(history%file_desc_t, 's', double, [integer ::], s), 'PIO_def_var')
  call good(put_att(history%file_desc_t, v, 'units', 'm s-1'), 'PIO_put_att')
  call good(pio_enddef(history%file_desc_t), 'PIO_enddef')
  copy = history%file_desc_t
  do i = 2, 1, -1
    call pio_setframe(copy, v, int(i, pio_offset_kind))
    call pio_write_darray(copy, v, rows, [rank + 0.5_r8, -1._r8, real(i, r8)], ierr, &
      fillval=9._r8)
    call good(ierr, 'PIO_write_darray')
  end do
  call good(put_var(copy, s, 1.25_r8), 'PIO_put_var')
  call pio_closefile(history%file_desc_t)

  ierr = pio_openfile(iosystem, copy, 2, 'relink_f90.nc')
  call good(ierr, 'PIO_openfile')
  call check(pio_inq_varid(copy, 'none', v) == -49, 'the code of an unknown variable')
  call good(pio_inq_varid(copy, 'v', v), 'PIO_inq_varid')
  call check(v%varid == 1, 'the number of a variable')
  call good(get_att(copy, v, 'units', units), 'PIO_get_att')
  call check(units == 'm s-1', 'the attribute')
  call pio_setframe(copy, v, 2_pio_offset_kind)
  got = 7
  call pio_read_darray(copy, v, rows, got, ierr)
  call good(ierr, 'PIO_read_darray')
  call check(abs(got(1) - (rank + 0.5_r8)) < 1e-9 .and. abs(got(3) - 2) < 1e-9, 'the values')
  call pio_closefile(copy)
  call pio_freedecomp(iosystem, rows)
  call pio_finalize(iosystem, ierr)
  call good(ierr, 'PIO_finalize')
  call MPI_Finalize(ierr)
  if (failures > 0) error stop 1

contains

  subroutine check(right, what)
    logical, intent(in) :: right
    character(len=*), intent(in) :: what
    if (right) return
    failures = failures + 1
    print '(2a)', 'relink: ', what
  end subroutine check

  subroutine good(code, what)
    integer, intent(in) :: code
    character(len=*), intent(in) :: what
    call check(code == 0, what)
  end subroutine good
end program relink
