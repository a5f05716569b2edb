// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>

#include "history/selection/part.hpp"

namespace thalweg::history {

namespace {

/// Elements along a dimension that are adjacent in memory and among the chosen elements.
struct Range {
    std::int64_t from = 0;  ///< position in memory
    std::int64_t to = 0;    ///< index among the chosen elements
    std::int64_t count = 0;
};
using Ranges = std::vector<Range>;

/// @param chosen  null: all
Ranges chosen_ranges(std::int64_t low, std::int64_t count, const Integers* chosen) {
    if (chosen == nullptr) return {{0, low, count}};
    Ranges found;
    for (std::int64_t to = 0; to < std::ssize(*chosen); ++to) {
        const std::int64_t at = (*chosen)[to] - low;
        if (at < 0 || at >= count) continue;
        if (!found.empty() && found.back().from + found.back().count == at &&
            found.back().to + found.back().count == to)
            ++found.back().count;
        else
            found.push_back({at, to, 1});
    }
    return found;
}

template <class Visit>
void combine_ranges(const std::vector<Ranges>& all, Visit&& visit, Ranges one = {}) {
    const std::size_t d = one.size();
    if (d == all.size()) {
        visit(one);
        return;
    }
    one.emplace_back();
    for (const Range& range : all[d]) {
        one[d] = range;
        combine_ranges(all, visit, one);
    }
}

/// @return null: all
const Integers* chosen_along(const Choice& choice, const std::string& dim) {
    const auto found = choice.along.find(dim);
    return found == choice.along.end() ? nullptr : &found->second;
}

/// Returns the dimensions of a part after the pick. In a list, the new dimension is a listed one.
Names dims_of_part(const Part& part, const Pick& pick) {
    if (part.listed == 0 || pick.dims.empty()) return picked_dims(part.dims, pick);
    Names dims;
    bool among = false;
    for (int d = 0; d < part.nd(); ++d)
        among = among || (part.lists(d) && place_of(part.dims[d], pick.dims) >= 0);
    for (int d = 0; d < part.nd(); ++d) {
        if (d == part.first_listed && !among) dims.push_back(pick.dim);
        if (part.lists(d) || place_of(part.dims[d], pick.dims) < 0) dims.push_back(part.dims[d]);
    }
    return picked_dims(dims, pick);
}

/// A part of which elements are chosen, and the result: boxes of boxes, or a list of a list.
class Chooser {
public:
    Chooser(const Part& part, const Choice& choice)
        : part_(part), choice_(choice), picks_(!choice.pick.dims.empty()) {
        Part& to = chosen_.part;
        to.dims = dims_of_part(part, choice.pick);
        to.replicated = part.replicated;
        for (const std::string& dim : to.dims) {
            const int from = place_of(dim, part.dims);
            const Integers* along = chosen_along(choice, dim);
            to.shape.push_back(from < 0           ? choice.pick.size()
                               : along != nullptr ? std::ssize(*along)
                                                  : part.shape[from]);
        }
        for (const std::string& dim : part.dims) {
            places_.push_back(place_of(dim, choice.pick.dims));
            targets_.push_back(place_of(places_.back() < 0 ? dim : choice.pick.dim, to.dims));
        }
    }

    Chosen choose_boxes() {
        if (part_.replicated) {
            chosen_.part.boxes = 1;
            chosen_.part.start.assign(chosen_.part.shape.size(), 0);
            chosen_.part.count = chosen_.part.shape;
            chosen_.elements = volume(chosen_.part.shape);
        }
        const std::int64_t n = picked_elements();
        for (int b = 0; b < part_.boxes; ++b)
            for (std::int64_t first = 0, last = 0; first < n; first = last + 1) {
                for (last = first; last < n && holds(b, last);) ++last;
                if (last > first) add_box(b, first, last);
            }
        return std::move(chosen_);
    }

    Chosen choose_listed() {
        Part& to = chosen_.part;
        for (int d = 0; d < part_.nd(); ++d) {
            to.first_listed += d < part_.first_listed && places_[d] < 0;
            to.listed += part_.lists(d) && places_[d] < 0;
        }
        to.listed += picks_;
        find_entries();
        Integers extent;
        for (int t = 0; t < to.nd(); ++t) {
            if (t == to.first_listed) extent.push_back(std::ssize(to.indices));
            if (!to.lists(t)) extent.push_back(to.shape[t]);
        }
        for (const Entry& entry : entries_) add_entry(entry, dense_steps(extent));
        chosen_.elements = volume(extent);
        return std::move(chosen_);
    }

private:
    /// Adjacent positions of the list, and the element that is picked there.
    struct Entry {
        Range range;
        std::int64_t element = 0;
    };

