! SPDX-License-Identifier: Apache-2.0
!
!> Decompositions by lists of global indices. Programs use the module `thalweg`, which passes the
!> public names on.
module thalweg_lists
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use thalweg_base, only: tw_session, tw_decomposition, TW_ESHAPE, check, name_count, reversed, &
    c_text
  implicit none
  private

  public :: tw_decompose_list

  !> d = tw_decompose_list(io, dims, shape, listed, indices [, shared] [, ierr])
  !>
  !> Declares which elements of an index space this rank holds by a list of global indices, in any
  !> order: columns of an unstructured mesh, land points. The list runs over some of the dimensions;
  !> the others are held whole. In memory the listed dimensions are one, as long as the list.
  !>   dims     names of all dimensions in the order of the array in memory, fastest first:
  !>            'lev ncol'
  !>   shape    (ndims) global lengths, the same on every rank
  !>   listed   names of the dimensions that the list runs over: one or more neighbours in dims, in
  !>            the same order: 'ncol', or 'lon lat'
  !>   indices  global index of each position of the list, from 1, the first listed dimension being
  !>            the fastest: of (i, j) it is i + (j - 1) * nlon; 0 is a hole: the position exists in
  !>            memory, and has no place in the file
  !>   shared   whether an index may occur more than once, on any ranks: for reading alone
  !> The integers are all of kind int32 or all of kind int64.
  !> Errors: TW_EARG, TW_EEXISTS, TW_ESHAPE, TW_EBOUNDS (their texts count indices and positions
  !> from 0), TW_EOVERLAP (an index twice, on one rank or on two), TW_EMISMATCH, TW_ENOMEM.
  !> Collective.
  interface tw_decompose_list
    module procedure list_int32
    module procedure list_int64
  end interface tw_decompose_list

  interface
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
  end interface

contains

  function list_int32(io, dims, shape, listed, indices, shared, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims, listed
    integer(int32), intent(in) :: shape(:), indices(:)
    logical, intent(in), optional :: shared
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    integer(int64), allocatable :: from_0(:)
    integer(int64) :: i
    allocate (from_0(size(indices, kind=int64)))
    do i = 1, size(from_0, kind=int64)
      from_0(i) = int(indices(i), int64) - 1
    end do
    d = list_from_0(io, dims, int(shape, int64), listed, from_0, shared, ierr)
  end function list_int32

  function list_int64(io, dims, shape, listed, indices, shared, ierr) result(d)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: dims, listed
    integer(int64), intent(in) :: shape(:), indices(:)
    logical, intent(in), optional :: shared
    integer(c_int), intent(out), optional :: ierr
    type(tw_decomposition) :: d
    integer(int64), allocatable :: from_0(:)
    integer(int64) :: i
    allocate (from_0(size(indices, kind=int64)))
    do i = 1, size(from_0, kind=int64)
      from_0(i) = indices(i) - 1
    end do
    d = list_from_0(io, dims, shape, listed, from_0, shared, ierr)
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

    flags = 0
    if (present(shared)) then
      if (shared) flags = 1
    end if
    ! Collective: a rank whose shape does not fit takes part as well, with an invalid length.
    fits = size(shape) == name_count(dims)
    allocate (lengths(name_count(dims)), source=1_int64)
    n = -1
    if (fits) then
      n = size(indices, kind=int64)
      lengths = shape(size(shape):1:-1)
    end if
    status = c_decompose_list(io%handle, reversed(dims), lengths, reversed(listed), n, indices, &
      flags, d%handle)
    if (fits) then
      call check(status, io%handle, c_text('tw_decompose_list'), ierr)
    else
      d%handle = c_null_ptr
      call check(TW_ESHAPE, c_null_ptr, c_text('tw_decompose_list: shape has not one value for &
        &each name of "'//dims//'"'), ierr)
    end if
  end function list_from_0

end module thalweg_lists
