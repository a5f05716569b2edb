! SPDX-License-Identifier: Apache-2.0
!
!> Checks the arguments that tw_put_box passes to C: dimensions in reverse order, starts from 0,
!> dense values.
program boxes
  use support
  use thalweg
  implicit none

  interface
    integer(c_int) function given_type() bind(C)
      import
    end function given_type
    integer(c_int) function given_start(d) bind(C)
      import
      integer(c_int), value :: d
    end function given_start
    integer(c_int) function given_count(d) bind(C)
      import
      integer(c_int), value :: d
    end function given_count
    integer(c_int) function given_stride(d) bind(C)
      import
      integer(c_int), value :: d
    end function given_stride
    real(c_double) function given_value(i) bind(C)
      import
      integer(c_int), value :: i
    end function given_value
  end interface

  type(tw_file) :: file
  real :: field(4, 6)
  integer :: i, status, numbers(3) = [5, 6, 7], turned(3) = [7, 1, 3]
  double precision, allocatable :: nothing(:)
  character(len=3) :: names(2) = ['abc', 'def']

  call begin()
  allocate (nothing(3))
  deallocate (nothing)
  field = reshape([(real(i), i=1, 24)], [4, 6])

  call tw_put_box(file, 'v3', field, [2, 1, 9], [4, 6, 1], status)
  call expect_status(status, TW_OK, 'a whole array')
  call given('a whole array', TW_FLOAT, [2, 1, 9], [4, 6, 1], [(real(i), i=1, 24)])
  call expect_status(given_start(3), -1, 'start of a dimension that was not given')

  call tw_put_box(file, 'v3', field(2:4:2, 6:1:-3), turned(3:1:-1), [2, 2, 1], status)
  call expect_status(status, TW_OK, 'a section')
  call given('a section', TW_FLOAT, [3, 1, 7], [2, 2, 1], [22.0, 24.0, 10.0, 12.0])

  call tw_put_box(file, 'v2', numbers, [1_c_int64_t, 3_c_int64_t], [3_c_int64_t, 1_c_int64_t])
  call given('64-bit starts', TW_INT, [1, 3], [3, 1], [5.0, 6.0, 7.0])

  call tw_put_box(file, 'v1', 2.5d0, [4], [1], status)
  call expect_status(status, TW_OK, 'a scalar')
  call given('a scalar', TW_DOUBLE, [4], [1], [2.5])

  call tw_put_box(file, 'v2', names, [1, 2], [3, 2], status)
  call expect_status(status, TW_OK, 'text')
  call given('text', TW_CHAR, [1, 2], [3, 2], [(real(iachar('a') + i), i=0, 5)])

  call tw_put_box(file, 'v2', nothing, [1, 2], [0, 2], status)
  call expect_status(status, TW_OK, 'nothing')
  call given('nothing', TW_DOUBLE, [1, 2], [0, 2], [real ::])

  call tw_put_box(file, 'v2', numbers, [2, 1], [3, 1], [4, 1], status)
  call expect_status(status, TW_OK, 'a stride')
  call given('a stride', TW_INT, [2, 1], [3, 1], [5.0, 6.0, 7.0])
  call expect_status(given_stride(0), 1, 'the slowest stride')
  call expect_status(given_stride(1), 4, 'the fastest stride')
  call tw_put_box(file, 'v1', numbers, start=[2_c_int64_t], count=[3_c_int64_t], &
    stride=[9_c_int64_t], ierr=status)
  call expect_status(given_stride(0), 9, 'a 64-bit stride')
  call tw_put_box(file, 'v2', numbers, [2, 1], [3, 1], [4], status)
  call expect_status(status, TW_ESHAPE, 'fewer strides than starts')
  call tw_put_box(file, 'v2', numbers, [2, 1], [3, 1], status)
  call expect_status(given_stride(0), 0, 'no stride')

  call tw_put_box(file, 'v2', field, [1, 1], [4, 5], status)
  call expect_status(status, TW_ESHAPE, 'more values than the box has')
  call tw_put_box(file, 'v2', nothing, [1, 1], [4, 5], status)
  call expect_status(status, TW_ESHAPE, 'no values for a box')
  call tw_put_box(file, 'v2', nothing, [1, 1], [2**30, 2**30], status)
  call expect_status(status, TW_ESHAPE, 'no values for a large box')
  call tw_put_box(file, 'v2', nothing, [1_c_int64_t, 1_c_int64_t], &
    [2_c_int64_t**32, 2_c_int64_t**32], status)
  call expect_status(status, TW_ESHAPE, 'a box that 64 bits cannot count')
  call tw_put_box(file, 'v3', field, [1, 1, 1], [4, 6], status)
  call expect_status(status, TW_ESHAPE, 'more starts than counts')
  call tw_put_box(file, 'v3', field, [1, 1], [4, 6], status)
  call expect_status(status, TW_ESHAPE, 'fewer starts than dimensions')
  call tw_put_box(file, 'v1', field, [1, 1], [4, 6], status)
  call expect_status(status, TW_ESHAPE, 'more starts than dimensions')
  call finish()

contains

  subroutine given(what, type, start, count, values)
    character(len=*), intent(in) :: what
    integer, intent(in) :: type, start(:), count(:)
    real, intent(in) :: values(:)
    integer :: d
    call expect_status(given_type(), type, 'type of '//what)
    do d = 1, size(start)
      call expect_status(given_start(size(start) - d), start(d) - 1, 'start of '//what)
      call expect_status(given_count(size(start) - d), count(d), 'count of '//what)
    end do
    do d = 1, size(values)
      call expect(abs(given_value(d - 1) - values(d)) <= 0, 'values of '//what)
    end do
  end subroutine given

end program boxes
