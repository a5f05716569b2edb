! Asynchronous I/O as in CMEPS: two components of different sizes, whose ranks are not in order, and
! one I/O task that serves both. The components are given first as lists of ranks, then as
! communicators.
! SPDX-License-Identifier: Apache-2.0
program asynchronous_io
  use checks
  use pio
  implicit none

  integer, parameter :: nx = 10
  type(iosystem_desc_t) :: iosystems(2)
  integer :: sizes(2), comms(2), io_comm, io_rank, i, ierr, own
  integer, allocatable :: lists(:, :)

  call begin()
  ! The last rank but one does I/O. The first component consists of the last rank only.
  io_rank = ranks - 2
  sizes = [1, ranks - 2]
  allocate (lists(maxval(sizes), 2), source=-7)
  lists(1, 1) = ranks - 1
  lists(:sizes(2), 2) = [(ranks - 2 - i, i = 1, ranks - 2)]
  own = merge(1, 2, rank == ranks - 1)
  call pio_init(iosystems, MPI_COMM_WORLD, sizes, lists, [io_rank], pio_rearr_box, comms, io_comm)
  if (rank /= io_rank) then
    call check(io_comm == MPI_COMM_NULL .or. io_comm == 0, 'io_comm')
    call component(1)
  end if

  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  comms = MPI_COMM_NULL
  io_comm = MPI_COMM_NULL
  if (rank == io_rank) then
    call MPI_Comm_split(MPI_COMM_WORLD, 0, rank, io_comm, ierr)
  else
    call MPI_Comm_split(MPI_COMM_WORLD, own, -rank, comms(own), ierr)
  end if
  call pio_init(iosystems, MPI_COMM_WORLD, comms, io_comm, pio_rearr_box)
  if (rank /= io_rank) call component(2)
  call finish()

contains

  subroutine component(run)
    integer, intent(in) :: run
    type(file_desc_t) :: file
    type(var_desc_t) :: values, time
    type(io_desc_t) :: cells
    integer :: me, of, first, last, status, dims(2), frame, got
    integer, allocatable :: array(:)
    character(len=8) :: name

    call MPI_Comm_rank(comms(own), me, ierr)
    call MPI_Comm_size(comms(own), of, ierr)
    call check(of == sizes(own), 'size of the component')
    first = nx*me/of + 1
    last = nx*(me + 1)/of
    write (name, '(a, i0, a, i0, a)') 'c', own, 'r', run, '.nc'
    call pio_initdecomp(iosystems(own), pio_int, [nx], [(i, i = first, last)], cells)
    status = pio_createfile(iosystems(own), file, pio_iotype_pnetcdf, trim(name), pio_clobber)
    call check_code(status, pio_noerr, 'createfile')
    status = pio_def_dim(file, 'x', nx, dims(1))
    status = pio_def_dim(file, 'time', pio_unlimited, dims(2))
    status = pio_def_var(file, 'v', pio_int, dims, values)
    status = pio_def_var(file, 'time', pio_int, dims(2:2), time)
    status = pio_enddef(file)
    do frame = 1, 1 + own
      array = [(1000*own + 100*frame + i, i = first, last)]
      call pio_setframe(file, values, int(frame, pio_offset_kind))
      call pio_write_darray(file, values, cells, array, status)
      call check_code(status, pio_noerr, 'write_darray')
      status = pio_put_var(file, time, [frame], 10*frame)
      call check_code(status, pio_noerr, 'put_var')
    end do
    call pio_closefile(file)

    status = pio_openfile(iosystems(own), file, pio_iotype_pnetcdf, trim(name), pio_nowrite)
    call check_code(status, pio_noerr, 'openfile')
    status = pio_inq_varid(file, 'v', values)
    array = 0
    call pio_setframe(file, values, 2_pio_offset_kind)
    call pio_read_darray(file, values, cells, array, status)
    call check(all(array == [(1000*own + 200 + i, i = first, last)]), 'read_darray')
    status = pio_get_var(file, time, [1], got)
    call check(got == 10, 'get_var')
    call pio_closefile(file)
    call pio_freedecomp(iosystems(own), cells)
    ! CMEPS finalizes the iosystems of all components on every rank.
    do i = 1, 2
      call pio_finalize(iosystems(i), status)
      call check_code(status, pio_noerr, 'finalize')
    end do
  end subroutine component
end program asynchronous_io
