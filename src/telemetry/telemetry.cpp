// SPDX-License-Identifier: Apache-2.0
#include "telemetry/telemetry.hpp"

#include <errno.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <utility>

namespace thalweg::detail {

std::int64_t peak_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;) {
        if (word == "VmHWM:") {
            std::int64_t kib = 0;
            status >> kib;
            return kib * 1024;
        }
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
}

namespace {

/// Converts seconds to nanoseconds, so that all figures in messages are integers.
std::int64_t nanoseconds(double seconds) { return static_cast<std::int64_t>(seconds * 1e9); }
double seconds(std::int64_t ns) { return ns * 1e-9; }

using nlohmann::ordered_json;

/// Makes a JSON object from names and numbers. It is a function because a template would otherwise
/// be compiled for each length of a name.
template <class Value>
ordered_json object(std::initializer_list<std::pair<const char*, Value>> figures) {
    ordered_json result;
    for (const auto& [name, value] : figures) result[name] = value;
    return result;
}

/// Returns the times of the slowest rank, by names.
template <std::size_t n>
ordered_json slowest(Comm& comm, const std::array<const char*, n>& names,
                     const std::array<double, n>& times) {
    std::array<std::int64_t, n> most;
    std::ranges::transform(times, most.begin(), nanoseconds);
    comm.all_reduce(most, Reduce::max);
    ordered_json result;
    for (std::size_t i = 0; i < n; ++i) result[names[i]] = seconds(most[i]);
    return result;
}

/// @param named  the row is for one file, not for a sum of several
ordered_json input_row(Comm& comm, const ReadFigures& f, bool named) {
    std::int64_t sums[] = {f.bytes, f.calls, f.ahead, f.unused, f.messages, f.message_bytes};
    comm.all_reduce(sums, Reduce::sum);
    ordered_json row;
    if (named) {
        row["path"] = f.path;
        row["format"] = f.format;
        row["readers"] = f.readers;
    }
    row["reads"] = f.reads;
    row["bytes"] = sums[0];
    row["calls"] = sums[1];
    row["ahead_bytes"] = sums[2];
    row["unused_bytes"] = sums[3];
    row["messages"] = sums[4];
    row["message_bytes"] = sums[5];
    constexpr std::array names{"open", "read", "file", "unpack", "wait"};
    row["seconds"] = slowest(comm, names, {f.open, f.read, f.file, f.unpack, f.wait});
    return row;
}

ordered_json settings_rows(const std::vector<ChosenSetting>& settings) {
    ordered_json rows = ordered_json::array();
    for (const ChosenSetting& s : settings)
        rows.push_back(object<std::string>(
            {{"name", s.name}, {"asked", s.asked}, {"value", s.value}, {"reason", s.reason}}));
    return rows;
}

/// Lists the counts of writes that are not 0, with the smallest size that each counts.
ordered_json size_rows(const WriteSizes& sizes) {
    ordered_json rows = ordered_json::array();
    for (std::size_t i = 0; i < sizes.size(); ++i)
        if (sizes[i] > 0)
            rows.push_back(object<std::int64_t>(
                {{"from", i == 0 ? 0 : std::int64_t(1) << i}, {"writes", sizes[i]}}));
    return rows;
}

/// Makes the members of a file's row that come before its figures.
ordered_json file_names(const FileFigures& f, std::int64_t threads) {
    return object<ordered_json>({{"path", f.path},
                                 {"method", f.method},
                                 {"storage", f.storage},
                                 {"service", f.service},
                                 {"service_reason", f.why_service},
                                 {"format", f.format},
                                 {"writers", f.writers},
                                 {"threads", threads},
                                 {"settings", settings_rows(f.settings)}});
}

/// @param named  the row is for one file, not for a sum of several
ordered_json file_row(Comm& comm, const FileFigures& f, bool named) {
    const QueueFigures& queue = f.queue;
    std::int64_t peaks[] = {f.staging_bytes, f.buffer_bytes, queue.most_bytes,
                            queue.room,      f.threads,      nanoseconds(queue.wait_seconds)};
    std::int64_t sums[] = {f.bytes,     f.writes,    f.messages,      f.message_bytes,
                           queue.waits, queue.units, queue.unit_bytes};
    WriteSizes sizes = f.sizes;
    comm.all_reduce(peaks, Reduce::max);
    comm.all_reduce(sums, Reduce::sum);
    comm.all_reduce(sizes, Reduce::sum);
    ordered_json row;
    if (named) row = file_names(f, peaks[4]);
    row["steps"] = f.steps;
    row["bytes"] = sums[0];
    row["writes"] = sums[1];
    row["write_bytes_mean"] = sums[1] > 0 ? sums[0] / sums[1] : 0;
    row["write_sizes"] = size_rows(sizes);
    row["messages"] = sums[2];
    row["message_bytes"] = sums[3];
    row["staging_bytes"] = peaks[0];
    row["buffer_bytes"] = peaks[1];
    row["queue_waits"] = sums[4];
    row["queue_room_bytes"] = peaks[3];
    row["queue_bytes"] = peaks[2];
    row["queue_bytes_mean"] = sums[5] > 0 ? sums[6] / sums[5] : 0;
    row["queue_wait_seconds"] = seconds(peaks[5]);
    row["seconds"] = slowest(comm, FileTimes::names, f.times.seconds);
    return row;
}

/// The seconds that a rank spent on each activity, with names for the summary. The times up to
/// "other" add up to the time since tw_init.
struct RankTimes {
    static constexpr std::array names{"outside",    "open",    "put",   "step",  "close",
                                      "read",       "history", "other", "remap", "wait",
                                      "queue_wait", "drain",   "write", "busy"};
    std::array<double, names.size()> seconds{};

