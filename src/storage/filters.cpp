// SPDX-License-Identifier: Apache-2.0
#include "storage/filters.hpp"

#include <libdeflate.h>
#include <zstd.h>

#include <array>
#include <cstring>
#include <new>

namespace thalweg {

namespace {

/// The loop over bytes inside is one that compilers turn into vector instructions.
template <int size>
void shuffle_elements(const char* from, std::int64_t elements, char* to) {
    constexpr std::int64_t block = 1024;
    for (std::int64_t begin = 0; begin < elements; begin += block) {
        const std::int64_t n = elements - begin < block ? elements - begin : block;
        for (int k = 0; k < size; ++k) {
            const char* source = from + begin * size + k;
            char* target = to + k * elements + begin;
            for (std::int64_t i = 0; i < n; ++i) target[i] = source[i * size];
        }
    }
}

}  // namespace

void shuffle(const char* from, std::int64_t elements, std::int64_t element, char* to) {
    switch (element) {
        case 2: return shuffle_elements<2>(from, elements, to);
        case 4: return shuffle_elements<4>(from, elements, to);
        case 8: return shuffle_elements<8>(from, elements, to);
        default: std::memcpy(to, from, static_cast<std::size_t>(elements * element));
    }
}

struct Compressor::Codecs {
    std::array<libdeflate_compressor*, 10> deflate{};
    ZSTD_CCtx* zstd = nullptr;
    ~Codecs() {
        for (libdeflate_compressor* c : deflate)
            if (c != nullptr) libdeflate_free_compressor(c);
        ZSTD_freeCCtx(zstd);
    }
};

Compressor::Compressor() : codecs_(std::make_unique<Codecs>()) {}
Compressor::~Compressor() = default;

FilteredChunk Compressor::apply(const Packing& packing, const char* data, std::int64_t elements,
                                std::int64_t element) {
    FilteredChunk chunk{data, elements * element, 0};
    const auto bytes = static_cast<std::size_t>(chunk.bytes);
    // HDF5 leaves elements of one byte as they are.
    if (packing.shuffle && element > 1) {
        shuffled_.resize(std::max(shuffled_.size(), bytes));
        shuffle(data, elements, element, shuffled_.data());
        chunk.data = shuffled_.data();
    }
    std::size_t packed = 0;
    if (packing.codec == Packing::Codec::deflate) {
        libdeflate_compressor*& c = codecs_->deflate[static_cast<std::size_t>(packing.level)];
        if (c == nullptr) c = libdeflate_alloc_compressor(packing.level);
        if (c == nullptr) throw std::bad_alloc();
        // What would not become shorter is left as it is.
        packed_.resize(std::max(packed_.size(), bytes));
        packed = libdeflate_zlib_compress(c, chunk.data, bytes, packed_.data(), bytes);
    } else if (packing.codec == Packing::Codec::zstd) {
        if (codecs_->zstd == nullptr) codecs_->zstd = ZSTD_createCCtx();
        if (codecs_->zstd == nullptr) throw std::bad_alloc();
        packed_.resize(std::max(packed_.size(), bytes));
        packed = ZSTD_compressCCtx(codecs_->zstd, packed_.data(), bytes, chunk.data, bytes,
                                   packing.level);
        if (ZSTD_isError(packed)) packed = 0;
    } else {
        return chunk;
    }
    if (packed == 0) {
        chunk.skipped = std::uint32_t(1) << (packing.shuffle ? 1 : 0);
        return chunk;
    }
    chunk.data = packed_.data();
    chunk.bytes = static_cast<std::int64_t>(packed);
    return chunk;
}

}  // namespace thalweg
