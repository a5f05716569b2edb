// Converts the errors that calls throw to the codes that the program gets.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "base/arithmetic.hpp"
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

}  // namespace thalweg::nc
