// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <functional>
#include <map>

#include "fields/workload.hpp"

namespace thalweg::scale {

namespace {

bool yes_or_no(const std::string& name, const std::string& value) {
    if (value == "yes") return true;
    if (value == "no") return false;
    throw bench::UsageError(name + "=" + value + ": yes or no");
}

template <class Number>
Number number(const std::string& name, const std::string& value) {
    std::size_t read = 0;
    double n = -1;
    try {
        n = std::stod(value, &read);
    } catch (const std::exception&) {
        read = 0;
    }
    if (read == 0 || read != value.size() || n < 0 ||
        static_cast<double>(static_cast<Number>(n)) != n)
        throw bench::UsageError(name + "=" + value + ": expected a number, 0 or more");
    return static_cast<Number>(n);
}

}  // namespace

Arguments read_arguments(int argc, char** argv) {
    Arguments a;
    a.workload.workload = "demo";
    const std::map<std::string, std::function<void(const std::string&)>> known{
        {"workload", [&](const auto& v) { a.workload.workload = v; }},
        {"grid", [&](const auto& v) { a.workload.grid = v; }},
        {"scale", [&](const auto& v) { a.workload.scale = number<double>("scale", v); }},
        {"nx", [&](const auto& v) { a.workload.nx = number<std::int64_t>("nx", v); }},
        {"ny", [&](const auto& v) { a.workload.ny = number<std::int64_t>("ny", v); }},
        {"nz", [&](const auto& v) { a.workload.nz = number<std::int64_t>("nz", v); }},
        {"variables", [&](const auto& v) { a.workload.variables = number<int>("variables", v); }},
        {"settings", [&](const auto& v) { a.settings = v; }},
        {"file", [&](const auto& v) { a.file = v; }},
        {"json", [&](const auto& v) { a.json = v; }},
        {"steps", [&](const auto& v) { a.steps = number<int>("steps", v); }},
        {"compute", [&](const auto& v) { a.compute = number<double>("compute", v); }},
        {"puts",
         [&](const auto& v) {
             if (v != "step" && v != "record" && v != "box")
                 throw bench::UsageError("puts=" + v + ": step, record or box");
             a.puts = v;
         }},
        {"copies", [&](const auto& v) { a.copies = yes_or_no("copies", v); }},
        {"read", [&](const auto& v) { a.read = yes_or_no("read", v); }},
        {"restart", [&](const auto& v) { a.restart = yes_or_no("restart", v); }},
        {"fields", [&](const auto& v) { a.fields = yes_or_no("fields", v); }},
    };
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        const auto equal = argument.find('=');
        const auto found = known.find(argument.substr(0, equal));
        if (equal == std::string::npos || found == known.end()) {
            std::string names;
            for (const auto& [name, set] : known) names += (names.empty() ? "" : ", ") + name;
            throw bench::UsageError("cannot read '" + argument +
                                    "'; arguments are name=value, with the names " + names);
        }
        found->second(argument.substr(equal + 1));
    }
    // Use the workload at its full size, as no real data are needed here. thalweg-bench has smaller
    // ones.
    bench::Options& w = a.workload;
    if (w.scale == 0) w.scale = 1;
    for (const bench::Workload& known_one : bench::workloads())
        for (const bench::VariableGroup& g : known_one.groups)
            if (known_one.name == w.workload && g.main && w.variables == 0) w.variables = g.count;
    return a;
}

}  // namespace thalweg::scale
