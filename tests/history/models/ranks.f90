! SPDX-License-Identifier: Apache-2.0
!
!> The begin and the end of the models in Fortran, with or without servers.
module ranks
  use mpi_f08
  use thalweg
  implicit none
  private
  public :: begin_model, end_model, share

contains

  !> Returns the session of a rank of the model. A server ends here, when the model has ended.
  function begin_model() result(io)
    type(tw_session) :: io
    call MPI_Init()
    io = tw_init(MPI_COMM_WORLD)
    if (tw_is_server(io)) then
      call end_model(io)
      stop
    end if
  end function begin_model

  subroutine end_model(io)
    type(tw_session), intent(inout) :: io
    call tw_finalize(io)
    call MPI_Finalize()
  end subroutine end_model

  !> Returns the first and the last of n rows or columns that this rank of the model holds.
  function share(io, n) result(ends)
    type(tw_session), intent(in) :: io
    integer, intent(in) :: n
    integer :: ends(2), rank, ranks
    call MPI_Comm_rank(tw_model_comm(io), rank)
    call MPI_Comm_size(tw_model_comm(io), ranks)
    ends = [1 + rank*n/ranks, (rank + 1)*n/ranks]
  end function share

end module ranks
