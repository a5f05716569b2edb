// Converts Python's arrays to C's by the buffer protocol: address, type, extents and strides.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>
#include <thalweg/thalweg.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace thalweg::python {

namespace nb = nanobind;

/// Keeps the memory of a Python array valid and in place, whatever the program does with the array.
/// Must be destroyed with the GIL held.
class Held {
public:
    Held() = default;
    /// @throws nb::python_error (BufferError) if the object does not provide such a buffer
    Held(nb::handle object, int flags);

    const Py_buffer* operator->() const { return buffer_.get(); }
    explicit operator bool() const { return buffer_ != nullptr; }

private:
    struct Release {
        void operator()(Py_buffer* buffer) const;
    };
    // allocated on the heap, because a buffer may contain pointers into itself
    std::unique_ptr<Py_buffer, Release> buffer_;
};

/// An array in memory: address of its first element, extents, and byte strides; slowest dimension
/// first.
struct Array {
    Held held;
    tw_type type = TW_BYTE;

    void* data() const { return held->buf; }
    int rank() const { return held->ndim; }
    std::span<const std::int64_t> extent() const { return span(held->shape); }
    std::span<const std::int64_t> stride() const { return span(held->strides); }
    tw_array view() const {
        return tw_strided(type, data(), rank(), extent().data(), stride().data());
    }
    bool contiguous() const { return PyBuffer_IsContiguous(held.operator->(), 'C') != 0; }
    std::int64_t elements() const { return held->itemsize == 0 ? 0 : held->len / held->itemsize; }
    bool writable() const { return held->readonly == 0; }

private:
    std::span<const std::int64_t> span(const Py_ssize_t* values) const {
        static_assert(sizeof(Py_ssize_t) == sizeof(std::int64_t));
        return {reinterpret_cast<const std::int64_t*>(values),
                static_cast<std::size_t>(held->ndim)};
    }
};

enum class Access { read, write };

/// @throws nb::type_error if the elements do not have a netCDF type in the machine's byte order, or
///   if `access` needs to write to a read-only array
Array array_of(nb::handle object, Access access);

}  // namespace thalweg::python
