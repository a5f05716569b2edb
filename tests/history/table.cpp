// SPDX-License-Identifier: Apache-2.0
#include "history/configuration/table.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "history/configuration/resolve.hpp"
#include "session/settings.hpp"

namespace thalweg::history {
namespace {

const char* const atmosphere = R"toml([groups]
surface = ["tas", "pr", "ps", "uas", "vas"]
[[stream]]
name = "month"
every = "1 month"
fields = ["ta", "ua", "va", "hus", "@surface"]
new_file = "1 year"
path = "atm/month_{start:YYYY}.nc"
[stream.field.tasmax]
of = "tas"
inner = { op = "max", every = "1 day" }
[[stream]]
name = "noon"
every = "1 day"
anchor = "0001-01-01 12:00"
op = "instant"
fields = ["ta", "zg"]
levels = { dim = "plev", nearest = [85000, 50000, 25000] }
new_file = "1 month"
file = { format = "netcdf4", zstd = 3, quantize = "bitround:12" }
[[stream]]
name = "sites"
every = "1 hour"
op = "instant"
fields = ["@surface"]
region = "towers"
records = 8760
[region.towers]
points = [[11.07, 47.98], [262.5, 36.6]]
names = ["HPB", "SGP"]
)toml";

const char* const cmip = R"toml([history]
attributes = { Conventions = "CF-1.11", mip_era = "CMIP7", source_id = "X-1", variant_label = "r1i1p1f1" }
stamp_files = true
[[stream]]
name = "mon"
every = "1 month"
anchor = "1850-01-01"
fields = ["tas", "pr", "psl", "rsut"]
files = "variable"
path = "cmip/{variable}_mon_X-1_historical_r1i1p1f1_{start:YYYYMM}-{last:YYYYMM}.nc"
new_file = "10 years"
file = { format = "netcdf4-classic", deflate = 1, shuffle = "yes" }
attributes = { frequency = "mon", realm = "atmos" }
field.sithick = { weight = "siconc", cell_methods = "area: time: mean where sea_ice (mask=siconc)" }
)toml";

RunTimes run_of(Calendar calendar = Calendar::noleap) {
    return {calendar, time_of(calendar, {2000, 1, 1, 0}), 0};
}

Status read_settings(const std::string& list, detail::Settings& settings) {
    static const detail::Settings all = [] {
        detail::Settings read;
        EXPECT_TRUE(detail::Settings::read("", read).ok());
        return read;
    }();
    return all.for_file(list, settings);
}

std::string problems_of(const std::string& text, const RunTimes& run = run_of()) {
    Table table;
    return problem_status(parse_table(text, "history.toml", run, read_settings, table),
                          "history.toml")
        .text;
}

Table table_of(const char* text, const RunTimes& run = run_of()) {
    Table table;
    const auto problems = parse_table(text, "history.toml", run, read_settings, table);
    EXPECT_EQ(problem_status(problems, "history.toml").text, "");
    return table;
}

TEST(Table, Examples) {
    const Table air = table_of(atmosphere);
    ASSERT_EQ(air.streams.size(), 3u);
    EXPECT_EQ(air.streams[0].field.at("tasmax").of, "tas");
    EXPECT_EQ(air.streams[0].field.at("tasmax").inner->op, Op::max);
    EXPECT_EQ(air.streams[1].settings, "format=netcdf4; quantize=bitround:12; zstd=3");
    EXPECT_EQ(air.streams[1].levels->nearest.at(1), 50000);
    EXPECT_EQ(air.streams[1].path, "{stream}_{start}.nc");
    EXPECT_EQ(air.streams[2].records, 8760);
    EXPECT_EQ(file_unit(air.streams[2]), Unit::hour);
    EXPECT_EQ(file_unit(air.streams[0]), Unit::year);
    EXPECT_EQ(air.regions.at("towers").points.at(1)[0], 262.5);
    EXPECT_EQ(air.time_units.text, "days since 2000-01-01 00:00:00");
    EXPECT_EQ(air.bounds, "time_bnds");
    const Table cmor = table_of(cmip);
    EXPECT_EQ(cmor.attributes.size(), 4u);
}

struct Wrong {
    const char* text;      ///< text of a stream with a single fault
    const char* expected;  ///< expected message, with its line number
};