    explicit RankTimes(const AllFigures& all) {
        const auto add = [&](const FileFigures& f) {
            using enum FileTimes::Activity;
            const FileTimes& t = f.times;
            const double its[] = {t[open],  t[put],   t[step],  t[close], 0,
                                  0,        0,        t[remap], t[wait],  f.queue.wait_seconds,
                                  t[drain], t[write], t[busy]};
            for (std::size_t i = 0; i < std::size(its); ++i) seconds[i + 1] += its[i];
        };
        for (const FileFigures& f : all.files) add(f);
        add(all.of_other_files);
        for (const ReadFigures& f : all.inputs) seconds[5] += f.open + f.read;
        seconds[5] += all.of_other_inputs.open + all.of_other_inputs.read;
        double known = 0;
        seconds[6] = all.histories;
        for (std::size_t i = 1; i < 7; ++i) known += seconds[i];
        seconds[7] = std::max(0.0, all.in_calls - known);
        seconds[0] = std::max(0.0, all.elapsed - std::max(all.in_calls, known));
    }
};

/// Makes a row for each rank. If there are many ranks, each row contains the means of a group of
/// neighbours.
ordered_json rank_rows(Comm& comm, const AllFigures& all) {
    const RankTimes mine(all);
    constexpr std::size_t n = RankTimes::names.size();
    const int rows = std::min(comm.size(), most_rank_rows);
    const auto first = [&](std::int64_t row) { return (row * comm.size() + rows - 1) / rows; };
    std::vector<std::int64_t> sums(rows * n, 0);
    const std::int64_t own = std::int64_t(comm.rank()) * rows / comm.size();
    for (std::size_t i = 0; i < n; ++i) sums[own * n + i] = nanoseconds(mine.seconds[i]);
    comm.all_reduce(sums, Reduce::sum);
    ordered_json result = ordered_json::array();
    for (int r = 0; r < rows; ++r) {
        ordered_json row = object<std::int64_t>({{"first", first(r)}, {"last", first(r + 1) - 1}});
        const auto ranks = static_cast<double>(first(r + 1) - first(r));
        for (std::size_t i = 0; i < n; ++i)
            row[RankTimes::names[i]] = seconds(sums[r * n + i]) / ranks;
        result.push_back(std::move(row));
    }
    return result;
}

/// Makes the row for several files together: their number, "files", and the sums of their figures.
ordered_json sum_row(std::int64_t files, const ordered_json& figures) {
    ordered_json row;
    row["files"] = files;
    for (const auto& [name, value] : figures.items()) row[name] = value;
    return row;
}

/// Describes the run: its program, when it ended, and the directory to which it belongs.
/// @note Collective; the same on every rank
ordered_json about_run(Comm& comm) {
    char date[32] = "";
    const std::time_t seconds = std::time(nullptr);
    std::tm parts{};
    (void)std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&seconds, &parts));
    std::error_code ignored;
    const std::string folder = std::filesystem::current_path(ignored).string();
    const std::string mine =
        object<std::string>(
            {{"program", program_invocation_short_name}, {"date", date}, {"folder", folder}})
            .dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    std::vector<char> bytes(mine.begin(), mine.end());
    comm.broadcast(bytes, 0);
    return ordered_json::parse(bytes);
}

}  // namespace

void AllFigures::add(FileFigures f) {
    if (files.size() < most) {
        files.push_back(std::move(f));
        return;
    }
    ++other_files;
    FileFigures& all = of_other_files;
    for (std::size_t i = 0; i < all.times.seconds.size(); ++i)
        all.times.seconds[i] += f.times.seconds[i];
    all.queue.wait_seconds += f.queue.wait_seconds;
    for (std::int64_t FileFigures::*count :
         {&FileFigures::steps, &FileFigures::bytes, &FileFigures::writes, &FileFigures::messages,
          &FileFigures::message_bytes})
        all.*count += f.*count;
    for (std::int64_t QueueFigures::*count :
         {&QueueFigures::waits, &QueueFigures::units, &QueueFigures::unit_bytes})
        all.queue.*count += f.queue.*count;
    for (std::int64_t FileFigures::*peak :
         {&FileFigures::staging_bytes, &FileFigures::buffer_bytes})
        all.*peak = std::max(all.*peak, f.*peak);
    for (std::int64_t QueueFigures::*peak : {&QueueFigures::most_bytes, &QueueFigures::room})
        all.queue.*peak = std::max(all.queue.*peak, f.queue.*peak);
    for (std::size_t i = 0; i < all.sizes.size(); ++i) all.sizes[i] += f.sizes[i];
}

