// Handles of HDF5, and shapes of data sets.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <array>

namespace thalweg::detail {

/// A handle of HDF5's and the function that closes it.
class Handle {
public:
    Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    ~Handle() {
        if (id_ >= 0) close_(id_);
    }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    operator hid_t() const { return id_; }

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

using Hdf5Shape = std::array<hsize_t, H5S_MAX_RANK>;

/// Reads the shape of a data set.
/// @param most  receives the largest possible length of each dimension
/// @return the number of dimensions; negative after a failure
inline int shape_of(hid_t set, Hdf5Shape& length, Hdf5Shape* most = nullptr) {
    const Handle space(H5Dget_space(set), H5Sclose);
    return space < 0 ? -1
                     : H5Sget_simple_extent_dims(space, length.data(),
                                                 most == nullptr ? nullptr : most->data());
}

}  // namespace thalweg::detail
