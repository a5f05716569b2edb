! SPDX-License-Identifier: Apache-2.0
!
!> Features of CFIO that Fortran programs rely on: indices from 1, dimensions fastest first,
!> variable 0 for the file, ids that start at 1, and the forms of the calls. On 4 clients, 1 server
!> and any further ranks.
program quirks
  use support, only: begin, finish, expect, expect_status, expect_attribute, &
    expect_text_attribute, reader_open, reader_value, reader_close, rank
  use cfio
  implicit none
  integer, parameter :: nx = 6, ny = 4, nz = 3

  call begin()
  call expect_status(cfio_init(2, 2, 4), 0, 'cfio_init')
  call expect_status(cfio_proc_type(), merge(CFIO_PROC_CLIENT, merge(CFIO_PROC_SERVER, &
    CFIO_PROC_BLANK, rank == 4), rank < 4), 'cfio_proc_type')
  call expect(cfio_proc_type(rank) == cfio_proc_type(), 'cfio_proc_type with a rank')
  if (cfio_proc_type() == CFIO_PROC_CLIENT) then
    call write_file()
    call check_errors()
  end if
  call expect_status(cfio_final(), merge(0, -401, cfio_proc_type() == CFIO_PROC_BLANK), &
    'cfio_final')
  if (rank == 0) call check_file('quirks_f90.nc')
  call finish()

