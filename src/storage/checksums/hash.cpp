// SPDX-License-Identifier: Apache-2.0
#include "storage/checksums/hash.hpp"

#include <fmt/core.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace thalweg::detail {

namespace {

Sum canonical(const XXH128_hash_t& hash) {
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, hash);
    return std::to_array(bytes.digest);
}

}  // namespace

struct SumStream::State {
    XXH3_state_t of;
};

SumStream::SumStream() : state_(std::make_unique<State>()) { XXH3_INITSTATE(&state_->of); }

SumStream::~SumStream() = default;

void SumStream::begin() { XXH3_128bits_reset(&state_->of); }

void SumStream::add(const char* data, std::int64_t bytes) {
    XXH3_128bits_update(&state_->of, data, bytes);
}

Sum SumStream::end() const { return canonical(XXH3_128bits_digest(&state_->of)); }

Sum sum_of(const char* data, std::int64_t bytes) { return canonical(XXH3_128bits(data, bytes)); }

std::string text_of(const Sum& sum) {
    std::string text;
    for (const unsigned char byte : sum) text += fmt::format("{:02x}", byte);
    return text;
}

}  // namespace thalweg::detail
