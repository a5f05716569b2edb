! SPDX-License-Identifier: Apache-2.0
!
!> Checks that the Fortran module has all constants of thalweg.h, with the same values.
program constants
  use, intrinsic :: iso_c_binding, only: c_null_char
  use support
  use thalweg
  implicit none
  integer :: codes = 0, types = 0

  call begin()
  call code('TW_OK', TW_OK)
  call code('TW_EHANDLE', TW_EHANDLE)
  call code('TW_EARG', TW_EARG)
  call code('TW_ENOTFOUND', TW_ENOTFOUND)
  call code('TW_EEXISTS', TW_EEXISTS)
  call code('TW_ESHAPE', TW_ESHAPE)
  call code('TW_EBOUNDS', TW_EBOUNDS)
  call code('TW_EOVERLAP', TW_EOVERLAP)
  call code('TW_ETYPE', TW_ETYPE)
  call code('TW_ERANGE', TW_ERANGE)
  call code('TW_ESTATE', TW_ESTATE)
  call code('TW_EMISMATCH', TW_EMISMATCH)
  call code('TW_EMISSING', TW_EMISSING)
  call code('TW_EFORMAT', TW_EFORMAT)
  call code('TW_EIO', TW_EIO)
  call code('TW_EINUSE', TW_EINUSE)
  call code('TW_ESETTING', TW_ESETTING)
  call code('TW_ECLOSED', TW_ECLOSED)
  call code('TW_ENOMEM', TW_ENOMEM)
  call code('TW_EMPI', TW_EMPI)
  call code('TW_ENETCDF', TW_ENETCDF)
  call code('TW_EUNSUPPORTED', TW_EUNSUPPORTED)
  call code('TW_EINTERNAL', TW_EINTERNAL)
  call code('TW_ECHECKSUM', TW_ECHECKSUM)
  call code('TW_EDIFFERENT', TW_EDIFFERENT)
  call code('TW_ECANCELED', TW_ECANCELED)
  call expect_status(codes, code_count(), 'number of status codes')

  call type('TW_BYTE', TW_BYTE)
  call type('TW_CHAR', TW_CHAR)
  call type('TW_SHORT', TW_SHORT)
  call type('TW_INT', TW_INT)
  call type('TW_FLOAT', TW_FLOAT)
  call type('TW_DOUBLE', TW_DOUBLE)
  call type('TW_UBYTE', TW_UBYTE)
  call type('TW_USHORT', TW_USHORT)
  call type('TW_UINT', TW_UINT)
  call type('TW_INT64', TW_INT64)
  call type('TW_UINT64', TW_UINT64)
  call expect_status(types, type_count(), 'number of types')
  call expect_status(TW_MODEL, model_role(), 'TW_MODEL')
  call expect_status(TW_SERVER, server_role(), 'TW_SERVER')
  call finish()

contains

  subroutine code(name, value)
    character(len=*), intent(in) :: name
    integer, intent(in) :: value
    integer :: in_c
    in_c = -huge(in_c)
    call expect(find_code(name//c_null_char, in_c) == 1, name//' is in thalweg.h')
    call expect_status(value, in_c, name)
    call expect(index(tw_strerror(value), name//': ') == 1, 'text of '//name)
    codes = codes + 1
  end subroutine code

  subroutine type(name, value)
    character(len=*), intent(in) :: name
    integer, intent(in) :: value
    integer :: in_c
    in_c = -huge(in_c)
    call expect(find_type(name//c_null_char, in_c) == 1, name//' is in thalweg.h')
    call expect_status(value, in_c, name)
    types = types + 1
  end subroutine type

end program constants
