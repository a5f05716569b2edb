// Service "inline": what boxes and puts of any record need. Nothing is done before the ranks meet;
// then writers look at what the ranks of their node have put where it lies in these ranks' memory,
// get the parts of other nodes by messages, and write in the call.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "service/queue/composer.hpp"
#include "service/queue/publisher.hpp"

namespace thalweg::detail {

class BoxMessages final : public Publisher, private QueueWatcher {
public:
    /// @param writers  ranks, in the order of the layout's writers
    /// @param storage  open on this rank
    /// @param spare  memory for the queue, and where it goes afterwards
    BoxMessages(Team& team, const ServicePlan& plan, const FileMap& map, std::vector<int> writers,
                Storage& storage, std::unique_ptr<Segment>& spare);
    ~BoxMessages() override;

    /// Makes the queue, and tells what is in the file already. Local.
    /// @param filled, written  see Composer::go_on
    Status begin(std::int64_t records, std::vector<char> filled, std::vector<char> written);

    bool collective() const override { return true; }
    bool in_calls() const override { return true; }
    /// Cuts the unit into messages to the writers of other nodes. Local: finish() sends them.
    bool publish(Parcel& parcel, std::int64_t keep) override;
    Status finish(bool durable) override;
    Status close(bool good, const std::vector<std::pair<int, Attribute>>& late) override;
    WriteCounts counts() const override { return storage_.counts(); }
    int writers() const override { return writer_ranks_.size(); }
    std::int64_t waiting_bytes() const override;
    void note_written(std::span<const WholeVariable> whole, std::int64_t records) override;
    std::int64_t records() const override { return records_; }

private:
    /// A rank of a writer's node.
    struct Neighbour {
        std::unique_ptr<Segment> memory;
        Holdings holdings;
        std::int64_t next = 0;  ///< the first unit that the writer has not seen
    };

    bool help() override;
    void share_memory();
    Status map_memory(const std::vector<SegmentName>& names);
    void cut(const Parcel& packed, bool near);
    void cut_kept();
    void release_kept();
    Status send(std::vector<Packet>& received);
    void look_at(Neighbour& neighbour, std::vector<Parcel>& parcels) const;
    Status compose(const std::vector<Packet>& received);
    Status count(bool durable);

    Team& team_;
    ServicePlan plan_;
    Spaces spaces_;
    std::vector<int> writer_ranks_;
    Storage& storage_;
    std::unique_ptr<Layout> layout_;
    std::unique_ptr<Composer> composer_;  ///< on writers
    std::unique_ptr<Segment>& spare_;
    Word doorbell_{0};             ///< nobody sleeps on it
    std::vector<Packet> packets_;  ///< of each writer
    std::vector<char> near_;       ///< whether the writer is on this node
    std::vector<Parcel> kept_;     ///< published, not yet cut for the writers of this node
    std::int64_t kept_bytes_ = 0;
    bool asked_ = false;                 ///< whether memory can be shared
    bool shares_ = false;                ///< it can
    std::vector<Neighbour> neighbours_;  ///< on writers
    std::int64_t records_ = 0;           ///< of the file
    std::int64_t counted_ = 0;           ///< of them, in its header
    bool closed_ = false;
    Parcel fill_;  ///< the latest unit that asks for fill values, until finish(); else of kind step
};

}  // namespace thalweg::detail
