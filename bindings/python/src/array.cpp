// SPDX-License-Identifier: Apache-2.0
#include "array.hpp"

#include <string>
#include <string_view>

namespace thalweg::python {

Held::Held(nb::handle object, int flags) {
    auto buffer = std::make_unique<Py_buffer>();
    if (PyObject_GetBuffer(object.ptr(), buffer.get(), flags) != 0) throw nb::python_error();
    buffer_.reset(buffer.release());
}

void Held::Release::operator()(Py_buffer* buffer) const {
    PyBuffer_Release(buffer);
    delete buffer;
}

namespace {

tw_type integer(Py_ssize_t size, bool is_signed) {
    switch (size) {
        case 1: return is_signed ? TW_BYTE : TW_UBYTE;
        case 2: return is_signed ? TW_SHORT : TW_USHORT;
        case 4: return is_signed ? TW_INT : TW_UINT;
        default: return is_signed ? TW_INT64 : TW_UINT64;
    }
}

/// Returns the netCDF type of a buffer; 0 if its format is neither a number nor a single character.
int type_of(const Py_buffer& buffer) {
    std::string_view format = buffer.format == nullptr ? "B" : buffer.format;
    if (!format.empty() &&
        (format.front() == '@' || format.front() == '=' || format.front() == '<'))
        format.remove_prefix(1);  // '<' means little-endian, which is this machine's order
    if (format == "1s" || format == "c" || (format == "s" && buffer.itemsize == 1)) return TW_CHAR;
    if (format.size() != 1) return 0;
    switch (format.front()) {
        case 'b':
        case 'h':
        case 'i':
        case 'l':
        case 'q':
        case 'n': return integer(buffer.itemsize, true);
        case 'B':
        case 'H':
        case 'I':
        case 'L':
        case 'Q':
        case 'N': return integer(buffer.itemsize, false);
        case '?': return TW_BYTE;
        case 'f': return TW_FLOAT;
        case 'd': return TW_DOUBLE;
        default: return 0;
    }
}

}  // namespace

Array array_of(nb::handle object, Access access) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
    Array array{
        Held(object, PyBUF_STRIDES | PyBUF_FORMAT | (access == Access::write ? PyBUF_WRITABLE : 0)),
        TW_BYTE};
    const int type = type_of(*array.held.operator->());
    if (type == 0) {
        const char* format = array.held->format;
        throw nb::type_error(("elements of the format '" + std::string(format ? format : "") +
                              "' are not of a netCDF type")
                                 .c_str());
    }
    array.type = static_cast<tw_type>(type);
    return array;
}

}  // namespace thalweg::python
