! SPDX-License-Identifier: Apache-2.0
!
!> Files that are read: what they hold, and gets: part of module thalweg.
!> Dimensions, variables and attributes are counted from 1; a variable's dimensions from its
!> fastest.
module thalweg_reading
  use, intrinsic :: iso_c_binding
  use thalweg_base, only: tw_session, tw_decomposition, tw_file, TW_OK
  use thalweg_c, only: check, c_text, c_settings, f_text
  implicit none
  private

  public :: tw_open, tw_get, tw_get_deferred, tw_read, tw_prefetch
  public :: tw_inq, tw_inq_dim, tw_inq_dim_name, tw_inq_unlimited, tw_inq_var_name, tw_inq_var, &
    tw_inq_var_dim, tw_inq_att_name, tw_inq_att, tw_get_att, tw_get_att_text

  interface

    !> call tw_get(file, name, array [, decomposition] [, record] [, ierr])
    !>
    !> Reads this rank's part of a variable, whatever the order of its dimensions in the file.
    !>   array          as for tw_put; halos are left as they are unless tw_fill_halo says
    !>                  otherwise
    !>   decomposition  who wants what; without it every rank reads the whole variable
    !>   record         from 1, which is the default; ignored for variables without records
    !> Errors: TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE, TW_EBOUNDS (no such record), TW_ERANGE, TW_EIO,
    !> TW_EHANDLE (a decomposition that was never made). Collective.
    subroutine tw_get(file, name, array, decomposition, record, ierr) bind(C, name='thalweg_f_get')
      import :: tw_file, tw_decomposition, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(inout) :: array
      type(tw_decomposition), intent(in), optional :: decomposition
      integer(c_int), intent(in), optional :: record
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_get

    !> call tw_get_deferred(file, name, array [, decomposition] [, record] [, ierr])
    !>
    !> Asks for what tw_get would read; the next tw_read reads it, with all else that was asked for.
    !> The array must stay where it is until then: a variable or a section of one, not an
    !> expression, with the attribute target or asynchronous. Every rank has to ask for the same
    !> in the same order. Errors: as tw_get. Local.
    subroutine tw_get_deferred(file, name, array, decomposition, record, ierr) &
        bind(C, name='thalweg_f_get_deferred')
      import :: tw_file, tw_decomposition, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: name
      type(*), dimension(..), intent(inout), asynchronous, target :: array
      type(tw_decomposition), intent(in), optional :: decomposition
      integer(c_int), intent(in), optional :: record
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_get_deferred

    !> call tw_get_att(file, var, name, value [, ierr])
    !>
    !> Numbers of an attribute of a variable or, with var = '', of the file.
    !>   value  a scalar or contiguous rank-1 array of as many numbers as tw_inq_att tells:
    !>          integer (1, 2, 4, 8 bytes) or real (4, 8); converted as netCDF does
    !> Errors: TW_ENOTFOUND, TW_ETYPE, TW_ESHAPE, TW_ERANGE. Local.
    subroutine tw_get_att(file, var, name, value, ierr) bind(C, name='thalweg_f_get_att')
      import :: tw_file, c_char, c_int
      type(tw_file), intent(in) :: file
      character(len=*, kind=c_char), intent(in) :: var, name
      type(*), dimension(..), intent(inout) :: value
      integer(c_int), intent(out), optional :: ierr
    end subroutine tw_get_att

    integer(c_int) function c_open(session, path, settings, file) bind(C, name='tw_open')
      import
      type(c_ptr), value :: session
      character(kind=c_char), intent(in) :: path(*)
      character(kind=c_char), intent(in) :: settings(*)
      type(c_ptr), intent(inout) :: file
    end function c_open

    integer(c_int) function c_inq(file, format, ndims, nvars, natts, records) &
        bind(C, name='tw_inq')
      import
      type(c_ptr), value :: file
      type(c_ptr), intent(inout) :: format
      integer(c_int), intent(inout) :: ndims, nvars, natts
      integer(c_int64_t), intent(inout) :: records
    end function c_inq

    integer(c_int) function c_inq_dim(file, name, length) bind(C, name='tw_inq_dim')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(inout) :: length
    end function c_inq_dim

    integer(c_int) function c_inq_dim_name(file, index, name) bind(C, name='tw_inq_dim_name')
      import
      type(c_ptr), value :: file
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: name
    end function c_inq_dim_name

    integer(c_int) function c_inq_unlimited(file, name) bind(C, name='tw_inq_unlimited')
      import
      type(c_ptr), value :: file
      type(c_ptr), intent(inout) :: name
    end function c_inq_unlimited

    integer(c_int) function c_inq_var_name(file, index, name) bind(C, name='tw_inq_var_name')
      import
      type(c_ptr), value :: file
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: name
    end function c_inq_var_name

    integer(c_int) function c_inq_var(file, var, type, ndims, natts) bind(C, name='tw_inq_var')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: var(*)
      integer(c_int), intent(inout) :: type, ndims, natts
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

    integer(c_int) function c_inq_att_name(file, var, index, name) bind(C, name='tw_inq_att_name')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: var(*)
      integer(c_int), value :: index
      type(c_ptr), intent(inout) :: name
    end function c_inq_att_name

    integer(c_int) function c_inq_att(file, var, name, type, n) bind(C, name='tw_inq_att')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: var(*), name(*)
      integer(c_int), intent(inout) :: type
      integer(c_int64_t), intent(inout) :: n
    end function c_inq_att

    integer(c_int) function c_get_att_text(file, var, name, size, text) &
        bind(C, name='tw_get_att_text')
      import
      type(c_ptr), value :: file
      character(kind=c_char), intent(in) :: var(*), name(*)
      integer(c_int64_t), value :: size
      character(kind=c_char), intent(inout) :: text(*)
    end function c_get_att_text

    integer(c_int) function c_read(file) bind(C, name='tw_read')
      import
      type(c_ptr), value :: file
    end function c_read

    integer(c_int) function c_prefetch(file) bind(C, name='tw_prefetch')
      import
      type(c_ptr), value :: file
    end function c_prefetch
  end interface

