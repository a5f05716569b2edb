// SPDX-License-Identifier: Apache-2.0
#include "streams/command.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "history/configuration/table.hpp"
#include "session/settings.hpp"
#include "size_text.hpp"
#include "streams/convert.hpp"
#include "streams/estimate.hpp"

namespace thalweg::app {

namespace {

constexpr int exit_wrong = 1;

detail::Status read_text(const std::string& path, std::string& text) {
    std::error_code ignored;
    const bool folder = std::filesystem::is_directory(path, ignored);
    std::ifstream in(path, std::ios::binary);
    if (!folder) text.assign(std::istreambuf_iterator<char>(in), {});
    if (folder || (!in.good() && !in.eof()))
        return detail::failure(TW_EIO, "cannot read '{}'", path);
    return {};
}

int fail(const detail::Status& status) {
    fmt::print(stderr, "{}\n", status.text);
    return exit_wrong;
}

/// Sets the first date of a run that is not described.
detail::Status set_times(const HistoryOptions& options, history::RunTimes& times) {
    history::Date start;
    detail::Status status = history::parse_calendar(options.calendar, times.calendar);
    if (status.ok()) status = history::parse_date(times.calendar, options.start, start);
    if (!status.ok()) return status;
    times.start = history::time_of(times.calendar, start);
    times.step = history::one_second;  // durations in steps are the same for any length of a step
    return {};
}

/// Reads a configuration; problems go to `problems`.
detail::Status parse(std::string_view text, const std::string& name, const history::RunTimes& times,
                     std::vector<history::Problem>& problems, history::Table& table) {
    detail::Settings settings;
    if (detail::Status status = detail::Settings::read("", settings); !status.ok()) return status;
    const auto read = [&](const std::string& list, detail::Settings& of_file) {
        return settings.for_file(list, of_file);
    };
    problems = history::parse_table(text, name, times, read, table);
    return {};
}

int convert(const HistoryOptions& options) {
    std::string text, converted;
    history::RunTimes times;
    history::Table table;
    std::vector<history::Problem> problems, wrong;
    detail::Status status = read_text(options.from, text);
    if (status.ok()) status = set_times(options, times);
    if (!status.ok()) return fail(status);
    convert_history(options.from, text, converted, problems);
    fmt::print("{}", converted);
    if (!converted.empty()) status = parse(converted, "", times, wrong, table);
    if (!status.ok()) return fail(status);
    if (problems.empty() && wrong.empty()) return 0;
    if (!problems.empty()) fail(history::problem_status(std::move(problems), options.from));
    if (!wrong.empty()) fail(history::problem_status(std::move(wrong), "standard output"));
    return exit_wrong;
}

void print(const history::StreamTable& stream, const StreamEstimate& found) {
    fmt::print("stream '{}': {} record{}, {} each{}\n", stream.name, found.records,
               found.records == 1 ? "" : "s", size_text(found.record_bytes),
               found.at_most ? " at most" : "");
    if (found.files > 0)
        fmt::print("    {} file{} of {} in all before compression: {}{}\n", found.files,
                   found.files == 1 ? "" : "s", size_text(found.bytes), found.first_file,
                   found.first_file == found.last_file ? "" : " ... " + found.last_file);
    if (found.memory > 0)
        fmt::print("    {} of memory on all ranks together{}\n", size_text(found.memory),
                   found.at_most ? " at most" : "");
}

/// Prints an estimate of what each stream writes.
int print_estimates(const history::Table& table, HistoryRun run) {
    std::vector<history::ResolvedStream> streams;
    std::vector<std::string> warnings;
    auto problems = history::resolve(table, run.fields, streams, warnings);
    if (!problems.empty()) return fail(history::problem_status(std::move(problems), table.name));
    for (const std::string& warning : warnings) fmt::print(stderr, "{}\n", warning);
    std::int64_t bytes = 0, memory = 0, files = 0;
    for (const history::ResolvedStream& resolved : streams) {
        const history::StreamTable& stream =
            table.streams[static_cast<std::size_t>(resolved.table)];
        StreamEstimate found;
        if (const detail::Status status = estimate(table, resolved, run, found); !status.ok())
            problems.push_back(
                {stream.line, fmt::format("stream '{}': {}", stream.name, status.text)});
        else
            print(stream, found);
        bytes += found.bytes;
        memory += found.memory;
        files += found.files;
    }
    if (!problems.empty()) return fail(history::problem_status(std::move(problems), table.name));
    fmt::print("in all: {} files, {}, {} of memory\n", files, size_text(bytes), size_text(memory));
    return 0;
}

}  // namespace

int check_history(const HistoryOptions& options) {
    if (!options.from.empty()) return convert(options);
    if (options.keys) {
        fmt::print("{}", history::key_text());
        return 0;
    }
    std::string text, description;
    detail::Status status = read_text(options.config, text);
    HistoryRun run;
    if (status.ok() && options.run.empty()) status = set_times(options, run.times);
    if (status.ok() && !options.run.empty()) status = read_text(options.run, description);
    if (!status.ok()) return fail(status);
    std::vector<history::Problem> problems;
    if (!options.run.empty()) problems = parse_run(description, options.run, run);
    if (!problems.empty()) return fail(history::problem_status(std::move(problems), options.run));
    history::Table table;
    status = parse(text, options.config, run.times, problems, table);
    if (!status.ok()) return fail(status);
    if (!problems.empty())
        return fail(history::problem_status(std::move(problems), options.config));
    if (!options.run.empty()) return print_estimates(table, run);
    fmt::print("{}: {} stream{}, no problems\n", options.config, table.streams.size(),
               table.streams.size() == 1 ? "" : "s");
    return 0;
}

}  // namespace thalweg::app
