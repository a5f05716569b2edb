// SPDX-License-Identifier: Apache-2.0
#include "history/pick.hpp"

#include <algorithm>
#include <unordered_map>

#include "history/ranges.hpp"

namespace thalweg::history {

namespace {

/// Returns the position of a dimension among the replaced ones; -1 if it is not replaced.
int place_of(const Pick& pick, const std::string& dim) {
    const auto found = std::find(pick.dims.begin(), pick.dims.end(), dim);
    return found == pick.dims.end() ? -1 : static_cast<int>(found - pick.dims.begin());
}

/// Returns the dimensions of a part after the pick. In the part of a list, the new dimension is a
/// listed one.
std::vector<std::string> dims_of_part(const Part& part, const Pick& pick) {
    if (part.listed == 0) return picked_dims(part.dims, pick);
    std::vector<std::string> dims;
    bool among = false;
    for (int d = 0; d < part.nd(); ++d)
        among = among || (part.lists(d) && place_of(pick, part.dims[d]) >= 0);
    for (int d = 0; d < part.nd(); ++d) {
        if (d == part.first_listed && !among) dims.push_back(pick.dim);
        if (part.lists(d) || place_of(pick, part.dims[d]) < 0) dims.push_back(part.dims[d]);
    }
    return picked_dims(dims, pick);
}

/// A part whose elements are picked, and the dimensions of the result.
class Picker {
public:
    Picker(const Part& part, const Choice& choice) : part_(part), choice_(choice) {
        Part& to = chosen_.part;
        to.dims = dims_of_part(part, choice.pick);
        to.replicated = part.replicated;
        for (int d = 0; d < part.nd(); ++d) places_.push_back(place_of(choice.pick, part.dims[d]));
        for (const std::string& dim : to.dims) {
            const auto from = std::find(part.dims.begin(), part.dims.end(), dim);
            const Integers* along = chosen_along(choice, dim);
            to.shape.push_back(from == part.dims.end() ? choice.pick.size()
                               : along != nullptr      ? std::ssize(*along)
                                                       : part.shape[from - part.dims.begin()]);
        }
        for (int d = 0; d < part.nd(); ++d) {
            const auto& name = places_[d] < 0 ? part.dims[d] : choice.pick.dim;
            targets_.push_back(std::find(to.dims.begin(), to.dims.end(), name) - to.dims.begin());
        }
    }

    Chosen pick_boxes() {
        if (part_.replicated) choose_all(chosen_);
        const std::int64_t n = choice_.pick.size();
        for (int b = 0; b < part_.boxes; ++b)
            for (std::int64_t first = 0, last = 0; first < n; first = last + 1) {
                for (last = first; last < n && holds(b, last);) ++last;
                if (last > first) add_box(b, first, last);
            }
        return std::move(chosen_);
    }

    Chosen pick_listed() {
        chosen_.part.first_listed = 0;
        for (int d = 0; d < part_.first_listed; ++d) chosen_.part.first_listed += places_[d] < 0;
        for (int d = 0; d < part_.nd(); ++d)
            chosen_.part.listed += part_.lists(d) && places_[d] < 0;
        ++chosen_.part.listed;
        find_entries();
        Integers extent;
        for (std::size_t t = 0; t < chosen_.part.shape.size(); ++t) {
            if (t == first_listed()) extent.push_back(std::ssize(entries_));
            if (t < first_listed() || t >= first_listed() + chosen_.part.listed)
                extent.push_back(chosen_.part.shape[t]);
        }
        for (std::size_t q = 0; q < entries_.size(); ++q) add_entry(q, dense_steps(extent));
        chosen_.elements = elements_of(extent);
        return std::move(chosen_);
    }

private:
    /// A position of the list, and an element that is picked there.
    struct Entry {
        std::int64_t position = 0, element = 0;
    };

    std::size_t first_listed() const { return static_cast<std::size_t>(chosen_.part.first_listed); }

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

