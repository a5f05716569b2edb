// Services that work on units: a model rank publishes what it has put, and others write it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/team.hpp"
#include "layout/grid.hpp"
#include "service/queue/outbox.hpp"
#include "storage/spaces.hpp"

namespace thalweg::detail {

/// What such a service needs to know of a file; definitions stay where they are.
struct ServicePlan {
    std::string path, data_path;  ///< path: for messages
    int serial = 0;               ///< of the file in its session
    const Definitions* definitions = nullptr;
    std::vector<char> whole;                   ///< of each variable: the ranks hold every element
    std::shared_ptr<const PackedBoxes> boxes;  ///< of this rank
    LayoutChoice layout;
    std::string storage;
    StorageOptions options;
    FileMap map;  ///< of a file that is there
    std::int64_t piece = 2 << 20;
    std::int64_t queue = 0;                ///< bytes a rank
    std::int64_t queue_limit = INT64_MAX;  ///< bytes of it above which units wait for earlier ones
    bool queue_grows = false;              ///< they take no memory before they are used
    bool queue_inline = false;             ///< who finds the queue full writes
    bool durable = false;
};

/// A model rank's end of it.
class Publisher {
public:
    virtual ~Publisher() = default;

    Outbox& outbox() { return *outbox_; }
    /// Publishes the open unit. See Outbox::publish. @note Collective where collective() is true
    virtual bool publish(Parcel& parcel, std::int64_t keep = -1) = 0;
    /// A failure of this rank: the writers hear of it, and from them all ranks.
    virtual void fail(const Status& status) { outbox_->region().fail(status); }
    /// Of the file, as far as this rank can know now.
    virtual Status known_failure() { return outbox_->failure(); }
    /// This rank enters a call in which all ranks meet: see Outbox::meet.
    virtual void meet() { outbox_->meet(); }
    /// Whether ranks exchange messages when they publish; then they agree beforehand.
    virtual bool collective() const { return false; }
    /// Waits until all that all ranks published is on disk and its records are counted; with
    /// `durable`, for good. @return the same on every rank @note Collective
    virtual Status finish(bool durable) = 0;
    /// After finish(): completes the file under the name that it has.
    /// @return the same on every rank @note Collective
    virtual Status close(bool good, const LateAttributes& late) = 0;
    /// What this rank's writer has written, or what its servers have.
    virtual WriteCounts counts() const = 0;
    /// Of the file, as far as this rank knows after finish(): some rank knows all.
    virtual std::int64_t records() const = 0;
    virtual int writers() const = 0;

protected:
    std::unique_ptr<Outbox> outbox_;
};

}  // namespace thalweg::detail
