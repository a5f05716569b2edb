! SPDX-License-Identifier: Apache-2.0
!
!> Inquiries about the contents of a file opened with tw_open: part of module thalweg. Dimensions,
!> variables and attributes are numbered from 1; a variable's dimensions from its fastest.
module thalweg_inquiry
  use, intrinsic :: iso_c_binding
  use thalweg_base, only: tw_file, TW_OK
  use thalweg_c, only: check, c_text, f_text
  implicit none
  private

  public :: tw_inq, tw_inq_dim, tw_inq_dim_name, tw_inq_var_name, tw_inq_var, tw_inq_var_dim, &
    tw_inq_var_storage, tw_inq_att_name, tw_inq_att, tw_get_att, tw_get_att_text

  ! Constants and types of thalweg/reading.h.
  integer(c_int), parameter :: a_dimension = 0, a_variable = 1, an_attribute = 2
  integer, parameter :: max_filters = 32

  type, bind(C) :: file_info
    type(c_ptr) :: format, unlimited
    integer(c_int) :: ndims, nvars, natts, ngroups
    integer(c_int64_t) :: records
  end type file_info

  interface

    !> call tw_get_att(file, var, name, value [, ierr])
    !>
    !> Reads an attribute of a variable or, with var = '', of the file.
    !>   value  a scalar or contiguous rank-1 array of the size that tw_inq_att returns: integer
    !>          (1, 2, 4, 8 bytes) or real (4, 8 bytes); converted by netCDF's rules. For text a
    !>          character scalar, which is filled with blanks; see also tw_get_att_text
    !> Errors: TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE, TW_ERANGE. Local.
    subroutine tw_get_att(file, var, name, value, ierr) bind(C, name='thalweg_f_get_att')
      import :: tw_file, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: var, name
      type(*), dimension(..), intent(inout) :: value
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_get_att

    integer(c_int) function c_inq(file, info) bind(C, name='tw_inq')
      import
      type(c_ptr), value :: file
      type(file_info), intent(inout) :: info
    end function c_inq

    integer(c_int) function c_inq_name(file, item, var, index, name) bind(C, name='tw_inq_name')
      import
      type(c_ptr), value :: file
      integer(c_int), value :: item
      character(kind=c_char), intent(in) :: var(*)
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: name
    end function c_inq_name

    integer(c_int) function c_inq_dim(file, name, length) bind(C, name='tw_inq_dim')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: length
    end function c_inq_dim

    integer(c_int) function c_inq_var(file, var, type, ndims, natts) bind(C, name='tw_inq_var')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: var(*)
      integer(c_int), intent(inout), optional :: type, ndims, natts
    end function c_inq_var

    integer(c_int) function c_inq_var_dim(file, var, index, name, length) &
        bind(C, name='tw_inq_var_dim')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: var(*)
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: name
      integer(c_int64_t), intent(inout) :: length
    end function c_inq_var_dim

    integer(c_int) function c_inq_var_storage(file, var, chunk, nfilters, filter, level) &
        bind(C, name='tw_inq_var_storage')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: var(*)
      integer(c_int64_t), intent(inout) :: chunk(*)
      integer(c_int), intent(inout) :: nfilters, filter(*), level(*)
    end function c_inq_var_storage

    integer(c_int) function c_inq_att(file, var, name, type, n) bind(C, name='tw_inq_att')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: var(*), name(*)
      integer(c_int), intent(inout), optional :: type
      integer(c_int64_t), intent(inout), optional :: n
    end function c_inq_att

    integer(c_int) function c_get_att_text(file, var, name, size, text) &
        bind(C, name='tw_get_att_text')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: var(*), name(*)
      integer(c_int64_t), value :: size
      character(kind=c_char), intent(inout) :: text(*)
    end function c_get_att_text
  end interface