contains

  subroutine write_file()
    integer :: nc, dims(3), t, s, u, k, scalar, id, start(3), count(3), i, j
    real :: a(nx/2, ny/2, nz)
    double precision :: whole(nx)
    integer :: b(nx, ny)
    character(len=20) :: name

    name = 'quirks_f90.nc'
    call expect_status(cfio_create(name, 0, nc), 0, 'cfio_create')
    call expect_status(cfio_def_dim(nc, 'x', nx, dims(1)), 0, 'cfio_def_dim x')
    call expect_status(cfio_def_dim(nc, 'y   ', ny, dims(2)), 0, 'cfio_def_dim y')
    call expect_status(cfio_def_dim(nc, 'z', 0, dims(3)), 0, 'cfio_def_dim z')
    call expect(nc == 1 .and. all(dims == [1, 2, 3]), 'ids start at 1')

    start = [mod(rank, 2)*nx/2 + 1, rank/2*ny/2 + 1, 1]
    count = shape(a)
    call expect_status(cfio_def_var(nc, 't', cfio_float, 3, dims, start, count, t), 0, 'def t')
    call expect_status(cfio_def_var(nc, 's', cfio_short, 2, dims, s), 0, 'def s')
    call expect_status(cfio_def_var(nc, 'u', cfio_double, 1, dims(1), start(1), count(1), u), 0, &
      'def u, elements of arrays')
    call expect_status(cfio_def_var(nc, 'k', cfio_int, 2, dims(2:3), k), 0, 'def k')
    call expect_status(cfio_def_var(nc, 'scalar', cfio_double, 0, dims, scalar), 0, 'def scalar')
    call expect_status(cfio_def_var(nc, 't', cfio_int, 1, dims, id), 0, 'def t again')
    call expect(all([t, s, u, k, scalar, id] == [1, 2, 3, 4, 5, 1]), 'ids of variables')
    call expect_status(cfio_inq_varid(nc, 'k', id), 0, 'cfio_inq_varid')
    call expect(id == k, 'cfio_inq_varid')
    call expect_status(cfio_inq_varid(nc, 'no such', id), -401, 'cfio_inq_varid')

    call expect_status(cfio_put_att(nc, 0, 'title', 'a title '), 0, 'text')
    call expect_status(cfio_put_att(nc, t, 'units', 'K'), 0, 'units')
    call expect_status(cfio_put_att(nc, t, 'int', 1), 0, 'int')
    call expect_status(cfio_put_att(nc, t, 'int', 3), 0, 'int again')
    call expect_status(cfio_put_att(nc, t, 'real', 0.5), 0, 'real')
    call expect_status(cfio_put_att(nc, 0, 'double', 0.1d0), 0, 'double')
    call expect_status(cfio_put_att(nc, 0, 'short', int([-7, 300], 2)), 0, 'short')
    call expect_status(cfio_put_att(nc, 0, 'byte', int(-7, 1)), 0, 'byte')
    call expect_status(cfio_put_att(nc, 0, 'every second', dims(1:3:2)), 0, 'a section')
    call expect(char_len == 128 .and. array_len == 128, 'char_len, array_len')
    call expect_status(cfio_put_att_str(nc, 0, 'str', name(:6)), 0, 'cfio_put_att_str')
    call expect_status(cfio_put_att_int(nc, t, 'own int', 7), 0, 'cfio_put_att_int')
    call expect_status(cfio_put_att_real(nc, t, 'own real', 0.25), 0, 'cfio_put_att_real')
    call expect_status(cfio_put_att_double(nc, t, 'own double', 0.2d0), 0, 'cfio_put_att_double')
    call expect_status(cfio_enddef(nc), 0, 'cfio_enddef')

    a = reshape([(((value(start(1) + i, start(2) + j, id), i=0, count(1) - 1), &
      j=0, count(2) - 1), id=1, nz)], shape(a))
    call expect_status(cfio_put_vara_real(nc, t, 3, start, count, a), 0, 'put t')
    b = reshape([((nint(value(i, j, 0)), i=1, nx), j=1, ny)], shape(b))
    call expect_status(cfio_put_vara_int(nc, s, 2, [1, 1], [nx, ny], b), 0, 'put s')
    whole = [(value(i, 0, 0), i=1, nx)]
    call expect_status(cfio_put_vara(nc, u, 1, [1], [nx], whole), 0, 'put u')
    call expect_status(cfio_put_vara(nc, k, 2, [1, 2], [ny, 1], b(1, :)), 0, 'put k, a section')
    call expect_status(cfio_put_vara_double(nc, scalar, 0, [0], [0], [2.5d0]), 0, 'put scalar')
    call expect_status(cfio_io_end(), 0, 'cfio_io_end')
    call expect_status(cfio_close(nc), 0, 'cfio_close')
    call expect_status(cfio_end_io(), 0, 'cfio_end_io')
  end subroutine write_file

  pure real function value(i, j, k)
    integer, intent(in) :: i, j, k
    value = real(i + 10*j + 100*k)
  end function value

  subroutine check_file(name)
    character(len=*), intent(in) :: name
    integer :: file, i, j, k
    file = reader_open(trim(name))
    do k = 1, nz
      do j = 1, ny
        do i = 1, nx
          call expect(nint(reader_value(file, 't', [i, j, k])) == nint(value(i, j, k)), 't')
          call expect(nint(reader_value(file, 's', [i, j])) == nint(value(i, j, 0)), 's')
          call expect(nint(reader_value(file, 'u', [i])) == nint(value(i, 0, 0)), 'u')
        end do
        if (k == 2) call expect(nint(reader_value(file, 'k', [j, k])) == nint(value(1, j, 0)), 'k')
      end do
    end do
    call expect(abs(reader_value(file, 'scalar', [integer ::]) - 2.5) <= 0, 'scalar')
    call expect_text_attribute(file, '', 'title', 8)
    call expect_text_attribute(file, 't', 'units', 1)
    call expect_attribute(file, 't', 'int', cfio_int, [3d0])
    call expect_attribute(file, 't', 'real', cfio_float, [0.5d0])
    call expect_attribute(file, '', 'double', cfio_double, [0.1d0])
    call expect_attribute(file, '', 'short', cfio_short, [-7d0, 300d0])
    call expect_attribute(file, '', 'byte', cfio_byte, [-7d0])
    call expect_attribute(file, '', 'every second', cfio_int, [1d0, 3d0])
    call expect_text_attribute(file, '', 'str', 6)
    call expect_attribute(file, 't', 'own int', cfio_int, [7d0])
    call expect_attribute(file, 't', 'own real', cfio_float, [0.25d0])
    call expect_attribute(file, 't', 'own double', cfio_double, [0.2d0])
    call reader_close(file)
  end subroutine check_file

  !> Tests invalid ids and indices, as Fortran counts them.
  subroutine check_errors()
    integer :: nc, dim, var
    call expect_status(cfio_create('errors_f90.nc', 0, nc), 0, 'cfio_create')
    call expect_status(cfio_def_dim(nc, 'x', nx, dim), 0, 'cfio_def_dim')
    call expect_status(cfio_def_var(nc, 'v', cfio_float, 1, [dim], var), 0, 'cfio_def_var')
    call expect_status(cfio_enddef(nc), 0, 'cfio_enddef')
    call expect_status(cfio_put_vara_real(nc, 0, 1, [1], [1], [1.]), -401, 'variable 0')
    call expect_status(cfio_put_vara_real(nc, var, 1, [0], [1], [1.]), -400, 'start 0')
    call expect_status(cfio_put_vara_real(nc, var, 1, [nx + 1], [1], [1.]), -400, 'start nx + 1')
    call expect_status(cfio_put_vara_real(nc, var, 1, [1], [-1], [1.]), -400, 'count -1')
    call expect_status(cfio_put_vara_real(nc, var, 2, [1, 1], [1, 1], [1.]), -500, 'dimensions')
    call expect_status(cfio_put_att(nc, -1, 'a', 1), -401, 'attribute of variable -1')
    call expect_status(cfio_close(nc), -401, 'cfio_close')
    call expect_status(cfio_close(nc), -401, 'cfio_close again')
  end subroutine check_errors
end program quirks