/// Lines before the text of each case, so that this text begins at line 5.
const char* const stream_head =
    "[[stream]]\nname = \"daily\"\nevery = \"1 day\"\nfields = [\"a\"]\n";

TEST(Table, WrongKeysOfAStream) {
    const std::vector<Wrong> cases{
        {"evry = 1", "5: stream 'daily': 'evry' is not a key; did you mean 'every'?"},
        {"op = \"average\"", "5: stream 'daily': 'op': \"average\" is not one of \"instant\", "},
        {"op = 3", "5: stream 'daily': 'op': expected a text in quotes"},
        {"op = \"once\"",
         "5: stream 'daily': op = \"once\" needs every = \"once\", and the reverse"},
        {"from = \"2001-02-29\"", "5: stream 'daily': 'from': the calendar noleap has no date"},
        {"from = \"soon\"", "5: stream 'daily': 'from': 'soon' is not a date"},
        {"from = 2001-02-01\nto = 2001-01-01", "6: stream 'daily': 'to' is not after 'from'"},
        {"new_file = \"1 fortnight\"", "5: stream 'daily': 'new_file': '1 fortnight' is not a dur"},
        {"new_file = \"5 months\"", "5: stream 'daily': 'new_file': '5 months' does not divide"},
        {"new_file = \"1 month\"\npath = \"a.nc\"", "6: stream 'daily': 'path': two files would"},
        {"new_file = \"1 month\"\npath = \"{start:YYYY}.nc\"", "6: stream 'daily': 'path': two f"},
        {"new_file = \"1 month\"\nrecords = 3", "6: stream 'daily': 'new_file' and 'records'"},
        {"path = \"{strem}.nc\"", "5: stream 'daily': 'path': '{strem}' is not a placeholder; did"},
        {"path = \"{start:XX}.nc\"", "5: stream 'daily': 'path': '{start:XX}': only start, end"},
        {"path = \"{stream\"", "5: stream 'daily': 'path': '{stream' has a brace"},
        {"path = \"{variable}.nc\"", "5: stream 'daily': 'path': {variable} needs files"},
        {"files = \"variable\"\npath = \"x.nc\"", "6: stream 'daily': 'path' needs {variable}"},
        {"records = 0", "5: stream 'daily': 'records': expected an integer from 1 to"},
        {"type = \"real\"", "5: stream 'daily': 'type': \"real\" is not one of"},
        {"stamp = \"centre\"", "5: stream 'daily': 'stamp': \"centre\" is not one of"},
        {"anchor = \"monday\"", "5: stream 'daily': 'anchor': 'monday' is not a date"},
        {"initial = true", "5: stream 'daily': 'initial' is for the operation instant"},
        {"initial = 1", "5: stream 'daily': 'initial': expected true or false"},
        {"hours = [\"25:00\"]", "5: stream 'daily': 'hours': '25:00' is not a time"},
        {"sample = \"7 hours\"", "5: stream 'daily': 'sample': '7 hours' does not divide the day"},
        {"inner = { op = \"max\", every = \"7 hours\" }", "5: stream 'daily': 'inner': '7 hours'"},
        {"inner = { op = \"max\", every = \"2 days\" }", "5: stream 'daily': 'inner': '2 days' do"},
        {"inner = { op = \"max\" }", "5: stream 'daily': inner: 'every' is missing"},
        {"inner = { op = \"max\", every = \"1 hour\", x = 1 }", "5: stream 'daily': inner: 'x' is"},
        {"op = \"instant\"\ninner = { op = \"max\", every = \"1 hour\" }", "6: stream 'daily': 'i"},
        {"op = \"max\"\nweight = \"b\"", "6: stream 'daily': 'weight' is for the operations mean"},
        {"weight = \"b\"\nmin_valid = 0.5", "6: stream 'daily': 'min_valid' and 'weight' exclude"},
        {"min_valid = 1.5", "5: stream 'daily': 'min_valid': expected a number from 0 to 1"},
        {"ddof = 1", "5: stream 'daily': 'ddof' needs weights = \"count\""},
        {"region = \"x\"", "5: stream 'daily': 'region': there is no [region.x]"},
        {"map = \"x\"", "5: stream 'daily': 'map': there is no [map.x]"},
        {"zoom = [14]", "5: stream 'daily': 'zoom': 14 is not a level from 0 to 13"},
        {"zoom = [3, 2]\nrecords = 1\naggregate = \"a.nc\"",
         "7: stream 'daily': 'aggregate' needs {zoom}"},
        {"map = \"m\"\nweight = \"b\"\n[map.m]\nfile = \"m\"\nmissing = \"zero\"",
         "5: stream 'daily': 'min_fraction' and missing = \"zero\" of map 'm' have no effect"},
        {"zoom = [3]\nreduce = \"mean\"", "6: stream 'daily': 'reduce' cannot be used with a map"},
        {"zoom = [3, 2]\npath = \"a.nc\"", "6: stream 'daily_2': 'path': its files would have"},
        {"levels = { dim = \"lev\" }", "5: stream 'daily': levels: expected one of 'index'"},
        {"levels = { index = [0] }", "5: stream 'daily': levels: 'dim' is missing"},
        {"levels = { dim = \"lev\", range = [2, 1] }", "5: stream 'daily': levels: 'range'"},
        {"levels = { dim = \"lev\", index = [2, 0, 2] }", "5: stream 'daily': levels: 'index' has"},
        {"records = 3\npath = \"{start}-{last}.nc\"",
         "6: stream 'daily': 'path': {end} and {last}"},
        {"file = { format = \"cdf9\" }", "5: stream 'daily': file: 'format': "},
        {"file = { zstd = [1] }", "5: stream 'daily': file: 'zstd': expected a text, an integer"},
        {"attributes = { a = 2001-01-01 }", "5: stream 'daily': attribute 'a': expected a text"},
        {"sync = -1", "5: stream 'daily': 'sync': expected an integer from 0"},
        {"field.b = { op = \"instant\" }", "5: stream 'daily', field 'b': instants, statistics"},
        {"field.b = { opp = 1 }", "5: stream 'daily', field 'b': 'opp' is not a key"},
        {"field.b = 1", "5: stream 'daily', field 'b': expected a table"},
        {"[field.a]\nop = \"max\"", "6: field 'a': 'op' is not a key"},
        {"[[stream]]\nname = \"daily\"\nevery = \"step\"\nfields = [\"a\"]",
         "6: stream 'daily': line 1 has a stream of this name"},
        {"path = \"x.nc\"\n[[stream]]\nname = \"b\"\nevery = \"step\"\nfields = [\"a\"]\npath = "
         "\"./x.nc\"",
         "10: stream 'b': 'path': its files would have the same names as those of stream 'daily'"},
        {"records = 1\naggregate = \"{op}.nc\"\n[[stream]]\nname = \"b\"\nevery = \"step\"\nfields "
         "= [\"a\"]\nrecords = 1\naggregate = \"mean.nc\"",
         "12: stream 'b': 'aggregate' is also that of stream 'daily'"},
        {"[[stream]]\nname = \"b\"\nevery = \"step\"\nfields = [\"@x\"]",
         "8: stream 'b': there is"},
        {"[groups]\nx = [\"@y\"]\ny = [\"@x\"]", "6: group 'x' contains itself"},
        {"[groups]\nx = \"a\"", "6: group 'x': expected a list of fields"},
        {"[stream.extra]", "5: stream 'daily': 'extra' is not a key"},
        {"[streams]", "5: 'streams' is not a key; did you mean 'stream'?"},
        {"[history]\nmax_open = 0", "6: [history]: 'max_open': expected an integer from 1"},
        {"[history]\ntime_units = \"months since START\"", "6: [history]: 'time_units': 'months"},
        {"[history]\nsamples = \"begin\"\nweights = \"duration\"", "7: [history]: 'weights': a s"},
        {"[history]\nbounds = \"time\"", "6: [history]: 'time', 'bounds' and 'bounds_dim' need"},
        {"[region.a]\nbox = [0, 10, 5]", "6: region 'a': 'box': expected a list of 4 numbers"},
        {"[region.a]\nbox = [0, 10, 5, -5]", "6: region 'a': 'box': expected [west, east, south"},
        {"[region.a]\nbox = [0, 10, -5, 5]\nindex = { x = [0, 1] }", "5: region 'a': expected one"},
        {"[region.a]\nindex = { x = [3, 1] }", "6: region 'a': index: 'x': expected the first and"},
        {"[region.a]\npoints = [[0, 95]]", "6: region 'a': points: expected [longitude, latitude]"},
        {"[region.a]\npoints = [[0, 9]]\nnames = [\"a\", \"b\"]",
         "7: region 'a': 'names' has 2 names"},
        {"[region.a]\nlist_file = \"x.nc\"",
         "6: region 'a': 'list_file' and 'list_var' must be given"},
        {"[region.a]\nmask = \"x\"\nbox = [0, 1, 0, 1]", "6: region 'a': 'mask' is not a key"},
        {"[map.a]\nmissing = \"zero\"", "5: map 'a': 'file' is missing"},
        {"op = \"instant\"\nhours = [\"06:00\", \"18:00\"]",
         "6: stream 'daily': 'hours': \"18:00\" has no record: a record is the first sample at or "
         "after a multiple of \"1 day\", which is that at \"06:00\": take a shorter 'every'"},
        {"sample = \"12 hours\"\nhours = [\"06:00\"]",
         "6: stream 'daily': 'hours': \"06:00\" has no record: no multiple of sample = \"12 "
         "hours\""},
        {"to = \"2000-01-01\"",
         "5: stream 'daily': 'to': the stream has no record: there is no time between 2000-01-01 "
         "00:00:00 and 2000-01-01 00:00:00"},
        {"from = \"2000-02-10 01:00\"\nto = \"2000-02-10 23:00\"",
         "6: stream 'daily': 'to': the stream has no record: no window of \"1 day\" ends between "},
        {"partial = \"drop\"\nfrom = \"2000-02-10 01:00\"\nto = \"2000-02-11 23:00\"",
         "7: stream 'daily': 'to': the stream has no record: no window of"},
        {"op = \"instant\"\nfrom = \"2000-02-10 01:00\"\nto = \"2000-02-10 23:00\"",
         "7: stream 'daily': 'to': the stream has no record: no instant of \"1 day\""},
        {"op = \"instant\"\nhours = [\"06:00\"]\nfrom = \"2000-02-10 07:00\"\nto = \"2000-02-11 "
         "05:00\"",
         "8: stream 'daily': 'to': the stream has no record: no instant of"},
        {"file = { deflate = 1 }",
         "5: stream 'daily': file: 'deflate' has no effect in files of the format cdf2 or cdf5"},
        {"file = { format = \"cdf5\", zstd = 3 }",
         "5: stream 'daily': file: 'zstd' has no effect in files of the format cdf5: it needs "
         "format"},
        {"file = { tiles = \"2x2\" }", "5: stream 'daily': file: 'tiles' has no effect: it needs"},
        {"file = { readers = 2 }", "5: stream 'daily': file: 'readers' has no effect: it is for"},
        {"field.b = { quantize = \"bitround:9\" }",
         "5: stream 'daily', field 'b': 'quantize' has no effect in files of this format"},
        {"[field.a]\nchunks = \"x=1\"", "5: field 'a': 'chunks' has no effect: no stream"},
        {"op = \"instant\"\nstamp = \"end\"",
         "6: stream 'daily': 'stamp' has no effect with op = "},
        {"boundary = \"next\"", "5: stream 'daily': 'boundary' has no effect with an operation"},
        {"op = \"instant\"\nboundary = \"next\"",
         "6: stream 'daily': 'boundary' has no effect with "
         "a stream that has no 'new_file'"},
        {"weights = \"count\"\nddof = 1", "6: stream 'daily': 'ddof' has no effect with an oper"},
        {"interval = true", "5: stream 'daily': 'interval' has no effect with steps of unknown"},
        {"[history]\ntracking_prefix = \"a\"", "6: [history]: 'tracking_prefix' has no effect"},
        {"x = ", "5: "},
        {"x = 1\nx = 2", "6: "},
    };
    for (const Wrong& wrong : cases) {
        const std::string found = problems_of(std::string(stream_head) + wrong.text + "\n");
        EXPECT_TRUE(found.starts_with("history.toml:" + std::string(wrong.expected)))
            << wrong.text << "\n  gives: " << found << "\n  expected: " << wrong.expected;
        EXPECT_EQ(found.find('\n'), std::string::npos) << wrong.text << "\n  gives: " << found;
    }
}

