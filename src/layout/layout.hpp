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

/// A range of bytes [begin, end), counted from the beginning of a space.
struct Extent {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
};

/// The position and size of a variable in a space.
struct VariableSlot {
    int variable = 0;          ///< number in the file's definitions
    std::int64_t offset = 0;   ///< offset of its first byte in the space
    std::int64_t bytes = 0;    ///< size in bytes without padding
    std::int64_t padded = 0;   ///< size in bytes including the format's padding
    std::int64_t element = 1;  ///< bytes of one element
    std::vector<std::int64_t> shape;
    std::vector<int> dims{};  ///< numbers of its dimensions in the file's definitions
    /// Unit of division in bytes, a multiple of the element size; 0: one element. All bytes between
    /// two multiples of it have the same writer.
    std::int64_t grain = 0;
};

/// A contiguous part of the file that is divided among writers: all fixed-size variables, or one
/// record of all record variables.
struct FileSection {
    std::vector<VariableSlot> places;    ///< sorted by offset
    std::vector<std::size_t> places_of;  ///< for place_of()
    std::int64_t bytes = 0;
    std::int64_t grain = 0;  ///< largest_grain(), in a space of make_space()
    bool padded = true;  ///< the format pads variables; false if a record consists of one variable

    /// Returns the index of the first place that ends after a given byte.
    std::size_t place_at(std::int64_t byte) const;
    /// Returns the index of the place of a variable, which must be in the space. Only for a space
    /// of make_space().
    std::size_t place_of(int variable) const { return places_of[variable]; }
    /// Returns the last boundary between elements that is not after a given byte.
    std::int64_t element_boundary(std::int64_t byte) const;
    /// Returns the last position, not after a given byte, at which a share may end.
    std::int64_t share_boundary(std::int64_t byte) const;
    /// Returns the largest possible distance between share_boundary(byte) and `byte`.
    std::int64_t largest_grain() const;

private:
    std::int64_t boundary(std::int64_t byte, bool of_share) const;
};

/// A range [begin, end) of the elements of a place, in row-major order.
struct ElementRange {
    std::int64_t begin = 0, end = 0;
};

/// The part of a space that a writer owns: ranges of bytes, or one box of each place. For a share
/// of boxes there is a second space, in which the boxes follow each other. Both kinds of share are
/// thus sequences of bytes in some space, and are divided into pieces, packed and sent alike.
class Share {
public:
    Share() = default;
    /// Makes a share of ranges of bytes in the space `whole`.
    Share(const FileSection& whole, std::vector<Extent> extents)
        : whole_(&whole), seen_(&whole), extents_(std::move(extents)) {}
    /// Makes a share of boxes, at most one for each place. With `own_file`, each box is padded like
    /// a variable in a file. Otherwise a box includes the padding of its place if it contains the
    /// last element.
    Share(const FileSection& whole, std::span<const std::optional<Box>> boxes, bool own_file);

    /// Returns the space of the share: for ranges the whole space, for boxes the space in which
    /// only the boxes follow each other. A place of which the writer owns nothing is empty.
    const FileSection& space() const { return *seen_; }
    /// Returns the writer's ranges of bytes in space(), sorted.
    const std::vector<Extent>& extents() const { return extents_; }
    /// Tests if space() contains boxes instead of whole places.
    bool boxed() const { return boxes_ != nullptr; }
    /// Tests if the boxes are written to a separate file.
    bool own_file() const { return own_file_; }

    /// Converts the indices of a box from a place in space() to those of the whole place.
    Box placed(std::size_t place, Box box) const;
    /// Converts an element's indices in the whole place to its row-major position in a place of
    /// space().
    std::int64_t position(std::size_t place, Index at) const;
    /// Returns the smallest range of elements of the whole place that contains a given range of
    /// elements of space().
    ElementRange reach(std::size_t place, ElementRange range) const;
    /// Returns the elements of a range of the whole place that space() contains. In space(), they
    /// are contiguous.
    ElementRange within(std::size_t place, ElementRange range) const;

private:
    const FileSection* whole_ = nullptr;
    const FileSection* seen_ = nullptr;
    /// Space of the boxes; null if the share consists of ranges.
    std::shared_ptr<const FileSection> boxes_;
    std::vector<Index> low_;  ///< lowest index of each box
    bool own_file_ = false;
    std::vector<Extent> extents_;
};

class Layout {
public:
    explicit Layout(int writers) : writers_(writers) {}
    virtual ~Layout() = default;

    int writers() const { return writers_; }

    /// Returns the share of writer w in a space that begins at byte `base` of the file. It is empty
    /// if w is writers() or more. The space must outlive the share.
    virtual Share share(int w, const FileSection& space, std::int64_t base) const = 0;

    /// Returns a share that contains that of writer w, wherever in the file the space begins. It
    /// may be larger.
    virtual Share reach(int w, const FileSection& space) const { return share(w, space, 0); }

    /// Adds the writers that own elements of a box of a place, wherever in the file the space
    /// begins. May add other writers.
    virtual void add_writers(const FileSection& space, std::size_t place, const Box& box,
                             std::set<int>& writers) const = 0;

private:
    int writers_;
};

/// Makes a layout in which each writer owns a range of the slowest dimension of every variable
/// ("z-decomposition", CAM's ZioLib).
std::unique_ptr<Layout> make_slabs_layout(int writers);

/// Makes a layout in which each writer owns one contiguous range of the whole space, across
/// variables. In the file, ranges begin and end at multiples of `alignment` bytes. With one writer,
/// everything is gathered to one rank (CAM fig. 1; CMAQ rnetCDF; MOM5 SIO).
/// @param part  if it is not 0, the writers take turns after about this many bytes, whatever the
///              alignment: all have work if only some variables of a record are written at a time
std::unique_ptr<Layout> make_record_layout(int writers, std::int64_t alignment,
                                           std::int64_t part = 0);

/// Returns the ranges of bytes of the places for which wanted[i] is not 0, with adjacent ranges
/// joined. Padding between two wanted places is included.
std::vector<Extent> extents_of(const FileSection& space, const std::vector<char>& wanted);

/// Returns the ranges that two sorted lists have in common.
std::vector<Extent> intersect(std::span<const Extent> a, std::span<const Extent> b);

}  // namespace thalweg::detail