contains

  !> Returns a file's number of dimensions, variables, global attributes and records, its format
  !> ('cdf1', 'cdf2', 'cdf5', 'netcdf4', 'netcdf4-classic'), the name of its record dimension ('' if
  !> there is none), and the number of groups in its root group (netCDF-4), which cannot be read.
  !> Errors: TW_ESTATE, TW_ECLOSED. Local, like all inquiries.
  subroutine tw_inq(file, ndims, nvars, natts, records, format, unlimited, ngroups, ierr)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(out), optional :: ndims, nvars, natts
    integer(c_int64_t), intent(out), optional :: records
    character(len=:), allocatable, intent(out), optional :: format, unlimited
    integer(c_int), intent(out), optional :: ngroups, ierr
    type(file_info) :: info
    integer(c_int) :: status
    info = file_info(c_null_ptr, c_null_ptr, 0, 0, 0, 0, 0)
    status = c_inq(file%handle, info)
    if (present(ndims)) ndims = info%ndims
    if (present(nvars)) nvars = info%nvars
    if (present(natts)) natts = info%natts
    if (present(records)) records = info%records
    if (present(format)) format = f_text(info%format)
    if (present(unlimited)) unlimited = f_text(info%unlimited)
    if (present(ngroups)) ngroups = info%ngroups
    call check(status, file%session, 'tw_inq', ierr)
  end subroutine tw_inq

  !> length = tw_inq_dim(file, name [, ierr]): returns the 64-bit length of a dimension, 0 after an
  !> error; for the record dimension, the number of records. Errors: TW_ENOTFOUND, TW_ECLOSED.
  !> Local.
  function tw_inq_dim(file, name, ierr) result(length)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int64_t) :: length
    integer(c_int) :: status
    length = 0
    status = c_inq_dim(file%handle, c_text(name), length)
    if (status /= TW_OK) length = 0
    call check(status, file%session, 'tw_inq_dim', ierr)
  end function tw_inq_dim

  !> Returns the name of a dimension by its number. Errors: TW_EBOUNDS. Local.
  function tw_inq_dim_name(file, number, ierr) result(name)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(in) :: number
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: name
    name = name_of(file, a_dimension, '', number, 'tw_inq_dim_name', ierr)
  end function tw_inq_dim_name

  !> Returns the name of a variable by its number. Errors: TW_EBOUNDS. Local.
  function tw_inq_var_name(file, number, ierr) result(name)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(in) :: number
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: name
    name = name_of(file, a_variable, '', number, 'tw_inq_var_name', ierr)
  end function tw_inq_var_name

  !> call tw_inq_var(file, var [, type] [, ndims] [, natts] [, ierr]): returns the type (TW_FLOAT,
  !> ...), number of dimensions (with the record dimension) and number of attributes. Errors:
  !> TW_ENOTFOUND. Local.
  subroutine tw_inq_var(file, var, type, ndims, natts, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: var
    integer(c_int), intent(out), optional :: type, ndims, natts
    integer(c_int), intent(out), optional :: ierr
    if (present(type)) type = 0
    if (present(ndims)) ndims = 0
    if (present(natts)) natts = 0
    call check(c_inq_var(file%handle, c_text(var), type, ndims, natts), file%session, &
      'tw_inq_var', ierr)
  end subroutine tw_inq_var

  !> call tw_inq_var_dim(file, var, number [, name] [, length] [, ierr]): returns the name and
  !> length of a variable's dimension; number 1 is the fastest. Errors: TW_ENOTFOUND, TW_EBOUNDS.
  !> Local.
  subroutine tw_inq_var_dim(file, var, number, name, length, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: var
    integer(c_int), intent(in) :: number
    character(len=:), allocatable, intent(out), optional :: name
    integer(c_int64_t), intent(out), optional :: length
    integer(c_int), intent(out), optional :: ierr
    type(c_ptr) :: text
    integer(c_int) :: nd, status
    integer(c_int64_t) :: n
    text = c_null_ptr
    n = 0
    nd = 0
    status = c_inq_var(file%handle, c_text(var), ndims=nd)
    if (status == TW_OK) status = c_inq_var_dim(file%handle, c_text(var), nd - number, text, n)
    if (present(name)) name = f_text(text)
    if (present(length)) length = n
    call check(status, file%session, 'tw_inq_var_dim', ierr)
  end subroutine tw_inq_var_dim

  !> call tw_inq_var_storage(file, var [, chunks] [, filters] [, levels] [, ierr]): returns the
  !> storage of a variable in a file opened for reading.
  !>   chunks   lengths of its chunks, that of the fastest dimension first; size 0: not in chunks
  !>   filters  in the order in which they were applied, by their numbers in HDF5 (1 deflate,
  !>            2 shuffle, 3 fletcher32, 4 szip, 32015 zstd)
  !>   levels   of deflate and zstd; of others 0
  !> Errors: TW_ENOTFOUND, TW_ESTATE (a file that is being written); the sizes are then 0. Local.
  subroutine tw_inq_var_storage(file, var, chunks, filters, levels, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: var
    integer(c_int64_t), allocatable, intent(out), optional :: chunks(:)
    integer(c_int), allocatable, intent(out), optional :: filters(:), levels(:)
    integer(c_int), intent(out), optional :: ierr
    integer(c_int64_t), allocatable :: lengths(:)
    integer(c_int) :: ids(max_filters), its_levels(max_filters), n, nd, status
    n = 0
    nd = 0
    status = c_inq_var(file%handle, c_text(var), ndims=nd)
    allocate (lengths(nd))
    if (status == TW_OK) status = c_inq_var_storage(file%handle, c_text(var), lengths, n, ids, its_levels)
    if (status /= TW_OK) nd = 0
    if (nd > 0) then
      if (lengths(1) == 0) nd = 0
    end if
    if (present(chunks)) chunks = lengths(nd:1:-1)
    if (present(filters)) filters = ids(:n)
    if (present(levels)) levels = its_levels(:n)
    call check(status, file%session, 'tw_inq_var_storage', ierr)
  end subroutine tw_inq_var_storage

  !> Returns the name of an attribute of a variable or, with var = '', of the file, by its number.
  !> Errors: TW_ENOTFOUND, TW_EBOUNDS. Local.
  function tw_inq_att_name(file, var, number, ierr) result(name)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: var
    integer(c_int), intent(in) :: number
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: name
    name = name_of(file, an_attribute, var, number, 'tw_inq_att_name', ierr)
  end function tw_inq_att_name

  !> call tw_inq_att(file, var, name [, type] [, n] [, ierr]): returns the type and number of values
  !> of an attribute; for text, the number of characters. Errors: TW_ENOTFOUND. Local.
  subroutine tw_inq_att(file, var, name, type, n, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: var, name
    integer(c_int), intent(out), optional :: type
    integer(c_int64_t), intent(out), optional :: n
    integer(c_int), intent(out), optional :: ierr
    if (present(type)) type = 0
    if (present(n)) n = 0
    call check(c_inq_att(file%handle, c_text(var), c_text(name), type, n), file%session, &
      'tw_inq_att', ierr)
  end subroutine tw_inq_att

  !> text = tw_get_att_text(file, var, name [, ierr]): returns a text attribute of a variable or,
  !> with var = '', of the file; '' after an error. Errors: TW_ENOTFOUND, TW_ETYPE. Local.
  function tw_get_att_text(file, var, name, ierr) result(text)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: var, name
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: text
    character(len=:), allocatable :: room
    integer(c_int) :: status
    integer(c_int64_t) :: n
    n = 0
    text = ''
    status = c_inq_att(file%handle, c_text(var), c_text(name), n=n)
    if (status == TW_OK) then
      allocate (character(len=n + 1) :: room)
      status = c_get_att_text(file%handle, c_text(var), c_text(name), n + 1, room)
      if (status == TW_OK) text = room(:n)
    end if
    call check(status, file%session, 'tw_get_att_text', ierr)
  end function tw_get_att_text

  !> Returns a name by its number; `caller` is the name of the procedure that the program called.
  function name_of(file, item, var, number, caller, ierr) result(name)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(in) :: item, number
    character(len=*), intent(in) :: var, caller
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: name
    type(c_ptr) :: text
    integer(c_int) :: status
    text = c_null_ptr
    status = c_inq_name(file%handle, item, c_text(var), number - 1, text)
    name = f_text(text)
    call check(status, file%session, caller, ierr)
  end function name_of

end module thalweg_inquiry
