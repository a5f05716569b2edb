// The holding of a variable by this rank: its decomposition, order of dimensions and boxes.
// Variables that ranks hold in the same way share it, and so do all parts that are put.
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
    /// Memory dimension of each file dimension except the record dimension.
    std::vector<int> order;
    std::vector<HeldBox> held;  ///< this rank's boxes in file order, sorted by position
    /// The boxes in the order in which pack() writes them. A list with holes is renumbered: its
    /// elements are packed in ascending order of their indices. The elements of any other list are
    /// packed in the order of their positions.
    std::vector<HeldBox> packed;
    std::vector<std::int64_t> packed_at;  ///< number of packed elements before each box
    std::int64_t elements = 0;            ///< elements that this rank holds
    /// Shows which parts belong together: parts that ranks put with the same key, other than 0,
    /// make up the whole variable.
    std::int64_t key = 0;

    static std::int64_t key_of(const Decomposition& decomposition) {
        return decomposition.replicated ? key_of_holder(0) : 2 * std::int64_t{decomposition.serial};
    }
    /// Returns the key for a variable that one rank holds completely, and no other rank at all.
    static std::int64_t key_of_holder(int rank) { return 2 * std::int64_t{rank} + 1; }
    static bool has_holder(std::int64_t key) { return key % 2 != 0; }
    static int holder_of(std::int64_t key) { return key / 2; }
};

/// The holding of each variable of a file.
using Holdings = std::vector<std::shared_ptr<const Holding>>;

/// Returns for each variable if the ranks together hold every element.
std::vector<char> are_whole(const Holdings& holdings);

/// Makes the holding of a variable.
/// @param shape  of the variable, in file order, without the record dimension
std::shared_ptr<const Holding> make_holding(std::shared_ptr<const Decomposition> decomposition,
                                            std::vector<int> order,
                                            std::span<const std::int64_t> shape);

/// Matches a decomposition with the dimensions of a variable, without the record dimension.
/// @param known  holdings of the same file: an equal one is used again
/// @return TW_OK, TW_ESHAPE, TW_EOVERLAP (the decomposition is for reading only)
Status hold(std::shared_ptr<const Decomposition> decomposition, std::span<const std::string> dims,
            std::span<const std::int64_t> shape, const Holdings& known,
            std::shared_ptr<const Holding>& made);

/// Makes the holding of a section that is put without a decomposition: one box, or the part of a
/// list in it.
std::shared_ptr<const Holding> hold_section(const HeldBox& section);

/// Makes the holding of a variable that one rank, `holder`, has completely.
/// @param rank  number of this rank
std::shared_ptr<const Holding> hold_whole(int rank, int holder, std::vector<std::string> dims,
                                          std::span<const std::int64_t> shape,
                                          IndexConvention wording);

/// Defines a variable, see define_variable(), together with its holding on this rank.
/// @param decomposition  null: rank 0 holds all of it
Status define_held_variable(Definitions& definitions, Holdings& holdings, const std::string& path,
                            int rank, const std::string& name, int type, const std::string& dims,
                            std::shared_ptr<const Decomposition> decomposition,
                            const FindLength& find_length, IndexConvention wording = {});

/// Returns the dimensions that a decomposition defines if the file has not defined them.
GivenDimensions given_by(const Decomposition& decomposition);

/// Describes definitions and decompositions, one line each. Two ranks have equal lines if and only
/// if they have equal definitions.
std::vector<std::string> describe(const Definitions& definitions, const Holdings& holdings,
                                  IndexConvention wording = {});

}  // namespace thalweg::detail
