// SPDX-License-Identifier: Apache-2.0
#include "session/outputs.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <utility>

#include "base/log.hpp"
#include "base/system/ignore_sigxfsz.hpp"
#include "session/calls.hpp"

namespace thalweg::detail {

namespace {

/// Returns the two paths of the outputs, each with the name of its setting.
std::array<std::pair<const char*, std::string*>, 2> paths_of(SessionTelemetry& t) {
    return {{{"summary", &t.summary_path}, {"trace", &t.trace_path}}};
}

/// On rank 0, removes paths at which an output would overwrite data of the run.
Status keep_data(tw_session_impl& session) {
    if (session.rank != 0) return {};
    Status first;
    for (const auto& [name, path] : paths_of(session.telemetry)) {
        if (path->empty()) continue;
        const auto is_path = [own = canonical(*path)](const auto& f) {
            return canonical(f.path) == own;
        };
        const AllFigures& all = session.telemetry.finished;
        if (std::none_of(all.files.begin(), all.files.end(), is_path) &&
            std::none_of(all.inputs.begin(), all.inputs.end(), is_path))
            continue;
        if (first.ok())
            first = failure(TW_ESETTING,
                            "setting {} names '{}', a file that the run has written or read: it is "
                            "left as it is",
                            name, *path);
        path->clear();
    }
    return first;
}

}  // namespace

Status find_output_paths(tw_session_impl& session, int rank) {
    if (rank != 0) return {};
    std::map<std::string, const char*> taken;
    for (const auto& [name, path] : paths_of(session.telemetry)) {
        const std::string& asked = session.settings.text(name);
        if (asked.empty() || (path == &session.telemetry.summary_path && asked == "table"))
            continue;
        if (asked.ends_with(".html"))
            return failure(TW_ESETTING,
                           "setting {}: '{}' is a page: let it name a JSON file, of which thalweg "
                           "report makes the page",
                           name, asked);
        if (Status s = make_absolute(asked, *path); !s.ok()) return s;
        const auto [other, fresh] = taken.emplace(canonical(*path), name);
        if (!fresh)
            return failure(TW_ESETTING, "settings {} and {} name the same file, '{}'",
                           other->second, name, *path);
        // Warn now if the folder does not exist; it may still be created before the end of the run.
        if (access(folder_of(*path).c_str(), W_OK) != 0)
            log::warn("setting {}: cannot write to the directory of '{}': {}", name, *path,
                      std::strerror(errno));
    }
    return {};
}

namespace {

/// Writes the trace of all ranks, including servers.
/// @return the result of writing, on rank 0
/// @note Collective
Status write_trace(tw_session_impl& session) {
    if (!session.telemetry.trace) return {};
    if (!session.servers)
        return session.telemetry.trace->write(session.team->world(), 0,
                                              session.telemetry.trace_path);
    session.servers->end();  // end the servers, which have nothing left to do
    return session.servers->trace_status();
}

/// Writes the summary, on rank 0.
Status write_summary(const tw_session_impl& session) {
    if (session.settings.text("summary") == "table") {
        std::fputs(summary_table(session.telemetry.summary).c_str(), stdout);
        std::fflush(stdout);
    }
    const std::string& path = session.telemetry.summary_path;
    if (path.empty()) return {};
    const IgnoreSigxfsz guard;
    errno = 0;
    std::ofstream out(path);
    out << session.telemetry.summary << '\n';
    out.close();
    if (out) return {};
    return failure(TW_EIO, "cannot write the summary to '{}': {}", path, std::strerror(errno));
}

}  // namespace

Status write_outputs(tw_session_impl& session) {
    const bool figures = !session.settings.text("summary").empty();
    if (!figures && session.settings.text("trace").empty()) return {};
    Status kept = keep_data(session);
    Status traced = write_trace(session);
    Status first = agree(session.team->world(), kept.ok() ? traced : kept);
    if (!figures) return first;
    session.summarize();
    Status written =
        agree(session.team->world(), session.rank == 0 ? write_summary(session) : Status{});
    return written.ok() ? first : written;
}

}  // namespace thalweg::detail
