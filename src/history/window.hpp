// The windows of a stream: which samples they take, which records a step completes, and in which
// file a record lies. Pure functions of the times of a step and of the step before it, so that no
// state of theirs has to survive a restart but that time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "history/duration.hpp"

namespace thalweg::history {

enum class Every : std::uint8_t {
    window,  ///< a record a window
    step,    ///< a record a step
    once,    ///< one record without time, of the first step
    run      ///< one window until the end of the run
};

enum class Stamp : std::uint8_t { begin, middle, end };

/// Everything that decides on the windows of one stream.
struct WindowRules {
    Every every = Every::window;
    Boundaries boundaries;
    bool instant = false;  ///< samples are written, not accumulated
    bool initial = false;  ///< an instant stream writes the sample at its begin, too
    bool drop_partial = false;
    Edge edge = Edge::end;
    Time start = 0;  ///< of the history
    Time step = 0;   ///< length of the model's step; 0: unknown
    std::optional<Time> from, to;
    std::optional<Boundaries> sample;  ///< takes the first sample at or after each of these only
    std::vector<Time> hours;           ///< likewise, times of the day
    std::optional<Boundaries> inner;   ///< windows of the inner operation

    /// Returns the time at which the first window begins.
    Time begin() const;
};

/// One record: its window, or the time of an instant (begin == end).
struct Window {
    std::int64_t number = 0;  ///< k of (b(k-1), b(k)]; of a step or an instant 0
    Time begin = 0, end = 0;  ///< bounds

    Time stamp(Stamp at) const;
    bool operator==(const Window&) const = default;
};

/**
 * The use of the samples of one step. What is there happens in this order: the inner window
 * `inner_before` is completed, the record of `before`, the samples are taken, the inner window
 * `inner` is completed, the record of `window`.
 */
struct Step {
    /// Windows that ended before this step, without a step at their end.
    std::optional<Window> inner_before, before;
    bool used = false;                      ///< the samples are taken
    Window window;                          ///< window of the samples, if they are used
    Window inner;                           ///< inner window of the samples, if the stream has one
    bool inner_ends = false, ends = false;  ///< they are complete with this step
    bool crossed = false;                   ///< the step crosses a boundary: warn once
};

/**
 * Finds the use of a step's samples.
 * @param previous  time of the step before; none for the first step of the history
 * @return TW_OK, TW_EARG: the step covers a whole window; names the window, not the stream
 */
Status take_step(const WindowRules& rules, std::optional<Time> previous, Time now, Step& step);

/// Finds the unfinished window at the end of a run, if samples of it were taken.
/// @param last  time of the last step
/// @param inner  receives the unfinished inner window, if there is one
std::optional<Window> open_window(const WindowRules& rules, Time last,
                                  std::optional<Window>& inner);

/// Returns the period (b(k-1), b(k)] of a file, by its k, to which a record belongs.
/// @param begin  begin of the stream; an instant at it belongs to the period that begins there
/// @param next   an instant at the end of a period belongs to the next one
std::int64_t file_period(const Boundaries& files, const Window& record, Time begin, bool next);

/// The weights of one field's samples, in one stream, that stand for the time since the sample
/// before.
struct DurationWeight {
    Time previous = 0;  ///< time of the field's previous sample; at first the stream's begin
    Time unit = 0;      ///< duration of the window's first sample; 0: there is none yet

    /// Returns the weight of a sample at a time of a window that begins at `begin`: 1 for the first
    /// sample, and for every one that stands for as long.
    double next(Time begin, Time now);
    void end_window() { unit = 0; }
};

}  // namespace thalweg::history
