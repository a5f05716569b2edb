// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include "base/text/text.hpp"
#include "streams/convert.hpp"
#include "streams/namelist.hpp"

namespace thalweg::app {

using history::Problem;

namespace {

using Words = std::vector<std::string>;

struct Frequency {
    std::string_view letter;
    std::string_view unit;    ///< unit of durations
    std::string_view format;  ///< format of the date in the names of files
};

constexpr std::array<Frequency, 5> frequencies{{{"y", "year", "{last:YYYY}"},
                                                {"m", "month", "{last:YYYY-MM}"},
                                                {"d", "day", "{last:YYYY-MM-DD}"},
                                                {"h", "hour", "{end:YYYY-MM-DD-hhmmss}"},
                                                {"1", "step", "{end:YYYY-MM-DD-hhmmss}"}}};

/// Fields that CICE writes as they are at the end of a window, never as means.
constexpr std::array<std::string_view, 15> snapshots{
    "divu",   "shear",    "vort",       "sig1",        "sig2",
    "sigp",   "trsig",    "mlt_onset",  "frz_onset",   "hisnap",
    "aisnap", "sidivvel", "sishearvel", "sistressave", "sistressmax"};

/// Flags for coordinates and their bounds. A history writes those that its fields have.
constexpr std::array<std::string_view, 15> coordinates{
    "bounds", "tlon", "tlat", "ulon",  "ulat",  "nlon",  "nlat", "elon",
    "elat",   "ncat", "nfsd", "vgrdi", "vgrds", "vgrdb", "vgrda"};

template <class List>
bool has(const List& list, const std::string& name) {
    return std::ranges::find(list, in_lower_case(name)) != list.end();
}

std::string joined(const Words& words) {
    return detail::joined(std::span<const std::string>(words), ", ");
}

/// A flag "f_NAME" of a field.
struct Field {
    std::string name;
    std::string letters;  ///< frequencies at which it is written
};

class Converter {
public:
    Converter(std::string_view text, std::vector<Problem>& problems)
        : problems_(problems), assignments_(read_namelists(text, problems)) {}

    std::string convert() {
        std::string out;
        if (find("histfreq") == nullptr) {
            problems_.push_back({0, "group 'setup_nml' has no 'histfreq'"});
            return out;
        }
        read_fields();
        const Words letters = list("histfreq", {"1", "h", "d", "m", "y"});
        const Words counts = list("histfreq_n", Words(letters.size(), "1"));
        const Words bases = list("histfreq_base", Words(letters.size(), "zero"));
        const Words suffixes = list("hist_suffix", Words(letters.size(), "x"));
        const Words means = list("hist_avg", Words(letters.size(), ".true."));
        read_keys();
        const auto used =
            letters.size() - static_cast<std::size_t>(std::ranges::count(letters, "x"));
        const Assignment* const one = find("hist_avg");
        if (one != nullptr && one->values.size() == 1 && !one->subscripts && !is_true(means[0]) &&
            used > 1) {
            fail("hist_avg",
                 "one value is for all streams in old versions of CICE, and for the first one in "
                 "new versions: write a value for each stream");
            return out;
        }
        for (std::size_t i = 0; i < letters.size(); ++i) {
            if (!is_logical(means.at(i)))
                fail("hist_avg", "is not true or false", means.at(i));
            else
                stream(in_lower_case(letters[i]), counts.at(i), bases.at(i),
                       suffixes.at(i) == "x" ? "" : suffixes.at(i), is_true(means.at(i)), out);
        }
        once(out);
        return out;
    }

private:
    /// Finds the last assignment to a name, or of a value to it.
    const Assignment* find(std::string_view name, const std::string& value = "") const {
        const Assignment* last = nullptr;
        for (const Assignment& each : assignments_)
            if (each.group == "setup_nml" && in_lower_case(each.name) == name &&
                (value.empty() || std::ranges::any_of(each.values, [&](const auto& one) {
                     return one && in_lower_case(trimmed(*one)) == in_lower_case(value);
                 })))
                last = &each;
        return last;
    }
    void fail(std::string_view name, std::string_view what, const std::string& value = "") {
        const Assignment* const at = find(name, value);
        problems_.push_back({at != nullptr ? at->line : 0,
                             value.empty() ? fmt::format("{}: {}", name, what)
                                           : fmt::format("{}: '{}' {}", name, value, what)});
    }