void AllFigures::add(ReadFigures f) {
    if (inputs.size() < most) {
        inputs.push_back(std::move(f));
        return;
    }
    ++other_inputs;
    ReadFigures& all = of_other_inputs;
    for (double ReadFigures::*time : {&ReadFigures::open, &ReadFigures::read, &ReadFigures::file,
                                      &ReadFigures::unpack, &ReadFigures::wait})
        all.*time += f.*time;
    for (std::int64_t ReadFigures::*count :
         {&ReadFigures::reads, &ReadFigures::bytes, &ReadFigures::calls, &ReadFigures::ahead,
          &ReadFigures::unused, &ReadFigures::messages, &ReadFigures::message_bytes})
        all.*count += f.*count;
}

std::string summarize(Comm& comm, const AllFigures& all) {
    ordered_json result = about_run(comm);
    std::int64_t peaks[] = {peak_memory(), nanoseconds(all.elapsed)};
    comm.all_reduce(peaks, Reduce::max);
    result["ranks"] = comm.size();
    if (!all.servers_reason.empty()) result["servers_reason"] = all.servers_reason;
    result["peak_memory_bytes"] = peaks[0];
    result["elapsed_seconds"] = seconds(peaks[1]);
    result["rank_seconds"] = rank_rows(comm, all);
    result["files"] = ordered_json::array();
    for (const FileFigures& f : all.files) result["files"].push_back(file_row(comm, f, true));
    if (all.other_files > 0)
        result["other_files"] = sum_row(all.other_files, file_row(comm, all.of_other_files, false));
    result["inputs"] = ordered_json::array();
    for (const ReadFigures& f : all.inputs) result["inputs"].push_back(input_row(comm, f, true));
    if (all.other_inputs > 0)
        result["other_inputs"] =
            sum_row(all.other_inputs, input_row(comm, all.of_other_inputs, false));
    // Replace invalid bytes, as a path need not be UTF-8.
    return result.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

namespace {

std::string short_path(const std::string& path) {
    return path.size() > 24 ? "..." + path.substr(path.size() - 21) : path;
}

double megabytes(const ordered_json& bytes) { return bytes.get<double>() / 1e6; }

}  // namespace

std::string summary_table(const std::string& json) {
    const auto summary = ordered_json::parse(json);
    constexpr std::array times{"open", "put", "remap", "wait", "write", "close"};
    std::string text =
        fmt::format("{:<24} {:<7} {:<8} {:>5} {:>8}", "file", "method", "storage", "steps", "MB");
    for (const char* name : times) text += fmt::format(" {:>6} s", name);
    text += fmt::format(" {:>9}\n", "MB/s");
    for (const auto& f : summary["files"]) {
        const auto& s = f["seconds"];
        const std::string method = f["method"], storage = f["storage"], service = f["service"];
        const std::int64_t steps = f["steps"], waits = f["queue_waits"];
        const double mb = megabytes(f["bytes"]), waited = f["queue_wait_seconds"];
        const double time =
            s["put"].get<double>() + s["step"].get<double>() + s["close"].get<double>();
        text += fmt::format("{:<24} {:<7} {:<8} {:>5} {:>8.1f}", short_path(f["path"]), method,
                            storage, steps, mb);
        for (const char* name : times) text += fmt::format(" {:>8.4f}", s[name].get<double>());
        text += fmt::format(" {:>9.1f}\n", time > 0 ? mb / time : 0.0);
        if (service != "inline")
            text += fmt::format(
                "  service {}: at most {:.1f} MB in a rank's queue; ranks waited {} times for "
                "room, at most {:.4f} s\n",
                service, megabytes(f["queue_bytes"]), waits, waited);
        if (const std::string why = f["service_reason"]; !why.empty())
            text += fmt::format("  service {}: {}\n", service, why);
    }
    if (const auto more = summary.find("other_files"); more != summary.end())
        text += fmt::format("and {} more files with {} steps, {:.1f} MB\n",
                            (*more)["files"].get<std::int64_t>(),
                            (*more)["steps"].get<std::int64_t>(), megabytes((*more)["bytes"]));
    for (const auto& f : summary["inputs"])
        text += fmt::format(
            "{:<24} read {} times, {:.1f} MB in {:.4f} s, of which {:.1f} MB were read ahead\n",
            short_path(f["path"]), f["reads"].get<std::int64_t>(), megabytes(f["bytes"]),
            f["seconds"]["read"].get<double>(), megabytes(f["ahead_bytes"]));
    if (const auto more = summary.find("other_inputs"); more != summary.end())
        text += fmt::format("and {} more read {} times, {:.1f} MB\n",
                            (*more)["files"].get<std::int64_t>(),
                            (*more)["reads"].get<std::int64_t>(), megabytes((*more)["bytes"]));
    return text +
           fmt::format("{} ranks; seconds of the slowest rank; peak memory of a rank {:.1f} MB\n",
                       summary["ranks"].get<int>(), megabytes(summary["peak_memory_bytes"]));
}

}  // namespace thalweg::detail
