// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

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

}  // namespace thalweg::detail
