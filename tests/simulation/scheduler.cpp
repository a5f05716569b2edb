// SPDX-License-Identifier: Apache-2.0
#include "simulation/scheduler.hpp"

#include <algorithm>
#include <cstdio>

namespace simulation {

Scheduler* scheduler = nullptr;
thread_local Actor* self = nullptr;

Scheduler::Scheduler(std::uint64_t seed, std::function<void()> out_of_work)
    : random_(seed), out_of_work_(std::move(out_of_work)) {
    sem_init(&all_ended_, 0, 0);
}

Actor* Scheduler::add(int rank) {
    auto made = std::make_unique<Actor>();
    made->id = static_cast<int>(actors_.size());
    made->rank = rank;
    sem_init(&made->baton, 0, 0);
    // Only some threads are slow: with longer delays, polling threads would take too many steps.
    if (random_.percent(20)) made->slowness = random_.pick<double>({1e-4, 1e-3, 1e-2});
    actors_.push_back(std::move(made));
    return actors_.back().get();
}

void Scheduler::enter(Actor* actor) {
    while (sem_wait(&actor->baton) != 0) {
    }
    self = actor;
}

void Scheduler::leave() {
    Actor* const me = self;
    self = nullptr;
    me->ended = true;
    wake(me, -1);
    const bool all =
        std::all_of(actors_.begin(), actors_.end(), [](const auto& a) { return a->ended; });
    sem_post(all ? &all_ended_ : &choose()->baton);
}

void Scheduler::run() {
    sem_post(&choose()->baton);
    while (sem_wait(&all_ended_) != 0) {
    }
}

Actor* Scheduler::choose() {
    for (;;) {
        std::vector<Actor*> able;
        double next = forever;
        for (const auto& a : actors_) {
            if (a->ended || a->dead) continue;
            if (a->waits_for != nullptr && a->until <= now_) a->waits_for = nullptr;
            if (a->waits_for == nullptr)
                able.push_back(a.get());
            else
                next = std::min(next, a->until);
        }
        if (able.empty()) {
            if (next == forever) out_of_work_();
            now_ = next;
            continue;
        }
        Actor* const chosen =
            able[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(able.size())))];
        if (chosen->slowness > 0 && random_.percent(10)) {
            chosen->waits_for = chosen;
            chosen->until =
                now_ + chosen->slowness * static_cast<double>(random_.between(1, 100)) / 100;
            continue;
        }
        ++steps_;
        hash_ = mix(hash_, static_cast<std::uint64_t>(chosen->id));
        return chosen;
    }
}

void Scheduler::step() {
    Actor* const me = self;
    if (on_step) on_step(steps_);
    if (me->dead) me->waits_for = me;
    Actor* const next = choose();
    if (next == me) return;
    sem_post(&next->baton);
    enter(me);
}

bool Scheduler::wait(const void* key, double until) {
    Actor* const me = self;
    me->waits_for = key;
    me->until = until;
    me->woken = false;
    step();
    me->until = forever;
    return me->woken;
}

void Scheduler::wake(const void* key, int most) {
    for (const auto& a : actors_) {
        if (most == 0) return;
        if (a->ended || a->waits_for != key) continue;
        a->waits_for = nullptr;
        a->woken = true;
        --most;
    }
}

void Scheduler::pass(double seconds) {
    const double until = now_ + seconds;
    while (now_ < until) wait(self, until);
}

double Scheduler::look_at_clock() {
    now_ += 1e-6;
    if (random_.percent(5)) step();
    return now_;
}

std::string Scheduler::describe() const {
    std::string text;
    for (const auto& a : actors_) {
        char line[120];
        std::snprintf(line, sizeof line, "thread %d of rank %d: %s\n", a->id, a->rank,
                      a->ended       ? "ended"
                      : a->dead      ? "dead"
                      : a->waits_for ? "waits"
                                     : "can run");
        text += line;
    }
    return text;
}

}  // namespace simulation
