// The options of the commands that have several.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include "compare/compare.hpp"
#include "doctor/doctor.hpp"
#include "repack/repack.hpp"
#include "run/run.hpp"
#include "show/show.hpp"
#include "streams/command.hpp"
#include "verify/verify.hpp"

namespace thalweg::app {

inline constexpr const char* common_records_help =
    "Join the records that all files of a set have, where a killed run has left more in some of "
    "them";

/// Adds a command. When the command line is parsed, its options are stored in `options`.
CLI::App* add_compare(CLI::App& app, CompareOptions& options);
CLI::App* add_doctor(CLI::App& app, DoctorOptions& options);
CLI::App* add_history(CLI::App& app, HistoryOptions& options);
CLI::App* add_repack(CLI::App& app, RepackOptions& options);
/// Adds the command `run`. Its remaining() contains the program to run.
CLI::App* add_run(CLI::App& app, RunOptions& options);
CLI::App* add_show(CLI::App& app, ShowOptions& options);
CLI::App* add_verify(CLI::App& app, VerifyOptions& options);

}  // namespace thalweg::app
