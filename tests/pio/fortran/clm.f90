! Writes and reads like CTSM's ncdio_pio: an extended file type; vectors of land points in any
! order, with holes; counts with zeros at the end; a time axis of fixed length; copies of
! descriptors; ranks without points.
! SPDX-License-Identifier: Apache-2.0
module ncdio
  use pio
  implicit none

  type, extends(file_desc_t) :: dyn_file_type
    integer :: years = 0
  end type dyn_file_type

contains

  subroutine ncd_define(ncid, name, xtype, dims, fill)
    class(file_desc_t), intent(inout) :: ncid
    character(len=*), intent(in) :: name
    integer, intent(in) :: xtype, dims(:)
    integer, intent(in), optional :: fill
    type(var_desc_t) :: vardesc
    integer :: status

    status = pio_def_var(ncid, trim(name), xtype, dims, vardesc)
    status = pio_put_att(ncid, vardesc%varid, 'long_name', 'the '//name)
    if (present(fill)) status = pio_put_att(ncid, vardesc%varid, '_FillValue', fill)
  end subroutine ncd_define
end module ncdio

program clm
  use checks
  use ncdio
  implicit none

  integer, parameter :: r8 = selected_real_kind(12), nx = 9, ny = 5, nlevels = 4
  type(iosystem_desc_t), target :: iosystem
  type(dyn_file_type) :: file
  type(file_desc_t) :: copy
  integer, allocatable :: points(:)
  integer :: dims(4), status, years

  call begin()
  call pio_init(rank, MPI_COMM_WORLD, 1, 0, 1, pio_rearr_subset, iosystem, base=ranks - 1)
  call land_points()

  status = pio_createfile(iosystem, file%file_desc_t, pio_iotype_netcdf, 'clm.nc', &
    ior(pio_clobber, pio_64bit_data))
  call check_code(status, pio_noerr, 'createfile')
  call check(file%fh >= 0 .and. associated(file%iosystem), 'descriptor')
  status = pio_def_dim(file%file_desc_t, 'lsmlon', nx, dims(1))
  status = pio_def_dim(file%file_desc_t, 'lsmlat', ny, dims(2))
  status = pio_def_dim(file%file_desc_t, 'levgrnd', nlevels, dims(3))
  status = pio_def_dim(file%file_desc_t, 'time', 3, dims(4))
  call ncd_define(file, 'pft', pio_int, dims(1:2), -9999)
  call ncd_define(file, 'h2osoi', pio_double, dims(1:3))
  call ncd_define(file, 'pct', pio_short, dims([1, 2, 4]))
  call ncd_define(file, 'year', pio_int, dims(4:4))
  status = pio_set_fill(file%file_desc_t, pio_fill, years)
  copy = file%file_desc_t
  status = pio_enddef(copy)
  call write_all(copy)
  call pio_closefile(copy)
  call read_all()
  call pio_finalize(iosystem, status)
  call finish()

contains

  ! Every third cell is land; the ranks get the cells from the last one on. If there are several
  ! ranks, the first has none.
  subroutine land_points()
    integer :: p, n, holders

    holders = max(1, ranks - 1)
    allocate (points(0))
    n = 0
    do p = nx * ny, 1, -1
      if (mod(p, 3) /= 0) cycle
      n = n + 1
      if (mod(n, holders) == modulo(rank - 1, ranks) .or. ranks == 1) points = [points, p, 0]
    end do
  end subroutine land_points

  subroutine decompose(levels, xtype, iodesc)
    integer, intent(in) :: levels, xtype
    type(io_desc_t), intent(inout) :: iodesc
    integer(pio_offset_kind), allocatable :: dof(:)
    integer :: k, n

    n = size(points)
    allocate (dof(n * levels))
    do k = 1, levels
      dof((k - 1) * n + 1:k * n) = merge(points + (k - 1) * nx * ny, 0, points > 0)
    end do
    if (levels == 1) then
      call pio_initdecomp(iosystem, xtype, [nx, ny], dof, iodesc)
    else
      call pio_initdecomp(iosystem, xtype, [nx, ny, levels], dof, iodesc, rearr=pio_rearr_box)
    end if
  end subroutine decompose

  subroutine write_all(ncid)
    type(file_desc_t), intent(inout) :: ncid
    type(io_desc_t) :: ints, shorts, levels, saved
    type(var_desc_t) :: vardesc
    integer, pointer :: land(:)
    integer :: k, frame
    real(r8), allocatable :: water(:, :)

    call decompose(1, pio_int, ints)
    call decompose(1, pio_short, shorts)
    call decompose(nlevels, pio_double, levels)
    saved = levels

    nullify (land)
    if (size(points) > 0) then
      allocate (land(size(points)))
      land = points * 2
    else
      allocate (land(0))
    end if
    call ok(pio_inq_varid(ncid, 'pft', vardesc))
    call pio_write_darray(ncid, vardesc, ints, land, status, fillval=-9999)
    call ok(status)

    allocate (water(size(points), nlevels))
    do k = 1, nlevels
      water(:, k) = points + 0.5_r8 * k
    end do
    call ok(pio_inq_varid(ncid, 'h2osoi', vardesc%varid))
    call pio_write_darray(ncid, vardesc, saved, water, status)
    call ok(status)

    ! Frames of a dimension of fixed length, in any order; integers into a variable of shorts.
    call ok(pio_inq_varid(ncid, 'pct', vardesc))
    do frame = 3, 1, -1
      call pio_setframe(ncid, vardesc, int(frame, pio_offset_kind))
      call pio_write_darray(ncid, vardesc, shorts, points * frame, status)
      call ok(status)
    end do
    call ok(pio_inq_varid(ncid, 'year', vardesc))
    call ok(pio_put_var(ncid, vardesc%varid, (/2, 0, 0/), (/2, 0, 0/), (/2001, 2002/)))
    call ok(pio_put_var(ncid, vardesc%varid, (/1/), (/1/), (/2000/)))
    call pio_freedecomp(ncid, ints)
    call pio_freedecomp(ncid, shorts)
    call pio_freedecomp(ncid, levels)
  end subroutine write_all

  subroutine read_all()
    class(file_desc_t), allocatable :: ncid
    type(io_desc_t) :: levels, flat
    type(var_desc_t) :: vardesc
    real(r8), allocatable :: water(:, :), percent(:)
    integer :: k, year(3), frame
    character(len=20) :: long_name

    allocate (dyn_file_type :: ncid)
    call ok(pio_openfile(iosystem, ncid, pio_iotype_pnetcdf, 'clm.nc', pio_nowrite))
    call decompose(nlevels, pio_double, levels)
    call decompose(1, pio_double, flat)
    allocate (water(size(points), nlevels), percent(size(points)), source=-1.0_r8)
    call ok(pio_inq_varid(ncid, 'h2osoi', vardesc))
    call ok(pio_get_att(ncid, vardesc%varid, 'long_name', long_name))
    call check(long_name == 'the h2osoi', long_name)
    call pio_read_darray(ncid, vardesc, levels, water, status)
    call ok(status)
    do k = 1, nlevels
      call check(all(abs(water(:, k) - merge(points + 0.5_r8 * k, 0.0_r8, points > 0)) < 1e-9), 'h2osoi')
    end do
    call ok(pio_inq_varid(ncid, 'pct', vardesc))
    do frame = 1, 3
      call pio_setframe(ncid, vardesc, int(frame, pio_offset_kind))
      call pio_read_darray(ncid, vardesc, flat, percent, status)
      call ok(status)
      call check(all(abs(percent - points * frame) < 1e-9), 'pct')
    end do
    call ok(pio_inq_varid(ncid, 'year', vardesc))
    year = 0
    call ok(pio_get_var(ncid, vardesc%varid, (/1, 1, 1/), (/3, 0, 0/), year))
    call check(all(year == [2000, 2001, 2002]), 'year')
    call pio_freedecomp(iosystem, levels)
    call pio_freedecomp(iosystem, flat)
    call pio_closefile(ncid)
  end subroutine read_all

  subroutine ok(code)
    integer, intent(in) :: code

    call check_code(code, pio_noerr, 'a call')
  end subroutine ok
end program clm
