// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
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

/// Finds the files of a data set, and in a folder also those of which only the checksums are left.
/// @return TW_OK, TW_ENOTFOUND, TW_EIO
detail::Status find_files(const std::string& path, std::vector<std::string>& files) {
    std::error_code error;
    files = detail::files_at(path);
    if (!std::filesystem::is_directory(path, error)) {
        const bool here = files.size() != 1 || std::filesystem::exists(files[0], error);
        if (here || detail::has_sums(path)) return {};
        return detail::failure(TW_ENOTFOUND, "{}: it does not exist", path);
    }
    for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
         at.increment(error)) {
        const std::filesystem::path data = std::filesystem::path(at->path()).replace_extension();
        if (at->path().extension() == ".sums" && data.extension() == ".nc" &&
            std::ranges::find(files, data.string()) == files.end())
            files.push_back(data.string());
    }
    if (error) return detail::failure(TW_EIO, "{}: cannot read: {}", path, error.message());
    if (files.empty()) return detail::failure(TW_ENOTFOUND, "{}: it has no file *.nc", path);
    std::ranges::sort(files);
    return {};
}

}  // namespace

int verify_checksums(detail::Comm& comm, const VerifyOptions& options) {
    int code = all_match;
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    const auto fail = [&](const detail::Status& status) {
        code = not_checked;
        if (comm.rank() == 0) fmt::print(stderr, "thalweg: verify: {}\n", status.text);
    };
    for (const std::string& path : options.files) {
        std::vector<std::string> files;
        if (const detail::Status status = find_files(path, files); !status.ok()) fail(status);
        for (const std::string& data : files) {
            detail::SumsReport report;
            const detail::Status status = detail::check_sums(comm, data, options.variables, report);
            if (!status.ok()) {
                fail(status);
                continue;
            }
            Scrubbed result = describe_scrub(data, report);
            code = std::max(code, result.code);
            if (comm.rank() != 0) continue;
            for (const std::string& line : result.lines)
                if (!options.json) fmt::print("{}\n", line);
            all.push_back(std::move(result.json));
        }
    }
    using Handler = nlohmann::ordered_json::error_handler_t;
    if (options.json && comm.rank() == 0)
        fmt::print("{}\n", all.dump(2, ' ', false, Handler::replace));
    std::fflush(stdout);
    return code;
}

}  // namespace thalweg::app
