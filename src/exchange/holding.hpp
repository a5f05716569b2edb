// The holding of a variable by this rank: its decomposition, order of dimensions and boxes. Shared
// by variables that are held alike, and by all parts that are put.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "decomposition/decomposition.hpp"
#include "definitions/definitions.hpp"

namespace thalweg::detail {

struct Holding {
    std::shared_ptr<const Decomposition> decomposition;  ///< null for a section
    std::vector<int> order;     ///< memory dimension of each file dimension but the record's
    std::vector<HeldBox> held;  ///< in file order, sorted by position
    /// The boxes as pack() lays them out, one behind the other. A list with holes, or one out of
    /// order, is renumbered: its elements lie in ascending order of their indices.
    std::vector<HeldBox> packed;
    std::vector<std::int64_t> packed_at;  ///< elements before each of `packed`
    std::int64_t elements = 0;            ///< elements that this rank holds
    /// Key other than 0: parts that ranks put with the same one are parts of one whole.
    std::int64_t key = 0;

    static std::int64_t key_of(const Decomposition& decomposition) {
        return decomposition.replicated ? key_of_holder(0) : 2 * std::int64_t{decomposition.serial};
    }
    /// Returns the key of a variable that one rank has whole, while the others have nothing of it.
    static std::int64_t key_of_holder(int rank) { return 2 * std::int64_t{rank} + 1; }
    static bool has_holder(std::int64_t key) { return key % 2 != 0; }
    static int holder_of(std::int64_t key) { return key / 2; }
};

/// The holding of each variable of a file.
using Holdings = std::vector<std::shared_ptr<const Holding>>;

/// Returns for each variable if the ranks together hold every element.
std::vector<char> are_whole(const Holdings& holdings);

/// Makes the holding of a variable.
/// @param shape  that of the variable in file order, without the record dimension
std::shared_ptr<const Holding> make_holding(std::shared_ptr<const Decomposition> decomposition,
                                            std::vector<int> order,
                                            std::span<const std::int64_t> shape);

/// Matches a decomposition with the dimensions of a variable, without the record dimension.
/// @param known  holdings of the same file: one that is alike is used again
/// @return TW_OK, TW_ESHAPE, TW_EOVERLAP (the decomposition is for reading only)
Status hold(std::shared_ptr<const Decomposition> decomposition, std::span<const std::string> dims,
            std::span<const std::int64_t> shape, const Holdings& known,
            std::shared_ptr<const Holding>& made);

/// Holds one box of a variable, or a list's part of it, without a decomposition.
std::shared_ptr<const Holding> hold_section(const HeldBox& section);

/// Gives all of a variable to one rank, `holder`. @param rank  this one
std::shared_ptr<const Holding> hold_whole(int rank, int holder, std::vector<std::string> dims,
                                          std::span<const std::int64_t> shape, Wording wording);

/// Defines a variable, see define_variable(), and how this rank holds it.
/// @param decomposition  null: rank 0 holds all of it
Status define_held_variable(Definitions& definitions, Holdings& holdings, const std::string& path,
                            int rank, const std::string& name, int type, const std::string& dims,
                            std::shared_ptr<const Decomposition> decomposition,
                            Wording wording = {});

/// Returns the dimensions that a decomposition gives a variable without their being defined.
GivenDimensions given_by(const Decomposition& decomposition);

/// Returns one line per definition, decompositions included: the lines of two ranks are equal if
/// and only if the definitions are.
std::vector<std::string> describe(const Definitions& definitions, const Holdings& holdings,
                                  Wording wording = {});

}  // namespace thalweg::detail
