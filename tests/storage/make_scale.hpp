// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <hdf5.h>

#include <cstring>

/// Makes a data set a dimension scale, without using HDF5's high-level library.
inline void make_scale(hid_t set, const char* name) {
    const auto put = [&](const char* attribute, const char* text) {
        const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
        H5Tset_size(type, std::strlen(text) + 1);
        const hid_t a = H5Acreate2(set, attribute, type, space, H5P_DEFAULT, H5P_DEFAULT);
        EXPECT_GE(H5Awrite(a, type, text), 0);
        H5Aclose(a);
        H5Sclose(space);
        H5Tclose(type);
    };
    put("CLASS", "DIMENSION_SCALE");
    put("NAME", name);
}
