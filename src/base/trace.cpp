// SPDX-License-Identifier: Apache-2.0
#include "base/trace.hpp"

#include <new>

#include "base/clock.hpp"

namespace thalweg::detail {

namespace {

/// Size in bytes of a stored name, in addition to its characters.
constexpr std::int64_t name_bytes = 128;
constexpr std::size_t longest_name = 4096;

/// Two waits that are less than this number of seconds apart count as one.
constexpr double at_once = 50e-6;

}  // namespace

bool TraceLane::take(std::int64_t bytes) {
    if (room_ < bytes) return false;
    room_ -= bytes;
    return true;
}

void TraceLane::add(const TraceEvent& event) noexcept {
    if (stopped_) return;
    begun_at_wait_ = -1;
    try {
        if (take(sizeof event)) {
            events_.push_back(event);
            return;
        }
    } catch (const std::bad_alloc&) {
        room_ = 0;
    }
    ++left_out_;
}

void TraceLane::add_wait(const char* reason, double begin) noexcept {
    if (stopped_) return;
    const double end = now();
    if (begun_at_wait_ == begun_ && !events_.empty()) {
        TraceEvent& last = events_.back();
        if (last.reason == reason && last.file == file && begin - last.end < at_once) {
            last.end = end;
            return;
        }
    }
    const std::int64_t before = left_out_;
    TraceEvent event;
    event.name = "wait";
    event.reason = reason;
    event.begin = begin;
    event.end = end;
    event.file = file;
    add(event);
    if (left_out_ == before) begun_at_wait_ = begun_;
}

std::int32_t TraceLane::number_of(std::string_view name) noexcept {
    try {
        name = name.substr(0, longest_name);
        const auto found = numbers_.find(name);
        if (found != numbers_.end()) return found->second;
        if (stopped_ || !take(std::ssize(name) + name_bytes)) return -1;
        const auto number = static_cast<std::int32_t>(names_.size());
        const auto made = numbers_.emplace(name, number).first;
        names_.push_back(&made->first);
        return number;
    } catch (const std::bad_alloc&) {
        return -1;
    }
}

void Span::begin(const char* name) {
    event_.name = name;
    event_.file = lane_->file;
    event_.begin = now();
    lane_->note_begin();
}

void Span::end() {
    event_.end = now();
    lane_->add(event_);
}

}  // namespace thalweg::detail
