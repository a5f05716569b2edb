// SPDX-License-Identifier: Apache-2.0
#include "session/settings.hpp"

#include <toml++/toml.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sstream>

#include "base/hash.hpp"
#include "base/text/nearest.hpp"
#include "base/text/size.hpp"
#include "base/text/text.hpp"
#include "layout/writers.hpp"

namespace thalweg::detail {

namespace {

/// Descriptions of the allowed values, by kind of setting. Numbers also have limits.
const char* const sizes = "a size in bytes (4096, 64KiB, 1MiB, 2GiB)";
const char* const auto_sizes = "auto or a size in bytes (4096, 64KiB, 1MiB, 2GiB)";
const char* const integers = "an integer";
const char* const auto_integers = "auto or an integer";
const char* const yes_or_no = "yes or no";
const char* const rates = "a size in bytes per second (500MiB, 2GiB)";

/// Largest size in bytes. Sums and products of several such sizes, or of those of all ranks of a
/// node, stay far below 2^63.
constexpr std::int64_t most_bytes = std::int64_t(1) << 40;
constexpr std::int64_t most_rate = std::int64_t(1) << 50;
constexpr std::int64_t most_header_pad = std::int64_t(1) << 30;

}  // namespace

const std::vector<SettingRow>& setting_table() {
    static const std::vector<SettingRow> table{
        {"mode", "read", "read|append",
         "how tw_open opens a file: for reading, or for appending and replacing records; tw_create "
         "does not accept append",
         true},
        {"method", "auto", "auto|record|slabs|rows|columns|tiles|direct|serial",
         "which rank writes which part of the file; auto is record", true},
        {"storage", "auto", "auto|posix|pnetcdf|pnetcdf-blocking|netcdf4|memory",
         "what writes the data; auto is netcdf4 for the netCDF-4 formats, else posix, or pnetcdf "
         "on NFS with several nodes; pnetcdf completes the requests of a round with one "
         "collective call, pnetcdf-blocking makes one per variable; memory discards the data, to "
         "measure all but the disk",
         true},
        {"format", "auto", "auto|cdf1|cdf2|cdf5|netcdf4|netcdf4-classic|zarr",
         "netCDF format; auto is CDF-2, or CDF-5 if CDF-2 cannot hold the file, and with "
         "storage=netcdf4 netCDF-4",
         true},
        {"deflate", "0", "0|1|2|3|4|5|6|7|8|9",
         "netCDF-4: zlib compression level, for variables of two dimensions or more; 0: none. "
         "tw_set_var can set this and the next four for one variable",
         true},
        {"shuffle", "auto", "auto|yes|no",
         "netCDF-4: byte shuffle filter; auto: yes if the variable is compressed", true},
        {"zstd", "no", "no or a level from -100 to 22",
         "netCDF-4: zstd compression level; readers need HDF5's zstd plugin", true},
        {"quantize", "no", "no, bitgroom:DIGITS, granularbr:DIGITS or bitround:BITS",
         "netCDF-4: number of significant digits (bits) to keep in floating-point values, as in "
         "netCDF-C",
         true},
        {"chunks", "auto", "auto or lengths such as lev=10,lat=90",
         "netCDF-4: chunk lengths by dimension; dimensions that are not listed are not divided; "
         "one that the file does not have gives a warning",
         true},
        {"packing", "no", "no, cmip7 or cmip7:RECORDS",
         "netCDF-4: cmip7 is the layout that CMIP7 asks for, for at most RECORDS records (4096): "
         "index in front, time in one chunk, others of at least 4 MiB",
         true},
        {"writers", "auto", "auto, a number such as 4, 2/node or 4:FIRST:STRIDE",
         "number of ranks that write; auto follows the method and the file system: 1/node on "
         "local ones, 4/node on parallel ones; FIRST is the first rank that writes (with 2/node, "
         "within each node), STRIDE the distance to the next",
         true},
        {"stripes", "auto", "auto, a number, or COUNT:SIZE such as 8:4MiB or auto:4MiB",
         "stripe count and size of a new file on Lustre, and MPI-IO hints; auto keeps the "
         "directory's default",
         true},
        {"tiles", "auto", "auto, or MxN such as 4x2",
         "with method=tiles: M parts along the fastest dimension, N along the next one; auto makes "
         "one tile per writer",
         true},
        {"files", "one", "one|tiles|variable|zarr",
         "tiles: with method=tiles, one file per tile, NAME.0000 and so on; variable: the path "
         "is a folder with a file for each variable; zarr: this folder also becomes a Zarr store "
         "when it is closed",
         true},
        {"readers", "auto", "auto, a number, or a number per node such as 2/node",
         "number of ranks that read; auto is 4/node on parallel file systems (Lustre, GPFS, "
         "BeeGFS, CephFS), else all ranks",
         true},
        {"read_ahead", "no", yes_or_no,
         "after each read, read the same of the next record in the background; takes up to "
         "'staging' bytes",
         true},
        {"common_records", "no", yes_or_no,
         "read sets of tiles whose files differ in their number of records: the records that all "
         "files have",
         true},
        {"alignment", "auto", auto_sizes,
         "with method=record: writers' ranges in the file end at multiples of this; auto is 4 "
         "KiB on local file systems, the stripe size on Lustre, on other parallel ones the block "
         "size or 1 MiB, whichever is larger",
         true, 1, most_bytes},
        {"buffer", "8MiB", sizes, "exchange buffers per rank; the ranks of a node share theirs",
         false, 1, most_bytes},
        {"piece", "auto", auto_sizes, "largest part of a file that is packed and written at a time",
         true, 1, most_bytes},
        {"threads", "auto", auto_integers,
         "threads per rank that copy put data, for models that run one rank on many cores; auto "
         "is OMP_NUM_THREADS, else 1; at most the processors that the rank is bound to, or its "
         "share of the node's",
         false, 1, INT32_MAX},
        {"staging", "256MiB", sizes,
         "memory limit, per rank and file, for copies of put data or for data read ahead; if a "
         "step needs more, tw_put makes no copy and is collective",
         true, 0, most_bytes},
        {"service", "auto", "auto|inline|background|servers",
         "when the file is written: during the call, on a background thread, or on dedicated "
         "ranks; auto is servers if there are any, else background with close=later and free "
         "processors, else inline",
         true},
        {"servers", "0", "auto or a number, also followed by :last",
         "number of dedicated server ranks, from 1 to all but one: the last ranks of every node "
         "in turn, or, with :last, the last ranks of all; auto: one on each node, on a parallel "
         "file system as many as make 64 in all, at most one rank of 16",
         false},
        {"queue", "auto", auto_sizes,
         "with service background or servers: memory limit, per rank and file, for steps not yet "
         "written; auto is two steps, at most 'staging'",
         true, 1, most_bytes},
        {"bandwidth", "0", rates,
         "limit in bytes per second for all writers, or all readers, of a file together; 0: no "
         "limit",
         true, 0, most_rate},
        {"watchdog", "0", "seconds, or two numbers such as 30:600",
         "seconds in one call after which a rank reports what it is waiting for; 0: never; and "
         "those after which it aborts its process, so that the launcher ends the job",
         false},
        {"header_pad", "4KiB", sizes,
         "free space after the header, for attributes set after the definitions end", true, 0,
         most_header_pad},
        {"attributes", "same", "same|first",
         "same: attributes that differ between ranks are an error; first: those of rank 0 are "
         "taken, for programs that write time stamps or host names",
         true},
        {"publish", "close", "close|live",
         "close: the file is called NAME.part until it is complete; live: it has its own name "
         "from the start",
         true},
        {"close", "wait", "wait|later",
         "with service background or servers: tw_close waits until the file is complete, or "
         "returns at once",
         true},
        {"durable", "no", yes_or_no, "sync the file to the device after every step and at close",
         true},
        {"checksums", "no", yes_or_no,
         "write checksums of the file's data beside it, as NAME.sums; restarts have them unless "
         "this is no",
         true},
        {"manifest", "", "a path", "file to which a line of JSON is added for each complete file",
         true},
        {"node_size", "0", integers,
         "largest number of ranks treated as one node; 0: the nodes of the machine. Small values "
         "test several nodes on one machine",
         false, 0, INT32_MAX},
        {"summary", "", "a path or table",
         "where tw_finalize writes the session summary: a JSON file, or a table on standard output",
         false},
        {"trace", "", "a path",
         "where tw_finalize writes a timeline of the run, in Chrome's trace event format", false},
        {"language", "c", "c|fortran",
         "dimension order and first index (0 or 1) in error messages; set by the Fortran interface",
         false},
        {"log", "warning", "off|error|warning|info|debug", "level of messages on standard error",
         false},
        {"config", "", "a path", "the TOML file of settings", false},
    };
    return table;
}

namespace {

const SettingRow* find_row(const std::string& name) {
    for (const SettingRow& row : setting_table())
        if (name == row.name) return &row;
    return nullptr;
}

std::vector<std::string> setting_names() {
    std::vector<std::string> names;
    for (const SettingRow& row : setting_table()) names.emplace_back(row.name);
    return names;
}

Status unknown_setting(const std::string& name, const std::string& origin) {
    const std::vector<std::string> names = setting_names();
    const std::string meant = did_you_mean(name, names);
    return failure(
        TW_ESETTING, "unknown setting '{}' (from the {}){}", name, origin,
        meant.empty() ? fmt::format("; the settings are {}", joined(names, ", ")) : meant);
}

std::string environment_name(const std::string& name) {
    std::string result = "THALWEG_" + name;
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return result;
}

/// Tests if an environment variable, given without THALWEG_, may belong to another program.
bool known_to_others(const std::string& name) {
    // For a service named "thalweg", Kubernetes sets THALWEG_SERVICE_... and THALWEG_PORT_...
    for (const char* begin : {"TEST_", "FAULT_", "BUILD_", "SERVICE_HOST", "SERVICE_PORT", "PORT_"})
        if (name.rfind(begin, 0) == 0) return true;
    // These belong to the command `thalweg run`, and to installations.
    for (const char* whole : {"NETCDF", "PNETCDF", "ONLY", "SKIP", "TELL", "JOBS", "ROOT", "DIR",
                              "HOME", "PREFIX", "VERSION", "PYTHON", "PORT"})
        if (name == whole) return true;
    return false;
}

bool is_size(const SettingRow& row) {
    return row.values == sizes || row.values == auto_sizes || row.values == rates;
}

bool is_integer(const SettingRow& row) {
    return row.values == integers || row.values == auto_integers;
}

/// Returns the values among which a setting has to be.
std::vector<std::string> choices_of(const SettingRow& row) {
    std::vector<std::string> choices;
    std::istringstream list(row.values);
    for (std::string choice; std::getline(list, choice, '|');) choices.push_back(choice);
    return choices;
}

bool parse_integer(const std::string& text, std::int64_t& number) {
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && rest == end;
}

/// Tests a value that may have a second part after a colon.
bool allowed_with_second(const std::string& name, const std::string& value) {
    const auto colon = value.find(':');
    const std::string first = value.substr(0, colon);
    const bool alone = colon == std::string::npos;
    const std::string second = alone ? "" : value.substr(colon + 1);
    std::int64_t number = 0;
    const auto is_number = [&](const std::string& text, std::int64_t least) {
        return parse_integer(text, number) && number >= least && number <= INT32_MAX;
    };
    if (name == "watchdog") return is_number(first, 0) && (alone || is_number(second, 1));
    if (name == "servers")
        return (first == "auto" || is_number(first, 0)) && (alone || second == "last");
    return (first == "auto" || is_number(first, 1)) &&
           (alone || (parse_size(second, number) && number >= 1 && number <= most_bytes));
}

bool allowed(const SettingRow& row, const std::string& value) {
    const std::string name = row.name;
    std::int64_t number = 0;
    if (is_size(row) || is_integer(row)) {
        const bool can_be_auto = row.values == auto_sizes || row.values == auto_integers;
        if (can_be_auto && value == "auto") return true;
        return (is_size(row) ? parse_size(value, number) : parse_integer(value, number)) &&
               number >= row.least && number <= row.most;
    }
    if (row.values == yes_or_no) return value == "yes" || value == "no";
    if (name == "watchdog" || name == "servers" || name == "stripes")
        return allowed_with_second(name, value);
    if (name == "writers" || name == "readers")
        return value == "auto" || parse_writers(value).number > 0;
    if (name == "tiles") return value == "auto" || parse_tiles(value).x > 0;
    // The allowed values of these settings depend on the variables, so they are checked later.
    if (name == "zstd" || name == "quantize" || name == "chunks" || name == "packing") return true;
    if (name == "summary" || name == "trace" || name == "config" || name == "manifest") return true;
    return std::ranges::count(choices_of(row), value) > 0;
}

/// Describes the allowed values of a setting.
std::string allowed_values(const SettingRow& row) {
    if (is_integer(row)) return fmt::format("{} from {} to {}", row.values, row.least, row.most);
    if (!is_size(row)) return row.values;
    return fmt::format("{} from {} to {}", row.values, row.least, size_in_words(row.most));
}

/// Returns a suggestion to correct a value, such as "; did you mean '64KiB'?" for "64KB", or an
/// empty text.
std::string meant_value(const SettingRow& row, const std::string& value) {
    const std::string values = row.values;
    const auto unit = value.find_first_not_of("0123456789");
    if (is_size(row) && unit != 0 && unit != std::string::npos) {
        const std::string letter = trimmed(value.substr(unit)).substr(0, 1);
        for (const auto& [name, shift] : size_units())
            if (!name.empty() && !trimmed(value.substr(unit)).ends_with(name) &&
                std::toupper(static_cast<unsigned char>(letter[0])) == name[0])
                return fmt::format("; did you mean '{}{}'?", value.substr(0, unit), name);
    }
    if (row.values == yes_or_no) return did_you_mean(value, {"yes", "no"});
    if (values.find('|') == std::string::npos)
        return values.rfind("auto", 0) == 0 ? did_you_mean(value, {"auto"}) : "";
    return did_you_mean(value, choices_of(row));
}

}  // namespace

Status Settings::apply(const std::string& name, const std::string& value,
                       const std::string& origin) {
    const SettingRow* row = find_row(name);
    if (row == nullptr) return unknown_setting(name, origin);
    if (!allowed(*row, value))
        return failure(TW_ESETTING, "setting '{}' (from the {}) is '{}'; it must be {}{}", name,
                       origin, value, allowed_values(*row), meant_value(*row, value));
    values_[name] = {value, origin};
    return {};
}

Status Settings::apply_list(const std::string& list, const std::string& origin, bool file_only) {
    std::istringstream stream(list);
    // Let the stream throw if memory runs out; otherwise this would look like the end of the list.
    stream.exceptions(std::ios::badbit);
    for (std::string item; std::getline(stream, item, ';');) {
        item = trimmed(item);
        if (item.empty()) continue;
        const auto equals = item.find('=');
        if (equals == std::string::npos)
            return failure(TW_ESETTING, "'{}' (from the {}) is not of the form name=value", item,
                           origin);
        const std::string name = trimmed(item.substr(0, equals));
        const std::string value = trimmed(item.substr(equals + 1));
        const SettingRow* row = find_row(name);
        if (file_only && row != nullptr && !row->per_file)
            return failure(TW_ESETTING, "setting '{}' belongs to the session: pass it to tw_init",
                           name);
        if (file_only && values_[name].origin == "environment") continue;
        if (Status status = apply(name, value, origin); !status.ok()) return status;
    }
    return {};
}

namespace {

/// Reads a text file on one rank, which will broadcast it.
Status read_text(const std::string& path, std::vector<char>& text) {
    constexpr std::size_t most = 16 << 20;  // bytes
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                               std::fclose);
    if (file) {
        text.resize(most + 1);
        text.resize(std::fread(text.data(), 1, text.size(), file.get()));
    }
    if (!file || std::ferror(file.get()) != 0)
        return failure(TW_ESETTING, "cannot read the configuration file '{}': {}", path,
                       std::strerror(errno));
    if (text.size() > most)
        return failure(TW_ESETTING, "cannot read the configuration file '{}': it has more than {}",
                       path, size_in_words(most));
    return {};
}

}  // namespace

