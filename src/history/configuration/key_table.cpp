// The only table of the keys of a configuration, as `thalweg history --keys` prints it.
// SPDX-License-Identifier: Apache-2.0
#include <ranges>
#include <sstream>

#include "base/text/text.hpp"
#include "history/configuration/keys.hpp"

namespace thalweg::history {

/// Rows of the keys that fields have in one stream and in all.
static constexpr char field_rows[] = R"(units | text |  | attribute
long_name | text |  | attribute
standard_name | text |  | attribute
cell_methods | text |  | attribute
attributes | table |  | other attributes
chunks | lev=10,lat=90 |  | setting of a netCDF-4 variable
quantize | bitround:12 |  | setting of a netCDF-4 variable
fill | number | 1e20, or netCDF's of an integer type | fill value
)";

/// Rows of the members of KeyRow, below the names of their tables. Indented lines continue a row.
static constexpr std::string_view table_text[] = {R"([history]:
time_units | text | days since START | units of time: seconds, minutes, hours or days since a date;
  START is that of the run
samples | end, begin | end | a sample has the time of the end, or of the begin, of its step; begin
  counts samples
weights | duration, count | duration | of all streams
anchor | calendar, start or a date | calendar | of all streams
time | name | time | name of the time variable and dimension
bounds | name | {time}_bnds | name of the bounds
bounds_dim | name | bnds | name of their dimension
attributes | table |  | attributes of all files
missing_fields | error, warn | error | a field that a stream names, but the model does not declare
unsent | fill, error | fill | a field that was not sent in a window
max_open | integer | 512 | number of files that are open at once
stamp_files | true, false | false | attributes creation_date, tracking_id and history in each file
tracking_prefix | text |  | beginning of each tracking_id
[groups]:
NAME | list of fields |  | for fields = ["@NAME"]
[[stream]]:
name | text | required | name of the stream
fields | list | required without field | fields, patterns ("u*"), groups ("@NAME"); "-NAME" leaves
  out
every | duration, step, once, run | required without times | windows: one record in each; season:
  from December to February, and so on; a list: intervals since the start, such as "1 hour to 24
  hours", the last one without end
times | list of dates or durations |  | instead of 'every': the ends of windows; a duration counts
  from the start of the run
op | instant, once, mean, min, max, sum, rms, mean_square, std, count, fraction, difference, rate,
  diurnal, climatology | mean | operation over the samples of a window; difference: of the samples
  at its ends; rate: a second; diurnal, climatology: of each bin of the day or the year
bins | integer, or day, month, season | 24, month | records of a window: of the parts of a day
  (diurnal) or a year (climatology)
path | text | {stream}.nc, with several files {stream}_{start}.nc | name of its files, with
  {stream}, {variable}, {op}, {every}, {region}, and the dates {start}, {end}, {last}, also as
  {start:YYYYMMDD_hhmmss}
from | date |  | the stream begins here
to | date |  | no window ends later
new_file | duration |  | a file for each interval
records | integer |  | a file for each number of records
aggregate | text |  | name of a CF-1.13 aggregation file, which describes all complete files
files | stream, variable | stream | variable: a file for each variable
type | float, double, same | float | type in the files; same: that of the field
stamp | begin, middle, end | middle | time of a record in its window
anchor | calendar, start or a date | calendar | time from which windows are counted
partial | write, drop | write | a first window that is not complete, as the stream begins in it
initial | true, false | false | instants: also the sample at the start
boundary | previous, next | previous | instants: file of one at the end of an interval of new_file
at_close | drop, write | drop | a last window that is not complete
sample | duration |  | only the first samples at or after its multiples
hours | list of "hh:mm" |  | only the first samples at or after these times of the day
local_time | list of hours |  | in each element, only the first samples at or after these local
  solar times
inner | table |  | operation on shorter windows, before op
weight | field |  | field by which means are weighted
weights | duration, count | duration | a sample counts as long as its step; count: as one
min_valid | 0 to 1 | 0 | least share of the weights that valid samples must have
ddof | 0, 1 | 0 | std: 1: divisor n - 1, with weights = "count"
interval | true, false | false | length of the model's step in cell_methods
region | name |  | a region
levels | table |  | elements along a dimension
map | name |  | a map to another grid
zoom | list of integers |  | levels of HEALPix (nested): a stream for each, with {zoom} in its path
reduce | mean, sum, min, max |  | over dimensions
over | list of dimensions | the horizontal ones | of reduce
by | coordinate |  | numbers of regions: reduce gives one value for each number above 0
area | coordinate |  | weights of elements in reduce
file | table |  | settings of tw_create
attributes | table |  | attributes of its files
sync | integer | 0 | records after which the file is made safe on the disk; 0: at its end
field | tables |  | keys of a field in this stream: [stream.field.NAME]
inner:
op | mean, min, max, range, sum, rms, mean_square, std | required | operation
every | duration | required | its windows, which divide those of the stream
levels:
dim | name | required | dimension
index | list of integers |  | indices from 0
range | [least, greatest] |  | range of its coordinate
nearest | list of numbers |  | nearest values of its coordinate
values | list of numbers |  | interpolation to these values of a coordinate that varies
coordinate | field | required with values | field with the coordinate
method | linear, log, conservative | linear | interpolation in the coordinate, or in its logarithm;
  conservative: means of layers, of which 'values' and 'coordinate' are the interfaces
below | missing, extrapolate | missing | values below the lowest level
surface_pressure | field |  | to extrapolate temperatures and geopotentials as ECMWF does
surface_geopotential | field |  | likewise
temperature | field |  | likewise, for geopotentials
name | name | that of the coordinate and lev | dimension in the files
[stream.field.NAME]:
of | field, or expression | NAME | field of the model, or an expression of fields
op | as in [[stream]] | that of the stream | operation
type | float, double, same | that of the stream | type in the files
weight | field | that of the stream | field by which means are weighted
inner | table | that of the stream | operation on shorter windows
)",
                                                  field_rows, R"([field.NAME]:
