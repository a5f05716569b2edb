! SPDX-License-Identifier: Apache-2.0
!
!> Writes every form of array that Fortran can pass, on all ranks, and reads it back with PnetCDF
!> and with tw_get. The index space has NX x NZ x NY points; some ranks have no rows.
program arrays
  use, intrinsic :: iso_c_binding, only: c_associated, c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: compiler_version, int8, int16, int32, int64, real32, real64
  use support
  use thalweg
  implicit none
  integer, parameter :: nx = 5, nz = 4, ny = 13
  type :: point_t
    integer(int8) :: flag = 0
    real(real64) :: t = 0
    real(real32) :: s = 0
  end type point_t
  type(tw_session) :: io
  integer :: js, je, nj

  call begin()
  js = 1 + rank*ny/ranks
  je = (rank + 1)*ny/ranks
  nj = je - js + 1
  io = tw_init(MPI_COMM_WORLD)
  call no_copies()
  call kinds()
  call sections()
  call boxes()
  call small_things()
  call reading()
  call tw_finalize(io)
  call finish()

contains

  !> Returns the expected value at a point; it fits into one byte.
  elemental integer function at(i, k, j)
    integer, intent(in) :: i, k, j
    at = mod(i + 5*k + 20*j, 128)
  end function at

  !> Checks that the compiler passes every form of array without a copy.
  subroutine no_copies()
    real(real64), target :: a(6, 5, 4)
    real(real64), allocatable, target :: b(:, :)
    real(real64), pointer :: p(:, :)
    type(point_t), target :: points(4, 3)
    character(len=3), target :: words(5)
    integer(int8), target :: scalar
    a = 0
    scalar = 0
    words = ''
    allocate (b(0:7, -2:2), source=0.0_real64)
    p => b(7:0:-2, ::2)
    call expect_address(address_of(a), c_loc(a), 'a whole array')
    call expect_address(address_of(a(2:5:3, 2:4, 3:)), c_loc(a(2, 2, 3)), 'a section')
    call expect_address(address_of(a(6:1:-2, :, 4:1:-1)), c_loc(a(6, 1, 4)), 'a reversed section')
    call expect_address(address_of(a(3, :, 2)), c_loc(a(3, 1, 2)), 'a row')
    call expect_address(address_of(a(3, 4, 2)), c_loc(a(3, 4, 2)), 'an element')
    call expect_address(address_of(b), c_loc(b(0, -2)), 'an allocatable')
    call expect_address(address_of(p), c_loc(b(7, -2)), 'a pointer')
    call expect_address(address_of(p(2:, :)), c_loc(b(5, -2)), 'a section of a pointer')
    call expect_address(address_of(points%t), c_loc(points(1, 1)%t), 'a component')
    call expect_address(address_of(points(3:1:-1, 2)%s), c_loc(points(3, 2)%s), 'a part of one')
    call expect_address(address_of(words(2::2)), c_loc(words(2)), 'text')
    call expect_address(address_of(scalar), c_loc(scalar), 'a scalar')
    call dummies(a(2:5, :, 1), b(:, 0:2), size(b, 1))
  end subroutine no_copies

  subroutine dummies(shaped, sized, n)
    real(real64), intent(in), target :: shaped(:, :)
    integer, intent(in) :: n
    real(real64), intent(in), target :: sized(n, *)
    call expect_address(address_of(shaped(:, ::2)), c_loc(shaped(1, 1)), 'an assumed-shape dummy')
    call expect_address(address_of(sized(2:3, 1:2)), c_loc(sized(2, 1)), 'an assumed-size dummy')
  end subroutine dummies

  subroutine expect_address(found, expected, what)
    type(c_ptr), intent(in) :: found, expected
    character(len=*), intent(in) :: what
    call expect(c_associated(found, expected), 'no copy of '//what)
  end subroutine expect_address

  type(tw_decomposition) function rows()
    rows = tw_decompose(io, 'lon lev lat', shape=[nx, nz, ny], start=[1, 1, js], &
      count=[nx, nz, nj])
  end function rows

  !> Compares a variable (lon, lat, lev, time) of the file with at() plus the record's offset.
  subroutine compare(path, name, records)
    character(len=*), intent(in) :: path, name
    integer, intent(in) :: records
    integer :: id, i, j, k, t, wrong
    if (rank /= 0) return
    id = reader_open(path)
    wrong = 0
    do t = 1, records
      do k = 1, nz
        do j = 1, ny
          do i = 1, nx
            if (nint(reader_value(id, name, [i, j, k, t])) /= at(i, k, j) + t - 1) wrong = wrong + 1
          end do
        end do
      end do
    end do
    call reader_close(id)
    call expect_status(wrong, 0, 'wrong values of '//name//' in '//path)
  end subroutine compare

  !> Tests all types, each with a section of an array with a halo, over two records.
  subroutine kinds()
    integer(int8) :: i1(0:nx+1, nz, js-1:je+1)
    integer(int16) :: i2(0:nx+1, nz, js-1:je+1)
    integer(int32) :: i4(0:nx+1, nz, js-1:je+1)
    integer(int64) :: i8(0:nx+1, nz, js-1:je+1)
    real(real32) :: r4(0:nx+1, nz, js-1:je+1)
    real(real64) :: r8(0:nx+1, nz, js-1:je+1)
    character(len=*), parameter :: path = 'kinds.nc'
    character(len=*), parameter :: names(6) = ['i1', 'i2', 'i4', 'i8', 'r4', 'r8']
    integer, parameter :: types(6) = [TW_BYTE, TW_SHORT, TW_INT, TW_INT64, TW_FLOAT, TW_DOUBLE]
    type(tw_file) :: file
    type(tw_decomposition) :: d
    integer :: i, k, j, n

    d = rows()
    file = tw_create(io, path, 'format=cdf5')
    do n = 1, size(names)
      call tw_def_var(file, names(n), types(n), 'lon lat lev time', d)
    end do
    call tw_def_var(file, 'converted', TW_FLOAT, 'lon lat lev time', d)
    call tw_enddef(file)
    do n = 0, 1
      do j = js - 1, je + 1
        do k = 1, nz
          do i = 0, nx + 1
            i4(i, k, j) = -99
            if (i > 0 .and. i <= nx .and. j >= js .and. j <= je) i4(i, k, j) = at(i, k, j) + n
          end do
        end do
      end do
      i1 = int(min(i4, 127), int8)
      i2 = int(i4, int16)
      i8 = i4
      r4 = real(i4, real32)
      r8 = i4
      if (n == 1) where (i4 == 128) i1 = 127
      call tw_put(file, 'i1', i1(1:nx, :, js:je))
      call tw_put(file, 'i2', i2(1:nx, :, js:je))
      call tw_put(file, 'i4', i4(1:nx, :, js:je))
      call tw_put(file, 'i8', i8(1:nx, :, js:je))
      call tw_put(file, 'r4', r4(1:nx, :, js:je))
      call tw_put(file, 'r8', r8(1:nx, :, js:je))
      call tw_put(file, 'converted', i8(1:nx, :, js:je))
      call tw_end_step(file)
    end do
    call tw_close(file)
    call compare(path, 'i1', 1)
    do n = 2, size(names)
      call compare(path, names(n), 2)
    end do
    call compare(path, 'converted', 2)
  end subroutine kinds

  !> Tests strides, directions, orders and forms of arrays.
  subroutine sections()
    real(real32), target :: twice(2*nx, 2*nz, 2*nj)
    real(real32) :: mirrored(nx, nz, js:je), turned(js:je, nx, nz)
    real(real64), allocatable, target :: whole(:, :, :)
    real(real64), pointer :: view(:, :, :)
    type(point_t) :: points(nx, nz, js:je)
    type(tw_file) :: file
    type(tw_decomposition) :: d, d_turned, d_halo
    character(len=*), parameter :: path = 'sections.nc'
    character(len=*), parameter :: names(11) = [character(len=10) :: 'strided', 'mirrored', &
      'turned', 'member_t', 'member_s', 'member_f', 'pointer', 'expression', 'dummy', 'deferred', &
      'halo']
    integer :: i, k, j, n

    allocate (whole(-1:nx, 0:nz-1, js-2:je+1), source=-1.0_real64)
    twice = -1
    do j = js, je
      do k = 1, nz
        do i = 1, nx
          twice(2*i, 2*k - 1, 2*(j - js) + 1) = at(i, k, j)
          mirrored(nx + 1 - i, k, je + js - j) = at(i, k, j)
          turned(j, i, k) = at(i, k, j)
          points(i, k, j)%t = at(i, k, j)
          points(i, k, j)%s = at(i, k, j)
          points(i, k, j)%flag = int(at(i, k, j), int8)
          whole(i - 1, k - 1, j) = at(i, k, j)
        end do
      end do
    end do

    d = rows()
    d_turned = tw_decompose(io, 'lat lon lev', shape=[ny, nx, nz], start=[js, 1, 1], &
      count=[nj, nx, nz])
    d_halo = tw_decompose(io, 'lon lev lat', shape=[nx, nz, ny], start=[1, 1, js], &
      count=[nx, nz, nj], halo_low=[1, 0, 2], halo_high=[1, 0, 1])
    file = tw_create(io, path)
    do n = 1, size(names)
      if (names(n) == 'turned') then
        call tw_def_var(file, names(n), TW_FLOAT, 'lon lat lev time', d_turned)
      else if (names(n) == 'halo') then
        call tw_def_var(file, names(n), TW_FLOAT, 'lon lat lev time', d_halo)
      else
        call tw_def_var(file, names(n), TW_FLOAT, 'lon lat lev time', d)
      end if
    end do

    call tw_put(file, 'strided', twice(2::2, 1::2, 1::2))
    call tw_put(file, 'mirrored', mirrored(nx:1:-1, :, je:js:-1))
    call tw_put(file, 'turned', turned)
    call tw_put(file, 'member_t', points%t)
    call tw_put(file, 'member_s', points(:, :, js:je)%s)
    call tw_put(file, 'member_f', points%flag)
    view => whole(0:nx-1, :, js:je)
    call tw_put(file, 'pointer', view)
    call tw_put(file, 'expression', 0.5*(view + view))
    call put_dummy(file, whole(0:, :, js:je))
    call tw_put_deferred(file, 'deferred', twice(2::2, 1::2, 1::2))
    call tw_put(file, 'halo', whole)
    mirrored = -1  ! tw_put has a copy
    view = -1
    call tw_end_step(file)
    call tw_close(file)
    do n = 1, size(names)
      call compare(path, trim(names(n)), 1)
    end do
  end subroutine sections

  !> Puts an assumed-shape dummy of unlimited polymorphic type, after its type is known.
  subroutine put_dummy(file, array)
    type(tw_file), intent(in) :: file
    class(*), intent(in) :: array(:, :, :)
    integer :: status
    call tw_put(file, 'dummy', array, status)
    ! With LLVM's compiler, the array's type is passed on, and the result may be right.
    if (index(compiler_version(), 'GCC') > 0) &
      call expect_status(status, TW_ETYPE, 'an array of type class(*)')
    select type (array)
    type is (real(real64))
      call tw_put(file, 'dummy', array(:nx, :, :))
    end select
  end subroutine put_dummy

  !> Tests several boxes per rank: rows are distributed in turn, so that a rank has 0 to ny of them.
  subroutine boxes()
    integer(int64), allocatable :: start(:, :), count(:, :)
    real(real64), allocatable :: blocks(:, :, :, :)
    type(tw_decomposition) :: d
    type(tw_file) :: file
    integer :: n, b, i, k, j
    n = (ny - 1 - rank + ranks)/ranks
    if (rank >= ny) n = 0
    allocate (start(3, n), count(3, n), blocks(nx + 1, nz, 1, n))
    blocks = -1
    do b = 1, n
      j = rank + 1 + (b - 1)*ranks
      start(:, b) = [1, 1, j]
      count(:, b) = [nx, nz, 1]
      do k = 1, nz
        do i = 1, nx
          blocks(i, k, 1, b) = at(i, k, j)
        end do
      end do
    end do
    d = tw_decompose(io, 'lon lev lat', int([nx, nz, ny], int64), start, count)
    file = tw_create(io, 'boxes.nc')
    call tw_def_var(file, 'T', TW_DOUBLE, 'lon lat lev time', d)
    call tw_put(file, 'T', blocks(:nx, :, :, :))
    call tw_end_step(file)
    call tw_close(file)
    call compare('boxes.nc', 'T', 1)
  end subroutine boxes

  !> Tests scalars, replicated arrays, text and attributes.
  subroutine small_things()
    character(len=7), parameter :: cities(3) = ['Taipei ', 'Beijing', 'Sydney ']
    character(len=1), parameter :: letters(4) = ['a', 'b', 'c', 'd']
    real(real64), parameter :: numbers(6) = [1, 2, 3, 4, 5, 6]
    real(real32), allocatable :: nothing(:)
    character(len=*), parameter :: path = 'small.nc'
    type(tw_file) :: file
    integer :: id, i, t

    file = tw_create(io, path, 'format=cdf5; method=serial')
    call tw_def_dim(file, 'time', TW_UNLIMITED)
    call tw_def_dim(file, 'letter', 7)
    call tw_def_dim(file, 'city', 3_int64)
    call tw_def_dim(file, 'four', 4)
    call tw_def_var(file, 'time', TW_DOUBLE, 'time')
    call tw_def_var(file, 'scalar', TW_INT, '')
    call tw_def_var(file, 'row', TW_INT, 'four')
    call tw_def_var(file, 'table', TW_SHORT, 'four city')
    call tw_def_var(file, 'cities', TW_CHAR, 'letter city')
    call tw_def_var(file, 'name', TW_CHAR, 'letter')
    call tw_def_var(file, 'flags', TW_CHAR, 'four')
    call tw_def_var(file, 'unsigned', TW_UBYTE, 'four')

    call tw_put_att(file, '', 'title', 'A title with a blank at its end ')
    call tw_put_att(file, '', 'empty', '')
    call tw_put_att(file, 'row', 'a_i1', 7_int8)
    call tw_put_att(file, 'row', 'a_i2', [7_int16, -8_int16])
    call tw_put_att(file, 'row', 'a_i4', 7)
    call tw_put_att(file, 'row', 'a_i8', [2_int64**40, -1_int64, 3_int64])
    call tw_put_att(file, 'row', 'a_r4', 0.5)
    call tw_put_att(file, 'row', 'a_r8', numbers)
    call tw_put_att(file, 'row', 'backwards', numbers(6:1:-2))

    call tw_put(file, 'scalar', 42_int8)
    call tw_put(file, 'row', [(10*i, i=1, 4)])
    call tw_put(file, 'table', reshape([(i, i=1, 12)], [4, 3]))
    call tw_put(file, 'cities', cities(3:1:-1))
    call tw_put(file, 'name ', cities(2))
    call tw_put(file, 'flags', letters)
    call tw_put(file, 'unsigned', [0.0, 1.0, 254.0, 255.0])
    do t = 1, 3
      call tw_put(file, 'time', 0.25*t)
      call tw_end_step(file)
      call tw_sync(file)
    end do
    call tw_sync(file, durable=.true.)
    call tw_close(file)
    call expect(.not. allocated(nothing), 'an array that stays unallocated')

    if (rank /= 0) return
    id = reader_open(path)
    call expect(nint(reader_value(id, 'scalar', [integer ::])) == 42, 'scalar')
    do i = 1, 4
      call expect(nint(reader_value(id, 'row', [i])) == 10*i, 'row')
      do t = 1, 3
        call expect(nint(reader_value(id, 'table', [i, t])) == i + 4*(t - 1), 'table')
      end do
    end do
    do t = 1, 3
      call expect(abs(reader_value(id, 'time', [t]) - 0.25_real64*t) <= 0, 'time')
      call expect(reader_text(id, 'cities', t) == cities(4 - t), 'cities')
    end do
    call expect(reader_text(id, 'name', 1) == 'Beijing', 'name')
    call expect(reader_text(id, 'flags', 1) == 'abcd', 'flags')
    call expect(nint(reader_value(id, 'unsigned', [4])) == 255, 'unsigned')
    call expect_text_attribute(id, '', 'title', 32)
    call expect_text_attribute(id, '', 'empty', 0)
    call expect_attribute(id, 'row', 'a_i1', TW_BYTE, [7.0_real64])
    call expect_attribute(id, 'row', 'a_i2', TW_SHORT, [7.0_real64, -8.0_real64])
    call expect_attribute(id, 'row', 'a_i4', TW_INT, [7.0_real64])
    call expect_attribute(id, 'row', 'a_i8', TW_INT64, [2.0_real64**40, -1.0_real64, 3.0_real64])
    call expect_attribute(id, 'row', 'a_r4', TW_FLOAT, [0.5_real64])
    call expect_attribute(id, 'row', 'a_r8', TW_DOUBLE, numbers)
    call expect_attribute(id, 'row', 'backwards', TW_DOUBLE, numbers(6:1:-2))
    call reader_close(id)
  end subroutine small_things

  !> Reads what kinds() and small_things() wrote with tw_get.
  subroutine reading()
    integer(int32) :: all(nx, nz, js:je), file_order(nx, ny, nz)
    real(real64) :: wide(0:nx+1, nz, js-1:je+1), backwards(nx, nz, js:je), time
    integer(int16) :: table(4, 3)
    character(len=7) :: cities(3)
    type(tw_decomposition) :: d
    type(tw_file) :: file
    integer :: i, j, k

    d = rows()
    file = tw_open(io, 'kinds.nc')
    call expect(tw_inq_dim(file, 'lon') == nx, 'length of lon')
    call expect(tw_inq_dim(file, 'time') == 2, 'number of records')
    call tw_get(file, 'i4', all, d)
    call tw_get(file, 'i8', file_order, record=2)
    wide = -7
    call tw_get(file, 'r4', wide(1:nx, :, js:je), d, record=2)
    call tw_get(file, 'i2', backwards(nx:1:-1, :, je:js:-1), d)
    call tw_close(file)
    do j = js, je
      do k = 1, nz
        do i = 1, nx
          call expect(all(i, k, j) == at(i, k, j), 'tw_get of i4')
          call expect(nint(wide(i, k, j)) == at(i, k, j) + 1, 'tw_get of a section')
          call expect(nint(backwards(nx+1-i, k, je+js-j)) == at(i, k, j), 'tw_get, mirrored')
        end do
      end do
    end do
    call expect(count(nint(wide) == -7) == size(wide) - nx*nz*nj, 'tw_get leaves the halo alone')
    do j = 1, ny
      do k = 1, nz
        do i = 1, nx
          call expect(file_order(i, j, k) == at(i, k, j) + 1, 'tw_get of the whole')
        end do
      end do
    end do

    file = tw_open(io, 'small.nc')
    call tw_get(file, 'time', time, record=3)
    call expect(abs(time - 0.75_real64) <= 0, 'tw_get of a scalar record')
    call tw_get(file, 'table', table)
    call expect(table(4, 3) == 12 .and. table(1, 2) == 5, 'tw_get of a table')
    call tw_get(file, 'cities', cities)
    call expect(cities(1) == 'Sydney' .and. cities(3) == 'Taipei', 'tw_get of text')
    call tw_close(file)
  end subroutine reading

end program arrays
