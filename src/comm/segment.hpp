// Shared memory that one process allocates by itself, and that other processes of its machine map
// when they need it. No process waits for another. The memory is freed when the last process ends.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "comm/comm.hpp"

namespace thalweg::detail {

/// The name by which another process finds a segment.
struct SegmentName {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::int64_t bytes = 0;
    /// Random number. Distinguishes this segment from one with the same numbers in another
    /// container, or on another machine that MPI takes for this one.
    std::int64_t token = 0;
};

class Segment : public Memory {
public:
    /// Allocates zeroed memory. With `touch`, all pages are provided at once: their first touch
    /// takes several times as long as copying into them.
    static std::unique_ptr<Segment> make(std::size_t bytes, bool touch, Status& status);
    /// Maps the memory of another process, or of this one.
    static std::unique_ptr<Segment> map(const SegmentName& name, Status& status);

    ~Segment() override;
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;

    const SegmentName& name() const { return name_; }
    bool touch(std::size_t offset, std::size_t bytes) override;
    void map(std::size_t offset, std::size_t bytes) override;

private:
    Segment() = default;
    bool advise(std::size_t offset, std::size_t bytes, int advice);
    bool owner_ = true;  ///< this process has made the memory
    bool own_ = false;   ///< memory of this process, shared by its Segment objects
    SegmentName name_;
};

/**
 * Makes a segment that all ranks of a node map.
 * @param bytes  those of the node's first rank count
 * @param unite  combines words of the node's ranks by bitwise or. Given by std::ref, which takes no
 *               memory
 * @return null, on all of them alike, if there is not enough memory
 * @note Collective over the node
 */
std::unique_ptr<Memory> share_segment(int place, int ranks, std::size_t bytes,
                                      const std::function<void(std::span<std::int64_t>)>& unite);

/// Gathers the names of the segments of a node's ranks, sorted by place in the node.
/// @note Collective over the node
std::vector<SegmentName> share_names(Comm& node, const SegmentName& mine);

/// Makes a segment of each rank of a node, which all of them map; sorted by place in the node, null
/// for a rank that passes 0 bytes.
/// @return this rank's own status; the caller lets the ranks agree
/// @note Collective over the node
Status share_segments(Comm& node, std::size_t bytes,
                      std::vector<std::unique_ptr<Segment>>& segments);

}  // namespace thalweg::detail
