// What each writer owns of a file, in file order: the methods of the papers, one small file each.
// Computed for any writer without asking anyone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "index/box.hpp"

namespace thalweg::detail {

/// Bytes [begin, end), counted from the start of a space.
struct Extent {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
};

/// A variable's place in a space.
struct Place {
    int variable = 0;          ///< index in the file's definitions
    std::int64_t offset = 0;   ///< of its first byte
    std::int64_t bytes = 0;    ///< of its elements
    std::int64_t padded = 0;   ///< with the format's padding
    std::int64_t element = 1;  ///< bytes of one element
    std::vector<std::int64_t> shape;
    std::vector<int> dims{};  ///< of the shape, by their number in the file's definitions
    /// One writer must have the bytes between two multiples of it; 0: those of an element.
    std::int64_t grain = 0;
};

/// A part of the file in which variables lie one after another: the fixed-size ones, or one record.
struct Space {
    std::vector<Place> places;  ///< in ascending order of offset
    std::int64_t bytes = 0;
    bool padded = true;  ///< whether the format pads; not where a record is one variable

    /// First place that ends after the byte.
    std::size_t place_at(std::int64_t byte) const;
    /// The place of a variable that is in the space.
    std::size_t place_of(int variable) const;
    /// The largest element boundary not after the byte.
    std::int64_t element_boundary(std::int64_t byte) const;
    /// The largest boundary not after the byte at which one writer's share may end.
    std::int64_t share_boundary(std::int64_t byte) const;
    /// How far before a byte that may be.
    std::int64_t largest_grain() const;

private:
    std::int64_t boundary(std::int64_t byte, bool of_share) const;
};

/// Elements [begin, end) of a place, by their row-major positions.
struct ElementRange {
    std::int64_t begin = 0, end = 0;
};

/// What a writer owns of a space: some bytes of it, or a box of each place. The boxes are seen as a
/// space of their own, in which they lie dense, one behind the other; so both are bytes of a space
/// of places, and are cut into pieces, packed and sent alike.
class Share {
public:
    Share() = default;
    /// Bytes of a space.
    Share(const Space& whole, std::vector<Extent> extents)
        : whole_(&whole), seen_(&whole), extents_(std::move(extents)) {}
    /// Boxes, one or none of each place. With `own_file` they are padded as variables of a file of
    /// their own; else the padding goes with the last element of a place.
    Share(const Space& whole, std::span<const std::optional<Box>> boxes, bool own_file);

    /// The places as the writer sees them; those of which it owns nothing are empty.
    const Space& space() const { return *seen_; }
    /// Its bytes in space(), ascending.
    const std::vector<Extent>& extents() const { return extents_; }
    /// Whether space() holds boxes, and not the places as they are.
    bool boxed() const { return boxes_ != nullptr; }
    /// Whether they are written to a file of their own.
    bool own_file() const { return own_file_; }

    /// A box of a place of space(), in the place's own indices.
    Box placed(std::size_t place, Box box) const;
    /// Row-major position in a place of space() of an element that is given in own indices.
    std::int64_t position(std::size_t place, Index at) const;
    /// From the first to behind the last of some elements of space(), in the place's own positions.
    ElementRange reach(std::size_t place, ElementRange range) const;
    /// What of elements of the place is in space(), where they lie side by side, too.
    ElementRange within(std::size_t place, ElementRange range) const;

private:
    const Space* whole_ = nullptr;
    const Space* seen_ = nullptr;
    std::shared_ptr<const Space> boxes_;  ///< null: the places are seen as they are
    std::vector<Index> low_;              ///< of each box
    bool own_file_ = false;
    std::vector<Extent> extents_;
};

class Layout {
public:
    explicit Layout(int writers) : writers_(writers) {}
    virtual ~Layout() = default;
    virtual const char* name() const = 0;

    int writers() const { return writers_; }

    /// What writer w owns of a space that lies at byte `base` of the file. A writer beyond the
    /// layout's number owns nothing. The space has to outlive the share.
    virtual Share share(int w, const Space& space, std::int64_t base) const = 0;

    /// What writer w may own of a space, wherever in the file it lies; more is allowed.
    virtual Share reach(int w, const Space& space) const { return share(w, space, 0); }

    /// Adds the writers that own elements of a box of a place, for any base; a superset is allowed.
    virtual void add_writers(const Space& space, std::size_t place, const Box& box,
                             std::set<int>& writers) const = 0;

private:
    int writers_;
};

/// One writer owns everything: today's gather on one rank (CAM fig. 1; CMAQ rnetCDF; MOM5 SIO).
std::unique_ptr<Layout> make_serial_layout();

/// Each writer owns a range of the slowest dimension of every variable ("z-decomposition", CAM's
/// ZioLib).
std::unique_ptr<Layout> make_slabs_layout(int writers);

/// Each writer owns one contiguous range of the whole space, across variables, whose ends in the
/// file are multiples of `alignment` bytes.
std::unique_ptr<Layout> make_record_layout(int writers, std::int64_t alignment);

/// The bytes of a space's places for which wanted(i) holds, adjacent ones joined. Between two
/// wanted places that touch there is no gap; a gap of unwanted bytes separates.
std::vector<Extent> extents_of(const Space& space, const std::vector<char>& wanted);

/// The common part of two ascending lists.
std::vector<Extent> intersect(std::span<const Extent> a, std::span<const Extent> b);

}  // namespace thalweg::detail
