! SPDX-License-Identifier: Apache-2.0
!
!> Tests inquiry, reads of many variables and halos: a file is written and read again, each rank
!> holding one row of a globe that is periodic in longitude. Then a step replaces its last record.
program reading
  use, intrinsic :: iso_fortran_env, only: int16, int64, real64
  use mpi_f08
  use support
  use thalweg
  implicit none

  integer, parameter :: nx = 5
  type(tw_session) :: io
  type(tw_decomposition) :: bare, round

  call begin()
  io = tw_init(MPI_COMM_WORLD, 'log=off')
  bare = tw_decompose(io, 'lon lat', shape=[nx, ranks], start=[1, rank + 1], count=[nx, 1])
  round = tw_decompose(io, 'lon lat', shape=[nx, ranks], start=[1, rank + 1], count=[nx, 1], &
    halo_low=[1, 1], halo_high=[2, 1])
  call tw_fill_halo(round, [TW_HALO_PERIODIC, TW_HALO_CLIP])
  call write_file()
  call inquire_file()
  call read_file()
  call read_boxes()
  call write_on()
  call tw_finalize(io)
  call finish()

contains

  elemental integer function at(i, j, record)
    integer, intent(in) :: i, j, record
    at = 1000*record + 10*j + i
  end function at

  subroutine write_file()
    type(tw_file) :: file
    integer :: field(nx, 1), i, record
    file = tw_create(io, 'reading.nc', 'format=cdf5')
    call tw_def_var(file, 'a', TW_INT, 'lon lat time', bare)
    call tw_def_var(file, 'b', TW_DOUBLE, 'lon lat time', bare)
    call tw_put_att(file, 'a', 'units', 'm s-1')
    call tw_put_att(file, '', 'levels', [1, 2, 300])
    do record = 1, 2
      field(:, 1) = [(at(i, rank + 1, record), i=1, nx)]
      call tw_put(file, 'a', field)
      call tw_put(file, 'b', -field)
      call tw_end_step(file)
    end do
    call tw_close(file)
  end subroutine write_file

  subroutine inquire_file()
    type(tw_file) :: file
    integer :: ndims, nvars, natts, groups, type, nd, levels(3), status
    integer(int16) :: level(2)
    integer(int64) :: records, length, n
    integer(int64), allocatable :: chunks(:)
    integer, allocatable :: filters(:), of_filters(:)
    character(len=:), allocatable :: format, name, unlimited
    character(len=8) :: word, words(2)
    file = tw_open(io, 'reading.nc')
    call tw_inq(file, ndims, nvars, natts, records, format, unlimited, groups)
    call expect(ndims == 3 .and. nvars == 2 .and. natts == 1, 'tw_inq')
    call expect(records == 2 .and. format == 'cdf5', 'tw_inq of records and format')
    call expect(unlimited == 'time' .and. groups == 0, 'tw_inq of the record dimension and groups')
    call expect(tw_inq_dim_name(file, 1) == 'time', 'tw_inq_dim_name')
    call expect(tw_inq_var_name(file, 2) == 'b', 'tw_inq_var_name')
    name = tw_inq_var_name(file, 3, status)
    call expect_status(status, TW_EBOUNDS, 'tw_inq_var_name beyond the last')
    call tw_inq_var(file, 'b', type, nd, natts)
    call expect(type == TW_DOUBLE .and. nd == 3 .and. natts == 0, 'tw_inq_var')
    call tw_inq_var_dim(file, 'b', 1, name, length)
    call expect(name == 'lon' .and. length == nx, 'tw_inq_var_dim of the fastest')
    call tw_inq_var_storage(file, 'b', chunks, filters, of_filters)
    call expect(size(chunks) == 0 .and. size(filters) == 0 .and. size(of_filters) == 0, &
      'tw_inq_var_storage of a classic file')
    call tw_inq_var_dim(file, 'b', 3, name, length)
    call expect(name == 'time' .and. length == 2, 'tw_inq_var_dim of the slowest')
    call expect(tw_inq_att_name(file, 'a', 1) == 'units', 'tw_inq_att_name')
    call tw_inq_att(file, '', 'levels', type, n)
    call expect(type == TW_INT .and. n == 3, 'tw_inq_att')
    call tw_get_att(file, '', 'levels', levels)
    call expect(all(levels == [1, 2, 300]), 'tw_get_att')
    call tw_get_att(file, '', 'levels', level, status)
    call expect_status(status, TW_ESHAPE, 'tw_get_att into too short an array')
    call expect(tw_get_att_text(file, 'a', 'units') == 'm s-1', 'tw_get_att_text')
    word = '????????'
    call tw_get_att(file, 'a', 'units', word)
    call expect(word == 'm s-1', 'tw_get_att of text')
    call tw_get_att(file, 'a', 'units', word(1:4), status)
    call expect_status(status, TW_ESHAPE, 'tw_get_att into too short a text')
    call expect(word == 'm s-1', 'the text stays')
    call tw_get_att(file, '', 'levels', word, status)
    call expect_status(status, TW_ETYPE, 'tw_get_att of numbers into text')
    call tw_get_att(file, 'a', 'units', words, status)
    call expect_status(status, TW_ESHAPE, 'tw_get_att into several texts')
    call expect(index(tw_error_message(io), 'rank-1 array of numbers') > 0, tw_error_message(io))
    call tw_get_att(file, 'a', 'levels', level, status)
    call expect(index(tw_error_message(io), 'levels') > 0, 'the text of the next error')
    name = tw_get_att_text(file, 'a', 'levels', status)
    call expect_status(status, TW_ENOTFOUND, 'tw_get_att_text of what is not there')
    call tw_close(file)
  end subroutine inquire_file

  subroutine read_file()
    integer, target :: a(0:nx + 2, 0:2)
    real(real64), target :: b(nx, 1)
    type(tw_file) :: file
    integer :: i, j
    a = -7
    file = tw_open(io, 'reading.nc')
    call tw_get_deferred(file, 'a', a, round, record=2)
    call tw_prefetch(file)
    call tw_get_deferred(file, 'b', b, bare)
    call tw_read(file)
    call tw_close(file)
    do j = 0, 2
      do i = 0, nx + 2
        if (rank + j < 1 .or. rank + j > ranks) then
          call expect(a(i, j) == -7, 'the halo outside the shape')
        else
          call expect(a(i, j) == at(modulo(i - 1, nx) + 1, rank + j, 2), 'tw_read with a halo')
        end if
      end do
    end do
    call expect(all(nint(b(:, 1)) == [(-at(i, rank + 1, 1), i=1, nx)]), 'tw_read of b')
  end subroutine read_file

  subroutine read_boxes()
    type(tw_file) :: file
    integer :: field(nx, 1, 2), spread(2*nx, 3), i, status
    integer(int64) :: records
    real :: one
    real, allocatable :: nothing(:)
    file = tw_open(io, 'reading.nc')
    call tw_get_box(file, 'a', field, [1, rank + 1, 1], [nx, 1, 2], status)
    call expect_status(status, TW_OK, 'tw_get_box')
    call expect(all(field(:, 1, 1) == [(at(i, rank + 1, 1), i=1, nx)]), 'tw_get_box of a record')
    call expect(all(field(:, 1, 2) == [(at(i, rank + 1, 2), i=1, nx)]), 'and of the next')
    ! Every other longitude of the first row, backwards into every other element.
    spread = -1
    call tw_get_box(file, 'b', spread(5:1:-2, 2), [1_int64, 1_int64, 2_int64], &
      [3_int64, 1_int64, 1_int64], stride=[2_int64, 1_int64, 1_int64])
    call expect(all(spread(:, 2) == [-at(5, 1, 2), -1, -at(3, 1, 2), -1, -at(1, 1, 2), &
      (-1, i=6, 2*nx)]), 'tw_get_box with strides')
    call expect(all(spread(:, 1:3:2) == -1), 'elements between the section')
    call tw_get_box(file, 'a', one, [nx, ranks, 2], [1, 1, 1])
    call expect(nint(one) == at(nx, ranks, 2), 'tw_get_box of one element')
    allocate (nothing(0))
    if (rank == 0) then
      call tw_get_box(file, 'a', nothing, [1, 1, 1], [nx, 0, 1], status)
    else
      call tw_get_box(file, 'a', field(:, :, 1), [1, 1, 1], [nx, 1, 1], [1, 2, 1], status)
    end if
    call expect_status(status, TW_OK, 'tw_get_box of nothing on rank 0')
    call tw_get_box(file, 'a', field, [1, 1, 2], [nx, 1, 2], status)
    call expect_status(status, TW_EBOUNDS, 'tw_get_box beyond the last record')
    call tw_get_box(file, 'a', field, [1, 1, 1, 1], [nx, 1, 1, 2], status)
    call expect_status(status, TW_ESHAPE, 'tw_get_box of too many dimensions')
    call tw_get_box(file, 'a', field, [0, 1, 1], [nx, 1, 2], status)
    call expect_status(status, TW_EBOUNDS, 'tw_get_box from 0')
    call tw_get_box(file, 'a', field, [1, 1, 1], [nx, 1, 2], [0, 1, 1], status)
    call expect_status(status, TW_EARG, 'tw_get_box with a stride of 0')
    ! One rank's array does not fit: all get an error.
    if (rank == ranks - 1) then
      call tw_get_box(file, 'a', field, [1, 1, 1], [nx, 1, 1], status)
      call expect_status(status, TW_ESHAPE, 'tw_get_box into another shape')
      call tw_get_box(file, 'a', field, [1, 1, 1], [nx, 1, 2], [1, 1], status)
      call expect_status(status, TW_ESHAPE, 'tw_get_box with too few strides')
    else
      do i = 1, 2
        call tw_get_box(file, 'a', field, [1, 1, 1], [nx, 1, 2], status)
        call expect_status(status, TW_ESHAPE, 'tw_get_box that fits on this rank alone')
      end do
    end if
    call tw_get_box(file, 'a', field, [1, 1, 1], [nx, 1, 2])
    call expect(field(2, 1, 2) == at(2, 1, 2), 'tw_get_box after errors')
    call tw_inq(file, records=records)
    call expect(records == 2, 'tw_inq after tw_get_box')
    call tw_close(file)
  end subroutine read_boxes

  subroutine write_on()
    type(tw_file) :: file
    integer :: field(nx, 1), i, status
    integer(int64) :: records
    file = tw_open(io, 'reading.nc', 'mode=append')
    call tw_inq(file, records=records)
    call expect(records == 2, 'tw_inq of a file to be written on')
    call tw_def_var(file, 'b', TW_DOUBLE, 'lon lat time', bare)
    call tw_def_var(file, 'a', TW_INT, 'lon lat time', bare)
    call tw_set_record(file, 4, ierr=status)
    call expect_status(status, TW_EBOUNDS, 'tw_set_record beyond the next one')
    call tw_set_record(file, records, TW_DROP_LATER)
    field(:, 1) = [(at(i, rank + 1, 7), i=1, nx)]
    call tw_put(file, 'a', field)
    call tw_end_step(file)
    call tw_close(file)
    file = tw_open(io, 'reading.nc')
    call expect(tw_inq_dim(file, 'time') == 2, 'the records of a file written on')
    field = 0
    call tw_get(file, 'a', field, bare, record=1)
    call expect(all(field(:, 1) == [(at(i, rank + 1, 1), i=1, nx)]), 'the record before')
    call tw_get(file, 'a', field, bare, record=2)
    call expect(all(field(:, 1) == [(at(i, rank + 1, 7), i=1, nx)]), 'the record written over')
    call tw_close(file)
    file = tw_open(io, 'reading.nc', 'mode=append')
    call tw_def_var(file, 'a', TW_INT, 'lon lat time', bare)
    call tw_enddef(file, status)
    call expect_status(status, TW_EDIFFERENT, 'tw_enddef of other definitions')
    call tw_close(file, status)
    call expect_status(status, TW_EDIFFERENT, 'tw_close of other definitions')
  end subroutine write_on

end program reading
