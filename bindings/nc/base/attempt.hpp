// Converts the errors that calls throw to the codes that the program gets.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>
#include <type_traits>

#include "base/system/arithmetic.hpp"
#include "nc/base/error.hpp"

namespace thalweg::nc {

// Runs an action. @return its result, 0 if it has none; if it throws an error, the error's code
template <class Action>
int attempt(int (*code_of_error)(const Error&), Action action) {
    const detail::OwnArithmetic arithmetic;
    int result = 0;
    const Error error = error_of([&] {
        if constexpr (std::is_void_v<decltype(action())>)
            action();
        else
            result = action();
    });
    return error.code == 0 ? result : code_of_error(error);
}

// Sets what a C function returns through a pointer, unless it is null.
template <class T, class Value>
void set(T* to, Value value) {
    if (to != nullptr) *to = static_cast<T>(value);
}

// Copies a text, including its terminating zero.
inline void set(char* to, const std::string& text) {
    if (to != nullptr) std::memcpy(to, text.c_str(), text.size() + 1);
}

}  // namespace thalweg::nc
