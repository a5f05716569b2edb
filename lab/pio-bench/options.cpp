// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>

#include "method.hpp"
#include "workload.hpp"

namespace pio_bench {
namespace {

double number(const std::string& name, const std::string& text, double least) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || value < least)
        throw std::runtime_error(name + " " + text + ": must be a number, at least " +
                                 std::to_string(least));
    return value;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text)
        if (c == ',')
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

}  // namespace

Options parse_options(int argc, char** argv) {
    Options o;
    using Set = std::function<void(const std::string&)>;
    const auto integer = [](const char* name, int& to, int least) -> Set {
        return
            [=, &to](const std::string& text) { to = static_cast<int>(number(name, text, least)); };
    };
    const std::map<std::string, Set> known{
        {"--methods", [&](const std::string& text) { o.methods = split(text); }},
        {"--iotype", [&](const std::string& text) { o.iotype = text; }},
        {"--dir", [&](const std::string& text) { o.folder = text; }},
        {"--json", [&](const std::string& text) { o.json = text; }},
        {"--steps", integer("--steps", o.steps, 1)},
        {"--repetitions", integer("--repetitions", o.repetitions, 1)},
        {"--warmup", integer("--warmup", o.warmup, 0)},
        {"--io-tasks", integer("--io-tasks", o.io_tasks, 1)},
        {"--variables", integer("--variables", o.variables, 1)},
        {"--syncs", integer("--syncs", o.syncs, 0)},
        {"--decompositions", integer("--decompositions", o.decompositions, 1)},
        {"--elements",
         [&](const std::string& text) {
             o.elements = static_cast<std::int64_t>(number("--elements", text, 1));
         }},
        {"--compute", [&](const std::string& text) { o.compute = number("--compute", text, 0); }},
    };
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const auto option = known.find(word);
        if (word == "--verify") {
            o.verify = true;
        } else if (option != known.end()) {
            if (i + 1 == argc) throw std::runtime_error(word + " needs a value");
            option->second(argv[++i]);
        } else if (word[0] == '-' || !o.workload.empty()) {
            throw std::runtime_error("unknown argument " + word);
        } else {
            o.workload = word;
        }
    }
    if (o.workload.empty()) throw std::runtime_error("which workload?");
    if (o.methods.empty()) o.methods = method_names();
    return o;
}

std::string help() {
    return "usage: pio-bench WORKLOAD [options], under mpirun\n"
           "Measures how fast a program written for PIO writes the output of a model.\n\n"
           "Workloads:\n" +
           workload_list() + "\nMethods:\n" + method_list() +
           "\nOptions:\n"
           "  --methods A,B         methods, which are interleaved (default: all)\n"
           "  --iotype T            pnetcdf, netcdf, netcdf4c or netcdf4p (default: pnetcdf)\n"
           "  --io-tasks N          PIO's I/O tasks (default: 1)\n"
           "  --steps N             output steps in a repetition\n"
           "  --variables N         variables of the largest group\n"
           "  --elements N          f, g: elements of a variable (default: 1000000)\n"
           "  --decompositions N    cice: decompositions for each file (default: 10)\n"
           "  --syncs N             further calls of PIOc_sync after each step (default: 0)\n"
           "  --compute S           seconds of computation after each step (default: 0)\n"
           "  --repetitions N       measured repetitions (default: 5)\n"
           "  --warmup N            repetitions that are not measured (default: 1)\n"
           "  --dir D               folder of the files (default: the current one)\n"
           "  --json FILE           write the results here too\n"
           "  --verify              read the files and compare all values\n";
}

}  // namespace pio_bench
