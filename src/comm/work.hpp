// Work that a simulation has to be told of, as its clock does not see it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#ifdef THALWEG_SIMULATED
#include <memory>
#endif

namespace thalweg::detail {

/// A rank has looked for messages, and found none for the n-th time in a row.
#ifdef THALWEG_SIMULATED
void charge_poll(int n);
#else
inline void charge_poll(int) {}
#endif

/// A box of elements is copied between arrays, messages or buffers.
/// @param count  of each dimension
#ifdef THALWEG_SIMULATED
void charge_copy(std::span<const std::int64_t> count);
#else
inline void charge_copy(std::span<const std::int64_t>) {}
#endif

/// A file is opened for reading.
#ifdef THALWEG_SIMULATED
void charge_open();
#else
inline void charge_open() {}
#endif

/// Ranges of a file that one call of a driver reads together, until it is destroyed.
#ifdef THALWEG_SIMULATED
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
class ChargedReads {
public:
    explicit ChargedReads(const std::string&) {}
    void add(std::int64_t, std::int64_t) {}
};
#endif

}  // namespace thalweg::detail
