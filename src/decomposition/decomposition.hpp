// The elements of an index space that this rank holds, and their place in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/wording.hpp"
#include "comm/comm.hpp"
#include "decomposition/listed.hpp"
#include "index/box.hpp"
#include "index/types.hpp"
#include "thalweg/array.h"

namespace thalweg::detail {

/// Treatments of the halo along a dimension by a read.
enum class Edge : char { keep, clip, periodic };

/// Name of every dimension of a decomposition that is matched by position.
inline constexpr const char* unnamed = "*";

/// The boxes or the list of indices that a rank holds of an index space. Dimensions are in memory
/// order, slowest first.
struct Decomposition {
    std::vector<std::string> dims;  ///< names of the dimensions, or `unnamed` for all
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> halo_low, halo_high;
    /// Extents in memory that all boxes share, including halos; empty: each box has its own.
    std::vector<std::int64_t> padded;
    std::int64_t room = 0;  ///< number of boxes for which a padded array has room
    /// For each dimension; empty: reads leave the halo unchanged.
    std::vector<Edge> edges;
    std::vector<Box> blocks;                 ///< boxes that this rank holds; empty ones are kept
    std::vector<std::int64_t> offsets;       ///< start of each block in memory, in elements
    std::vector<std::int64_t> bare_offsets;  ///< start of each block in an array without halos
    std::shared_ptr<const Listed> listed;    ///< null: boxes
    std::int64_t stored = 0;                 ///< elements in this rank's memory, including halos
    std::int64_t held = 0;                   ///< number of elements that this rank holds
    /// Number of the decomposition in its session, the same on every rank.
    int serial = 0;
    bool whole = false;       ///< every element is held by some rank
    bool replicated = false;  ///< every rank has all; rank 0 counts as the holder
    Wording wording;          ///< wording of messages about it