/// Tests keys that have no effect with others, on the fourth line.
TEST(Table, KeysWithoutEffect) {
    for (const auto& [every, keys] : std::vector<std::pair<std::string, std::vector<std::string>>>{
             {"once",
              {"from = \"2000-02-01\"", "sample = \"1 day\"", "hours = [\"00:00\"]", "sync = 1",
               "anchor = \"start\"", "at_close = \"write\"", "stamp = \"end\""}},
             {"run", {"partial = \"drop\"", "at_close = \"drop\"", "anchor = \"start\""}},
             {"step", {"partial = \"drop\"", "at_close = \"write\"", "anchor = \"start\""}}})
        for (const std::string& key : keys) {
            const std::string name = key.substr(0, key.find(' '));
            EXPECT_EQ(problems_of("[[stream]]\nname = \"s\"\nfields = [\"a\"]\n" + key +
                                  "\nevery = \"" + every + "\"\n"),
                      "history.toml:4: stream 's': '" + name + "' has no effect with every = \"" +
                          every + "\"");
        }
}

TEST(Table, TimesOfTheDay) {
    for (const char* keys :
         {"op = \"instant\"\nhours = [\"06:00\"]",
          "op = \"instant\"\nhours = [\"06:00\", \"18:00\"]\nanchor = \"start\"",
          "hours = [\"06:00\", \"18:00\"]", "hours = [\"06:00\"]\nsample = \"2 hours\"",
          "op = \"instant\"\nhours = [\"06:00\"]\nto = \"2000-01-01 06:00\""}) {
        const bool half = std::string(keys).find("start") != std::string::npos;
        EXPECT_EQ(
            problems_of(std::string("[[stream]]\nname = \"s\"\nfields = [\"a\"]\nevery = \"") +
                        (half ? "12 hours" : "1 day") + "\"\n" + keys + "\n"),
            "")
            << keys;
    }
}

