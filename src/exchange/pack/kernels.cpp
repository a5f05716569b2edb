// SPDX-License-Identifier: Apache-2.0
#include "exchange/pack/kernels.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>

namespace thalweg::detail {

namespace {

/// The unsigned integer with as many bytes as a type.
template <class T>
using Bits =
    std::tuple_element_t<std::bit_width(sizeof(T)) - 1,
                         std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>>;

inline std::uint8_t swapped(std::uint8_t v) { return v; }
inline std::uint16_t swapped(std::uint16_t v) { return __builtin_bswap16(v); }
inline std::uint32_t swapped(std::uint32_t v) { return __builtin_bswap32(v); }
inline std::uint64_t swapped(std::uint64_t v) { return __builtin_bswap64(v); }

template <class T, bool swap>
inline T load(const char* from) {
    Bits<T> bits;
    std::memcpy(&bits, from, sizeof bits);
    if constexpr (swap) bits = swapped(bits);
    return std::bit_cast<T>(bits);
}

template <class T, bool swap>
inline void store(char* to, T value) {
    auto bits = std::bit_cast<Bits<T>>(value);
    if constexpr (swap) bits = swapped(bits);
    std::memcpy(to, &bits, sizeof bits);
}

/// Tests if a value fits by netCDF's rule (NC_ERANGE): the value itself, before any truncation,
/// must lie within the range of the target type. Infinities and NaN pass between floating types.
template <class To, class From>
inline bool fits(From v) {
    if constexpr (std::is_same_v<To, From>) {
        return true;
    } else if constexpr (std::is_floating_point_v<To>) {
        if constexpr (std::is_same_v<To, float> && std::is_same_v<From, double>)
            return !(std::abs(v) > static_cast<double>(std::numeric_limits<float>::max())) ||
                   std::isinf(v);
        return true;
    } else if constexpr (std::is_floating_point_v<From>) {
        // Compare with 2^digits: the largest integer may not be exact in floating point.
        using Limits = std::numeric_limits<To>;
        constexpr From limit = static_cast<From>(std::uint64_t(1) << (Limits::digits - 1)) * 2;
        constexpr bool exact = Limits::digits <= std::numeric_limits<From>::digits;
        const bool below = exact ? v <= static_cast<From>(Limits::max()) : v < limit;
        return below && v >= (std::is_signed_v<To> ? -limit : From(0));
    } else {
        return std::in_range<To>(v);
    }
}

/// Converts dense elements without a branch per element, so that the compiler can vectorize. Used
/// for floating types only, because their conversions are defined for every value.
/// @return true if all values fit; results of values that do not fit are undefined
template <class From, class To, bool swap_from, bool swap_to>
[[gnu::always_inline]] inline bool convert_block(char* __restrict to, const char* __restrict from,
                                                 std::int64_t n) {
    constexpr std::int64_t into = sizeof(To);
    constexpr std::int64_t out_of = sizeof(From);
    int misfit = 0;
    for (std::int64_t i = 0; i < n; ++i) {
        const From v = load<From, swap_from>(from + i * out_of);
        if constexpr (sizeof(To) < sizeof(From)) {
            const From size = std::abs(v);
            misfit |= static_cast<int>(size > static_cast<From>(std::numeric_limits<To>::max())) &
                      static_cast<int>(size <= std::numeric_limits<From>::max());
        }
        store<To, swap_to>(to + i * into, static_cast<To>(v));
    }
    return misfit == 0;
}

template <class From, class To, bool swap_from, bool swap_to>
bool convert_block_any(char* to, const char* from, std::int64_t n) {
    return convert_block<From, To, swap_from, swap_to>(to, from, n);
}

#if defined(__x86_64__) && defined(__GNUC__)
template <class From, class To, bool swap_from, bool swap_to>
__attribute__((target("avx2"))) bool convert_block_avx2(char* to, const char* from,
                                                        std::int64_t n) {
    return convert_block<From, To, swap_from, swap_to>(to, from, n);
}
#endif

template <class From, class To, bool swap_from, bool swap_to>
std::int64_t convert_row(char* to, std::ptrdiff_t to_stride, const char* from,
                         std::ptrdiff_t from_stride, std::int64_t n, const char* fill) {
    std::int64_t misfits = 0;
    if constexpr (std::is_floating_point_v<From> && std::is_floating_point_v<To> &&
                  !std::is_same_v<From, To>) {
        constexpr std::int64_t block = 256;
        if (n > 1 && to_stride == sizeof(To) && from_stride == sizeof(From)) {
            auto* convert = convert_block_any<From, To, swap_from, swap_to>;
#if defined(__x86_64__) && defined(__GNUC__)
            if (__builtin_cpu_supports("avx2"))
                convert = convert_block_avx2<From, To, swap_from, swap_to>;
#endif
            for (; n > 0 && convert(to, from, std::min(n, block)); n -= block) {
                to += block * to_stride;
                from += block * from_stride;
            }
            if (n <= 0) return 0;
        }
    }
    for (std::int64_t i = 0; i < n; ++i, to += to_stride, from += from_stride) {
        const From v = load<From, swap_from>(from);
        if (fits<To>(v)) [[likely]] {
            store<To, swap_to>(to, static_cast<To>(v));
        } else {
            std::memcpy(to, fill, sizeof(To));
            ++misfits;
        }
    }
    return misfits;
}

template <class Word, bool swap>
[[gnu::always_inline]] inline void move_dense(char* __restrict to, const char* __restrict from,
                                              std::int64_t n) {
    constexpr std::int64_t size = sizeof(Word);
    for (std::int64_t i = 0; i < n; ++i)
        store<Word, swap>(to + i * size, load<Word, false>(from + i * size));
}

#if defined(__x86_64__) && defined(__GNUC__)
template <class Word, bool swap>
__attribute__((target("avx2"))) void move_dense_avx2(char* __restrict to,
                                                     const char* __restrict from, std::int64_t n) {
    move_dense<Word, swap>(to, from, n);
}
#endif

template <class Word, bool swap>
std::int64_t move_row(char* to, std::ptrdiff_t to_stride, const char* from,
                      std::ptrdiff_t from_stride, std::int64_t n, const char*) {
    constexpr std::ptrdiff_t size = sizeof(Word);
    if (to_stride == size && from_stride == size) {
        if constexpr (!swap) {
            std::memcpy(to, from, n * sizeof(Word));
        } else {
#if defined(__x86_64__) && defined(__GNUC__)
            if (__builtin_cpu_supports("avx2")) {
                move_dense_avx2<Word, swap>(to, from, n);
                return 0;
            }
#endif
            move_dense<Word, swap>(to, from, n);
        }
        return 0;
    }
    for (std::int64_t i = 0; i < n; ++i, to += to_stride, from += from_stride)
        store<Word, swap>(to, load<Word, false>(from));
    return 0;
}

/// Number of runs to prefetch ahead: in a shuffled list, single elements may lie anywhere.
constexpr std::ptrdiff_t ahead = 16;

/// Length in elements below which a loop is faster than a call of the row's kernel.
constexpr std::int64_t short_run = 16;

template <RunOrder order>
inline std::int64_t place_of(const Run& run, std::int64_t done) {
    if constexpr (order == RunOrder::indices) return run.global();
    if constexpr (order == RunOrder::positions) return run.position();
    return done;
}

template <class Word, bool swap, RunOrder to_order, RunOrder from_order>
std::int64_t move_runs(char* to, std::ptrdiff_t to_step, const char* from, std::ptrdiff_t from_step,
                       std::span<const Run> runs) {
    std::int64_t done = 0;
    const Run* const last = runs.data() + runs.size();
    for (const Run* run = runs.data(); run != last; ++run) {
        if (last - run > ahead) {
            if constexpr (from_order == RunOrder::positions)
                __builtin_prefetch(from + run[ahead].position() * from_step, 0);
            if constexpr (to_order == RunOrder::positions)
                __builtin_prefetch(to + run[ahead].position() * to_step, 1);
        }
        char* const into = to + place_of<to_order>(*run, done) * to_step;
        const char* const out_of = from + place_of<from_order>(*run, done) * from_step;
        const std::int64_t n = run->length();
        if (n < short_run)
            for (std::int64_t i = 0; i < n; ++i)
                store<Word, swap>(into + i * to_step, load<Word, false>(out_of + i * from_step));
        else
            move_row<Word, swap>(into, to_step, out_of, from_step, n, nullptr);
        done += n;
    }
    return done;
}

template <class Word, bool swap>
RunsKernel move_runs_of(RunOrder to, RunOrder from) {
    using enum RunOrder;
    if (to == indices && from == positions) return move_runs<Word, swap, indices, positions>;
    if (to == positions && from == indices) return move_runs<Word, swap, positions, indices>;
    if (to == dense && from == positions) return move_runs<Word, swap, dense, positions>;
    if (to == indices && from == dense) return move_runs<Word, swap, indices, dense>;
    return nullptr;
}

#if defined(__x86_64__) && defined(__GNUC__)
/// Writes rows to memory without keeping them in caches, in whole cache lines. A line that is
/// partly written through the caches is slow.
/// @param to  address that is a multiple of the word's size
template <class Word, bool swap>
__attribute__((target("avx2"))) void stream_dense(char* __restrict to, const char* __restrict from,
                                                  std::int64_t n) {
    constexpr std::int64_t line = 64;
    constexpr std::int64_t size = sizeof(Word);
    const std::int64_t past = reinterpret_cast<std::uintptr_t>(to) % line;
    const std::int64_t before = past == 0 ? 0 : (line - past) / size;
    move_dense_avx2<Word, swap>(to, from, before);
    alignas(32) std::array<char, 32> reversed;
    for (std::size_t i = 0; i < reversed.size(); ++i)
        reversed[i] = swap ? (i % 16) ^ (sizeof(Word) - 1) : i % 16;
    const __m256i order = _mm256_load_si256(reinterpret_cast<const __m256i*>(reversed.data()));
    std::int64_t at = before * size;
    for (; at + line <= n * size; at += line) {
        for (const std::int64_t half : {0, 32}) {
            const __m256i v =
                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + at + half));
            _mm256_stream_si256(reinterpret_cast<__m256i*>(to + at + half),
                                _mm256_shuffle_epi8(v, order));
        }
    }
    move_dense_avx2<Word, swap>(to + at, from + at, n - at / size);
}
#endif

