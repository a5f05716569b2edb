// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <sstream>

#include "history/statistics/statistic.hpp"
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
    std::int64_t line = 0;
    std::string module, name, output, file;
    Op op = Op::mean;
    bool in_double = false;
    std::string box;  ///< west, east, south and north; empty: the whole grid
};

struct File {
    Line line;
    std::string name;  ///< name with its date template
    std::int64_t every = 0;
    std::string unit;
    std::int64_t new_every = 0;  ///< 0: all records go to one file
    std::string new_unit;
    std::vector<Field> fields;
};

/// Divides a line as Fortran's list-directed input does: at commas, and at blanks where there is no
/// comma.
Line split(std::string_view text, std::int64_t number) {
    Line line;
    line.number = number;
    bool separated = true;  // the value after the last separator has not begun
    while (!text.empty() && text.front() != '#') {
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
        std::vector<Field> fields;
        std::int64_t number = 0;
        int headers = 0;
        while (!text.empty()) {
            const auto end = text.find('\n');
            const std::string line = trimmed(text.substr(0, end));
            text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
            ++number;
            const Line values = split(line, number);
            if (values.values.empty()) continue;
            // If the text is only a part of a table, it has neither title nor date.
            if (headers < 2 && !is_file(values) &&
                !(values.values.size() >= 6 && values.in_quotes[0]))
                header(line, values, ++headers);
            else
                entry(values, fields);
        }
        if (files_.empty()) {
            problems.assign(1, {0,
                                "no line is about a file of FMS, such as \"atm\", 6, \"hours\", 1, "
                                "\"days\", \"time\": it is neither a diag_table nor ice_in"});
            return;
        }
        if (headers == 0)
            fail(files_.front().line,
                 "no title and base date come before: times count from the start of the run");
        // A file may be described after its fields.
        for (Field& field : fields) {
            const auto file = std::ranges::find(files_, field.file, &File::name);
            const bool known = file != files_.end();
            if (known &&
                std::ranges::find(file->fields, field.output, &Field::output) == file->fields.end())
                file->fields.push_back(std::move(field));
            else
                problems_.push_back(
                    {field.line,
                     fmt::format("field '{}': {} '{}'", field.output,
                                 known ? "another line has it in the file" : "no line has the file",
                                 field.file)});
        }
    }

    std::string text() {
        if (files_.empty()) return "";
        const Line& first = files_.front().line;
        std::string unit;
        if (!parse_unit(first.at(4), unit) || unit == "month" || unit == "year") {
            fail(first,
                 fmt::format("times in {} are not converted: they are in days", first.at(4)));
            unit = "day";
        }
        for (const File& file : files_)
            if (file.line.at(4) != first.at(4) || file.line.at(5) != first.at(5))
                fail(file.line,
                     fmt::format("file '{}': all files get the time axis of the first, '{}' in {}",
                                 file.name, first.at(5), first.at(4)));
        std::string out = fmt::format("[history]\ntime_units = \"{}s since {}\"\n", unit,
                                      base_.empty() ? "START" : base_);
        if (first.has(5)) out += fmt::format("time = {}\n", quoted(first.at(5)));
        if (!title_.empty()) out += fmt::format("attributes = {{ title = {} }}\n", quoted(title_));
        for (const File& file : files_) streams(file, out);
        return out + regions_;
    }

private:
    void fail(const Line& line, std::string what) {
        problems_.push_back({line.number, std::move(what)});
    }

    /// Tests if a line is about a file: its second value is a number.
    static bool is_file(const Line& line) {
        std::int64_t every = 0;
        return line.values.size() >= 5 && !line.in_quotes[1] &&
               parse_integer(line.values[1], every) && !parse_integer(line.values[2], every);
    }

    void header(const std::string& text, const Line& line, int number) {
        if (number == 1)
            title_ = line.in_quotes[0] ? line.at(0) : text;
        else if (!parse_date(text, base_))
            fail(line,
                 fmt::format("the base date '{}' is not a date: times count from the start of "
                             "the run",
                             text));
    }

    void entry(const Line& line, std::vector<Field>& fields) {
        if (is_file(line))
            add_file(line);
        else if (line.values.size() >= 6)
            add_field(line, fields);
        else
            fail(line,
                 "neither a file of the form \"name\", freq, \"units\", format, \"units\", "
                 "\"time\" nor a field");
    }

    void add_file(const Line& line) {
        File file;
        file.line = line;
        file.name = without_suffix(line.values[0]);
        const auto refuse = [&](std::string_view what) {
            fail(line, fmt::format("file '{}': {}", file.name, what));
        };
        if (std::ranges::find(files_, file.name, &File::name) != files_.end())
            return refuse("another line has this file");
        parse_integer(line.values[1], file.every);
        if (file.every < -1 || (file.every > 0 && !parse_unit(line.values[2], file.unit)))
            refuse(fmt::format("'{} {}' is not a duration", file.every, line.values[2]));
        if (line.has(6) && (!parse_integer(line.at(6), file.new_every) ||
                            (file.new_every > 0 && !parse_unit(line.at(7), file.new_unit))))
            refuse(fmt::format("'{} {}' is not a duration", line.at(6), line.at(7)));
        if (line.has(9) && line.at(9) != "0" &&
            (line.at(9) != line.at(6) || line.at(10) != line.at(7)))
            refuse("file_duration is not converted: its streams go on");
        files_.push_back(std::move(file));
    }

    void add_field(const Line& line, std::vector<Field>& fields) {
        Field field{line.number,
                    line.values[0],
                    line.values[1],
                    line.values[2],
                    without_suffix(line.values[3]),
                    Op::mean,
                    false,
                    ""};
        const auto refuse = [&](std::string_view what) {
            fail(line, fmt::format("field '{}': {}", field.output, what));
        };
        if (field.file == "null") return;  // FMS writes it nowhere
        if (!parse_op(line.values[5], field.op))
            return refuse(fmt::format("'{}' is not converted", line.values[5]));
        if (line.has(6) && in_lower_case(line.at(6)) != "none")
            if (const std::string why = read_region(line.at(6), field.box); !why.empty())
                return refuse(fmt::format("region '{}': {}", line.at(6), why));
        field.in_double = line.at(7) == "1";
        if (line.has(7) && line.at(7) != "1" && line.at(7) != "2")
            refuse(fmt::format("packing {} is not converted: the type is float", line.at(7)));
        fields.push_back(std::move(field));
    }

    static std::string without_suffix(const std::string& name) {
        return name.ends_with(".nc") ? name.substr(0, name.size() - 3) : name;
    }

    /// Writes a stream for each combination of averaging and region that fields of a file have.
    void streams(const File& file, std::string& out) {
        std::vector<std::pair<bool, std::string>> kinds;
        // FMS cannot average what it writes in each step.
        const auto kind_of = [&](const Field& field) {
            return std::pair(field.op == Op::instant || file.every == 0, field.box);
        };
        for (const Field& field : file.fields)
            if (std::ranges::find(kinds, kind_of(field)) == kinds.end())
                kinds.push_back(kind_of(field));
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            std::vector<Field> fields;
            for (const Field& field : file.fields)
                if (kind_of(field) == kinds[i]) fields.push_back(field);
            if (file.every == 0)
                for (Field& field : fields) field.op = Op::instant;
            stream(file, fields, i == 0 ? "" : fmt::format("_{}", i + 1), out);
        }
    }

    void stream(const File& file, const std::vector<Field>& fields, const std::string& suffix,
                std::string& out) {
        const Field& first = fields.front();
        const bool once = file.every < 0 && first.op == Op::instant;
        std::string name = file.name.substr(0, file.name.find('%'));
        while (name.ends_with('_')) name.pop_back();
        name += suffix;
        std::ranges::replace_if(
            name, [](char c) { return c == '/' || c == '{' || c == '}'; }, '_');
        while (!names_.insert(name).second) name += "_";
        out += fmt::format("\n[[stream]]\nname = {}\nevery = \"{}\"\n", quoted(name),
                           once              ? "once"
                           : file.every < 0  ? "run"
                           : file.every == 0 ? "step"
                                             : duration(file.every, file.unit));
        if (!once && first.op != Op::mean)
            out += fmt::format("op = \"{}\"\n", history::op_name(first.op));
        if (counts_from_start(file)) out += "anchor = \"start\"\n";
        const bool many = file.new_every > 0 && file.every >= 0;
        if (many)
            out += fmt::format("new_file = \"{}\"\n", duration(file.new_every, file.new_unit));
        out += fmt::format("path = {}\n", quoted(path_of(file, suffix, many)));
        if (std::string from; many && file.line.has(8)) {
            if (parse_date(file.line.at(8), from))
                out += fmt::format("from = \"{}\"\n", from);
            else
                fail(file.line,
                     fmt::format("file '{}': '{}' is not a date", file.name, file.line.at(8)));
        }
        if (!first.box.empty()) {
            out += fmt::format("region = {}\n", quoted(name));
            regions_ += fmt::format("\n[region.{}]\nbox = [{}]\n", quoted(name), first.box);
        }
        for (const Field& field : fields) {
            out += fmt::format("field.{} = {{ of = {}", quoted(name_in_file(field)),
                               quoted(field.module + "/" + field.name));
            if (field.op != first.op)
                out += fmt::format(", op = \"{}\"", history::op_name(field.op));
            if (field.in_double) out += ", type = \"double\"";
            out += " }\n";
        }
    }

    static std::string duration(std::int64_t n, const std::string& unit) {
        return fmt::format("{} {}{}", n, unit, n == 1 ? "" : "s");
    }

    /// Returns the name that FMS gives to a variable.
    static std::string name_in_file(const Field& field) {
        if (field.op != Op::min && field.op != Op::max && field.op != Op::sum) return field.output;
        const std::string op(history::op_name(field.op));
        const bool told = in_lower_case(field.output).ends_with(op);
        return told || field.output.size() < 3 ? field.output : field.output + "_" + op;
    }

    /// Tests if the calendar has no windows of this length, so that they are counted from the
    /// start.
    static bool counts_from_start(const File& file) {
        const std::int64_t n = std::max<std::int64_t>(1, file.every);
        return (file.unit == "second" && 86400 % n != 0) ||
               (file.unit == "minute" && 1440 % n != 0) || (file.unit == "hour" && 24 % n != 0) ||
               (file.unit == "month" && 12 % n != 0);
    }

    /// Converts "ocean%4yr%2mo" to "ocean_{start:YYYY}_{start:MM}.nc", as FMS names files.
    std::string path_of(const File& file, const std::string& suffix, bool many) {
        const auto percent = file.name.find('%');
        const std::string base = file.name.substr(0, percent) + suffix;
        if (percent == std::string::npos && !many) return base + ".nc";
        const auto refuse = [&](std::string_view what) {
            fail(file.line, fmt::format("file '{}': {}", file.name, what));
        };
        if (!many) {
            refuse("the date in its name needs a duration of its files: it is left out");
            return base + ".nc";
        }
        std::string date;
        if (percent != std::string::npos && date_of(file, file.name.substr(percent), date))
            return base + date + ".nc";
        refuse(percent == std::string::npos
                   ? "FMS needs a date such as %4yr%2mo in its name: its files have that of their "
                     "start"
                   : "the date in its name is not converted: its files have that of their start");
        return base + "_{start}.nc";
    }

    /// Converts the date in a name. FMS takes the middle of a file's time if the line does not say
    /// otherwise. Without the month, its day is that of the year, and so on.
    static bool date_of(const File& file, const std::string& tail, std::string& date) {
        struct Part {
            std::string_view name, format, unit;
        };
        constexpr std::array<Part, 6> parts{{{"yr", "YYYY", "year"},
                                             {"mo", "MM", "month"},
                                             {"dy", "DD", "day"},
                                             {"hr", "hh", "hour"},
                                             {"mi", "mm", "minute"},
                                             {"sc", "ss", "second"}}};
        const std::string bound = in_lower_case(file.line.at(11));
        bool coarse = file.new_every == 1;  // the middle has the same date as the start
        bool ended = false, found = false;
        for (const Part& part : parts) {
            const auto at = tail.find(part.name);
            ended = ended || at == std::string::npos;
            if (at == std::string::npos) continue;
            if (ended || tail[at - 1] != static_cast<char>('0' + part.format.size())) return false;
            if (bound != "begin" && bound != "end" && !coarse) return false;
            coarse = coarse && part.unit != file.new_unit;
            date += fmt::format("_{{{}:{}}}", bound == "end" ? "end" : "start", part.format);
            found = true;
        }
        return found;
    }

    /// Reads a region in the form "west east south north top bottom"; -1 and -1 mean the whole
    /// axis.
    /// @return why it is not converted; empty if it is
    static std::string read_region(std::string text, std::string& box) {
        std::ranges::replace(text, ',', ' ');
        std::istringstream words(text);
        std::array<double, 6> n{};
        for (double& each : n)
            if (!(words >> each)) return "expected six numbers";
        const auto whole = [&](std::size_t i) {
            return static_cast<int>(n[i]) == -1 && static_cast<int>(n[i + 1]) == -1;
        };
        if (!whole(4)) return "levels are not converted";
        if (whole(0) && whole(2)) return "";
        if (whole(0)) n[0] = 0, n[1] = 360;
        if (whole(2)) n[2] = -90, n[3] = 90;
        box = fmt::format("{}, {}, {}, {}", n[0], n[1], n[2], n[3]);
        return "";
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
