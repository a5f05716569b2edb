// operator new and delete of the whole process, which count by rank. They are in the library of the
// counters, not in the library under test.
// SPDX-License-Identifier: Apache-2.0
#include "heap.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <simgrid/s4u.hpp>

namespace {

using thalweg::scale::Heap;

/// Head before each block of memory; its size keeps the block aligned.
struct alignas(16) Head {
    std::int64_t bytes;
    std::int64_t process;  ///< process that owns the block; 0: not counted
};

constexpr std::size_t most_processes = 1 << 17;

Heap& heap_of(std::int64_t process) {
    static std::array<Heap, most_processes> all;
    return all[static_cast<std::size_t>(process)];
}

/// Returns the number of the simulated process that runs, from 1; 0 outside of processes.
std::int64_t this_process() {
    const auto* const actor = simgrid::s4u::Actor::self();
    const long process = actor == nullptr ? 0 : actor->get_pid();
    return process > 0 && process < static_cast<long>(most_processes) ? process : 0;
}

void* allocate(std::size_t bytes) {
    auto* const head = static_cast<Head*>(std::malloc(sizeof(Head) + bytes));
    if (head == nullptr) return nullptr;
    std::int64_t process = this_process();
    if (process != 0 && heap_of(process).paused > 0) process = 0;
    *head = {static_cast<std::int64_t>(bytes), process};
    if (process != 0) {
        Heap& heap = heap_of(process);
        heap.now += head->bytes;
        heap.most = std::max(heap.most, heap.now);
    }
    return head + 1;
}

void release(void* block) {
    if (block == nullptr) return;
    Head* const head = static_cast<Head*>(block) - 1;
    if (head->process != 0) heap_of(head->process).now -= head->bytes;
    std::free(head);
}

}  // namespace

extern "C" Heap* scale_heap() { return &heap_of(this_process()); }

void* operator new(std::size_t bytes) {
    void* const block = allocate(bytes);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* block) noexcept { release(block); }
void operator delete[](void* block) noexcept { release(block); }
void operator delete(void* block, std::size_t) noexcept { release(block); }
void operator delete[](void* block, std::size_t) noexcept { release(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { release(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { release(block); }
