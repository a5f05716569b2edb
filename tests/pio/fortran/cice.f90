! Writes and reads like CICE: several blocks per rank, each with a halo and padding that the
! decomposition lists as 0; an iosystem for every file; PIO_RETURN_ERROR, with another method around
! each frame; real(x, 4) and array sections as arguments.
! SPDX-License-Identifier: Apache-2.0
program cice
  use checks
  use pio
  use pio_nf, only: chunking => pio_def_var_chunking
  implicit none

  integer, parameter :: dbl_kind = selected_real_kind(13), real_kind = selected_real_kind(6)
  integer, parameter :: nx_global = 20, ny_global = 11, bx = 6, by = 4, nghost = 1
  integer, parameter :: nx_block = bx + 2 * nghost, ny_block = by + 2 * nghost, ncat = 3
  real(dbl_kind), parameter :: spval_dbl = 1.0e30_dbl_kind
  integer, parameter :: blocks_x = (nx_global + bx - 1) / bx, blocks_y = (ny_global + by - 1) / by
  integer, allocatable :: i_glob(:, :), j_glob(:, :)
  integer :: nblocks, max_blocks, iotype

  call begin()
  call make_blocks()
  do iotype = pio_iotype_pnetcdf, pio_iotype_netcdf4p
    if (iotype == pio_iotype_netcdf) cycle
    call history(iotype)
    call restart(iotype)
  end do
  call finish()