contains

  !> file = tw_open(io, path [, settings] [, ierr]): opens an existing netCDF file, classic or
  !> netCDF-4, or a set of tiles (path.0000 ...) for reading; or a classic one with
  !> settings='mode=append' to write on in it: the model defines the file's variables as for
  !> tw_create, and steps add records.
  !> Errors: TW_EARG, TW_ESETTING, TW_EIO, TW_EFORMAT; with mode=append also TW_EUNSUPPORTED
  !> (netCDF-4, tiles), TW_EINUSE (open in this session), and from the end of the definitions
  !> TW_EDIFFERENT (the file is defined otherwise, and stays as it is). Collective.
  function tw_open(io, path, settings, ierr) result(file)
    type(tw_session), intent(in) :: io
    character(len=*), intent(in) :: path
    character(len=*), intent(in), optional :: settings
    integer(c_int), intent(out), optional :: ierr
    type(tw_file) :: file
    integer(c_int) :: status
    file%session = io%handle
    status = c_open(io%handle, c_text(path), c_settings(settings), file%handle)
    call check(status, io%handle, c_text('tw_open'), ierr)
  end function tw_open

  !> Reads all that tw_get_deferred asked for, in one go through the file. Errors: as tw_get.
  !> Collective.
  subroutine tw_read(file, ierr)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(out), optional :: ierr
    call check(c_read(file%handle), file%session, c_text('tw_read'), ierr)
  end subroutine tw_read

  !> Begins to read behind the caller what tw_get_deferred has asked for so far; the next tw_read
  !> fills the arrays. Errors: TW_EMISMATCH, TW_ENOMEM. Collective.
  subroutine tw_prefetch(file, ierr)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(out), optional :: ierr
    call check(c_prefetch(file%handle), file%session, c_text('tw_prefetch'), ierr)
  end subroutine tw_prefetch

  !> call tw_inq(file [, ndims] [, nvars] [, natts] [, records] [, format] [, ierr]): how many
  !> dimensions, variables, global attributes and records a file has, and its format ('cdf1',
  !> 'cdf2', 'cdf5'). Errors: TW_ESTATE, TW_ECLOSED. Local, as are all inquiries.
  subroutine tw_inq(file, ndims, nvars, natts, records, format, ierr)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(out), optional :: ndims, nvars, natts
    integer(c_int64_t), intent(out), optional :: records
    character(len=:), allocatable, intent(out), optional :: format
    integer(c_int), intent(out), optional :: ierr
    type(c_ptr) :: text
    integer(c_int) :: nd, nv, na, status
    integer(c_int64_t) :: n
    text = c_null_ptr
    nd = 0
    nv = 0
    na = 0
    n = 0
    status = c_inq(file%handle, text, nd, nv, na, n)
    if (present(ndims)) ndims = nd
    if (present(nvars)) nvars = nv
    if (present(natts)) natts = na
    if (present(records)) records = n
    if (present(format)) format = f_text(text)
    call check(status, file%session, c_text('tw_inq'), ierr)
  end subroutine tw_inq

  !> length = tw_inq_dim(file, name [, ierr]): 64-bit length of a dimension, 0 after an error; of
  !> the record dimension the number of records. Errors: TW_ENOTFOUND, TW_ECLOSED. Local.
  function tw_inq_dim(file, name, ierr) result(length)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: name
    integer(c_int), intent(out), optional :: ierr
    integer(c_int64_t) :: length
    integer(c_int) :: status
    length = 0
    status = c_inq_dim(file%handle, c_text(name), length)
    if (status /= TW_OK) length = 0
    call check(status, file%session, c_text('tw_inq_dim'), ierr)
  end function tw_inq_dim

  !> Name of a dimension by its number. Errors: TW_EBOUNDS.
  function tw_inq_dim_name(file, number, ierr) result(name)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(in) :: number
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: name
    type(c_ptr) :: text
    integer(c_int) :: status
    text = c_null_ptr
    status = c_inq_dim_name(file%handle, number - 1, text)
    name = f_text(text)
    call check(status, file%session, c_text('tw_inq_dim_name'), ierr)
  end function tw_inq_dim_name

  !> Name of the record dimension, '' if there is none.
  function tw_inq_unlimited(file, ierr) result(name)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: name
    type(c_ptr) :: text
    integer(c_int) :: status
    text = c_null_ptr
    status = c_inq_unlimited(file%handle, text)
    name = f_text(text)
    call check(status, file%session, c_text('tw_inq_unlimited'), ierr)
  end function tw_inq_unlimited

  !> Name of a variable by its number. Errors: TW_EBOUNDS.
  function tw_inq_var_name(file, number, ierr) result(name)
    type(tw_file), intent(in) :: file
    integer(c_int), intent(in) :: number
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: name
    type(c_ptr) :: text
    integer(c_int) :: status
    text = c_null_ptr
    status = c_inq_var_name(file%handle, number - 1, text)
    name = f_text(text)
    call check(status, file%session, c_text('tw_inq_var_name'), ierr)
  end function tw_inq_var_name

  !> call tw_inq_var(file, var [, type] [, ndims] [, natts] [, ierr]): type (TW_FLOAT, ...), number
  !> of dimensions, the record dimension included, and of attributes. Errors: TW_ENOTFOUND.
  subroutine tw_inq_var(file, var, type, ndims, natts, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: var
    integer(c_int), intent(out), optional :: type, ndims, natts
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: kind, nd, na, status
    kind = 0
    nd = 0
    na = 0
    status = c_inq_var(file%handle, c_text(var), kind, nd, na)
    if (present(type)) type = kind
    if (present(ndims)) ndims = nd
    if (present(natts)) natts = na
    call check(status, file%session, c_text('tw_inq_var'), ierr)
  end subroutine tw_inq_var

  !> call tw_inq_var_dim(file, var, number [, name] [, length] [, ierr]): a variable's dimension,
  !> number 1 being the fastest. Errors: TW_ENOTFOUND, TW_EBOUNDS.
  subroutine tw_inq_var_dim(file, var, number, name, length, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: var
    integer(c_int), intent(in) :: number
    character(len=:), allocatable, intent(out), optional :: name
    integer(c_int64_t), intent(out), optional :: length
    integer(c_int), intent(out), optional :: ierr
    type(c_ptr) :: text
    integer(c_int) :: kind, nd, na, status
    integer(c_int64_t) :: n
    text = c_null_ptr
    n = 0
    kind = 0
    nd = 0
    na = 0
    status = c_inq_var(file%handle, c_text(var), kind, nd, na)
    if (status == TW_OK) status = c_inq_var_dim(file%handle, c_text(var), nd - number, text, n)
    if (present(name)) name = f_text(text)
    if (present(length)) length = n
    call check(status, file%session, c_text('tw_inq_var_dim'), ierr)
  end subroutine tw_inq_var_dim

  !> Name of an attribute of a variable or, with var = '', of the file, by its number. Errors:
  !> TW_ENOTFOUND, TW_EBOUNDS.
  function tw_inq_att_name(file, var, number, ierr) result(name)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: var
    integer(c_int), intent(in) :: number
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: name
    type(c_ptr) :: text
    integer(c_int) :: status
    text = c_null_ptr
    status = c_inq_att_name(file%handle, c_text(var), number - 1, text)
    name = f_text(text)
    call check(status, file%session, c_text('tw_inq_att_name'), ierr)
  end function tw_inq_att_name

  !> call tw_inq_att(file, var, name [, type] [, n] [, ierr]): type and number of values; of a text,
  !> its characters. Errors: TW_ENOTFOUND.
  subroutine tw_inq_att(file, var, name, type, n, ierr)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: var, name
    integer(c_int), intent(out), optional :: type
    integer(c_int64_t), intent(out), optional :: n
    integer(c_int), intent(out), optional :: ierr
    integer(c_int) :: kind, status
    integer(c_int64_t) :: values
    kind = 0
    values = 0
    status = c_inq_att(file%handle, c_text(var), c_text(name), kind, values)
    if (present(type)) type = kind
    if (present(n)) n = values
    call check(status, file%session, c_text('tw_inq_att'), ierr)
  end subroutine tw_inq_att

  !> text = tw_get_att_text(file, var, name [, ierr]): a text attribute of a variable or, with
  !> var = '', of the file; '' after an error. Errors: TW_ENOTFOUND, TW_ETYPE.
  function tw_get_att_text(file, var, name, ierr) result(text)
    type(tw_file), intent(in) :: file
    character(len=*), intent(in) :: var, name
    integer(c_int), intent(out), optional :: ierr
    character(len=:), allocatable :: text
    character(len=:), allocatable :: room
    integer(c_int) :: kind, status
    integer(c_int64_t) :: n
    kind = 0
    n = 0
    text = ''
    status = c_inq_att(file%handle, c_text(var), c_text(name), kind, n)
    if (status == TW_OK) then
      allocate (character(len=n + 1) :: room)
      status = c_get_att_text(file%handle, c_text(var), c_text(name), n + 1, room)
      if (status == TW_OK) text = room(:n)
    end if
    call check(status, file%session, c_text('tw_get_att_text'), ierr)
  end function tw_get_att_text

end module thalweg_reading
