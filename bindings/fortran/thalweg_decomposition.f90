! SPDX-License-Identifier: Apache-2.0
!
!> The elements of an index space that a rank holds, as boxes or as lists of global indices: part of
!> module thalweg.
module thalweg_decomposition
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use thalweg_base, only: tw_session, tw_decomposition, TW_ESHAPE
  use thalweg_c, only: check, c_text, name_count, reversed
  implicit none
  private

  public :: tw_decompose, tw_decompose_list, tw_fill_halo, tw_pad, tw_free_decomposition

  !> Ways in which reads treat the halo along a dimension: leave it unchanged; read the part within
  !> the global shape; read it with periodic indices, the last followed by the first.
  integer(c_int), parameter, public :: TW_HALO_KEEP = 0
  integer(c_int), parameter, public :: TW_HALO_CLIP = 1
  integer(c_int), parameter, public :: TW_HALO_PERIODIC = 2

  integer, parameter :: most_dims = 16

  !> d = tw_decompose(io, dims, shape, start, count [, halo_low] [, halo_high] [, ierr])
  !>
  !> Declares which elements of an index space this rank holds, as any number of boxes. If the boxes
  !> are parts of larger arrays, see tw_pad.
  !> A variable and its decomposition are matched by the names of their dimensions, in any order.
  !> A name may occur twice, with one length, as in a covariance: 'n n'. With an asterisk in place
  !> of every name they are matched by position: the variable's dimensions, without the record
  !> dimension, must have the same lengths in the same order, whatever their names.
  !>   dims       names in the order of the array in memory, fastest first: 'lon lev lat'; or an
  !>              asterisk for each dimension: '* * *'
  !>   shape      (ndims) global lengths, the same on every rank
  !>   start      (ndims) first global index of this rank's box, from 1; or (ndims, nblocks), one
  !>              column per box; nblocks may be 0 and may differ between ranks
  !>   count      shaped like start: the lengths of each box
  !>   halo_low   (ndims) extra elements of the array before each box, and
  !>   halo_high  (ndims) after it, e.g. [1, 0, 1]; needed if tw_put and tw_get get the whole array,
  !>              not if they get the array section without the halo
  !> The integers must all be of kind int32 or all of kind int64.
  !> Errors: TW_EARG (also: some dimensions have names and others an asterisk), TW_ESHAPE,
  !> TW_EBOUNDS, TW_EOVERLAP (an element is in two boxes), TW_EMISMATCH (names or shape differ
  !> between ranks), TW_ENOMEM. Collective.
  interface tw_decompose
    module procedure box_int32
    module procedure box_int64
    module procedure boxes_int32
    module procedure boxes_int64
  end interface tw_decompose

  !> d = tw_decompose_list(io, dims, shape, listed, indices [, shared] [, ierr])
  !>
  !> Declares which elements of an index space this rank holds, as a list of global indices in any
  !> order: columns of an unstructured mesh, land points. The list covers some of the dimensions; of
  !> the others, every rank holds the full length. In memory the listed dimensions are a single one,
  !> as long as the list.
  !>   dims     names of all dimensions in the order of the array in memory, fastest first:
  !>            'lev ncol'
  !>   shape    (ndims) global lengths, the same on every rank
  !>   listed   names of the dimensions that the list covers: one or more that are adjacent in dims,
  !>            in the same order: 'ncol', or 'lon lat'; if dims has asterisks (see tw_decompose),
  !>            the same text: the list then covers all dimensions
  !>   indices  global index of each position of the list, from 1, with the first listed dimension
  !>            fastest: (i, j) has the index i + (j - 1) * nlon; 0 marks a hole: the position
  !>            exists in memory but not in the file
  !>   shared   .true.: an index may occur more than once, on any ranks: for reading only
  !> The integers must all be of kind int32 or all of kind int64.
  !> Errors: TW_EARG, TW_EEXISTS (a dimension named twice), TW_ESHAPE, TW_EBOUNDS, TW_EOVERLAP (an
  !> index occurs twice, on one rank or on two), TW_EMISMATCH, TW_ENOMEM. Collective.
  interface tw_decompose_list
    module procedure list_int32
    module procedure list_int64
  end interface tw_decompose_list

  !> call tw_pad(decomposition, extent, boxes [, ierr])
  !>
  !> Declares that the boxes of a decomposition are parts of larger arrays, all of the same extent,
  !> as in models that divide their grid into blocks: in an array (nx_block, ny_block, max_blocks),
  !> some blocks are smaller than the others, and some are not used. In memory each box begins after
  !> halo_low elements along each dimension; the elements after it and its halo are padding, which
  !> is never written. This applies to the variables defined, reads called and restarts written from
  !> now on: they take the whole array, or its section without the halo, of extent - halo_low -
  !> halo_high; either with all the boxes that there is room for, or with those that this rank has.
  !>   extent  (ndims) length of the array of one box along each dimension, halo included:
  !>           [nx_block, ny_block]; the same on every rank, and at least that of every box with its
  !>           halo
  !>   boxes   number of boxes that this rank's arrays have room for: max_blocks
  !> The integers must all be of kind int32 or all of kind int64. A warning is logged if the extent
  !> along some dimension is larger than every box with its halo, because an undeclared halo would
  !> be written as part of the box.
  !> Errors: TW_EARG (a list), TW_ESHAPE (not one extent for each dimension, or a box does not fit),
  !> TW_EMISMATCH (the extents differ between ranks), TW_EHANDLE. Collective.
  interface tw_pad
    module procedure pad_int32
    module procedure pad_int64
  end interface tw_pad

  interface
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

    integer(c_int) function c_fill_halo(decomposition, edges) bind(C, name='tw_fill_halo')
      import
      type(c_ptr), value :: decomposition
      integer(c_int), intent(in) :: edges(*)
    end function c_fill_halo

    integer(c_int) function c_pad(decomposition, extent, boxes) bind(C, name='tw_pad')
      import
      type(c_ptr), value :: decomposition
      integer(c_int64_t), intent(in) :: extent(*)
      integer(c_int64_t), value :: boxes
    end function c_pad

    integer(c_int) function c_free(decomposition) bind(C, name='tw_free_decomposition')
      import
      type(c_ptr), intent(inout) :: decomposition
    end function c_free
  end interface

