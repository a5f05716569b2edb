! SPDX-License-Identifier: Apache-2.0
!
!> Checks for the Fortran tests, and the C functions of reader.c.
module support
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use mpi_f08
  implicit none
  public

  integer :: rank = 0, ranks = 1, failures = 0

  interface
    integer(c_int) function code_count() bind(C)
      import
    end function code_count
    integer(c_int) function type_count() bind(C)
      import
    end function type_count
    integer(c_int) function model_role() bind(C)
      import
    end function model_role
    integer(c_int) function server_role() bind(C)
      import
    end function server_role
    integer(c_int) function find_code(name, value) bind(C)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: value
    end function find_code
    integer(c_int) function find_type(name, value) bind(C)
      import
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(out) :: value
    end function find_type
    !> An interface of the same form as tw_put_deferred.
    type(c_ptr) function address_of(array) bind(C)
      import
      type(*), dimension(..), intent(in), asynchronous :: array
    end function address_of
    integer(c_int) function c_reader_open(path) bind(C, name='reader_open')
      import
      character(kind=c_char), intent(in) :: path(*)
    end function c_reader_open
    subroutine reader_close(id) bind(C)
      import
      integer(c_int), value :: id
    end subroutine reader_close
    real(c_double) function c_reader_value(id, name, rank, position) bind(C, name='reader_value')
      import
      integer(c_int), value :: id, rank
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), intent(in) :: position(*)
    end function c_reader_value
    integer(c_int) function c_reader_text(id, name, row, size, text) bind(C, name='reader_text')
      import
      integer(c_int), value :: id, row, size
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(inout) :: text(*)
    end function c_reader_text
    integer(c_int) function c_reader_attribute(id, var, name, length, values, size) &
        bind(C, name='reader_attribute')
      import
      integer(c_int), value :: id, size
      character(kind=c_char), intent(in) :: var(*), name(*)
      integer(c_int), intent(inout) :: length
      real(c_double), intent(inout) :: values(*)
    end function c_reader_attribute
  end interface

contains

  subroutine begin()
    call MPI_Init()
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  end subroutine begin

  !> Ends the program; exit status 1 if a check failed on any rank.
  subroutine finish()
    integer :: all_failures
    call MPI_Allreduce(failures, all_failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    if (rank == 0) print '(i0,a)', all_failures, ' checks failed'
    call MPI_Finalize()
    if (all_failures > 0) stop 1, quiet=.true.
  end subroutine finish

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    if (failures <= 20) write (error_unit, '(a,i0,2a)') 'FAILED on rank ', rank, ': ', what
  end subroutine expect

  subroutine expect_status(status, expected, what)
    integer, intent(in) :: status, expected
    character(len=*), intent(in) :: what
    character(len=40) :: text
    write (text, '(a,i0,a,i0)') ': status ', status, ', not ', expected
    call expect(status == expected, what//text)
  end subroutine expect_status

  integer function reader_open(path)
    character(len=*), intent(in) :: path
    reader_open = c_reader_open(path//c_null_char)
    call expect(reader_open >= 0, 'PnetCDF opens '//path)
  end function reader_open

  real(real64) function reader_value(id, name, position)
    integer, intent(in) :: id, position(:)
    character(len=*), intent(in) :: name
    reader_value = c_reader_value(id, name//c_null_char, size(position), position)
  end function reader_value

  function reader_text(id, name, row) result(text)
    integer, intent(in) :: id, row
    character(len=*), intent(in) :: name
    character(len=:), allocatable :: text
    character(len=100) :: buffer
    integer :: n
    buffer = ''
    n = c_reader_text(id, name//c_null_char, row, len(buffer), buffer)
    text = buffer(:max(n, 0))
  end function reader_text

  !> Checks a numeric attribute.
  subroutine expect_attribute(id, var, name, type, values)
    integer, intent(in) :: id, type
    character(len=*), intent(in) :: var, name
    real(real64), intent(in) :: values(:)
    real(real64) :: found(100)
    integer :: length, found_type
    length = -1
    found_type = c_reader_attribute(id, var//c_null_char, name//c_null_char, length, found, 100)
    call expect_status(found_type, type, 'type of attribute '//name)
    call expect_status(length, size(values), 'length of attribute '//name)
    if (length == size(values)) call expect(all(abs(found(:length) - values) <= 0), &
      'attribute '//name)
  end subroutine expect_attribute

  !> Checks the length of a text attribute.
  subroutine expect_text_attribute(id, var, name, expected)
    integer, intent(in) :: id, expected
    character(len=*), intent(in) :: var, name
    real(real64) :: unused(1)
    integer :: length, found_type
    length = -1
    found_type = c_reader_attribute(id, var//c_null_char, name//c_null_char, length, unused, 0)
    call expect_status(found_type, 2, 'type of attribute '//name)
    call expect_status(length, expected, 'length of attribute '//name)
  end subroutine expect_text_attribute

end module support
