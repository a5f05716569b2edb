! SPDX-License-Identifier: Apache-2.0
!
!> Layered shallow water in a beta-plane channel, written to one netCDF file.
!>
!>   mpirun -n 4 shallow_water [namelist file]
!>
!> Without an argument it reads shallow_water.nml from the current folder, if there is one. The file
!> shallow_water.nml beside this one lists all names of the namelist with their defaults.
!> With THALWEG_SERVICE=servers THALWEG_SERVERS=1 in the environment, or the same in the namelist's
!> settings, one of the ranks writes and the model runs on the others.
!> With restart_every it writes restarts, and with restart_from it continues from one, on any number
!> of ranks, with bit-identical results. With stream_file = 'history.toml' it also writes means and
!> other statistics, as that file asks for them.
!> Exit status: 0, or 1 if the model failed or, with check = .true., lost mass.
program shallow_water
  use, intrinsic :: iso_fortran_env, only: error_unit, output_unit, real64
  use mpi_f08
  use thalweg
  use halo, only: patch_t, make_patch
  use model, only: model_t, parameters_t, initialize, longest_step, advance, total_mass, healthy
  use history, only: history_t, open_history, write_history, close_history
  use restart, only: restart_t, open_restart, write_restart, read_restart
  use streams, only: streams_t, open_streams, send_streams, load_streams, &
    close_streams
  implicit none

  integer :: nx = 128, ny = 80, layers = 8
  integer :: steps = 4800, interval = 120
  integer :: layer_ranks = 1, restart_every = 0
  real(real64) :: dx = 10e3_real64, dt = 720, jet_speed = 0.5_real64
  character(len=1024) :: output = 'history.nc', method = 'auto', settings = ''
  character(len=1024) :: restart_file = 'restart.nc', restart_from = '', stream_file = ''
  logical :: progress = .true., summary = .true., check = .false.

  type(tw_session) :: io
  type(MPI_Comm) :: comm
  type(patch_t) :: patch
  type(model_t), target :: state
  type(history_t) :: file
  type(restart_t) :: saved
  type(streams_t) :: means
  real(real64) :: mass, drift, begin, total
  real(real64) :: output_seconds = 0
  character(len=80) :: trouble
  integer :: step, first
  logical :: ok

  call MPI_Init()
  comm = MPI_COMM_WORLD
  call read_namelist()
  io = tw_init(MPI_COMM_WORLD, 'method='//trim(method)//';'//trim(settings))
  if (tw_is_server(io)) then                         ! the server wrote while the model ran
    call tw_finalize(io)
    call MPI_Finalize()
    stop
  end if
  comm = tw_model_comm(io)                           ! all ranks but the servers
  call make_patch(comm, nx, layers, ny, layer_ranks, patch, trouble)
  if (trouble /= '') call fail(trim(trouble))
  call initialize(state, patch, parameters_t(dx=dx, dt=dt, jet_speed=jet_speed))
  if (dt > longest_step(state)) then
    write (trouble, '(a,f0.1,a)') 'dt is too long for these layers and cells: at most ', &
      longest_step(state), ' s'
    call fail(trim(trouble))
  end if
  call open_restart(saved, io, patch)
  if (restart_from /= '') call read_restart(saved, patch, state, trim(restart_from), trouble)
  if (trouble /= '') call fail(trim(trouble))
  first = state%step
  mass = total_mass(state, patch)
  begin = MPI_Wtime()
  if (output /= '') call open_history(file, io, patch, state, trim(output))
  if (stream_file /= '') call open_streams(means, io, patch, state, trim(stream_file))
  if (stream_file /= '' .and. restart_from /= '') call load_streams(means, io, trim(restart_from))
  output_seconds = MPI_Wtime() - begin

  ok = .true.
  do step = first, steps
    if (step > first) call advance(state, patch)
    if (step > first .and. stream_file /= '') call send_streams(means, patch, state)
    if (mod(step, interval) == 0) then
      ok = healthy(state, patch)
      if (.not. ok) exit
      call write_record()
      call show_progress()
    end if
    if (step > first) call save_state()
  end do

  call finish_output()
  total = slowest(MPI_Wtime() - begin)
  output_seconds = slowest(output_seconds)
  drift = (total_mass(state, patch) - mass)/mass
  if (patch%rank == 0) then
    write (output_unit, '(a,es9.2,a,i0,a)') 'mass: relative drift ', drift, ' after ', state%step, &
      ' steps'
    write (output_unit, '(2(a,f0.6),a)') 'time: ', total, ' s, of them ', output_seconds, &
      ' s in output'
    if (output /= '') write (output_unit, '(2a)') 'history: ', trim(output)
  end if
  if (.not. ok) call fail('the flow has become unstable: try a shorter dt or a slower jet')
  if (check .and. .not. abs(drift) <= 1e-12_real64) call fail('mass is not conserved')
  call tw_finalize(io)
  call MPI_Finalize()

contains

  !> Reads the namelist. Every rank reads it for itself, as it has only a few lines.
  subroutine read_namelist()
    namelist /shallow_water_nml/ nx, ny, layers, dx, dt, steps, interval, jet_speed, layer_ranks, &
      output, method, settings, progress, summary, check, restart_every, restart_file, &
      restart_from, stream_file
    character(len=1024) :: path, message
    integer :: unit, status
    logical :: there
    path = 'shallow_water.nml'
    if (command_argument_count() > 0) call get_command_argument(1, path)
    inquire (file=path, exist=there)
    if (.not. there .and. command_argument_count() == 0) return
    open (newunit=unit, file=path, status='old', action='read', iostat=status, iomsg=message)
    if (status == 0) read (unit, nml=shallow_water_nml, iostat=status, iomsg=message)
    if (status /= 0) call fail(trim(path)//': '//trim(message))
    if (dx <= 0 .or. dt <= 0) call fail('dx and dt have to be positive')
    if (steps < 0 .or. interval < 1) call fail('steps has to be 0 or more, interval 1 or more')
    if (restart_every < 0) call fail('restart_every has to be 0 or more')
    close (unit)
  end subroutine read_namelist

  subroutine write_record()
    real(real64) :: start
    if (output == '') return
    start = MPI_Wtime()
    call write_history(file, patch, state)
    output_seconds = output_seconds + (MPI_Wtime() - start)
  end subroutine write_record

  subroutine save_state()
    real(real64) :: start
    if (restart_every == 0) return
    if (mod(step, restart_every) /= 0) return
    start = MPI_Wtime()
    if (stream_file /= '') then
      call write_restart(saved, patch, state, trim(restart_file), means)
    else
      call write_restart(saved, patch, state, trim(restart_file))
    end if
    output_seconds = output_seconds + (MPI_Wtime() - start)
  end subroutine save_state

  subroutine finish_output()
    real(real64) :: start
    character(len=:), allocatable :: table
    if (stream_file /= '') call close_streams(means)
    if (output == '') return
    start = MPI_Wtime()
    call close_history(file)
    output_seconds = output_seconds + (MPI_Wtime() - start)
    if (.not. summary) return
    table = tw_summary(io, TW_SUMMARY_TABLE)
    if (patch%rank == 0) write (*, '(a)') table
  end subroutine finish_output

  !> Returns the largest of the ranks' numbers, on rank 0.
  real(real64) function slowest(seconds)
    real(real64), intent(in) :: seconds
    slowest = seconds
    call MPI_Reduce(seconds, slowest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, patch%comm)
  end function slowest

  !> Prints the reason on rank 0 and ends the program with exit status 1. Collective over comm.
  subroutine fail(reason)
    character(len=*), intent(in) :: reason
    integer :: rank
    call MPI_Comm_rank(comm, rank)
    if (rank == 0) write (error_unit, '(2a)') 'shallow_water: ', reason
    flush (error_unit)
    flush (output_unit)
    if (comm /= MPI_COMM_WORLD) call tw_finalize(io)
    call MPI_Finalize()
    stop 1, quiet=.true.
  end subroutine fail

  !> Shows the progress in one line, which is overwritten.
  subroutine show_progress()
    integer, parameter :: width = 30
    integer :: done
    if (.not. progress .or. patch%rank /= 0) return
    done = width
    if (steps > 0) done = nint(width*real(step, real64)/steps)
    write (output_unit, '(a,"day ",f6.1,"  [",2a,"]  record ",i0,f8.1," s")', advance='no') &
      achar(13), step*dt/86400, repeat('#', done), repeat('.', width - done), step/interval + 1, &
      MPI_Wtime() - begin
    if (step + interval > steps) write (output_unit, '(a)') ''
    flush (output_unit)
  end subroutine show_progress

end program shallow_water
