// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "publish/sums.hpp"
#include "verify.hpp"

namespace thalweg::app {

namespace {

constexpr int all_match = 0, some_differ = 1, not_checked = 2;

/// The result of verifying one file, on rank 0.
struct Scrubbed {
    nlohmann::ordered_json json;
    std::vector<std::string> lines;
    int code = all_match;
};

Scrubbed describe_scrub(const std::string& data, const detail::SumsReport& report) {
    Scrubbed result;
    result.json = {{"file", data}, {"bytes", report.bytes}, {"faults", nlohmann::json::array()}};
    for (const detail::SumsFault& f : report.faults) {
        const bool unknown = f.kind == detail::SumsFault::unknown;
        if (result.code != some_differ) result.code = unknown ? not_checked : some_differ;
        result.lines.push_back(detail::describe(data, report, f));
        nlohmann::ordered_json fault{
            {"variable", report.variables[f.variable]},
            {"fault", unknown                                 ? "no checksum"
                      : f.kind == detail::SumsFault::mismatch ? "mismatch"
                                                              : "missing"}};
        if (f.record >= 0) fault["record"] = f.record;
        result.json["faults"].push_back(std::move(fault));
    }
    if (report.faults.empty())
        result.lines.push_back(
            fmt::format("{}: all checksums match ({} bytes)", data, report.bytes));
    return result;
}

}  // namespace

int verify_checksums(detail::Comm& comm, const VerifyOptions& options) {
    int code = all_match;
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const std::string& path : options.files)
        for (const std::string& data : detail::files_at(path)) {
            detail::SumsReport report;
            const detail::Status status = detail::check_sums(comm, data, options.variables, report);
            if (!status.ok()) {
                code = not_checked;
                if (comm.rank() == 0) fmt::print(stderr, "thalweg: verify: {}\n", status.text);
                continue;
            }
            Scrubbed result = describe_scrub(data, report);
            code = std::max(code, result.code);
            if (comm.rank() != 0) continue;
            for (const std::string& line : result.lines)
                if (!options.json) fmt::print("{}\n", line);
            all.push_back(std::move(result.json));
        }
    using Handler = nlohmann::ordered_json::error_handler_t;
    if (options.json && comm.rank() == 0)
        fmt::print("{}\n", all.dump(2, ' ', false, Handler::replace));
    std::fflush(stdout);
    return code;
}

}  // namespace thalweg::app
