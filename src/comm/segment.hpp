// Memory that one process makes alone and others of its machine map when they need it; nobody has
// to wait for anybody, and nothing of it outlives the processes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/comm.hpp"

namespace thalweg::detail {

/// By what another process finds a segment.
struct SegmentName {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::int64_t bytes = 0;
    /// Random: tells it from one of the same numbers in another container, or on another machine
    /// that MPI takes for this one.
    std::int64_t token = 0;
};

class Segment : public Memory {
public:
    /// Zeroed memory. With `touch` its pages are there already: touching them first costs several
    /// times the copy into them.
    static std::unique_ptr<Segment> make(std::size_t bytes, bool touch, Status& status);
    /// The memory of another process, or of this one.
    static std::unique_ptr<Segment> map(const SegmentName& name, Status& status);

    ~Segment() override;
    Segment(const Segment&) = delete;
    Segment& operator=(const Segment&) = delete;

    const SegmentName& name() const { return name_; }
    /// Makes the pages of a part be there already. @return false without the memory for them
    bool touch(std::size_t offset, std::size_t bytes);

private:
    Segment() = default;
    bool owner_ = true;  ///< made it
    bool own_ = false;   ///< memory of this process, which its segments have in common
    SegmentName name_;
};

/// What the ranks of a node call their segments, by place in the node. Throws NoMemoryAnywhere on
/// all of them, if one has no memory for it. @note Collective over the node
std::vector<SegmentName> share_names(Comm& node, const SegmentName& mine);

/// A segment of each rank of a node, mapped by all of them: by place in the node, null where a rank
/// gives 0 bytes. @return this rank's own status; the caller lets the ranks agree
/// @note Collective over the node
Status share_segments(Comm& node, std::size_t bytes, bool touch,
                      std::vector<std::unique_ptr<Segment>>& segments);

}  // namespace thalweg::detail
