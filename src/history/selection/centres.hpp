// Points on the sphere, and the centres of elements that are nearest to them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace thalweg::history {

/// The centre of an element, on the unit sphere.
struct Centre {
    std::array<double, 3> at{};
    std::int64_t index = 0;  ///< global index of the element
};

/// Tests if two numbers are a point in degrees; fill values are not.
bool is_place(double longitude, double latitude);
Centre centre_of(double longitude, double latitude, std::int64_t index);

/// Returns the square of the distance from each point to its nearest centre; infinity if there are
/// no centres.
std::vector<double> nearest_squares(std::span<const std::array<double, 2>> points,
                                    std::span<const Centre> centres);

/// Returns for each point the lowest index among those of the given centres that are as near as the
/// nearest centre of all ranks, but for rounding; the largest integer if no given centre is that
/// near.
/// @param squares  for each point, the square of its distance to the nearest centre of all ranks
std::vector<std::int64_t> lowest_nearest(std::span<const std::array<double, 2>> points,
                                         std::span<const Centre> centres,
                                         std::span<const double> squares);

}  // namespace thalweg::history
