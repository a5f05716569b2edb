! Writes and reads like MPAS' own I/O layer: PIO's inner modules, each imported completely by `use`;
! cells and edges of a mesh in any order; a string per record; attributes that grow; an existing
! stream that is continued.
! SPDX-License-Identifier: Apache-2.0
program mpas
  use checks
  use pio
  use piolib_mod
  use pionfatt_mod
  use pio_types
  use pio_kinds, only: rkind => r8
  implicit none

  integer, parameter :: ncells = 37, nedges = 50, nlevels = 3, strlen = 24
  type(iosystem_desc_t), pointer :: system
  integer :: ierr

  call begin()
  allocate (system)
  call pio_init(rank, MPI_COMM_WORLD, max(1, ranks / 3), 0, min(3, ranks), pio_rearr_box, system)
  call pio_seterrorhandling(system, pio_bcast_error)
  call write_stream(1, .true.)
  call write_stream(2, .false.)
  call read_stream()
  call pio_finalize(system, ierr)
  call finish()

contains

  ! Returns the cells of this rank, in an irregular order.
  function owned(n) result(indices)
    integer, intent(in) :: n
    integer, allocatable :: indices(:)
    integer :: i

    allocate (indices(0))
    do i = 1, n
      if (mod(i * 7, ranks) == rank) indices = [i, indices]
    end do
  end function owned

  ! The levels are the fastest dimension.
  subroutine decompose(n, levels, xtype, iodesc)
    integer, intent(in) :: n, levels, xtype
    type(io_desc_t), intent(inout) :: iodesc
    integer(pio_offset_kind), allocatable :: compdof(:)
    integer, allocatable :: indices(:)
    integer :: i, k

    indices = owned(n)
    allocate (compdof(levels * size(indices)))
    do i = 1, size(indices)
      do k = 1, levels
        compdof((i - 1) * levels + k) = int(indices(i) - 1, pio_offset_kind) * levels + k
      end do
    end do
    if (levels == 1) then
      call pio_initdecomp(system, xtype, [n], compdof, iodesc)
    else
      call pio_initdecomp(system, xtype, [levels, n], compdof, iodesc)
    end if
  end subroutine decompose

  subroutine write_stream(record, create)
    integer, intent(in) :: record
    logical, intent(in) :: create
    type(file_desc_t) :: file
    type(var_desc_t) :: xtime, theta, edges, steps
    type(io_desc_t) :: cells_desc, edges_desc
    integer :: cell_dim, edge_dim, level_dim, str_dim, time_dim, pio_mode, i
    integer, allocatable :: indices(:)
    real(rkind), allocatable :: values(:, :)
    character(len=strlen) :: date

    if (create) then
      pio_mode = ior(pio_clobber, pio_64bit_offset)
      call ok(pio_createfile(system, file, pio_iotype_pnetcdf, 'mpas.nc', pio_mode))
      call ok(pio_def_dim(file, 'nCells', ncells, cell_dim))
      call ok(pio_def_dim(file, 'nEdges', nedges, edge_dim))
      call ok(pio_def_dim(file, 'nVertLevels', nlevels, level_dim))
      call ok(pio_def_dim(file, 'StrLen', strlen, str_dim))
      call ok(pio_def_dim(file, 'Time', pio_unlimited, time_dim))
      call ok(pio_def_var(file, 'xtime', pio_char, [str_dim, time_dim], xtime))
      call ok(pio_def_var(file, 'theta', pio_double, [level_dim, cell_dim, time_dim], theta))
      call ok(pio_def_var(file, 'edgesOnCell', pio_int, [edge_dim], edges))
      call ok(pio_def_var(file, 'steps', pio_int, [time_dim], steps))
      call ok(pio_put_att(file, pio_global, 'file_id', 'abcde'))
      call ok(put_att(file, pio_global, 'parent_id', 'old'))
      call ok(pio_enddef(file))
    else
      call ok(pio_openfile(system, file, pio_iotype_pnetcdf, 'mpas.nc', pio_write))
      call ok(pio_inq_varid(file, 'xtime', xtime))
      call ok(pio_inq_varid(file, 'theta', theta))
      call ok(pio_inq_varid(file, 'edgesOnCell', edges))
      call ok(pio_inq_varid(file, 'steps', steps))
      ! The attribute has grown: a classic file needs redef.
      if (pio_put_att(file, pio_global, 'parent_id', 'old, and new as well') /= pio_noerr) then
        call ok(pio_redef(file))
        call ok(pio_put_att(file, pio_global, 'parent_id', 'old, and new as well'))
        call ok(pio_enddef(file))
      end if
    end if

    write (date, '(a, i2.2, a)') '0000-01-', record, '_00:00:00'
    call ok(pio_put_var(file, xtime, [1, record], [strlen, 1], [date]))
    call ok(pio_put_var(file, steps, [record], [1], [10 * record]))
    call decompose(ncells, nlevels, pio_double, cells_desc)
    indices = owned(ncells)
    allocate (values(nlevels, size(indices)))
    do i = 1, nlevels
      values(i, :) = indices + 100 * i + 1000 * record
    end do
    call pio_setframe(file, theta, int(record, pio_offset_kind))
    call pio_write_darray(file, theta, cells_desc, values, ierr)
    call ok(ierr)
    if (create) then
      call decompose(nedges, 1, pio_int, edges_desc)
      call pio_write_darray(file, edges, edges_desc, owned(nedges) * 3, ierr, pio_fill_int)
      call ok(ierr)
      call pio_syncfile(file)
      call pio_freedecomp(system, edges_desc)
    end if
    call pio_freedecomp(file, cells_desc)
    call pio_closefile(file)
  end subroutine write_stream

  subroutine read_stream()
    type(file_desc_t) :: file
    type(var_desc_t) :: field
    type(io_desc_t) :: iodesc
    integer :: varid, ndims, dimids(pio_max_var_dims), xtype, steps(2), record, i
    integer, allocatable :: edges(:), indices(:)
    real(rkind), allocatable :: values(:, :)
    character(len=strlen) :: dates(2)
    character(len=64) :: id
    integer(pio_offset_kind) :: length

    call ok(pio_openfile(system, file, pio_iotype_pnetcdf, 'mpas.nc', pio_nowrite))
    call ok(pio_inq_attlen(file, pio_global, 'parent_id', length))
    call check(length == 20, 'the length of parent_id')
    call ok(get_att(file, pio_global, 'parent_id', id))
    call check(id == 'old, and new as well', id)
    call ok(pio_inq_varid(file, 'theta', varid))
    call ok(pio_inquire_variable(file, varid, xtype=xtype, ndims=ndims, dimids=dimids))
    call check(xtype == pio_double .and. ndims == 3 .and. all(dimids(:3) == [3, 1, 5]), 'theta')
    call ok(pio_inq_varid(file, 'xtime', field))
    call ok(pio_get_var(file, field, dates))
    call check(dates(1) == '0000-01-01_00:00:00' .and. dates(2) == '0000-01-02_00:00:00', 'xtime')
    call ok(pio_inq_varid(file, 'steps', field))
    call ok(pio_get_var(file, field, steps))
    call check(all(steps == [10, 20]), 'steps')

    call ok(pio_inq_varid(file, 'theta', field))
    call decompose(ncells, nlevels, pio_double, iodesc)
    indices = owned(ncells)
    allocate (values(nlevels, size(indices)))
    do record = 1, 2
      call pio_setframe(file, field, int(record, pio_offset_kind))
      call pio_read_darray(file, field, iodesc, values, ierr)
      call ok(ierr)
      do i = 1, nlevels
        call check(all(abs(values(i, :) - (indices + 100 * i + 1000 * record)) < 1e-9), 'theta')
      end do
    end do
    call pio_freedecomp(file, iodesc)
    ! The same element on several ranks: for reading only.
    call pio_initdecomp_readonly(system, pio_int, [nedges], [(int(i, pio_offset_kind), i=nedges, 1, -1)], &
      iodesc)
    allocate (edges(nedges))
    call ok(pio_inq_varid(file, 'edgesOnCell', field))
    call pio_read_darray(file, field, iodesc, edges, ierr)
    call ok(ierr)
    call check(all(edges == [(3 * i, i=nedges, 1, -1)]), 'edges')
    call pio_freedecomp(system, iodesc)
    call pio_closefile(file)
  end subroutine read_stream

  subroutine ok(status)
    integer, intent(in) :: status

    call check_code(status, pio_noerr, 'a call')
  end subroutine ok
end program mpas
