// Stations of fields whose land is known by the elements that are missing in their first sample.
// The step of that sample is taken when it ends.
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
std::set<std::int64_t> History::find_missing(const RegionPick& pick, const Field& field,
                                             const std::vector<Sent>& sent) const {
    std::vector<SentBox> boxes;
    for (const Sent& one : sent)
        if (one.field == &field)
            boxes.insert(boxes.end(), one.copies.boxes.begin(), one.copies.boxes.end());
    if (boxes.empty()) return {};
    const tw_type type = field.declared.type;
    const std::int64_t size = detail::size_of(type);
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
    for (const std::string& dim : field.part.dims)
        if (std::ranges::find(pick.pick.dims, dim) == pick.pick.dims.end()) {
            across.push_back(dim);
            levels *= declared_.lengths().at(dim);
        }
    Part part;
    for (std::int64_t level = 0; level < levels; ++level) {
        Choice choice;
        std::int64_t rest = level;
        for (const std::string& dim : across) {
            choice.along[dim] = {rest % declared_.lengths().at(dim)};
            rest /= declared_.lengths().at(dim);
        }
        const Chosen chosen = choose(field.part, choice);
        if (!same_part(chosen.part, part)) {
            note();
            places.clear();
            for_elements(chosen.part, [&](std::int64_t, const auto& at) {
                places.push_back(picks_.index(pick, at));
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

/// Finds land for all picks of streams that wait for it. The fields of a stream have the same
/// stations, whichever of them are missing on land.
Land History::find_land(const std::vector<Stream*>& streams, const std::vector<Sent>& sent) const {
    Land land;
    for (Stream* stream : streams) {
        std::map<std::vector<std::string>, std::set<std::int64_t>> missing;  // by dimensions
        std::set<const Field*> done;
        const auto for_picks = [&](auto&& visit) {
            for (const auto& variable : stream->variables())
                if (picks_.waits(stream->table(), variable->field()))
                    visit(*picks_.of(stream->table(), variable->field()), variable->field());
        };
        for_picks([&](const RegionPick& pick, const Field& field) {
            if (field.declared.missing == Missing::fixed && done.insert(&field).second)
                missing[pick.pick.dims].merge(find_missing(pick, field, sent));
        });
        for_picks([&](const RegionPick& pick, const Field&) {
            const auto& places = missing[pick.pick.dims];
            land[&pick].insert(places.begin(), places.end());
        });
    }
    return land;
}

/// Makes the streams again whose picks have changed, before their first sample. Local.
Status History::make_again(const std::set<const RegionPick*>& changed) {
    for (std::size_t s = 0; s < streams_.size(); ++s) {
        Stream& stream = *streams_[s];
        auto& variables = stream.variables();
        if (std::ranges::none_of(variables, [&](const auto& variable) {
                return changed.contains(picks_.of(stream.table(), variable->field()));
            }))
            continue;
        for (Field& field : declared_.fields())
            for (auto* list : {&field.users, &field.weighed})
                std::erase_if(*list, [&](const Variable* old) {
                    return std::ranges::any_of(
                        variables, [&](const auto& variable) { return variable.get() == old; });
                });
        stream.outputs().clear();
        variables.clear();
        if (Status status = make_variables(stream, resolved_[s]); !status.ok()) return status;
        if (const std::optional<Time> from = stream.rules().from)
            for (const auto& variable : variables) variable->begin_at(*from);
    }
    return {};
}

/// Chooses elements that are not on land, and takes the step. @note Collective
Status History::settle_land() {
    const std::vector<Stream*> streams = std::exchange(waiting_, {});
    const std::vector<Sent> sent = std::exchange(sent_, {});
    Land land;
    Status mine = detail::alone([&]() -> Status {
        land = find_land(streams, sent);
        return {};
    });
    std::set<const RegionPick*> changed;
    Status status = picks_.skip_land(mine, land, changed);
    if (status.ok()) {
        mine = detail::alone([&] { return make_again(changed); });
        status = ranks_.agree(mine, 0, {});
        if (status.ok()) status = choices_.declare(ranks_);
        broken_ = status;
    }
    for (Stream* stream : streams) {
        (void)stream->plan_step(previous_, now_);  // cannot fail: the step was planned before
        stream->begin_step();
    }
    if (!status.ok()) return status;
    for (const Sent& one : sent)
        give(*one.field, one.copies.boxes, one.weight ? &*one.weight : nullptr, one.first,
             one.last);
    return {};
}

}  // namespace thalweg::history
