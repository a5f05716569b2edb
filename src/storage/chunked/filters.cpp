// SPDX-License-Identifier: Apache-2.0
#include "storage/chunked/filters.hpp"

#include <hdf5.h>
#include <libdeflate.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "base/crc32c.hpp"

namespace thalweg::detail {

namespace {

/// Moves byte k of every element together, or with `back` to its element again. A constant `size`,
/// in bytes, lets the compiler vectorize the inner loop.
template <int size, bool back>
void shuffle_elements(const char* from, std::int64_t elements, char* to) {
    constexpr std::int64_t block = 1024;
    for (std::int64_t begin = 0; begin < elements; begin += block) {
        const std::int64_t n = elements - begin < block ? elements - begin : block;
        for (int k = 0; k < size; ++k) {
            const std::int64_t joined = begin * size + k, split = k * elements + begin;
            const char* source = from + (back ? split : joined);
            char* target = to + (back ? joined : split);
            for (std::int64_t i = 0; i < n; ++i)
                target[back ? i * size : i] = source[back ? i : i * size];
        }
    }
}

template <bool back>
void shuffle_any(const char* from, std::int64_t elements, std::int64_t element, char* to) {
    switch (element) {
        case 2: return shuffle_elements<2, back>(from, elements, to);
        case 4: return shuffle_elements<4, back>(from, elements, to);
        case 8: return shuffle_elements<8, back>(from, elements, to);
        default: std::memcpy(to, from, elements * element);
    }
}

constexpr std::int64_t sum_bytes = 4;  // bytes of the checksum that a filter appends

bool is_codec(std::int32_t id) {
    return id == H5Z_FILTER_DEFLATE || id == zstd_filter || id == gzip_filter;
}

/// Tests if a filter appends a checksum.
bool is_sum(std::int32_t id) { return id == H5Z_FILTER_FLETCHER32 || id == crc32c_filter; }

std::uint32_t sum_of(std::int32_t id, const char* data, std::int64_t bytes) {
    return id == crc32c_filter ? crc32c({data, static_cast<std::size_t>(bytes)})
                               : fletcher32(data, bytes);
}

/// Returns the filters that were applied to a chunk: all except those whose bit in `skipped` is
/// set.
std::vector<StoredFilter> applied(const std::vector<StoredFilter>& filters, std::uint32_t skipped) {
    std::vector<StoredFilter> result;
    for (std::size_t i = 0; i < filters.size(); ++i)
        if (i >= 32 || ((skipped >> i) & 1) == 0) result.push_back(filters[i]);
    return result;
}

}  // namespace

void shuffle(const char* from, std::int64_t elements, std::int64_t element, char* to) {
    shuffle_any<false>(from, elements, element, to);
}

void unshuffle(const char* from, std::int64_t elements, std::int64_t element, char* to) {
    shuffle_any<true>(from, elements, element, to);
}

/// Computes the sum of 16-bit words, each with its high byte first (RFC 1146). An odd byte at the
/// end counts as a high byte.
std::uint32_t fletcher32(const char* data, std::int64_t bytes) {
    const auto* at = reinterpret_cast<const unsigned char*>(data);
    std::uint64_t first = 0, second = 0;
    while (bytes > 0) {
        // The sums cannot overflow within 100000 words.
        std::int64_t words = std::min<std::int64_t>((bytes + 1) / 2, 100000);
        for (; words > 0; --words, at += 2, bytes -= 2) {
            first += std::uint64_t(at[0]) << 8 | (bytes > 1 ? at[1] : 0);
            second += first;
        }
        // In ones' complement arithmetic, a sum other than 0 never becomes 0.
        for (std::uint64_t* sum : {&first, &second})
            if (*sum > 0) *sum = (*sum - 1) % 65535 + 1;
    }
    return static_cast<std::uint32_t>(second << 16 | first);
}

std::vector<StoredFilter> filters_of(const Packing& packing, std::int64_t element) {
    std::vector<StoredFilter> filters;
    if (packing.shuffle)
        filters.push_back({H5Z_FILTER_SHUFFLE, static_cast<std::int32_t>(element)});
    if (packing.codec == Packing::Codec::deflate)
        filters.push_back({H5Z_FILTER_DEFLATE, 1, packing.level});
    if (packing.codec == Packing::Codec::zstd) filters.push_back({zstd_filter, 1, packing.level});
    return filters;
}

bool can_undo(const std::vector<StoredFilter>& filters) {
    int codecs = 0;
    for (const StoredFilter& f : filters) {
        codecs += is_codec(f.id);
        const bool known = is_codec(f.id) || is_sum(f.id) ||
                           (f.id == H5Z_FILTER_SHUFFLE &&
                            (f.element == 1 || f.element == 2 || f.element == 4 || f.element == 8));
        if (!known) return false;
    }
    // The file does not contain the length of the data between two codecs, so at most one codec can
    // be undone.
    return codecs < 2;
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

FilteredChunk Compressor::apply(const std::vector<StoredFilter>& filters, const char* data,
                                std::int64_t bytes) {
    FilteredChunk chunk{data, bytes};
    for (const StoredFilter& f : filters) {
        // HDF5 leaves elements of one byte as they are.
        if (f.id == H5Z_FILTER_SHUFFLE && f.element < 2) continue;
        std::vector<char>& to = chunk.data == one_.data() ? other_ : one_;
        const std::size_t n = apply_one(f, chunk, to);
        chunk = {to.data(), static_cast<std::int64_t>(n)};
    }
    return chunk;
}

/// @return size in bytes of the filter's output
std::size_t Compressor::apply_one(const StoredFilter& f, const FilteredChunk& from,
                                  std::vector<char>& to) {
    const std::size_t bytes = from.bytes;
    // Never shrink the vectors: growing them again would clear the memory, which takes time.
    const auto make_room = [&](std::size_t n) {
        if (to.size() < n) to.resize(n);
    };
    if (f.id == H5Z_FILTER_SHUFFLE) {
        make_room(bytes);
        const std::int64_t whole = from.bytes / f.element;
        shuffle(from.data, whole, f.element, to.data());
        // HDF5 leaves an incomplete element at the end as it is.
        std::copy(from.data + whole * f.element, from.data + bytes, to.data() + whole * f.element);
        return bytes;
    }
    if (is_sum(f.id)) {
        make_room(bytes + sum_bytes);
        std::copy(from.data, from.data + bytes, to.data());
        const std::uint32_t sum = sum_of(f.id, from.data, from.bytes);
        for (int i = 0; i < sum_bytes; ++i) to[bytes + i] = static_cast<char>(sum >> (8 * i));
        return bytes + sum_bytes;
    }
    if (f.id == H5Z_FILTER_DEFLATE || f.id == gzip_filter) {
        const bool gzip = f.id == gzip_filter;
        libdeflate_compressor*& c = codecs_->deflate[f.level];
        if (c == nullptr) c = libdeflate_alloc_compressor(f.level);
        if (c == nullptr) throw std::bad_alloc();
        make_room(gzip ? libdeflate_gzip_compress_bound(c, bytes)
                       : libdeflate_zlib_compress_bound(c, bytes));
        return (gzip ? libdeflate_gzip_compress : libdeflate_zlib_compress)(c, from.data, bytes,
                                                                            to.data(), to.size());
    }
    if (codecs_->zstd == nullptr) codecs_->zstd = ZSTD_createCCtx();
    if (codecs_->zstd == nullptr) throw std::bad_alloc();
    make_room(ZSTD_compressBound(bytes));
    const std::size_t packed =
        ZSTD_compressCCtx(codecs_->zstd, to.data(), to.size(), from.data, bytes, f.level);
    // The buffer is large enough for any data, so zstd can only have failed for lack of memory.
    if (ZSTD_isError(packed)) throw std::bad_alloc();
    return packed;
}

struct Decompressor::Codecs {
    libdeflate_decompressor* deflate = libdeflate_alloc_decompressor();
    ZSTD_DCtx* zstd = ZSTD_createDCtx();
    Codecs() = default;
    Codecs(const Codecs&) = delete;
    Codecs& operator=(const Codecs&) = delete;
    ~Codecs() {
        libdeflate_free_decompressor(deflate);
        ZSTD_freeDCtx(zstd);
    }
};

Decompressor::Decompressor() : codecs_(std::make_unique<Codecs>()) {
    if (codecs_->deflate == nullptr || codecs_->zstd == nullptr) throw std::bad_alloc();
}
Decompressor::~Decompressor() = default;

bool Decompressor::plausible(const std::vector<StoredFilter>& filters, std::uint32_t skipped,
                             std::int64_t stored, std::int64_t bytes) {
    std::int64_t sums = 0, ratio = 1;
    for (const StoredFilter& f : applied(filters, skipped)) {
        if (is_sum(f.id)) sums += sum_bytes;
        // Compression ratios are at most 1032 to 1 for deflate, and 128 KiB from 4 bytes for zstd.
        if (is_codec(f.id)) ratio = f.id == zstd_filter ? 40000 : 1040;
    }
    return ratio == 1 ? stored == bytes + sums : stored > 0 && bytes / ratio <= stored;
}

const char* Decompressor::undo(const std::vector<StoredFilter>& filters, std::uint32_t skipped,
                               std::vector<char>& raw, std::int64_t bytes,
                               std::vector<char>& elements) {
    const std::vector<StoredFilter> todo = applied(filters, skipped);
    // Returns the size in bytes of the chunk before filter i: its elements and the checksums that
    // earlier filters added.
    auto inside = [&](std::size_t i) {
        std::int64_t n = bytes;
        for (std::size_t k = 0; k < i; ++k)
            if (is_sum(todo[k].id)) n += sum_bytes;
        return static_cast<std::size_t>(n);
    };
    for (std::size_t i = todo.size(); i-- > 0;) {
        const StoredFilter& f = todo[i];
        const std::size_t n = inside(i);
        if (is_sum(f.id)) {
            if (raw.size() < static_cast<std::size_t>(sum_bytes))
                return "too short for its checksum";
            const std::size_t summed = raw.size() - sum_bytes;
            const auto* sum = reinterpret_cast<const unsigned char*>(raw.data() + summed);
            const std::uint32_t told = sum[0] | std::uint32_t(sum[1]) << 8 |
                                       std::uint32_t(sum[2]) << 16 | std::uint32_t(sum[3]) << 24;
            if (told != sum_of(f.id, raw.data(), summed)) return "checksum mismatch";
            raw.resize(summed);
        } else if (f.id == H5Z_FILTER_SHUFFLE) {
            const auto whole = std::ssize(raw) / f.element;
            elements.resize(raw.size());
            unshuffle(raw.data(), whole, f.element, elements.data());
            // HDF5 leaves an incomplete element at the end as it is.
            std::copy(raw.begin() + whole * f.element, raw.end(),
                      elements.begin() + whole * f.element);
            raw.swap(elements);
        } else if (f.id == zstd_filter) {
            elements.resize(n);
            const std::size_t got =
                ZSTD_decompressDCtx(codecs_->zstd, elements.data(), n, raw.data(), raw.size());
            if (ZSTD_isError(got) || got != n) return "cannot decompress it (zstd)";
            raw.swap(elements);
        } else {
            elements.resize(n);
            const auto decompress =
                f.id == gzip_filter ? libdeflate_gzip_decompress : libdeflate_zlib_decompress;
            if (decompress(codecs_->deflate, raw.data(), raw.size(), elements.data(), n, nullptr) !=
                LIBDEFLATE_SUCCESS)
                return "cannot decompress it (deflate)";
            raw.swap(elements);
        }
    }
    if (raw.size() != static_cast<std::size_t>(bytes)) return "wrong length";
    raw.swap(elements);
    return nullptr;
}

}  // namespace thalweg::detail
