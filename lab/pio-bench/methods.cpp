// The table of methods.
// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "method.hpp"

namespace pio_bench {
namespace {

struct Entry {
    const char* name;
    const char* text;
    std::unique_ptr<Method> (*make)(const Context&);
};

const Entry entries[] = {
    {"pio", "the calls of pio.h, of whichever library the program is linked with", make_pio},
#ifndef PIO_BENCH_ONLY_PIO
    {"thalweg", "Thalweg's own calls: tw_put, tw_end_step",
     [](const Context& c) { return make_thalweg(c, false); }},
    {"thalweg-deferred", "likewise with deferred puts, which make no copy",
     [](const Context& c) { return make_thalweg(c, true); }},
#endif
    {"raw", "every rank writes its contiguous 1/P of the same bytes, without a format", make_raw},
    {"pack", "copies a step once to memory that is kept, in the file's byte order; writes nothing",
     make_pack},
};

}  // namespace

std::unique_ptr<Method> make_method(const std::string& name, const Context& context) {
    for (const Entry& entry : entries)
        if (name == entry.name) return entry.make(context);
    throw std::runtime_error("--methods " + name + ": there is no such method");
}

std::vector<std::string> method_names() {
    std::vector<std::string> names;
    for (const Entry& entry : entries) names.emplace_back(entry.name);
    return names;
}

std::string method_list() {
    std::string text;
    for (const Entry& entry : entries)
        text += "  " + std::string(entry.name) +
                std::string(20 - std::string(entry.name).size(), ' ') + entry.text + "\n";
    return text;
}

}  // namespace pio_bench