    std::int64_t picked_elements() const { return picks_ ? choice_.pick.size() : 1; }

    std::int64_t index(std::int64_t element, int d) const {
        return choice_.pick.at[element * std::ssize(choice_.pick.dims) + places_[d]];
    }

    bool holds(int box, std::int64_t element) const {
        for (int d = 0; d < part_.nd(); ++d) {
            if (places_[d] < 0) continue;
            const std::int64_t at = index(element, d) - part_.start[box * part_.nd() + d];
            if (at < 0 || at >= part_.count[box * part_.nd() + d]) return false;
        }
        return true;
    }

    /// Adds the picked elements [first, last), which a box holds, as one box for each combination
    /// of ranges. If every rank has all elements, the chosen ones stay one box.
    void add_box(int box, std::int64_t first, std::int64_t last) {
        const std::int64_t* const low = part_.start.data() + box * part_.nd();
        std::vector<Ranges> all;
        for (int d = 0; d < part_.nd(); ++d)
            all.push_back(places_[d] >= 0 ? Ranges{{0, first, last - first}}
                                          : chosen_ranges(low[d], part_.count[box * part_.nd() + d],
                                                          chosen_along(choice_, part_.dims[d])));
        combine_ranges(all, [&](const Ranges& ranges) {
            Integers start(chosen_.part.shape.size()), count(start);
            for (std::size_t d = 0; d < ranges.size(); ++d) {
                start[targets_[d]] = ranges[d].to;
                count[targets_[d]] = ranges[d].count;
            }
            if (volume(count) == 0) return;
            const Integers step = dense_steps(part_.replicated ? chosen_.part.shape : count);
            const std::int64_t to = part_.replicated ? dot(start, step) : chosen_.elements;
            for (std::int64_t element = first; element < last; ++element) {
                ChosenBox piece{box, {}, {}, to, {}};
                for (int d = 0; d < part_.nd(); ++d) {
                    const bool picked = places_[d] >= 0;
                    piece.start.push_back(picked ? index(element, d) - low[d] : ranges[d].from);
                    piece.count.push_back(picked ? 1 : ranges[d].count);
                    piece.step.push_back(step[targets_[d]]);
                    if (picked) piece.to = to + (element - first) * step[targets_[d]];
                }
                chosen_.pieces.push_back(std::move(piece));
            }
            if (part_.replicated) return;
            chosen_.part.start.insert(chosen_.part.start.end(), start.begin(), start.end());
            chosen_.part.count.insert(chosen_.part.count.end(), count.begin(), count.end());
            ++chosen_.part.boxes;
            chosen_.elements += volume(count);
        });
    }

    /// Finds the chosen positions of the list, and their indices in the new list.
    void find_entries() {
        const int end = part_.first_listed + part_.listed;
        // Picked elements by their listed indices.
        std::unordered_map<std::int64_t, Integers> elements;
        for (std::int64_t e = 0; e < picked_elements(); ++e) {
            std::int64_t key = 0;
            for (int d = part_.first_listed; d < end; ++d)
                if (places_[d] >= 0) key = key * part_.shape[d] + index(e, d);
            elements[key].push_back(e);
        }
        // New index of each index along each dimension; -1: it was not chosen; empty: unchanged.
        std::vector<Integers> renumbered(part_.nd());
        bool picks_beside = false;  // elements are also picked along dimensions beside the list
        for (int d = 0; d < part_.nd(); ++d) {
            picks_beside |= !part_.lists(d) && places_[d] >= 0;
            const Integers* along = chosen_along(choice_, part_.dims[d]);
            if (along == nullptr || !part_.lists(d)) continue;
            renumbered[d].assign(part_.shape[d], -1);
            for (std::int64_t k = 0; k < std::ssize(*along); ++k) renumbered[d][(*along)[k]] = k;
        }
        Integers at(part_.nd()), to(chosen_.part.nd());
        for (std::int64_t p = 0; p < std::ssize(part_.indices); ++p) {
            std::int64_t rest = part_.indices[p], key = 0;
            if (rest < 0) continue;
            for (int d = end; d-- > part_.first_listed; rest /= part_.shape[d])
                at[d] = rest % part_.shape[d];
            bool inside = true;
            for (int d = part_.first_listed; d < end; ++d) {
                if (places_[d] >= 0) {
                    key = key * part_.shape[d] + at[d];
                    continue;
                }
                to[targets_[d]] = renumbered[d].empty() ? at[d] : renumbered[d][at[d]];
                inside = inside && to[targets_[d]] >= 0;
            }
            const auto found = elements.find(key);
            if (found == elements.end() || !inside) continue;
            for (const std::int64_t e : found->second) {
                // Adjacent positions of the list stay adjacent.
                if (!entries_.empty() && !picks_beside &&
                    entries_.back().range.from + entries_.back().range.count == p)
                    ++entries_.back().range.count;
                else
                    entries_.push_back({{p, std::ssize(chosen_.part.indices), 1}, e});
                chosen_.part.indices.push_back(listed_index(to, e));
            }
        }
    }

