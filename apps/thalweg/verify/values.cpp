// SPDX-License-Identifier: Apache-2.0
#include "verify/values.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "blocks.hpp"

namespace thalweg::app {

namespace {

constexpr std::int64_t block_bytes = std::int64_t(8) << 20, least_block_bytes = 256 << 10;

constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

/// Differences in the blocks of one rank, or in those of all ranks.
struct Tally {
    std::int64_t differing = 0;
    std::int64_t nan = 0;  ///< number of elements that are NaN in one file only
    double largest = 0;    ///< largest difference of the other elements
    std::int64_t first = none;
    std::array<char, 8> a{}, b{};  ///< values at the first difference
};

template <class T>
double difference(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
        using U = std::make_unsigned_t<T>;
        return static_cast<double>(a > b ? static_cast<U>(static_cast<U>(a) - static_cast<U>(b))
                                         : static_cast<U>(static_cast<U>(b) - static_cast<U>(a)));
    } else {
        return a == b ? 0 : std::abs(static_cast<double>(a) - static_cast<double>(b));
    }
}

template <class T>
bool is_nan(T value) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
    return false;
}

/// Tests if values with different bits count as equal.
template <class T>
bool within(const VerifyOptions& options, T a, T b) {
    if (std::is_same_v<T, char> || (options.tolerance == 0 && options.relative == 0)) return false;
    if (is_nan(a) || is_nan(b)) return is_nan(a) && is_nan(b);
    const double d = difference(a, b);
    if (!std::isfinite(d)) return false;
    const double larger =
        std::max(std::abs(static_cast<double>(a)), std::abs(static_cast<double>(b)));
    return d <= std::max(options.tolerance, options.relative * larger);
}

/// Returns the row-major position in an array of one element of a block.
std::int64_t position(const std::vector<std::int64_t>& shape, const Block& block,
                      std::int64_t element) {
    std::int64_t at = 0, times = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
        at += (block.start[d] + element % block.count[d]) * times;
        element /= block.count[d];
        times *= shape[d];
    }
    return at;
}

template <class T>
void tally_block(const VerifyOptions& options, const CommonVariable& v, const Block& block,
                 const char* of_a, const char* of_b, std::int64_t n, Tally& tally) {
    for (std::int64_t i = 0; i < n; ++i) {
        T a, b;
        std::memcpy(&a, of_a + i * std::int64_t(sizeof a), sizeof a);
        std::memcpy(&b, of_b + i * std::int64_t(sizeof b), sizeof b);
        if (std::memcmp(&a, &b, sizeof a) == 0 || within(options, a, b)) continue;
        ++tally.differing;
        if (is_nan(a) != is_nan(b))
            ++tally.nan;
        else if (!is_nan(a))
            tally.largest = std::max(tally.largest, difference(a, b));
        const std::int64_t at = position(v.shape, block, i);
        if (at >= tally.first) continue;
        tally.first = at;
        std::memcpy(tally.a.data(), &a, sizeof a);
        std::memcpy(tally.b.data(), &b, sizeof b);
    }
}

/// Combines the tallies of all ranks. @note Collective
Tally of_all(const Tally& mine, const Ranks& ranks) {
    Tally all;
    std::int64_t sums[] = {mine.differing, mine.nan}, both[2];
    MPI_Allreduce(sums, both, 2, MPI_INT64_T, MPI_SUM, ranks.comm);
    all.differing = both[0];
    all.nan = both[1];
    MPI_Allreduce(&mine.largest, &all.largest, 1, MPI_DOUBLE, MPI_MAX, ranks.comm);
    MPI_Allreduce(&mine.first, &all.first, 1, MPI_INT64_T, MPI_MIN, ranks.comm);
    int owner = mine.first == all.first ? ranks.rank : std::numeric_limits<int>::max(), first = 0;
    MPI_Allreduce(&owner, &first, 1, MPI_INT, MPI_MIN, ranks.comm);
    std::array<char, 16> values{};
    std::copy(mine.a.begin(), mine.a.end(), values.begin());
    std::copy(mine.b.begin(), mine.b.end(), values.begin() + 8);
    MPI_Bcast(values.data(), 16, MPI_BYTE, first, ranks.comm);
    std::copy_n(values.begin(), 8, all.a.begin());
    std::copy_n(values.begin() + 8, 8, all.b.begin());
    return all;
}

