// Threads of the library in a simulation: in place of src/base/system/thread.cpp. Threads whose
// waits can be simulated are actors on the node of their rank; there are no others.
// SPDX-License-Identifier: Apache-2.0
#include "base/system/thread.hpp"

#include <simgrid/s4u.hpp>
#include <utility>

#include "counters/heap.hpp"

namespace thalweg::detail {

namespace sg4 = simgrid::s4u;

Status start_thread(std::thread&, std::function<void()>, const char* task) {
    return failure(TW_EUNSUPPORTED, "a thread that {} cannot be simulated", task);
}

struct WaitingThread::State {
    sg4::ActorPtr actor;
};

WaitingThread::WaitingThread() = default;
WaitingThread::~WaitingThread() = default;

Status WaitingThread::start(std::function<void()> run, const char*) {
    const scale::HeapPause pause;
    state_ = std::make_unique<State>();
    state_->actor = sg4::Actor::create("thalweg", sg4::Host::current(), std::move(run));
    return {};
}

void WaitingThread::join() {
    if (!state_) return;
    const scale::HeapPause pause;
    state_->actor->join();
    state_.reset();
}

struct WaitingLock::State {
    sg4::MutexPtr mutex;
};

WaitingLock::WaitingLock() : state_(std::make_unique<State>()) {
    const scale::HeapPause pause;
    state_->mutex = sg4::Mutex::create();
}
WaitingLock::~WaitingLock() = default;
void WaitingLock::lock() { state_->mutex->lock(); }
bool WaitingLock::try_lock() { return state_->mutex->try_lock(); }
void WaitingLock::unlock() { state_->mutex->unlock(); }

}  // namespace thalweg::detail
