// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "publish/checksums.hpp"
#include "storage/zarr/store/contents.hpp"
#include "verify/verify.hpp"

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

/// Finds the files of a data set, and those of a folder or a set of tiles of which only the
/// checksums are left.
/// @return TW_OK, TW_ENOTFOUND, TW_EIO
detail::Status find_files(const std::string& name, std::vector<std::string>& files) {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path path(name);
    const bool folder = fs::is_directory(path, error);
    if (detail::is_zarr_store(name)) {
        files = {name};
        return {};
    }
    files = detail::files_at(name);
    if (!folder && (fs::exists(path, error) || detail::has_sums(name))) return {};
    if (!folder && files == std::vector{name})
        return detail::failure(TW_ENOTFOUND, "{}: it does not exist", name);
    const fs::path parent = folder ? path : path.parent_path();
    for (fs::directory_iterator at(parent.empty() ? "." : parent, error), end; !error && at != end;
         at.increment(error)) {
        const fs::path data = parent / at->path().stem();
        const std::string kind = data.extension().string();
        const bool own = folder ? kind == ".nc"
                                : data.stem() == path.filename() && kind.size() > 1 &&
                                      kind.find_first_not_of("0123456789", 1) == kind.npos;
        if (own && at->path().extension() == ".sums" &&
            std::ranges::find(files, data.string()) == files.end())
            files.push_back(data.string());
    }
    if (error) return detail::failure(TW_EIO, "{}: cannot read: {}", name, error.message());
    if (files.empty()) return detail::failure(TW_ENOTFOUND, "{}: it has no file *.nc", name);
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
        if (const detail::Status status = find_files(path, files); !status.ok()) {
            fail(status);
            continue;
        }
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
