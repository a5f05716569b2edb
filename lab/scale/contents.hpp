// The output of the model: its variables, and how a rank holds them, as boxes or as lists of
// indices.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "options.hpp"

namespace thalweg::scale {

/// The arguments of tw_decompose or tw_decompose_list.
struct Holding {
    std::vector<std::string> dims;    ///< names of the dimensions in memory order, slowest first
    std::vector<std::int64_t> shape;  ///< lengths in the same order
    // First index and lengths of a box.
    std::vector<std::int64_t> start{}, count{};
    // Names of the listed dimensions of a list.
    std::vector<std::string> listed{};
    std::vector<std::int64_t> indices{};

    bool is_list() const { return !listed.empty(); }
};

/// Variables with the same type, dimensions and holdings.
struct Group {
    std::string prefix;  ///< prefix of the variables' names, before a number
    int count = 1;
    tw_type type = TW_FLOAT;
    std::vector<std::string> dims;  ///< names of the dimensions in file order, without the record
                                    ///< dimension
    int holding = -1;               ///< number of the holding; -1: every rank has all elements
    std::int64_t elements = 0;      ///< number of elements of one variable on this rank

    std::int64_t element() const { return type == TW_FLOAT ? 4 : 8; }
    std::int64_t local_bytes() const { return elements * element(); }
};

struct Variable {
    std::string name;
    int group = 0, member = 0;
};

class Contents {
public:
    virtual ~Contents() = default;

    /// Makes a value for each element. Without this call, variables have no values.
    virtual void fill() = 0;
    /// Returns the array of a variable in a step; only after fill().
    virtual const void* values(const Variable& variable, int step) const = 0;

    const std::vector<std::pair<std::string, std::int64_t>>& dimensions() const { return dims_; }
    const std::vector<Holding>& holdings() const { return holdings_; }
    const std::vector<Group>& groups() const { return groups_; }
    const Group& group(const Variable& v) const {
        return groups_[static_cast<std::size_t>(v.group)];
    }
    const std::vector<Variable>& variables() const { return variables_; }
    /// Returns the size of a step in bytes, over all ranks.
    std::int64_t step_bytes() const;
    /// Returns a description of the run for thalweg plan.
    nlohmann::ordered_json plan() const;
    /// Returns the process grid. reduced() describes the dimensions that are smaller than in the
    /// workload.
    const std::vector<int>& grid() const { return grid_; }
    const std::string& reduced() const { return reduced_; }

protected:
    void name_variables();

    std::vector<std::pair<std::string, std::int64_t>> dims_;
    std::vector<Holding> holdings_;
    std::vector<Group> groups_;
    std::vector<Variable> variables_;
    std::vector<int> grid_;
    std::string decomposition_;  ///< the process grid, in the form that thalweg plan takes
    double list_run_ = 0;        ///< mean number of consecutive elements in this rank's lists
    std::string reduced_;
};

/// Makes a workload of thalweg-bench, or one of lists. Throws bench::UsageError if there is none of
/// that name, or the options do not fit.
/// @param rank, ranks  rank and number of ranks in the model
std::unique_ptr<Contents> make_contents(const bench::Options& options, int rank, int ranks);

/// Makes a workload with lists; null if there is none of this name.
std::unique_ptr<Contents> make_lists(const bench::Options& options, int rank, int ranks);

}  // namespace thalweg::scale