TEST(Table, FilesOfOneRecord) {
    EXPECT_EQ(problems_of(std::string(stream_head) + "records = 1\npath = \"{end}.nc\"\n"), "");
}

TEST(Table, WrongWithoutAStream) {
    EXPECT_EQ(problems_of(""), "history.toml: there is no [[stream]]");
    EXPECT_EQ(problems_of("stream = 1\n"), "history.toml:1: 'stream': expected tables: [[stream]]");
    EXPECT_EQ(problems_of("[[stream]]\n"),
              "history.toml:1: stream: 'every' is missing\nhistory.toml:1: stream: 'fields' is "
              "missing\nhistory.toml:1: stream: 'name' is missing");
    EXPECT_EQ(
        problems_of("[[stream]]\nname = \"a/b\"\nevery = \"5 hours\"\nfields = [1]\n"),
        "history.toml:2: stream 'a/b': 'name' has one of the characters / { }\n"
        "history.toml:3: stream 'a/b': 'every': '5 hours' does not divide the day evenly: give "
        "an anchor, \"start\" or a date, from which it is counted\n"
        "history.toml:4: stream 'a/b': 'fields': expected a list of names such as [\"ta\", "
        "\"u*\", \"@group\", \"-ua\"]");
}

TEST(Table, AllProblemsAtOnce) {
    EXPECT_EQ(
        problems_of(std::string(stream_head) + "evry = 1\nstamp = \"x\"\n[region.a]\nbox = 1\n"),
        "history.toml:5: stream 'daily': 'evry' is not a key; did you mean 'every'?\n"
        "history.toml:6: stream 'daily': 'stamp': \"x\" is not one of \"begin\", \"middle\", "
        "\"end\"\n"
        "history.toml:8: region 'a': 'box': expected a list of 4 numbers");
}

