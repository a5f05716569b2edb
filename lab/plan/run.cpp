// SPDX-License-Identifier: Apache-2.0
#include "plan/run.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "base/text/nearest.hpp"
#include "base/text/text.hpp"
#include "index/box.hpp"
#include "layout/writers.hpp"
#include "plan/toml_keys.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// Largest size of an output in bytes, so that sums of several sizes fit into 64 bits.
constexpr double most_bytes = 1e18;

Status read_text(const std::string& path, std::string& text) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return failure(TW_EIO, "{}: is a directory", path);
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    std::ostringstream content;
    if (in) content << in.rdbuf();
    if (!in || in.bad())
        return failure(errno == ENOENT ? TW_ENOTFOUND : TW_EIO, "{}: {}", path,
                       std::strerror(errno));
    text = content.str();
    return {};
}

std::vector<std::string> words_of(std::string text, char separator) {
    std::replace(text.begin(), text.end(), separator, ' ');
    std::istringstream in(text);
    return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

int dimension_of(const Run& run, const std::string& name) {
    const auto it = std::find(run.dimensions.begin(), run.dimensions.end(), name);
    return it == run.dimensions.end() ? -1 : it - run.dimensions.begin();
}

std::string unknown_dimension(const Run& run, const std::string& name) {
    const std::string meant = did_you_mean(name, run.dimensions);
    return fmt::format("unknown dimension '{}'{}", name,
                       meant.empty() ? fmt::format("; [dimensions] has {} (the record dimension "
                                                   "is not named)",
                                                   joined(run.dimensions, ", "))
                                     : meant);
}

Status read_dimensions(const toml::table& table, const std::string& file, Run& run) {
    for (const auto& [key, node] : table) {
        const auto length = node.value_exact<std::int64_t>();
        if (!length || *length < 1)
            return failure(TW_ESETTING, "{}: [dimensions]: key '{}': expected an integer >= 1",
                           file, key.str());
        run.dimensions.emplace_back(key.str());
        run.lengths.push_back(*length);
    }
    return {};
}

Status read_variables(const toml::table& table, const std::string& where, Run& run) {
    static const std::map<std::string, std::int64_t> elements{
        {"byte", 1}, {"short", 2}, {"int", 4}, {"int64", 8}, {"float", 4}, {"double", 8}};
    TomlKeys keys(table, where);
    RunVariables v;
    std::string type, dims;
    keys.text("name", v.name, Key::optional);
    keys.integer("count", v.count, 1, Key::optional);
    keys.text("type", type);
    keys.text("dims", dims);
    if (keys.ok()) {
        const auto element = elements.find(type);
        if (element == elements.end())
            keys.fail("type", fmt::format("unknown type '{}'; the types are byte, short, int, "
                                          "int64, float and double",
                                          type));
        else
            v.element = element->second;
        for (const std::string& name : words_of(dims, ' ')) {
            const int dim = dimension_of(run, name);
            if (dim < 0)
                keys.fail("dims", unknown_dimension(run, name));
            else if (std::count(v.dims.begin(), v.dims.end(), dim) > 0)
                keys.fail("dims", fmt::format("dimension '{}' is named twice", name));
            v.dims.push_back(dim);
        }
        if (v.dims.size() > max_dims)
            keys.fail("dims", fmt::format("more than {} dimensions", max_dims));
        if (v.count > 1'000'000) keys.fail("count", "more than 1000000 variables");
    }
    run.variables.push_back(v);
    return keys.finish();
}

/// Chooses two factors for which the blocks are as square as possible.
void choose_grid(const Run& run, std::vector<Cuts>& grid) {
    const auto length = [&](std::size_t i) -> double { return run.lengths[grid[i].dim]; };
    double best = INFINITY;
    for (std::int64_t a = 1; a <= run.ranks; ++a) {
        if (run.ranks % a != 0) continue;
        const std::int64_t b = run.ranks / a;
        const double ratio = std::abs(std::log(length(0) / a) - std::log(length(1) / b));
        if (ratio >= best) continue;
        best = ratio;
        grid[0].parts = a;
        grid[1].parts = b;
    }
}

/// Reads a text such as "lat=40,lon=32", or only names of dimensions.
void read_decomposition(TomlKeys& keys, const std::string& text, Run& run) {
    const char* const key = "decomposition";
    std::vector<Cuts> grid;
    std::size_t numbers = 0;
    for (const std::string& word : words_of(text, ',')) {
        const auto equals = word.find('=');
        const std::string name = word.substr(0, equals);
        Cuts cuts{dimension_of(run, name), 1};
        if (cuts.dim < 0) return keys.fail(key, unknown_dimension(run, name));
        for (const Cuts& other : grid)
            if (other.dim == cuts.dim)
                return keys.fail(key, fmt::format("dimension '{}' is named twice", name));
        if (equals != std::string::npos) {
            const char* const end = word.data() + word.size();
            const auto [rest, error] = std::from_chars(word.data() + equals + 1, end, cuts.parts);
            if (error != std::errc() || rest != end || cuts.parts < 1 || cuts.parts > run.ranks)
                return keys.fail(
                    key, fmt::format("'{}': expected a number from 1 to {}", word, run.ranks));
            ++numbers;
        }
        grid.push_back(cuts);
    }
    if (grid.empty()) return keys.fail(key, "expected dimensions, such as \"lat=40,lon=32\"");
    if (numbers == 0 && grid.size() == 1) grid[0].parts = run.ranks;
    if (numbers == 0 && grid.size() == 2) choose_grid(run, grid);
    if (numbers == 0 ? grid.size() > 2 : numbers < grid.size())
        return keys.fail(key, "expected a number of parts for each dimension");
    double product = 1;
    for (const Cuts& cuts : grid) {
        product *= cuts.parts;
        const std::int64_t length = run.lengths[cuts.dim];
        if (cuts.parts > length)
            return keys.fail(key,
                             fmt::format("dimension '{}' of length {} cannot be cut into {} parts",
                                         run.dimensions[cuts.dim], length, cuts.parts));
    }
    if (product != run.ranks)
        return keys.fail(
            key, fmt::format("it has {:.0f} parts, but there are {} ranks", product, run.ranks));
    run.grid = grid;
}

/// Reads how the file is stored, and if the ranks hold lists. Missing keys count as 0.
void read_format(TomlKeys& keys, double compressed_to, double list_run, Run& run) {
    if (run.storage != "posix" && run.storage != "pnetcdf" && run.storage != "netcdf4")
        keys.fail("storage", fmt::format("'{}': expected posix, pnetcdf or netcdf4", run.storage));
    if (run.deflate > 9) keys.fail("deflate", "expected an integer from 0 to 9");
    if (run.deflate > 0 && run.storage != "netcdf4")
        keys.fail("deflate", "only with storage = \"netcdf4\"");
    if (compressed_to > 1 || (compressed_to > 0 && run.deflate == 0))
        keys.fail("compressed_to", "expected a part of the bytes, at most 1, and the key deflate");
    if (list_run > 0 && list_run < 1) keys.fail("list_run", "expected 1 or more indices");
    constexpr double usual = 0.5;
    if (run.deflate > 0) run.stored = compressed_to > 0 ? compressed_to : usual;
    run.list_run = list_run;
}

/// Chooses the figures of the machine: measured ones if the folder was calibrated, otherwise
/// assumed ones.
Status choose_figures(const std::string& calibration, const std::string& path, Run& run) {
    run.folder = assumed_folder(run.file_system);
    run.calibration = calibration;
    if (calibration.empty()) return {};
    std::string text;
    if (Status s = read_text(calibration, text); !s.ok()) return s;
    if (Status s = parse_machine(text, calibration, run.machine); !s.ok()) return s;
    if (const Folder* const folder = run.machine.folder_of(path, run.file_system.name)) {
        run.folder = *folder;
        return {};
    }
    return failure(TW_ESETTING, "{}: no [[folder]] of file system '{}'", calibration,
                   run.file_system.name);
}

Status check_sizes(const Run& run) {
    double bytes = 0;
    for (const RunVariables& v : run.variables) {
        double own = v.count * v.element;
        for (const std::int64_t length : run.shape(v)) own *= length;
        bytes += own;
    }
    if (bytes <= most_bytes) return {};
    return failure(TW_ESETTING, "{}: an output of {:.1e} bytes is too large", run.file, bytes);
}

/// Values that have another type in TOML than in Run, or that must be looked up.
struct Raw {
    std::int64_t ranks = 1, nodes = 1, cores = 1, buffer = 8 << 20, staging = 256 << 20;
    double compressed_to = 0, list_run = 0;
    std::string file_system, folder, decomposition, calibration;
};

void read_values(TomlKeys& keys, Raw& raw, Run& run) {
    keys.text("title", run.title, Key::optional);
    keys.integer("ranks", raw.ranks, 1);
    keys.integer("nodes", raw.nodes, 1);
    keys.integer("cores", raw.cores, 1);
    keys.size("memory", run.memory, Key::optional);
    keys.text("file_system", raw.file_system);
    keys.text("folder", raw.folder, Key::optional);
    keys.text("calibration", raw.calibration, Key::optional);
    keys.number("step_seconds", run.step_seconds);
    keys.integer("output_interval", run.output_interval, 1);
    keys.integer("outputs", run.outputs, 1);
    keys.integer("outputs_per_file", run.outputs_per_file, 1, Key::optional);
    keys.text("decomposition", raw.decomposition);
    keys.text("writers", run.writers, Key::optional);
    keys.text("storage", run.storage, Key::optional);
    keys.integer("deflate", run.deflate, 0, Key::optional);
    keys.number("compressed_to", raw.compressed_to, Key::optional);
    keys.number("list_run", raw.list_run, Key::optional);
    keys.flag("deferred", run.deferred, Key::optional);
    keys.flag("durable", run.durable, Key::optional);
    keys.size("buffer", raw.buffer, Key::optional);
    keys.size("staging", raw.staging, Key::optional);
}

/// Checks the values and copies them to the run.
void take_values(TomlKeys& keys, const Raw& raw, Run& run) {
    constexpr std::int64_t most = 100'000'000;
    if (raw.ranks > most) keys.fail("ranks", fmt::format("more than {}", most));
    if (raw.cores > most) keys.fail("cores", fmt::format("more than {}", most));
    if (raw.nodes > raw.ranks)
        keys.fail("nodes", fmt::format("more nodes than ranks ({})", raw.ranks));
    if (run.writers != "auto" && parse_writers(run.writers).number < 1)
        keys.fail("writers", "expected auto, a number, or a number per node such as 2/node");
    read_format(keys, raw.compressed_to, raw.list_run, run);
    if (!file_system_named(raw.file_system, run.file_system))
        keys.fail("file_system", fmt::format("unknown file system '{}'; known are {}",
                                             raw.file_system, joined(file_system_names(), ", ")));
    run.ranks = raw.ranks;
    run.nodes = raw.nodes;
    run.cores = raw.cores;
    run.limits.buffer = raw.buffer;
    run.limits.staging = raw.staging;
}

}  // namespace