    /// Returns the elements of a list: those that are not assigned keep their first values.
    Words list(std::string_view name, Words values) {
        for (const Assignment& each : assignments_) {
            if (each.group != "setup_nml" || in_lower_case(each.name) != name) continue;
            if (!each.whole) fail(name, "these subscripts are not converted");
            for (std::size_t i = 0; i < each.values.size() && each.whole; ++i) {
                if (!each.values[i]) continue;
                const std::size_t place = each.first + i;
                if (place >= values.size()) values.resize(place + 1, "x");
                values[place] = trimmed(*each.values[i]);
            }
        }
        return values;
    }
    std::string value(std::string_view name, const std::string& otherwise) {
        return list(name, {otherwise}).front();
    }
    /// Reads a number; the least is allowed, too.
    bool integer(std::string_view name, const std::string& text, std::int64_t least,
                 std::int64_t& number) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (error == std::errc() && end == text.data() + text.size() && number >= least)
            return true;
        fail(name, fmt::format("is not a number from {}", least), text);
        return false;
    }

    static bool is_logical(const std::string& text) {
        const std::string lower = in_lower_case(text);
        return lower.starts_with(".t") || lower.starts_with(".f") || lower.starts_with('t') ||
               lower.starts_with('f');
    }
    static bool is_true(const std::string& text) {
        return in_lower_case(text).starts_with(".t") || in_lower_case(text).starts_with('t');
    }

    /// Reads the flags f_NAME in the groups icefields_nml, icefields_bgc_nml and so on.
    void read_fields() {
        for (const Assignment& each : assignments_) {
            const std::string lower = in_lower_case(each.name);
            if (!each.group.starts_with("icefields") || !lower.starts_with("f_")) continue;
            const auto refuse = [&](std::string_view what) {
                problems_.push_back({each.line, fmt::format("{}: {}", each.name, what)});
            };
            if (each.values.size() != 1 || each.subscripts) {
                refuse("expected one value");
                continue;
            }
            const std::string flag = trimmed(each.values[0].value_or(""));
            const std::string name = each.name.substr(2);
            const std::string letters = is_logical(flag) ? "" : in_lower_case(flag);
            const auto same = [&](const std::string& other) {
                return in_lower_case(other) == lower.substr(2);
            };
            std::erase_if(fields_, [&](const Field& other) { return same(other.name); });
            std::erase_if(once_, same);
            if (letters.find_first_not_of("ymdh1x") != std::string::npos)
                refuse(fmt::format("'{}' has a letter other than y, m, d, h, 1 and x", flag));
            else if (lower == "f_cmip" && letters.find_first_not_of('x') != std::string::npos)
                refuse("it stands for many fields: write a flag for each of them");
            else if (is_true(flag) && has(coordinates, name))
                coordinates_ = true;
            else if (is_true(flag))
                once_.push_back(name);
            else if (!letters.empty())
                fields_.push_back({name, letters});
        }
    }

    /// Reads what holds for all streams.
    void read_keys() {
        folder_ = value("history_dir", "./");
        base_ = value("history_file", "iceh");
        axis_ = value("hist_time_axis", "end");
        if (axis_ != "begin" && axis_ != "middle" && axis_ != "end")
            fail("hist_time_axis", "is not begin, middle or end", axis_);
        const std::string precision = value("history_precision", "4");
        if (precision == "8")
            keys_ = "type = \"double\"\n";
        else if (precision != "4")
            fail("history_precision", "is not 4 or 8", precision);
        for (const auto& [name, usual] : {std::pair("history_format", "default"),
                                          {"history_deflate", "0"},
                                          {"history_chunksize", "0"}})
            for (const std::string& each : list(name, {usual}))
                if (each != usual) fail(name, "is not converted: set 'file' in each stream", each);
        if (is_true(value("write_ic", ".false.")))
            fail("write_ic", "a file of the initial state is not converted");
    }