TEST(Table, Dates) {
    const std::string text = std::string(stream_head) + "from = \"2000-02-30\"\n";
    EXPECT_EQ(problems_of(text, run_of(Calendar::days_360)), "");
    EXPECT_NE(problems_of(text, run_of(Calendar::all_leap)), "");
    const Table table = table_of(
        "[[stream]]\nname=\"a\"\nevery=\"step\"\nfields=[\"a\"]\nfrom = "
        "2000-02-10\nto = 2000-03-01T12:00:00\n");
    EXPECT_EQ(table.streams[0].from, (Date{2000, 2, 10, 0}));
    EXPECT_EQ(table.streams[0].to, (Date{2000, 3, 1, 12 * one_hour}));
}

TEST(Path, Placeholders) {
    PathValues values{.stream = "daily", .variable = "tas", .op = "mean"};
    values.begin = time_of(Calendar::standard, {2000, 1, 1, 0});
    values.end = time_of(Calendar::standard, {2001, 1, 1, 0});
    EXPECT_EQ(fill_path("{variable}_{stream}_{op}.nc", values), "tas_daily_mean.nc");
    EXPECT_EQ(fill_path("{start:YYYYMM}-{last:YYYYMM}_{end:YYYY-MM-DD_hhmmss}.nc", values),
              "200001-200012_2001-01-01_000000.nc");
    EXPECT_EQ(fill_path("{start}", values), "2000-01-01");
    values.coarseness = Unit::year;
    EXPECT_EQ(fill_path("{start}", values), "2000");
    values.coarseness = Unit::hour;
    EXPECT_EQ(fill_path("{last}", values), "2000-12-31_23");
    EXPECT_TRUE(path_separates("{start:YYYY}/{start:MM}.nc", Unit::month));
    EXPECT_FALSE(path_separates("{start:YYYY}/{end:MM}.nc", Unit::month));
}

