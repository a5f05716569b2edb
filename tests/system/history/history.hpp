// Folders, paths and contents of the files of a history.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "system/calls.hpp"

namespace histories {

using calls::session;

/// Makes an empty folder for the next case. Collective.
inline std::string fresh_folder() {
    static int number = 0;
    const std::string folder = "case" + std::to_string(++number);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::state.rank == 0) {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return folder;
}

/// Puts the folder before the paths of a configuration. Adds the default path if there is none.
inline std::string in_folder(std::string config, const std::string& folder) {
    const std::string key = "path = \"";
    std::size_t at = config.find(key);
    if (at == std::string::npos) return config + "path = \"" + folder + "/{stream}_{start}.nc\"\n";
    for (; at != std::string::npos; at = config.find(key, at + 1))
        config.insert(at + key.size(), folder + "/");
    return config;
}

/// Writes the state of a history into a restart. Collective.
inline void save(tw_history history, const std::string& path) {
    tw_restart restart = nullptr;
    OK(tw_restart_new(session, nullptr, &restart));
    OK(tw_history_save(history, restart));
    OK(tw_restart_write(restart, path.c_str()));
    OK(tw_restart_free(&restart));
}

/// Loads the state of a history from a restart. Collective. @return as tw_history_load
inline int load(tw_history history, const std::string& path) {
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    const int loaded = tw_history_load(history, file);
    OK(tw_close(&file));
    return loaded;
}

/// Returns a variable without records.
inline std::vector<double> read(const std::string& path, const char* name, std::int64_t n) {
    tw_file file = nullptr;
    OK(tw_open(session, path.c_str(), nullptr, &file));
    std::vector<double> values(n);
    OK(tw_get(file, name, nullptr, 0, TW_DOUBLE, values.data(), n));
    OK(tw_close(&file));
    return values;
}

/// The contents of a file, on every rank.
struct Contents {
    explicit Contents(const std::string& path, const char* variable = "T") {
        tw_file file = nullptr;
        OK(tw_open(session, path.c_str(), nullptr, &file));
        if (file == nullptr) return;
        tw_file_info info{};
        OK(tw_inq(file, &info));
        time = read(file, "time", info.records);
        if (tw_inq_var(file, "time_bnds", nullptr, nullptr, nullptr) == TW_OK)
            bounds = read(file, "time_bnds", info.records);
        values = read(file, variable, info.records);
        OK(tw_close(&file));
    }
    std::vector<double> time, bounds, values;

private:
    static std::vector<double> read(tw_file file, const char* name, std::int64_t records) {
        int nd = 0;
        OK(tw_inq_var(file, name, nullptr, &nd, nullptr));
        std::int64_t n = 1;
        for (int d = 1; d < nd; ++d) {
            std::int64_t length = 0;
            OK(tw_inq_var_dim(file, name, d, nullptr, &length));
            n *= length;
        }
        std::vector<double> all(n * records);
        for (std::int64_t r = 0; r < records; ++r)
            OK(tw_get(file, name, nullptr, r, TW_DOUBLE, all.data() + r * n, n));
        return all;
    }
};

}  // namespace histories
