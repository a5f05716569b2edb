// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "storage/chunked/filters.hpp"

namespace thalweg::detail {

namespace {

const double bits_a_digit = std::numbers::ln10 / std::numbers::ln2;

/// Quantizes floating-point numbers of type Real. Bits is the integer type of the same size.
template <class Real, class Bits, int significand>
class Quantizer {
public:
    Quantizer(const Packing& packing, const void* fill) : digits_(packing.digits) {
        std::memcpy(&fill_, fill, sizeof fill_);
    }

    /// Bit grooming: clears (shaves) and sets low bits in turn.
    /// @param at  position of the first element; even positions are shaved
    void groom(char* data, std::int64_t n, std::int64_t at) const {
        // netCDF-C keeps one bit more than the digits need, although the leading bit is not stored.
        const Bits low = low_bits(static_cast<int>(std::ceil(digits_ * bits_a_digit)) + 1);
        each(data, n, [&](Bits bits, Real, std::int64_t i) {
            return (at + i) % 2 == 0 ? bits & ~low : bits | low;
        });
    }
    void round(char* data, std::int64_t n) const {
        const Bits low = low_bits(digits_);
        each(data, n, [&](Bits bits, Real, std::int64_t) { return rounded(bits, low); });
    }
    /// Granular bit rounding: keeps as many bits of each number as the requested digits need.
    void round_granular(char* data, std::int64_t n) const {
        each(data, n, [&](Bits bits, Real value, std::int64_t) {
            int exponent = 0;
            const double mantissa = std::fabs(std::frexp(static_cast<double>(value), &exponent));
            const double log_mantissa = std::log10(mantissa);
            const int digits_before_point =
                static_cast<int>(std::floor(exponent / bits_a_digit + log_mantissa)) + 1;
            const int power =
                static_cast<int>(std::floor(bits_a_digit * (digits_before_point - digits_)));
            const int first = static_cast<int>(std::floor(exponent - bits_a_digit * log_mantissa));
            return rounded(bits, low_bits(std::abs(first - power) - 1));
        });
    }

private:
    /// Returns a mask of the bits that are discarded.
    static Bits low_bits(int kept) {
        return kept >= significand ? 0 : static_cast<Bits>((Bits(1) << (significand - kept)) - 1);
    }
    static Bits rounded(Bits bits, Bits low) { return (bits + (low ^ (low >> 1))) & ~low; }

    template <class Change>
    void each(char* data, std::int64_t n, Change&& change) const {
        for (std::int64_t i = 0; i < n; ++i, data += sizeof(Real)) {
            Real value;
            std::memcpy(&value, data, sizeof value);
            if (value == fill_ || value == 0 || std::isnan(value) || std::isinf(value)) continue;
            const Bits bits = change(std::bit_cast<Bits>(value), value, i);
            std::memcpy(data, &bits, sizeof bits);
        }
    }

    int digits_;
    Real fill_;
};

template <class Real, class Bits, int significand>
void quantize_as(const Packing& packing, const void* fill, char* data, std::int64_t n,
                 std::int64_t first) {
    const Quantizer<Real, Bits, significand> quantizer(packing, fill);
    switch (packing.quantize) {
        case Packing::Quantize::none: return;
        case Packing::Quantize::bitgroom: return quantizer.groom(data, n, first);
        case Packing::Quantize::granularbr: return quantizer.round_granular(data, n);
        case Packing::Quantize::bitround: return quantizer.round(data, n);
    }
}

}  // namespace

void quantize(const Packing& packing, tw_type type, const void* fill, char* data,
              std::int64_t elements, std::int64_t first) {
    if (type == TW_FLOAT)
        quantize_as<float, std::uint32_t, 23>(packing, fill, data, elements, first);
    else if (type == TW_DOUBLE)
        quantize_as<double, std::uint64_t, 52>(packing, fill, data, elements, first);
}

}  // namespace thalweg::detail