Status read_run(const std::string& path, const std::string& calibration, Run& run) {
    run.file = path;
    std::string content;
    if (Status s = read_text(path, content); !s.ok()) return s;
    toml::table table;
    if (Status s = parse_toml(content, path, table); !s.ok()) return s;
    TomlKeys keys(table, path);
    Raw raw;
    read_values(keys, raw, run);
    const toml::table* const dimensions = keys.table("dimensions");
    const auto variables = keys.tables("variables");
    if (keys.ok()) take_values(keys, raw, run);
    if (keys.ok()) {
        if (Status s = read_dimensions(*dimensions, path, run); !s.ok()) return s;
        int number = 0;
        for (const toml::table* v : variables)
            if (Status s =
                    read_variables(*v, fmt::format("{}: [[variables]] {}", path, ++number), run);
                !s.ok())
                return s;
        if (variables.empty()) keys.fail("variables", "there are none");
        read_decomposition(keys, raw.decomposition, run);
    }
    if (Status s = keys.finish(); !s.ok()) return s;
    if (Status s = check_sizes(run); !s.ok()) return s;
    std::string named = calibration;
    if (named.empty() && !raw.calibration.empty())
        named = (std::filesystem::path(path).parent_path() / raw.calibration).string();
    return choose_figures(named, raw.folder, run);
}

}  // namespace thalweg::planning
