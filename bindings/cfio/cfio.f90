! SPDX-License-Identifier: Apache-2.0
!
!> The interface of CFIO (Huang et al. 2014) for Fortran, implemented with Thalweg: programs written
!> for CFIO compile and run unchanged. docs/cfio.md says what is the same and what differs; cfio.h
!> describes the functions. Here indices start at 1, dimensions are listed fastest first, and
!> variable 0 is the file. The names that the paper's example uses are defined as well.
module cfio
  use, intrinsic :: iso_c_binding, only: c_int, c_char, c_float, c_double
  implicit none
  private

  public :: cfio_init, cfio_finalize, cfio_final, cfio_proc_type, cfio_create, cfio_def_dim
  public :: cfio_put_att_str, cfio_put_att_int, cfio_put_att_real, cfio_put_att_double
  public :: cfio_def_var, cfio_put_att, cfio_enddef, cfio_inq_varid, cfio_put_vara
  public :: cfio_put_vara_real, cfio_put_vara_double, cfio_put_vara_int
  public :: cfio_io_end, cfio_end_io, cfio_close

  integer(c_int), parameter, public :: CFIO_PROC_CLIENT = 1
  integer(c_int), parameter, public :: CFIO_PROC_SERVER = 2
  integer(c_int), parameter, public :: CFIO_PROC_BLANK = 3
  integer(c_int), parameter, public :: CFIO_TYPE_CLIENT = CFIO_PROC_CLIENT
  integer(c_int), parameter, public :: CFIO_TYPE_SERVER = CFIO_PROC_SERVER
  integer(c_int), parameter, public :: CFIO_TYPE_BLANK = CFIO_PROC_BLANK

  integer(c_int), parameter, public :: cfio_byte = 1
  integer(c_int), parameter, public :: cfio_char = 2
  integer(c_int), parameter, public :: cfio_short = 3
  integer(c_int), parameter, public :: cfio_int = 4
  integer(c_int), parameter, public :: cfio_float = 5
  integer(c_int), parameter, public :: cfio_double = 6

  !> Lengths that programs use for their texts and arrays.
  integer, public :: char_len = 128
  integer, public :: array_len = 128

  ! The arguments that receive an id have no intent: the paper's example passes a constant.

  interface
    integer(c_int) function cfio_init(x_proc_num, y_proc_num, ratio) bind(C, name='cfio_init')
      import
      integer(c_int), value :: x_proc_num, y_proc_num, ratio
    end function cfio_init

    !> Returns the role of this rank. The argument is ignored; some programs pass their rank.
    integer(c_int) function cfio_proc_type(rank) bind(C, name='thalweg_cfio_f_proc_type')
      import
      integer(c_int), intent(in), optional :: rank
    end function cfio_proc_type

    integer(c_int) function cfio_create(path, cmode, ncid) bind(C, name='thalweg_cfio_f_create')
      import
      character(kind=c_char, len=*), intent(in) :: path
      integer(c_int), value :: cmode
      integer(c_int) :: ncid
    end function cfio_create

    integer(c_int) function cfio_def_dim(ncid, name, length, dimid) &
        bind(C, name='thalweg_cfio_f_def_dim')
      import
      integer(c_int), value :: ncid, length
      character(kind=c_char, len=*), intent(in) :: name
      integer(c_int) :: dimid
    end function cfio_def_dim

    !> Puts an attribute. values: a text, a number or a contiguous array of numbers: integers of 1,
    !> 2 or 4 bytes, or reals of 4 or 8 bytes.
    integer(c_int) function cfio_put_att(ncid, varid, name, values) &
        bind(C, name='thalweg_cfio_f_put_att')
      import
      integer(c_int), value :: ncid, varid
      character(kind=c_char, len=*), intent(in) :: name
      type(*), contiguous, intent(in) :: values(..)
    end function cfio_put_att

    integer(c_int) function cfio_enddef(ncid) bind(C, name='cfio_enddef')
      import
      integer(c_int), value :: ncid
    end function cfio_enddef

    integer(c_int) function cfio_inq_varid(ncid, name, varid) &
        bind(C, name='thalweg_cfio_f_inq_varid')
      import
      integer(c_int), value :: ncid
      character(kind=c_char, len=*), intent(in) :: name
      integer(c_int) :: varid
    end function cfio_inq_varid

    integer(c_int) function cfio_close(ncid) bind(C, name='cfio_close')
      import
      integer(c_int), value :: ncid
    end function cfio_close
  end interface

  !> Defines a variable. start and count are hints that may be left out; only those of cfio_put_vara
  !> matter.
  interface cfio_def_var
    integer(c_int) function def_var(ncid, name, xtype, ndims, dimids, varid) &
        bind(C, name='thalweg_cfio_f_def_var')
      import
      integer(c_int), value :: ncid, xtype, ndims
      character(kind=c_char, len=*), intent(in) :: name
      integer(c_int), intent(in) :: dimids(..)
      integer(c_int) :: varid
    end function def_var

    integer(c_int) function def_var_hint(ncid, name, xtype, ndims, dimids, start, count, varid) &
        bind(C, name='thalweg_cfio_f_def_var_hint')
      import
      integer(c_int), value :: ncid, xtype, ndims
      character(kind=c_char, len=*), intent(in) :: name
      integer(c_int), intent(in) :: dimids(..), start(..), count(..)
      integer(c_int) :: varid
    end function def_var_hint
  end interface cfio_def_var

  interface cfio_put_vara
    procedure cfio_put_vara_real, cfio_put_vara_double, cfio_put_vara_int
  end interface cfio_put_vara

  interface
    integer(c_int) function put_vara(ncid, varid, ndims, start, count, xtype, values) &
        bind(C, name='thalweg_cfio_f_put_vara')
      import
      integer(c_int), value :: ncid, varid, ndims, xtype
      integer(c_int), intent(in) :: start(*), count(*)
      type(*), intent(in) :: values(*)
    end function put_vara
  end interface

  ! One function has different names in CFIO's code and in its paper.

  interface
    integer(c_int) function cfio_finalize() bind(C, name='cfio_finalize')
      import
    end function cfio_finalize

    integer(c_int) function cfio_final() bind(C, name='cfio_finalize')
      import
    end function cfio_final

    integer(c_int) function cfio_io_end() bind(C, name='cfio_io_end')
      import
    end function cfio_io_end

    integer(c_int) function cfio_end_io() bind(C, name='cfio_io_end')
      import
    end function cfio_end_io
  end interface

