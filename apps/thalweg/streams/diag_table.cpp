// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <sstream>

#include "history/operation.hpp"
#include "streams/convert.hpp"

namespace thalweg::app {

using history::Op;
using history::Problem;

namespace {

/// A line of the table, divided into its values.
struct Line {
    std::int64_t number = 0;
    std::vector<std::string> values;
    std::vector<bool> in_quotes;

    void add(std::string value, bool quoted_value) {
        values.push_back(std::move(value));
        in_quotes.push_back(quoted_value);
    }
    std::string at(std::size_t i) const { return i < values.size() ? values[i] : ""; }
    bool has(std::size_t i) const { return !at(i).empty(); }
};

struct Field {
    std::string module, name, output;
    Op op = Op::mean;
    bool in_double = false;
    std::string region;  ///< region in the form "x0 x1 y0 y1 z0 z1"; empty: all
};

struct File {
    Line line;
    std::string name;  ///< name with its date template
    std::int64_t every = 0;
    std::string unit, time_units;
    std::vector<Field> fields;
};

/// Divides a line as Fortran's list-directed input does: at commas, and at blanks where there is no
/// comma.
Line split(std::string_view text, std::int64_t number) {
    Line line;
    line.number = number;
    bool separated = true;  // the value after the last separator has not begun
    while (!text.empty() && text.front() != '#' && text.front() != '!') {
        const char c = text.front();
        if (c == ' ' || c == '\t' || c == '\r') {
            text.remove_prefix(1);
        } else if (c == ',') {
            if (separated) line.add("", false);
            separated = true;
            text.remove_prefix(1);
        } else {
            const bool quoted_value = c == '"' || c == '\'';
            if (quoted_value) text.remove_prefix(1);
            const auto end = quoted_value ? text.find(c) : text.find_first_of(", \t\r\"'#");
            line.add(trimmed(text.substr(0, end)), quoted_value);
            separated = false;
            text.remove_prefix(end == std::string_view::npos ? text.size()
                                                             : end + (quoted_value ? 1 : 0));
        }
    }
    return line;
}

bool parse_integer(const std::string& text, std::int64_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

/// Reads the six numbers of a date. Returns false if they are not six numbers, or if the month or
/// the day is 0.
bool parse_date(std::string text, std::string& date) {
    std::ranges::replace(text, ',', ' ');
    std::istringstream words(text);
    std::array<int, 6> n{};
    for (int& each : n)
        if (!(words >> each)) return false;
    if (n[1] == 0 || n[2] == 0) return false;
    date = fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", n[0], n[1], n[2], n[3], n[4], n[5]);
    return true;
}

/// Reads a unit of time such as "months", and returns its singular.
bool parse_unit(const std::string& text, std::string& unit) {
    unit = in_lower_case(text);
    if (unit.ends_with('s')) unit.pop_back();
    constexpr std::array<std::string_view, 6> units{"second", "minute", "hour",
                                                    "day",    "month",  "year"};
    return std::ranges::find(units, unit) != units.end();
}

bool parse_op(const std::string& text, Op& op) {
    constexpr std::array<std::pair<std::string_view, Op>, 15> ops{{{".false.", Op::instant},
                                                                   {"none", Op::instant},
                                                                   {".true.", Op::mean},
                                                                   {"average", Op::mean},
                                                                   {"avg", Op::mean},
                                                                   {"mean", Op::mean},
                                                                   {"pow1", Op::mean},
                                                                   {"pow01", Op::mean},
                                                                   {"min", Op::min},
                                                                   {"minimum", Op::min},
                                                                   {"max", Op::max},
                                                                   {"maximum", Op::max},
                                                                   {"sum", Op::sum},
                                                                   {"rms", Op::rms},
                                                                   {"pow2", Op::mean_square}}};
    const std::string lower = in_lower_case(text);
    const auto found = std::ranges::find(ops, lower == "pow02" ? "pow2" : std::string_view(lower),
                                         &std::pair<std::string_view, Op>::first);
    if (found == ops.end()) return false;
    op = found->second;
    return true;
}

class Converter {
public:
    Converter(std::string_view text, std::vector<Problem>& problems) : problems_(problems) {
        std::int64_t number = 0, headers = 0;
        while (!text.empty()) {
            const auto end = text.find('\n');
            const std::string line = trimmed(text.substr(0, end));
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
            ++number;
            if (line.empty() || line.front() == '#' || line.front() == '!') continue;
            Line values = split(line, number);
            // If the text is only a part of a table, it has neither title nor date.
            if (headers < 2 && (values.values.size() < 5 || !values.in_quotes[0]))
                header(line, ++headers);
            else
                entry(values);
        }
    }

    std::string text() {
        std::string out = title_.empty() ? "" : fmt::format("# {}\n", title_);
        if (!base_.empty() && !files_.empty())
            out += fmt::format("[history]\ntime_units = \"{} since {}\"\n",
                               files_.front().time_units, base_);
        for (const File& file : files_) streams(file, out);
        return out + regions_;
    }

private:
    void fail(const Line& line, std::string what) {
        problems_.push_back({line.number, std::move(what)});
    }

    void header(const std::string& line, std::int64_t number) {
        if (number == 1)
            title_ = line.front() == '"' ? split(line, 0).at(0) : line;
        else
            parse_date(line, base_);
    }

    /// Reads a line. Its second value is a number if the line is about a file, and a text if it is
    /// about a field.
    void entry(const Line& line) {
        std::int64_t every = 0;
        if (line.values.size() >= 5 && parse_integer(line.values[1], every) && !line.in_quotes[1])
            add_file(line, every);
        else if (line.values.size() >= 6)
            add_field(line);
        else
            fail(line,
                 "neither a file of the form \"name\", freq, \"units\", format, \"units\", "
                 "\"time\" nor a field");
    }

    void add_file(const Line& line, std::int64_t every) {
        File file;
        file.line = line;
        file.name = line.values[0];
        file.every = every;
        if (every > 0 && !parse_unit(line.values[2], file.unit))
            fail(line,
                 fmt::format("file '{}': '{}' is not a unit of time", file.name, line.values[2]));
        std::string unit;
        file.time_units = parse_unit(line.values[4], unit) && unit != "month" && unit != "year"
                              ? unit + "s"
                              : "days";
        if (line.has(9))
            fail(line, fmt::format("file '{}': file_duration is not converted", file.name));
        files_.push_back(std::move(file));
    }

    void add_field(const Line& line) {
        Field field{line.values[0], line.values[1], line.values[2], Op::mean, false, ""};
        const std::string& file = line.values[3];
        // A field may name its file with or without the date template.
        const auto found = std::ranges::find_if(
            files_, [&](const File& each) { return base_of(each.name) == base_of(file); });
        if (!parse_op(line.values[5], field.op))
            return fail(line, fmt::format("field '{}': '{}' is not converted", field.output,
                                          line.values[5]));
        if (found == files_.end())
            return fail(line, fmt::format("field '{}': no line before has the file '{}'",
                                          field.output, file));
        field.in_double = line.at(7) == "1";
        if (line.at(7) == "4" || line.at(7) == "8")
            fail(line, fmt::format("field '{}': packing {} is not converted: the type is float",
                                   field.output, line.at(7)));
        if (line.has(6) && in_lower_case(line.at(6)) != "none") field.region = line.at(6);
        found->fields.push_back(std::move(field));
    }

    static std::string base_of(const std::string& name) { return name.substr(0, name.find('%')); }

    /// Writes a stream for each combination of averaging and region that fields of a file have.
    void streams(const File& file, std::string& out) {
        std::vector<std::pair<bool, std::string>> kinds;
        const auto kind_of = [](const Field& field) {
            return std::pair(field.op == Op::instant, field.region);
        };
        for (const Field& field : file.fields)
            if (std::ranges::find(kinds, kind_of(field)) == kinds.end())
                kinds.push_back(kind_of(field));
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            std::vector<const Field*> fields;
            for (const Field& field : file.fields)
                if (kind_of(field) == kinds[i]) fields.push_back(&field);
            stream(file, fields, i == 0 ? "" : fmt::format("_{}", i + 1), out);
        }
    }

    void stream(const File& file, const std::vector<const Field*>& fields,
                const std::string& suffix, std::string& out) {
        const Field& first = *fields.front();
        const bool instant = first.op == Op::instant;
        const bool once = file.every < 0 && instant;
        std::string name = base_of(file.name);
        while (name.ends_with('_')) name.pop_back();
        name += suffix;
        std::ranges::replace_if(
            name, [](char c) { return c == '/' || c == '{' || c == '}'; }, '_');
        while (!names_.insert(name).second) name += "_";
        out += fmt::format("\n[[stream]]\nname = {}\n", quoted(name));
        out += fmt::format("every = \"{}\"\n", once             ? "once"
                                               : file.every < 0 ? "run"
                                               : file.every == 0
                                                   ? "step"
                                                   : fmt::format("{} {}{}", file.every, file.unit,
                                                                 file.every == 1 ? "" : "s"));
        if (!once && first.op != Op::mean)
            out += fmt::format("op = \"{}\"\n", history::op_name(first.op));
        if (counts_from_start(file)) out += "anchor = \"start\"\n";
        const bool new_file = files_of(file, once, out);
        out += fmt::format("path = {}\n", quoted(path_of(file, suffix, new_file)));
        if (std::string from; file.line.has(8) && parse_date(file.line.at(8), from))
            out += fmt::format("from = \"{}\"\n", from);
        if (!first.region.empty()) region(file.line, first.region, name, out);
        for (const Field* const field : fields) {
            out += fmt::format("field.{} = {{ of = {}", quoted(field->output),
                               quoted(field->module + "/" + field->name));
            if (field->op != first.op)
                out += fmt::format(", op = \"{}\"", history::op_name(field->op));
            if (field->in_double) out += ", type = \"double\"";
            out += " }\n";
        }
    }

    /// Tests if the calendar has no windows of this length, so that they are counted from the
    /// start.
    static bool counts_from_start(const File& file) {
        const std::int64_t n = std::max<std::int64_t>(1, file.every);
        return (file.unit == "second" && 86400 % n != 0) ||
               (file.unit == "minute" && 1440 % n != 0) || (file.unit == "hour" && 24 % n != 0) ||
               (file.unit == "month" && 12 % n != 0);
    }

    /// Writes the interval at which new files begin.
    /// @return false if all records go to one file
    bool files_of(const File& file, bool once, std::string& out) {
        std::int64_t every = 0;
        std::string unit;
        if (once || file.every < 0 || !file.line.has(6)) return false;
        if (!parse_integer(file.line.at(6), every) || !parse_unit(file.line.at(7), unit)) {
            fail(file.line, fmt::format("file '{}': '{} {}' is not a duration", file.name,
                                        file.line.at(6), file.line.at(7)));
            return false;
        }
        if (every > 0)
            out += fmt::format("new_file = \"{} {}{}\"\n", every, unit, every == 1 ? "" : "s");
        return every > 0;
    }

    /// Converts "ocean%4yr%2mo" to "ocean_{start:YYYY}_{start:MM}.nc", as FMS names files.
    static std::string path_of(const File& file, const std::string& suffix, bool new_file) {
        constexpr std::array<std::pair<std::string_view, std::string_view>, 6> parts{
            {{"yr", "YYYY"}, {"mo", "MM"}, {"dy", "DD"}, {"hr", "hh"}, {"mi", "mm"}, {"sc", "ss"}}};
        std::string path = base_of(file.name) + suffix;
        const auto begin = file.name.find('%');
        if (begin == std::string::npos) return path + (new_file ? "_{start}.nc" : ".nc");
        for (const auto& [part, format] : parts)
            if (file.name.find(part, begin) != std::string::npos)
                path += fmt::format("_{{start:{}}}", format);
        return path + ".nc";
    }

    void region(const Line& line, const std::string& text, const std::string& name,
                std::string& out) {
        std::istringstream words(text);
        std::array<double, 6> n{};
        for (double& each : n)
            if (!(words >> each))
                return fail(line, fmt::format("stream '{}': '{}' is not a region", name, text));
        if (n[4] != -1 || n[5] != -1)
            fail(line,
                 fmt::format("stream '{}': the levels of the region are not converted", name));
        if (n[0] == -1 && n[1] == -1 && n[2] == -1 && n[3] == -1) return;
        if (n[0] == n[1] || n[2] == n[3])
            fail(line,
                 fmt::format("stream '{}': the region has no width: make it as wide as a cell",
                             name));
        out += fmt::format("region = {}\n", quoted(name));
        regions_ += fmt::format("\n[region.{}]\nbox = [{}, {}, {}, {}]\n", quoted(name), n[0], n[1],
                                n[2] == -1 && n[3] == -1 ? -90 : n[2],
                                n[2] == -1 && n[3] == -1 ? 90 : n[3]);
    }

    std::vector<Problem>& problems_;
    std::string title_, base_, regions_;
    std::vector<File> files_;
    std::set<std::string> names_;
};

}  // namespace

void convert_diag_table(std::string_view text, std::string& converted,
                        std::vector<Problem>& problems) {
    converted = Converter(text, problems).text();
}

}  // namespace thalweg::app
