! SPDX-License-Identifier: Apache-2.0
!
!> Tests components that share a server, with communicators of either kind (mpi_f08 or integer), and
!> with invalid arguments.
program components_test
  use mpi_f08
  use support
  use thalweg
  implicit none

  type(tw_session) :: ios(2), one(1)
  type(tw_file) :: file
#ifdef THALWEG_MPI_F08
  type(MPI_Comm) :: comm, comms(2)
#else
  integer :: comm, comms(2)
#endif
  integer :: part, status, id
  character(*), parameter :: names(2) = ['first.nc ', 'second.nc']

  call begin()
  part = merge(3, merge(1, 2, rank < ranks/2), rank == ranks - 1)
  call MPI_Comm_split(MPI_COMM_WORLD, part, rank, comm)
  comms = MPI_COMM_NULL
  if (part < 3) comms(part) = comm

  call tw_init_components(MPI_COMM_WORLD, comms, part == 3, ios, 'log=off; service=servers')
  call write_file(1)
#ifdef THALWEG_MPI_F08
  call tw_init_components(MPI_COMM_WORLD%MPI_VAL, comms%MPI_VAL, part == 3, ios, 'log=off; service=servers')
#else
  call tw_init_components(MPI_COMM_WORLD, comms, part == 3, ios, 'log=off; service=servers')
#endif
  call write_file(2)

  call tw_init_components(MPI_COMM_WORLD, comms, .false., ios, ierr=status)
  call expect_status(status, TW_EARG, 'no server')
  call tw_init_components(MPI_COMM_WORLD, comms, part == 3, one, ierr=status)
  call expect_status(status, TW_EARG, 'a session too few')
  call tw_init_components(MPI_COMM_WORLD, comms, part == 3, ios, 'servers=1', ierr=status)
  call expect_status(status, TW_ESETTING, 'the setting servers')
  if (part < 3) then
    call expect(index(tw_error_message(ios(part)), 'which ranks serve') > 0, 'the text')
    call tw_finalize(ios(part))
  else
    call tw_finalize(ios(1))
    call tw_finalize(ios(2))
  end if
  call finish()

contains

  !> Writes a file of a component, with one value per record.
  subroutine write_file(records)
    integer, intent(in) :: records
    integer :: i
    if (part == 3) then
      call expect(tw_is_server(ios(1)), 'a server')
      call expect(tw_is_server(ios(2)), 'a server of the second')
      call tw_finalize(ios(1))
      call tw_finalize(ios(2))
    else
      call expect(.not. tw_is_server(ios(part)), 'a rank of a component')
      file = tw_create(ios(part), trim(names(part)))
      call tw_def_dim(file, 'time', TW_UNLIMITED)
      call tw_def_var(file, 'v', TW_INT, 'time')
      do i = 1, records
        call tw_put(file, 'v', 10*part + i)
        call tw_end_step(file)
      end do
      call tw_close(file)
      call tw_finalize(ios(part))
    end if
    call MPI_Barrier(MPI_COMM_WORLD)
    if (rank == 0) then
      do i = 1, 2
        id = reader_open(trim(names(i)))
        call expect(nint(reader_value(id, 'v', [records])) == 10*i + records, 'the last record')
        call reader_close(int(id))
      end do
    end if
  end subroutine write_file
end program components_test
