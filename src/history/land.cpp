// Stations of fields whose land is known by the elements that are missing in their first sample.
// Until then, a stream keeps the samples of all elements.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "history/history.hpp"
#include "history/selection/step_values.hpp"
#include "index/types.hpp"

namespace thalweg::history {

bool History::waits(OutputStream& stream) const {
    return std::ranges::any_of(stream.variables(), [&](const auto& variable) {
        return picks_.waits(stream.table(), variable->field);
    });
}

/// Finds the elements, as a pick numbers them, that are missing at all levels in what was sent of a
/// field.
static std::set<std::int64_t> find_missing(const RegionPick& pick, const Field& field) {
    const char* const values = field.examined ? field.examined->data() : nullptr;
    if (values == nullptr) return {};
    const tw_type type = field.type;
    const double mark = number_of(type, field.missing_value);
    const Integers steps = steps_along(field.part.dims, pick.pick.dims, pick.shape);
    std::unordered_map<std::int64_t, bool> valid;
    for_elements(field.examined->part(), [&](std::int64_t i, const Integers& at) {
        const double x = number_of(type, values + i * detail::size_of(type));
        const bool is_missing = x == mark || (std::isnan(x) && std::isnan(mark));
        valid[dot(at, steps)] |= !is_missing;
    });
    std::set<std::int64_t> missing;
    for (const auto& [place, is] : valid)
        if (!is) missing.insert(place);
    return missing;
}

/// Lists the picks of the waiting streams. The fields of a stream have the same stations, whichever
/// of them are missing on land.
std::vector<History::PickGroup> History::waiting_groups(const std::vector<Due>& due) const {
    std::vector<PickGroup> groups;
    for (OutputStream* stream : waiting_) {
        std::map<Names, PickGroup> own;  // by dimensions
        for (const auto& variable : stream->variables()) {
            if (!picks_.waits(stream->table(), variable->field)) continue;
            const RegionPick* const pick = picks_.of(stream->table(), variable->field);
            PickGroup& group = own[pick->pick.dims];
            group.picks.insert(pick);
            const bool shows = variable->field.missing == Missing::fixed;
            if (shows) group.shows.insert(&variable->field);
            // The record of a field that was wanted, but not sent, is not written.
            for (const Due& one : due)
                if (one.stream == stream && shows)
                    group.is_due |= !variable->samples.record(one.number).wanted;
        }
        for (auto& [dims, group] : own) {
            if (group.shows.empty())
                group.is_due = std::ranges::find(due, stream, &Due::stream) != due.end();
            groups.push_back(std::move(group));
        }
    }
    return groups;
}

/// Makes the streams again whose stations have been found, with the samples that they have. Local.
Status History::make_again(const std::set<const RegionPick*>& found) {
    std::map<std::pair<const Chosen*, const Chosen*>, Integers> places;
    for (std::size_t s = 0; s < streams_.size(); ++s) {
        OutputStream& stream = *streams_[s];
        auto& variables = stream.variables();
        if (std::ranges::none_of(variables, [&](const auto& variable) {
                return found.contains(picks_.of(stream.table(), variable->field));
            }))
            continue;
        const auto old = std::exchange(variables, {});
        for (Field& field : declared_.fields())
            for (auto* list : {&field.users, &field.weighed})
                std::erase_if(*list, [&](const SampleTaker* taker) {
                    return std::ranges::any_of(
                        old, [&](const auto& each) { return &each->samples == taker; });
                });
        stream.outputs().clear();
        if (Status status = make_variables(stream, resolved_[s]); !status.ok()) return status;
        for (std::size_t v = 0; v < old.size(); ++v) {
            Variable& variable = *variables[v];
            if (const std::optional<Time> from = stream.rules().from) variable.begin_at(*from);
            if (const auto& change = stream.rules().change) variable.rules.change = *change;
            Integers& at = places[{&old[v]->taken, &variable.taken}];
            const Pick pick = old[v]->pick.dims.empty() ? variable.pick : Pick{};
            if (at.empty() && !find_places(variable.taken.part, old[v]->taken.part, at, pick))
                return failure(TW_EBOUNDS, "stream '{}': stations are not among the samples",
                               stream.table().name);
            variable.samples.take_over(old[v]->samples, at);
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
            return field->examined && field->examined->data() != nullptr;
        };
        const auto holds = [](const Field* field) {
            return field->examined && field->examined->elements() > 0;
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
    std::set<const RegionPick*> found;
    Status mine = detail::catch_errors([&]() -> Status {
        for (std::size_t g = 0; g < groups.size(); ++g) {
            if (!settles(g)) continue;
            std::set<std::int64_t> missing;
            for (const Field* field : groups[g].shows)
                missing.merge(find_missing(**groups[g].picks.begin(), *field));
            for (const RegionPick* pick : groups[g].picks) land[pick->number] = missing;
            found.insert(groups[g].picks.begin(), groups[g].picks.end());
        }
        return {};
    });
    for (Field& field : declared_.fields()) field.examined.reset();
    Status status = picks_.skip_land(mine, land);
    if (!status.ok()) return status;
    mine = detail::catch_errors([&] { return make_again(found); });
    status = ranks_.agree(mine, 0, {});
    if (status.ok()) status = choices_.declare(ranks_);
    return broken_ = status;
}

}  // namespace thalweg::history
