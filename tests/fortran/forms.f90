! SPDX-License-Identifier: Apache-2.0
!
!> Tests arrays of models that divide their grid into blocks; arrays of the wrong form, whose errors
!> must use Fortran's order of dimensions and count from 1; and deferred arrays of which the
!> compiler passes a copy.
program forms
  use, intrinsic :: iso_c_binding, only: c_associated
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use support
  use thalweg
  implicit none

  !> Blocks of bx x by elements with a halo of one. Each row has three blocks, the last of which is
  !> narrower; a rank has one or two of them, in arrays with room for three.
  integer, parameter :: bx = 6, by = 4, nghost = 1, room = 3
  integer, parameter :: nx_block = bx + 2*nghost, ny_block = by + 2*nghost
  integer, parameter :: nx = 2*bx + 2
  type(tw_session) :: io
  integer :: ny, nblocks, status

  call begin()
  ny = by*ranks
  nblocks = 3
  io = tw_init(MPI_COMM_WORLD, 'log=off; service=inline')
  call blocks()
  call deferred_records()
  call wrong_forms()
  call wrong_types()
  call early_definitions()
  call wrong_definitions()
  call other_texts()
  call temporaries(8)
  call temporaries(1000)
  call reading_into_temporaries()
  call tw_finalize(io)
  call finish()

