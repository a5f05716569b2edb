! SPDX-License-Identifier: Apache-2.0
!
!> Thalweg: parallel output of Earth-system model fields in file order. The Fortran interface.
!>
!> Conventions
!> - Dimension names are listed fastest first, in Fortran's array order: 'lon lat lev time'. Shapes,
!>   starts, counts and halos follow the same order. Indices and records start at 1.
!> - Trailing blanks in names, paths and settings are ignored.
!> - Every procedure has an optional last argument ierr, a default integer: TW_OK or one of the
!>   negative codes; tw_error_message returns the full text. Without ierr, an error is printed to
!>   standard error and stops all ranks of the program (MPI_Abort).
!> - A procedure marked "Collective" must be called by every rank of the session's communicator, and
!>   returns the same status on every rank. All others are local: no rank waits for another.
!> - Lengths, counts and indices are 64-bit or default integers.
module thalweg
  use thalweg_base
  use thalweg_session
  use thalweg_decomposition
  use thalweg_writing
  use thalweg_reading
  use thalweg_inquiry
  use thalweg_restart
  use thalweg_history
  implicit none
  public
end module thalweg