/// Length in bytes from which writing without the caches is faster.
constexpr std::int64_t shortest_stream = 256;

template <class Word, bool swap>
std::int64_t stream_row(char* to, std::ptrdiff_t to_stride, const char* from,
                        std::ptrdiff_t from_stride, std::int64_t n, const char* fill) {
#if defined(__x86_64__) && defined(__GNUC__)
    constexpr std::ptrdiff_t size = sizeof(Word);
    if (to_stride == size && from_stride == size && n * size >= shortest_stream &&
        reinterpret_cast<std::uintptr_t>(to) % sizeof(Word) == 0 &&
        __builtin_cpu_supports("avx2")) {
        stream_dense<Word, swap>(to, from, n);
        return 0;
    }
#endif
    return move_row<Word, swap>(to, to_stride, from, from_stride, n, fill);
}

/// Returns the kernel that moves values of 1, 2, 4 or 8 bytes.
/// @param streams  write long rows without the caches
template <bool swap>
RowKernel move_kernel_of(std::size_t size, bool streams = false) {
    const auto kernel = [&](auto word) -> RowKernel {
        using Word = decltype(word);
        constexpr bool swaps = swap && sizeof(Word) > 1;
        return streams ? stream_row<Word, swaps> : move_row<Word, swaps>;
    };
    switch (size) {
        case 1: return kernel(std::uint8_t{});
        case 2: return kernel(std::uint16_t{});
        case 4: return kernel(std::uint32_t{});
        default: return kernel(std::uint64_t{});
    }
}

