// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace pio_bench {
namespace {

std::string format(const char* pattern, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, pattern);
    std::vsnprintf(text, sizeof text, pattern, arguments);
    va_end(arguments);
    return text;
}

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    return n % 2 != 0 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

std::vector<double> all(const Row& row, double Sample::*figure) {
    std::vector<double> values;
    for (const Sample& s : row.samples) values.push_back(s.*figure);
    return values;
}

// Returns the median over the repetitions of this row's time divided by that of another method; 0
// if the other method was not measured.
double ratio(const std::vector<Row>& rows, const Row& row, const char* other,
             double Sample::*figure) {
    for (const Row& o : rows) {
        if (o.method != other) continue;
        std::vector<double> ratios;
        for (std::size_t i = 0; i < row.samples.size(); ++i)
            ratios.push_back(row.samples[i].*figure / std::max(o.samples[i].*figure, 1e-9));
        return median(ratios);
    }
    return 0;
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + '"';
}

std::string list(const std::vector<double>& values, const char* pattern) {
    std::string text = "[";
    for (const double v : values) text += (text.size() > 1 ? ", " : "") + format(pattern, v);
    return text + "]";
}

std::string number_or_null(double value) { return value > 0 ? format("%.3f", value) : "null"; }

std::string row_json(const Context& context, const std::vector<Row>& rows, const Row& row) {
    const int steps = context.workload.steps;
    std::string j = "    {\"method\": " + quoted(row.method);
    j += format(", \"bytes\": %lld", static_cast<long long>(context.workload.bytes() * steps));
    j += format(", \"file_bytes\": %lld", static_cast<long long>(row.file_bytes));
    j += format(", \"decompose_seconds\": %.6f", median(all(row, &Sample::decompose)));
    j += format(", \"first_decompose_seconds\": %.6f", row.first_decompose);
    j += format(", \"open_seconds\": %.6f", median(all(row, &Sample::open)));
    j += format(", \"calls_seconds\": %.6f", median(all(row, &Sample::calls)));
    j += format(", \"closed_seconds\": %.6f", median(all(row, &Sample::closed)));
    j += ", \"calls_to_pack\": " + number_or_null(ratio(rows, row, "pack", &Sample::calls));
    for (const char* other : {"thalweg", "raw"})
        j += ", \"closed_to_" + std::string(other) +
             "\": " + number_or_null(ratio(rows, row, other, &Sample::closed));
    if (row.wrong >= 0) j += format(", \"wrong_values\": %lld", static_cast<long long>(row.wrong));
    if (row.same >= 0) j += std::string(", \"same_bytes\": ") + (row.same != 0 ? "true" : "false");
    j += ",\n     \"repetitions\": {\"decompose\": " + list(all(row, &Sample::decompose), "%.6f");
    j += ", \"calls\": " + list(all(row, &Sample::calls), "%.6f");
    j += ", \"closed\": " + list(all(row, &Sample::closed), "%.6f");
    j += ", \"resident_bytes\": " + list(all(row, &Sample::resident), "%.0f") + "}}";
    return j;
}

std::string environment_json() {
    std::string text;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const char* const equals = std::strchr(*entry, '=');
        if (std::strncmp(*entry, "THALWEG_", 8) != 0 || equals == nullptr) continue;
        text += (text.empty() ? "" : ", ") +
                quoted(std::string(static_cast<const char*>(*entry), equals)) + ": " +
                quoted(equals + 1);
    }
    return "{" + text + "}";
}

}  // namespace

std::string report_json(const Context& context, const std::vector<Row>& rows) {
    const Options& o = context.options;
    const std::time_t now = std::time(nullptr);
    char date[32];
    std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    double load = 0;
    if (getloadavg(&load, 1) != 1) load = -1;
    std::string j = "{\n  \"program\": \"pio-bench\",\n  \"date\": " + quoted(date);
    j += ",\n  \"workload\": " + quoted(o.workload) +
         ",\n  \"text\": " + quoted(context.workload.text);
    j += format(",\n  \"ranks\": %d, \"io_tasks\": %d, \"steps\": %d", context.ranks, o.io_tasks,
                context.workload.steps);
    j += ", \"iotype\": " + quoted(o.iotype);
    j += format(", \"variables\": %zu, \"decompositions\": %zu, \"compute_seconds\": %g",
                context.workload.variables.size(), context.workload.layouts.size(), o.compute);
    j += format(", \"cores\": %ld, \"load_average\": %.2f", sysconf(_SC_NPROCESSORS_ONLN), load);
    j += ",\n  \"environment\": " + environment_json();
    j += ",\n  \"time\": \"seconds, slowest rank, medians; closed: until the file is complete, "
         "without computation\"";
    j += ",\n  \"results\": [\n";
    for (std::size_t i = 0; i < rows.size(); ++i)
        j += row_json(context, rows, rows[i]) + (i + 1 < rows.size() ? ",\n" : "\n");
    return j + "  ]\n}\n";
}

std::string report_table(const Context& context, const std::vector<Row>& rows) {
    std::string text = context.workload.name + ": " + context.workload.text;
    text += format("\n%d ranks, %d step%s, %.1f MB a step\n\n", context.ranks,
                   context.workload.steps, context.workload.steps == 1 ? "" : "s",
                   static_cast<double>(context.workload.bytes()) / 1e6);
    text += format("%-18s%11s%11s%11s%11s%11s%9s%9s%9s\n", "method", "decompose", "open", "calls",
                   "closed", "MB/s", "x tw", "x raw", "x pack");
    for (const Row& row : rows) {
        const double closed = median(all(row, &Sample::closed));
        text += format("%-18s%11.4f%11.4f%11.4f%11.4f%11.0f", row.method.c_str(),
                       median(all(row, &Sample::decompose)), median(all(row, &Sample::open)),
                       median(all(row, &Sample::calls)), closed,
                       static_cast<double>(context.workload.bytes()) * context.workload.steps /
                           1e6 / std::max(closed, 1e-9));
        text += format("%9.2f%9.2f%9.2f", ratio(rows, row, "thalweg", &Sample::closed),
                       ratio(rows, row, "raw", &Sample::closed),
                       ratio(rows, row, "pack", &Sample::calls));
        if (row.wrong > 0) text += "  WRONG VALUES";
        if (row.same == 0) text += "  bytes differ from " + rows.front().method;
        text += "\n";
    }
    return text;
}

}  // namespace pio_bench
