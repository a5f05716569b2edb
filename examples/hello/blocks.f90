! SPDX-License-Identifier: Apache-2.0
!
! Writes blocks that are distributed round-robin, as in sea-ice and ocean models: all blocks of a
! rank are in one array of fixed extents with a halo, and some blocks are smaller than others.
! Writes blocks.nc with T(lon, lat). Run it with: mpirun -n 3 blocks_f90
program blocks_of_ranks
  use mpi_f08
  use thalweg
  implicit none
  integer, parameter :: nx_global = 22, ny_global = 10, block_size = 6, nghost = 1
  integer, parameter :: across = 4, down = 2         ! blocks; the last ones are smaller
  integer, parameter :: nx_block = block_size + 2*nghost, ny_block = nx_block, max_blocks = 8
  type(tw_session) :: io
  type(tw_decomposition) :: cells
  type(tw_file) :: history
  integer :: start(2, max_blocks), count(2, max_blocks)
  real :: T(nx_block, ny_block, max_blocks)
  integer :: rank, ranks, nblocks, i, j, n

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  nblocks = 0
  T = -1
  do n = rank, across*down - 1, ranks
    nblocks = nblocks + 1
    start(:, nblocks) = 1 + block_size*[mod(n, across), n/across]
    count(:, nblocks) = min(block_size, [nx_global, ny_global] - start(:, nblocks) + 1)
    do j = 1, count(2, nblocks)                      ! the model computes
      do i = 1, count(1, nblocks)
        T(i + nghost, j + nghost, nblocks) = start(1, nblocks) + i - 1 + 100*(start(2, nblocks) + j)
      end do
    end do
  end do

  io = tw_init(MPI_COMM_WORLD)
  cells = tw_decompose(io, 'lon lat', shape=[nx_global, ny_global], start=start(:, :nblocks), &
    count=count(:, :nblocks), halo_low=[nghost, nghost], halo_high=[nghost, nghost])
  call tw_pad(cells, [nx_block, ny_block], max_blocks)
  history = tw_create(io, 'blocks.nc')
  call tw_def_var(history, 'T', TW_FLOAT, 'lon lat time', cells)
  call tw_put(history, 'T', T)                       ! whole; or T(2:7, 2:7, :)
  call tw_end_step(history)
  call tw_close(history)
  call tw_finalize(io)
  call MPI_Finalize()
end program blocks_of_ranks
