// SPDX-License-Identifier: Apache-2.0
#include "session/outputs.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "comm/log.hpp"
#include "session/calls.hpp"
#include "telemetry/report.hpp"

namespace thalweg::detail {

namespace {

Status write_text(const char* what, const std::string& path, const std::string& text) {
    errno = 0;
    std::ofstream out(path);
    out << text;
    out.close();
    if (out) return {};
    return failure(TW_EIO, "cannot write the {} to '{}': {}", what, path, std::strerror(errno));
}

Status write_report(const tw_session_impl& session) {
    std::string page;
    Status status = report_page(session.summary, "Thalweg run", page);
    return status.ok() ? write_text("report", session.outputs.report, page) : status;
}

}  // namespace

Status find_output_paths(tw_session_impl& session) {
    return session.team->agree(alone([&]() -> Status {
        if (session.team->rank() != 0) return {};
        const std::string& summary = session.settings.text("summary");
        const std::string& report = session.settings.text("report");
        OutputPaths& paths = session.outputs;
        if (!summary.empty() && summary != "table")
            if (Status s = make_absolute(summary, paths.summary); !s.ok()) return s;
        if (!report.empty())
            if (Status s = make_absolute(report, paths.report); !s.ok()) return s;
        if (!paths.summary.empty() && canonical(paths.summary) == canonical(paths.report))
            return failure(TW_ESETTING, "settings summary and report name the same file, '{}'",
                           paths.report);
        return {};
    }));
}

Status write_outputs(tw_session_impl& session) {
    const bool table = session.settings.text("summary") == "table";
    if (session.settings.text("summary").empty() && session.settings.text("report").empty())
        return {};
    session.summarize();
    return agree(session.team->world(), alone([&]() -> Status {
                     if (session.rank != 0) return {};
                     Status first, second;
                     if (table) {
                         std::fputs(summary_table(session.summary).c_str(), stdout);
                         std::fflush(stdout);
                     }
                     if (!session.outputs.summary.empty())
                         first =
                             write_text("summary", session.outputs.summary, session.summary + "\n");
                     if (!session.outputs.report.empty()) second = write_report(session);
                     return first.ok() ? second : first;
                 }));
}

}  // namespace thalweg::detail