/// A model with fields of three dimensions and one without coordinates.
std::vector<DeclaredField> model() {
    std::vector<DeclaredField> fields;
    for (const char* name : {"tas", "pr", "ta", "siconc", "sithick"}) {
        DeclaredField field;
        field.name = name;
        field.dims = {"lat", "lon"};
        field.shape = {18, 36};
        if (field.name == "ta") {
            field.dims = {"lev", "lat", "lon"};
            field.shape = {5, 18, 36};
        }
        field.has_axes = field.has_centres = true;
        fields.push_back(field);
    }
    DeclaredField count;
    count.name = "calls";
    count.type = TW_INT;
    count.dims = {"node"};
    count.shape = {100};
    fields.push_back(count);
    return fields;
}

struct Resolved {
    std::vector<ResolvedStream> streams;
    std::string problems;
    std::vector<std::string> warnings;

    explicit Resolved(const std::string& text) {
        const Table table = table_of(text.c_str());
        auto fields = model();
        problems = problem_status(resolve(table, fields, streams, warnings), "h").text;
    }
    std::string names() const {
        std::string all;
        for (const StreamField& field : streams.at(0).fields) all += field.name + " ";
        return all;
    }
};

/// Tests a table [field.NAME] of a field that neither the model nor a stream has.
TEST(Table, FieldsOfNothing) {
    const std::string head = "[[stream]]\nname = \"s\"\nevery = \"1 day\"\nfields = [\"tas\"]\n";
    EXPECT_EQ(Resolved(head + "[field.ta]\nunits = \"K\"\n").problems, "");
    EXPECT_EQ(
        Resolved(head + "field.hot = { of = \"tas\" }\n[field.hot]\nunits = \"K\"\n").problems, "");
    EXPECT_EQ(Resolved(head + "[field.hot]\nof = \"tas + 1\"\nunits = \"K\"\n").problems, "");
    EXPECT_EQ(Resolved(head + "[field.tass]\nunits = \"K\"\n").problems,
              "h:5: [field.tass]: neither the model nor a stream has a field of this name; did you "
              "mean 'tas'?");
    EXPECT_EQ(
        Resolved("[history]\nmissing_fields = \"warn\"\n[[stream]]\nname = \"s\"\nevery = \"1 "
                 "day\"\nfields = [\"tas\", \"tos\"]\n[field.tos]\nunits = \"K\"\n")
            .problems,
        "");
}

std::string stream_with(const std::string& rest) {
    return "[[stream]]\nname = \"s\"\nevery = \"1 day\"\n" + rest + "\n";
}