contains

  ! ---- boxes -----------------------------------------------------------------------------------

  function box_int32(io, dims, shape, start, count, halo_low, halo_high, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims
    integer(int32), intent(in) :: shape(:), start(:), count(:)
    integer(int32), intent(in), optional :: halo_low(:), halo_high(:)
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    d = boxes_int32(io, dims, shape, reshape(start, [size(start), 1]), &
      reshape(count, [size(count), 1]), halo_low, halo_high, ierr)
  end function box_int32

  function box_int64(io, dims, shape, start, count, halo_low, halo_high, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims
    integer(int64), intent(in) :: shape(:), start(:), count(:)
    integer(int64), intent(in), optional :: halo_low(:), halo_high(:)
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    d = boxes_int64(io, dims, shape, reshape(start, [size(start), 1]), &
      reshape(count, [size(count), 1]), halo_low, halo_high, ierr)
  end function box_int64

  function boxes_int32(io, dims, shape, start, count, halo_low, halo_high, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims
    integer(int32), intent(in) :: shape(:), start(:, :), count(:, :)
    integer(int32), intent(in), optional :: halo_low(:), halo_high(:)
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    integer(int64), allocatable :: low(:), high(:)
    if (present(halo_low)) low = int(halo_low, int64)
    if (present(halo_high)) high = int(halo_high, int64)
    d = boxes_int64(io, dims, int(shape, int64), int(start, int64), int(count, int64), low, &
      high, ierr)
  end function boxes_int32

  function boxes_int64(io, dims, shape, start, count, halo_low, halo_high, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims
    integer(int64), intent(in) :: shape(:), start(:, :), count(:, :)
    integer(int64), intent(in), optional :: halo_low(:), halo_high(:)
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    integer(int64), allocatable :: lengths(:), low(:), high(:)
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
    allocate (lengths(n), low(n), high(n), source=0_int64)
    if (fits) then
      nblocks = size(start, 2)
      lengths = shape
      if (present(halo_low)) low = halo_low
      if (present(halo_high)) high = halo_high
    end if
    status = c_decompose(io%handle, reversed(dims), nblocks, backwards(lengths), &
      columns_backwards(start) - 1, columns_backwards(count), backwards(low), backwards(high), &
      d%handle)
    if (fits) then
      call check(status, io%handle, 'tw_decompose', ierr)
    else
      d%handle = c_null_ptr
      call check(TW_ESHAPE, c_null_ptr, 'tw_decompose: shape, start, count and halo must have &
        &one value for each name in "'//dims//'"', ierr)
    end if
  end function boxes_int64

  ! ---- lists -----------------------------------------------------------------------------------

  function list_int32(io, dims, shape, listed, indices, shared, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims, listed
    integer(int32), intent(in) :: shape(:), indices(:)
    logical, intent(in), optional :: shared
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    d = list_from_0(io, dims, int(shape, int64), listed, int(indices, int64) - 1, shared, ierr)
  end function list_int32

  function list_int64(io, dims, shape, listed, indices, shared, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims, listed
    integer(int64), intent(in) :: shape(:), indices(:)
    logical, intent(in), optional :: shared
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    d = list_from_0(io, dims, shape, listed, indices - 1, shared, ierr)
  end function list_int64

  function list_from_0(io, dims, shape, listed, indices, shared, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims, listed
    integer(int64), intent(in) :: shape(:), indices(:)
    logical, intent(in), optional :: shared
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    integer(int64), allocatable :: lengths(:)
    integer(int64) :: n
    integer(c_int) :: status, flags
    logical :: fits

    d%session = io%handle
    d%ndims = name_count(dims)
    flags = 0
    if (present(shared)) then
      if (shared) flags = 1
    end if
    ! Collective: a rank with a shape of the wrong size takes part with an invalid length.
    fits = size(shape) == name_count(dims)
    allocate (lengths(name_count(dims)), source=1_int64)
    n = -1
    if (fits) then
      n = size(indices, kind=int64)
      lengths = backwards(shape)
    end if
    status = c_decompose_list(io%handle, reversed(dims), lengths, reversed(listed), n, indices, &
      flags, d%handle)
    if (fits) then
      call check(status, io%handle, 'tw_decompose_list', ierr)
    else
      d%handle = c_null_ptr
      call check(TW_ESHAPE, c_null_ptr, 'tw_decompose_list: shape must have one value for &
        &each name in "'//dims//'"', ierr)
    end if
  end function list_from_0

  ! ---- both ------------------------------------------------------------------------------------

  !> call tw_fill_halo(decomposition, edges [, ierr])
  !>
  !> Sets what reads called from now on do with the halos of this decomposition's arrays, corners
  !> included. Halos are never written.
  !>   edges  (ndims) TW_HALO_KEEP, TW_HALO_CLIP or TW_HALO_PERIODIC, in the decomposition's order
  !> Errors: TW_EARG, TW_EMISMATCH, TW_EHANDLE. Collective.
  subroutine tw_fill_halo(decomposition, edges, ierr)
    type(tw_decomposition), intent(in) :: decomposition
    integer(c_int), intent(in) :: edges(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: backwards_edges(most_dims)
    integer :: n
    ! Collective: a rank with the wrong number of edges takes part with invalid ones.
    backwards_edges = -1
    n = size(edges)
    if (n == decomposition%ndims) backwards_edges(:n) = edges(n:1:-1)
    call check(c_fill_halo(decomposition%handle, backwards_edges), decomposition%session, &
      'tw_fill_halo', ierr)
  end subroutine tw_fill_halo

  subroutine pad_int32(decomposition, extent, boxes, ierr)
    type(tw_decomposition), intent(in) :: decomposition
    integer(int32), intent(in) :: extent(:), boxes
    integer(c_int), intent(out), optional :: ierr
    call pad_int64(decomposition, int(extent, int64), int(boxes, int64), ierr)
  end subroutine pad_int32

  subroutine pad_int64(decomposition, extent, boxes, ierr)
    type(tw_decomposition), intent(in) :: decomposition
    integer(int64), intent(in) :: extent(:), boxes
    integer(c_int), intent(out), optional :: ierr
    integer(int64) :: lengths(most_dims)
    integer :: n
    lengths = -1  ! invalid, if the number of extents is wrong
    n = size(extent)
    if (n == decomposition%ndims) lengths(:n) = backwards(extent)
    call check(c_pad(decomposition%handle, lengths, boxes), decomposition%session, 'tw_pad', ierr)
  end subroutine pad_int64

  !> call tw_free_decomposition(decomposition [, ierr]): frees a decomposition. Variables, restarts
  !> and reads that use it keep what they need of it. Calls with the handle or a copy of it return
  !> TW_EHANDLE after this. tw_finalize frees all other decompositions.
  !> Errors: TW_EHANDLE. Local.
  subroutine tw_free_decomposition(decomposition, ierr)
    type(tw_decomposition), intent(inout) :: decomposition
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: status
    status = c_free(decomposition%handle)
    call check(status, decomposition%session, 'tw_free_decomposition', ierr)
    if (.not. c_associated(decomposition%handle)) decomposition = tw_decomposition()
  end subroutine tw_free_decomposition

  !> Returns the lengths in reverse order.
  pure function backwards(array) result(turned)
    integer(int64), intent(in) :: array(:)
    integer(int64) :: turned(size(array))
    turned = array(size(array):1:-1)
  end function backwards

  pure function columns_backwards(array) result(turned)
    integer(int64), intent(in) :: array(:, :)
    integer(int64) :: turned(size(array))
    turned = reshape(array(size(array, 1):1:-1, :), [size(array)])
  end function columns_backwards

end module thalweg_decomposition
