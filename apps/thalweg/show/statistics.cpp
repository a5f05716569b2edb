// SPDX-License-Identifier: Apache-2.0
#include "show/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "blocks.hpp"
#include "definitions/definitions.hpp"
#include "inspect/inquiry.hpp"
#include "progress.hpp"
#include "verify/difference.hpp"

namespace thalweg::app {

namespace {

constexpr std::int64_t block_bytes = 1 << 20;

/// Sums over a block of a variable. Plain data, so that it can be gathered.
struct Tally {
    double minimum = std::numeric_limits<double>::infinity();
    double maximum = -std::numeric_limits<double>::infinity();
    double sum = 0;
    std::int64_t values = 0, missing = 0, nan = 0;

    void add(const Tally& other) {
        minimum = std::min(minimum, other.minimum);
        maximum = std::max(maximum, other.maximum);
        sum += other.sum;
        values += other.values;
        missing += other.missing;
        nan += other.nan;
    }
};

/// Returns the values that mean missing data, according to netCDF's conventions.
template <class T>
std::vector<T> missing_values(const Reader& file, const std::string& name, Type type) {
    std::vector<T> values;
    const Names attributes = attributes_of(file, name);
    for (const char* attribute : {"_FillValue", "missing_value"}) try {
            if (!has(attributes, attribute)) continue;
            for (const T value : file.get_att<T>(name, attribute)) values.push_back(value);
        } catch (const Error&) {
            // Ignore this value: the variable's type cannot represent it, so no element is equal to
            // it.
        }
    // All values of a byte are in use, so its default fill value counts as data.
    if (sizeof(T) > 1 && !has(attributes, "_FillValue")) {
        detail::Variable plain;
        plain.type = static_cast<tw_type>(type);
        const detail::FillValue fill = plain.fill_value();
        T value;
        std::memcpy(&value, fill.data(), sizeof value);
        values.push_back(value);
    }
    return values;
}

template <class T>
Tally tally_of(const std::vector<T>& data, const std::vector<T>& missing) {
    Tally tally;
    for (const T value : data) {
        if (std::find(missing.begin(), missing.end(), value) != missing.end()) {
            ++tally.missing;
            continue;
        }
        const auto number = static_cast<double>(value);
        if (std::isnan(number)) {
            ++tally.nan;
            continue;
        }
        ++tally.values;
        tally.sum += number;
        tally.minimum = std::min(tally.minimum, number);
        tally.maximum = std::max(tally.maximum, number);
    }
    return tally;
}

/// Adds up the tallies of all ranks on rank 0, in the order of the ranks.
/// @note Collective
void add_all(const Tally& mine, const Ranks& ranks, Tally& total) {
#ifdef THALWEG_SERIAL
    (void)ranks;
    total.add(mine);
#else
    std::vector<Tally> all(static_cast<std::size_t>(ranks.rank == 0 ? ranks.size : 0));
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, 0, ranks.comm);
    for (const Tally& one : all) total.add(one);
#endif
}

/// Reads the values of all variables, block by block, and computes their statistics.
class Pass {
public:
    Pass(Reader& file, const Ranks& ranks)
        : file_(file), ranks_(ranks), progress_(bytes_of(file), ranks.rank) {}

    /// Computes the statistics of a variable. @note Collective
    Statistics run(const std::string& name) {
        Statistics result;
        const Variable v = file_.var(name);
        if (v.type == Type::none || v.type == Type::text) {
            result.unreadable = "not numbers";
            return result;
        }
        Tally total;
        try {
            with_type(v.type,
                      [&](auto* t) { total = tally<std::remove_pointer_t<decltype(t)>>(name, v); });
        } catch (const Error& e) {  // all ranks throw it
            result.unreadable = e.what();
            return result;
        }
        result.values = total.values;
        result.missing = total.missing;
        result.nan = total.nan;
        result.minimum = total.minimum;
        result.maximum = total.maximum;
        if (total.values > 0) result.mean = total.sum / static_cast<double>(total.values);
        return result;
    }

private:
    static std::int64_t bytes_of(const Reader& file) {
        std::int64_t bytes = 0;
        for (const std::string& name : variables_of(file)) {
            const Variable v = file.var(name);
            auto own = static_cast<std::int64_t>(size_of(v.type));
            for (const std::int64_t n : v.shape) own *= n;
            bytes += own;
        }
        return bytes;
    }

    /// Reads this rank's blocks of a variable. Throws Error on every rank.
    /// @note Collective
    template <class T>
    Tally tally(const std::string& name, const Variable& v) {
        const std::vector<T> missing = missing_values<T>(file_, name, v.type);
        const Blocks blocks(v.shape, file_.storage(name).chunks,
                            block_bytes / static_cast<std::int64_t>(sizeof(T)));
        std::vector<T> data;
        Tally total;
        for (std::int64_t first = 0; first < blocks.count(); first += ranks_.size) {
            const std::int64_t mine = first + ranks_.rank;
            const bool reads = mine < blocks.count();
            Block block{std::vector<std::int64_t>(v.shape.size()),
                        std::vector<std::int64_t>(v.shape.size())};
            if (reads) block = blocks.block(mine);
            std::size_t n = reads || v.shape.empty() ? 1 : 0;
            for (const std::int64_t count : block.count) n *= static_cast<std::size_t>(count);
            data.resize(n);
            file_.get_box(name, block.start, block.count, std::span(data));
            add_all(reads ? tally_of(data, missing) : Tally{}, ranks_, total);
            progress_.add(static_cast<std::int64_t>(n * sizeof(T)) * ranks_.size, name);
        }
        return total;
    }

    Reader& file_;
    const Ranks& ranks_;
    Progress progress_;
};

}  // namespace

std::vector<Statistics> find_statistics(Reader& file, const Ranks& ranks) {
    Pass pass(file, ranks);
    std::vector<Statistics> result;
    for (const std::string& name : variables_of(file)) result.push_back(pass.run(name));
    return result;
}

}  // namespace thalweg::app
