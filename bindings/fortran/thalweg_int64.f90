! SPDX-License-Identifier: Apache-2.0
!
!> The procedures of template/integers.f90 with integers of 8 bytes. Internal.
module thalweg_int64
  use, intrinsic :: iso_c_binding
  use thalweg_base, only: tw_session, tw_decomposition, tw_file, TW_ESHAPE
  use thalweg_c, only: check, c_text, most_dims, name_count, reversed
  implicit none
  public
  integer, parameter, private :: kind_of_indices = c_int64_t
  include 'template/integers.f90'
end module thalweg_int64
