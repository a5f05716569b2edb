// SPDX-License-Identifier: Apache-2.0
#include "doctor/settings.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <string>

#include "in_session.hpp"
#include "session/settings.hpp"

namespace thalweg::app {

namespace {

constexpr std::int64_t row_elements = 4096;

/// Adds the choices of the library for a file, which it finds in the summary of the session.
void add_choices(const std::string& folder, const std::string& summary, Diagnoses& found) {
    const auto json = nlohmann::json::parse(summary, nullptr, false);
    if (!json.is_object() || json.value("files", nlohmann::json::array()).empty()) return;
    const nlohmann::json& file = json["files"].front();
    for (const auto& row : file.value("settings", nlohmann::json::array())) {
        const std::string reason = row.value("reason", "");
        found.push_back({Level::good, folder,
                         fmt::format("files: {}={}{}", row.value("name", ""),
                                     row.value("value", ""), reason.empty() ? "" : ": " + reason),
                         ""});
    }
}

void write_file(Session& io, const Ranks& ranks, const std::string& path) {
    const Decomposition rows = io.decompose("row column", {ranks.size, row_elements},
                                            {Block{{ranks.rank, 0}, {1, row_elements}}});
    File file = io.create(path);
    file.def_var("trial", Type::float32, "time row column", rows);
    file.put("trial", std::vector<float>(static_cast<std::size_t>(row_elements), 1));
    file.end_step();
    file.close();
}

}  // namespace

bool check_settings(Diagnoses& found) {
    detail::Settings settings;
    if (const detail::Status status = detail::Settings::read("", settings); !status.ok()) {
        found.push_back({Level::problem, "settings", status.text, "env | grep THALWEG_"});
        return false;
    }
    std::string given;
    for (const detail::SettingRow& row : detail::setting_table())
        if (settings.given(row.name))
            given += fmt::format("{}{}={}", given.empty() ? "" : ", ", row.name,
                                 settings.text(row.name));
    found.push_back({Level::good, "settings", given.empty() ? "all are the default" : given, ""});
    for (const std::string& name : settings.ignored())
        found.push_back({Level::note, "settings",
                         fmt::format("{} in the environment is not a setting", name),
                         "unset " + name});
    return true;
}

void check_choices(const std::string& folder, Diagnoses& found) {
    const std::string path = folder + "/.thalweg-doctor.nc";
    const int failed = in_session("doctor", 1, [&](Session& io, const Ranks& ranks) {
        std::string problem;
        try {
            write_file(io, ranks, path);
        } catch (const Error& e) {  // all ranks throw it
            problem = e.what();
        }
        if (!problem.empty() && ranks.rank == 0)
            found.push_back({Level::problem, folder, "cannot write a file: " + problem,
                             "THALWEG_LOG=debug thalweg doctor " + folder});
        const std::string summary = io.summary();
        if (ranks.rank == 0 && problem.empty()) add_choices(folder, summary, found);
        if (ranks.rank == 0) unlink(path.c_str());
        return 0;
    });
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (failed != 0 && rank == 0)
        found.push_back({Level::problem, folder, "no session can begin: see the error above",
                         "thalweg settings"});
}

}  // namespace thalweg::app