    std::int64_t listed_index(const Integers& to, std::int64_t element) const {
        const Part& part = chosen_.part;
        std::int64_t result = 0;
        for (int t = part.first_listed; t < part.first_listed + part.listed; ++t)
            result = result * part.shape[t] +
                     (picks_ && part.dims[t] == choice_.pick.dim ? element : to[t]);
        return result;
    }

    /// Adds the elements at adjacent positions of the list.
    /// @param step  distances in the dense array of all chosen elements
    void add_entry(const Entry& entry, const Integers& step) {
        std::vector<Ranges> all;
        std::vector<bool> picked;
        for (int d = 0; d < part_.nd(); ++d) {
            if (d == part_.first_listed) all.push_back({entry.range});
            if (!part_.lists(d))
                all.push_back(
                    places_[d] >= 0
                        ? Ranges{{index(entry.element, d), 0, 1}}
                        : chosen_ranges(0, part_.shape[d], chosen_along(choice_, part_.dims[d])));
            picked.resize(all.size(), !part_.lists(d) && places_[d] >= 0);
        }
        combine_ranges(all, [&](const Ranges& ranges) {
            ChosenBox piece;
            for (std::size_t i = 0, t = 0; i < ranges.size(); ++i) {
                piece.start.push_back(ranges[i].from);
                piece.count.push_back(ranges[i].count);
                piece.step.push_back(picked[i] ? 0 : step[t++]);
                piece.to += piece.step.back() * ranges[i].to;
            }
            if (volume(piece.count) > 0) chosen_.pieces.push_back(std::move(piece));
        });
    }

    const Part& part_;
    const Choice& choice_;
    bool picks_;
    /// For each dimension of the part: its position among the dimensions that the pick replaces by
    /// one dimension (Choice::pick.dims); -1: the pick does not replace it.
    std::vector<int> places_;
    /// For each dimension of the part: the dimension of the result.
    std::vector<int> targets_;
    std::vector<Entry> entries_;
    Chosen chosen_;
};

}  // namespace

Pick restricted(const Pick& pick, const Names& dims) {
    Pick result{pick.dim, {}, {}};
    Integers places;
    for (std::int64_t i = 0; i < std::ssize(pick.dims); ++i)
        if (place_of(pick.dims[i], dims) >= 0) {
            places.push_back(i);
            result.dims.push_back(pick.dims[i]);
        }
    if (places.empty()) return {};
    for (std::int64_t e = 0; e < pick.size(); ++e)
        for (const std::int64_t place : places)
            result.at.push_back(pick.at[e * std::ssize(pick.dims) + place]);
    return result;
}

Names picked_dims(const Names& dims, const Pick& pick) {
    Names result;
    for (const std::string& dim : dims) {
        if (place_of(dim, pick.dims) < 0)
            result.push_back(dim);
        else if (place_of(pick.dim, result) < 0)
            result.push_back(pick.dim);
    }
    return result;
}

Chosen choose(const Part& part, const Choice& choice) {
    Chooser chooser(part, choice);
    return part.listed > 0 ? chooser.choose_listed() : chooser.choose_boxes();
}

}  // namespace thalweg::history