Status read_on_root(Comm& comm, const std::string& path, std::vector<char>& content) {
    const Status status = comm.rank() == 0 && !path.empty() ? read_text(path, content) : Status{};
    if (Status s = agree(comm, status); !s.ok()) return s;
    comm.broadcast(content, 0);
    return {};
}

/// Applies the settings of a configuration file.
Status Settings::apply_toml(const std::string& path, std::string_view content) try {
    for (const auto& [key, node] : toml::parse(content, path)) {
        std::string value;
        if (const auto text = node.value_exact<std::string>())
            value = *text;
        else if (const auto number = node.value_exact<std::int64_t>())
            value = std::to_string(*number);
        else if (const auto flag = node.value_exact<bool>())
            value = *flag ? "yes" : "no";
        else
            return failure(TW_ESETTING,
                           "setting '{}' in '{}' must be a string, an integer or a boolean",
                           key.str(), path);
        Status status = apply(std::string(key.str()), value, "file '" + path + "'");
        if (!status.ok()) return status;
    }
    return {};
} catch (const toml::parse_error& error) {
    return failure(TW_ESETTING, "configuration file '{}', line {}: {}", path,
                   error.source().begin.line, error.description());
}

/// Finds the path of the configuration file in the call's settings or in the environment.
Status Settings::find_file(const std::string& call, std::string& path) {
    for (const SettingRow& row : setting_table()) values_[row.name] = {row.standard, "default"};
    Settings named = *this;
    if (Status own = named.apply_list(call, "call", false); !own.ok()) return own;
    const char* config = std::getenv("THALWEG_CONFIG");
    path = config != nullptr ? config : named.text("config");
    return {};
}

