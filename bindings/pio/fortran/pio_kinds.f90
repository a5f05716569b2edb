! PIO's kinds.
! SPDX-License-Identifier: Apache-2.0
module pio_kinds
  use mpi_f08, only: mpi_offset_kind
  implicit none
  private

  integer, parameter, public :: char_len = 360
  integer, parameter, public :: log_kind = kind(.true.)
  integer, parameter, public :: int_kind = kind(1)
  integer, parameter, public :: i2 = selected_int_kind(4)
  integer, parameter, public :: i4 = selected_int_kind(6)
  integer, parameter, public :: i8 = selected_int_kind(13)
  integer, parameter, public :: r4 = selected_real_kind(6)
  integer, parameter, public :: r8 = selected_real_kind(13)
  integer, parameter, public :: pio_offset_kind = mpi_offset_kind
end module pio_kinds
