! Checks that PIO's modules have the names that models and PIO's own tests use.
! SPDX-License-Identifier: Apache-2.0
module names
  use pio, only: file_desc_t, io_desc_t, iosystem_desc_t, iotype_netcdf, iotype_pnetcdf, &
    pio_64bit_data, pio_64bit_offset, pio_advanceframe, pio_bcast_error, pio_char, pio_chunked, &
    pio_clobber, pio_closefile, pio_compact, pio_contiguous, pio_copy_att, pio_createfile, &
    pio_def_dim, pio_def_var, pio_def_var_bzip2, pio_def_var_chunking, pio_def_var_deflate, &
    pio_def_var_quantize, pio_def_var_szip, pio_def_var_zstandard, pio_default, pio_deletefile, &
    pio_double, pio_enddef, pio_file_is_open, pio_fill, pio_fill_char, pio_fill_double, &
    pio_fill_float, pio_fill_int, pio_finalize, pio_freedecomp, pio_get_att, pio_get_chunk_cache, &
    pio_get_local_array_size
  use pio, only: pio_get_numiotasks, pio_get_var, pio_get_var_chunk_cache, pio_get_version, &
    pio_get_version_hash, pio_get_version_major, pio_get_version_minor, pio_get_version_patch, &
    pio_get_version_string, pio_getnumiotasks, pio_global, pio_iam_iotask, pio_init, &
    pio_initdecomp, pio_initdecomp_readonly, pio_inq_att, pio_inq_attid, pio_inq_attlen, &
    pio_inq_attname, pio_inq_atttype, pio_inq_dimid, pio_inq_dimlen, pio_inq_dimname, &
    pio_inq_filter_avail, pio_inq_natts, pio_inq_ndims, pio_inq_nvars, pio_inq_unlimdim, &
    pio_inq_var_chunking, pio_inq_var_deflate, pio_inq_var_fill, pio_inq_var_quantize, &
    pio_inq_vardimid, pio_inq_varid, pio_inq_varname, pio_inq_varnatts, pio_inq_varndims, &
    pio_inq_vartype, pio_inquire, pio_inquire_dimension
  use pio, only: pio_inquire_variable, pio_int, pio_internal_error, pio_iosystem_is_active, &
    pio_iotask_rank, pio_iotype_adios, pio_iotype_adiosc, pio_iotype_available, pio_iotype_hdf5, &
    pio_iotype_hdf5c, pio_iotype_netcdf, pio_iotype_netcdf4c, pio_iotype_netcdf4p, &
    pio_iotype_netcdf4p_nczarr, pio_iotype_pnetcdf, pio_max_name, pio_max_var_dims, &
    pio_noclobber, pio_noerr, pio_nofill, pio_nowrite, pio_offset_kind, pio_openfile, &
    pio_put_att, pio_put_var, pio_read_darray, pio_read_nc_dof, pio_readdof, pio_real, &
    pio_rearr_any, &
    pio_rearr_box, pio_rearr_comm_coll, pio_rearr_comm_fc_1d_comp2io, &
    pio_rearr_comm_fc_1d_io2comp, pio_rearr_comm_fc_2d_disable, pio_rearr_comm_fc_2d_enable, &
    pio_rearr_comm_fc_opt_t, pio_rearr_comm_p2p, pio_rearr_comm_unlimited_pend_req, &
    pio_rearr_contig, pio_rearr_opt_t
  use pio, only: pio_rearr_subset, pio_redef, pio_reduce_error, pio_return_error, &
    pio_set_blocksize, pio_set_buffer_size_limit, pio_set_chunk_cache, pio_set_fill, &
    pio_set_hint, pio_set_log_level, pio_set_rearr_opts, pio_set_var_chunk_cache, &
    pio_setdebuglevel, pio_seterrorhandling, pio_setframe, pio_short, pio_strerror, pio_syncfile, &
    pio_unlimited, pio_write, pio_write_darray, pio_write_nc_dof, pio_writedof, var_desc_t
  use pio_nf, only: chunking => pio_def_var_chunking                ! CICE
  use pio_types, only: types_system => iosystem_desc_t              ! CAM, HOMME
  use pio_kinds, only: i4, i8, r4, r8                               ! MPAS, WRF
  use pio_nf_utils, only: copy_pio_var                              ! HOMME
  use pio_support, only: piodie, checkmpireturn, replace_c_null
  use piolib_mod, only: lib_init => pio_init                        ! MPAS
  use pionfatt_mod, only: put_att, get_att                          ! MPAS
  use pionfput_mod, only: put_var
  use pionfget_mod, only: get_var
  use piodarray, only: darray_write => pio_write_darray
  implicit none
end module names

! Imports the inner modules completely, as MPAS does: no name may be ambiguous.
module all_names
  use pio
  use piolib_mod
  use pionfatt_mod
  use pio_types
  implicit none
end module all_names