Status Settings::apply_all(const std::string& call, const std::string& path,
                           std::string_view content) {
    Status own;
    if (!path.empty()) own = apply_toml(path, content);
    if (own.ok()) own = apply_list(call, "call", false);
    for (const SettingRow& row : setting_table())
        if (const char* value = std::getenv(environment_name(row.name).c_str());
            value != nullptr && own.ok())
            own = apply(row.name, value, "environment");
    return own.ok() ? check_environment() : own;
}

Status Settings::read(const std::string& call, Settings& settings) {
    std::string path;
    std::vector<char> content;
    Status status = settings.find_file(call, path);
    if (status.ok() && !path.empty()) status = read_text(path, content);
    return status.ok() ? settings.apply_all(call, path, {content.data(), content.size()}) : status;
}

Status Settings::read(Comm& comm, const std::string& call, Status mine, Settings& settings,
                      bool& fortran) {
    enum : std::size_t { failures, files, hashes, not_hashes, fortrans, all_words };
    std::array<std::int64_t, all_words> words{};
    const auto agree_on_settings = [&] {
        const std::int64_t hash = mine.ok() ? settings.hash() : 0;
        const bool speaks = comm.rank() == 0 && mine.ok() && settings.text("language") == "fortran";
        words = {mine.ok() ? 0 : 1, words[files], hash, ~hash, speaks ? 1 : 0};
        comm.all_reduce(words, Reduce::max);
        return words[failures] != 0 ? agree(comm, mine) : Status{};
    };
    std::string path;
    if (mine.ok()) mine = settings.find_file(call, path);
    if (mine.ok() && path.empty()) mine = settings.apply_all(call, path, {});
    words[files] = path.empty() ? 0 : 1;
    if (Status s = agree_on_settings(); !s.ok()) return s;
    if (words[files] != 0) {
        std::vector<char> content;
        if (Status s = read_on_root(comm, path, content); !s.ok()) return s;
        if (!path.empty()) mine = settings.apply_all(call, path, {content.data(), content.size()});
        if (Status s = agree_on_settings(); !s.ok()) return s;
    }
    fortran = words[fortrans] != 0;
    return words[hashes] == ~words[not_hashes] ? Status{} : settings.compare(comm);
}

