// The innermost loops of accumulators, over adjacent elements. The file that includes this is
// compiled without fused multiply-add, which would give other bits on some machines.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace thalweg::history::kernels {

/// The neutral element of addition: unlike 0.0, it leaves -0.0 as it is.
inline constexpr double nothing = -0.0;

template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

// Predicates that test if a value is present: every value is; it does not have certain bits; it is
// no NaN.
struct All {
    template <class T>
    bool operator()(T) const {
        return true;
    }
};
template <class T>
struct NotBits {
    Bits<T> bits;
    bool operator()(T x) const { return std::bit_cast<Bits<T>>(x) != bits; }
};
struct NotNan {
    template <class T>
    bool operator()(T x) const {
        return x == x;
    }
};

/// Tests if a predicate can find a value missing.
template <class Test>
inline constexpr bool can_miss = !std::is_same_v<Test, All>;

/// Selects one of two values without a branch, so that the compiler can vectorize the loop.
inline double choose(bool first, double a, double b) {
    const std::uint64_t mask = -static_cast<std::uint64_t>(first);
    return std::bit_cast<double>((std::bit_cast<std::uint64_t>(a) & mask) |
                                 (std::bit_cast<std::uint64_t>(b) & ~mask));
}

/// The elements of a sample, with the factors and weights by which they are added.
template <class T>
struct Terms {
    const T* data;
    std::int64_t count;
    double factor;          ///< factor of each value
    double weight;          ///< weight of each valid element
    const double* weights;  ///< array of the weight field, or null
};

template <int power, class T>
double term(T value, double weight) {
    const double x = static_cast<double>(value);
    return power == 1 ? weight * x : weight * x * x;
}

/// Bits that mark the sum of an element that has been missing since the window began.
inline constexpr std::uint64_t missing_bits = 0x7ff8'7468'616c'7765;
inline constexpr double missing_mark = std::bit_cast<double>(missing_bits);

inline bool is_missing(double sum) { return std::bit_cast<std::uint64_t>(sum) == missing_bits; }

template <class T, class Test>
void keep(const Terms<T>& terms, Test present, double* last) {
    for (std::int64_t i = 0; i < terms.count; ++i)
        last[i] = choose(present(terms.data[i]), static_cast<double>(terms.data[i]), missing_mark);
}

/// Adds a sample in which no element is missing, or the same ones in the whole window.
/// @param first  this sample is the first of the window, and determines the missing elements
/// @return true if other elements are missing than in the first sample
template <int power, class T, class Test>
bool add(const Terms<T>& terms, Test present, bool first, double* sum) {
    std::uint64_t differs = 0;
    for (std::int64_t i = 0; i < terms.count; ++i) {
        const bool there = present(terms.data[i]);
        const bool missing = can_miss<Test> && (first ? !there : is_missing(sum[i]));
        differs |= static_cast<std::uint64_t>(missing == there);
        const double next = sum[i] + term<power>(terms.data[i], terms.factor);
        sum[i] = choose(missing, missing_mark, next);
    }
    return differs != 0;
}

/// Counts an element if it is present: by its weight, or as one.
inline void count(bool there, double weight, double& sum) { sum += choose(there, weight, 0.0); }
inline void count(bool there, double, std::int32_t& number) { number += there ? 1 : 0; }

/// Adds the weights of the elements present.
/// @return true if other elements are missing than in earlier samples
template <class T, class Test, class Weight>
bool count_present(const Terms<T>& terms, Test present, bool first, Weight* weights) {
    std::uint64_t differs = 0;
    for (std::int64_t i = 0; i < terms.count; ++i) {
        const bool there = present(terms.data[i]);
        differs |= static_cast<std::uint64_t>(!first & (there != (weights[i] > 0)));
        count(there, terms.weight, weights[i]);
    }
    return differs != 0;
}

