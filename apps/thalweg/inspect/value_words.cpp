// SPDX-License-Identifier: Apache-2.0
#include "inspect/value_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "storage/netcdf4/index/hdf5_handle.hpp"

namespace thalweg::app {

namespace {

using detail::Handle;
using detail::hash_of;

constexpr hsize_t hashed_bytes = 8 << 20;  ///< size in bytes of the boxes in which values are read
                                           ///< and hashed

std::string member_name(hid_t type, unsigned member) {
    char* const text = H5Tget_member_name(type, member);
    std::string name = text == nullptr ? "" : text;
    if (text != nullptr) H5free_memory(text);
    return name;
}

std::string compound_words(hid_t type) {
    std::string words = "compound (";
    for (int i = 0; i < H5Tget_nmembers(type); ++i) {
        const Handle member(H5Tget_member_type(type, static_cast<unsigned>(i)), H5Tclose);
        words += fmt::format("{}{} {}", i > 0 ? ", " : "", type_words(member),
                             member_name(type, static_cast<unsigned>(i)));
    }
    return words + ")";
}

/// Describes an enumeration: each name with its value in hexadecimal digits.
std::string enum_words(hid_t type) {
    std::string words = fmt::format("enum of {} bytes (", H5Tget_size(type));
    const Handle native(H5Tget_native_type(type, H5T_DIR_ASCEND), H5Tclose);
    std::vector<unsigned char> value(std::max<std::size_t>(1, H5Tget_size(native)));
    for (int i = 0; i < H5Tget_nmembers(type); ++i) {
        words += (i > 0 ? ", " : "") + member_name(type, static_cast<unsigned>(i));
        if (H5Tget_member_value(native, static_cast<unsigned>(i), value.data()) < 0) continue;
        words += "=0x";
        for (std::size_t b = value.size(); b-- > 0;) words += fmt::format("{:02x}", value[b]);
    }
    return words + ")";
}

std::string array_words(hid_t type, hid_t element) {
    std::array<hsize_t, H5S_MAX_RANK> length{};
    const int nd = H5Tget_array_dims2(type, length.data());
    std::string words = "array of " + type_words(element) + " [";
    for (int d = 0; d < nd; ++d) words += fmt::format("{}{}", d > 0 ? ", " : "", length[d]);
    return words + "]";
}

/// Tests if equal values of a type have equal bytes, even in different files.
bool is_comparable(hid_t type) {
    for (const H5T_class_t pointer : {H5T_VLEN, H5T_REFERENCE, H5T_TIME})
        if (H5Tdetect_class(type, pointer) != 0) return false;
    // H5Tdetect_class does not find strings of variable length that are part of another type.
    if (H5Tget_class(type) == H5T_STRING) return H5Tis_variable_str(type) == 0;
    if (H5Tget_class(type) == H5T_ARRAY) {
        const Handle element(H5Tget_super(type), H5Tclose);
        return is_comparable(element);
    }
    if (H5Tget_class(type) != H5T_COMPOUND) return true;
    for (int i = 0; i < H5Tget_nmembers(type); ++i) {
        const Handle member(H5Tget_member_type(type, static_cast<unsigned>(i)), H5Tclose);
        if (!is_comparable(member)) return false;
    }
    return true;
}

std::string text_of_hash(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

/// Returns the shape of the box that begins at `corner` and has about `hashed_bytes` bytes; it
/// consists of whole rows if they fit.
std::vector<hsize_t> box_at(const std::vector<hsize_t>& shape, const std::vector<hsize_t>& corner,
                            hsize_t element) {
    std::vector<hsize_t> count(shape.size(), 1);
    hsize_t bytes = element;
    for (std::size_t d = shape.size(); d-- > 0;) {
        count[d] = std::min(shape[d] - corner[d],
                            std::max<hsize_t>(1, hashed_bytes / std::max<hsize_t>(1, bytes)));
        bytes *= count[d];
        if (count[d] < shape[d]) break;
    }
    return count;
}

/// Moves `corner` to the next box in row-major order. Returns false after the last one.
bool advance(std::vector<hsize_t>& corner, const std::vector<hsize_t>& count,
             const std::vector<hsize_t>& shape) {
    for (std::size_t d = shape.size(); d-- > 0;) {
        corner[d] += count[d];
        if (corner[d] < shape[d]) return true;
        corner[d] = 0;
    }
    return false;
}

bool is_elsewhere(hid_t set) {
    const Handle properties(H5Dget_create_plist(set), H5Pclose);
    return properties < 0 || H5Pget_layout(properties) == H5D_VIRTUAL ||
           H5Pget_external_count(properties) != 0;
}

}  // namespace

std::string type_words(hid_t type) {
    const std::size_t size = H5Tget_size(type);
    const Handle base(H5Tget_super(type), H5Tclose);
    switch (H5Tget_class(type)) {
        case H5T_INTEGER:
            return fmt::format("{}{}-bit integer",
                               H5Tget_sign(type) == H5T_SGN_NONE ? "unsigned " : "",
                               H5Tget_precision(type));
        case H5T_FLOAT: return fmt::format("{}-bit float", H5Tget_precision(type));
        case H5T_STRING: return H5Tis_variable_str(type) > 0 ? "string" : "text";
        case H5T_BITFIELD: return fmt::format("bit field of {} bytes", size);
        case H5T_OPAQUE: return fmt::format("opaque of {} bytes", size);
        case H5T_REFERENCE: return "reference";
        case H5T_COMPOUND: return compound_words(type);
        case H5T_ENUM: return enum_words(type);
        case H5T_VLEN: return "list of any length of " + type_words(base);
        case H5T_ARRAY: return array_words(type, base);
        default: return fmt::format("type of {} bytes", size);
    }
}

std::string shape_words(hid_t space) {
    if (H5Sget_simple_extent_type(space) == H5S_NULL) return "(no elements)";
    std::array<hsize_t, H5S_MAX_RANK> length{};
    const int nd = H5Sget_simple_extent_dims(space, length.data(), nullptr);
    std::string words;
    for (int d = 0; d < nd; ++d) words += fmt::format("{}{}", d > 0 ? ", " : "", length[d]);
    return "(" + (nd < 1 ? "scalar" : words) + ")";
}

std::string hash_of_attribute(hid_t attribute) {
    const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
    if (type < 0 || space < 0 || !is_comparable(type)) return {};
    const Handle native(H5Tget_native_type(type, H5T_DIR_ASCEND), H5Tclose);
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    if (native < 0 || n < 0) return {};
    std::vector<char> values(static_cast<std::size_t>(n) * H5Tget_size(native));
    if (n > 0 && H5Aread(attribute, native, values.data()) < 0) return {};
    return text_of_hash(hash_of({values.data(), values.size()}));
}

std::string hash_of_data_set(hid_t set) {
    const Handle type(H5Dget_type(set), H5Tclose), space(H5Dget_space(set), H5Sclose);
    if (type < 0 || space < 0 || !is_comparable(type) || is_elsewhere(set)) return {};
    const Handle native(H5Tget_native_type(type, H5T_DIR_ASCEND), H5Tclose);
    const int nd = H5Sget_simple_extent_ndims(space);
    if (native < 0 || nd < 0) return {};
    std::uint64_t hash = detail::hash_of_nothing;
    if (H5Sget_simple_extent_npoints(space) == 0) return text_of_hash(hash);
    std::vector<hsize_t> shape(static_cast<std::size_t>(nd));
    H5Sget_simple_extent_dims(space, shape.data(), nullptr);
    std::vector<hsize_t> corner(shape.size(), 0);
    std::vector<char> values;
    bool more = true;
    while (more) {
        const std::vector<hsize_t> count = box_at(shape, corner, H5Tget_size(native));
        hsize_t n = 1;
        for (const hsize_t c : count) n *= c;
        const Handle memory(H5Screate_simple(1, &n, nullptr), H5Sclose);
        if (nd > 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, corner.data(), nullptr,
                                          count.data(), nullptr) < 0)
            return {};
        // Clear the memory, as H5Dread does not set the gaps between members.
        values.assign(n * H5Tget_size(native), '\0');
        if (H5Dread(set, native, memory, space, H5P_DEFAULT, values.data()) < 0) return {};
        hash = hash_of({values.data(), values.size()}, hash);
        more = advance(corner, count, shape);
    }
    return text_of_hash(hash);
}

}  // namespace thalweg::app
