! SPDX-License-Identifier: Apache-2.0
!
! Procedures whose integers may be of kind int32 or int64. thalweg_int32.f90 and thalweg_int64.f90
! include this text, each for one kind; the parts of module thalweg unite both under one public name,
! and describe the arguments.

  ! These take any array without a copy: see thalweg_writing.
  interface
    subroutine put_box(file, name, array, start, count, ierr) bind(C, name='thalweg_f_put_box')
      import :: tw_file, c_char, c_int, kind_of_indices
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(in) :: array
      integer(kind_of_indices), intent(in) :: start(:), count(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine put_box

    subroutine put_section(file, name, array, start, count, stride, ierr) &
        bind(C, name='thalweg_f_put_section')
      import :: tw_file, c_char, c_int, kind_of_indices
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(in) :: array
      integer(kind_of_indices), intent(in) :: start(:), count(:), stride(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine put_section

    subroutine get_box(file, name, array, start, count, ierr) bind(C, name='thalweg_f_get_box')
      import :: tw_file, c_char, c_int, kind_of_indices
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(inout) :: array
      integer(kind_of_indices), intent(in) :: start(:), count(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_box

    subroutine get_section(file, name, array, start, count, stride, ierr) &
        bind(C, name='thalweg_f_get_section')
      import :: tw_file, c_char, c_int, kind_of_indices
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(inout) :: array
      integer(kind_of_indices), intent(in) :: start(:), count(:), stride(:)
      integer(c_int), intent(out), optional :: ierr
    end subroutine get_section

    integer(c_int) function c_decompose(session, dims, nblocks, shape, start, count, halo_low, &
        halo_high, decomposition) bind(C, name='tw_decompose_halo')
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: dims(*)
      integer(c_int), value :: nblocks
      integer(c_int64_t), intent(in) :: shape(*), start(*), count(*), halo_low(*), halo_high(*)
      type(c_ptr), intent(inout) :: decomposition
    end function c_decompose

    integer(c_int) function c_decompose_list(session, dims, shape, listed, n, indices, flags, &
        decomposition) bind(C, name='tw_decompose_list')
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: dims(*), listed(*)
      integer(c_int64_t), intent(in) :: shape(*), indices(*)
      integer(c_int64_t), value :: n
      integer(c_int), value :: flags
      type(c_ptr), intent(inout) :: decomposition
    end function c_decompose_list

    integer(c_int) function c_pad(decomposition, extent, boxes) bind(C, name='tw_pad')
      import
      type(c_ptr), value :: decomposition
      integer(c_int64_t), intent(in) :: extent(*)
      integer(c_int64_t), value :: boxes
    end function c_pad

    integer(c_int) function c_def_dim(file, name, length) bind(C, name='tw_def_dim')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: length
    end function c_def_dim

    integer(c_int) function c_set_record(file, record, later) bind(C, name='tw_set_record')
      import
      type(c_ptr), value :: file
      integer(c_int64_t), value :: record
      integer(c_int), value :: later
    end function c_set_record
  end interface

contains

  function decompose_box(io, dims, shape, start, count, halo_low, halo_high, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims
    integer(kind_of_indices), intent(in) :: shape(:), start(:), count(:)
    integer(kind_of_indices), intent(in), optional :: halo_low(:), halo_high(:)
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    d = decompose_boxes(io, dims, shape, reshape(start, [size(start), 1]), &
      reshape(count, [size(count), 1]), halo_low, halo_high, ierr)
  end function decompose_box

  function decompose_boxes(io, dims, shape, start, count, halo_low, halo_high, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims
    integer(kind_of_indices), intent(in) :: shape(:), start(:, :), count(:, :)
    integer(kind_of_indices), intent(in), optional :: halo_low(:), halo_high(:)
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    integer(c_int64_t), allocatable :: lengths(:), low(:), high(:)
    integer(c_int) :: status, nblocks
    integer :: n
    logical :: fits

    n = name_count(dims)
    d%session = io%handle
    d%ndims = n
    fits = size(shape) == n .and. size(start, 1) == n .and. size(count, 1) == n &
      .and. size(start, 2) == size(count, 2)
    if (present(halo_low)) fits = fits .and. size(halo_low) == n
    if (present(halo_high)) fits = fits .and. size(halo_high) == n

    ! Collective: ranks with arrays of the wrong size take part with an invalid number of boxes.
    nblocks = -1
    allocate (lengths(n), low(n), high(n), source=0_c_int64_t)
    if (fits) then
      nblocks = size(start, 2)
      lengths = backwards(shape)
      if (present(halo_low)) low = backwards(halo_low)
      if (present(halo_high)) high = backwards(halo_high)
    end if
    status = c_decompose(io%handle, reversed(dims), nblocks, lengths, &
      columns_backwards(start) - 1, columns_backwards(count), low, high, d%handle)
    if (fits) then
      call check(status, io%handle, 'tw_decompose', ierr)
    else
      d%handle = c_null_ptr
      call check(TW_ESHAPE, c_null_ptr, 'tw_decompose: shape, start, count and halo must have &
        &one value for each name in "'//dims//'"', ierr)
    end if
  end function decompose_boxes

  function decompose_list(io, dims, shape, listed, indices, shared, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims, listed
    integer(kind_of_indices), intent(in) :: shape(:), indices(:)
    logical, intent(in), optional :: shared
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    integer(c_int64_t), allocatable :: lengths(:)
    integer(c_int64_t) :: n
    integer(c_int) :: status, flags
    logical :: fits

    d%session = io%handle
    d%ndims = name_count(dims)
    flags = 0
    if (present(shared)) flags = merge(1_c_int, 0_c_int, shared)
    ! Collective: a rank with a shape of the wrong size takes part with an invalid length.
    fits = size(shape) == d%ndims
    allocate (lengths(d%ndims), source=1_c_int64_t)
    n = -1
    if (fits) then
      n = size(indices, kind=c_int64_t)
      lengths = backwards(shape)
    end if
    status = c_decompose_list(io%handle, reversed(dims), lengths, reversed(listed), n, &
      int(indices, c_int64_t) - 1, flags, d%handle)
    if (fits) then
      call check(status, io%handle, 'tw_decompose_list', ierr)
    else
      d%handle = c_null_ptr
      call check(TW_ESHAPE, c_null_ptr, 'tw_decompose_list: shape must have one value for &
        &each name in "'//dims//'"', ierr)
    end if
  end function decompose_list

  subroutine pad(decomposition, extent, boxes, ierr)
    type(tw_decomposition), intent(in) :: decomposition
    integer(kind_of_indices), intent(in) :: extent(:), boxes
    integer(c_int), intent(out), optional :: ierr
    integer(c_int64_t) :: lengths(most_dims)
    integer :: n
    lengths = -1  ! invalid, if the number of extents is wrong
    n = size(extent)
    if (n == decomposition%ndims) lengths(:n) = backwards(extent)
    call check(c_pad(decomposition%handle, lengths, int(boxes, c_int64_t)), &
      decomposition%session, 'tw_pad', ierr)
  end subroutine pad

  subroutine def_dim(file, name, length, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: name
    integer(kind_of_indices), intent(in) :: length
    integer(c_int), intent(out), optional :: ierr
    call check(c_def_dim(file%handle, c_text(name), int(length, c_int64_t)), file%session, &
      'tw_def_dim', ierr)
  end subroutine def_dim

  subroutine set_record(file, record, later, ierr)
    type(tw_file), intent(in) :: file
    integer(kind_of_indices), intent(in) :: record
    integer(c_int), intent(in), optional :: later
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: what
    what = 0  ! TW_KEEP_LATER
    if (present(later)) what = later
    call check(c_set_record(file%handle, int(record, c_int64_t) - 1, what), file%session, &
      'tw_set_record', ierr)
  end subroutine set_record

  !> Returns the lengths in reverse order.
  pure function backwards(array) result(turned)
    integer(kind_of_indices), intent(in) :: array(:)
    integer(c_int64_t) :: turned(size(array))
    turned = array(size(array):1:-1)
  end function backwards

  pure function columns_backwards(array) result(turned)
    integer(kind_of_indices), intent(in) :: array(:, :)
    integer(c_int64_t) :: turned(size(array))
    turned = reshape(int(array(size(array, 1):1:-1, :), c_int64_t), [size(array)])
  end function columns_backwards
