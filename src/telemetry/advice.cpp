// SPDX-License-Identifier: Apache-2.0
#include "telemetry/advice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace thalweg::detail {

namespace {

/// Returns a number from a summary; 0 if there is no number of this name.
double number_in(const Json& row, const char* name) {
    if (!row.is_object()) return 0;
    const auto found = row.find(name);
    return found != row.end() && found->is_number() ? found->get<double>() : 0;
}

/// Returns a text from a summary; empty if there is no text of this name.
std::string text_in(const Json& row, const char* name) {
    if (!row.is_object()) return "";
    const auto found = row.find(name);
    return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Returns an array or object from a summary; empty if there is none of this name.
const Json& part_in(const Json& row, const char* name) {
    static const auto& empty = *new Json(Json::array());  // sessions may end when the process exits
    if (!row.is_object()) return empty;
    const auto found = row.find(name);
    return found != row.end() && found->is_structured() ? *found : empty;
}

/// Formats seconds, for example "1.50 s" or "12.3 ms".
std::string seconds_text(double seconds) {
    const double size = std::abs(seconds);
    if (size >= 100) return fmt::format("{:.0f} s", seconds);
    if (size >= 10) return fmt::format("{:.1f} s", seconds);
    if (size >= 1) return fmt::format("{:.2f} s", seconds);
    if (size >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
    return size > 0 ? fmt::format("{:.3g} µs", seconds * 1e6) : "0";
}

/// Formats bytes, for example "1.50 GB" or "12.0 MB".
std::string bytes_text(double bytes) {
    static constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < units.size(); ++unit) bytes /= 1000;
    return unit == 0 ? fmt::format("{:.0f} B", bytes)
                     : fmt::format("{:.3g} {}", bytes, units[unit]);
}

/// Formats a fraction as a percentage, for example "12 %".
std::string share_text(double share) {
    return share > 0 && share < 0.005 ? "<1 %" : fmt::format("{:.0f} %", 100 * share);
}

/// A kind of cost: its total, the number of files that have it, and the advice for the file on
/// which it is highest.
struct Cost {
    double seconds = 0, worst = 0;
    int files = 0;
    std::string text;
};

/// Collects the costs that are worth advice.
class Advisor {
public:
    explicit Advisor(const Json& summary)
        : elapsed_(number_in(summary, "elapsed_seconds")),
          ranks_(std::max(1.0, number_in(summary, "ranks"))) {
        for (const Json& f : part_in(summary, "files"))
            busy_ += number_in(part_in(f, "seconds"), "busy");
    }

    void file(const Json& f, const std::string& path) {
        const Json& s = part_in(f, "seconds");
        const std::string service = text_in(f, "service");
        if (service == "inline") {
            written_in_calls(f, path);
        } else {
            queue_full(f, path);
            note("drain", number_in(s, "drain"), [&](const std::string& cost) {
                return fmt::format(
                    "{}: tw_sync and tw_close waited up to {} for the writers: set close=later, or "
                    "call tw_sync less often.",
                    path, cost);
            });
        }
        if (!service.empty()) small_writes(f, path);
        note("open", number_in(s, "open"), [&](const std::string& cost) {
            return fmt::format(
                "{}: creating the file and planning its exchange took up to {}: write more records "
                "per file.",
                path, cost);
        });
    }

    void input(const Json& f, const std::string& path) {
        const double ahead = number_in(f, "ahead_bytes"), unused = number_in(f, "unused_bytes");
        if (ahead <= 0 && number_in(f, "reads") > 1)
            note("read", number_in(part_in(f, "seconds"), "read"), [&](const std::string& cost) {
                return fmt::format(
                    "{}: reading took up to {}: with read_ahead=yes the next record is read while "
                    "the model computes.",
                    path, cost);
            });
        if (unused > advice_share * number_in(f, "bytes") && ahead > 0)
            note("unused", number_in(part_in(f, "seconds"), "file"), [&](const std::string&) {
                return fmt::format(
                    "{}: {} that were read ahead were never asked for: set read_ahead=no where "
                    "records are not read in order.",
                    path, bytes_text(unused));
            });
    }

    void ranks(const Json& rows) {
        double least = INFINITY, most = 0, history = 0, other = 0;
        for (const Json& row : rows) {
            least = std::min(least, number_in(row, "outside"));
            most = std::max(most, number_in(row, "outside"));
            history = std::max(history, number_in(row, "history"));
            other = std::max(other, number_in(row, "other"));
        }
        note("imbalance", most - least, [&](const std::string&) {
            return fmt::format(
                "The ranks spent between {} and {} outside the library: load imbalance of the "
                "model, for which ranks wait in collective calls.",
                seconds_text(least), seconds_text(most));
        });
        note("history", history, [](const std::string& cost) {
            return fmt::format(
                "Histories took up to {} to compute statistics and to wait for other ranks, "
                "without "
                "their files: take fewer samples of fields that change slowly (key sample of a "
                "stream), and look for load imbalance in the model.",
                cost);
        });
        note("other", other, [](const std::string& cost) {
            return fmt::format(
                "Calls other than those that write and read (decompositions, restarts, tw_inq) "
                "took up to {}: make decompositions once and keep them.",
                cost);
        });
    }

    /// Returns the advice, beginning with that on the largest cost.
    std::vector<std::string> said() const {
        std::vector<const Cost*> all;
        for (const auto& [kind, cost] : costs_)
            if (elapsed_ > 0 && cost.seconds > advice_share * elapsed_) all.push_back(&cost);
        std::stable_sort(all.begin(), all.end(),
                         [](const Cost* a, const Cost* b) { return a->seconds > b->seconds; });
        std::vector<std::string> texts;
        for (const Cost* c : all) {
            texts.push_back(c->text);
            if (c->files > 1)
                texts.back() += fmt::format(" With {} more file{}: {}.", c->files - 1,
                                            c->files == 2 ? "" : "s", share_of(c->seconds));
        }
        return texts;
    }

private:
    /// Formats seconds with their share of the run, for example "1.50 s (12 % of the run)".
    std::string share_of(double seconds) const {
        return fmt::format("{} ({} of the run)", seconds_text(seconds),
                           share_text(seconds / elapsed_));
    }

    /// @param text  function that returns the sentence, given the cost as text
    template <class Text>
    void note(const std::string& kind, double seconds, Text&& text) {
        if (elapsed_ <= 0 || !(seconds > 0)) return;
        Cost& cost = costs_[kind];
        cost.seconds += seconds;
        ++cost.files;
        if (seconds <= cost.worst) return;
        cost.worst = seconds;
        cost.text = text(share_of(seconds));
    }

    /// Returns the number of bytes that one rank puts in one step.
    double step_bytes(const Json& f) const {
        return number_in(f, "bytes") / std::max(1.0, number_in(f, "steps")) / ranks_;
    }
    /// Returns a better queue length in MiB: twice the present one, and long enough for four steps.
    double longer_queue(const Json& f) const {
        const double bytes = std::max(2 * number_in(f, "queue_room_bytes"), 4 * step_bytes(f));
        return std::ceil(bytes / (1 << 20));
    }

    void queue_full(const Json& f, const std::string& path) {
        note("queue", number_in(f, "queue_wait_seconds"), [&](const std::string& cost) {
            const std::string full = fmt::format(
                "{}: the queue was full {:.0f} times, and a rank waited up to {} for "
                "room.",
                path, number_in(f, "queue_waits"), cost);
            if (busy_ > 0.8 * elapsed_)
                return fmt::format(
                    "{} Writing takes longer than computing (the writers were at work for {} of "
                    "the run), so a longer queue does not help: use more {}.",
                    full, share_text(std::min(1.0, busy_ / elapsed_)),
                    text_in(f, "service") == "servers" ? "servers (setting servers)"
                                                       : "writers (setting writers)");
            return fmt::format(
                "{} The writers had time left, so a longer queue helps: set queue={:.0f}MiB.", full,
                longer_queue(f));
        });
    }

    void written_in_calls(const Json& f, const std::string& path) {
        const Json& s = part_in(f, "seconds");
        const double wait = number_in(s, "wait");
        // With storage=pnetcdf and method=direct, data are written during the calls, whatever the
        // setting of the service.
        if (text_in(f, "storage") != "pnetcdf" && text_in(f, "method") != "direct")
            note("step", number_in(s, "step"), [&](const std::string& cost) {
                return fmt::format(
                    "{}: tw_end_step and tw_sync took up to {}: with service=background (and a "
                    "core that is free for each writer) or servers, files are written while the "
                    "model computes.",
                    path, cost);
            });
        if (wait > 2 * (number_in(s, "write") + number_in(s, "remap")))
            note("wait", wait, [&](const std::string& cost) {
                return fmt::format(
                    "{}: ranks waited up to {} for each other, far longer than packing and writing "
                    "took: they reach the collective calls at different times. Look for load "
                    "imbalance in the model.",
                    path, cost);
            });
        note("put", number_in(s, "put"), [&](const std::string& cost) {
            return fmt::format(
                "{}: tw_put took up to {} to copy: a deferred put makes no copy; or set threads, "
                "if a rank has several cores.",
                path, cost);
        });
    }

    void small_writes(const Json& f, const std::string& path) {
        const double writes = number_in(f, "writes"), mean = number_in(f, "write_bytes_mean");
        if (mean >= 64 * 1024 || writes < 2) return;
        note("writes", number_in(part_in(f, "seconds"), "write"), [&](const std::string& cost) {
            const double room = number_in(f, "queue_room_bytes");
            std::string what = "put all variables of a record in one step, and use fewer writers";
            if (text_in(f, "method") != "record")
                what = "use method=record";
            else if (room > 0 && room < 2 * step_bytes(f))
                what = fmt::format(
                    "the queue does not hold two steps, so steps are written in parts: set "
                    "queue={:.0f}MiB",
                    longer_queue(f));
            return fmt::format(
                "{}: {:.0f} writes of {} on average took up to {}. Small writes are slow: {}.",
                path, writes, bytes_text(mean), cost, what);
        });
    }

    double elapsed_, ranks_;
    double busy_ = 0;  ///< busy time of the slowest writer of each queue, summed over all files
    std::map<std::string, Cost> costs_;
};

/// Visits the rows of the files that a summary lists, and the row with the sum of the others.
template <class Visit>
void for_files(const Json& summary, const char* list, const char* others, Visit&& visit) {
    for (const Json& f : part_in(summary, list)) visit(f, text_in(f, "path"));
    if (const Json& sum = part_in(summary, others); sum.is_object())
        visit(sum, fmt::format("{:.0f} more files", number_in(sum, "files")));
}

}  // namespace

std::vector<std::string> advice_on(const Json& summary) {
    Advisor advisor(summary);
    for_files(summary, "files", "other_files",
              [&](const Json& f, const std::string& path) { advisor.file(f, path); });
    for_files(summary, "inputs", "other_inputs",
              [&](const Json& f, const std::string& path) { advisor.input(f, path); });
    advisor.ranks(part_in(summary, "rank_seconds"));
    return advisor.said();
}

}  // namespace thalweg::detail
