// SPDX-License-Identifier: Apache-2.0
#include "history/maps/mapping.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "history/statistics/kernels.hpp"

namespace thalweg::history {

Mapping::Mapping(std::shared_ptr<const Map> map, const Part& part,
                 const std::vector<std::string>& dims, const std::vector<std::string>& replaced)
    : map_(std::move(map)), part_(part) {
    std::vector<std::string> others;
    Integers lengths, replaced_lengths;
    for (const std::string& dim : dims) {
        const std::int64_t length = part.shape[place_of(dim, part.dims)];
        if (place_of(dim, replaced) < 0) {
            others.push_back(dim);
            lengths.push_back(length);
            dims_.push_back(dim);
            shape_.push_back(length);
            others_ *= length;
            after_ = replaced_.empty() ? 1 : after_ * length;
            continue;
        }
        if (replaced_.empty()) {
            dims_.insert(dims_.end(), map_->dims.begin(), map_->dims.end());
            shape_.insert(shape_.end(), map_->shape.begin(), map_->shape.end());
        }
        replaced_.push_back(dim);
        replaced_lengths.push_back(length);
    }
    to_column_ = steps_along(part.dims, replaced_, replaced_lengths);
    to_other_ = steps_along(part.dims, others, lengths);
}

/// Finds the ranks that need elements of columns that this rank holds. A rank keeps, for a range of
/// columns, who holds and who needs them.
/// @param columns  columns of this rank's elements, sorted
/// @param takers   receives ranks and columns, sorted
/// @note Collective
Status Mapping::find_takers(Ranks& ranks, const Integers& columns,
                            std::vector<std::pair<int, std::int64_t>>& takers) const {
    using Entry = std::pair<std::int64_t, int>;  // column and rank
    Letters<std::int64_t> letters;
    Status mine = detail::catch_errors([&] {
        const auto keeper = [&](std::int64_t column) {
            return static_cast<int>(column * ranks.size() / map_->sources);
        };
        for (const std::int64_t column : map_->columns) letters[keeper(column)].push_back(column);
        for (std::size_t i = 0; i < columns.size(); ++i)
            if (i == 0 || columns[i] != columns[i - 1])
                letters[keeper(columns[i])].push_back(-1 - columns[i]);
    });
    if (Status status = exchange(ranks, letters, std::move(mine)); !status.ok()) return status;
    mine = detail::catch_errors([&] {
        std::vector<Entry> held, needed;
        for (const auto& [rank, words] : letters)
            for (const std::int64_t word : words)
                word < 0 ? held.emplace_back(-1 - word, rank) : needed.emplace_back(word, rank);
        std::ranges::sort(held);
        letters.clear();
        for (const auto& [column, rank] : needed)
            for (auto holder = std::ranges::lower_bound(held, Entry{column, 0});
                 holder != held.end() && holder->first == column; ++holder)
                letters[holder->second].insert(letters[holder->second].end(), {rank, column});
    });
    if (Status status = exchange(ranks, letters, std::move(mine)); !status.ok()) return status;
    mine = detail::catch_errors([&] {
        for (const auto& [rank, words] : letters)
            for (std::size_t i = 0; i < words.size(); i += 2)
                takers.emplace_back(static_cast<int>(words[i]), words[i + 1]);
        std::ranges::sort(takers);
    });
    return ranks.agree(mine, 0, {});
}

Status Mapping::connect(Ranks& ranks) {
    Integers column, other, order, sorted;
    std::vector<std::pair<int, std::int64_t>> takers;
    Status mine = detail::catch_errors([&] {
        for_elements(part_, [&](std::int64_t, const Integers& at) {
            column.push_back(dot(at, to_column_));
            other.push_back(dot(at, to_other_));
        });
        order.resize(column.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, {}, [&](std::int64_t i) { return column[i]; });
        for (const std::int64_t i : order) sorted.push_back(column[i]);
        // Every rank has all elements of a replicated field.
        for (const std::int64_t each : map_->columns)
            if (part_.replicated) takers.emplace_back(ranks.rank(), each);
    });
    if (Status s = ranks.agree(mine, 0, {}); !s.ok()) return s;
    if (!part_.replicated)
        if (Status s = find_takers(ranks, sorted, takers); !s.ok()) return s;
    Letters<std::int64_t> letters;
    takers_.clear();
    mine = detail::catch_errors([&] {
        for (const auto& [rank, each] : takers) {
            if (takers_.empty() || takers_.back().rank != rank) takers_.push_back({rank, {}});
            const auto found = std::ranges::equal_range(sorted, each);
            for (auto i = found.begin(); i != found.end(); ++i) {
                const std::int64_t element = order[i - sorted.begin()];
                takers_.back().elements.push_back(element);
                letters[rank].push_back(other[element] * map_->sources + each);
            }
        }
    });
    if (Status s = exchange(ranks, letters, std::move(mine)); !s.ok()) return s;
    sources_.clear();
    const Integers& columns = map_->columns;
    mine = detail::catch_errors([&] {
        for (auto& [rank, places] : letters) {
            for (std::int64_t& place : places)
                place =
                    place / map_->sources * std::ssize(columns) +
                    (std::ranges::lower_bound(columns, place % map_->sources) - columns.begin());
            sources_.push_back({rank, std::move(places)});
        }
    });
    return ranks.agree(mine, 0, {});
}

Mapped::Mapped(const Mapping& mapping, const Reducible& from, Divisors divisors)
    : mapping_(mapping), divisors_(divisors) {
    if (from.values == nullptr) return;
    for (const Mapping::Peer& taker : mapping.takers_) {
        std::vector<double>& to = sent_.emplace_back();
        to.reserve(1 + taker.elements.size() * (divisors == Divisors::one ? 1 : 2));
        to.push_back(from.divisor);
        if (divisors == Divisors::one) {
            for (const std::int64_t e : taker.elements) to.push_back(from.values[e]);
            continue;
        }
        const auto counts = [&](std::int64_t e) {
            return from.weights[e] > 0 && from.weights[e] >= from.least;
        };
        for (const std::int64_t e : taker.elements) to.push_back(counts(e) ? from.values[e] : 0);
        for (const std::int64_t e : taker.elements) to.push_back(counts(e) ? from.weights[e] : 0);
    }
}

Status Mapped::exchange(Ranks& ranks, std::span<Mapped* const> all) {
    if (all.empty()) return {};
    Letters<double> letters;
    Status mine = detail::catch_errors([&] {
        for (Mapped* one : all) {
            for (std::size_t i = 0; i < one->sent_.size(); ++i) {
                std::vector<double>& to = letters[one->mapping_.takers_[i].rank];
                to.insert(to.end(), one->sent_[i].begin(), one->sent_[i].end());
            }
            one->sent_.clear();
        }
    });
    if (Status s = history::exchange(ranks, letters, std::move(mine)); !s.ok()) return s;
    std::map<int, const double*> next;
    mine = detail::catch_errors([&] {
        for (const auto& [rank, values] : letters) next[rank] = values.data();
        for (Mapped* one : all) one->take(next);
    });
    return ranks.agree(mine, 0, {});
}

/// Takes the elements that have come. @param next  position in what has come of each rank
void Mapped::take(std::map<int, const double*>& next) {
    const bool weighs = divisors_ != Divisors::one;
    const std::int64_t n = mapping_.others_ * std::ssize(mapping_.map().columns);
    values_.assign(n, weighs ? 0 : kernels::missing_mark);
    weights_.assign(weighs ? n : 0, 0);
    for (const Mapping::Peer& source : mapping_.sources_) {
        const double*& from = next.at(source.rank);
        whole_ = *from++;
        for (const std::int64_t e : source.elements) values_[e] = *from++;
        for (std::size_t i = 0; i < source.elements.size() && weighs; ++i)
            weights_[source.elements[i]] = *from++;
    }
    missing_ = std::ranges::any_of(values_, [](double x) { return kernels::is_missing(x); });
}

/// Tests if enough of the weights of an element belongs to valid elements of the source.
static bool suffices(const Map& map, double share) {
    return share > std::max(map.rules.min_fraction, 1e-10);
}

/// Returns an element of the target; nothing if it has no value.
std::optional<double> Mapped::value(std::int64_t row, const double* values) const {
    const Map& map = mapping_.map();
    std::int64_t i = map.begin[row];
    const std::int64_t end = map.begin[row + 1];
    if (i == end) return {};
    if (!missing_) {
        double sum = map.weight[i] * values[map.column[i]];
        for (++i; i < end; ++i) sum += map.weight[i] * values[map.column[i]];
        return sum;
    }
    double sum = 0, valid = 0, all = 0;
    std::int64_t n = 0;
    for (; i < end; ++i) {
        const double x = values[map.column[i]], weight = map.weight[i];
        all += weight;
        if (kernels::is_missing(x)) continue;
        sum = n == 0 ? weight * x : sum + weight * x;
        valid += weight;
        ++n;
    }
    using enum MapTable::Missing;
    if (n == end - map.begin[row]) return sum;
    if (n == 0 || map.rules.missing == propagate) return {};
    if (map.rules.missing == zero) return sum;
    const double share = valid / all;
    return suffices(map, share) ? std::optional(sum / share) : std::nullopt;
}

/// Returns an element of the target of a mean whose elements have weights; nothing if it has no
/// value.
std::optional<double> Mapped::quotient(std::int64_t row, const double* values,
                                       const double* divisors) const {
    const Map& map = mapping_.map();
    double sum = 0, divisor = 0, all = 0;
    bool whole = true, complete = true;
    for (std::int64_t i = map.begin[row]; i < map.begin[row + 1]; ++i) {
        const double d = divisors[map.column[i]], weight = map.weight[i];
        sum += weight * values[map.column[i]];
        divisor += weight * d;
        all += weight;
        whole = whole && d > 0;
        complete = complete && d == whole_;
    }
    using enum MapTable::Missing;
    if (!(divisor > 0) || (map.rules.missing == propagate && !whole)) return {};
    if (divisors_ == Divisors::field) return sum / divisor;
    if (map.rules.missing == zero) return sum / whole_;
    return complete || suffices(map, divisor / (all * whole_)) ? std::optional(all * sum / divisor)
                                                               : std::nullopt;
}

template <class Out>
Status Mapped::convert_as(const Value& fill) {
    const Map& map = mapping_.map();
    const std::int64_t rows = map.rows(), columns = std::ssize(map.columns);
    const std::int64_t after = mapping_.after_;
    converted_.resize(rows * mapping_.others_ * sizeof(Out));
    auto* const results = reinterpret_cast<Out*>(converted_.data());
    bool fits = true;
    for (std::int64_t other = 0; other < mapping_.others_; ++other) {
        const double* const values = values_.data() + other * columns;
        const double* const divisors =
            weights_.empty() ? nullptr : weights_.data() + other * columns;
        Out* const to = results + other / after * rows * after + other % after;
        for (std::int64_t row = 0; row < rows; ++row) {
            const std::optional<double> found =
                divisors == nullptr ? value(row, values) : quotient(row, values, divisors);
            Out typed = found ? static_cast<Out>(*found) : value_as<Out>(fill);
            if (found && std::isfinite(*found) && !std::isfinite(typed)) {
                typed = value_as<Out>(fill);
                fits = false;
            }
            to[row * after] = typed;
        }
    }
    if (!fits) return detail::failure(TW_ERANGE, "results are out of range for the file's type");
    return {};
}

Status Mapped::convert(tw_type type, const Value& fill) {
    return type == TW_FLOAT ? convert_as<float>(fill) : convert_as<double>(fill);
}

}  // namespace thalweg::history