Difference describe(const CommonVariable& v, const Tally& t, std::int64_t values) {
    std::vector<std::int64_t> index(v.shape.size());
    std::int64_t at = t.first;
    for (std::size_t d = index.size(); d-- > 0; at /= v.shape[d]) index[d] = at % v.shape[d];
    std::string place;
    for (std::size_t d = 0; d < index.size(); ++d)
        place += fmt::format("{}{}={}", d > 0 ? " " : "", v.variable.dims[d], index[d]);
    const Type type = v.variable.type;
    std::string text = fmt::format("variable '{}': {} of {} values differ{}{}: {} and {}", v.name,
                                   t.differing, values, place.empty() ? "" : ", first at ", place,
                                   text_of(type, t.a.data()), text_of(type, t.b.data()));
    nlohmann::ordered_json first{{"index", index}};
    if (v.record) first["record"] = index.front();
    first["a"] = json_of(type, t.a.data());
    first["b"] = json_of(type, t.b.data());
    nlohmann::ordered_json json{{"kind", "values"},
                                {"name", v.name},
                                {"differing", t.differing},
                                {"values", values},
                                {"dimensions", v.variable.dims},
                                {"first", first}};
    if (type != Type::text && t.nan < t.differing) {
        text += fmt::format("; largest difference {}", t.largest);
        json["largest_difference"] =
            std::isfinite(t.largest) ? nlohmann::ordered_json(t.largest) : "inf";
    }
    if (t.nan > 0) text += fmt::format("; {} are NaN in one file only", t.nan);
    json["nan_in_one_file"] = t.nan;
    return {text, json};
}

void get_block(Reader& file, const CommonVariable& v, const Block& block, std::vector<char>& to) {
    with_type(v.variable.type, [&](auto* t) {
        using T = std::remove_pointer_t<decltype(t)>;
        file.get_box(v.name, block.start, block.count,
                     std::span(reinterpret_cast<T*>(to.data()), to.size() / sizeof(T)));
    });
}

}  // namespace

ValueComparison::ValueComparison(Reader& a, Reader& b, const Ranks& ranks,
                                 const VerifyOptions& options)
    : a_(a), b_(b), ranks_(ranks), options_(options) {}

/// Returns the chunk lengths of the variable in the file in which it has chunks; if it has chunks
/// in both, the larger length along each dimension.
std::vector<std::int64_t> ValueComparison::chunks(const std::string& variable) const {
    std::vector<std::int64_t> a = a_.storage(variable).chunks;
    const std::vector<std::int64_t> b = b_.storage(variable).chunks;
    if (a.empty()) return b;
    for (std::size_t d = 0; d < b.size(); ++d) a[d] = std::max(a[d], b[d]);
    return a;
}

void ValueComparison::compare(const CommonVariable& v, Progress& progress, Findings& found) {
    std::int64_t values = 1;
    for (const std::int64_t n : v.shape) values *= n;
    const auto size = static_cast<std::int64_t>(size_of(v.variable.type));
    const std::int64_t share = (values + ranks_.size - 1) / ranks_.size;
    const Blocks blocks(v.shape, chunks(v.name),
                        std::clamp(share, least_block_bytes / size, block_bytes / size));
    Tally tally;
    std::string unreadable;
    for (std::int64_t first = 0; first < blocks.count() && unreadable.empty();
         first += ranks_.size) {
        Block block{std::vector<std::int64_t>(v.shape.size()),
                    std::vector<std::int64_t>(v.shape.size())};
        const std::int64_t mine = first + ranks_.rank;
        const bool reads = mine < blocks.count();
        std::int64_t n = reads ? 1 : v.shape.empty() ? 1 : 0;
        if (reads) block = blocks.block(mine);
        for (const std::int64_t count : block.count) n *= count;
        of_a_.resize(static_cast<std::size_t>(n * size));
        of_b_.resize(of_a_.size());
        try {
            get_block(a_, v, block, of_a_);
            get_block(b_, v, block, of_b_);
        } catch (const Error& e) {  // all ranks throw it
            unreadable = e.what();
            continue;
        }
        if (reads && of_a_ != of_b_)
            with_type(v.variable.type, [&](auto* t) {
                tally_block<std::remove_pointer_t<decltype(t)>>(options_, v, block, of_a_.data(),
                                                                of_b_.data(), n, tally);
            });
        progress.add(std::min<std::int64_t>(n * ranks_.size, values) * size, v.name);
    }
    if (unreadable.empty())
        found.values += values;
    else
        found.not_compared.push_back(unreadable);
    tally = of_all(tally, ranks_);
    if (tally.differing > 0) found.differences.push_back(describe(v, tally, values));
}

}  // namespace thalweg::app
