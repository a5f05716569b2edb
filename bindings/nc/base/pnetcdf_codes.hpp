// PnetCDF's codes that netCDF does not have.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace thalweg::nc::pnetcdf_codes {

enum {
    not_independent = -202,
    is_independent = -203,
    bad_file = -204,
    write_failed = -206,
    several_types = -208,
    sizes_differ = -209,
    negative_count = -210,
    unsupported_type = -211,
    bad_request = -212,
    not_supported = -214,
    no_buffer_size = -215,
    buffer_attached = -216,
    no_buffer = -217,
    buffer_in_use = -218,
    buffer_too_small = -219,
    no_file = -220,
    overflows_int = -221,
    no_space = -224,
    over_quota = -225,
    no_start = -226,
    other_file_type = -230,
    strict_cdf2 = -232,
    no_record_variable = -233,
    not_filled = -234,
    requests_pending = -236,
    different_calls = -250,
    other_dimensions = -252,
    other_dimension_length = -253,
    other_dimension_name = -254,
    other_variables = -255,
    other_variable_name = -256,
    other_variable_rank = -257,
    other_variable_dimensions = -258,
    other_variable_type = -259,
};

}  // namespace thalweg::nc::pnetcdf_codes