/// Reports environment variables whose names resemble that of a setting, as these are probably
/// mistakes. Other unknown variables may belong to another program, such as a package manager.
Status Settings::check_environment() {
    std::vector<std::string> names;
    for (const std::string& name : setting_names()) names.push_back(environment_name(name));
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string variable(*entry, std::strcspn(*entry, "="));
        if (variable.rfind("THALWEG_", 0) != 0 ||
            std::find(names.begin(), names.end(), variable) != names.end())
            continue;
        const std::string own = variable.substr(std::strlen("THALWEG_"));
        if (known_to_others(own)) continue;
        if (const std::string meant = nearest(own, setting_names()); !meant.empty())
            return failure(TW_ESETTING, "{} in the environment is not a setting; did you mean {}?",
                           variable, environment_name(meant));
        ignored_.push_back(variable);
    }
    return {};
}

Status Settings::for_file(const std::string& call, Settings& settings) const {
    settings = *this;
    return settings.apply_list(call, "call", true);
}

const std::string& Settings::text(const char* name) const { return values_.at(name).text; }

std::int64_t Settings::number(const char* name) const {
    const std::string& value = text(name);
    std::int64_t number = -1;
    return parse_size(value.substr(0, value.find(':')), number) ? number : -1;
}

std::int64_t Settings::second_number(const char* name) const {
    const std::string& value = text(name);
    const auto colon = value.find(':');
    std::int64_t number = -1;
    return colon != std::string::npos && parse_size(value.substr(colon + 1), number) ? number : -1;
}

