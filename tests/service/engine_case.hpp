// A random case of the engine's test, and the expected contents of its file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "service/servers/server_roles.hpp"
#include "service/service.hpp"
#include "service/setup.hpp"

namespace thalweg::detail {

/// A random case, which is the same on every rank.
struct Case {
    int ranks = 1;  ///< number of the model's ranks
    int servers = 0;
    int node_size = 0;
    bool last = false;  ///< the last ranks are servers; otherwise servers are spread
    FileOptions options;
    LayoutChoice layout;
    std::vector<int> writers;
    Plan plan;
    std::int64_t most_records = 6;
    bool boxes = true;
    int alike = 0;     ///< percentage of the steps in which all ranks make the same puts
    std::string path;  ///< empty: the file is kept in memory

    explicit Case(Random& random);
    /// Makes some ranks of the model writers; with servers, makes all servers writers.
    void choose_writers(Random& random);
    /// Computes the places of the data for a plan that has a record dimension.
    void use(Plan its_plan);
    /// Makes the file a netCDF-4 file with compressed chunks.
    void pack(Random& random);
    bool packed() const { return options.storage == "netcdf4"; }
    int all() const { return ranks + servers; }
    std::int64_t file_bytes() const;
    std::string describe() const;
};

/// The way in which a variable is distributed over the ranks.
struct Dealt {
    enum class Kind { first_has_all, shares, list } kind = Kind::first_has_all;
    std::int64_t first = 0;  ///< rank that has the first share
    bool hole = false;       ///< no rank holds the share that rank 0 would have
    bool halves = false;     ///< in memory, the upper half of a share comes first
    std::int64_t halo = 0;   ///< width of the halo around each share
    std::uint64_t seed = 0;  ///< seed from which a list is made
};

/// Returns a rank's box of a variable that is divided along its slowest dimension.
Box share_of(const Variable& v, const Dealt& dealt, int rank, int ranks);
std::vector<Box> blocks_of(const Variable& v, const Dealt& dealt, int rank, int ranks);
/// Returns the elements of a rank in memory order; -1 is a hole.
std::vector<std::int64_t> elements_of(const Variable& v, const Dealt& dealt, int rank, int ranks);
Box whole_of(const Variable& v);
std::vector<std::int64_t> elements_in(const Variable& v, const Box& box);

/// Returns a value that fits every type.
double value_of(int variable, std::int64_t version, std::int64_t element);

/// The expected values of the variables.
struct Expected {
    std::vector<std::vector<double>> values;  ///< values of each variable, one record after another
    std::int64_t records = 0;

    explicit Expected(const Case& c);
    void put(int variable, const Variable& v, std::int64_t record, std::int64_t element,
             double value);
};

/// Compares a file, in memory unless the case has a path, with the expected contents.
void compare(const Case& c, const Expected& expected, const std::vector<char>& in_memory);

}  // namespace thalweg::detail
