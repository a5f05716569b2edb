// The elements of an index space that this rank holds, and their place in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/text/index_convention.hpp"
#include "comm/comm.hpp"
#include "decomposition/listed.hpp"
#include "index/box.hpp"
#include "index/types.hpp"
#include "thalweg/array.h"

namespace thalweg::detail {

class Team;

/// Treatments of the halo along a dimension by a read.
enum class Edge : char { keep, clip, periodic };

/// Name of each dimension in a decomposition whose dimensions are matched by position.
inline constexpr const char* unnamed = "*";

/// Start of a block in memory, in elements: in an array with halos, and in one without.
struct BlockStart {
    std::int64_t with_halo = 0, bare = 0;
};

/// The part of an index space that a rank holds: boxes, or a list of indices. Dimensions are in
/// memory order, slowest first.
struct Decomposition {
    std::vector<std::string> dims;  ///< names of the dimensions, or `unnamed` for all
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> halo_low, halo_high;
    /// Extents in memory, with halos, that all boxes have in common; empty if each box has its own.
    std::vector<std::int64_t> padded;
    std::int64_t room = 0;  ///< number of boxes for which a padded array has space
    /// Treatment of the halo along each dimension; if empty, reads leave the halo unchanged.
    std::vector<Edge> edges;
    std::vector<Box> blocks;               ///< boxes that this rank holds, including empty ones
    std::vector<BlockStart> starts;        ///< start of each block in memory
    std::shared_ptr<const Listed> listed;  ///< list of indices; null if the rank holds boxes
    std::int64_t stored = 0;               ///< elements in this rank's memory, including halos
    std::int64_t held = 0;                 ///< number of elements that this rank holds
    /// Number of the decomposition in its session, the same on every rank.
    int serial = 0;
    bool whole = false;       ///< all ranks together hold every element
    bool replicated = false;  ///< every rank has all elements; rank 0 counts as their holder
    IndexConvention wording;  ///< order of dimensions and first index that messages use