    int nd() const { return shape.size(); }
    /// Tests if this rank has values of the variable, as a holder or as a copy.
    bool has_part() const { return held > 0 || replicated; }
    bool by_position() const { return !dims.empty() && dims.front() == unnamed; }
    /// Returns a dimension's name in quotes or, without names, its number, for a message.
    std::string dim_in_words(int dim) const;
    /// Returns the extents of an array for a list. In memory, the listed dimensions are one.
    std::vector<std::int64_t> listed_extent() const;
};

/// Returns the memory dimension of each dimension of a file, by name. If a name occurs several
/// times, its occurrences are matched in order. -1: no dimension matches.
std::vector<int> match_names(std::span<const std::string> file,
                             std::span<const std::string> memory);

/// The current decomposition of a handle: tw_fill_halo and tw_pad replace it.
struct Declared {
    std::shared_ptr<const Decomposition> decomposition;
};

/// Checks this rank's part and completes it. Local.
Status check_boxes(Decomposition& given);
/// Checks the declaration of a list of so many indices over the dimensions named in `listed`.
/// Local.
Status check_list(Decomposition& given, const std::vector<std::string>& listed, std::int64_t n,
                  bool shared);
/// Checks the indices, -1 being a hole, and completes this rank's part.
Status take_list(Decomposition& given, std::span<const std::int64_t> indices, int rank);

/// Words that the ranks combine when they declare a decomposition: by bitwise or, by the maximum,
/// and by the sum.
struct Declaration {
    /// @param mine  failure of this rank, which the others get if they declare the same
    Declaration(const Decomposition& decomposition, const Status& mine);
    std::array<std::int64_t, 2> alike;  ///< equality of names and shape
    std::array<std::int64_t, 2> most;   ///< runs of the list; 1 if there was a failure
    struct Sums {
        std::int64_t held, cover_low, cover_high;
        /// Number of blocks, and sums of their extents.
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
 * @note Collective over comm; the status is the same on every rank
 */
Status judge(Comm& comm, const Declaration& all, const Status& mine, Decomposition& decomposition);

/// Makes a decomposition in which every rank has all elements; rank 0 counts as the holder.
std::shared_ptr<const Decomposition> replicate(int rank, std::vector<std::string> dims,
                                               std::vector<std::int64_t> shape,
                                               Wording wording = {});

/// A box that a rank holds, in the order of a variable's dimensions; or the elements of a list in a
/// box.
struct HeldBox {
    Box box;
    std::int64_t first = 0, last = 0;     ///< row-major positions of its corners in the variable
    int block = 0;                        ///< number of the block in the decomposition
    std::shared_ptr<const Listing> list;  ///< null: all elements of the box are held
    std::int64_t position = 0;            ///< position of the box's first element in the list
};

/// Makes a held box, with the positions of its corners.
HeldBox held_box(const Box& box, std::span<const std::int64_t> shape);

/// Returns the blocks in file order, sorted by position, without empty ones; order[f] is the memory
/// dimension of file dimension f.
std::vector<HeldBox> in_file_order(std::span<const Box> blocks, std::span<const int> order,
                                   std::span<const std::int64_t> file_shape);

/// Returns the boxes of a variable that a rank holds, sorted by position: its blocks, or its list
/// as one box.
std::vector<HeldBox> held_by(const Decomposition& decomposition, std::span<const int> order,
                             std::span<const std::int64_t> file_shape);

/// Returns a list as a held box, which contains all its indices. Empty if the list is null or
/// empty.
HeldBox held_list(std::shared_ptr<const Listing> list, std::span<const std::int64_t> file_shape);

/// A box of a rank's array that a read fills: a held box, or a part of its halo.
struct WantedBox : HeldBox {
    /// Index of the box's first element, relative to the block's first held one, in file order.
    Index at{};
};

/// Returns the boxes that a read fills, in file order, sorted by position: the held ones and, if
/// `with_halo`, their halos within the decomposition's edges. Halos beyond the end of a periodic
/// dimension come from its beginning, as boxes of their own.
std::vector<WantedBox> wanted_boxes(const Decomposition& decomposition, std::span<const int> order,
                                    std::span<const std::int64_t> file_shape, bool with_halo);

/// Cuts the boxes to a part of the variable, and converts them to the indices of that part; sorted
/// by position there.
std::vector<WantedBox> wanted_within(std::span<const WantedBox> boxes, const Box& part);

/// The place of a box in memory: address of the first element, and distance in bytes along each
/// dimension.
struct Strided {
    const char* base = nullptr;
    Index stride{};
};

/// The form in which an array is passed: the boxes alone, or with their halos; `either` if there
/// are no halos or nothing is held.
enum class Form : char { without_halo = 1, with_halo = 2, either = 3 };

/// An array passed by the model.
struct ArrayView {
    const char* data = nullptr;
    tw_type type = TW_BYTE;
    bool dense = true;              ///< blocks as tw_put expects them; otherwise at the strides
    bool bare = false;              ///< a dense array that has no halos
    Index stride{};                 ///< in bytes, along each memory dimension
    std::int64_t block_stride = 0;  ///< bytes from one block to the next
    Form form = Form::either;
};

/// Checks that an array has the n elements of this rank's part; completes the view.
Status check_dense(const Decomposition& decomposition, std::int64_t n, ArrayView& view);

/// Checks that a strided array is this rank's part, with or without its halo; completes the view.
/// `rank` is the number of dimensions of the decomposition, or one more: then the first dimension
/// counts the boxes. The extents must be exactly those of one form: of the box; of the largest
/// along each dimension if there are several; or as padded.
Status check_strided(const Decomposition& decomposition, int rank, const std::int64_t* extent,
                     const std::int64_t* byte_stride, ArrayView& view);

/// Makes the view of an array, if it is this rank's part.
Status check_array(const Decomposition& decomposition, const tw_array& array, ArrayView& view);

/// Tests if the array is missing although this rank has elements in memory.
inline bool lacks_data(const Decomposition& decomposition, const tw_array& array) {
    return array.data == nullptr && decomposition.stored > 0;
}

/// A copy of an array's description that owns its extents and strides. Those of a tw_array need to
/// be valid only during a call.
struct KeptArray : tw_array {
    KeptArray() : tw_array{} {}
    explicit KeptArray(const tw_array& array);
    KeptArray(KeptArray&&) = default;
    KeptArray& operator=(KeptArray&&) = default;

private:
    std::vector<std::int64_t> extents_, strides_;
};

/// Formats the extents of an array in a form: "(2, 30, 30)".
std::string extents_in_words(const Decomposition& decomposition, Form form);

/// Returns the address of a held box's first held element, and the byte strides in file order. For
/// a list, the fastest listed dimension of the file has the stride from one position to the next,
/// and the other listed ones have none, as runs do not extend beyond a row.
Strided locate(const Decomposition& decomposition, std::span<const int> order, const HeldBox& held,
               const ArrayView& array);

}  // namespace thalweg::detail
