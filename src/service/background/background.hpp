// Service "background": the writers' threads write, and make no MPI calls.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "base/system/thread.hpp"
#include "base/trace.hpp"
#include "service/queue/rank/publisher.hpp"
#include "service/queue/writer/unit_writer.hpp"

namespace thalweg::detail {

/// The background thread of this rank in a session, and the word on which the threads of its node
/// sleep.
class Background {
public:
    /// @param lane  trace of the thread's events; may be null, otherwise it must outlive this
    ///              object
    /// @note Collective
    static std::unique_ptr<Background> make(Team& team, Status& status, TraceLane* lane = nullptr);
    ~Background();

    Futex& doorbell() { return *reinterpret_cast<Futex*>(memory_->data()); }
    /// Adds a file's queue. Fails if no thread can be started.
    Status add(std::shared_ptr<UnitWriter> unit_writer);
    void remove(const std::shared_ptr<UnitWriter>& unit_writer);

private:
    void run();

    std::unique_ptr<Memory> memory_;
    TraceLane* lane_ = nullptr;
    std::mutex lock_;
    std::vector<std::shared_ptr<UnitWriter>> unit_writers_;
    WaitingThread thread_;
    std::atomic<bool> stop_{false};
};

/// @param writers  ranks, in the order of the layout's writers
/// @param storage  already created and open on this rank
/// @param spares   memories of queues that no file uses; see Publisher
/// @note Collective; the status is the same on every rank
std::unique_ptr<Publisher> make_background_file(Team& team, Background& background,
                                                const ServicePlan& plan, const FileMap& map,
                                                const std::vector<int>& writers, Storage& storage,
                                                SpareQueues& spares, Status& status);

}  // namespace thalweg::detail