contains

  ! Distributes the blocks in turn; the last ones in each direction are partly padding.
  subroutine make_blocks()
    integer :: b, n, i, j

    max_blocks = (blocks_x * blocks_y + ranks - 1) / ranks
    allocate (i_glob(nx_block, max_blocks), j_glob(ny_block, max_blocks), source=0)
    n = 0
    do b = 0, blocks_x * blocks_y - 1
      if (mod(b, ranks) /= rank) cycle
      n = n + 1
      do i = 1, nx_block
        i_glob(i, n) = mod(b, blocks_x) * bx + i - nghost
      end do
      do j = 1, ny_block
        j_glob(j, n) = (b / blocks_x) * by + j - nghost
      end do
    end do
    nblocks = n
  end subroutine make_blocks

  logical function inside(i, j, b)
    integer, intent(in) :: i, j, b

    inside = i > nghost .and. i <= nx_block - nghost .and. j > nghost .and. &
      j <= ny_block - nghost .and. i_glob(i, b) <= nx_global .and. j_glob(j, b) <= ny_global
  end function inside

  subroutine init_pio(iosystem)
    type(iosystem_desc_t), intent(out) :: iosystem
    integer :: iotasks, stride, base

    iotasks = max(1, ranks / 2)
    stride = max(1, ranks / iotasks)
    base = min(1, ranks - 1)
    if (base + (iotasks - 1) * stride >= ranks) iotasks = iotasks - 1
    call pio_init(rank, MPI_COMM_WORLD, max(iotasks, 1), 0, stride, pio_rearr_box, iosystem, base=base)
    call pio_seterrorhandling(iosystem, pio_return_error)
  end subroutine init_pio

  subroutine iodesc_2d(iosystem, iodesc, kind)
    type(iosystem_desc_t), intent(inout) :: iosystem
    type(io_desc_t), intent(out) :: iodesc
    integer, intent(in) :: kind
    integer, allocatable :: dof(:)
    integer :: i, j, b, n

    allocate (dof(nx_block * ny_block * nblocks))
    n = 0
    do b = 1, nblocks
      do j = 1, ny_block
        do i = 1, nx_block
          n = n + 1
          dof(n) = 0
          if (inside(i, j, b)) dof(n) = (j_glob(j, b) - 1) * nx_global + i_glob(i, b)
        end do
      end do
    end do
    call pio_initdecomp(iosystem, kind, [nx_global, ny_global], dof, iodesc)
  end subroutine iodesc_2d

  subroutine iodesc_3d(iosystem, iodesc, fastest)
    type(iosystem_desc_t), intent(inout) :: iosystem
    type(io_desc_t), intent(out) :: iodesc
    logical, intent(in) :: fastest ! the category is the fastest dimension, as for nverts
    integer, allocatable :: dof(:)
    integer :: i, j, k, b, n, cell

    allocate (dof(nx_block * ny_block * ncat * nblocks), source=0)
    do b = 1, nblocks
      do k = 1, ncat
        do j = 1, ny_block
          do i = 1, nx_block
            if (.not. inside(i, j, b)) cycle
            cell = (j_glob(j, b) - 1) * nx_global + i_glob(i, b)
            if (fastest) then
              n = k + ncat * (i - 1 + nx_block * (j - 1 + ny_block * (b - 1)))
              dof(n) = (cell - 1) * ncat + k
            else
              n = i + nx_block * (j - 1 + ny_block * (k - 1 + ncat * (b - 1)))
              dof(n) = (k - 1) * nx_global * ny_global + cell
            end if
          end do
        end do
      end do
    end do
    if (fastest) then
      call pio_initdecomp(iosystem, pio_double, [ncat, nx_global, ny_global], dof, iodesc)
    else
      call pio_initdecomp(iosystem, pio_double, [nx_global, ny_global, ncat], dof, iodesc)
    end if
  end subroutine iodesc_3d

  function name_of(what, iotype) result(name)
    character(len=*), intent(in) :: what
    integer, intent(in) :: iotype
    character(len=64) :: name

    write (name, '(3a, i0, a)') 'cice_', what, '.', iotype, '.nc'
  end function name_of

  subroutine set_frame(file, vardesc, frame)
    type(file_desc_t), intent(inout) :: file
    type(var_desc_t), intent(inout) :: vardesc
    integer, intent(in) :: frame

    call pio_seterrorhandling(file, pio_internal_error)
    call pio_setframe(file, vardesc, int(frame, kind=pio_offset_kind))
    call pio_seterrorhandling(file, pio_return_error)
  end subroutine set_frame

  subroutine history(iotype)
    integer, intent(in) :: iotype
    type(iosystem_desc_t) :: iosystem
    type(file_desc_t) :: file
    type(io_desc_t) :: iodesc2d, iodesc3d, iodesc_verts, iodesc_real
    type(var_desc_t) :: aice, tsfc, aicen, verts, time, bounds
    integer :: dims(4), time_dim, vert_dim, bnd_dim, cat_dim, status, record, i, j, k, b
    real(dbl_kind), allocatable :: work(:, :, :), work3(:, :, :, :), work_v(:, :, :, :)
    character(len=30) :: date
    logical :: exists

    call init_pio(iosystem)
    file%fh = -1
    status = pio_createfile(iosystem, file, iotype, trim(name_of('history', iotype)), &
      ior(pio_clobber, pio_64bit_offset * merge(1, 0, iotype == pio_iotype_pnetcdf)))
    call check_code(status, pio_noerr, 'createfile')
    call check(file%fh >= 0, 'fh of an open file')

    call ok(pio_def_dim(file, 'ni', nx_global, dims(1)))
    call ok(pio_def_dim(file, 'nj', ny_global, dims(2)))
    call ok(pio_def_dim(file, 'nc', ncat, cat_dim))
    call ok(pio_def_dim(file, 'nvertices', ncat, vert_dim))
    call ok(pio_def_dim(file, 'time', pio_unlimited, time_dim))
    call ok(pio_def_dim(file, 'nbnd', 2, bnd_dim))
    call ok(pio_def_var(file, 'time', pio_double, [time_dim], time))
    call ok(pio_put_att(file, time, 'units', 'days since 0001-01-01'))
    call ok(pio_def_var(file, 'time_bounds', pio_double, [bnd_dim, time_dim], bounds))
    call ok(pio_def_var(file, 'aice', pio_double, [dims(1:2), time_dim], aice))
    call ok(pio_put_att(file, aice, 'missing_value', spval_dbl))
    call ok(pio_put_att(file, aice, '_FillValue', spval_dbl))
    call ok(pio_def_var(file, 'Tsfc', pio_real, [dims(1:2), time_dim], tsfc))
    call ok(pio_put_att(file, tsfc, '_FillValue', real(spval_dbl, real_kind)))
    call ok(pio_def_var(file, 'aicen', pio_double, [dims(1:2), cat_dim, time_dim], aicen))
    call ok(pio_put_att(file, aicen, '_FillValue', spval_dbl))
    call ok(pio_def_var(file, 'latt_bounds', pio_double, [vert_dim, dims(1:2)], verts))
    call ok(pio_put_att(file, verts, '_FillValue', spval_dbl))
    if (iotype == pio_iotype_netcdf4p) then
      call ok(pio_def_var_deflate(file, aice, shuffle=0, deflate=1, deflate_level=3))
      call ok(chunking(file, aice, 0, [nx_global, 4, 1]))
    end if
    write (date, '(a, i0)') 'from rank ', rank  ! differs between ranks, as date_and_time does
    call ok(pio_put_att(file, pio_global, 'history', trim(date)))
    call ok(pio_put_att(file, pio_global, 'title', 'sea ice   '))
    call ok(pio_enddef(file))

    call iodesc_2d(iosystem, iodesc2d, pio_double)
    call iodesc_2d(iosystem, iodesc_real, pio_real)
    call iodesc_3d(iosystem, iodesc3d, .false.)
    call iodesc_3d(iosystem, iodesc_verts, .true.)
    allocate (work(nx_block, ny_block, max_blocks), work3(nx_block, ny_block, ncat, max_blocks), &
      work_v(ncat, nx_block, ny_block, max_blocks), source=-777.0_dbl_kind)
    do record = 1, 2
      call ok(pio_put_var(file, time, [record], 0.5_dbl_kind * record))
      call ok(pio_put_var(file, bounds, start=[1, record], count=[2, 1], ival=[record - 1.0_dbl_kind, &
        1.0_dbl_kind * record]))
      do b = 1, nblocks
        do j = 1, ny_block
          do i = 1, nx_block
            if (.not. inside(i, j, b)) cycle
            work(i, j, b) = value(i_glob(i, b), j_glob(j, b), 0, record)
            do k = 1, ncat
              work3(i, j, k, b) = value(i_glob(i, b), j_glob(j, b), k, record)
              work_v(k, i, j, b) = value(i_glob(i, b), j_glob(j, b), k, 0)
            end do
          end do
        end do
      end do
      call set_frame(file, aice, record)
      call pio_write_darray(file, aice, iodesc2d, work(:, :, 1:nblocks), status, fillval=spval_dbl)
      call check_code(status, pio_noerr, 'write aice')
      call set_frame(file, tsfc, record)
      call pio_write_darray(file, tsfc, iodesc_real, real(work(:, :, 1:nblocks), real_kind), status, &
        fillval=real(spval_dbl, real_kind))
      call check_code(status, pio_noerr, 'write Tsfc')
      call set_frame(file, aicen, record)
      call pio_write_darray(file, aicen, iodesc3d, work3(:, :, :, 1:nblocks), status, fillval=spval_dbl)
      call check_code(status, pio_noerr, 'write aicen')
    end do
    call pio_write_darray(file, verts, iodesc_verts, work_v(:, :, :, 1:nblocks), status, &
      fillval=spval_dbl)
    call check_code(status, pio_noerr, 'write latt_bounds')
    work = 0
    work3 = 0

    call pio_freedecomp(file, iodesc2d)
    call pio_freedecomp(file, iodesc_real)
    call pio_freedecomp(iosystem, iodesc3d)
    call pio_freedecomp(iosystem, iodesc_verts)
    call pio_closefile(file)
    call pio_finalize(iosystem, status)
    call check_code(status, pio_noerr, 'finalize')
    inquire (file=trim(name_of('history', iotype)), exist=exists)
    call check(exists, 'the file has its name after closing')
  end subroutine history

  ! Reads the history as a restart: the halo becomes 0; a missing variable is no error.
  subroutine restart(iotype)
    integer, intent(in) :: iotype
    type(iosystem_desc_t) :: iosystem
    type(file_desc_t) :: file
    type(io_desc_t) :: iodesc
    type(var_desc_t) :: vardesc
    real(dbl_kind), allocatable :: work(:, :, :)
    integer :: status, i, j, b, record, ndims, old
    character(len=80) :: text

    call init_pio(iosystem)
    status = pio_openfile(iosystem, file, pio_iotype_netcdf, name_of('history', iotype), pio_nowrite)
    call check_code(status, pio_noerr, 'openfile')
    status = pio_inq_varid(file, 'no_such_variable', vardesc)
    call check_code(status, -49, 'a variable that is not there')
    status = pio_strerror(status, text)
    call check(index(text, 'ariable') > 0, 'text of an error: '//trim(text))
    call pio_seterrorhandling(file, pio_return_error, old)
    call check_code(old, pio_return_error, 'the old method')
    call ok(pio_inq_varid(file, 'aice', vardesc))
    call ok(pio_inq_varndims(file, vardesc, ndims))
    call check_code(ndims, 3, 'ndims')
    call iodesc_2d(iosystem, iodesc, pio_double)
    allocate (work(nx_block, ny_block, max_blocks))
    do record = 2, 1, -1
      work = 5
      call set_frame(file, vardesc, record)
      call pio_read_darray(file, vardesc, iodesc, work(:, :, 1:nblocks), status)
      call check_code(status, pio_noerr, 'read aice')
      do b = 1, nblocks
        do j = 1, ny_block
          do i = 1, nx_block
            if (inside(i, j, b)) then
              call check(abs(work(i, j, b) - value(i_glob(i, b), j_glob(j, b), 0, record)) < 1e-9, 'aice')
            else
              call check(abs(work(i, j, b)) < 1e-9, 'halo')
            end if
          end do
        end do
      end do
    end do
    call pio_freedecomp(iosystem, iodesc)
    call pio_closefile(file)
    call check(.not. pio_file_is_open(file), 'a closed file is not open')
    call pio_finalize(iosystem, status)
  end subroutine restart

  real(dbl_kind) function value(i, j, k, record)
    integer, intent(in) :: i, j, k, record

    value = i + 100 * j + 10000 * k + 100000 * record
  end function value

  subroutine ok(status)
    integer, intent(in) :: status

    call check_code(status, pio_noerr, 'a call')
  end subroutine ok
end program cice
