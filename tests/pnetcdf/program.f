! SPDX-License-Identifier: Apache-2.0
! Writes a file by PnetCDF's Fortran 77 names and reads it.
      program program77
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer rank, ranks, code, id, dims(2), v, w, i
      integer request(2), status(2), k
      integer*8 start(2), n(2), length
      real x(12), y(12)
      character*80 path

      call MPI_Init(code)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
      call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
      call get_command_argument(1, path)
      call say(nfmpi_create(MPI_COMM_WORLD, path, NF_CLOBBER,
     &                      MPI_INFO_NULL, id), rank)
      length = 4 * ranks
      call say(nfmpi_def_dim(id, 'x', length, dims(1)), rank)
      length = NFMPI_UNLIMITED
      call say(nfmpi_def_dim(id, 'time', length, dims(2)), rank)
      call say(nfmpi_def_var(id, 'v', NF_REAL, 2, dims, v), rank)
      call say(nfmpi_def_var(id, 'w', NF_INT, 1, dims, w), rank)
      length = 5
      call say(nfmpi_put_att_text(id, NF_GLOBAL, 'title', length,
     &                            'hello'), rank)
      call say(nfmpi_enddef(id), rank)
      do i = 1, 12
         x(i) = 100 * rank + i
      end do
      start(1) = 4 * rank + 1
      start(2) = 1
      n(1) = 4
      n(2) = 3
      call say(nfmpi_put_vara_real_all(id, v, start, n, x), rank)
      call say(nfmpi_iput_vara_real(id, w, start, n, x, request(1)),
     &         rank)
      start(2) = 2
      n(2) = 1
      call say(nfmpi_iput_vara_real(id, v, start, n, x, request(2)),
     &         rank)
      call say(nfmpi_wait_all(id, 2, request, status), rank)
      call say(status(2), rank)
      start(2) = 1
      n(2) = 3
      call say(nfmpi_get_vara_real_all(id, v, start, n, y), rank)
      call say(int(sum(y)), rank)
      call say(nfmpi_inq_nreqs(id, k), rank)
      call say(k, rank)
      call say(nfmpi_begin_indep_data(id), rank)
      call say(nfmpi_put_vara_real(id, v, start, n, x), rank)
      call say(nfmpi_end_indep_data(id), rank)
      call say(nfmpi_inq_dimlen(id, dims(2), length), rank)
      call say(int(length), rank)
      call say(nfmpi_close(id), rank)
      call MPI_Finalize(code)
      end

      subroutine say(code, rank)
      integer code, rank
      if (rank .eq. 0) print *, code
      end
