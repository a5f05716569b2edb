// SPDX-License-Identifier: Apache-2.0
#include "irregular/command_line.hpp"

#include <CLI/CLI.hpp>

#include "irregular/methods.hpp"
#include "workload.hpp"

namespace thalweg::bench::irregular {

Parsed parse_options(int argc, char** argv, IrregularOptions& options, std::string& text) {
    CLI::App app{
        "Measures how fast unstructured models, whose elements are scattered in the file, write: "
        "with the index lists of real models (--map) or generated ones (--maps)."};
    app.name("thalweg-bench irregular");
    app.get_formatter()->column_width(34);
    Options& base = options.base;
    std::string footer = "\nMethods:\n";
    for (const MethodInfo& m : methods()) footer += fmt_line(m.name, m.text);
    app.footer(footer);

    app.add_option("-m,--methods", base.methods,
                   "Methods, separated by commas; a method of the library can have settings: "
                   "NAME:setting=value:... (default: all)")
        ->delimiter(',');
    app.add_option("--map", options.files,
                   "A decomposition file in the format of the E3SM-IO benchmark (may be repeated)")
        ->group("Maps");
    app.add_option("--decompositions", options.chosen,
                   "Numbers of its decompositions to use, e.g. 1,3 (default: all)")
        ->delimiter(',')
        ->check(CLI::Range(1, 1000))
        ->group("Maps");
    app.add_option(
           "--maps", options.generated,
           "Maps to generate: f (atmosphere), g (ocean), c (unstructured columns), i (land) "
           "(default: f, g and i, unless --map is given)")
        ->delimiter(',')
        ->check(CLI::IsMember({"f", "g", "c", "i"}))
        ->group("Maps");
    app.add_option("--elements", options.elements, "Elements per variable of the generated maps")
        ->capture_default_str()
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 36))
        ->group("Maps");
    app.add_option("--seed", options.seed, "Random seed of the generated maps")
        ->capture_default_str()
        ->group("Maps");
    app.add_option(
           "--variables", options.variables,
           "Variables per file (default: 8, or 3 if they have more than a million elements)")
        ->check(CLI::Range(1, 100000));
    app.add_option("-s,--steps", base.steps,
                   "Output steps per repetition (default: enough for 100 MB, at most 4)")
        ->check(CLI::Range(1, 1000000));
    app.add_option("--patience", options.patience,
                   "Seconds; a method whose first run takes longer is not repeated, and that run "
                   "counts")
        ->capture_default_str()
        ->check(CLI::Range(0.0, 1e6))
        ->group("Measurement");
    add_measuring_options(app, base);
    if (parse(app, argc, argv, text) == Parsed::done) return Parsed::done;
    if (options.files.empty() && options.generated.empty()) options.generated = {"f", "g", "i"};
    if (base.methods.empty())
        for (const MethodInfo& m : methods()) base.methods.push_back(m.name);
    return Parsed::run;
}

}  // namespace thalweg::bench::irregular
