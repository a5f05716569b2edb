// Measures the machine under mpirun: packing, messages, and writing to folders.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "comm/team.hpp"
#include "plan/calibrate/machine.hpp"

namespace thalweg::planning {

struct CalibrateOptions {
    std::vector<std::string> folders{"."};
    double seconds = 20;  ///< approximate time of all measurements together
    std::string output = "calibration.toml";
};

/**
 * Measures the machine. Rank 0 prints the figures and writes the calibration file.
 * @return the exit status, the same on every rank
 * @note Collective over MPI_COMM_WORLD
 */
int calibrate(const CalibrateOptions& options);

/// Measures the rates at which ranks pack, send and agree.
/// @param seconds  time that the measurement may take
/// @note Collective
void measure_memory(detail::Team& team, double seconds, Machine& machine);
void measure_lists(detail::Team& team, double seconds, Machine& machine);
void measure_messages(detail::Team& team, double seconds, Machine& machine);
void measure_inside(detail::Team& team, double seconds, Machine& machine);

/// Measures a folder by writing files in it, which are then removed.
/// @param folder absolute path, the same on every rank
/// @return TW_OK, TW_EIO; the same on every rank
/// @note Collective
detail::Status measure_folder(detail::Team& team, const std::string& path, double seconds,
                              Folder& folder);

/// Calls `act` repeatedly for about `seconds`, and returns the seconds of one call. Local.
double repeat_for(double seconds, const std::function<void()>& act);

/// Waits for all ranks. Sleeps, so that ranks that still work can have the processor.
/// @note Collective
void sleep_until_met(detail::Team& team, double seconds);

/// Returns the largest value on any rank. @note Collective
double all_max(detail::Team& team, double value);
double all_sum(detail::Team& team, double value);

}  // namespace thalweg::planning
