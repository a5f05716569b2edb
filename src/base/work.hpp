// Reports work to a simulation, whose clock does not see it, or to a test that counts copies. In
// other programs, these calls do nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#ifdef THALWEG_SIMULATED
#include <memory>
#endif

#ifndef THALWEG_SIMULATED
/// Counts elements or bytes that the library copies. A test may define this function, which is null
/// in other programs. Any thread may call it.
extern "C" [[gnu::weak]] void thalweg_count_copies(std::int64_t elements, std::int64_t bytes);
#endif

namespace thalweg::detail {

/// Numbers of elements and runs that are copied for a list.
struct CopiedRuns {
    std::int64_t elements = 0, runs = 0;
};

#ifdef THALWEG_SIMULATED

/// Informs a simulation that a rank has looked for messages without finding one, for the n-th time
/// in succession.
void charge_poll(int n);

/// Informs a simulation that a rank changes a word of shared memory that other ranks change, too.
void charge_update(const void* word);

/// Informs a simulation that a box of elements is copied between arrays, messages or buffers.
/// @param count  number of elements along each dimension
/// @return true if the caller must copy the data; a simulation may keep none
bool charge_copy(std::span<const std::int64_t> count);

/// Informs a simulation that the elements of a list inside a box are copied.
/// @return as charge_copy()
bool charge_list(const CopiedRuns& copied);
/// Informs a simulation as charge_list() does. In a program that is not simulated, `count` is not
/// called, so that counting takes no time.
/// @param count  function that counts the runs, and returns CopiedRuns
template <class Count>
bool charge_runs(Count&& count) {
    return charge_list(count());
}

/// Informs a simulation that bytes are copied as they are.
inline void charge_bytes(std::int64_t bytes) {
    const std::int64_t words = bytes / 8;
    (void)charge_copy({&words, 1});
}

/// Tests if memory must be allocated before it is used. In a simulation, hardly any of it may ever
/// be used.
bool touches_memory();

/// Informs a simulation that a file is opened for reading.
void charge_open();

/// Collects the ranges of a file that one call of a storage driver reads. Informs a simulation of
/// them at the end of the scope.
class ChargedReads {
public:
    explicit ChargedReads(const std::string& path);
    ~ChargedReads();
    ChargedReads(const ChargedReads&) = delete;
    ChargedReads& operator=(const ChargedReads&) = delete;
    void add(std::int64_t at, std::int64_t bytes);

private:
    struct State;
    std::unique_ptr<State> state_;
};

#else

inline void charge_poll(int) {}
inline void charge_update(const void*) {}
inline bool charge_copy(std::span<const std::int64_t> count) {
    if (thalweg_count_copies == nullptr) return true;
    std::int64_t elements = 1;
    for (const std::int64_t n : count) elements *= n;
    thalweg_count_copies(elements, 0);
    return true;
}
template <class Count>
bool charge_runs(Count&& count) {
    if (thalweg_count_copies != nullptr) thalweg_count_copies(count().elements, 0);
    return true;
}
inline void charge_bytes(std::int64_t bytes) {
    if (thalweg_count_copies != nullptr) thalweg_count_copies(0, bytes);
}
constexpr bool touches_memory() { return true; }
inline void charge_open() {}

class ChargedReads {
public:
    explicit ChargedReads(const std::string&) {}
    void add(std::int64_t, std::int64_t) {}
};

#endif

}  // namespace thalweg::detail
