// What each writer owns of a file, in file order: the methods of the papers, one small file each.
// Computed for any writer without asking anyone.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace thalweg {

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
};

/// A part of the file in which variables lie one after another: the fixed-size ones, or one record.
struct Space {
    std::vector<Place> places;  ///< in ascending order of offset
    std::int64_t bytes = 0;

    /// First place that ends after the byte.
    std::size_t place_at(std::int64_t byte) const;
    /// The place of a variable that is in the space.
    std::size_t place_of(int variable) const;
    /// The largest element boundary not after the byte.
    std::int64_t element_boundary(std::int64_t byte) const;
};

class Layout {
public:
    explicit Layout(int writers) : writers_(writers) {}
    virtual ~Layout() = default;
    virtual const char* name() const = 0;

    int writers() const { return writers_; }

    /// What writer w owns of a space that lies at byte `base` of the file; ascending.
    virtual std::vector<Extent> share(int w, const Space& space, std::int64_t base) const = 0;

    /// First and last writer that may own bytes of a range within one place, for any base.
    virtual std::pair<int, int> writers_of(const Space& space, std::size_t place,
                                           Extent range) const = 0;

private:
    int writers_;
};

/// One writer owns everything: today's gather on one rank (CAM fig. 1; CMAQ rnetCDF; MOM5 SIO).
std::unique_ptr<Layout> make_serial_layout();

/// Each writer owns a contiguous range of the slowest dimension of every variable
/// ("z-decomposition", CAM's ZioLib).
std::unique_ptr<Layout> make_slabs_layout(int writers);

/// Each writer owns one contiguous range of the whole space, across variables, whose ends in the
/// file are multiples of `alignment` bytes.
std::unique_ptr<Layout> make_record_layout(int writers, std::int64_t alignment);

/// The bytes of a space's places for which wanted(i) holds, adjacent ones joined. Between two
/// wanted places that touch there is no gap; a gap of unwanted bytes separates.
std::vector<Extent> extents_of(const Space& space, const std::vector<char>& wanted);

/// The common part of two ascending lists.
std::vector<Extent> intersect(std::span<const Extent> a, std::span<const Extent> b);

}  // namespace thalweg
