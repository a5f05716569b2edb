// Tests the windows, weights, missing values and files of histories, by cases with their expected
// values.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "history.hpp"

using calls::session;
using namespace histories;

namespace {

constexpr double hour = 3600, day = 24 * hour;

/// Expected contents of a record. Times have the units of the file.
struct Record {
    double time;
    double begin, end;  // bounds of the record; begin > end means that the file has no bounds
    double value;
};

struct Case {
    const char* name;
    const char* calendar;
    const char* start;
    std::string config;  // keys that follow the units of time in the configuration
    std::vector<Step> steps;
    std::string file;
    std::vector<Record> records;
    const char* attributes = "units=K";
};

std::vector<Step> every(double dt, int n, double (*value)(int), int first = 1) {
    std::vector<Step> steps;
    for (int i = first; i < first + n; ++i) steps.push_back({dt * i, value(i)});
    return steps;
}
double number(int i) { return i; }
double one(int) { return 1; }

std::string stream(const std::string& keys) {
    return "[[stream]]\nname = \"s\"\nfields = [\"T\"]\npath = \"s.nc\"\ntype = \"double\"\n" +
           keys;
}

std::vector<Case> february() {
    struct Year {
        const char* calendar;
        const char* start;
        double begin, end;
    };
    std::vector<Case> cases;
    for (const Year& y :
         {Year{"standard", "1900-01-01", 31, 59}, Year{"proleptic_gregorian", "1900-01-01", 31, 59},
          Year{"noleap", "1900-01-01", 31, 59}, Year{"julian", "1900-01-01", 31, 60},
          Year{"all_leap", "1900-01-01", 31, 60}, Year{"360_day", "1900-01-01", 30, 60},
          Year{"noleap", "2000-01-01", 31, 59}, Year{"standard", "2000-01-01", 31, 60}}) {
        const int days = static_cast<int>(y.end);
        cases.push_back(
            {"february",
             y.calendar,
             y.start,
             stream("every = \"1 month\"\n"),
             every(day, days, one),
             "s.nc",
             {{y.begin / 2, 0, y.begin, 1}, {(y.begin + y.end) / 2, y.begin, y.end, 1}}});
    }
    return cases;
}

std::vector<Case> all_cases() {
    std::vector<Case> cases = february();
    // October 1582 has 21 days.
    cases.push_back({"october 1582",
                     "standard",
                     "1582-10-01",
                     stream("every = \"1 month\"\n"),
                     every(day, 21, number),
                     "s.nc",
                     {{10.5, 0, 21, 11}}});
    // Samples at a boundary belong to the window that ends there.
    cases.push_back({"partial months",
                     "noleap",
                     "2000-01-31 12:00:00",
                     stream("every = \"1 month\"\nat_close = \"write\"\n"),
                     every(6 * hour, 5, number),
                     "s.nc",
                     {{0.25, 0, 0.5, 1.5}, {0.875, 0.5, 1.25, 4}}});
    cases.push_back({"an open month is dropped",
                     "noleap",
                     "2000-01-31 12:00:00",
                     stream("every = \"1 month\"\n"),
                     every(6 * hour, 5, number),
                     "s.nc",
                     {{0.25, 0, 0.5, 1.5}}});
    cases.push_back({"months from the 31st",
                     "noleap",
                     "2000-01-31",
                     stream("every = \"1 month\"\nanchor = \"start\"\n"),
                     every(day, 89, one),
                     "s.nc",
                     {{14, 0, 28, 1}, {43.5, 28, 59, 1}, {74, 59, 89, 1}}});
    // Steps of 1 h and of 3 h.
    const std::vector<Step> uneven{{hour, 10}, {4 * hour, 2}};
    cases.push_back({"durations",
                     "standard",
                     "2000-01-01",
                     stream("every = \"4 hours\"\n"),
                     uneven,
                     "s.nc",
                     {{2 / 24., 0, 4 / 24., 4}}});
    cases.push_back({"counts",
                     "standard",
                     "2000-01-01",
                     stream("every = \"4 hours\"\nweights = \"count\"\n"),
                     uneven,
                     "s.nc",
                     {{2 / 24., 0, 4 / 24., 6}}});
    // Fields that are sent in every third step, or in every fifth.
    std::vector<Step> third, fifth;
    for (int i = 1; i <= 24; ++i) third.push_back({i * hour, i % 3 == 0 ? i : not_sent});
    for (int i = 1; i <= 48; ++i) fifth.push_back({i * hour, i % 5 == 0 ? i : not_sent});
    cases.push_back({"every third hour",
                     "standard",
                     "2000-01-01",
                     stream("every = \"1 day\"\n"),
                     third,
                     "s.nc",
                     {{0.5, 0, 1, 13.5}}});
    cases.push_back({"every fifth hour",
                     "standard",
                     "2000-01-01",
                     stream("every = \"1 day\"\n"),
                     fifth,
                     "s.nc",
                     {{0.5, 0, 1, 12.5}, {1.5, 1, 2, (25 + 5. * (30 + 35 + 40 + 45)) / 21}}});
    // A third of a second is not a whole number of microseconds; the errors of such steps must not
    // add up.
    std::vector<Step> thirds;
    for (int i = 1; i <= 30; ++i) thirds.push_back({i / 3., static_cast<double>(i)});
    std::vector<Record> seconds;
    for (int k = 0; k < 10; ++k)
        seconds.push_back({(k + 0.5) / 86400, k / 86400., (k + 1) / 86400., 3. * k + 2});
    cases.push_back({"thirds of a second", "standard", "2000-01-01",
                     stream("every = \"1 second\"\nweights = \"count\"\n"), thirds, "s.nc",
                     seconds});
    // A step that crosses a boundary belongs to the window in which it ends.
    cases.push_back({"seven minutes",
                     "standard",
                     "2000-01-01",
                     stream("every = \"1 hour\"\n"),
                     every(7 * 60, 10, number),
                     "s.nc",
                     {{0.5 / 24, 0, 1 / 24., 4.5}}});
    // Operations.
    for (const auto& [op, value] :
         {std::pair{"max", 4.}, {"min", 1.}, {"sum", 10.}, {"mean", 2.5}, {"mean_square", 7.5}})
        cases.push_back({op,
                         "standard",
                         "2000-01-01",
                         stream(std::string("every = \"1 day\"\nop = \"") + op + "\"\n"),
                         every(6 * hour, 4, number),
                         "s.nc",
                         {{0.5, 0, 1, value}}});
    std::vector<Step> eight;
    for (const double v : {2., 4., 4., 4., 5., 5., 7., 9.})
        eight.push_back({3 * hour * static_cast<double>(eight.size() + 1), v});
    cases.push_back({"std",
                     "standard",
                     "2000-01-01",
                     stream("every = \"1 day\"\nop = \"std\"\n"),
                     eight,
                     "s.nc",
                     {{0.5, 0, 1, 2}}});
    // Missing values.
    const char* varying = "units=K; missing=varying; missing_value=-999";
    const std::vector<Step> gaps{{6 * hour, 1}, {12 * hour, -999}, {18 * hour, 3}, {day, -999}};
    for (const auto& [op, value] : {std::pair{"mean", 2.}, {"max", 3.}, {"min", 1.}, {"sum", 4.}})
        cases.push_back({"missing",
                         "standard",
                         "2000-01-01",
                         stream(std::string("every = \"1 day\"\nop = \"") + op + "\"\n"),
                         gaps,
                         "s.nc",
                         {{0.5, 0, 1, value}},
                         varying});
    cases.push_back({"enough valid",
                     "standard",
                     "2000-01-01",
                     stream("every = \"1 day\"\nmin_valid = 0.5\n"),
                     gaps,
                     "s.nc",
                     {{0.5, 0, 1, 2}},
                     varying});
    cases.push_back({"too few valid",
                     "standard",
                     "2000-01-01",
                     stream("every = \"1 day\"\nmin_valid = 0.6\n"),
                     gaps,
                     "s.nc",
                     {{0.5, 0, 1, 1e20}},
                     varying});
    cases.push_back({"all missing, then valid",
                     "standard",
                     "2000-01-01",
                     stream("every = \"12 hours\"\n"),
                     {{6 * hour, -999}, {12 * hour, -999}, {18 * hour, 5}, {day, 7}},
                     "s.nc",
                     {{0.25, 0, 0.5, 1e20}, {0.75, 0.5, 1, 6}},
                     varying});
    // Instants.
    cases.push_back({"instants",
                     "standard",
                     "2000-01-01",
                     stream("every = \"1 day\"\nop = \"instant\"\n"),
                     every(5 * hour, 10, number),
                     "s.nc",
                     {{25 / 24., 1, 0, 5}, {50 / 24., 1, 0, 10}}});
    cases.push_back({"initial",
                     "standard",
                     "2000-01-01",
                     stream("every = \"1 day\"\nop = \"instant\"\ninitial = true\n"),
                     every(12 * hour, 3, number, 0),
                     "s.nc",
                     {{0, 1, 0, 0}, {1, 1, 0, 2}}});
    // A sample at the start is not part of a mean.
    cases.push_back({"the start",
                     "standard",
                     "2000-01-01",
                     stream("every = \"1 day\"\n"),
                     every(12 * hour, 3, number, 0),
                     "s.nc",
                     {{0.5, 0, 1, 1.5}}});
    cases.push_back({"from",
                     "noleap",
                     "2000-01-01",
                     stream("every = \"1 month\"\nfrom = \"2000-02-10\"\n"),
                     every(day, 59, one),
                     "s.nc",
                     {{49.5, 40, 59, 1}}});
    // Inner operations are applied to days, which have the samples (1, 3) and (2, 8).
    const std::vector<Step> days{{12 * hour, 1}, {day, 3}, {36 * hour, 2}, {2 * day, 8}};
    cases.push_back({"mean of daily maxima",
                     "standard",
                     "2000-01-01",
                     stream("every = \"2 days\"\ninner = { op = \"max\", every = \"1 day\" }\n"),
                     days,
                     "s.nc",
                     {{1, 0, 2, 5.5}}});
    cases.push_back({"maximum",
                     "standard",
                     "2000-01-01",
                     stream("every = \"2 days\"\nop = \"max\"\n"),
                     days,
                     "s.nc",
                     {{1, 0, 2, 8}}});
    // Stamps.
    for (const auto& [stamp, time] : {std::pair{"begin", 0.}, {"middle", 1.}, {"end", 2.}})
        cases.push_back({stamp,
                         "standard",
                         "2000-01-01",
                         stream(std::string("every = \"2 days\"\nstamp = \"") + stamp + "\"\n"),
                         days,
                         "s.nc",
                         {{time, 0, 2, 3.5}}});
    // A record at a boundary is in the file before that boundary.
    const std::string files =
        "[[stream]]\nname = \"s\"\nfields = [\"T\"]\ntype = \"double\"\nop = "
        "\"instant\"\nevery = \"1 day\"\nnew_file = \"1 month\"\n";
    const std::vector<Step> days60 = every(day, 60, number);
    std::vector<Record> january, february_records, january_next;
    for (int i = 1; i <= 60; ++i)
        (i <= 31 ? january : february_records).push_back({1. * i, 1, 0, 1. * i});
    for (int i = 1; i <= 30; ++i) january_next.push_back({1. * i, 1, 0, 1. * i});
    cases.push_back({"january", "standard", "2000-01-01", files, days60, "s_2000-01.nc", january});
    cases.push_back(
        {"february", "standard", "2000-01-01", files, days60, "s_2000-02.nc", february_records});
    cases.push_back({"boundary", "standard", "2000-01-01", files + "boundary = \"next\"\n", days60,
                     "s_2000-01.nc", january_next});
    // The window of five days that begins on 31 December is in the file of the year in which it
    // ends.
    const std::string five =
        "[[stream]]\nname = \"s\"\nfields = [\"T\"]\ntype = \"double\"\n"
        "every = \"5 days\"\nanchor = \"2000-01-01\"\nnew_file = \"1 year\"\n";
    std::vector<Record> year;
    for (int k = 1; k <= 73; ++k) year.push_back({5. * k - 2.5, 5. * k - 5, 5. * k, 5. * k - 2});
    for (const char* calendar : {"standard", "noleap"}) {
        const std::vector<Step> days370 = every(day, 370, number);
        cases.push_back({"five days", calendar, "2000-01-01", five, days370, "s_2000.nc", year});
        cases.push_back({"five days",
                         calendar,
                         "2000-01-01",
                         five,
                         days370,
                         "s_2001.nc",
                         {{367.5, 365, 370, 368}}});
    }
    cases.push_back({"records a file",
                     "standard",
                     "2000-01-01",
                     "[[stream]]\nname = \"s\"\nfields = [\"T\"]\ntype = \"double\"\nevery = \"1 "
                     "day\"\nrecords = 2\npath = \"s_{start:YYYYMMDD}.nc\"\n",
                     every(day, 4, number),
                     "s_20000103.nc",
                     {{2.5, 2, 3, 3}, {3.5, 3, 4, 4}}});
    return cases;
}

void check_case(const Case& c) {
    check::step("case %s", c.name);
    const std::string folder = fresh_folder();
    Model model(c.attributes);
    model.open("[history]\ntime_units = \"days since START\"\n" + in_folder(c.config, folder),
               c.calendar, c.start);
    for (const Step& step : c.steps) model.step(step);
    model.close();
    const Contents file(folder + "/" + c.file);
    CHECK_TEXT(file.time.size() == c.records.size(), "%s: %d records", c.name,
               static_cast<int>(file.time.size()));
    for (std::size_t r = 0; r < std::min(file.time.size(), c.records.size()); ++r) {
        const Record& right = c.records[r];
        const bool bounds = right.begin <= right.end;
        CHECK_TEXT(file.time[r] == right.time, "%s: record %d has time %.17g, not %.17g", c.name,
                   static_cast<int>(r), file.time[r], right.time);
        CHECK_TEXT(bounds == !file.bounds.empty(), "%s: bounds", c.name);
        if (bounds && !file.bounds.empty())
            CHECK_TEXT(file.bounds[2 * r] == right.begin && file.bounds[2 * r + 1] == right.end,
                       "%s: record %d has bounds %.17g, %.17g", c.name, static_cast<int>(r),
                       file.bounds[2 * r], file.bounds[2 * r + 1]);
        for (std::int64_t i = 0; i < model.elements; ++i) {
            const double value = file.values[r * model.elements + i];
            CHECK_TEXT(value == right.value, "%s: record %d: value %.17g, not %.17g", c.name,
                       static_cast<int>(r), value, right.value);
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    CHECK(tw_init(MPI_COMM_WORLD, nullptr, &session) == TW_OK);
    for (const Case& c : all_cases()) check_case(c);
    OK(tw_finalize(&session));
    return check::verdict("history_cases");
}
