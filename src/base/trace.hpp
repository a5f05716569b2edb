// What a thread does, and when, for a timeline of the run. Costs a branch where nobody asks for it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace thalweg::detail {

/// Something that a thread did from `begin` to `end`.
struct TraceEvent {
    const char* name = nullptr;             ///< a literal, as is
    const char* reason = nullptr;           ///< what a wait is for; else null
    double begin = 0, end = 0;              ///< as now() gives it
    std::int64_t record = -1;               ///< -1: none
    std::int64_t bytes = -1;                ///< -1: none
    std::int32_t file = -1, variable = -1;  ///< numbers of names; -1: none
};

/// The events of a thread, in the order in which they end. One thread at a time.
class TraceLane {
public:
    /// @param memory  bytes for events and names: what has no room is counted and left out
    explicit TraceLane(std::int64_t memory) : room_(memory) {}
    TraceLane(const TraceLane&) = delete;
    TraceLane& operator=(const TraceLane&) = delete;

    void add(const TraceEvent& event) noexcept;
    /// A wait. What follows at once on one for the same reason is part of it.
    void add_wait(const char* reason, double begin) noexcept;
    /// The number of a name; -1 where there is no room for it.
    std::int32_t number_of(std::string_view name) noexcept;
    /// Takes no more.
    void stop() { stopped_ = true; }
    /// A span has begun.
    void note_begin() { ++begun_; }

    const std::deque<TraceEvent>& events() const { return events_; }
    const std::string& name(std::int32_t number) const { return *names_[number]; }
    std::int64_t left_out() const { return left_out_; }

    std::int32_t file = -1;  ///< that the thread works on

private:
    bool take(std::int64_t bytes);

    std::int64_t room_;
    std::int64_t left_out_ = 0;
    bool stopped_ = false;
    std::int64_t begun_ = 0;           ///< spans
    std::int64_t begun_at_wait_ = -1;  ///< when the last event, a wait, was added
    std::deque<TraceEvent> events_;
    std::map<std::string, std::int32_t, std::less<>> numbers_;
    std::deque<const std::string*> names_;
};

/// Of this thread; null where nobody asks.
inline thread_local TraceLane* trace_lane = nullptr;

/// Lets this thread's events go somewhere, for a scope.
class TraceInto {
public:
    explicit TraceInto(TraceLane* lane) : before_(trace_lane) { trace_lane = lane; }
    ~TraceInto() { trace_lane = before_; }
    TraceInto(const TraceInto&) = delete;
    TraceInto& operator=(const TraceInto&) = delete;

private:
    TraceLane* before_;
};

/// The file that this thread works on, for a scope; empty: none.
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

/// What a scope does.
class Span {
public:
    /// @param name  a literal
    explicit Span(const char* name) : lane_(trace_lane) {
        if (lane_ != nullptr) begin(name);
    }
    ~Span() {
        if (lane_ != nullptr) end();
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

    /// Whether anybody asks, where it costs to find out what to tell.
    explicit operator bool() const { return lane_ != nullptr; }
    Span& variable(std::string_view name) {
        if (lane_ != nullptr) event_.variable = lane_->number_of(name);
        return *this;
    }
    /// @param n  -1: none
    Span& record(std::int64_t n) {
        event_.record = n;
        return *this;
    }
    Span& bytes(std::int64_t n) {
        event_.bytes = n;
        return *this;
    }
    /// It did nothing.
    void forget() { lane_ = nullptr; }

private:
    void begin(const char* name);
    void end();

    TraceLane* lane_;
    TraceEvent event_;
};

}  // namespace thalweg::detail
