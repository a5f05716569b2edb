// The windows of a stream: which samples they take, which records a step completes, and in which
// file a record lies. These are pure functions of the times of a step and of the step before it. So
// a restart needs no state of theirs except that time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "history/duration.hpp"

namespace thalweg::history {

enum class Every : std::uint8_t {
    window,  ///< one record per window
    step,    ///< one record per step
    once,    ///< one record of the first step, without time
    run      ///< one window from the beginning to the end of the run
};

enum class Stamp : std::uint8_t { begin, middle, end };

/// The rules by which the windows of a stream are formed.
struct WindowRules {
    Every every = Every::window;
    Boundaries boundaries;
    bool instant = false;  ///< samples are written, not accumulated
    bool initial = false;  ///< an instant stream also writes the sample at its beginning
    bool drop_partial = false;
    Edge edge = Edge::end;
    Time start = 0;  ///< beginning of the history
    Time step = 0;   ///< length of the model's step; 0: unknown
    std::optional<Time> from, to;
    /// Use only the first sample at or after each of these times.
    std::optional<Boundaries> sample;
    /// Use only the first sample at or after each of these times of the day.
    std::vector<Time> hours;
    std::optional<Boundaries> inner;  ///< windows of the inner operation

    /// Returns the time at which the first window begins.
    Time begin() const;
};

/// One record: its window, or the time of an instant (begin == end).
struct Window {
    std::int64_t number = 0;  ///< number k of the window (b(k-1), b(k)]; 0 for a step or an instant
    Time begin = 0, end = 0;  ///< bounds

    Time stamp(Stamp at) const;
    bool operator==(const Window&) const = default;
};

/**
 * The actions for one step's samples, in this order, each only if set: complete the inner window
 * `inner_before`, write the record of `before`, add the samples, complete the inner window `inner`,
 * write the record of `window`.
 */
struct Step {
    /// Windows that ended before this step, as no step ended exactly with them.
    std::optional<Window> inner_before, before;
    bool used = false;                      ///< the step's samples are added
    Window window;                          ///< window to which the samples belong
    Window inner;                           ///< inner window of the samples, if the stream has one
    bool inner_ends = false, ends = false;  ///< this step completes the inner window, or the window
    bool crossed = false;  ///< a window's boundary lies inside the step, which causes one warning
};

/**
 * Finds the use of a step's samples.
 * @param previous  time of the step before; none for the first step of the history
 * @return TW_OK, TW_EARG: the step covers a whole window; the text names the window, but not the
 *     stream
 */
Status take_step(const WindowRules& rules, std::optional<Time> previous, Time now, Step& step);

/// Finds the unfinished window at the end of a run, if samples of it were taken.
/// @param last  time of the last step
/// @param inner  receives the unfinished inner window, if there is one
std::optional<Window> open_window(const WindowRules& rules, Time last,
                                  std::optional<Window>& inner);

/// Returns the number k of a file's period (b(k-1), b(k)] to which a record belongs.
/// @param begin  beginning of the stream; an instant at this time belongs to the period that begins
///               there
/// @param next  an instant at the end of a period belongs to the next one
std::int64_t file_period(const Boundaries& files, const Window& record, Time begin, bool next);

/// The weights of the samples of one field in one stream. Each sample stands for the time since the
/// sample before.
struct DurationWeight {
    /// Time of the field's previous sample; at first the beginning of the stream.
    Time previous = 0;
    Time unit = 0;  ///< duration of the window's first sample; 0: there is none yet

    /// Returns the weight of a sample: the time since the sample before, in units of the duration
    /// of the window's first sample.
    /// @param begin  beginning of the window
    double next(Time begin, Time now);
    void end_window() { unit = 0; }
};

}  // namespace thalweg::history
