// The windows of a stream: which samples they take, which records a step completes, and in which
// file a record lies. These are pure functions of the times of a step and of the step before it. So
// a restart needs no state of theirs except that time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "history/calendar/duration.hpp"

namespace thalweg::history {

enum class Every : std::uint8_t {
    window,  ///< one record per window
    step,    ///< one record per step
    once,    ///< one record of the first step, without time
    run      ///< one window from the beginning to the end of the run; not in WindowRules
};

enum class Stamp : std::uint8_t { begin, middle, end };

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
    /// Only the first sample at or after each of these times is used.
    std::optional<Boundaries> sample;
    /// Use only the first sample at or after each of these times of the day.
    std::vector<Time> hours;
    std::optional<Boundaries> inner;  ///< windows of the inner operation, or bins of a cycle
    /// A change of the windows, and the begin of the open window, which ends with the new ones.
    struct Change {
        Time at, open;
    };
    std::optional<Change> change;
    /// The sample at the beginning of the stream counts in the first window: differences need it.
    bool takes_begin = false;
    /// Samples of some variables count in each window with the part of their step that lies there.
    bool splits = false;
    bool passes = false;  ///< those of all variables do, so a step can pass whole windows

    Time begin() const { return std::max(from.value_or(start), start); }
    /// Returns the begin of a window, which must end after the beginning of the stream.
    Time begin_of(std::int64_t window) const;
    bool filters() const { return sample || !hours.empty(); }
    /// Returns the last time, no later than another, for which the filters choose a sample.
    Time last_chosen(Time time) const;
    /// Tests if an instant stream has a record at a time of last_chosen().
    bool has_instant(Time chosen) const;
};

/// One record: its window, or the time of an instant (begin == end).
struct Window {
    std::int64_t number = 0;  ///< number k of the window (b(k-1), b(k)]; 0 for a step or an instant
    Time begin = 0, end = 0;  ///< bounds

    Time stamp(Stamp at) const {
        return at == Stamp::begin ? begin : at == Stamp::end ? end : begin + (end - begin) / 2;
    }
    bool operator==(const Window&) const = default;
};

/// A part of a step, which lies in one window, and in one inner window.
struct StepPart {
    Window window;
    Window inner;                           ///< inner window, if the stream has them
    bool takes = false;                     ///< the step's samples count in the window
    bool inner_ends = false, ends = false;  ///< the inner window, or the window, ends here
};

/// The use of a step's samples. The step itself is its last part, up to its end.
struct Step : StepPart {
    Time from = 0;  ///< beginning of the step
    /// Parts in windows that ended before the step. Samples that are not split do not count there.
    std::vector<StepPart> before;
    bool crossed = false;  ///< a window's boundary lies inside the step

    bool used() const { return takes || std::ranges::any_of(before, &StepPart::takes); }
    bool is_due() const { return ends || std::ranges::any_of(before, &StepPart::ends); }
};

/**
 * Finds the use of a step's samples.
 * @param previous  time of the step before; none for the first step of the history
 * @return TW_OK, TW_EARG: the step covers a whole window, and does not count in it, or its length
 *     is not known; the text names the window, but not the stream
 */
Status take_step(const WindowRules& rules, std::optional<Time> previous, Time now, Step& step);

/// Finds the unfinished window at the end of a run, if samples of it were taken.
/// @param last  time of the last step
/// @param inner  receives the unfinished inner window, if there is one
std::optional<Window> open_window(const WindowRules& rules, Time last,
                                  std::optional<Window>& inner);

/// Returns the number k of a file's period (b(k-1), b(k)] to which a record belongs.
/// @param begin  beginning of the stream; an instant there belongs to the period that begins
/// @param next  an instant at the end of a period belongs to the next one
std::int64_t file_period(const Boundaries& files, const Window& record, Time begin, bool next);

/// The weights of a field's samples in a stream: each stands for the time since the one before.
struct DurationWeight {
    /// Time of the field's previous sample; at first the beginning of the stream.
    Time previous = 0;
    Time unit = 0;  ///< duration of the window's first sample; 0: there is none yet

    /// Returns the time since the sample before, or since the window's begin, in `unit`.
    double next(Time begin, Time now);
    Time since(Time begin, Time now) const { return now - std::max(previous, begin); }
    void end_window() { unit = 0; }
};

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
    Boundaries boundaries(Calendar calendar) const;
    int bin_at(Calendar calendar, Time begin) const;
    /// Returns a step, divided at the boundaries of bins, with its parts in a bin.
    Step in_bin(const Boundaries& boundaries, int bin, Step step) const;
    /// Returns the records of a window: all of it, or the wanted bins, as they first occur.
    std::vector<WindowPart> parts(Calendar calendar, const Window& window,
                                  const std::function<bool(int)>& wanted) const;

private:
    Kind kind_ = Kind::none;
    Duration bin_;
};

}  // namespace thalweg::history
