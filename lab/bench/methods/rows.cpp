// Makes the rows of each measurement.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <regex>

#include "run.hpp"

namespace thalweg::bench {
namespace {

constexpr std::int64_t mega = 1'000'000;

int steps_of(const Options& o, const Case& c) {
    if (o.mode == Mode::read) return 1;
    if (o.steps > 0) return o.steps;
    if (c.workload.steps > 0) return c.workload.steps;
    const std::int64_t bytes = c.step_bytes;
    if (o.mode == Mode::irregular)
        return static_cast<int>(std::clamp<std::int64_t>(100 * mega / bytes, 1, 4));
    if (o.mode == Mode::pio)
        return static_cast<int>(std::clamp<std::int64_t>(200 * mega / bytes, 1, 4));
    return static_cast<int>(std::max<std::int64_t>(1, (200 * mega + bytes - 1) / bytes));
}

void add_case(const RankGroup& world, const Options& o, Measurement& m, Workload workload) {
    m.cases.push_back({std::move(workload)});
    Case& c = m.cases.back();
    const int rank = std::min(world.rank(), m.ranks - 1);
    const Problem problem(c.workload, o.grid, rank, m.ranks);
    c.step_bytes = problem.step_bytes();
    c.steps = steps_of(o, c);
    if (o.mode != Mode::irregular) return;
    std::vector<std::int64_t> indices = problem.groups().front().indices();
    std::sort(indices.begin(), indices.end());
    std::int64_t last = -2;
    for (const std::int64_t index : indices) {
        c.held += index >= 0;
        c.pieces += index >= 0 && index != last + 1;
        last = index;
    }
    c.held = world.sum(c.held);
    c.pieces = world.sum(c.pieces);
}

std::string classic_settings(const Options& o, const MethodInfo& method) {
    if (method.kind == FileKind::netcdf4 && method.name.starts_with("record-netcdf4"))
        return fmt::format("{}; format=netcdf4; deflate={}; shuffle={}", method.settings, o.deflate,
                           o.shuffle ? "yes" : "no");
    return fmt::format("format={}; {}", o.format, method.settings);
}

/// Adds a row for each method that is named, or for the usual ones.
/// @param needed  methods with which the others are compared; they are always measured
void add_methods(const Options& o, Measurement& m, std::size_t which,
                 const std::vector<std::string>& needed, const std::string& settings,
                 const std::string& computing = "") {
    std::vector<std::string> names = o.methods;
    for (const MethodInfo& method : all_methods())
        if (o.methods.empty() && method.mode == o.mode && method.usual)
            names.push_back(method.name);
    for (auto n = needed.rbegin(); n != needed.rend(); ++n)
        if (std::find(names.begin(), names.end(), *n) == names.end())
            names.insert(names.begin(), *n);
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]) !=
            names.begin() + static_cast<std::ptrdiff_t>(i))
            throw UsageError("method \"" + names[i] + "\" is given twice");
        Row row{names[i], find_method(o.mode, names[i])};
        row.which = which;
        row.computing = computing;
        const bool writes = o.mode == Mode::write || o.mode == Mode::irregular;
        const bool reads = o.mode == Mode::read || o.mode == Mode::prefetch;
        // Settings of one method come last: these count.
        row.settings = writes ? classic_settings(o, row.method) : row.method.settings;
        const auto colon = names[i].find(':');
        row.settings = fmt::format("{}; {}; {}", row.settings, settings, o.settings);
        // No name follows a colon within a value, as in packing=cmip7:24.
        if (colon != std::string::npos)
            row.settings +=
                std::regex_replace(names[i].substr(colon), std::regex(":(?=\\w+=)"), ";");
        // Peers write lists only in the measurement irregular.
        if ((o.mode == Mode::write || reads) && !m.cases[which].workload.list.empty() &&
            !row.method.library && names[i] != "raw")
            row.error = "the ranks of this workload hold lists";
        m.rows.push_back(std::move(row));
    }
}

