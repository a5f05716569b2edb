// SPDX-License-Identifier: Apache-2.0
#include "history/configuration/key_table.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace thalweg::history {

std::span<const KeyRow> key_table() {
    static const std::vector<KeyRow> rows{
        {"[history]", "time_units", "text", "days since START",
         "units of time: seconds, minutes, hours or days since a date; START is that of the run"},
        {"[history]", "samples", "end, begin", "end",
         "a sample has the time of the end, or of the begin, of its step; begin counts samples"},
        {"[history]", "weights", "duration, count", "duration", "of all streams"},
        {"[history]", "anchor", "calendar, start or a date", "calendar", "of all streams"},
        {"[history]", "time", "name", "time", "name of the time variable and dimension"},
        {"[history]", "bounds", "name", "{time}_bnds", "name of the bounds"},
        {"[history]", "bounds_dim", "name", "bnds", "name of their dimension"},
        {"[history]", "attributes", "table", "", "attributes of all files"},
        {"[history]", "missing_fields", "error, warn", "error",
         "a field that a stream names, but the model does not declare"},
        {"[history]", "unsent", "fill, error", "fill", "a field that was not sent in a window"},
        {"[history]", "max_open", "integer", "512", "number of files that are open at once"},
        {"[history]", "stamp_files", "true, false", "false",
         "attributes creation_date, tracking_id and history in each file"},
        {"[history]", "tracking_prefix", "text", "", "beginning of each tracking_id"},
        {"[groups]", "NAME", "list of fields", "", "for fields = [\"@NAME\"]"},
        {"[[stream]]", "name", "text", "required", "name of the stream"},
        {"[[stream]]", "fields", "list", "required without field",
         "fields, patterns (\"u*\"), groups (\"@NAME\"); \"-NAME\" leaves out"},
        {"[[stream]]", "every", "duration, step, once, run", "required without times",
         "windows: one record in each; season: from December to February, and so on; a list: "
         "intervals since the start, such as \"1 hour to 24 hours\", the last one without end"},
        {"[[stream]]", "times", "list of dates or durations", "",
         "instead of 'every': the ends of windows; a duration counts from the start of the run"},
        {"[[stream]]", "op",
         "instant, once, mean, min, max, sum, rms, mean_square, std, count, fraction, difference, "
         "rate, diurnal, climatology",
         "mean",
         "operation over the samples of a window; difference: of the samples at its ends; rate: a "
         "second; diurnal, climatology: of each bin of the day or the year"},
        {"[[stream]]", "bins", "integer, or day, month, season", "24, month",
         "records of a window: of the parts of a day (diurnal) or a year (climatology)"},
        {"[[stream]]", "path", "text", "{stream}.nc, with several files {stream}_{start}.nc",
         "name of its files, with {stream}, {variable}, {op}, {every}, {region}, and the dates "
         "{start}, {end}, {last}, also as {start:YYYYMMDD_hhmmss}"},
        {"[[stream]]", "from", "date", "", "the stream begins here"},
        {"[[stream]]", "to", "date", "", "no window ends later"},
        {"[[stream]]", "new_file", "duration", "", "a file for each interval"},
        {"[[stream]]", "records", "integer", "", "a file for each number of records"},
        {"[[stream]]", "aggregate", "text", "",
         "name of a CF-1.13 aggregation file, which describes all complete files"},
        {"[[stream]]", "files", "stream, variable", "stream", "variable: a file for each variable"},
        {"[[stream]]", "type", "float, double, same", "float",
         "type in the files; same: that of the field"},
        {"[[stream]]", "stamp", "begin, middle, end", "middle", "time of a record in its window"},
        {"[[stream]]", "anchor", "calendar, start or a date", "calendar",
         "time from which windows are counted"},
        {"[[stream]]", "partial", "write, drop", "write",
         "a first window that is not complete, as the stream begins in it"},
        {"[[stream]]", "initial", "true, false", "false", "instants: also the sample at the start"},
        {"[[stream]]", "boundary", "previous, next", "previous",
         "instants: file of one at the end of an interval of new_file"},
        {"[[stream]]", "at_close", "drop, write", "drop", "a last window that is not complete"},
        {"[[stream]]", "sample", "duration", "",
         "only the first samples at or after its multiples"},
        {"[[stream]]", "hours", "list of \"hh:mm\"", "",
         "only the first samples at or after these times of the day"},
        {"[[stream]]", "local_time", "list of hours", "",
         "in each element, only the first samples at or after these local solar times"},
        {"[[stream]]", "inner", "table", "", "operation on shorter windows, before op"},
        {"[[stream]]", "weight", "field", "", "field by which means are weighted"},
        {"[[stream]]", "weights", "duration, count", "duration",
         "a sample counts as long as its step; count: as one"},
        {"[[stream]]", "min_valid", "0 to 1", "0",
         "least share of the weights that valid samples must have"},
        {"[[stream]]", "ddof", "0, 1", "0", "std: 1: divisor n - 1, with weights = \"count\""},
        {"[[stream]]", "interval", "true, false", "false",
         "length of the model's step in cell_methods"},
        {"[[stream]]", "region", "name", "", "a region"},
        {"[[stream]]", "levels", "table", "", "elements along a dimension"},
        {"[[stream]]", "map", "name", "", "a map to another grid"},
        {"[[stream]]", "zoom", "list of integers", "",
         "levels of HEALPix (nested): a stream for each, with {zoom} in its path"},
        {"[[stream]]", "reduce", "mean, sum, min, max", "", "over dimensions"},
        {"[[stream]]", "over", "list of dimensions", "the horizontal ones", "of reduce"},
        {"[[stream]]", "by", "coordinate", "",
         "numbers of regions: reduce gives one value for each number above 0"},
        {"[[stream]]", "area", "coordinate", "", "weights of elements in reduce"},
        {"[[stream]]", "file", "table", "", "settings of tw_create"},
        {"[[stream]]", "attributes", "table", "", "attributes of its files"},
        {"[[stream]]", "sync", "integer", "0",
         "records after which the file is made safe on the disk; 0: at its end"},
        {"[[stream]]", "field", "tables", "",
         "keys of a field in this stream: [stream.field.NAME]"},
        {"inner", "op", "mean, min, max, range, sum, rms, mean_square, std", "required",
         "operation"},
        {"inner", "every", "duration", "required", "its windows, which divide those of the stream"},
        {"levels", "dim", "name", "required", "dimension"},
        {"levels", "index", "list of integers", "", "indices from 0"},
        {"levels", "range", "[least, greatest]", "", "range of its coordinate"},
        {"levels", "nearest", "list of numbers", "", "nearest values of its coordinate"},
        {"levels", "values", "list of numbers", "",
         "interpolation to these values of a coordinate that varies"},
        {"levels", "coordinate", "field", "required with values", "field with the coordinate"},
        {"levels", "method", "linear, log, conservative", "linear",
         "interpolation in the coordinate, or in its logarithm; conservative: means of layers, of "
         "which 'values' and 'coordinate' are the interfaces"},
        {"levels", "below", "missing, extrapolate", "missing", "values below the lowest level"},
        {"levels", "surface_pressure", "field", "",
         "to extrapolate temperatures and geopotentials as ECMWF does"},
        {"levels", "surface_geopotential", "field", "", "likewise"},
        {"levels", "temperature", "field", "", "likewise, for geopotentials"},
        {"levels", "name", "name", "that of the coordinate and lev", "dimension in the files"},
        {"[stream.field.NAME]", "of", "field, or expression", "NAME",
         "field of the model, or an expression of fields"},
        {"[stream.field.NAME]", "op", "as in [[stream]]", "that of the stream", "operation"},
        {"[stream.field.NAME]", "type", "float, double, same", "that of the stream",
         "type in the files"},
        {"[stream.field.NAME]", "weight", "field", "that of the stream",
         "field by which means are weighted"},
        {"[stream.field.NAME]", "inner", "table", "that of the stream",
         "operation on shorter windows"},
        {"[stream.field.NAME]", "units", "text", "", "attribute"},
        {"[stream.field.NAME]", "long_name", "text", "", "attribute"},
        {"[stream.field.NAME]", "standard_name", "text", "", "attribute"},
        {"[stream.field.NAME]", "cell_methods", "text", "", "attribute"},
        {"[stream.field.NAME]", "attributes", "table", "", "other attributes"},
        {"[stream.field.NAME]", "chunks", "lev=10,lat=90", "", "setting of a netCDF-4 variable"},
        {"[stream.field.NAME]", "quantize", "bitround:12", "", "setting of a netCDF-4 variable"},
        {"[stream.field.NAME]", "fill", "number", "1e20, or netCDF's of an integer type",
         "fill value"},
        {"[field.NAME]", "of", "expression", "",
         "expression of fields, for all streams: + - * / < <= > >= == != where, abs, exp, log, "
         "max, "
         "min, sqrt"},
        {"[field.NAME]", "units", "text", "", "attribute"},
        {"[field.NAME]", "long_name", "text", "", "attribute"},
        {"[field.NAME]", "standard_name", "text", "", "attribute"},
        {"[field.NAME]", "cell_methods", "text", "", "attribute"},
        {"[field.NAME]", "attributes", "table", "", "other attributes"},
        {"[field.NAME]", "chunks", "lev=10,lat=90", "", "setting of a netCDF-4 variable"},
        {"[field.NAME]", "quantize", "bitround:12", "", "setting of a netCDF-4 variable"},
        {"[field.NAME]", "fill", "number", "1e20, or netCDF's of an integer type", "fill value"},
        {"[region.NAME]", "index", "table of [first, last]", "", "indices from 0, by dimension"},
        {"[region.NAME]", "box", "[west, east, south, north]", "", "degrees"},
        {"[region.NAME]", "points", "list of [longitude, latitude]", "", "stations"},
        {"[region.NAME]", "points_file", "path", "", "lines of longitude, latitude and name"},
        {"[region.NAME]", "names", "list of texts", "", "names of the points"},
        {"[region.NAME]", "list_file", "path", "", "netCDF file with a list of indices"},
        {"[region.NAME]", "list_var", "name", "", "its variable"},
        {"[region.NAME]", "base", "0, 1", "0", "index of the first element there"},
        {"[map.NAME]", "file", "path", "required", "weights: ESMF, TempestRemap, SCRIP, YAC, CDO"},
        {"[map.NAME]", "missing", "renormalize, zero, propagate", "renormalize",
         "missing elements: the others get their weights; count as 0; make the result missing"},
        {"[map.NAME]", "min_fraction", "0 to 1", "0", "least share of the weights with values"},
        {"[map.NAME]", "names", "{lat, lon}", "lat and lon", "names of the target's coordinates"},
    };
    return rows;
}

std::string key_text() {
    std::string text;
    std::string_view table;
    const auto quoted = [](std::string_view words) {
        return words.empty() ? std::string() : fmt::format("`{}`", words);
    };
    for (const KeyRow& row : key_table()) {
        if (table != row.table)
            text += fmt::format("{}| `{}` | values | default | meaning |\n|---|---|---|---|\n",
                                table.empty() ? "" : "\n", row.table);
        table = row.table;
        const std::string_view standard = row.standard;
        const bool plain = standard == "required" || standard.find(' ') != std::string_view::npos;
        text += fmt::format("| `{}` | {} | {} | {} |\n", row.name, row.values,
                            plain ? std::string(standard) : quoted(standard), row.meaning);
    }
    return text;
}

}  // namespace thalweg::history
