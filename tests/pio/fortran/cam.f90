! Writes and reads like CAM: chunks of columns with padding; lists over columns and levels of 8-byte
! integers, and of 4-byte ones with 0; strings put by name, index and section; a history file that
! is continued after a restart; and expected errors.
! SPDX-License-Identifier: Apache-2.0
program cam
  use checks
  use pio
  use pio_types, only: iosystem_t => iosystem_desc_t
  implicit none

  integer, parameter :: r8 = selected_real_kind(12), pcols = 4, pver = 3, ncol_global = 23
  integer, parameter :: ntapes = 2, max_fieldname = 16
  type(iosystem_t), pointer :: pio_subsystem
  integer :: nchunks, ncols(ncol_global)
  integer :: columns(pcols, ncol_global)
  integer :: ierr

  call begin()
  allocate (pio_subsystem)
  call pio_init(rank, MPI_COMM_WORLD, max(1, ranks / 2), 0, 1, pio_rearr_box, pio_subsystem, base=0)
  call deal_columns()
  call start_history()
  call continue_history(2)
  call continue_history(3)
  call read_back()
  call pio_finalize(pio_subsystem, ierr)
  call finish()

contains

  ! Distributes the columns in turn, so that no rank has neighbours; the last chunk is not full.
  subroutine deal_columns()
    integer :: c, n

    n = 0
    do c = rank + 1, ncol_global, ranks
      columns(mod(n, pcols) + 1, n / pcols + 1) = c
      n = n + 1
    end do
    nchunks = (n + pcols - 1) / pcols
    ncols(:nchunks) = pcols
    if (mod(n, pcols) > 0) ncols(nchunks) = mod(n, pcols)
  end subroutine deal_columns

  ! field(pcols, levels, chunks); the padding is 0.
  subroutine decomposition(levels, iodesc)
    integer, intent(in) :: levels
    type(io_desc_t), pointer :: iodesc
    integer(pio_offset_kind), allocatable :: dof(:)
    integer :: i, k, c

    allocate (iodesc, dof(pcols * levels * nchunks))
    dof = 0
    do c = 1, nchunks
      do k = 1, levels
        do i = 1, ncols(c)
          dof(i + pcols * (k - 1 + levels * (c - 1))) = columns(i, c) + ncol_global * (k - 1)
        end do
      end do
    end do
    if (levels == 1) then
      call pio_initdecomp(pio_subsystem, pio_double, (/ncol_global/), int(dof), iodesc)
    else
      call pio_initdecomp(pio_subsystem, pio_double, (/ncol_global, levels/), dof, iodesc)
    end if
  end subroutine decomposition

  subroutine start_history()
    type(file_desc_t), pointer :: file
    integer :: ncol_dim, lev_dim, time_dim, chars, tapes, values_dim
    type(var_desc_t) :: t, ps, time, date_written, mfilt, fincl, lev, mdt
    character(len=max_fieldname) :: names(2, ntapes)
    integer :: status

    allocate (file)
    status = pio_createfile(pio_subsystem, file, pio_iotype_pnetcdf, 'cam_h0.nc', &
      ior(pio_clobber, pio_64bit_offset))
    call ok(status)
    status = pio_def_dim(file, 'ncol', ncol_global, ncol_dim)
    status = pio_def_dim(file, 'lev', pver, lev_dim)
    status = pio_def_dim(file, 'time', pio_unlimited, time_dim)
    status = pio_def_dim(file, 'chars', max_fieldname, chars)
    status = pio_def_dim(file, 'tapes', ntapes, tapes)
    call ok(pio_def_dim(file, 'fields', 2, values_dim))
    call ok(pio_def_var(file, 'time', pio_double, (/time_dim/), time))
    call ok(pio_def_var(file, 'date_written', pio_char, (/chars, time_dim/), date_written))
    call ok(pio_def_var(file, 'lev', pio_double, (/lev_dim/), lev))
    call ok(pio_def_var(file, 'mdt   ', pio_int, mdt))
    call ok(pio_def_var(file, 'mfilt', pio_int, (/tapes/), mfilt))
    call ok(pio_def_var(file, 'fincl', pio_char, (/chars, values_dim, tapes/), fincl))
    call ok(pio_def_var(file, 'T', pio_real, (/ncol_dim, lev_dim, time_dim/), t))
    call ok(pio_put_att(file, t, 'mdims', 1))
    call ok(pio_put_att(file, t, '_FillValue', 1.e36))
    call ok(pio_put_att(file, t, 'units', 'K'))
    call ok(pio_def_var(file, 'PS', pio_double, (/ncol_dim, time_dim/), ps))
    call ok(pio_put_att(file, pio_global, 'ne', 30))
    call ok(pio_enddef(file))

    call ok(pio_put_var(file, lev, (/1._r8, 2._r8, 3._r8/)))
    call ok(pio_put_var(file, mdt, 1800))
    call ok(pio_put_var(file, mfilt, (/30, 1/)))
    names = reshape([character(len=max_fieldname) :: 'T:A', 'PS', 'U', ' '], [2, 2])
    call ok(pio_put_var(file, fincl, names(:, 1:ntapes)))
    call write_record(file, 1)
    call pio_closefile(file)
    deallocate (file)
  end subroutine start_history

  subroutine write_record(file, record)
    type(file_desc_t), intent(inout) :: file
    integer, intent(in) :: record
    type(var_desc_t) :: vardesc
    type(io_desc_t), pointer :: iodesc
    real(r8), allocatable :: field(:, :, :)
    character(len=max_fieldname) :: date
    integer :: i, k, c, status, start(2)

    call ok(pio_inq_varid(file, 'time', vardesc))
    call ok(pio_put_var(file, vardesc, (/record/), 0.25_r8 * record))
    call ok(pio_inq_varid(file, 'date_written    ', vardesc))
    write (date, '(a, i0)') 'step ', record
    start = (/1, record/)
    call ok(pio_put_var(file, vardesc, start, (/max_fieldname, 1/), (/date/)))

    allocate (field(pcols, pver, nchunks), source=-999._r8)
    do c = 1, nchunks
      do k = 1, pver
        do i = 1, ncols(c)
          field(i, k, c) = columns(i, c) + 100 * k + 10000 * record
        end do
      end do
    end do
    ! An array of real(r8), a decomposition of doubles, a variable of reals.
    call decomposition(pver, iodesc)
    call ok(pio_inq_varid(file, 'T', vardesc))
    call pio_setframe(file, vardesc, int(record, kind=pio_offset_kind))
    call pio_write_darray(file, vardesc, iodesc, field, status)
    call ok(status)
    call pio_freedecomp(file, iodesc)
    deallocate (iodesc)
    call decomposition(1, iodesc)
    call ok(pio_inq_varid(file, 'PS', vardesc))
    call pio_setframe(file, vardesc, int(record, kind=pio_offset_kind))
    call pio_write_darray(file, vardesc, iodesc, field(:, 1, :), status)
    call ok(status)
    call pio_freedecomp(file, iodesc)
    deallocate (iodesc)
  end subroutine write_record

  subroutine continue_history(record)
    integer, intent(in) :: record
    type(file_desc_t) :: file
    integer :: status, dimid, length

    status = pio_openfile(pio_subsystem, file, pio_iotype_pnetcdf, 'cam_h0.nc', pio_write)
    call ok(status)
    call ok(pio_inq_dimid(file, 'time', dimid))
    call ok(pio_inq_dimlen(file, dimid, length))
    call check_code(length, record - 1, 'records')
    call write_record(file, record)
    call pio_closefile(file)
  end subroutine continue_history

  subroutine read_back()
    type(file_desc_t) :: file
    type(var_desc_t) :: vardesc
    type(io_desc_t), pointer :: iodesc
    character(len=max_fieldname) :: names(2, ntapes), one(1), date
    integer :: status, ierr2, varid, mdt, mfilt(ntapes), old, i, k, c, record
    integer(pio_offset_kind) :: length
    real(r8) :: t(ncol_global, pver, 3), column(1, pver), level
    real :: reals(pcols, pver, nchunks)

    call ok(pio_openfile(pio_subsystem, file, pio_iotype_netcdf, 'cam_h0.nc'))
    ! Tests if a variable exists: this must neither abort nor print a message.
    call pio_seterrorhandling(file, pio_bcast_error, oldmethod=old)
    call check_code(old, pio_internal_error, 'the old method')
    ierr2 = pio_inq_varid(file, 'Q', varid)
    call check_code(ierr2, -49, 'Q')
    ierr2 = pio_inq_att(file, pio_global, 'fv', len=length)
    call check_code(ierr2, -43, 'fv')
    call pio_seterrorhandling(file, old)

    call ok(pio_inq_varid(file, 'mdt', varid))
    call ok(pio_get_var(file, varid, mdt))
    call check_code(mdt, 1800, 'mdt')
    call ok(pio_inq_varid(file, 'mfilt', vardesc))
    call ok(pio_get_var(file, vardesc, mfilt))
    call check(all(mfilt == (/30, 1/)), 'mfilt')
    call ok(pio_inq_varid(file, 'fincl', vardesc))
    call ok(pio_get_var(file, vardesc, names(:, 1:ntapes)))
    call check(names(1, 1) == 'T:A' .and. names(2, 1) == 'PS' .and. names(1, 2) == 'U' .and. &
      names(2, 2) == ' ', 'fincl')
    call ok(pio_inq_varid(file, 'date_written', vardesc))
    call ok(pio_get_var(file, vardesc, (/1, 2/), (/max_fieldname, 1/), one))
    call check(one(1) == 'step 2', 'date_written')
    call ok(pio_get_var(file, vardesc, (/1, 3/), date))
    call check(date == 'step 3', 'date_written')
    call ok(pio_inq_varid(file, 'T', vardesc))
    call ok(pio_get_var(file, vardesc, t))
    call check(all(abs(t(5, :, 3) - (/30105, 30205, 30305/)) < 0.5), 'T, whole')
    call ok(pio_get_var(file, vardesc, start=(/7, 1, 2/), count=(/1, pver, 1/), ival=column))
    call check(all(abs(column(1, :) - (/20107, 20207, 20307/)) < 0.5), 'T, a column')
    call ok(pio_get_var(file, vardesc%varid, (/8, 2, 1/), level))
    call check(abs(level - 10208) < 0.5, 'T, a value')

    call decomposition(pver, iodesc)
    do record = 3, 1, -1
      call pio_setframe(file, vardesc, int(record, kind=pio_offset_kind))
      call pio_read_darray(file, vardesc, iodesc, reals, status)
      call ok(status)
      do c = 1, nchunks
        do k = 1, pver
          do i = 1, ncols(c)
            call check(abs(reals(i, k, c) - (columns(i, c) + 100 * k + 10000 * record)) < 0.5, 'T')
          end do
        end do
      end do
    end do
    call pio_freedecomp(pio_subsystem, iodesc)
    deallocate (iodesc)
    call pio_closefile(file)
  end subroutine read_back

  subroutine ok(status)
    integer, intent(in) :: status

    call check_code(status, pio_noerr, 'a call')
  end subroutine ok
end program cam
