// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "telemetry/report.hpp"
#include "write_text.hpp"

namespace thalweg::app {

using detail::failure;
using detail::Status;

namespace {

Status read_all(const std::string& path, std::string& text) {
    std::ostringstream content;
    if (path == "-") {
        content << std::cin.rdbuf();
        text = content.str();
        return {};
    }
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return failure(TW_EIO, "{}: cannot read: {}", path, std::strerror(EISDIR));
    errno = 0;
    std::ifstream file(path);
    if (file) content << file.rdbuf();
    if (!file || file.bad())
        return failure(TW_EIO, "{}: cannot read: {}", path, std::strerror(errno));
    text = content.str();
    return {};
}

}  // namespace

Status report(const std::string& summary, const std::string& output, std::string& written) {
    std::string text, page;
    if (Status status = read_all(summary, text); !status.ok()) return status;
    const std::string title = summary == "-" ? "" : summary;
    if (Status status =
            detail::report_page(text, title.empty() ? "Thalweg run" : "Thalweg: " + title, page);
        !status.ok())
        return failure(status.code, "{}: {}", summary, status.text);
    written = output;
    if (written.empty() && summary != "-")
        written = std::filesystem::path(summary).replace_extension(".html").string();
    if (written.empty() || written == "-") {
        written.clear();
        std::fwrite(page.data(), 1, page.size(), stdout);
        return std::fflush(stdout) == 0
                   ? Status{}
                   : failure(TW_EIO, "standard output: {}", std::strerror(errno));
    }
    std::error_code ignored;
    if (std::filesystem::equivalent(summary, written, ignored))
        return failure(TW_EARG, "{}: the page would replace the summary: give another name with -o",
                       written);
    return write_text(written, page);
}

}  // namespace thalweg::app