bool Settings::flag(const char* name) const { return text(name) == "yes"; }

bool Settings::given(const char* name) const { return values_.at(name).origin != "default"; }

namespace {

bool is_of_all(const std::string& name) { return name != "log" && name != "language"; }

}  // namespace

std::int64_t Settings::hash() const {
    std::uint64_t h = hash_of_nothing;
    for (const auto& [name, value] : values_)
        if (is_of_all(name)) h = hash_of("\n", hash_of(value.text, h));
    return static_cast<std::int64_t>(h);
}

Status Settings::compare(Comm& comm) const {
    const auto text = [&] {
        std::string lines;
        for (const auto& [name, value] : values_)
            if (is_of_all(name)) lines += name + "=" + value.text + "\n";
        return lines;
    };
    const auto differ = [&](const std::string& first, const std::string& mine) -> Status {
        std::istringstream theirs(first), here(mine);
        for (std::string a, b; std::getline(theirs, a) && std::getline(here, b);)
            if (a != b)
                return failure(TW_EMISMATCH, "the settings differ: {} on rank 0, {} on rank {}", a,
                               b, OfRank{comm.rank()});
        return {};
    };
    return compare_with_first(comm, text, differ);
}

std::string Settings::table() const {
    std::string result =
        fmt::format("{:<14} {:<14} {:<12} {}\n", "setting", "value", "from", "meaning");
    for (const SettingRow& row : setting_table()) {
        const SettingValue& value = values_.at(row.name);
        result += fmt::format("{:<14} {:<14} {:<12} {}\n", row.name,
                              value.text.empty() ? "-" : value.text, value.origin, row.meaning);
    }
    return result;
}

}  // namespace thalweg::detail
