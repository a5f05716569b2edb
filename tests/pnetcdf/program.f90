! SPDX-License-Identifier: Apache-2.0
! Writes a file by PnetCDF's Fortran 90 names and reads it.
program program90
    use mpi
    use pnetcdf
    implicit none
    integer :: rank, ranks, code, id, x_dim, y_dim, time_dim, v, w, request(1), status(1)
    integer(MPI_OFFSET_KIND) :: length
    double precision :: values(3, 2), back(3, 2)
    character(80) :: path

    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
    call get_command_argument(1, path)
    call say(nf90mpi_create(MPI_COMM_WORLD, path, NF90_64BIT_DATA, MPI_INFO_NULL, id))
    call say(nf90mpi_def_dim(id, 'x', 3_MPI_OFFSET_KIND, x_dim))
    call say(nf90mpi_def_dim(id, 'y', 2_MPI_OFFSET_KIND * ranks, y_dim))
    call say(nf90mpi_def_dim(id, 'time', NF90MPI_UNLIMITED, time_dim))
    call say(nf90mpi_def_var(id, 'v', NF90_DOUBLE, [x_dim, y_dim, time_dim], v))
    call say(nf90mpi_def_var(id, 'w', NF90_INT64, [x_dim, y_dim], w))
    call say(nf90mpi_put_att(id, v, 'units', 'm s-1'))
    call say(nf90mpi_put_att(id, v, 'scale', [1.5d0, 2.5d0]))
    call say(nf90mpi_enddef(id))
    values = rank
    values(2, 1) = 7
    call say(nf90mpi_put_var_all(id, v, values, start=[1_MPI_OFFSET_KIND, 2_MPI_OFFSET_KIND * rank + 1, &
                                                      2_MPI_OFFSET_KIND], &
                                 count=[3_MPI_OFFSET_KIND, 2_MPI_OFFSET_KIND, 1_MPI_OFFSET_KIND]))
    back = values + 1
    call say(nf90mpi_put_var_all(id, v, back, start=[1_MPI_OFFSET_KIND, 2_MPI_OFFSET_KIND * rank + 1, &
                                                          1_MPI_OFFSET_KIND], &
                                 count=[3_MPI_OFFSET_KIND, 2_MPI_OFFSET_KIND, 1_MPI_OFFSET_KIND]))
    call say(nf90mpi_iput_var(id, w, values, request(1), &
                              start=[1_MPI_OFFSET_KIND, 2_MPI_OFFSET_KIND * rank + 1], &
                              count=[3_MPI_OFFSET_KIND, 2_MPI_OFFSET_KIND]))
    call say(nf90mpi_wait_all(id, 1, request, status))
    call say(request(1))
    call say(nf90mpi_get_var_all(id, v, back, start=[1_MPI_OFFSET_KIND, 2_MPI_OFFSET_KIND * rank + 1, &
                                                    2_MPI_OFFSET_KIND], &
                                 count=[3_MPI_OFFSET_KIND, 2_MPI_OFFSET_KIND, 1_MPI_OFFSET_KIND]))
    call say(int(sum(back)))
    call say(nf90mpi_inquire_dimension(id, time_dim, len=length))
    call say(int(length))
    call say(nf90mpi_close(id))
    call MPI_Finalize(code)

contains

    subroutine say(what)
        integer, intent(in) :: what
        if (rank == 0) print *, what
    end subroutine say
end program program90
