// SPDX-License-Identifier: Apache-2.0
#include "show/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/text.hpp"
#include "size_text.hpp"

namespace thalweg::app {

using detail::joined;

namespace {

using Row = std::vector<std::string>;

/// Formats rows as a table. @param right columns that are aligned to the right
std::string table_of(const std::vector<Row>& rows, const std::vector<std::size_t>& right) {
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const Row& row : rows)
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    std::string text;
    for (const Row& row : rows) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) {
            const bool to_right = std::find(right.begin(), right.end(), c) != right.end();
            line += to_right ? fmt::format("{:>{}}  ", row[c], widths[c])
                             : fmt::format("{:<{}}  ", row[c], widths[c]);
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

std::string writer_text(const detail::LockHolder& writer) {
    if (writer.process == 0) return "a process that is not known";
    return fmt::format("process {} on host {}", writer.process, writer.host);
}

std::string records_text(const FileFacts& f) {
    for (const DimensionFacts& dim : f.dims)
        if (dim.unlimited) return fmt::format(", {}", count_text(f.records, "record"));
    return "";
}

std::string state_text(const FileFacts& f) {
    switch (f.state) {
        case State::complete: return "complete";
        case State::writing:
            return fmt::format("not complete: {} writes it", writer_text(f.writer));
        case State::abandoned:
            return fmt::format(
                "not complete: the run that wrote it has ended; to complete it: thalweg recover {}",
                f.own);
        case State::truncated: break;
    }
    return "truncated: " + f.damage;
}

std::string head_of(const FileFacts& f) {
    std::string text = fmt::format("{}: {}, {}{}, {}\n", f.data, f.format, size_text(f.bytes),
                                   records_text(f), state_text(f));
    if (f.rows > 0)
        text += fmt::format("tiles: {} files, {} x {} of a grid\n", f.files, f.columns, f.rows);
    else if (f.files > 1)
        text += fmt::format("files: {}\n", f.files);
    if (f.writer.there && f.state == State::complete)
        text += fmt::format("being replaced: {} writes a new file of this name\n",
                            writer_text(f.writer));
    for (const std::string& kept : f.kept) text += fmt::format("an earlier run left {}\n", kept);
    if (!f.references.empty()) text += fmt::format("Zarr references: {}\n", f.references);
    if (f.zarr_store) text += "Zarr store: the folder can be opened as Zarr, version 3\n";
    text += "dimensions:";
    for (const DimensionFacts& dim : f.dims)
        text += fmt::format(" {}={}{}", dim.name, dim.length, dim.unlimited ? " (unlimited)" : "");
    text += fmt::format("\nglobal attributes: {}\n", f.attributes);
    if (f.groups > 0) text += fmt::format("groups: {}, which are not shown\n", f.groups);
    return text;
}

std::string storage_text(const VariableFacts& v) {
    std::string text;
    if (!v.chunks.empty()) text = "chunks " + joined(std::span(v.chunks), "x");
    if (!v.filters.empty()) text += " " + joined(std::span(v.filters), " ");
    if (!v.unreadable.empty())
        text += (text.empty() ? "" : "; ") + ("not readable: " + v.unreadable);
    return text;
}

/// Returns the ratio of a variable's size to the bytes that it occupies; "" if it is not
/// compressed.
std::string ratio_text(const VariableFacts& v) {
    if (v.filters.empty() || v.stored == 0) return "";
    return fmt::format("{:.2f}", static_cast<double>(v.bytes) / static_cast<double>(v.stored));
}

std::string variables_of(const FileFacts& f) {
    std::vector<Row> rows{
        {"variable", "type", "dimensions", "size", "in the file", "ratio", "storage"}};
    for (const VariableFacts& v : f.variables)
        rows.push_back({v.name, v.type, joined(std::span(v.dims), " "), size_text(v.bytes),
                        size_text(v.stored), ratio_text(v), storage_text(v)});
    std::string text = rows.size() > 1 ? "\n" + table_of(rows, {3, 4, 5}) : "no variables\n";
    for (const UnlistedObject& o : f.unlisted)
        text += o.attribute.empty()
                    ? fmt::format("variable '{}': not readable: {}\n", o.variable, o.type)
                    : fmt::format("attribute '{}:{}': not readable: {}\n", o.variable, o.attribute,
                                  o.type);
    return text;
}

std::string statistics_of(const FileFacts& f, const std::vector<Statistics>& statistics) {
    std::vector<Row> rows{{"variable", "minimum", "maximum", "mean", "missing", "NaN"}};
    const std::size_t n = std::min(statistics.size(), f.variables.size());
    for (std::size_t i = 0; i < n; ++i) {
        const Statistics& s = statistics[i];
        const auto number = [&](double value) {
            return s.values > 0 ? fmt::format("{:.7g}", value) : "-";
        };
        if (s.unreadable.empty())
            rows.push_back({f.variables[i].name, number(s.minimum), number(s.maximum),
                            number(s.mean), std::to_string(s.missing), std::to_string(s.nan)});
        else
            rows.push_back({f.variables[i].name, s.unreadable});
    }
    return "\n" + table_of(rows, {1, 2, 3, 4, 5});
}

/// Converts a number to JSON, which has no infinities.
nlohmann::ordered_json number_of(double value) {
    if (std::isfinite(value)) return value;
    return value > 0 ? "inf" : "-inf";
}

nlohmann::ordered_json json_of(const Statistics& s) {
    nlohmann::ordered_json json;
    if (!s.unreadable.empty()) {
        json["unreadable"] = s.unreadable;
        return json;
    }
    json = {{"minimum", nullptr}, {"maximum", nullptr},   {"mean", nullptr},
            {"values", s.values}, {"missing", s.missing}, {"nan", s.nan}};
    if (s.values > 0) {
        json["minimum"] = number_of(s.minimum);
        json["maximum"] = number_of(s.maximum);
        json["mean"] = number_of(s.mean);
    }
    return json;
}

nlohmann::ordered_json json_of(const VariableFacts& v) {
    return {{"name", v.name},     {"type", v.type},       {"dimensions", v.dims},
            {"shape", v.shape},   {"bytes", v.bytes},     {"stored_bytes", v.stored},
            {"chunks", v.chunks}, {"filters", v.filters}, {"unreadable", v.unreadable}};
}

}  // namespace

std::string text_of(const FileFacts& facts, const std::vector<Statistics>& statistics) {
    return head_of(facts) + variables_of(facts) +
           (statistics.empty() ? "" : statistics_of(facts, statistics));
}

std::string json_of(const FileFacts& f, const std::vector<Statistics>& statistics) {
    using nlohmann::ordered_json;
    ordered_json json{{"path", f.data},
                      {"format", f.format},
                      {"bytes", f.bytes},
                      {"files", f.files},
                      {"records", f.records},
                      {"complete", f.state == State::complete},
                      {"state", name_of(f.state)},
                      {"damage", f.damage},
                      {"writer", nullptr},
                      {"left_by_earlier_runs", f.kept},
                      {"tiles", nullptr},
                      {"zarr_references", f.references},
                      {"zarr_store", f.zarr_store},
                      {"attributes", f.attributes},
                      {"groups", f.groups},
                      {"dimensions", ordered_json::array()},
                      {"variables", ordered_json::array()},
                      {"unlisted", ordered_json::array()}};
    if (f.writer.there) json["writer"] = {{"host", f.writer.host}, {"process", f.writer.process}};
    if (f.rows > 0) json["tiles"] = {{"rows", f.rows}, {"columns", f.columns}};
    for (const DimensionFacts& dim : f.dims)
        json["dimensions"].push_back(
            {{"name", dim.name}, {"length", dim.length}, {"unlimited", dim.unlimited}});
    for (std::size_t i = 0; i < f.variables.size(); ++i) {
        json["variables"].push_back(json_of(f.variables[i]));
        if (i < statistics.size()) json["variables"].back()["statistics"] = json_of(statistics[i]);
    }
    for (const UnlistedObject& o : f.unlisted)
        json["unlisted"].push_back(
            {{"variable", o.variable}, {"attribute", o.attribute}, {"type", o.type}});
    return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace thalweg::app
