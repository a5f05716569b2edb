// What tw_init makes and tw_finalize ends; everything hangs from it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/team.hpp"
#include "dataset/file.hpp"
#include "dataset/reader.hpp"
#include "restart/restart.hpp"
#include "service/servers.hpp"
#include "session/settings.hpp"
#include "telemetry/watchdog.hpp"

struct tw_decomposition_impl {
    tw_session session;
    std::shared_ptr<const thalweg::Decomposition> decomposition;
};

/// One of the two, until it is closed.
struct tw_file_impl {
    tw_session session;
    std::string path;
    std::unique_ptr<thalweg::File> file;
    std::unique_ptr<thalweg::Reader> reader;
    bool closed = false;
};

struct tw_restart_impl {
    tw_session session;
    thalweg::Settings settings;
    thalweg::Restart restart;
};

struct tw_session_impl : thalweg::ArenaSource {
    thalweg::Memory* arena(thalweg::Status& status) override;
    thalweg::Background* background(thalweg::Status& status) override;
    thalweg::Packers& packers() override;
    thalweg::Port* port() override { return servers ? &servers->port() : nullptr; }
    thalweg::FileOptions options_for(const thalweg::Settings& file_settings) const;
    /// Figures of all files so far. @note Collective
    const std::string& summarize();

    thalweg::Settings settings;
    std::unique_ptr<thalweg::Servers> servers;    ///< null where no ranks are set aside
    std::unique_ptr<thalweg::Watchdog> watchdog;  ///< null: nobody watches
    std::unique_ptr<thalweg::Team> team;
    std::unique_ptr<thalweg::Comm> model;  ///< for the model: its messages and the team's are apart
    std::unique_ptr<thalweg::Memory> memory;
    std::unique_ptr<thalweg::Background> threads;
    std::unique_ptr<thalweg::Packers> packer_threads;
    /// A decomposition that was made, by its content.
    struct Known {
        std::uint64_t hash;
        std::shared_ptr<const thalweg::Decomposition> decomposition;
    };
    std::vector<std::unique_ptr<tw_decomposition_impl>> decompositions;
    std::vector<Known> known;
    std::vector<std::unique_ptr<tw_file_impl>> files;
    std::vector<std::unique_ptr<tw_restart_impl>> restarts;
    std::vector<thalweg::FileFigures> finished;
    std::vector<thalweg::ReadFigures> finished_inputs;
    int created = 0;   ///< files so far
    int declared = 0;  ///< decompositions so far
    int role = TW_MODEL;
    std::string error, summary;
};