    /// Returns the date from which windows of several units are counted; empty if the calendar
    /// gives the same.
    std::string anchor(const Frequency& frequency, std::int64_t count, const std::string& base) {
        const bool zero = base == "zero";
        if (count == 1 || frequency.letter == "1" || (frequency.letter == "h" && 24 % count == 0) ||
            (frequency.letter == "m" && 12 % count == 0 && zero))
            return "";
        if (zero) return "0000-01-01";
        const auto number = [&](std::string_view name, std::string_view otherwise) {
            std::int64_t n = 0;
            integer(name, value(name, std::string(otherwise)), 0, n);
            return n;
        };
        const std::int64_t month = frequency.letter == "y" ? 1 : number("month_init", "1");
        const bool days = frequency.letter == "d" || frequency.letter == "h";
        return fmt::format("{:04}-{:02}-{:02}", number("year_init", "0"), month,
                           days ? number("day_init", "1") : 1);
    }

    void stream(const std::string& letter, const std::string& count, const std::string& base,
                const std::string& suffix, bool mean, std::string& out) {
        std::int64_t n = 0;
        if (letter == "x" || !integer("histfreq_n", count, 0, n) || n == 0) return;
        const auto frequency = std::ranges::find(frequencies, letter, &Frequency::letter);
        if (frequency == frequencies.end()) return fail("histfreq", "is not converted", letter);
        if (base != "zero" && base != "init")
            return fail("histfreq_base", "is not zero or init", base);
        // Snapshots need a stream of their own if the others are means.
        for (const bool as_mean : {true, false}) {
            Words names;
            for (const Field& field : fields_)
                if (field.letters.find(letter) != std::string::npos &&
                    (mean && !has(snapshots, field.name)) == as_mean)
                    names.push_back(quoted(field.name));
            if (names.empty()) continue;
            const bool beside = mean && !as_mean;
            out += fmt::format(
                "[[stream]]\nname = {}\nevery = \"{}\"\n",
                quoted(fmt::format("{}{}_{}{}", base_, suffix, letter, beside ? "_inst" : "")),
                letter == "1" && n == 1
                    ? "step"
                    : fmt::format("{} {}{}", n, frequency->unit, n == 1 ? "" : "s"));
            if (const std::string date = anchor(*frequency, n, base); !date.empty())
                out += fmt::format("anchor = \"{}\"\n", date);
            out += as_mean ? fmt::format("stamp = \"{}\"\n", axis_) : "op = \"instant\"\n";
            // CICE writes one record to each file.
            out += fmt::format(
                "{}fields = [{}]\nrecords = 1\npath = {}\n\n", keys_, joined(names),
                quoted(fmt::format("{}{}{}{}{}.{}.nc", folder_, base_, suffix,
                                   beside ? "_" + letter : "",
                                   !as_mean        ? "_inst"
                                   : letter == "h" ? fmt::format("_{:02}h", n)
                                                   : "",
                                   as_mean ? frequency->format : frequencies.back().format)));
        }
    }

    /// Writes a stream of the fields without time, which CICE writes to each file.
    void once(std::string& out) {
        if (coordinates_)
            out = "# The history writes the coordinates of the fields, and their bounds.\n" + out;
        if (once_.empty()) return;
        for (std::string& name : once_) name = quoted(name);
        out += fmt::format("[[stream]]\nname = {}\nevery = \"once\"\n{}fields = [{}]\npath = {}\n",
                           quoted(base_ + "_grid"), keys_, joined(once_),
                           quoted(fmt::format("{}{}_grid.nc", folder_, base_)));
    }

    std::vector<Problem>& problems_;
    std::vector<Assignment> assignments_;
    std::vector<Field> fields_;
    Words once_;                ///< names of fields without time
    bool coordinates_ = false;  ///< coordinates are written, or their bounds
    std::string folder_, base_, axis_;
    std::string keys_;  ///< keys of each stream
};

}  // namespace

void convert_ice_in(std::string_view text, std::string& converted, std::vector<Problem>& problems) {
    converted = Converter(text, problems).convert();
}

}  // namespace thalweg::app