/// Returns a row of overlap: a service of the library, or no output or only copies.
Row service_row(const Options& o, const std::string& name) {
    const std::string later = "+later";
    if (name.size() > later.size() && name.ends_with(later)) {
        Row row = service_row(o, name.substr(0, name.size() - later.size()));
        row.name = name;
        row.settings += "; close=later";
        return row;
    }
    if (name == "none" || name == "pack") {
        Row row{name, find_method(Mode::overlap, name)};
        row.service = name;
        return row;
    }
    Row row{name, find_method(Mode::write, "record")};
    row.method.settings.clear();
    row.service = name == "serial" ? "inline" : name;
    const std::string prefix = "servers:";
    if (name.starts_with(prefix)) {
        const char* const end = name.data() + name.size();
        const auto [rest, error] = std::from_chars(name.data() + prefix.size(), end, row.servers);
        if (error == std::errc{} && rest == end && row.servers > 0) row.service = "servers";
    }
    for (const char* known : {"inline", "background", "auto", "servers"}) {
        if (row.service != known) continue;
        const bool alone = name == "serial" && o.serial_bandwidth > 0;
        row.settings =
            fmt::format("service={}; servers={}; bandwidth={}; format={}; {}; {}", row.service,
                        row.servers, alone ? o.serial_bandwidth : o.bandwidth, o.format,
                        name == "serial" ? "method=serial" : "", o.settings);
        if (o.settings.find("format=netcdf4") != std::string::npos)
            row.method.kind = FileKind::netcdf4;
        return row;
    }
    throw UsageError("--services " + name +
                     ": must be none, pack, inline, serial, background, auto or servers:N");
}

void add_overlap(const Options& o, Measurement& m) {
    std::vector<std::string> services = o.services;
    std::vector<std::string> needed{"inline", "pack", "none"};
    if (o.compute_seconds < 0) needed.push_back(m.cases.front().workload.pace.output);
    for (const std::string& name : needed)
        if (std::find(services.begin(), services.end(), name) == services.end())
            services.insert(services.begin(), name);
    std::vector<Row> rows;
    for (const std::string& name : services) rows.push_back(service_row(o, name));
    for (const std::string& name : o.peers) {
        if (name == "none") continue;
        if (name != "raw" && !name.starts_with("peer-pnetcdf"))  // others cannot be limited
            throw UsageError("--peers " + name +
                             ": must be raw, peer-pnetcdf or peer-pnetcdf-nonblocking");
        rows.push_back({name, find_method(Mode::write, name)});
        rows.back().service = "inline";
    }
    for (const std::string& computing :
         o.compute_seconds == 0 ? std::vector<std::string>{"sleep"} : o.computing)
        for (Row row : rows) {
            for (const Row& other : m.rows)
                if (other.name == row.name && other.computing == computing)
                    throw UsageError("\"" + row.name + "\" is given twice");
            row.computing = computing;
            row.anew = true;
            m.rows.push_back(std::move(row));
        }
}

}  // namespace

Measurement plan_rows(const RankGroup& world, const Options& o) {
    Measurement m;
    m.ranks = o.mode == Mode::overlap ? o.ranks : world.ranks();
    if (world.ranks() < m.ranks)
        throw UsageError(
            fmt::format("{} ranks are running, but the model needs {}", world.ranks(), m.ranks));
    if (o.mode == Mode::irregular) {
        for (const std::string& kind : o.maps) add_case(world, o, m, map_workload(kind, o));
    } else {
        add_case(world, o, m, find_workload(o));
    }
    switch (o.mode) {
        case Mode::write: add_methods(o, m, 0, {"raw"}, ""); break;
        case Mode::irregular:
            for (std::size_t i = 0; i < m.cases.size(); ++i) add_methods(o, m, i, {}, "");
            // If no rank holds a full dimension, both shares have the same list.
            std::erase_if(m.rows, [&](const Row& row) {
                const Case& c = m.cases[row.which];
                const bool factored = c.workload.dims.size() > 1 && c.workload.list != "i";
                return row.method.share == Share::flattened && !factored;
            });
            break;
        case Mode::pio: add_methods(o, m, 0, {}, "staging=2GiB; writers=1"); break;
        case Mode::read:
            add_methods(o, m, 0, {}, "");
            std::erase_if(m.rows, [&](const Row& row) {  // methods that cannot read the format
                return o.methods.empty() && (row.name == "pnetcdf" || row.name == "netcdf4") &&
                       (row.name == "netcdf4") != (o.format == "netcdf4");
            });
            break;
        case Mode::prefetch: {
            const std::int64_t staging = 2 * m.cases[0].step_bytes / m.ranks + (1 << 20);
            for (const std::string& computing : o.computing)
                add_methods(o, m, 0, {"none", "inline"},
                            fmt::format("bandwidth={}; staging={}", o.bandwidth, staging),
                            computing);
            for (Row& row : m.rows) row.anew = true;
            break;
        }
        case Mode::overlap: add_overlap(o, m); break;
        case Mode::history: break;
    }
    for (const Row& row : m.rows)
        if (world.ranks() < m.ranks + row.servers)
            throw UsageError(fmt::format(
                "{} ranks are running, but {} are needed: {} of the model, and the servers; "
                "./run bench overlap starts the right number",
                world.ranks(), m.ranks + row.servers, m.ranks));
    return m;
}

}  // namespace thalweg::bench