template <bool swap_from, bool swap_to>
RowKernel convert_kernel(tw_type from, tw_type to) {
    return with_number(from, [to](auto f) {
        return with_number(to, [](auto t) -> RowKernel {
            return convert_row<decltype(f), decltype(t), swap_from, swap_to>;
        });
    });
}

bool must_swap(Order order) {
    return order == Order::big_endian && std::endian::native == std::endian::little;
}

}  // namespace

RowKernel pack_kernel(tw_type memory, tw_type file, Order order) {
    if (memory == file) return unpack_kernel(file, memory, order);
    return must_swap(order) ? convert_kernel<false, true>(memory, file)
                            : convert_kernel<false, false>(memory, file);
}

RowKernel unpack_kernel(tw_type file, tw_type memory, Order order, bool streams) {
    if (memory == file)
        return must_swap(order) ? move_kernel_of<true>(size_of(file), streams)
                                : move_kernel_of<false>(size_of(file), streams);
    return must_swap(order) ? convert_kernel<true, false>(file, memory)
                            : convert_kernel<false, false>(file, memory);
}

RunsKernel runs_kernel(RowKernel kernel, RunOrder to, RunOrder from) {
    RunsKernel found = nullptr;
    const auto try_move = [&](auto word, auto swap) {
        using Word = decltype(word);
        constexpr bool swaps = decltype(swap)::value;
        if (kernel == RowKernel(move_row<Word, swaps>)) found = move_runs_of<Word, swaps>(to, from);
    };
    const auto try_swap = [&](auto swap) {
        try_move(std::uint8_t{}, swap);
        try_move(std::uint16_t{}, swap);
        try_move(std::uint32_t{}, swap);
        try_move(std::uint64_t{}, swap);
    };
    try_swap(std::false_type{});
    try_swap(std::true_type{});
    return found;
}

void end_streams() {
#if defined(__x86_64__) && defined(__GNUC__)
    _mm_sfence();
#endif
}

RowKernel move_kernel(std::size_t size) { return move_kernel_of<false>(size); }

}  // namespace thalweg::detail
