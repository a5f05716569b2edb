// Shows the progress of a measurement.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace thalweg::bench {

/// A line on standard error that is overwritten.
class Progress {
public:
    explicit Progress(bool shown) : shown_(shown) {}
    ~Progress() { say(""); }

    void say(const std::string& text) const {
        if (!shown_) return;
        fmt::print(stderr, "\r\033[K{}", text);
        std::fflush(stderr);
    }

private:
    bool shown_;
};

}  // namespace thalweg::bench