contains

  integer(c_int) function cfio_put_vara_real(ncid, varid, ndims, start, count, fp)
    integer(c_int), intent(in) :: ncid, varid, ndims, start(*), count(*)
    real(c_float), intent(in) :: fp(*)
    cfio_put_vara_real = put_vara(ncid, varid, ndims, start, count, cfio_float, fp)
  end function cfio_put_vara_real

  integer(c_int) function cfio_put_vara_double(ncid, varid, ndims, start, count, fp)
    integer(c_int), intent(in) :: ncid, varid, ndims, start(*), count(*)
    real(c_double), intent(in) :: fp(*)
    cfio_put_vara_double = put_vara(ncid, varid, ndims, start, count, cfio_double, fp)
  end function cfio_put_vara_double

  integer(c_int) function cfio_put_vara_int(ncid, varid, ndims, start, count, fp)
    integer(c_int), intent(in) :: ncid, varid, ndims, start(*), count(*), fp(*)
    cfio_put_vara_int = put_vara(ncid, varid, ndims, start, count, cfio_int, fp)
  end function cfio_put_vara_int

  ! CFIO has a procedure for each type of attribute, for example cfio_put_att_int.

  integer(c_int) function cfio_put_att_str(ncid, varid, name, values)
    integer(c_int), intent(in) :: ncid, varid
    character(kind=c_char, len=*), intent(in) :: name, values
    cfio_put_att_str = cfio_put_att(ncid, varid, name, values)
  end function cfio_put_att_str

  integer(c_int) function cfio_put_att_int(ncid, varid, name, values)
    integer(c_int), intent(in) :: ncid, varid, values
    character(kind=c_char, len=*), intent(in) :: name
    cfio_put_att_int = cfio_put_att(ncid, varid, name, values)
  end function cfio_put_att_int

  integer(c_int) function cfio_put_att_real(ncid, varid, name, values)
    integer(c_int), intent(in) :: ncid, varid
    character(kind=c_char, len=*), intent(in) :: name
    real(c_float), intent(in) :: values
    cfio_put_att_real = cfio_put_att(ncid, varid, name, values)
  end function cfio_put_att_real

  integer(c_int) function cfio_put_att_double(ncid, varid, name, values)
    integer(c_int), intent(in) :: ncid, varid
    character(kind=c_char, len=*), intent(in) :: name
    real(c_double), intent(in) :: values
    cfio_put_att_double = cfio_put_att(ncid, varid, name, values)
  end function cfio_put_att_double
end module cfio
