! SPDX-License-Identifier: Apache-2.0
! A Fortran program that calls functions of netCDF-C through bindings, and netCDF-Fortran's
! functions for parallel files.
program fortran
   use, intrinsic :: iso_c_binding
   implicit none
   interface
      integer(c_int) function nc_create(path, mode, id) bind(c)
         import
         character(kind=c_char), intent(in) :: path(*)
         integer(c_int), value :: mode
         integer(c_int), intent(out) :: id
      end function
      integer(c_int) function nc_def_dim(id, name, length, dimension) bind(c)
         import
         integer(c_int), value :: id
         character(kind=c_char), intent(in) :: name(*)
         integer(c_size_t), value :: length
         integer(c_int), intent(out) :: dimension
      end function
      integer(c_int) function nc_def_var(id, name, type, count, dimensions, variable) bind(c)
         import
         integer(c_int), value :: id, type, count
         character(kind=c_char), intent(in) :: name(*)
         integer(c_int), intent(in) :: dimensions(*)
         integer(c_int), intent(out) :: variable
      end function
      integer(c_int) function nc_def_var_chunking_ints(id, variable, storage, sizes) bind(c)
         import
         integer(c_int), value :: id, variable, storage
         integer(c_int), intent(in) :: sizes(*)
      end function
      integer(c_int) function nc_inq_var_chunking_ints(id, variable, storage, sizes) bind(c)
         import
         integer(c_int), value :: id, variable
         integer(c_int), intent(out) :: storage, sizes(*)
      end function
      integer(c_int) function nc_set_var_chunk_cache_ints(id, variable, size, slots, preemption) &
         bind(c)
         import
         integer(c_int), value :: id, variable, size, slots, preemption
      end function
      integer(c_int) function nc_get_var_chunk_cache_ints(id, variable, size, slots, preemption) &
         bind(c)
         import
         integer(c_int), value :: id, variable
         integer(c_int), intent(out) :: size, slots, preemption
      end function
      integer(c_int) function nc_close(id) bind(c)
         import
         integer(c_int), value :: id
      end function
   end interface
   integer, external :: nf_create_par, nf_open_par, nf_var_par_access
   integer(c_int) :: id, n, v, storage, sizes(1), size, slots, preemption

   print *, 'create', nc_create('fortran.nc'//c_null_char, 4096_c_int, id)
   print *, 'dimension', nc_def_dim(id, 'n'//c_null_char, 8_c_size_t, n)
   print *, 'variable', nc_def_var(id, 'v'//c_null_char, 5_c_int, 1_c_int, [n], v)
   print *, 'chunks', nc_def_var_chunking_ints(id, v, 0_c_int, [4_c_int])
   print *, 'asked', nc_inq_var_chunking_ints(id, v, storage, sizes), storage, sizes
   print *, 'cache', nc_set_var_chunk_cache_ints(id, v, 2_c_int, 101_c_int, 50_c_int)
   print *, 'asked', nc_get_var_chunk_cache_ints(id, v, size, slots, preemption), size, slots, &
      preemption
   print *, 'close', nc_close(id)
   print *, 'parallel', nf_create_par('shared.nc  ', 4096, 0, 0, id)
   print *, 'open', nf_open_par('fortran.nc  ', 0, 0, 0, id)
   print *, 'access', nf_var_par_access(0, 1, 1)
end program
