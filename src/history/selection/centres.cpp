// SPDX-License-Identifier: Apache-2.0
#include "history/selection/centres.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace thalweg::history {

/// Returns the square of a chord. It grows with the distance on the great circle.
static double square_of_chord(const Centre& a, const Centre& b) {
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) sum += (a.at[i] - b.at[i]) * (a.at[i] - b.at[i]);
    return sum;
}

bool is_place(double longitude, double latitude) {
    return std::abs(latitude) <= 90.001 && std::abs(longitude) <= 1e6;
}

Centre centre_of(double longitude, double latitude, std::int64_t index) {
    constexpr double degree = std::numbers::pi / 180;
    const double lambda = std::remainder(longitude, 360) * degree, phi = latitude * degree;
    return {{std::cos(phi) * std::cos(lambda), std::cos(phi) * std::sin(lambda), std::sin(phi)},
            index};
}

std::vector<double> nearest_squares(std::span<const std::array<double, 2>> points,
                                    std::span<const Centre> centres) {
    std::vector<double> squares;
    for (const auto& [longitude, latitude] : points) {
        const Centre point = centre_of(longitude, latitude, 0);
        double least = std::numeric_limits<double>::infinity();
        for (const Centre& centre : centres)
            least = std::min(least, square_of_chord(point, centre));
        squares.push_back(least);
    }
    return squares;
}

std::vector<std::int64_t> lowest_nearest(std::span<const std::array<double, 2>> points,
                                         std::span<const Centre> centres,
                                         std::span<const double> squares) {
    std::vector<std::int64_t> found;
    for (std::size_t i = 0; i < points.size(); ++i) {
        const Centre point = centre_of(points[i][0], points[i][1], 0);
        const double limit = std::sqrt(squares[i]) * (1 + 1e-9) + 1e-12;
        std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
        for (const Centre& centre : centres)
            if (centre.index < lowest && square_of_chord(point, centre) <= limit * limit)
                lowest = centre.index;
        found.push_back(lowest);
    }
    return found;
}

}  // namespace thalweg::history
