// The contribution of one rank to one unit of work: boxes of variables in file order, or the
// elements of lists in boxes, dense, in the byte order of the file. A unit part lies in its rank's
// region, or comes as a message; either way, it is a descriptor of 64-bit words and the data that
// this points to.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "decomposition/decomposition.hpp"
#include "definitions/definitions.hpp"
#include "exchange/held_words.hpp"
#include "layout/layout.hpp"
#include "service/queue/packed_boxes.hpp"
#include "storage/spaces.hpp"

namespace thalweg::detail {

/// Kinds of units. All ranks publish units in the same order, and writers process them in that
/// order.
enum class UnitKind : std::int64_t {
    step,   ///< ends a record; includes the fixed-size variables that were put
    fixed,  ///< fixed-size variables only
    last,   ///< fixed-size variables; those never put are filled
    part,   ///< a range of one variable, of a step too large to be held at once
    boxes,  ///< boxes of any variable and record; may end a step, as `step` does
    fill,   ///< fill values for elements not put of the fixed-size variables marked as put
};

/// Tests if a unit is a mark, at which all ranks wait for each other.
inline bool is_mark(UnitKind kind) {
    return kind == UnitKind::fixed || kind == UnitKind::last || kind == UnitKind::fill;
}

struct UnitHead {
    std::int64_t unit = 0;
    UnitKind kind = UnitKind::step;
    int rank = 0;                     ///< rank that made the unit
    std::int64_t record = 0;          ///< record of `whole` record variables: the open step's
    std::int64_t step = 0;            ///< steps that the rank has ended since all were at a mark
    std::int64_t records = 0;         ///< with boxes: records of the file, as far as the rank knows
    bool ends = true;                 ///< with boxes: the rank ended a step
    bool given = false;               ///< the rank names records: a step adds none by itself
    int variable = -1;                ///< variable of a part
    std::int64_t begin = 0, end = 0;  ///< range of a part: elements in file order
};

struct UnitPart {
    struct Entry {
        int variable = 0;
        std::int64_t record = 0;  ///< of a record variable
        HeldBox held;
        std::int64_t at = 0;          ///< of the data, in bytes from the base
        const char* data = nullptr;   ///< once parsed
        const Box* within = nullptr;  ///< of `held`, if that is not meant as a whole
    };
    /// A variable of which the unit part has every element that its rank holds, or that its rank
    /// holds within the unit's range; the elements lie in the order of the holding.
    struct Whole {
        int variable = 0;
        std::int64_t at = 0;  ///< place of the data, in bytes from the base
    };
    UnitHead head;
    /// One bit per variable: put; held and not put; put from an array without, or with, a halo.
    std::vector<std::int64_t> put, lacking, bare, with_halo;
    std::vector<Whole> whole;
    std::vector<Entry> entries;
};

/// Returns the descriptor of a unit part.
std::vector<std::int64_t> describe_unit_part(const UnitPart& unit_part);
/// Parses a descriptor; the data lie behind `base`. `variables` give the shapes, `holdings` are
/// those of the unit part's rank.
UnitPart parse_unit_part(const std::int64_t* words, const char* base,
                         std::span<const Variable> variables, const PackedBoxes& holdings);

/// Sets the data of a unit part that has not been described.
UnitPart with_data(UnitPart unit_part, const char* base, std::span<const Variable> variables,
                   const PackedBoxes& holdings);

/// Returns the head of a descriptor.
UnitHead head_of(const std::int64_t* words);
/// Tests if a descriptor has data with it.
bool has_data(const std::int64_t* words);

/// Returns a unit part without its boxes: the head, and which variables its rank has put.
UnitPart without_data(const UnitPart& unit_part);

/// Appends the part of a unit part that belongs to a writer's share, as a message of its own.
/// Several may be appended to one another.
/// @return true if there are any elements
bool append_clipped(const UnitPart& unit_part, const Layout& layout, int writer,
                    const Spaces& spaces, std::span<const Variable> variables,
                    std::vector<char>& message);
/// Calls visit(descriptor) for the unit parts of a message.
template <class Visit>
void for_descriptors(std::span<const char> message, Visit&& visit) {
    for (std::size_t at = 0; at < message.size();) {
        std::int64_t length;
        std::memcpy(&length, message.data() + at, 8);
        visit(reinterpret_cast<const std::int64_t*>(message.data() + at + 8));
        at += 8 + static_cast<std::size_t>(length);
    }
}
/// Returns the unit parts of a message, whose data stay in it.
std::vector<UnitPart> parse_message(std::span<const char> message,
                                    std::span<const Variable> variables);

}  // namespace thalweg::detail
