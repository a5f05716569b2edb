// Parses damaged configurations of a history: whatever the text is, parsing and resolving end, and
// every problem has a line. Counted, not timed, so that a run can be repeated.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "fuzz/inputs.hpp"
#include "history/configuration/resolve.hpp"
#include "history/configuration/table.hpp"

namespace {

using namespace thalweg::history;

const std::vector<std::string> corpus{
    R"toml([history]
time_units = "days since 1850-01-01"
samples = "end"
weights = "duration"
attributes = { Conventions = "CF-1.11", n = [1, 2], x = 1.5 }
[groups]
surface = ["tas", "pr", "@more", "-pr"]
more = ["u?s"]
[[stream]]
name = "month"
every = "1 month"
fields = ["ta", "u*", "@surface"]
new_file = "1 year"
path = "atm/month_{start:YYYY}.nc"
inner = { op = "max", every = "1 day" }
file = { format = "netcdf4", zstd = 3 }
[stream.field.tasmax]
of = "tas"
weight = "pr"
type = "same"
[[stream]]
name = "noon"
every = "PT6H"
anchor = "0001-01-01 12:00"
op = "instant"
initial = true
fields = ["ta"]
levels = { dim = "lev", nearest = [85000, 50000] }
records = 12
[field.ta]
units = "K"
fill = 1e20
)toml",
    R"toml([[stream]]
name = "5d"
every = "5 days"
anchor = 1958-01-01
from = "2000-02-10"
to = 2010-01-01T00:00:00
fields = ["*", "-tas"]
files = "variable"
path = "oce/{variable}_{region}_{start:YYYY}-{last:YYYYMM}.nc"
new_file = "10 years"
region = "box"
hours = ["00:00", "12:30"]
sample = "3 hours"
field.tosstd = { of = "tas", op = "std" }
[region.box]
box = [350, 10, -5, 5]
[region.points]
points = [[11.07, 47.98], [262.5, 36.6]]
names = ["a", "b"]
[region.index]
index = { lon = [0, 9], lat = [1, 2] }
)toml"};

/// Replaces parts of the text by words that have a meaning in a configuration.
void splice(std::string& text, Random& random) {
    static const std::vector<std::string> words{
        "\"",         "'",          "[",      "]",
        "{",          "}",          "=",      ".",
        "\n",         "[[",         "]]",     "\"\"\"",
        "1e999",      "nan",        "-1",     "9223372036854775807",
        "\\u",        "every",      "stream", "name",
        "\"0 days\"", "\"*\"",      "\"@x\"", "0000-00-00",
        "#",          "true",       "{start", "{}",
        "99999999",   "\"1 step\"", "field",  "\xff"};
    for (std::int64_t changes = random.between(1, 3); changes > 0; --changes) {
        const auto at =
            static_cast<std::size_t>(random.below(static_cast<std::int64_t>(text.size()) + 1));
        const auto length = static_cast<std::size_t>(random.below(random.percent(50) ? 2 : 20));
        text.replace(at, std::min(length, text.size() - at), random.pick(words));
    }
}

[[noreturn]] void wrong(const char* what, const std::string& text) {
    std::fprintf(stderr, "history: %s:\n%s\n", what, text.c_str());
    std::abort();
}

void check(const std::string& text, const RunTimes& run, std::vector<DeclaredField> fields) {
    Table table;
    std::vector<ResolvedStream> streams;
    std::vector<std::string> warnings;
    std::vector<Problem> problems = parse_table(text, "h", run, nullptr, table);
    if (problems.empty()) {
        problems = resolve(table, fields, streams, warnings);
        for (const ResolvedStream& resolved : streams) {
            const StreamTable& stream = table.streams[static_cast<std::size_t>(resolved.table)];
            WindowRules rules = window_rules(table, stream, run, stream.inner);
            set_splits(stream, resolved.fields, rules);
            Step step;
            std::optional<Time> previous;
            for (Time now = run.start; now < run.start + 3 * one_day; now += one_hour) {
                if (!take_step(rules, previous, now, step).ok()) break;
                previous = now;
            }
            PathValues values;
            values.end = run.start;
            if (fill_path(stream.path, values).empty()) wrong("no path", text);
        }
    }
    for (const Problem& problem : problems)
        if (problem.text.empty() || (problem.line <= 0 && problem.text != "there is no [[stream]]"))
            wrong("a problem without a line", text);
}

}  // namespace

/// Usage: history [--count N] [--seed N]
int main(int argc, char** argv) {
    const long long count = std::atoll(fuzz::option(argc, argv, "--count", "2000"));
    const auto seed =
        static_cast<std::uint64_t>(std::atoll(fuzz::option(argc, argv, "--seed", "1")));
    std::vector<DeclaredField> fields;
    for (const char* name : {"tas", "pr", "ta", "uas", "ua"}) {
        DeclaredField field;
        field.name = name;
        field.dims = {"lat", "lon"};
        field.shape = {10, 20};
        field.has_axes = field.has_centres = true;
        fields.push_back(field);
    }
    for (long long i = 0; i < count; ++i) {
        Random random(mix(seed, static_cast<std::uint64_t>(i)));
        RunTimes run;
        run.calendar = static_cast<Calendar>(random.below(6));
        run.start = time_of(run.calendar, {2000, 1, 1, 0});
        run.step = random.percent(50) ? one_hour : 0;
        std::string text = random.pick(corpus);
        if (i >= 2) {
            if (random.percent(30)) fuzz::change(text, random, 2000);
            if (random.percent(90)) splice(text, random);
        }
        check(text, run, fields);
    }
    std::printf("history: %lld inputs, seed %llu\n", count, static_cast<unsigned long long>(seed));
    return 0;
}