of | expression |  | expression of fields, for all streams: + - * / < <= > >= == != where, abs, exp,
  log, max, min, sqrt
)",
                                                  field_rows, R"([region.NAME]:
index | table of [first, last] |  | indices from 0, by dimension
box | [west, east, south, north] |  | degrees
points | list of [longitude, latitude] |  | stations
points_file | path |  | lines of longitude, latitude and name
names | list of texts |  | names of the points
list_file | path |  | netCDF file with a list of indices
list_var | name |  | its variable
base | 0, 1 | 0 | index of the first element there
[map.NAME]:
file | path | required | weights: ESMF, TempestRemap, SCRIP, YAC, CDO
missing | renormalize, zero, propagate | renormalize | missing elements: the others get their
  weights; count as 0; make the result missing
min_fraction | 0 to 1 | 0 | least share of the weights with values
names | {lat, lon} | lat and lon | names of the target's coordinates
)"};

static std::vector<KeyRow> read_rows() {
    std::string text = detail::joined(table_text, ""), table;
    for (std::size_t at = 0; (at = text.find("\n  ")) != text.npos;) text.replace(at, 3, " ");
    std::vector<KeyRow> rows;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        Names words;
        for (const auto word : std::views::split(line, std::string_view(" | ")))
            words.emplace_back(word.begin(), word.end());
        if (words.size() == 1)
            table = line.substr(0, line.size() - 1);
        else
            rows.push_back({table, words[0], words[1], words[2], words[3]});
    }
    return rows;
}

std::span<const KeyRow> key_table() {
    static const std::vector<KeyRow> rows = read_rows();
    return rows;
}

std::string key_text() {
    std::string text, table;
    for (const KeyRow& row : key_table()) {
        if (table != row.table)
            text += fmt::format("{}| `{}` | values | default | meaning |\n|---|---|---|---|\n",
                                table.empty() ? "" : "\n", row.table);
        table = row.table;
        const bool plain = row.standard == "required" || row.standard.empty() ||
                           row.standard.find(' ') != std::string::npos;
        text += fmt::format("| `{}` | {} | {} | {} |\n", row.name, row.values,
                            plain ? row.standard : "`" + row.standard + "`", row.meaning);
    }
    return text;
}

}  // namespace thalweg::history
