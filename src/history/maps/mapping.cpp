// SPDX-License-Identifier: Apache-2.0
#include "history/maps/mapping.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "history/statistics/kernels.hpp"

namespace thalweg::history {

using kernels::is_missing, kernels::missing_mark;

Mapping::Mapping(std::shared_ptr<const Map> map, const Part& part, const Names& dims,
                 const Names& replaced)
    : map_(std::move(map)), part_(part) {
    Names others;
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

void Mapping::Peer::add(std::int64_t position, std::int64_t row) {
    ++elements;
    if (!ranges.empty() && position == ranges.back().first + ranges.back().count &&
        position % row != 0)
        ++ranges.back().count;
    else
        ranges.push_back({position, 1});
}

/// Finds the columns of this rank's elements that each rank needs. A rank keeps, for a range of
/// columns, who holds and who needs them.
/// @param takers  receives the columns of each rank, in their order
/// @note Collective
Status Mapping::find_takers(Ranks& ranks, const ColumnSet& held,
                            std::map<int, Integers>& takers) const {
    Letters letters;
    Status mine = detail::catch_errors([&] {
        const auto keeper = [&](std::int64_t column) {
            return static_cast<int>(column * ranks.size() / map_->sources);
        };
        for (const std::int64_t column : map_->columns.list())
            append(letters[keeper(column)], column);
        for (const std::int64_t column : held.list()) append(letters[keeper(column)], -1 - column);
    });
    if (Status status = exchange(ranks, letters, std::move(mine)); !status.ok()) return status;
    mine = detail::catch_errors([&] {
        Integers columns;
        std::vector<int> holders;
        for (auto& [rank, letter] : letters)
            for (const std::int64_t word : values_in<std::int64_t>(letter))
                if (word < 0) {
                    columns.push_back(-1 - word);
                    holders.push_back(rank);
                }
        const ColumnSet kept(columns);
        const Lists of_kept(kept.size(), std::ssize(columns),
                            [&](auto i) { return kept.number(columns[i]); });
        Letters needed;
        for (auto& [rank, letter] : letters)
            for (const std::int64_t word : values_in<std::int64_t>(letter)) {
                if (word < 0) break;
                const std::int64_t n = kept.number(word);
                for (std::int64_t i = n < 0 ? 0 : of_kept.begin[n]; i < of_kept.begin[n + 1]; ++i)
                    append(needed[holders[of_kept.items[i]]], std::array{std::int64_t{rank}, word});
            }
        letters = std::move(needed);
    });
    if (Status status = exchange(ranks, letters, std::move(mine)); !status.ok()) return status;
    mine = detail::catch_errors([&] {
        for (auto& [keeper, letter] : letters)
            for (const auto& [rank, column] : values_in<std::array<std::int64_t, 2>>(letter))
                takers[static_cast<int>(rank)].push_back(column);
    });
    return ranks.agree(mine, 0, {});
}

Status Mapping::connect(Ranks& ranks) {
    Integers column, other;
    ColumnSet held;
    std::map<int, Integers> takers;
    Letters letters;
    Status mine = detail::catch_errors([&] {
        for_elements(part_, [&](std::int64_t, const Integers& at) {
            column.push_back(dot(at, to_column_));
            other.push_back(dot(at, to_other_));
        });
        held = ColumnSet(column);
        // Every rank has all elements of a replicated field.
        if (part_.replicated) takers[ranks.rank()] = map_->columns.list();
    });
    if (Status s = ranks.agree(mine, 0, {}); !s.ok()) return s;
    if (!part_.replicated)
        if (Status s = find_takers(ranks, held, takers); !s.ok()) return s;
    takers_.clear();
    mine = detail::catch_errors([&] {
        const Lists elements(held.size(), std::ssize(column),
                             [&](auto i) { return held.number(column[i]); });
        for (const auto& [rank, columns] : takers) {
            Integers own;
            for (const std::int64_t each : columns) {
                const auto list = elements.begin.begin() + held.number(each);
                own.insert(own.end(), elements.items.begin() + list[0],
                           elements.items.begin() + list[1]);
            }
            const Lists sorted(others_, std::ssize(own), [&](auto i) { return other[own[i]]; });
            Peer& taker = takers_.emplace_back(rank);
            std::vector<char>& letter = letters[rank];
            for (const std::int64_t i : sorted.items) {
                taker.add(own[i], std::numeric_limits<std::int64_t>::max());
                append(letter, other[own[i]] * map_->sources + column[own[i]]);
            }
        }
    });
    if (Status s = exchange(ranks, letters, std::move(mine)); !s.ok()) return s;
    sources_.clear();
    mine = detail::catch_errors([&] {
        for (auto& [rank, letter] : letters) {
            Peer& source = sources_.emplace_back(rank);
            for (const std::int64_t place : values_in<std::int64_t>(letter))
                source.add(place / map_->sources * map_->columns.size() +
                               map_->columns.number(place % map_->sources),
                           map_->columns.size());
        }
        std::vector<bool> held_by_any(others_ * map_->columns.size());
        for (const Peer& source : sources_)
            for (const auto [first, count] : source.ranges)
                std::fill_n(held_by_any.begin() + first, count, true);
        complete_ = std::ranges::find(held_by_any, false) == held_by_any.end();
        columns_.resize(map_->columns.size());
    });
    return ranks.agree(mine, 0, {});
}

Mapped::Mapped(const Mapping& mapping, const Reducible& from, Divisors divisors)
    : mapping_(mapping), divisors_(divisors) {
    if (from.values == nullptr) return;
    for (const Mapping::Peer& taker : mapping.takers_) {
        std::vector<char>& letter = sent_.emplace_back();
        const std::size_t arrays = divisors == Divisors::one ? 1 : 2;
        const std::size_t bytes_of_all = (1 + taker.elements * arrays) * sizeof(double);
        letter.reserve(bytes_of_all);
        append(letter, from.divisor);
        if (arrays == 1) {
            for (const auto [first, count] : taker.ranges) {
                const auto* const bytes = reinterpret_cast<const char*>(from.values + first);
                letter.insert(letter.end(), bytes, bytes + count * sizeof(double));
            }
            continue;
        }
        letter.resize(bytes_of_all);
        double* to = values_in<double>(letter).data() + 1;
        for (const auto [first, count] : taker.ranges)
            for (std::int64_t e = first; e < first + count; ++e) {
                const bool counts = from.weights[e] > 0 && from.weights[e] >= from.least;
                to[taker.elements] = counts ? from.weights[e] : 0;
                *to++ = counts ? from.values[e] : 0;
            }
    }
}

Status Mapped::exchange(Ranks& ranks, std::span<Mapped* const> all) {
    if (all.empty()) return {};
    Letters letters;
    Status mine = detail::catch_errors([&] {
        for (Mapped* one : all) {
            for (std::size_t i = 0; i < one->sent_.size(); ++i) {
                std::vector<char>& to = letters[one->mapping_.takers_[i].rank];
                if (to.empty())
                    to = std::move(one->sent_[i]);
                else
                    to.insert(to.end(), one->sent_[i].begin(), one->sent_[i].end());
            }
            one->sent_.clear();
        }
    });
    mine = send(ranks, letters, std::move(mine));
    const auto map_all = [&] {
        std::map<int, const double*> next;
        for (const auto& [rank, bytes] : letters)
            next[rank] = reinterpret_cast<const double*>(bytes.data());
        for (Mapped* one : all) one->map(next);
    };
    if (mine.ok()) mine = detail::catch_errors(map_all);
    return ranks.agree(mine, 0, {});
}

/// Maps the elements that have come. @param next  position in what has come of each rank
void Mapped::map(std::map<int, const double*>& next) {
    const Map& map = mapping_.map();
    const bool weighs = divisors_ != Divisors::one;
    const std::int64_t rows = map.rows(), columns = map.columns.size(), after = mapping_.after_;
    std::vector<double>&from = mapping_.columns_, &weights = mapping_.weights_;
    if (weighs) weights.resize(columns);
    struct Sent {
        const double* values;
        std::size_t range;
    };
    std::vector<Sent> taken;  // of each source
    for (const Mapping::Peer& source : mapping_.sources_) {
        const double*& sent = next.at(source.rank);
        whole_ = *sent++;
        taken.push_back({sent, 0});
        sent += source.elements * (weighs ? 2 : 1);
    }
    values_.resize(rows * mapping_.others_);
    std::vector<double> level(after == 1 ? 0 : rows);
    for (std::int64_t other = 0; other < mapping_.others_; ++other) {
        bool missing = !mapping_.complete_;
        if (missing) {
            std::ranges::fill(from, weighs ? 0 : missing_mark);
            std::ranges::fill(weights, 0);
        }
        for (std::size_t s = 0; s < taken.size(); ++s) {
            const Mapping::Peer& source = mapping_.sources_[s];
            auto& [sent, at] = taken[s];
            for (; at < source.ranges.size(); ++at) {
                const auto [first, count] = source.ranges[at];
                const std::int64_t column = first - other * columns;
                if (column >= columns) break;
                for (std::int64_t i = 0; i < count; ++i) {
                    from[column + i] = sent[i];
                    missing |= is_missing(sent[i]);
                }
                if (weighs) std::copy_n(sent + source.elements, count, weights.data() + column);
                sent += count;
            }
        }
        missing_ = missing;
        double* const to = values_.data() + other / after * rows * after + other % after;
        if (!weighs && !missing_) {
            sum(from.data(), after == 1 ? to : level.data());
            for (std::size_t row = 0; row < level.size(); ++row) to[row * after] = level[row];
            continue;
        }
        for (std::int64_t row = 0; row < rows; ++row)
            to[row * after] =
                weighs ? quotient(row, from.data(), weights.data()) : value(row, from.data());
    }
}

/// Computes the elements of the target if none is missing in the source: some of them at the same
/// time, as each has to wait for its own sums.
void Mapped::sum(const double* from, double* to) const {
    constexpr std::int64_t together = 4;
    const Map& map = mapping_.map();
    const auto product = [&](std::int64_t i) { return map.weight[i] * from[map.column[i]]; };
    for (std::int64_t row = 0; row < map.rows(); row += together) {
        const std::int64_t n = std::min(together, map.rows() - row);
        const std::int64_t* const begin = map.begin.data() + row;
        std::int64_t all = n == together ? begin[1] - begin[0] : 0;
        for (std::int64_t k = 1; k < n; ++k) all = std::min(all, begin[k + 1] - begin[k]);
        std::array<double, together> sums;
        for (std::int64_t k = 0; k < n; ++k)
            sums[k] = begin[k] == begin[k + 1] ? missing_mark : product(begin[k]);
        for (std::int64_t i = 1; i < all; ++i)
            for (std::int64_t k = 0; k < together; ++k) sums[k] += product(begin[k] + i);
        for (std::int64_t k = 0; k < n; ++k) {
            for (std::int64_t i = begin[k] + std::max<std::int64_t>(all, 1); i < begin[k + 1]; ++i)
                sums[k] += product(i);
            to[row + k] = sums[k];
        }
    }
}

/// Tests if enough of the weights of an element belongs to valid elements of the source.
static bool suffices(const Map& map, double share) {
    return share > std::max(map.rules.min_fraction, 1e-10);
}

/// Returns an element of the target; missing_mark if it has no value.
double Mapped::value(std::int64_t row, const double* from) const {
    const Map& map = mapping_.map();
    std::int64_t i = map.begin[row];
    const std::int64_t end = map.begin[row + 1];
    if (i == end) return missing_mark;
    double sum = 0, valid = 0, all = 0;
    std::int64_t n = 0;
    for (; i < end; ++i) {
        const double x = from[map.column[i]], weight = map.weight[i];
        all += weight;
        if (is_missing(x)) continue;
        sum = n == 0 ? weight * x : sum + weight * x;
        valid += weight;
        ++n;
    }
    using enum MapTable::Missing;
    if (n == end - map.begin[row]) return sum;
    if (n == 0 || map.rules.missing == propagate) return missing_mark;
    if (map.rules.missing == zero) return sum;
    const double share = valid / all;
    return suffices(map, share) ? sum / share : missing_mark;
}

/// Returns an element of the target of a mean whose elements have weights; missing_mark if it has
/// no value.
double Mapped::quotient(std::int64_t row, const double* from, const double* divisors) const {
    const Map& map = mapping_.map();
    double sum = 0, divisor = 0, all = 0;
    bool whole = true, complete = true;
    for (std::int64_t i = map.begin[row]; i < map.begin[row + 1]; ++i) {
        const double d = divisors[map.column[i]], weight = map.weight[i];
        sum += weight * from[map.column[i]];
        divisor += weight * d;
        all += weight;
        whole = whole && d > 0;
        complete = complete && d == whole_;
    }
    using enum MapTable::Missing;
    if (!(divisor > 0) || (map.rules.missing == propagate && !whole)) return missing_mark;
    if (divisors_ == Divisors::field) return sum / divisor;
    if (map.rules.missing == zero) return sum / whole_;
    return complete || suffices(map, divisor / (all * whole_)) ? all * sum / divisor : missing_mark;
}

}  // namespace thalweg::history
