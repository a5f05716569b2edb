! Writes and reads like ROMS: descriptors in structures, copied by value; tiles without the halo;
! two nested grids with an iosystem each, whose files are open at once; several records per file,
! written out of order; inquiries while a file is written.
! SPDX-License-Identifier: Apache-2.0
module roms_state
  use pio
  implicit none

  type :: io_variable
    type(var_desc_t) :: vd
    integer :: dkind = 0
  end type io_variable

  type :: t_io
    character(len=40) :: name = ' '
    type(file_desc_t) :: piofile
    type(io_variable), allocatable :: piovar(:)
  end type t_io
end module roms_state

program roms
  use checks
  use roms_state
  implicit none

  integer, parameter :: r8 = selected_real_kind(12), ngrids = 2, nz = 3
  integer :: lm(ngrids) = [15, 8], mm(ngrids) = [9, 12]
  type(iosystem_desc_t) :: piosystem(ngrids)
  type(t_io) :: his(ngrids), saved
  integer :: ng, record, status, records(4) = [3, 1, 2, 4]

  call begin()
  do ng = 1, ngrids
    call pio_init(rank, MPI_COMM_WORLD, 1, 0, 1, ng, piosystem(ng), base=mod(ng - 1, ranks))
    call define(ng, his(ng))
  end do
  do record = 1, size(records)
    do ng = 1, ngrids
      saved = his(ng)
      call write_fields(ng, saved, records(record))
    end do
  end do
  do ng = 1, ngrids
    call look(his(ng))
    call pio_closefile(his(ng)%piofile)
    call read_fields(ng)
    call pio_finalize(piosystem(ng), status)
  end do
  call finish()