/// Calls act(element, whether it counts, its weight) for all elements.
/// @param weighted  elements have weights of their own
/// @return true if a weight is negative
template <bool weighted, class T, class Test, class Act>
bool for_weighted(const Terms<T>& terms, Test present, Act&& act) {
    std::uint64_t negative = 0;
    for (std::int64_t i = 0; i < terms.count; ++i) {
        const double own = weighted ? terms.weights[i] : 1;
        negative |= static_cast<std::uint64_t>(own < 0);
        act(i, present(terms.data[i]) & (own > 0), weighted ? terms.weight * own : terms.weight);
    }
    return negative != 0;
}

/// Adds a sample whose missing elements may differ from those of other samples.
template <int power, bool weighted, class T, class Test, class Weight>
bool add_varying(const Terms<T>& terms, Test present, double* sum, Weight* weights) {
    return for_weighted<weighted>(terms, present, [=](auto i, bool there, double weight) {
        const double value = term<power>(terms.data[i], weighted ? weight : terms.factor);
        sum[i] += choose(there, value, nothing);
        count(there, weight, weights[i]);
    });
}

// Mean and sum of squared deviations, updated by each sample (West 1979).

/// Updates mean and squares as add() updates a sum.
/// @param total  weight of all samples of the window, with this one
template <class T, class Test>
bool deviate(const Terms<T>& terms, Test present, bool first, double total, double* mean,
             double* squares) {
    std::uint64_t differs = 0;
    for (std::int64_t i = 0; i < terms.count; ++i) {
        const double x = static_cast<double>(terms.data[i]);
        const bool there = present(terms.data[i]);
        const bool missing = can_miss<Test> && (first ? !there : is_missing(mean[i]));
        differs |= static_cast<std::uint64_t>(missing == there);
        const double delta = x - mean[i];
        const double next = mean[i] + terms.weight * delta / total;
        const double more = squares[i] + terms.weight * delta * (x - next);
        squares[i] = choose(missing, squares[i], more);
        mean[i] = choose(missing, missing_mark, next);
    }
    return differs != 0;
}

/// Updates mean and squares as add_varying() updates a sum.
template <bool weighted, class T, class Test, class Weight>
bool deviate_varying(const Terms<T>& terms, Test present, double* mean, double* squares,
                     Weight* weights) {
    return for_weighted<weighted>(terms, present, [=](auto i, bool there, double weight) {
        const double x = static_cast<double>(terms.data[i]);
        count(there, weight, weights[i]);
        const double delta = x - mean[i];
        const double next = mean[i] + weight * delta / static_cast<double>(weights[i]);
        const double add = weight * delta * (x - next);
        squares[i] += choose(there, add, nothing);
        mean[i] = choose(there, next, mean[i]);
    });
}

/// Tests if a value replaces the extreme found so far. A NaN always does, and is never replaced.
template <bool greatest, class T>
bool replaces(T x, T extreme) {
    const bool beyond = greatest ? x > extreme : x < extreme;
    return beyond | (x != x);
}

/// Updates extremes. An element without a valid sample so far has a missing value as its extreme.
/// @return true if other elements are missing than in earlier samples
template <bool greatest, class T, class Test>
bool find_extremes(const Terms<T>& terms, Test present, bool first, T* extreme) {
    std::uint64_t differs = 0;
    for (std::int64_t i = 0; i < terms.count; ++i) {
        const T x = terms.data[i];
        const bool there = present(x), empty = first | !present(extreme[i]);
        differs |= static_cast<std::uint64_t>(there == empty);
        extreme[i] = there & (empty | replaces<greatest>(x, extreme[i])) ? x : extreme[i];
    }
    return differs != 0;
}

inline constexpr std::int64_t overflowed = INT64_MIN;

template <class T, class Test>
void add_integers(const Terms<T>& terms, Test present, std::int64_t* sum) {
    for (std::int64_t i = 0; i < terms.count; ++i) {
        const T x = present(terms.data[i]) ? terms.data[i] : T{0};
        if constexpr (sizeof(T) < 8)
            sum[i] += static_cast<std::int64_t>(x);
        else if (sum[i] == overflowed || __builtin_add_overflow(sum[i], x, &sum[i]))
            sum[i] = overflowed;
    }
}

}  // namespace thalweg::history::kernels
