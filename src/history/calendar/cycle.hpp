// The bins of a cycle, such as the hours of the day or the months of the year: each has a record of
// a window.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "history/calendar/window.hpp"

namespace thalweg::history {

/// A record of a window: all of the window, or a bin of it.
struct WindowPart {
    int bin = -1;      ///< -1: all of the window
    Window first;      ///< all of the window, or the first time that the bin occurs in it
    Time end = 0;      ///< end of the last time that it occurs
    bool last = true;  ///< no other record of the window follows
};

class Cycle {
public:
    enum class Kind : std::uint8_t { none, day, year };

    Cycle() = default;
    /// @param bin  length of a bin, which divides the day or the year
    Cycle(Kind kind, const Duration& bin) : kind_(kind), bin_(bin) {}

    Kind kind() const { return kind_; }
    explicit operator bool() const { return kind_ != Kind::none; }
    const Duration& bin() const { return bin_; }
    /// Returns the number of bins; 1 without a cycle.
    int bins(Calendar calendar) const;
    /// Returns the boundaries of the bins. There must be a cycle.
    Boundaries boundaries(Calendar calendar) const;
    /// Returns the bin that begins at a time.
    int bin_at(Calendar calendar, Time begin) const;
    /// Returns a step with those of its parts that lie in a bin. The step has been divided at the
    /// boundaries of the bins.
    Step in_bin(const Boundaries& boundaries, int bin, Step step) const;
    /// Returns the records of a window in the order of their times: all of it, or the bins that
    /// occur in it and are wanted.
    std::vector<WindowPart> parts(Calendar calendar, const Window& window,
                                  const std::function<bool(int)>& wanted) const;

private:
    Kind kind_ = Kind::none;
    Duration bin_;
};

}  // namespace thalweg::history