contains

  subroutine define(ng, io)
    integer, intent(in) :: ng
    type(t_io), intent(inout) :: io
    integer :: dims(4)

    write (io%name, '(a, i0, a)') 'roms_his_', ng, '.nc'
    allocate (io%piovar(3))
    call ok(pio_createfile(piosystem(ng), io%piofile, pio_iotype_netcdf4c, trim(io%name), &
      pio_clobber))
    call ok(pio_def_dim(io%piofile, 'xi_rho', lm(ng), dims(1)))
    call ok(pio_def_dim(io%piofile, 'eta_rho', mm(ng), dims(2)))
    call ok(pio_def_dim(io%piofile, 's_rho', nz, dims(3)))
    call ok(pio_def_dim(io%piofile, 'ocean_time', pio_unlimited, dims(4)))
    call ok(pio_def_var(io%piofile, 'ocean_time', pio_double, dims(4:4), io%piovar(1)%vd))
    call ok(pio_def_var(io%piofile, 'zeta', pio_real, [dims(1:2), dims(4)], io%piovar(2)%vd))
    call ok(pio_def_var(io%piofile, 'temp', pio_double, dims, io%piovar(3)%vd))
    io%piovar%dkind = [pio_double, pio_real, pio_double]
    call ok(pio_put_att(io%piofile, io%piovar(3)%vd, 'time', 'ocean_time'))
    call ok(pio_put_att(io%piofile, io%piovar(3)%vd%varid, 'valid_range', [0.0_r8, 40.0_r8]))
    call ok(pio_enddef(io%piofile))
  end subroutine define

  ! Tiles of whole rows, with one point of halo in each direction.
  subroutine tile(ng, first, last)
    integer, intent(in) :: ng
    integer, intent(out) :: first, last
    integer :: n

    call share(mm(ng), first, n)
    last = first + n - 1
  end subroutine tile

  subroutine decompose(ng, xtype, levels, iodesc)
    integer, intent(in) :: ng, xtype, levels
    type(io_desc_t), intent(inout) :: iodesc
    integer :: i, j, k, first, last, n
    integer(pio_offset_kind), allocatable :: dof(:)

    call tile(ng, first, last)
    allocate (dof(lm(ng) * max(0, last - first + 1) * levels))
    n = 0
    do k = 1, levels
      do j = first, last
        do i = 1, lm(ng)
          n = n + 1
          dof(n) = i + lm(ng) * (j - 1) + lm(ng) * mm(ng) * (k - 1)
        end do
      end do
    end do
    if (levels == 1) then
      call pio_initdecomp(piosystem(ng), xtype, [lm(ng), mm(ng)], dof, iodesc)
    else
      call pio_initdecomp(piosystem(ng), xtype, [lm(ng), mm(ng), levels], dof, iodesc)
    end if
  end subroutine decompose

  subroutine write_fields(ng, io, rec)
    integer, intent(in) :: ng, rec
    type(t_io), intent(inout) :: io
    type(io_desc_t) :: iodesc
    real(r8), allocatable :: field(:, :, :)
    integer :: i, j, k, first, last

    call tile(ng, first, last)
    allocate (field(0:lm(ng) + 1, first - 1:last + 1, nz), source=-1.0e35_r8)
    do k = 1, nz
      do j = first, last
        do i = 1, lm(ng)
          field(i, j, k) = i + 100 * j + 10000 * k + 100000 * rec
        end do
      end do
    end do
    call ok(pio_put_var(io%piofile, io%piovar(1)%vd, [rec], [1], [3600.0_r8 * rec]))
    call decompose(ng, pio_double, 1, iodesc)
    call pio_setframe(io%piofile, io%piovar(2)%vd, int(rec, pio_offset_kind))
    call pio_write_darray(io%piofile, io%piovar(2)%vd, iodesc, field(1:lm(ng), first:last, 1), status)
    call ok(status)
    call pio_freedecomp(io%piofile, iodesc)
    call decompose(ng, pio_double, nz, iodesc)
    call pio_setframe(io%piofile, io%piovar(3)%vd, int(rec, pio_offset_kind))
    call pio_write_darray(io%piofile, io%piovar(3)%vd, iodesc, field(1:lm(ng), first:last, :), status)
    call ok(status)
    call pio_syncfile(io%piofile)
    call pio_freedecomp(piosystem(ng), iodesc)
  end subroutine write_fields

  subroutine look(io)
    type(t_io), intent(in) :: io
    integer :: ndims, nvars, natts, recdim, length, dimids(4)
    character(len=40) :: name
    real(r8) :: times(4), range(2)

    call ok(pio_inquire(io%piofile, nDimensions=ndims, nVariables=nvars, nAttributes=natts, &
      unlimitedDimId=recdim))
    call check(ndims == 4 .and. nvars == 3 .and. natts == 0 .and. recdim == 4, 'inquire')
    call ok(pio_inquire_dimension(io%piofile, recdim, name=name, len=length))
    call check(name == 'ocean_time' .and. length == 4, 'records')
    call ok(pio_inquire_variable(io%piofile, io%piovar(3)%vd, name, ndims=ndims, dimids=dimids))
    call check(name == 'temp' .and. all(dimids == [1, 2, 3, 4]), 'temp')
    call ok(pio_get_att(io%piofile, io%piovar(3)%vd, 'valid_range', range))
    call check(abs(range(2) - 40) < 1e-9, 'valid_range')
    call ok(pio_get_var(io%piofile, io%piovar(1)%vd, times))
    call check(all(abs(times - 3600.0_r8 * [1, 2, 3, 4]) < 1e-9), 'ocean_time')
  end subroutine look

  subroutine read_fields(ng)
    integer, intent(in) :: ng
    type(file_desc_t) :: file
    type(var_desc_t) :: vd
    type(io_desc_t) :: iodesc
    real(r8), allocatable :: field(:, :, :)
    integer :: first, last, i, j, rec

    call ok(pio_openfile(piosystem(ng), file, pio_iotype_netcdf4p, trim(his(ng)%name), pio_nowrite))
    call ok(pio_inq_varid(file, 'temp', vd))
    call tile(ng, first, last)
    call decompose(ng, pio_double, nz, iodesc)
    allocate (field(lm(ng), first:last, nz), source=0.0_r8)
    do rec = 1, 4
      call pio_setframe(file, vd, int(rec, pio_offset_kind))
      call pio_read_darray(file, vd, iodesc, field, status)
      call ok(status)
      do j = first, last
        do i = 1, lm(ng)
          call check(abs(field(i, j, 2) - (i + 100 * j + 20000 + 100000 * rec)) < 1e-9, 'temp')
        end do
      end do
    end do
    call pio_freedecomp(file, iodesc)
    call pio_closefile(file)
  end subroutine read_fields

  subroutine ok(code)
    integer, intent(in) :: code

    call check_code(code, pio_noerr, 'a call')
  end subroutine ok
end program roms
