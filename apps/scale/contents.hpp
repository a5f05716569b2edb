// What the model writes: its variables, and how a rank holds them, as boxes or as lists of indices.
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

/// What tw_decompose or tw_decompose_list is told.
struct Holding {
    std::vector<std::string> dims;    ///< in memory order, slowest first
    std::vector<std::int64_t> shape;  ///< likewise
    // of a box
    std::vector<std::int64_t> start{}, count{};
    // of a list
    std::vector<std::string> listed{};
    std::vector<std::int64_t> indices{};

    bool is_list() const { return !listed.empty(); }
};

/// Variables that are alike.
struct Group {
    std::string prefix;  ///< of their names, before a number
    int count = 1;
    tw_type type = TW_FLOAT;
    std::vector<std::string> dims;  ///< in file order, without the record dimension
    int holding = -1;               ///< -1: every rank has all of it
    std::int64_t elements = 0;      ///< of one variable on this rank

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

    /// Makes values for every element. Else there are none.
    virtual void fill() = 0;
    /// A variable's array in a step, after fill().
    virtual const void* values(const Variable& variable, int step) const = 0;

    const std::vector<std::pair<std::string, std::int64_t>>& dimensions() const { return dims_; }
    const std::vector<Holding>& holdings() const { return holdings_; }
    const std::vector<Group>& groups() const { return groups_; }
    const Group& group(const Variable& v) const {
        return groups_[static_cast<std::size_t>(v.group)];
    }
    const std::vector<Variable>& variables() const { return variables_; }
    /// Of a step, over all ranks.
    std::int64_t step_bytes() const;
    /// What thalweg plan wants to know.
    nlohmann::ordered_json plan() const;
    /// The process grid; and what is smaller than the workload has it, in words.
    const std::vector<int>& grid() const { return grid_; }
    const std::string& reduced() const { return reduced_; }

protected:
    void name_variables();

    std::vector<std::pair<std::string, std::int64_t>> dims_;
    std::vector<Holding> holdings_;
    std::vector<Group> groups_;
    std::vector<Variable> variables_;
    std::vector<int> grid_;
    std::string decomposition_;  ///< as thalweg plan reads it
    double list_run_ = 0;        ///< elements that follow one another in this rank's lists
    std::string reduced_;
};

/// A workload of thalweg-bench, or one of lists. @param rank, ranks  of the model
/// Throws bench::UsageError if there is none, or the options do not fit.
std::unique_ptr<Contents> make_contents(const bench::Options& options, int rank, int ranks);

/// One of lists; null if the name is of another kind.
std::unique_ptr<Contents> make_lists(const bench::Options& options, int rank, int ranks);

}  // namespace thalweg::scale