contains

  elemental real(real64) function at(i, j)
    integer, intent(in) :: i, j
    at = 100*j + i
  end function at

  !> Makes a decomposition of the three blocks of a row: rank r has row r + 1.
  type(tw_decomposition) function row(halo)
    logical, intent(in) :: halo
    integer :: start(2, 3), lengths(2, 3), ghosts(2)
    start = reshape([1, 1 + by*rank, 1 + bx, 1 + by*rank, 1 + 2*bx, 1 + by*rank], [2, 3])
    lengths = reshape([bx, by, bx, by, nx - 2*bx, by], [2, 3])
    ghosts = merge(nghost, 0, halo)
    row = tw_decompose(io, 'lon lat', [nx, ny], start, lengths, ghosts, ghosts)
  end function row

  subroutine fill(a)
    real(real64), intent(out) :: a(nx_block, ny_block, room)
    integer :: b, i, j
    a = -1
    do b = 1, nblocks
      do j = 1, by
        do i = 1, min(bx, nx - (b - 1)*bx)
          a(i + nghost, j + nghost, b) = at(i + (b - 1)*bx, j + by*rank)
        end do
      end do
    end do
  end subroutine fill

  subroutine compare(path, name, records)
    character(len=*), intent(in) :: path, name
    integer, intent(in) :: records
    type(tw_file) :: file
    real(real64) :: whole(nx, ny)
    integer :: i, j, r
    file = tw_open(io, path)
    do r = 1, records
      whole = -1
      call tw_get(file, name, whole, record=r)
      call expect(all(nint(whole) == reshape([((nint(at(i, j)), i=1, nx), j=1, ny)], [nx, ny])), &
        'values of '//name//' in '//path)
    end do
    call tw_close(file)
  end subroutine compare

  !> Tests whole arrays and their interior, with padding and unused blocks.
  subroutine blocks()
    real(real64), target :: a(nx_block, ny_block, room), b(nx_block, ny_block, room)
    type(tw_decomposition) :: cells
    type(tw_file) :: file
    call fill(a)
    cells = row(.true.)
    call tw_pad(cells, [nx_block, ny_block], room)
    file = tw_create(io, 'blocks.nc')
    call tw_def_var(file, 'T', TW_DOUBLE, 'lon lat time', cells)
    call tw_put(file, 'T', a)
    call tw_end_step(file)
    call tw_put(file, 'T', a(:, :, :nblocks))
    call tw_end_step(file)
    call tw_put_deferred(file, 'T', a(1+nghost:nx_block-nghost, 1+nghost:ny_block-nghost, :))
    call tw_end_step(file)
    call tw_put(file, 'T', a(2:, :, :), status)
    call expect_status(status, TW_ESHAPE, 'a part of the padded array')
    call expect_text('(7, 6, 3)', '(8, 6, 3)')
    call tw_close(file)
    call compare('blocks.nc', 'T', 3)
    file = tw_open(io, 'blocks.nc')
    b = -1
    call tw_get(file, 'T', b, cells, record=2)
    call expect(all(nint(b) == nint(a)), 'tw_get of padded blocks')
    call tw_close(file)

    call tw_pad(cells, [nx_block], room, status)
    call expect_status(status, TW_ESHAPE, 'tw_pad with too few extents')
    call tw_pad(cells, [nx_block - 1, ny_block], room, status)
    call expect_status(status, TW_ESHAPE, 'tw_pad with too small extents')
    call expect_text("'lon'", 'halo')
    call tw_pad(cells, int([nx_block, ny_block], int64), 2_int64, status)
    call expect_status(status, TW_ESHAPE, 'tw_pad without room')
    call tw_fill_halo(cells, [TW_HALO_CLIP], status)
    call expect_status(status, TW_EARG, 'tw_fill_halo with too few edges')
  end subroutine blocks

  subroutine expect_text(words, more)
    character(len=*), intent(in) :: words, more
    character(len=:), allocatable :: text
    text = tw_error_message(io)
    call expect(index(text, words) > 0 .and. index(text, more) > 0, words//' in: '//text)
  end subroutine expect_text

  !> Tests a mistake of a sea-ice model: whole arrays with a decomposition that has no halo; and
  !> other arrays whose size happens to be right.
  subroutine wrong_forms()
    real(real64) :: a(nx_block, ny_block, room), table(2, 7)
    type(tw_decomposition) :: cells
    type(tw_file) :: file
    call fill(a)
    cells = row(.false.)
    file = tw_create(io, 'wrong_forms.nc')
    call tw_def_dim(file, 'nb', 2)
    call tw_def_var(file, 'T', TW_DOUBLE, 'lon lat time', cells)
    call tw_def_var(file, 'b', TW_DOUBLE, 'nb')
    call tw_def_var(file, 's', TW_DOUBLE, '')
    call tw_put(file, 'T', a, status)
    call expect_status(status, TW_ESHAPE, 'whole blocks without a halo')
    call expect_text('(8, 6, 3)', '(6, 4, 3)')
    call expect_text('lon lat', 'tw_pad')
    call put_assumed_size(file, a)
    table = 0
    call tw_put(file, 'b', table, status)
    call expect_status(status, TW_ESHAPE, '(2, 7) into b(2)')
    call expect_text('(2, 7)', 'is (2)')
    call tw_put(file, 's', [1, 2, 3], status)
    call expect_status(status, TW_ESHAPE, '3 elements into a scalar')
    call expect_text('3 elements', 'scalar')
    call tw_close(file)
  end subroutine wrong_forms

  subroutine put_assumed_size(file, a)
    type(tw_file), intent(in) :: file
    real(real64), intent(in) :: a(nx_block, *)
    call tw_put(file, 'T', a, status)
    call expect_status(status, TW_ESHAPE, 'an array of assumed size')
    call expect_text('assumed size', '(8, *)')
  end subroutine put_assumed_size

  subroutine wrong_types()
    logical :: mask(2)
    complex :: waves(2)
    type(tw_file) :: file
    mask = .true.
    waves = 0
    file = tw_create(io, 'wrong_types.nc')
    call tw_def_dim(file, 'nb', 2)
    call tw_def_var(file, 'b', TW_INT, 'nb')
    call tw_put_att(file, 'b', 'mask', mask(1), status)
    call expect_status(status, TW_ETYPE, 'a logical attribute')
    call expect_text('logical', 'merge')
    call tw_put(file, 'b', mask, status)
    call expect_status(status, TW_ETYPE, 'logical values')
    call expect_text('logical', 'merge')
    call tw_put(file, 'b', waves, status)
    call expect_status(status, TW_ETYPE, 'complex values')
    call expect_text('complex', 'real and imaginary')
    call tw_close(file)
  end subroutine wrong_types

  !> Tests variables without a decomposition whose dimensions only the session's decompositions name.
  subroutine early_definitions()
    type(tw_decomposition) :: cells, longer
    type(tw_file) :: file
    type(tw_restart) :: restart
    real(real64), target :: values(7)
    integer :: k
    values = [(real(k, real64), k=1, 7)]
    longer = tw_decompose(io, 'early level', shape=[7, 2], start=[1, 1], &
      count=merge([7, 2], [0, 0], rank == 0))
    file = tw_create(io, 'early.nc')
    call tw_def_var(file, 'early', TW_DOUBLE, 'early')
    call tw_def_var(file, 'levels', TW_INT, 'level early')
    call tw_def_var(file, 'T', TW_DOUBLE, 'early level time', longer)
    call tw_def_var(file, 'time', TW_DOUBLE, 'tmie', ierr=status)
    call expect_status(status, TW_ENOTFOUND, 'a dimension of no decomposition')
    call tw_put(file, 'early', values)
    call tw_close(file)
    file = tw_open(io, 'early.nc')
    call expect(tw_inq_dim(file, 'early') == 7, 'the length of a dimension of a decomposition')
    call expect(tw_inq_dim(file, 'level') == 2, 'the other one')
    call tw_close(file)
    restart = tw_restart_new(io)
    call tw_restart_add(restart, 'early', 'early', values)
    call tw_restart_free(restart)
    cells = tw_decompose(io, 'level', shape=[3], start=[1], count=[merge(3, 0, rank == 0)])
    file = tw_create(io, 'early.nc')
    call tw_def_var(file, 'level', TW_DOUBLE, 'level', ierr=status)
    call expect_status(status, TW_ESHAPE, 'a dimension of two lengths')
    call expect_text("variable 'level': dimension 'level' has length 2", 'over (early level), but 3')
    call expect_text('over (level)', 'tw_def_dim')
    call tw_def_dim(file, 'level', 4)
    call tw_def_var(file, 'level', TW_DOUBLE, 'level')
    call tw_close(file)
  end subroutine early_definitions

  !> Tests misspelled dimensions: none of them may become the unlimited one.
  subroutine wrong_definitions()
    type(tw_decomposition) :: cells
    type(tw_file) :: file
    cells = row(.false.)
    file = tw_create(io, 'wrong_definitions.nc')
    call tw_def_dim(file, 'nc', 5)
    call tw_def_var(file, 'a', TW_DOUBLE, 'ncat', ierr=status)
    call expect_status(status, TW_ENOTFOUND, 'a mistyped dimension')
    call expect_text("no dimension 'ncat'", "did you mean 'nc'?")
    call tw_def_var(file, 'T', TW_DOUBLE, 'lon latt time', cells, status)
    call expect_status(status, TW_ENOTFOUND, 'a mistyped dimension of the decomposition')
    call expect_text("'latt'", "did you mean 'lat'?")
    call tw_def_var(file, 'T', TW_DOUBLE, 'lon lat time', cells)
    call tw_def_var(file, 'U', TW_DOUBLE, 'lon lat tmie', cells, status)
    call expect_status(status, TW_ENOTFOUND, 'a second record dimension')
    call expect_text("'tmie'", "did you mean 'time'?")
    call tw_def_var(file, 'V', TW_DOUBLE, 'lat time', cells, status)
    call expect_status(status, TW_ESHAPE, 'too few dimensions')
    call expect_text('(lat)', '(lon lat)')
    call tw_close(file)
  end subroutine wrong_definitions

  !> Tests texts of errors: records, indices and positions count from 1, and dimensions are fastest
  !> first.
  subroutine other_texts()
    type(tw_decomposition) :: cells, none
    type(tw_file) :: file
    real(real64) :: whole(nx, ny)
    integer :: i
    file = tw_open(io, 'blocks.nc')
    cells = row(.false.)
    call tw_get(file, 'T', whole, record=0, ierr=status)
    call expect_status(status, TW_EBOUNDS, 'record 0')
    call expect_text('no record 0', 'has 3')
    call tw_get(file, 'T', whole, record=4, ierr=status)
    call expect_status(status, TW_EBOUNDS, 'a record behind the last')
    call expect_text('no record 4', 'has 3')
    none = tw_decompose(io, 'x y', [5, 6], [1, 1], [5, 6], ierr=status)
    call tw_get(file, 'T', whole, none, ierr=status)
    if (ranks == 1) then
      call expect_status(status, TW_ESHAPE, 'another decomposition')
      call expect_text('(lon lat)', '(x y)')
    end if
    if (len(tw_inq_var_name(file, 5, status)) > 0) continue
    call expect_text('no variable 5', 'there are 1')
    call tw_close(file)
    none = tw_decompose(io, 'x y', [5, 6], [1, 3], [5, 5], ierr=status)
    call expect_status(status, TW_EBOUNDS, 'a box outside')
    call expect_text("start 3 and count 5 along dimension 'y'", 'block 1')
    none = tw_decompose_list(io, 'x', [5*ranks], 'x', [5*ranks + 1, (5*rank + i, i=1, 4)], &
      ierr=status)
    call expect_status(status, TW_EBOUNDS, 'an index outside')
    call expect_text('position 1 of the list', '0 for a hole')
    if (ranks > 1) then
      none = tw_decompose(io, 'x y', [5, 6], [2, 3], [1, 1], ierr=status)
      call expect_status(status, TW_EOVERLAP, 'an element twice')
      call expect_text('element (2, 3) of (x y)', 'rank 0, block 1')
    end if
  end subroutine other_texts

  !> Tests records in any order, which stay in the model's arrays until the step ends.
  subroutine deferred_records()
    real(real64), target :: a(nx_block, ny_block, room), b(nx_block, ny_block, room)
    type(tw_decomposition) :: cells, none
    type(tw_file) :: file
    call fill(a)
    call fill(b)
    cells = row(.true.)
    call tw_pad(cells, [nx_block, ny_block], room)
    file = tw_create(io, 'deferred.nc')
    call tw_def_var(file, 'T', TW_DOUBLE, 'lon lat time', cells)
    call tw_put_record_deferred(file, 'T', a, cells, record=2)
    call tw_put_record_deferred(file, 'T', &
      b(1+nghost:nx_block-nghost, 1+nghost:ny_block-nghost, :), cells, record=1)
    call tw_end_step(file)
    call tw_put_record_deferred(file, 'T', a, cells, record=0, ierr=status)
    call expect_status(status, TW_EBOUNDS, 'a deferred record before the first')
    call tw_put_record_deferred(file, 'T', a, none, record=1, ierr=status)
    call expect_status(status, TW_EHANDLE, 'a deferred record without its decomposition')
    call tw_put_record_deferred(file, 'T', a, cells, record=3)
    a = 0
    ! This call uses a, so that the compiler does not remove the change.
    call expect(c_associated(address_of(a)), 'the address of an array')
    call tw_end_step(file, status)
    call expect_status(status, TW_EARG, 'a deferred record that changes')
    call expect_text('deferred.nc', 'has changed')
    call fill(a)
    call tw_put_record_deferred(file, 'T', a, cells, record=3)
    call tw_end_step(file)
    call tw_close(file)
    call compare('deferred.nc', 'T', 3)
  end subroutine deferred_records

  !> Tests an output routine with contiguous dummy arguments that gets sections: the compiler passes
  !> copies, which no longer exist when the step ends.
  subroutine temporaries(n)
    integer, intent(in) :: n
    real(real64), allocatable, target :: a(:, :), b(:, :)
    type(tw_decomposition) :: cells
    type(tw_file) :: file
    integer :: i
    allocate (a(2*n, n), b(2*n, n))
    a = reshape([(real(i, real64), i=1, 2*n*n)], [2*n, n])
    b = -a
    cells = tw_decompose(io, 'x y', [n, n*ranks], [1, 1 + n*rank], [n, n])
    file = tw_create(io, 'temporaries.nc')
    call tw_def_var(file, 'a', TW_DOUBLE, 'x y time', cells)
    call tw_def_var(file, 'b', TW_DOUBLE, 'x y time', cells)
    call put_contiguous(file, 'a', a(::2, :))
    call put_contiguous(file, 'b', b(::2, :))
    call tw_end_step(file, status)
    call expect_status(status, TW_EARG, 'temporaries of sections')
    call expect_text('temporaries.nc', 'tw_put')
    ! The step is still open.
    call tw_put_deferred(file, 'a', a(::2, :))
    call tw_put_deferred(file, 'b', b(::2, :))
    call tw_end_step(file)
    ! An array that changes while it is deferred.
    call tw_put_deferred(file, 'a', a(::2, :))
    call tw_put_deferred(file, 'b', b(::2, :))
    b = 0
    call tw_end_step(file, status)
    call expect_status(status, TW_EARG, 'an array that changes')
    call expect_text("'b'", 'has changed')
    call tw_put(file, 'b', b(::2, :))
    call tw_end_step(file)
    call tw_close(file)
  end subroutine temporaries

  subroutine put_contiguous(file, name, field)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: name
    real(real64), contiguous, intent(in), target :: field(:, :)
    call tw_put_deferred(file, name, field)
  end subroutine put_contiguous

  subroutine reading_into_temporaries()
    integer, parameter :: n = 1000
    real(real64), allocatable, target :: a(:, :), b(:, :)
    type(tw_decomposition) :: cells
    type(tw_file) :: file
    allocate (a(2*n, n), b(2*n, n), source=0.0_real64)
    cells = tw_decompose(io, 'x y', [n, n*ranks], [1, 1 + n*rank], [n, n])
    file = tw_open(io, 'temporaries.nc')
    call get_contiguous(file, 'a', a(::2, :), cells)
    call get_contiguous(file, 'b', b(::2, :), cells)
    call tw_read(file, status)
    call expect_status(status, TW_EARG, 'reading into temporaries')
    call tw_get_deferred(file, 'a', a(::2, :), cells)
    call tw_get_deferred(file, 'b', b(::2, :), cells)
    call tw_read(file)
    call expect(nint(a(3, 1)) == 3 .and. nint(b(3, 1)) == -3, 'what was read')
    call tw_close(file)
  end subroutine reading_into_temporaries

  subroutine get_contiguous(file, name, field, cells)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: name
    real(real64), contiguous, intent(inout), target :: field(:, :)
    type(tw_decomposition), intent(in) :: cells
    call tw_get_deferred(file, name, field, cells)
  end subroutine get_contiguous

end program forms
