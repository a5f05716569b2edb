// The application of a map to variables with the same elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "history/maps/map.hpp"
#include "history/reductions/reduction.hpp"

namespace thalweg::history {

/// A map, and the ranks that exchange elements of variables for it.
class Mapping {
public:
    /// @param part  elements of the variables
    /// @param dims  dimensions of the variables in file order
    /// @param replaced  those of them that the target's dimensions replace
    Mapping(std::shared_ptr<const Map> map, const Part& part, const Names& dims,
            const Names& replaced);

    const Map& map() const { return *map_; }
    /// Returns the dimensions of mapped variables, and their lengths.
    const Names& dims() const { return dims_; }
    const Integers& shape() const { return shape_; }
    /// Returns the dimensions that the target's dimensions replace.
    const Names& replaced() const { return replaced_; }
    const Taken& results() const { return *results_; }
    void set_results(const Taken& results) { results_ = &results; }
    /// Finds which ranks exchange which elements. @note Collective
    Status connect(Ranks& ranks);

private:
    friend class Mapped;
    /// Adjacent positions.
    struct Range {
        std::int64_t first, count;
    };
    /// Elements that another rank gets from, or sends to, this one.
    struct Peer {
        explicit Peer(int of) : rank(of) {}
        /// Adds the next position. @param row  a range lies within a multiple of this length
        void add(std::int64_t position, std::int64_t row);

        int rank;
        std::int64_t elements = 0;
        std::vector<Range> ranges;
    };
    Status find_takers(Ranks& ranks, const ColumnSet& held, std::map<int, Integers>& takers) const;

    std::shared_ptr<const Map> map_;
    const Part& part_;
    Names replaced_, dims_;
    Integers shape_;
    /// Number of elements along the other dimensions, and along those of them that follow the
    /// target's.
    std::int64_t others_ = 1, after_ = 1;
    Integers to_column_, to_other_;  ///< distances by which columns and the others are numbered
    const Taken* results_ = nullptr;
    // In the order of the others, and then of the columns.
    std::vector<Peer> takers_;   ///< positions among the variable's elements
    std::vector<Peer> sources_;  ///< positions among the others times the map's columns
    bool complete_ = false;      ///< a rank holds each of these
    /// Memory for the columns, and for their weights.
    mutable std::vector<double> columns_, weights_;
};

/// Weights of the elements of a variable, which are its results' divisors.
enum class Divisors : std::uint8_t {
    one,      ///< there are none: an element is valid or not
    samples,  ///< weights of the valid samples
    field     ///< weights by a field
};

/// The mapped values of a variable, which are known after exchange().
class Mapped final : public RecordValues {
public:
    /// Keeps the elements that other ranks need.
    /// @param from  without values if this rank holds no elements
    Mapped(const Mapping& mapping, const Reducible& from, Divisors divisors);

    /// Exchanges the elements that the rows of ranks need, and maps them. @note Collective
    static Status exchange(Ranks& ranks, std::span<Mapped* const> all);

private:
    void map(std::map<int, const double*>& next);
    void sum(const double* from, double* to) const;
    double value(std::int64_t row, const double* from) const;
    double quotient(std::int64_t row, const double* from, const double* divisors) const;

    const Mapping& mapping_;
    Divisors divisors_;
    std::vector<std::vector<char>> sent_;  ///< numbers for each taker
    double whole_ = 1;                     ///< weight of all samples
    bool missing_ = false;                 ///< some elements of the rows of this rank are missing
};

}  // namespace thalweg::history
