// What a case of the engine's test is about, and what its file is to have.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "service/servers/crew.hpp"
#include "service/service.hpp"
#include "service/setup.hpp"

namespace thalweg::detail {

/// The same on every rank.
struct Case {
    int ranks = 1;  ///< of the model
    int servers = 0;
    int node_size = 0;
    bool last = false;  ///< the last ranks serve
    FileOptions options;
    LayoutChoice layout;
    std::vector<int> writers;
    Plan plan;
    std::int64_t most_records = 6;
    bool boxes = true;
    int alike = 0;     ///< percent of the steps
    std::string path;  ///< empty: the file is kept in memory

    explicit Case(Random& random);
    /// Ranks of the model, or all servers.
    void choose_writers(Random& random);
    /// Lays a plan out, with a dimension for the records.
    void use(Plan its_plan);
    /// In a netCDF-4 file, whose chunks are compressed.
    void pack(Random& random);
    bool packed() const { return options.storage == "netcdf4"; }
    int all() const { return ranks + servers; }
    std::int64_t file_bytes() const;
    std::string describe() const;
};

/// Who holds what of a variable.
struct Dealt {
    enum class Kind { first_has_all, shares, list } kind = Kind::first_has_all;
    std::int64_t first = 0;  ///< whose share comes first
    bool hole = false;       ///< nobody has the share of rank 0
    bool halves = false;     ///< of a share, the upper part comes first in memory
    std::int64_t halo = 0;   ///< of shares
    std::uint64_t seed = 0;  ///< of a list
};

/// What a rank has of a variable that is dealt by shares: some of its slowest dimension.
Box share_of(const Variable& v, const Dealt& dealt, int rank, int ranks);
std::vector<Box> blocks_of(const Variable& v, const Dealt& dealt, int rank, int ranks);
/// The elements that a rank has, in the order of its memory; of a list, -1 for a hole.
std::vector<std::int64_t> elements_of(const Variable& v, const Dealt& dealt, int rank, int ranks);
Box whole_of(const Variable& v);
std::vector<std::int64_t> elements_in(const Variable& v, const Box& box);

/// Fits into every type.
double value_of(int variable, std::int64_t version, std::int64_t element);

/// The variables as the file is to have them.
struct Expected {
    std::vector<std::vector<double>> values;  ///< of each variable, record after record
    std::int64_t records = 0;

    explicit Expected(const Case& c);
    void put(int variable, const Variable& v, std::int64_t record, std::int64_t element,
             double value);
};

/// Compares a file in memory, or of one that has a path the file itself, with what it is to have.
void compare(const Case& c, const Expected& expected, const std::vector<char>& in_memory);

}  // namespace thalweg::detail
