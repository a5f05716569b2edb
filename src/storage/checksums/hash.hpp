// Checksums of bytes: XXH3-128 in its canonical form.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace thalweg::detail {

using Sum = std::array<unsigned char, 16>;

/// Marks a piece for which no checksum was written.
inline constexpr Sum no_sum{};
/// Marks a piece that was written in parts: its checksum is unknown until the piece is read again.
inline constexpr Sum open_sum = [] {
    Sum sum;
    sum.fill(0xFF);
    return sum;
}();

Sum sum_of(const char* data, std::int64_t bytes);
/// Formats a checksum as 32 hexadecimal digits.
std::string text_of(const Sum& sum);

/// Computes the checksum of bytes that are passed in several parts.
class SumStream {
public:
    SumStream();
    ~SumStream();
    SumStream(const SumStream&) = delete;
    SumStream& operator=(const SumStream&) = delete;

    void begin();
    void add(const char* data, std::int64_t bytes);
    Sum end() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace thalweg::detail
