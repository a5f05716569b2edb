// The contribution of one rank to one unit of work: boxes of variables in file order, or the
// elements of lists in boxes, dense, in the byte order of the file. A unit part lies in its rank's
// region, or comes as a message; either way, it is a descriptor and the data that this points to.
//
// A file is written "by boxes" (UnitKind::boxes) once a rank has put a section, a record that it
// named by number, or a variable of a step that exceeds its queue. Then the units of a rank no
// longer correspond to those of the others.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "decomposition/decomposition.hpp"
#include "decomposition/index_list.hpp"
#include "definitions/definitions.hpp"
#include "exchange/held_words.hpp"
#include "exchange/part.hpp"
#include "layout/layout.hpp"
#include "service/queue/packed_boxes.hpp"
#include "storage/file_sections.hpp"

namespace thalweg::detail {

/// Cuts lists to boxes. Holdings that share a list share the result, too, and a unit part contains
/// it only once.
class Clips {
public:
    /// Returns the part of a list that lies in a box; its positions are 0, 1, ... in ascending
    /// order of the indices.
    std::shared_ptr<const Listing> of(const std::shared_ptr<const Listing>& list, const Box& box) {
        std::vector<std::int64_t> key;
        for (const int d : list->dims) key.insert(key.end(), {d, box.low[d], box.count[d]});
        Clip& clip = made_[{list.get(), std::move(key)}];
        if (!clip.cut) clip = {list, list->within(box)};
        return clip.cut;
    }

    std::size_t size() const { return made_.size(); }
    void clear() { made_.clear(); }

private:
    struct Clip {
        /// `list` is kept so that no other list can get its address, which is the key of the cache.
        std::shared_ptr<const Listing> list, cut;
    };
    std::map<std::pair<const Listing*, std::vector<std::int64_t>>, Clip> made_;
};

/// Kinds of units. All ranks publish the same units, but of boxes, in the same order, and writers
/// process them in that order.
enum class UnitKind : std::int64_t {
    step,   ///< ends a record; includes the fixed-size variables that were put
    fixed,  ///< fixed-size variables only
    last,   ///< fixed-size variables; elements never put are filled
    boxes,  ///< boxes of any variable and record, in the middle of a step
    fill,   ///< a request to fill the elements that were not put of the marked fixed-size variables
};

/// Tests if a unit is a mark: a tw_sync or tw_close, where all ranks wait for each other.
inline bool is_mark(UnitKind kind) {
    return kind == UnitKind::fixed || kind == UnitKind::last || kind == UnitKind::fill;
}

struct UnitHead {
    std::int64_t bytes = 0;  ///< size in bytes of the descriptor; set by describe_unit_part()
    std::int64_t unit = 0;
    UnitKind kind = UnitKind::step;
    int rank = 0;             ///< rank that made the unit
    std::int64_t record = 0;  ///< record of the variables in `whole`: that of the open step
    /// If the file is written by boxes: number of its records that the rank knows of.
    std::int64_t records = 0;
    bool boxed = false;  ///< the rank knows that the file is written by boxes
    /// The rank sets record numbers itself (tw_put_record): a step adds none.
    bool given = false;
};

struct UnitPart {
    UnitHead head;
    using Mask = std::vector<std::int64_t>;
    /// Bit masks of variables: put; held but not put; put from an array without a halo; put from an
    /// array with one.
    Mask put, lacking, bare, with_halo;
    /// For each variable that was put as a whole (all elements that the rank holds, in the order of
    /// the holding), the offset of its data, in bytes from the base; -1 for others.
    std::vector<std::int64_t> whole;
    /// Their data are set when the descriptor is parsed. If `at` is negative, they lie in the
    /// memory that the node shares, at offset ~at.
    std::vector<PackedValues> entries;
};

/// Returns the bits that are set in a mask of any unit part.
UnitPart::Mask combined(std::span<const UnitPart> unit_parts, UnitPart::Mask UnitPart::*mask);

/// Returns the descriptor of a unit part.
std::vector<char> describe_unit_part(const UnitPart& unit_part);
/// Parses a descriptor.
/// @param base       address of the data
/// @param variables  give the shapes
/// @param holdings   of the rank that made the unit part
/// @param copies     address of the node's memory to which entries refer, if any do
UnitPart parse_unit_part(const char* descriptor, const char* base,
                         std::span<const Variable> variables, const PackedBoxes& holdings,
                         const char* copies = nullptr);

/// Returns a unit part with the address of its data, if it was not parsed from a descriptor.
UnitPart with_data(UnitPart unit_part, const char* base, std::span<const Variable> variables,
                   const PackedBoxes& holdings, const char* copies = nullptr);

/// Returns the head of a descriptor.
UnitHead head_of(const char* descriptor);

/// Appends to a message the part of a unit part that belongs to a writer's share. A message may
/// contain several such parts.
/// @return true if there are any elements
bool append_clipped(const UnitPart& unit_part, const Layout& layout, int writer,
                    const FileSections& sections, std::span<const Variable> variables,
                    std::vector<char>& message);
/// Returns the head of the first unit part of a message.
inline UnitHead head_of(std::span<const char> message) { return head_of(message.data() + 8); }
/// Returns the unit parts of a message. They refer to its bytes.
std::vector<UnitPart> parse_message(std::span<const char> message,
                                    std::span<const Variable> variables);

}  // namespace thalweg::detail