TEST(Resolve, Selectors) {
    EXPECT_EQ(Resolved(stream_with("fields = [\"t*\", \"pr\"]")).names(), "tas ta pr ");
    EXPECT_EQ(Resolved(stream_with("fields = [\"*\", \"-t?\"]")).names(),
              "tas pr siconc sithick calls ");
    EXPECT_EQ(Resolved(stream_with("fields = [\"@x\", \"-@y\", \"pr\"]\n[groups]\nx = [\"@y\", "
                                   "\"si*\"]\ny = [\"tas\", \"pr\"]"))
                  .names(),
              "siconc sithick pr ");
    EXPECT_EQ(Resolved(stream_with("fields = [\"tas\", \"tas\"]\nfield.hot = { of = \"tas\", op = "
                                   "\"max\" }"))
                  .names(),
              "tas hot ");
}

TEST(Table, Expressions) {
    // Texts and the columns and texts of their errors; column 0: there is none.
    const std::vector<std::tuple<const char*, int, const char*>> cases{
        {"tas where siconc > 0.15", 0, ""},
        {"-min(tas, pr, 2e-3)/(tas - .5) + 'a-b' where pr", 0, ""},
        {"tas +", 6, "a field, a number, a function or '(' is missing"},
        {"(tas", 5, "')' is missing"},
        {"tas pr", 5, "'pr' is not expected here"},
        {"0 < tas < 1", 10, "comparisons cannot follow each other"},
        {"sin(tas)", 1, "'sin' is none of the functions abs, exp, log, max, min, sqrt"},
        {"min(tas)", 8, "',' is missing"},
        {"2t + tas", 1, "'2t' is not a number"},
        {"1 + 2", 6, "the expression has no field"},
        {"tas * 'pr", 8, "a name and ' are missing"},
        {"tas where", 10, "a field, a number"}};
    for (const auto& [text, column, error] : cases) {
        Expression parsed;
        const auto found = Expression::parse(text, parsed);
        EXPECT_EQ(found ? static_cast<int>(found->at) + 1 : 0, column) << text;
        EXPECT_TRUE(!found || found->text.starts_with(error)) << text << ": " << found->text;
    }
    Expression deep;
    EXPECT_TRUE(Expression::parse(std::string(100'000, '(') + "tas", deep));
    EXPECT_TRUE(problems_of("[field.x]\nof = \"tas +\"\n" + stream_with("fields = [\"x\"]"))
                    .starts_with("history.toml:2:12: field 'x': 'of': a field, a number"));
}

TEST(Resolve, Overrides) {
    const Resolved resolved(stream_with(
        "fields = [\"sithick\", \"calls\"]\nfield.sithick = { weight = \"siconc\", type "
        "= \"double\", units = \"cm\" }\n[field.sithick]\nunits = \"m\"\nlong_name = "
        "\"thickness\""));
    ASSERT_EQ(resolved.problems, "");
    const StreamField& ice = resolved.streams[0].fields[0];
    EXPECT_EQ(ice.weight, 3);
    EXPECT_TRUE(ice.statistic.weight_field);
    EXPECT_EQ(ice.type, TW_DOUBLE);
    EXPECT_EQ(ice.keys.units, "cm");
    EXPECT_EQ(ice.keys.long_name, "thickness");
    EXPECT_EQ(resolved.streams[0].fields[1].type, TW_FLOAT);
    const Resolved instants(stream_with("op = \"instant\"\nfields = [\"calls\"]"));
    EXPECT_EQ(instants.streams.at(0).fields.at(0).type, TW_INT);
}

TEST(Resolve, Problems) {
    const std::vector<Wrong> cases{
        {"[stream.field.x]\nof = \"ta * tsa\"\nunits = \"K\"",
         "h:5:12: stream 's': the model declares no field 'tsa'; did you mean 'tas'?"},
        {"[stream.field.x]\nof = \"tas * calls\"\nunits = \"K\"",
         "h:5:13: stream 's', field 'x': 'calls' has the dimension 'node', which 'tas' lacks"},
        {"[stream.field.x]\nof = \"tas * pr\"",
         "h:4: stream 's': field 'x': 'units' is missing: those of an expression are not known"},
        {"fields = [\"ta\"]\nlevels = { dim = \"lev\", values = [5], coordinate = \"p\" }",
         "h:5: stream 's': the model declares no field 'p'"},
        {"fields = [\"ta\"]\nlevels = { dim = \"lev\", values = [5], coordinate = \"tas\" }",
         "h:5: stream 's': levels: 'tas' has to have the dimension 'lev', and otherwise "
         "dimensions of 'ta' only"},
        {"fields = [\"ta\"]\nlevels = { dim = \"lev\", values = [5], coordinate = \"ta\", name = "
         "\"pr\" }",
         "h:5: stream 's': levels: there is another 'pr': choose another 'name'"},
        {"fields = [\"tsa\"]", "h:4: stream 's': the model declares no field 'tsa'; did you mean"},
        {"fields = [\"x*\"]", "h:4: stream 's': no field matches 'x*'"},
        {"fields = [\"tas\", \"-pr\"]", "h:4: stream 's': '-pr' removes nothing"},
        {"fields = [\"tas\", \"-tas\"]", "h:1: stream 's': it has no fields"},
        {"fields = [\"tas\"]\nfield.hot = { of = \"x\" }", "h:5: stream 's': the model declares n"},
        {"fields = [\"tas\"]\nweight = \"x\"",
         "h:5: stream 's': the model declares no field 'x', "},
        {"fields = [\"tas\"]\nweight = \"ta\"", "h:4: stream 's': the weight 'ta' has the dimensi"},
        {"fields = [\"calls\"]\ntype = \"same\"",
         "h:4: stream 's': field 'calls' has integers, bu"},
        {"fields = [\"calls\"]\nregion = \"r\"\n[region.r]\nbox = [0, 1, 0, 1]",
         "h:5: stream 's':"},
        {"fields = [\"tas\"]\nregion = \"r\"\n[region.r]\nindex = { lon = [0, 36] }",
         "h:6: region"},
        {"fields = [\"tas\"]\nregion = \"r\"\n[region.r]\nindex = { x = [0, 3] }", "h:5: stream '"},
        {"fields = [\"tas\"]\nfield.tas.weight = \"tas\"",
         "h:5: stream 's': field 'tas' has the weight 'tas': a field cannot be its own weight"},
        {"min_valid = 0.5\nfield.tas.weight = \"siconc\"",
         "h:5: stream 's': field 'tas' has the weight 'siconc': 'min_valid' and 'weight' exclude"},
        {"op = \"std\"\nddof = 1\nweights = \"count\"\nfield.tas.weight = \"siconc\"",
         "h:7: stream 's': field 'tas' has the weight 'siconc': 'ddof' needs samples that count"},
        {"op = \"std\"\nzoom = [3]\nfield.tas.weight = \"siconc\"",
         "h:6: stream 's_3': field 'tas': op = \"std\" of mapped samples takes neither 'weight'"},
        {"fields = [\"tas\", \"ta\"]\nlevels = { dim = \"levv\", index = [0] }",
         "h:5: stream 's': levels: none of its fields has the dimension 'levv'; did you mean "
         "'lev'"},
        {"fields = [\"ta\"]\nlevels = { dim = \"lev\", index = [0] }\nregion = \"r\"\n[region.r]\n"
         "index = { lev = [0, 1] }",
         "h:5: stream 's': region 'r' and the levels both select elements of dimension 'lev'"},
        {"op = \"instant\"\nfield.calls.fill = 3e9",
         "h:5: stream 's': field 'calls': 'fill': its type in the file has no 3000000000"},
        {"op = \"instant\"\nfield.calls.fill = 0.5",
         "h:5: stream 's': field 'calls': 'fill': its type in the file has no 0.5"},
        {"field.tas.fill = 1e300",
         "h:4: stream 's': field 'tas': 'fill': its type in the file has no 1e+300"},
    };
    for (const Wrong& wrong : cases) {
        const Resolved resolved(stream_with(wrong.text));
        EXPECT_TRUE(resolved.problems.starts_with(wrong.expected))
            << wrong.text << "\n  gives: " << resolved.problems;
        EXPECT_EQ(resolved.problems.find('\n'), std::string::npos) << resolved.problems;
    }
    const Resolved warned("[history]\nmissing_fields = \"warn\"\n" +
                          stream_with("fields = [\"tas\", \"no\"]"));
    EXPECT_EQ(warned.problems, "");
    EXPECT_EQ(warned.warnings.size(), 1u);
}

}  // namespace
}  // namespace thalweg::history
