// Stations of fields whose land is known by the elements that are missing in their first sample.
// Until then, a stream keeps the samples of all elements.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "history/history.hpp"
#include "history/places.hpp"
#include "index/types.hpp"

namespace thalweg::history {

bool History::waits(Stream& stream) const {
    return std::ranges::any_of(stream.variables(), [&](const auto& variable) {
        return picks_.waits(stream.table(), variable->field());
    });
}

/// Finds the elements that are missing in what was sent of a field, at all levels.
static std::set<std::int64_t> find_missing(const RegionPicks& picks,
                                           const std::map<std::string, std::int64_t>& lengths,
                                           const RegionPick& pick, const Field& field) {
    if (!field.examined || field.examined->values.empty()) return {};
    const Part& all = field.examined->all.part;
    const tw_type type = field.declared.type;
    const std::int64_t size = detail::size_of(type);
    const auto boxes = dense_boxes(all, field.examined->values.data(), size);
    const double mark =
        number_of(type, reinterpret_cast<const char*>(field.declared.missing_value.data()));
    std::unordered_map<std::int64_t, bool> valid;
    Integers places;  // of the elements of a level
    std::vector<char> some, data;
    const auto note = [&] {
        for (std::size_t i = 0; i < places.size(); ++i) valid[places[i]] |= some[i] != 0;
    };
    std::vector<std::string> across;
    std::int64_t levels = 1;
    for (const std::string& dim : all.dims)
        if (std::ranges::find(pick.pick.dims, dim) == pick.pick.dims.end()) {
            across.push_back(dim);
            levels *= lengths.at(dim);
        }
    Part part;
    for (std::int64_t level = 0; level < levels; ++level) {
        Choice choice;
        std::int64_t rest = level;
        for (const std::string& dim : across) {
            choice.along[dim] = {rest % lengths.at(dim)};
            rest /= lengths.at(dim);
        }
        const Chosen chosen = choose(all, choice);
        if (!same_part(chosen.part, part)) {
            note();
            places.clear();
            for_elements(chosen.part, [&](std::int64_t, const auto& at) {
                places.push_back(picks.index(pick, at));
            });
            some.assign(places.size(), 0);
            part = chosen.part;
        }
        data.resize(chosen.elements * size);
        for (const SentBox& box : boxes) copy_elements(chosen, box, size, data.data());
        for (std::size_t i = 0; i < places.size(); ++i) {
            const double x = number_of(type, data.data() + static_cast<std::int64_t>(i) * size);
            if (x != mark && !(std::isnan(x) && std::isnan(mark))) some[i] = 1;
        }
    }
    note();
    std::set<std::int64_t> missing;
    for (const auto& [place, is] : valid)
        if (!is) missing.insert(place);
    return missing;
}

/// Lists the picks of the waiting streams. The fields of a stream have the same stations, whichever
/// of them are missing on land.
std::vector<History::PickGroup> History::waiting_groups(const std::vector<Due>& due) const {
    std::vector<PickGroup> groups;
    for (Stream* stream : waiting_) {
        std::map<std::vector<std::string>, PickGroup> own;  // by dimensions
        for (const auto& variable : stream->variables()) {
            if (!picks_.waits(stream->table(), variable->field())) continue;
            const RegionPick* const pick = picks_.of(stream->table(), variable->field());
            PickGroup& group = own[pick->pick.dims];
            group.picks.insert(pick);
            const bool shows = variable->field().declared.missing == Missing::fixed;
            if (shows) group.shows.insert(&variable->field());
            // The record of a field that was wanted, but not sent, is not written.
            for (const Due& one : due)
                if (one.stream == stream && shows)
                    group.is_due |= !variable->samples().record(one.number()).wanted;
        }
        for (auto& [dims, group] : own)
            if (group.shows.empty())
                group.is_due = std::ranges::find(due, stream, &Due::stream) != due.end();
        for (auto& [dims, group] : own) groups.push_back(std::move(group));
    }
    return groups;
}

/// Makes the streams again whose stations have been found, with the samples that they have. Local.
Status History::make_again(const std::set<const RegionPick*>& found) {
    std::map<std::pair<const Chosen*, const Chosen*>, Integers> places;
    for (std::size_t s = 0; s < streams_.size(); ++s) {
        Stream& stream = *streams_[s];
        auto& variables = stream.variables();
        if (std::ranges::none_of(variables, [&](const auto& variable) {
                return found.contains(picks_.of(stream.table(), variable->field()));
            }))
            continue;
        const auto old = std::exchange(variables, {});
        for (Field& field : declared_.fields())
            for (auto* list : {&field.users, &field.weighed})
                std::erase_if(*list, [&](const Variable* variable) {
                    return std::ranges::find(old, variable, &std::unique_ptr<Variable>::get) !=
                           old.end();
                });
        stream.outputs().clear();
        if (Status status = make_variables(stream, resolved_[s]); !status.ok()) return status;
        for (std::size_t v = 0; v < old.size(); ++v) {
            Variable& variable = *variables[v];
            if (const std::optional<Time> from = stream.rules().from) variable.begin_at(*from);
            Integers& at = places[{&old[v]->chosen(), &variable.chosen()}];
            const Pick pick = old[v]->pick().dims.empty() ? variable.pick() : Pick{};
            if (at.empty() && !find_places(variable.chosen().part, old[v]->chosen().part, at, pick))
                return detail::failure(TW_EBOUNDS,
                                       "stream '{}': stations are not among the samples",
                                       stream.table().name);
            variable.samples().take_over(old[v]->samples(), at);
        }
    }
    return {};
}

/// Finds the stations of waiting streams for which some rank has sent a field that is missing on
/// land, or a record is due. @note Collective
Status History::settle_land(const std::vector<Due>& due) {
    const std::vector<PickGroup> groups = waiting_groups(due);
    // A rank that holds elements, but has not sent all of them, does not know where its land is.
    constexpr std::int64_t has_sent = 1, has_not_sent = 2;
    std::vector<std::int64_t> sent;
    for (const PickGroup& group : groups) {
        const auto sends = [](const Field* field) {
            return field->examined && !field->examined->values.empty();
        };
        const auto holds = [](const Field* field) {
            return field->examined && field->examined->all.elements > 0;
        };
        sent.push_back(std::ranges::any_of(group.shows, sends)   ? has_sent
                       : std::ranges::any_of(group.shows, holds) ? has_not_sent
                                                                 : 0);
    }
    if (Status status = ranks_.agree({}, step_.now, sent); !status.ok()) return status;
    const auto settles = [&](std::size_t g) { return sent[g] == has_sent || groups[g].is_due; };
    bool any = false;
    for (std::size_t g = 0; g < groups.size(); ++g) any |= settles(g);
    if (!any) return {};
    Land land;
    Status mine = detail::alone([&]() -> Status {
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (!settles(g)) continue;
            std::set<std::int64_t> missing;
            for (const Field* field : groups[g].shows)
                missing.merge(
                    find_missing(picks_, declared_.lengths(), **groups[g].picks.begin(), *field));
            for (const RegionPick* pick : groups[g].picks) land[pick] = missing;
        }
        return {};
    });
    for (Field& field : declared_.fields()) field.examined.reset();
    std::set<const RegionPick*> found;
    Status status = picks_.skip_land(mine, land, found);
    if (!status.ok()) return status;
    mine = detail::alone([&] { return make_again(found); });
    status = ranks_.agree(mine, 0, {});
    if (status.ok()) status = choices_.declare(ranks_);
    return broken_ = status;
}

}  // namespace thalweg::history
