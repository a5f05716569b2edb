// Errors, types, arrays and handles of the C++ interface, a part of thalweg.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "thalweg/thalweg.h"

namespace thalweg {

/// A failed call: code() is one of TW_STATUS_TABLE, what() the full text.
class Error : public std::runtime_error {
public:
    Error(tw_status code, const std::string& text) : std::runtime_error(text), code_(code) {}
    tw_status code() const noexcept { return code_; }

private:
    tw_status code_;
};

/// External types.
enum class Type : int {
    none = 0,  ///< netCDF-4 strings and user-defined types, which cannot be read
    int8 = TW_BYTE,
    text = TW_CHAR,
    int16 = TW_SHORT,
    int32 = TW_INT,
    float32 = TW_FLOAT,
    float64 = TW_DOUBLE,
    uint8 = TW_UBYTE,
    uint16 = TW_USHORT,
    uint32 = TW_UINT,
    int64 = TW_INT64,
    uint64 = TW_UINT64
};

/// Length of the record dimension.
inline constexpr std::int64_t unlimited = TW_UNLIMITED;

/// Returns the external type of a C++ type.
template <class T>
constexpr Type type_of() {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<U, char>)
        return Type::text;
    else if constexpr (std::is_same_v<U, float>)
        return Type::float32;
    else if constexpr (std::is_same_v<U, double>)
        return Type::float64;
    else {
        static_assert(std::is_integral_v<U> && !std::is_same_v<U, bool>, "not a netCDF type");
        if constexpr (sizeof(U) == 1)
            return std::is_signed_v<U> ? Type::int8 : Type::uint8;
        else if constexpr (sizeof(U) == 2)
            return std::is_signed_v<U> ? Type::int16 : Type::uint16;
        else if constexpr (sizeof(U) == 4)
            return std::is_signed_v<U> ? Type::int32 : Type::uint32;
        else
            return std::is_signed_v<U> ? Type::int64 : Type::uint64;
    }
}

/// A std::vector, std::span, std::array, ..., whose elements follow one another in memory.
template <class A>
concept Array = std::ranges::contiguous_range<A> && std::ranges::sized_range<A>;

/// An Array that a function can write to, or use after it has returned: a variable or a std::span,
/// not a temporary std::vector.
template <class A>
concept ArrayInPlace = Array<A> && std::ranges::borrowed_range<A>;

template <class A>
using Element = std::remove_reference_t<std::ranges::range_reference_t<A>>;

/// An array with any strides, slowest dimension first; see tw_array.
template <class T>
struct StridedArray {
    T* data = nullptr;                          ///< address of the first element
    std::span<const std::int64_t> extent;       ///< length along each dimension, in elements
    std::span<const std::int64_t> byte_stride;  ///< distance in bytes between neighbours along each
                                                ///< dimension; as many values as `extent`
};

template <class A>
inline constexpr bool is_strided = false;
template <class T>
inline constexpr bool is_strided<StridedArray<T>> = true;

/// An Array or a StridedArray.
template <class A>
concept AnyArray = Array<A> || is_strided<std::remove_cvref_t<A>>;

/// An ArrayInPlace or a StridedArray.
template <class A>
concept AnyArrayInPlace = ArrayInPlace<A> || is_strided<std::remove_cvref_t<A>>;

/// Internal: handles, and conversions between the C++ and the C types.
namespace handles {

/// A session. It exists as long as any object that it has made.
struct Session {
    tw_session handle = nullptr;  ///< null after the session has ended
    int rank = 0;
    std::optional<Error> unseen;  ///< first error of a file that was closed by a destructor
};

using SessionPtr = std::shared_ptr<Session>;

inline void check(tw_status code, tw_session session) {
    if (code == TW_OK) return;
    const char* text = tw_error_message(session);
    throw Error(code, *text == '\0' ? tw_strerror(code) : text);
}

/// The handle of an object that a session has made; empty after the session has ended.
template <class T>
class Owned {
public:
    Owned() = default;
    Owned(SessionPtr session, T handle) : session_(std::move(session)), handle_(handle) {}
    Owned(Owned&& other) noexcept
        : session_(std::move(other.session_)), handle_(std::exchange(other.handle_, nullptr)) {}
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    Owned& operator=(Owned&&) = delete;
    ~Owned() = default;

    void swap(Owned& other) noexcept {
        std::swap(session_, other.session_);
        std::swap(handle_, other.handle_);
    }
    T get() const noexcept { return session() == nullptr ? nullptr : handle_; }
    T* address() noexcept {
        if (session() == nullptr) handle_ = nullptr;
        return &handle_;
    }
    tw_session session() const noexcept { return session_ ? session_->handle : nullptr; }
    const SessionPtr& session_ptr() const noexcept { return session_; }
    void check(tw_status code) const { handles::check(code, session()); }
    /// Tests if the stack is being unwound because of an exception that was thrown after this
    /// object was made.
    bool unwinding() const noexcept { return std::uncaught_exceptions() > exceptions_; }

private:
    SessionPtr session_;
    T handle_ = nullptr;
    int exceptions_ = std::uncaught_exceptions();
};

template <class A>
constexpr tw_type type_in() {
    return static_cast<tw_type>(type_of<Element<A>>());
}

template <class A>
std::int64_t size_of(const A& array) {
    return static_cast<std::int64_t>(std::ranges::size(array));
}

/// Describes an array. If its extents and strides differ in number, the number of dimensions is
/// invalid.
template <class T>
tw_array array_of(const StridedArray<T>& array) {
    const bool fits = array.extent.size() == array.byte_stride.size();
    return tw_strided(static_cast<tw_type>(type_of<T>()), array.data,
                      fits ? static_cast<int>(array.extent.size()) : -1, array.extent.data(),
                      array.byte_stride.data());
}
template <Array A>
tw_array array_of(const A& array) {
    return tw_dense(type_in<const A>(), std::ranges::data(array), size_of(array));
}
/// Describes an array that is written to.
template <class A>
tw_array target_of(A& array) {
    if constexpr (is_strided<std::remove_const_t<A>>)
        static_assert(!std::is_const_v<std::remove_pointer_t<decltype(array.data)>>);
    else
        static_assert(!std::is_const_v<Element<A>>);
    return array_of(array);
}
/// Returns an invalid array, which a rank without a usable array passes to a collective call.
inline tw_array no_array() { return tw_strided(TW_BYTE, nullptr, -1, nullptr, nullptr); }

/// Appends invalid values to a list, so that the C function detects a list that is too short.
inline std::vector<std::int64_t> padded(const std::vector<std::int64_t>& values) {
    std::vector<std::int64_t> all = values;
    all.resize(std::max<std::size_t>(all.size(), 17), -1);
    return all;
}

inline std::int64_t volume(const std::vector<std::int64_t>& count) {
    std::int64_t n = 1;
    for (const std::int64_t c : count) n *= c;
    return n;
}

}  // namespace handles

}  // namespace thalweg
