// SPDX-License-Identifier: Apache-2.0
#include "telemetry/advice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace thalweg::detail {

double number_in(const Json& row, const char* name) {
    if (!row.is_object()) return 0;
    const auto found = row.find(name);
    return found != row.end() && found->is_number() ? found->get<double>() : 0;
}

std::string text_in(const Json& row, const char* name) {
    if (!row.is_object()) return "";
    const auto found = row.find(name);
    return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}

const Json& part_in(const Json& row, const char* name) {
    static const Json none = Json::array();
    if (!row.is_object()) return none;
    const auto found = row.find(name);
    return found != row.end() && found->is_structured() ? *found : none;
}

double hidden_seconds(const Json& file) {
    const Json& s = part_in(file, "seconds");
    const double waited = number_in(file, "queue_wait_seconds") + number_in(s, "drain");
    return std::max(0.0, number_in(s, "busy") - waited);
}

std::string seconds_text(double seconds) {
    const double size = std::abs(seconds);
    if (size >= 100) return fmt::format("{:.0f} s", seconds);
    if (size >= 10) return fmt::format("{:.1f} s", seconds);
    if (size >= 1) return fmt::format("{:.2f} s", seconds);
    if (size >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
    return size > 0 ? fmt::format("{:.3g} µs", seconds * 1e6) : "0";
}

std::string bytes_text(double bytes) {
    static constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
    std::size_t unit = 0;
    for (; bytes >= 1000 && unit + 1 < units.size(); ++unit) bytes /= 1000;
    return unit == 0 ? fmt::format("{:.0f} B", bytes)
                     : fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::string share_text(double share) {
    return share > 0 && share < 0.005 ? "<1 %" : fmt::format("{:.0f} %", 100 * share);
}

namespace {

/// Collects what is worth saying of one file.
struct Advisor {
    const double elapsed, ranks_number;
    const double busy;  ///< of the slowest writer of each queue, all files together
    std::vector<std::string>& said;

    bool much(double seconds) const { return elapsed > 0 && seconds > advice_share * elapsed; }
    /// "1.50 s (12 % of the run)"
    std::string cost(double seconds) const {
        return fmt::format("{} ({} of the run)", seconds_text(seconds),
                           share_text(seconds / elapsed));
    }
    void say(std::string text) const { said.push_back(std::move(text)); }

    /// Of a rank.
    double step_bytes(const Json& f) const {
        return number_in(f, "bytes") / std::max(1.0, number_in(f, "steps")) /
               std::max(1.0, ranks_number);
    }
    /// MiB: twice what there was, and room for four steps.
    double longer_queue(const Json& f) const {
        const double bytes = std::max(2 * number_in(f, "queue_room_bytes"), 4 * step_bytes(f));
        return std::ceil(bytes / (1 << 20));
    }

    void queue(const Json& f, const std::string& path) const {
        const Json& s = part_in(f, "seconds");
        const double waited = number_in(f, "queue_wait_seconds");
        const bool servers = text_in(f, "service") == "servers";
        if (much(waited)) {
            const std::string full = fmt::format(
                "{}: the queue was full {:.0f} times, and a rank waited up to {} for room.", path,
                number_in(f, "queue_waits"), cost(waited));
            if (busy > 0.8 * elapsed)
                say(fmt::format(
                    "{} Writing takes longer than computing (the writers worked for "
                    "{}), so a longer queue does not help: use more {}.",
                    full, cost(busy),
                    servers ? "servers (setting servers)" : "writers (setting writers)"));
            else
                say(
                    fmt::format("{} The writers had time left, so a longer queue helps: set "
                                "queue={:.0f}MiB.",
                                full, longer_queue(f)));
        }
        if (const double drained = number_in(s, "drain"); much(drained))
            say(
                fmt::format("{}: tw_sync and tw_close waited up to {} for the writers: set "
                            "close=later, or call tw_sync less often.",
                            path, cost(drained)));
    }

    void in_calls(const Json& f, const std::string& path) const {
        const Json& s = part_in(f, "seconds");
        const double step = number_in(s, "step"), wait = number_in(s, "wait");
        const double work = number_in(s, "write") + number_in(s, "remap");
        // Others write in the calls, whatever the setting.
        const bool can = text_in(f, "storage") != "pnetcdf" && text_in(f, "method") != "direct";
        if (much(step) && can)
            say(
                fmt::format("{}: tw_end_step and tw_sync took up to {}: with service=background "
                            "(and a core that is free for each writer) or servers, files are "
                            "written while the model computes.",
                            path, cost(step)));
        if (much(wait) && wait > 2 * work)
            say(
                fmt::format("{}: ranks waited up to {} for each other, far longer than packing "
                            "and writing took: they reach the collective calls at different "
                            "times. Look for load imbalance in the model.",
                            path, cost(wait)));
        if (const double put = number_in(s, "put"); much(put))
            say(
                fmt::format("{}: tw_put took up to {} to copy: tw_put_deferred makes no copy; "
                            "or set threads, if a rank has several cores.",
                            path, cost(put)));
    }

    void small_writes(const Json& f, const std::string& path) const {
        const double seconds = number_in(part_in(f, "seconds"), "write");
        const double writes = number_in(f, "writes"), mean = number_in(f, "write_bytes_mean");
        if (!much(seconds) || mean >= 64 * 1024 || writes < 2) return;
        const double room = number_in(f, "queue_room_bytes");
        std::string what = "put all variables of a record in one step, and use fewer writers";
        if (text_in(f, "method") != "record")
            what = "use method=record";
        else if (room > 0 && room < step_bytes(f))
            what = fmt::format(
                "the queue does not hold a step, which is written in parts: set "
                "queue={:.0f}MiB",
                longer_queue(f));
        say(
            fmt::format("{}: {:.0f} writes of {} on average took up to {}. Small writes are slow: "
                        "{}.",
                        path, writes, bytes_text(mean), cost(seconds), what));
    }

    void file(const Json& f) const {
        const Json& s = part_in(f, "seconds");
        const std::string path = text_in(f, "path");
        if (text_in(f, "service") == "inline")
            in_calls(f, path);
        else
            queue(f, path);
        small_writes(f, path);
        if (const double open = number_in(s, "open"); much(open))
            say(
                fmt::format("{}: creating the file and planning its exchange took up to {}: write "
                            "more records per file.",
                            path, cost(open)));
    }

    void input(const Json& f) const {
        const std::string path = text_in(f, "path");
        const double read = number_in(part_in(f, "seconds"), "read");
        const double ahead = number_in(f, "ahead_bytes"), unused = number_in(f, "unused_bytes");
        const double bytes = number_in(f, "bytes");
        if (much(read) && ahead <= 0 && number_in(f, "reads") > 1)
            say(
                fmt::format("{}: reading took up to {}: with read_ahead=yes the next record is "
                            "read while the model computes.",
                            path, cost(read)));
        if (unused > advice_share * bytes && ahead > 0)
            say(
                fmt::format("{}: {} of {} read ahead were never asked for: set read_ahead=no "
                            "where records are not read in order.",
                            path, bytes_text(unused), bytes_text(ahead + unused)));
    }

    void ranks(const Json& rows) const {
        double least = INFINITY, most = 0, other = 0;
        for (const Json& row : rows) {
            least = std::min(least, number_in(row, "outside"));
            most = std::max(most, number_in(row, "outside"));
            other = std::max(other, number_in(row, "other"));
        }
        if (much(most - least))
            say(
                fmt::format("The ranks spent between {} and {} outside the library: load "
                            "imbalance of the model, for which ranks wait in collective calls.",
                            seconds_text(least), seconds_text(most)));
        if (much(other))
            say(
                fmt::format("Calls other than those that write and read (decompositions, restarts, "
                            "tw_inq) took up to {}: make decompositions once and keep them.",
                            cost(other)));
    }
};

}  // namespace

std::vector<std::string> advice_on(const Json& summary) {
    std::vector<std::string> said;
    double busy = 0;
    for (const Json& f : part_in(summary, "files"))
        busy += number_in(part_in(f, "seconds"), "busy");
    const Advisor advisor{number_in(summary, "elapsed_seconds"), number_in(summary, "ranks"), busy,
                          said};
    for (const Json& f : part_in(summary, "files")) advisor.file(f);
    for (const Json& f : part_in(summary, "inputs")) advisor.input(f);
    advisor.ranks(part_in(summary, "rank_seconds"));
    return said;
}

}  // namespace thalweg::detail
