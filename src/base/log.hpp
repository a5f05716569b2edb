// The log: lines on standard error. Only log.cpp includes spdlog, which is slow to compile.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

namespace thalweg::detail::log {

/// Levels with spdlog's numbers for them.
enum class Level { debug = 1, info, warn, error };

/// Sets the least severe level that is written: off, error, warning (or warn), info, debug.
void set_level(const std::string& name);

/// Writes a line to the log. If memory runs out the line is lost, which another line reports; no
/// exception is thrown.
void write(Level level, fmt::string_view text, fmt::format_args values);

template <class... Args>
void debug(fmt::format_string<Args...> text, Args&&... args) {
    write(Level::debug, text, fmt::make_format_args(args...));
}
template <class... Args>
void info(fmt::format_string<Args...> text, Args&&... args) {
    write(Level::info, text, fmt::make_format_args(args...));
}
template <class... Args>
void warn(fmt::format_string<Args...> text, Args&&... args) {
    write(Level::warn, text, fmt::make_format_args(args...));
}
template <class... Args>
void error(fmt::format_string<Args...> text, Args&&... args) {
    write(Level::error, text, fmt::make_format_args(args...));
}

}  // namespace thalweg::detail::log