    /// Adds the elements [first, last), which a box holds, as one box for each combination of
    /// ranges.
    void add_box(int box, std::int64_t first, std::int64_t last) {
        const auto at = static_cast<std::size_t>(box) * part_.shape.size();
        std::vector<std::vector<Range>> all;
        for (std::size_t d = 0; d < part_.shape.size(); ++d)
            all.push_back(places_[d] >= 0 ? std::vector<Range>{{0, first, last - first}}
                                          : chosen_ranges(part_.start[at + d], part_.count[at + d],
                                                          chosen_along(choice_, part_.dims[d])));
        std::vector<Range> one;
        combine_ranges(all, one, [&](const std::vector<Range>& ranges) {
            Integers start(chosen_.part.shape.size()), count(chosen_.part.shape.size());
            for (std::size_t d = 0; d < ranges.size(); ++d) {
                start[targets_[d]] = ranges[d].to;
                count[targets_[d]] = ranges[d].count;
            }
            if (elements_of(count) == 0) return;
            const Integers step = dense_steps(part_.replicated ? chosen_.part.shape : count);
            std::int64_t to = part_.replicated ? 0 : chosen_.elements;
            for (std::size_t t = 0; t < start.size() && part_.replicated; ++t)
                to += start[t] * step[t];
            for (std::int64_t element = first; element < last; ++element) {
                ChosenBox piece;
                piece.box = box;
                for (int d = 0; d < part_.nd(); ++d) {
                    const bool picked = places_[d] >= 0;
                    piece.start.push_back(picked ? index(element, d) - part_.start[at + d]
                                                 : ranges[d].from);
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
            chosen_.elements += elements_of(count);
        });
    }

    /// Finds the positions of picked elements in the list, and their indices in the new list.
    void find_entries() {
        const int end = part_.first_listed + part_.listed;
        // Picked elements by their listed indices.
        std::unordered_map<std::int64_t, Integers> elements;
        for (std::int64_t e = 0; e < choice_.pick.size(); ++e) {
            std::int64_t key = 0;
            for (int d = part_.first_listed; d < end; ++d)
                if (places_[d] >= 0) key = key * part_.shape[d] + index(e, d);
            elements[key].push_back(e);
        }
        Integers at(part_.shape.size());
        for (std::size_t p = 0; p < part_.indices.size(); ++p) {
            std::int64_t rest = part_.indices[p], key = 0;
            if (rest < 0) continue;
            for (int d = end; d-- > part_.first_listed; rest /= part_.shape[d])
                at[d] = rest % part_.shape[d];
            bool inside = true;
            Integers to(chosen_.part.shape.size());
            for (int d = part_.first_listed; d < end; ++d) {
                if (places_[d] >= 0) {
                    key = key * part_.shape[d] + at[d];
                    continue;
                }
                const Integers* along = chosen_along(choice_, part_.dims[d]);
                to[targets_[d]] =
                    along == nullptr
                        ? at[d]
                        : std::find(along->begin(), along->end(), at[d]) - along->begin();
                inside = inside && to[targets_[d]] < chosen_.part.shape[targets_[d]];
            }
            const auto found = elements.find(key);
            if (found == elements.end() || !inside) continue;
            for (const std::int64_t e : found->second) {
                entries_.push_back({static_cast<std::int64_t>(p), e});
                chosen_.part.indices.push_back(listed_index(to, e));
            }
        }
    }

    std::int64_t listed_index(const Integers& to, std::int64_t element) const {
        std::int64_t result = 0;
        for (std::size_t t = first_listed(); t < first_listed() + chosen_.part.listed; ++t)
            result = result * chosen_.part.shape[t] +
                     (chosen_.part.dims[t] == choice_.pick.dim ? element : to[t]);
        return result;
    }

    /// Adds the elements at one position of the list.
    void add_entry(std::size_t q, const Integers& step) {
        const auto [position, element] = entries_[q];
        std::vector<std::vector<Range>> all;
        for (int d = 0; d < part_.nd(); ++d) {
            if (d == part_.first_listed)
                all.push_back({{position, static_cast<std::int64_t>(q), 1}});
            if (part_.lists(d)) continue;
            if (places_[d] >= 0)
                all.push_back({{index(element, d), 0, 1}});
            else
                all.push_back(
                    chosen_ranges(0, part_.shape[d], chosen_along(choice_, part_.dims[d])));
        }
        std::vector<Range> one;
        combine_ranges(all, one, [&](const std::vector<Range>& ranges) {
            ChosenBox piece;
            std::size_t t = 0;
            int d = 0;
            for (const Range& range : ranges) {
                const bool replaced = d < part_.nd() && !part_.lists(d) && places_[d] >= 0;
                piece.start.push_back(range.from);
                piece.count.push_back(range.count);
                piece.step.push_back(replaced ? 0 : step[t]);
                piece.to += replaced ? 0 : step[t++] * range.to;
                d += part_.lists(d) ? part_.listed : 1;
            }
            if (elements_of(piece.count) > 0) chosen_.pieces.push_back(std::move(piece));
        });
    }

    const Part& part_;
    const Choice& choice_;
    /// For each dimension of the part: position among the replaced ones, or -1.
    std::vector<int> places_;
    /// For each dimension of the part: the dimension of the result.
    std::vector<std::ptrdiff_t> targets_;
    std::vector<Entry> entries_;
    Chosen chosen_;
};

}  // namespace

Pick restricted(const Pick& pick, const std::vector<std::string>& dims) {
    Pick result{pick.dim, {}, {}};
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < pick.dims.size(); ++i) {
        if (std::find(dims.begin(), dims.end(), pick.dims[i]) == dims.end()) continue;
        places.push_back(i);
        result.dims.push_back(pick.dims[i]);
    }
    if (places.size() == pick.dims.size()) return pick;
    if (places.empty()) return {};
    for (std::int64_t e = 0; e < pick.size(); ++e)
        for (const std::size_t place : places)
            result.at.push_back(pick.at[e * std::ssize(pick.dims) + place]);
    return result;
}

std::vector<std::string> picked_dims(const std::vector<std::string>& dims, const Pick& pick) {
    std::vector<std::string> result;
    for (const std::string& dim : dims) {
        if (place_of(pick, dim) < 0)
            result.push_back(dim);
        else if (std::find(result.begin(), result.end(), pick.dim) == result.end())
            result.push_back(pick.dim);
    }
    return result;
}

Chosen choose_picked(const Part& part, const Choice& choice) {
    Picker picker(part, choice);
    return part.listed > 0 ? picker.pick_listed() : picker.pick_boxes();
}

}  // namespace thalweg::history
