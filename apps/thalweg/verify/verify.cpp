// SPDX-License-Identifier: Apache-2.0
#include "verify/verify.hpp"

#include <fmt/core.h>

#include <cstdio>

#include "in_session.hpp"
#include "size_text.hpp"
#include "verify/values.hpp"

namespace thalweg::app {

namespace {

constexpr int equal = 0, different = 1, wrong = 2;

void print_text(const VerifyOptions& o, const Findings& found) {
    for (const Difference& d : found.differences) fmt::print("{}\n", d.text);
    for (const std::string& text : found.not_compared) fmt::print("not compared: {}\n", text);
    const std::string extent = fmt::format("{}, {}", count_text(found.variables, "variable"),
                                           count_text(found.values, "value"));
    if (!found.differences.empty())
        fmt::print("{} and {} differ ({})\n", o.a, o.b, extent);
    else if (!found.not_compared.empty())
        fmt::print("{} and {} are equal as far as they were compared ({})\n", o.a, o.b, extent);
    else
        fmt::print("{} and {} are equal ({})\n", o.a, o.b, extent);
}

void print_json(const VerifyOptions& o, const Findings& found) {
    nlohmann::ordered_json json{{"a", o.a},
                                {"b", o.b},
                                {"equal", found.differences.empty() && found.not_compared.empty()},
                                {"tolerance", o.tolerance},
                                {"relative", o.relative},
                                {"variables", found.variables},
                                {"values", found.values},
                                {"differences", nlohmann::ordered_json::array()},
                                {"not_compared", found.not_compared}};
    for (const Difference& d : found.differences) json["differences"].push_back(d.json);
    fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

/// Compares two open files. @note Collective
Findings compare_files(Reader& a, Reader& b, const Ranks& ranks, const VerifyOptions& options) {
    Findings found;
    Inspection of_a, of_b;
    const auto comm = detail::make_mpi_comm(ranks.comm);
    throw_failure(inspect(*comm, options.a, of_a));
    throw_failure(inspect(*comm, options.b, of_b));
    const std::vector<CommonVariable> variables =
        compare_definitions({a, b, options.a, options.b, of_a, of_b}, options, found);
    std::int64_t total = 0;
    for (const CommonVariable& v : variables) {
        auto bytes = static_cast<std::int64_t>(size_of(v.variable.type));
        for (const std::int64_t n : v.shape) bytes *= n;
        total += bytes;
    }
    Progress progress(total, ranks.rank);
    ValueComparison values(a, b, ranks, options);
    for (const CommonVariable& v : variables) values.compare(v, progress, found);
    return found;
}

}  // namespace

int verify(const VerifyOptions& options) {
    return in_session("verify", wrong, [&](Session& io, const Ranks& ranks) {
        Findings found;
        with_reader(io, options.a, [&](Reader& a) {
            with_reader(io, options.b,
                        [&](Reader& b) { found = compare_files(a, b, ranks, options); });
        });
        if (ranks.rank == 0) options.json ? print_json(options, found) : print_text(options, found);
        std::fflush(stdout);
        if (!found.differences.empty()) return different;
        return found.not_compared.empty() ? equal : wrong;
    });
}

}  // namespace thalweg::app