    int nd() const { return shape.size(); }
    /// Tests if this rank has values of the variable, as a holder or as a copy.
    bool has_part() const { return held > 0 || replicated; }
    bool by_position() const { return !dims.empty() && dims.front() == unnamed; }
    /// Returns the name of a dimension in quotes, for a message; without names its number.
    std::string dim_in_words(int dim) const;
    /// Returns the extents of an array for a list. The listed dimensions are a single one in
    /// memory.
    std::vector<std::int64_t> listed_extent() const;
};

/// Finds the memory dimension that corresponds to each dimension of a variable, except the record
/// dimension: by name, in any order, or by position.
/// @param dims, shape  dimensions of the variable, slowest first
/// @param order        receives, for each of them, the corresponding dimension of the decomposition
Status match_dimensions(const Decomposition& decomposition, std::span<const std::string> dims,
                        std::span<const std::int64_t> shape, std::vector<int>& order);

/// The present decomposition of a handle. tw_fill_halo and tw_pad replace it.
struct Declared {
    std::shared_ptr<const Decomposition> decomposition;
};

/// Checks the boxes of this rank, and completes the decomposition. Local.
Status check_boxes(Decomposition& given);
/// Checks the declaration of a list of n indices over the dimensions that `listed` names. Local.
Status check_list(Decomposition& given, const std::vector<std::string>& listed, std::int64_t n,
                  bool shared);
/// Checks the indices, among which -1 is a hole, and completes this rank's part of the
/// decomposition. Local.
Status take_list(Decomposition& given, std::span<const std::int64_t> indices, int rank);

/// Integers that the ranks combine when they declare a decomposition: some by bitwise or, some by
/// the maximum, some by the sum.
struct Declaration {
    /// @param mine  error of this rank; the other ranks return it, too, if they declare the same
    ///              decomposition
    Declaration(const Decomposition& decomposition, const Status& mine);
    std::array<std::int64_t, 2> alike;  ///< for bitwise or: shows if names and shape are equal
    /// For the maximum: runs in the list, and 1 if there was a failure.
    std::array<std::int64_t, 2> most;
    struct Sums {
        std::int64_t held, cover_low, cover_high;
        /// For the sum: number of blocks, and their extents.
        std::array<std::int64_t, 1 + max_dims> blocks;
    } sums;
    std::span<std::int64_t> sum_words() {
        return {&sums.held, sizeof(Sums) / sizeof(std::int64_t)};
    }
};

/**
 * Compares what the ranks have declared, and looks for elements that are held twice or not at all.
 * @param all   words of all ranks, combined
 * @param mine  see Declaration
 * @note Collective; the status is the same on every rank
 */
Status judge(Team& team, const Declaration& all, const Status& mine, Decomposition& decomposition);

/**
 * Finds blocks of two ranks that overlap. The index space is divided into a grid with one cell per
 * rank. Each rank sends its boxes to the ranks whose cells they overlap, and each rank compares the
 * boxes that it receives.
 * @param blocks  number of all ranks' blocks, and sums of their extents
 * @return TW_EOVERLAP naming both ranks and an element, on the rank that has found the overlap
 * @note Collective over comm
 */
Status find_overlap(Comm& comm, const Decomposition& decomposition,
                    std::span<const std::int64_t> blocks);

/// Makes a decomposition in which each rank has all elements. Rank 0 counts as their holder.
std::shared_ptr<const Decomposition> replicate(int rank, std::vector<std::string> dims,
                                               std::vector<std::int64_t> shape,
                                               IndexConvention wording = {});

/// A box that a rank holds, in the order of a variable's dimensions; or the elements of a list
/// inside a box.
struct HeldBox {
    Box box;
    /// Row-major positions of its first and last element in the variable.
    std::int64_t first = 0, last = 0;
    int block = 0;                        ///< number of the block in the decomposition
    std::shared_ptr<const Listing> list;  ///< elements of the box that are held; null: all
    std::int64_t position = 0;            ///< position in the list of the box's first element
};

/// Makes a held box, with the positions of its corners.
HeldBox held_box(const Box& box, std::span<const std::int64_t> shape);

/// Returns the blocks in file order, sorted by position, without empty ones. order[f] is the memory
/// dimension of dimension f of the file.
std::vector<HeldBox> in_file_order(std::span<const Box> blocks, std::span<const int> order,
                                   std::span<const std::int64_t> file_shape);

/// Returns the boxes of a variable that a rank holds, sorted by position. A list is one box.
std::vector<HeldBox> held_by(const Decomposition& decomposition, std::span<const int> order,
                             std::span<const std::int64_t> file_shape);

/// Returns a list as a held box that contains all its indices. The box is empty if the list is null
/// or empty.
HeldBox held_list(std::shared_ptr<const Listing> list, std::span<const std::int64_t> file_shape);

/// A box of an array that a read fills: a held box, or part of its halo.
struct WantedBox : HeldBox {
    /// Index of the box's first element, relative to the block's first held element, in file order.
    Index at{};
};

/// Returns the boxes that a read fills, in file order, sorted by position. These are the held boxes
/// and, if `with_halo` is true, the parts of their halos that decomposition.edges selects. A halo
/// beyond the end of a periodic dimension comes from the beginning of the dimension, as a separate
/// box.
std::vector<WantedBox> wanted_boxes(const Decomposition& decomposition, std::span<const int> order,
                                    std::span<const std::int64_t> file_shape, bool with_halo);

/// Cuts boxes to a part of the variable, and converts them to indices of that part. They are sorted
/// by position in the part.
std::vector<WantedBox> wanted_within(std::span<const WantedBox> boxes, const Box& part);

/// The position of a box in memory: the address of its first element, and the distance in bytes
/// between neighbours along each dimension.
struct Strided {
    const char* base = nullptr;
    Index stride{};
};

/// Forms of an array: the boxes alone, or with their halos. `either` means that there are no halos,
/// or that the rank holds nothing.
enum class Form : char { without_halo = 1, with_halo = 2, either = 3 };

/// An array that the model has passed.
struct ArrayView {
    const char* data = nullptr;
    tw_type type = TW_BYTE;
    /// true: the blocks follow each other as in tw_put; false: elements are at the strides.
    bool dense = true;
    bool bare = false;              ///< the array is dense and contains no halos
    Index stride{};                 ///< byte strides along each memory dimension
    std::int64_t block_stride = 0;  ///< distance in bytes from one block to the next
    Form form = Form::either;
};

/// Checks that a dense array has n elements, as many as this rank's part; any number if this rank
/// holds nothing. Completes the view.
Status check_dense(const Decomposition& decomposition, std::int64_t n, ArrayView& view);

/// Checks that a strided array contains this rank's part, with or without its halo. Completes the
/// view. `rank` is the number of dimensions of the decomposition, or one more if the first
/// dimension counts boxes. The extents must be those of the box, the largest of all boxes along
/// each dimension, or those set by tw_pad.
Status check_strided(const Decomposition& decomposition, int rank, const std::int64_t* extent,
                     const std::int64_t* byte_stride, ArrayView& view);

/// Makes the view of an array. Fails if the array does not contain this rank's part.
Status check_array(const Decomposition& decomposition, const tw_array& array, ArrayView& view);

/// Tests if an array is null although this rank has elements in memory.
inline bool lacks_data(const Decomposition& decomposition, const tw_array& array) {
    return array.data == nullptr && decomposition.stored > 0;
}

/// A copy of an array's description with its own extents and strides. Those of a tw_array are valid
/// only during a call.
struct KeptArray : tw_array {
    KeptArray() : tw_array{} {}
    explicit KeptArray(const tw_array& array);
    KeptArray(KeptArray&&) = default;
    KeptArray& operator=(KeptArray&&) = default;

private:
    std::vector<std::int64_t> extents_, strides_;
};

/// Formats the extents that an array has in a given form, for example "(2, 30, 30)".
std::string extents_in_words(const Decomposition& decomposition, Form form);

/// Returns the address of a held box's first held element, and the byte strides in file order. For
/// a list, the fastest listed dimension has the distance between positions as its stride; the other
/// listed dimensions have stride 0, because runs stay within a row.
Strided locate(const Decomposition& decomposition, std::span<const int> order, const HeldBox& held,
               const ArrayView& array);

}  // namespace thalweg::detail
