// Service "background": the ranks that write do it on a thread, which makes no MPI calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/thread.hpp"
#include "base/trace.hpp"
#include "service/queue/desk.hpp"
#include "service/queue/publisher.hpp"

namespace thalweg::detail {

/// Of a session: the thread of this rank, and the word on which the threads of a node sleep.
class Background {
public:
    /// @param lane  for what the thread does; may be null, else outlives this
    /// @note Collective
    static std::unique_ptr<Background> make(Team& team, Status& status, TraceLane* lane = nullptr);
    ~Background();

    Word& doorbell() { return *reinterpret_cast<Word*>(memory_->data()); }
    /// Fails if there can be no thread.
    Status add(std::shared_ptr<Desk> desk);
    void remove(const std::shared_ptr<Desk>& desk);

private:
    void run();

    std::unique_ptr<Memory> memory_;
    TraceLane* lane_ = nullptr;
    std::mutex lock_;
    std::vector<std::shared_ptr<Desk>> desks_;
    WaitingThread thread_;
    std::atomic<bool> stop_{false};
};

/// @param writers  ranks, in the order of the layout's writers
/// @param storage  made and open on this rank
/// @param spare    memory for the queue; gets it back when the file is closed. May be null
/// @note Collective; the status is the same on every rank
std::unique_ptr<Publisher> make_background_file(Team& team, Background& background,
                                                const ServicePlan& plan, const FileMap& map,
                                                const std::vector<int>& writers, Storage& storage,
                                                std::unique_ptr<Segment>& spare, Status& status);

}  // namespace thalweg::detail
