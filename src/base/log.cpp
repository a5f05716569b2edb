// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <cstdio>
#include <exception>

namespace thalweg::detail::log {

namespace {

/// Returns the library's own logger. spdlog's default logger belongs to the program, and writes to
/// standard output. The logger is never destroyed, because threads may use it until the process
/// ends.
spdlog::logger& logger() {
    static spdlog::logger* const made = [] {
        auto* const l =
            new spdlog::logger("thalweg", std::make_shared<spdlog::sinks::stderr_sink_mt>());
        l->set_pattern("thalweg: %l: %v");
        return l;
    }();
    return *made;
}

}  // namespace

void set_level(const std::string& name) {
    logger().set_level(spdlog::level::from_str(name == "warning" ? "warn" : name));
}

void write(Level level, fmt::string_view text, fmt::format_args values) {
    const spdlog::level::level_enum at = static_cast<spdlog::level::level_enum>(level);
    static_assert(SPDLOG_LEVEL_DEBUG == 1 && SPDLOG_LEVEL_ERROR == 4);
    try {
        if (logger().should_log(at)) logger().log(at, fmt::vformat(text, values));
    } catch (const std::exception&) {
        std::fputs("thalweg: out of memory for a line of the log\n", stderr);
    }
}

}  // namespace thalweg::detail::log
