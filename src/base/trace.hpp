// Records a thread's actions and their times, for a timeline of the run. Costs a branch if tracing
// is off.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace thalweg::detail {

/// An action of a thread from `begin` to `end`.
struct TraceEvent {
    const char* name = nullptr;    ///< string literal, of which only the address is stored
    const char* reason = nullptr;  ///< reason of a wait; null for other actions
    double begin = 0, end = 0;     ///< times from now(), in seconds
    std::int64_t record = -1;      ///< number of the record; -1: none
    std::int64_t bytes = -1;       ///< number of bytes that were moved; -1: unknown
    /// Numbers of the file's and the variable's name in the lane; -1: none.
    std::int32_t file = -1, variable = -1;
};

/// The events of one thread, in the order in which they end. Not thread-safe.
class TraceLane {
public:
    /// @param memory  bytes for events and names; when these are used up, further events are only
    ///                counted
    explicit TraceLane(std::int64_t memory) : room_(memory) {}
    TraceLane(const TraceLane&) = delete;
    TraceLane& operator=(const TraceLane&) = delete;

    void add(const TraceEvent& event) noexcept;
    /// Adds a wait. If it directly follows a wait for the same reason, extends that one instead.
    void add_wait(const char* reason, double begin) noexcept;
    /// Returns the number of a name in this lane; -1 if there is no memory for a new name.
    std::int32_t number_of(std::string_view name) noexcept;
    /// Ignores all later events.
    void stop() { stopped_ = true; }
    /// Notes that a span has begun.
    void note_begin() { ++begun_; }

    const std::deque<TraceEvent>& events() const { return events_; }
    const std::string& name(std::int32_t number) const { return *names_[number]; }
    std::int64_t left_out() const { return left_out_; }

    std::int32_t file = -1;  ///< number of the file on which the thread works; -1: none

private:
    bool take(std::int64_t bytes);

    std::int64_t room_;
    std::int64_t left_out_ = 0;
    bool stopped_ = false;
    std::int64_t begun_ = 0;  ///< number of spans that have begun
    /// Value of begun_ when the last event was added, if that event was a wait; otherwise -1.
    std::int64_t begun_at_wait_ = -1;
    std::deque<TraceEvent> events_;
    std::map<std::string, std::int32_t, std::less<>> numbers_;
    std::deque<const std::string*> names_;
};

/// The lane that records the events of this thread; null if tracing is off.
inline thread_local TraceLane* trace_lane = nullptr;

/// Records this thread's events in a lane for the duration of a scope.
class TraceInto {
public:
    explicit TraceInto(TraceLane* lane) : before_(trace_lane) { trace_lane = lane; }
    ~TraceInto() { trace_lane = before_; }
    TraceInto(const TraceInto&) = delete;
    TraceInto& operator=(const TraceInto&) = delete;

private:
    TraceLane* before_;
};

/// Sets the file on which this thread works for the duration of a scope; an empty path means no
/// file.
class TraceFile {
public:
    explicit TraceFile(std::string_view path) : lane_(trace_lane) {
        if (lane_ == nullptr) return;
        before_ = lane_->file;
        lane_->file = path.empty() ? -1 : lane_->number_of(path);
    }
    ~TraceFile() {
        if (lane_ != nullptr) lane_->file = before_;
    }
    TraceFile(const TraceFile&) = delete;
    TraceFile& operator=(const TraceFile&) = delete;

private:
    TraceLane* lane_;
    std::int32_t before_ = -1;
};

/// Records the duration of a scope as an event.
class Span {
public:
    /// @param name  name of the action; a string literal
    explicit Span(const char* name) : lane_(trace_lane) {
        if (lane_ != nullptr) begin(name);
    }
    ~Span() {
        if (lane_ != nullptr) end();
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

    /// Tests if tracing is on. If it is off, callers need not collect details that take time.
    explicit operator bool() const { return lane_ != nullptr; }
    Span& variable(std::string_view name) {
        if (lane_ != nullptr) event_.variable = lane_->number_of(name);
        return *this;
    }
    /// @param n  number of the record; -1: none
    Span& record(std::int64_t n) {
        event_.record = n;
        return *this;
    }
    Span& bytes(std::int64_t n) {
        event_.bytes = n;
        return *this;
    }
    /// Drops the span, because there was nothing to do.
    void forget() { lane_ = nullptr; }

private:
    void begin(const char* name);
    void end();

    TraceLane* lane_;
    TraceEvent event_;
};

}  // namespace thalweg::detail
