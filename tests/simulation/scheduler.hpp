// A deterministic scheduler: only one thread of the process runs at a time. Whenever it waits,
// locks, writes or reads the clock, a seed chooses the thread that runs next. Time is simulated.
//
// The library is unchanged: calls.cpp replaces the system calls by which threads wait, and those
// that change files.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <semaphore.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "system/random.hpp"

namespace simulation {

inline constexpr double forever = std::numeric_limits<double>::infinity();

/// A thread of the simulation.
struct Actor {
    int id = 0;
    int rank = 0;  ///< rank on whose behalf the thread works
    bool ended = false;
    bool dead = false;                ///< never runs again
    double slowness = 0;              ///< largest delay in seconds before the thread continues
    const void* waits_for = nullptr;  ///< null: the thread can run
    bool woken = false;
    double until = forever;  ///< simulated time at which the thread stops waiting
    sem_t baton{};
};

class Scheduler {
public:
    /// @param out_of_work  called if every thread waits for another one, or is dead; does not
    /// return
    Scheduler(std::uint64_t seed, std::function<void()> out_of_work);

    /// Registers a thread, which runs when its turn comes.
    Actor* add(int rank);
    /// Makes this thread run as an actor. Returns when the actor's turn comes.
    void enter(Actor* actor);
    /// Ends this thread's part.
    void leave();
    /// Lets the threads run, and returns when the last one has ended. Must not be called by one of
    /// them.
    void run();

    /// Permits another thread to run.
    void step();
    /// Waits for wake() with the same key, or until a simulated time. @return true if it was woken
    bool wait(const void* key, double until);
    void wake(const void* key, int most);
    /// Lets simulated time pass for this thread.
    void pass(double seconds);

    double now() const { return now_; }
    /// Returns the simulated time after a microsecond more. The time must pass, because a thread
    /// may look at the clock again and again until some time has passed.
    double look_at_clock();
    std::int64_t steps() const { return steps_; }
    /// Hash of all choices so far.
    std::uint64_t hash() const { return hash_; }
    Random& random() { return random_; }
    const std::vector<std::unique_ptr<Actor>>& actors() const { return actors_; }
    /// Describes the state of all threads.
    std::string describe() const;

    std::function<void(std::int64_t)> on_step;  ///< called with the number of each step

private:
    /// Chooses the next thread.
    Actor* choose();

    Random random_;
    std::function<void()> out_of_work_;
    std::vector<std::unique_ptr<Actor>> actors_;
    sem_t all_ended_{};
    double now_ = 0;
    std::int64_t steps_ = 0;
    std::uint64_t hash_ = 0;
};

/// The simulation of this process; null before it begins.
extern Scheduler* scheduler;
/// The actor of this thread; null outside the simulation, where all calls are the system's.
extern thread_local Actor* self;

}  // namespace simulation
