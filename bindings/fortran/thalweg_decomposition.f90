! SPDX-License-Identifier: Apache-2.0
!
!> The elements of an index space that a rank holds, as boxes or as lists of global indices: part of
!> module thalweg.
module thalweg_decomposition
  use, intrinsic :: iso_c_binding
  use thalweg_base, only: tw_decomposition
  use thalweg_c, only: check, ending_function, most_dims
  use thalweg_int32, only: box_int32 => decompose_box, boxes_int32 => decompose_boxes, &
    list_int32 => decompose_list, pad_int32 => pad
  use thalweg_int64, only: box_int64 => decompose_box, boxes_int64 => decompose_boxes, &
    list_int64 => decompose_list, pad_int64 => pad
  implicit none
  private

  public :: tw_decompose, tw_decompose_list, tw_fill_halo, tw_pad, tw_free_decomposition

  !> Ways in which reads treat the halo along a dimension: leave it unchanged; read the part within
  !> the global shape; read it with periodic indices, the last followed by the first.
  integer(c_int), parameter, public :: TW_HALO_KEEP = 0
  integer(c_int), parameter, public :: TW_HALO_CLIP = 1
  integer(c_int), parameter, public :: TW_HALO_PERIODIC = 2

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
    procedure box_int32, box_int64, boxes_int32, boxes_int64
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
    procedure list_int32, list_int64
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
    procedure pad_int32, pad_int64
  end interface tw_pad

  interface
    integer(c_int) function c_fill_halo(decomposition, edges) bind(C, name='tw_fill_halo')
      import
      type(c_ptr), value :: decomposition
      integer(c_int), intent(in) :: edges(*)
    end function c_fill_halo
  end interface
  procedure(ending_function), bind(C, name='tw_free_decomposition') :: c_free

contains

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

  !> call tw_free_decomposition(decomposition [, ierr]): frees a decomposition. Variables, restarts
  !> and reads that use it keep what they need of it. Calls with the handle or a copy of it return
  !> TW_EHANDLE after this. tw_finalize frees all other decompositions.
  !> Errors: TW_EHANDLE. Local.
  subroutine tw_free_decomposition(decomposition, ierr)
    type(tw_decomposition), intent(inout) :: decomposition
    integer(c_int), intent(out), optional :: ierr
    call check(c_free(decomposition%handle), decomposition%session, 'tw_free_decomposition', ierr)
    if (.not. c_associated(decomposition%handle)) decomposition = tw_decomposition()
  end subroutine tw_free_decomposition

end module thalweg_decomposition
