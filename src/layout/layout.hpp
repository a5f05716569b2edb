// The bytes of a file that each writer owns, in file order: the methods of the papers, one small
// file each. Computed for any writer without communication.
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

/// A range of bytes [begin, end), counted from the start of a space.
struct Extent {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
};

/// The place of a variable in a space.
struct Place {
    int variable = 0;          ///< number in the file's definitions
    std::int64_t offset = 0;   ///< offset of its first byte
    std::int64_t bytes = 0;    ///< size of its elements
    std::int64_t padded = 0;   ///< size including the format's padding
    std::int64_t element = 1;  ///< bytes of one element
    std::vector<std::int64_t> shape;
    std::vector<int> dims{};  ///< numbers of its dimensions in the file's definitions
    /// A multiple of the element size. The bytes between two multiples of it must have the same
    /// writer. 0: the element size.
    std::int64_t grain = 0;
};

/// A part of the file in which variables lie one after another: the fixed-size ones, or one record.
struct Space {
    std::vector<Place> places;  ///< ascending by offset
    std::int64_t bytes = 0;
    bool padded = true;  ///< the format pads variables; false if a record consists of one variable

    /// Returns the index of the first place that ends after the byte.
    std::size_t place_at(std::int64_t byte) const;
    /// Returns the index of the place of a variable, which must be in the space.
    std::size_t place_of(int variable) const;
    /// Returns the last element boundary that is not after the byte.
    std::int64_t element_boundary(std::int64_t byte) const;
    /// Returns the last byte, not after the given one, at which a share may end.
    std::int64_t share_boundary(std::int64_t byte) const;
    /// Returns the largest distance between share_boundary() and its argument.
    std::int64_t largest_grain() const;

private:
    std::int64_t boundary(std::int64_t byte, bool of_share) const;
};

/// A range [begin, end) of the elements of a place, in row-major order.
struct ElementRange {
    std::int64_t begin = 0, end = 0;
};

/// The part of a space that a writer owns: ranges of bytes, or one box of each place. A share of
/// boxes has a space of its own, in which the boxes lie one after another. So in both kinds a share
/// is a sequence of bytes of some space, and is cut into pieces, packed and sent in the same way.
class Share {
public:
    Share() = default;
    /// Makes a share of ranges of bytes.
    Share(const Space& whole, std::vector<Extent> extents)
        : whole_(&whole), seen_(&whole), extents_(std::move(extents)) {}
    /// Makes a share of boxes, at most one for each place. With `own_file`, they are padded like
    /// variables in a file; otherwise the padding belongs to the last element of a place.
    Share(const Space& whole, std::span<const std::optional<Box>> boxes, bool own_file);

    /// Returns the places as this writer sees them; places of which it owns nothing are empty.
    const Space& space() const { return *seen_; }
    /// Returns the writer's bytes in space(), ascending.
    const std::vector<Extent>& extents() const { return extents_; }
    /// Tests if space() holds boxes rather than whole places.
    bool boxed() const { return boxes_ != nullptr; }
    /// Tests if the boxes are written to a separate file.
    bool own_file() const { return own_file_; }

    /// Converts a box in a place of space() to the indices of the whole place.
    Box placed(std::size_t place, Box box) const;
    /// Converts an element's indices in the whole place to its row-major position in a place of
    /// space().
    std::int64_t position(std::size_t place, Index at) const;
    /// Returns the smallest range of elements of the whole place that contains a range of elements
    /// of space().
    ElementRange reach(std::size_t place, ElementRange range) const;
    /// Returns the part of a range of elements of the whole place that is in space(), where it is
    /// contiguous as well.
    ElementRange within(std::size_t place, ElementRange range) const;

private:
    const Space* whole_ = nullptr;
    const Space* seen_ = nullptr;
    /// Null: the share consists of ranges, and the places are whole.
    std::shared_ptr<const Space> boxes_;
    std::vector<Index> low_;  ///< lowest index of each box
    bool own_file_ = false;
    std::vector<Extent> extents_;
};

class Layout {
public:
    explicit Layout(int writers) : writers_(writers) {}
    virtual ~Layout() = default;
    virtual const char* name() const = 0;

    int writers() const { return writers_; }

    /// Returns the share of writer w in a space that begins at byte `base` of the file. It is empty
    /// for a writer beyond the layout's number. The space must outlive the share.
    virtual Share share(int w, const Space& space, std::int64_t base) const = 0;

    /// Returns the share that writer w could have of a space, wherever in the file the space
    /// begins. The result may be larger.
    virtual Share reach(int w, const Space& space) const { return share(w, space, 0); }

    /// Adds the writers that own elements of a box of a place, wherever in the file the space
    /// begins. May add more.
    virtual void add_writers(const Space& space, std::size_t place, const Box& box,
                             std::set<int>& writers) const = 0;

private:
    int writers_;
};

/// Makes a layout with one writer that owns everything: a gather on one rank (CAM fig. 1; CMAQ
/// rnetCDF; MOM5 SIO).
std::unique_ptr<Layout> make_serial_layout();

/// Makes a layout in which each writer owns a range of the slowest dimension of every variable
/// ("z-decomposition", CAM's ZioLib).
std::unique_ptr<Layout> make_slabs_layout(int writers);

/// Makes a layout in which each writer owns one contiguous range of the whole space, across
/// variables, whose ends in the file are multiples of `alignment` bytes.
std::unique_ptr<Layout> make_record_layout(int writers, std::int64_t alignment);

/// Returns the bytes of the places for which wanted(i) is true, with adjacent ones joined. Padding
/// between two wanted places is included; unwanted places are not.
std::vector<Extent> extents_of(const Space& space, const std::vector<char>& wanted);

/// Returns the common part of two ascending lists.
std::vector<Extent> intersect(std::span<const Extent> a, std::span<const Extent> b);

}  // namespace thalweg::detail
