// SPDX-License-Identifier: Apache-2.0
#include "reading/read_plans.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "exchange/read/straight.hpp"

namespace thalweg::detail {

namespace {

/// With halos, several ranks need the same elements. Ranks may read separately if at most one in
/// this number of elements is read twice.
constexpr std::int64_t most_twice = 4;

bool has_halo(const ArrayView& view) { return view.form != Form::without_halo; }

/// Selects the places that a call reads. Each variable is read once per record, even if it is
/// requested several times.
ReadSelection select(const ReadContext& file, std::span<const ReadRequest> requests) {
    using Key = std::array<std::int64_t, 3>;
    const auto key = [&](const ReadRequest& r) {
        return Key{file.source->position(r.variable, r.record), r.variable, r.record};
    };
    std::map<Key, ReadSelection::Run> found;
    for (const ReadRequest& r : requests) found[key(r)] = {};
    ReadSelection s;
    for (auto& [at, run] : found) {
        const int variable = at[1];
        const Variable& v = file.variable(variable);
        run.first = s.sources.size();
        if (v.elements() == 0) continue;
        const auto parts = file.source->parts(variable, file.readers.size());
        run.count = parts.size();
        for (const SourcePart& part : parts) {
            VariableSlot p = place_of(part.box, v.element(), part.grain);
            p.variable = s.sources.size();
            p.offset = s.space.bytes;
            s.space.bytes += p.padded;
            s.space.places.push_back(std::move(p));
            s.sources.push_back({variable, at[2], part});
        }
    }
    for (const ReadRequest& r : requests) s.places.push_back(found[key(r)]);
    return s;
}

/// Returns the key of a plan. A plan can be used for all reads with the same shapes, decompositions
/// and orders of dimensions.
std::vector<std::int64_t> key_of(std::span<const ReadRequest> requests, const ReadSelection& s) {
    std::vector<std::int64_t> key;
    for (const VariableSlot& p : s.space.places) {
        const Box& box = s.sources[p.variable].part.box;
        key.push_back(p.element);
        key.push_back(p.grain);
        key.push_back(box.nd);
        key.insert(key.end(), box.low.begin(), box.low.begin() + box.nd);
        key.insert(key.end(), box.count.begin(), box.count.begin() + box.nd);
    }
    for (std::size_t i = 0; i < requests.size(); ++i) {
        key.push_back(s.places[i].first);
        key.push_back(requests[i].decomposition->serial);
        key.insert(key.end(), requests[i].order.begin(), requests[i].order.end());
    }
    return key;
}

}  // namespace

/// Returns the boxes of the variable that this rank needs for a request.
std::vector<WantedBox> ReadPlans::wanted(const ReadRequest& r, bool with_halo) const {
    const Variable& v = file_.variable(r.variable);
    return wanted_boxes(*r.decomposition, r.order, v.shape, with_halo);
}

void ReadPlans::add_deliveries(std::span<const ReadRequest> requests, ReadTask& task) const {
    std::int64_t bytes = 0;
    for (const ReadRequest& r : requests) bytes += r.decomposition->held * size_of(r.view.type);
    const bool streams = bytes > bytes_in_cache;
    const ReadSelection& s = task.selection;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const ReadRequest& r = requests[i];
        const Variable& v = file_.variable(r.variable);
        const auto all = wanted(r, has_halo(r.view));
        for (std::size_t k = 0; k < s.places[i].count; ++k) {
            Delivery d;
            d.place = s.places[i].first + k;
            d.boxes = wanted_within(all, s.sources[d.place].part.box);
            if (d.boxes.empty()) continue;
            d.decomposition = r.decomposition.get();
            d.order = r.order;
            d.array = r.view;
            d.kernel = unpack_kernel(v.type, r.view.type, file_.source->order(r.variable),
                                     streams && !r.decomposition->listed);
            if (d.boxes.front().list) d.origin = origin_of(d);
            task.deliveries.push_back(std::move(d));
            task.request_of.push_back(i);
        }
    }
    task.misfits.assign(requests.size(), 0);
}

void ReadTask::count_misfits() {
    for (std::size_t i = 0; i < deliveries.size(); ++i)
        misfits[request_of[i]] += deliveries[i].misfits;
}

std::vector<ReadPlans::Plan>::const_iterator ReadPlans::find(
    const std::vector<std::int64_t>& key) const {
    return std::find_if(plans_.begin(), plans_.end(),
                        [&](const Plan& plan) { return plan.key == key; });
}

ReadTask ReadPlans::prepare(std::span<const ReadRequest> requests, bool ahead) const {
    ReadTask task;
    task.selection = select(file_, requests);
    const ReadSelection& s = task.selection;
    task.key = key_of(requests, s);
    const auto known = find(task.key);
    if (known != plans_.end() && (known->scatter || (!ahead && known->straight == true)))
        return task;
    task.boxes.resize(s.space.places.size());
    if (file_.team.topology().nodes > 1)
        for (std::size_t i = 0; i < requests.size(); ++i) {
            const auto all = wanted(requests[i], true);
            for (std::size_t k = 0; k < s.places[i].count; ++k) {
                const std::size_t place = s.places[i].first + k;
                const auto part = wanted_within(all, s.sources[place].part.box);
                task.boxes[place].insert(task.boxes[place].end(), part.begin(), part.end());
            }
        }
    return task;
}

ReadPlans::Plan& ReadPlans::plan_for(ReadTask& task) {
    const auto known = plans_.begin() + (find(task.key) - plans_.cbegin());
    if (known != plans_.end()) {
        std::rotate(plans_.begin(), known, known + 1);
        return plans_.front();
    }
    if (plans_.size() == most) {
        if (plans_.back().scatter) add(file_.figures, plans_.back().scatter->counts());
        plans_.pop_back();
    }
    return *plans_.insert(plans_.begin(), Plan{std::move(task.key), {}, nullptr});
}

Scatter* ReadPlans::scatter_of(Plan& plan, ReadTask& task, Status& status) {
    if (plan.scatter) return plan.scatter.get();
    plan.scatter =
        Scatter::make(file_.team, *file_.arena, std::move(task.selection.space),
                      std::move(task.boxes), file_.readers, file_.stream_options(), status);
    return plan.scatter.get();
}

/// Tests if each rank should read its own data. It should if all ranks may read, the data form long
/// contiguous runs, and few elements are needed by several ranks.
/// @note Collective
bool ReadPlans::long_runs(const FileSection& space, std::span<const Delivery> deliveries) const {
    if (std::ssize(file_.readers) < file_.team.size()) return false;
    const RunCounts mine = count_runs(space, deliveries);
    std::int64_t all[] = {mine.bytes, mine.runs, mine.against};
    file_.team.all_reduce(all, Reduce::sum);
    return all[2] == 0 && all[0] / std::max<std::int64_t>(all[1], 1) >= file_.shortest_run() &&
           all[0] - space.bytes <= space.bytes / most_twice;
}

/// Reads without an exchange.
/// @return this rank's own error
Status ReadPlans::take_straight(ReadTask& task) {
    StreamCounts counts;
    Status status = read_straight(task.selection.space, task.selection.sources, task.deliveries,
                                  *file_.source, file_.straight_buffer(), counts);
    add(file_.figures, counts);
    return status;
}

Status ReadPlans::take(Plan& plan, ReadTask& task, const ReadCache* read_cache) {
    if (read_cache == nullptr && !plan.straight)
        plan.straight = long_runs(task.selection.space, task.deliveries);
    if (read_cache == nullptr && *plan.straight)
        return catch_errors([&] { return take_straight(task); });
    Status status;
    Scatter* const scatter = scatter_of(plan, task, status);
    if (scatter == nullptr) return status;
    return scatter->run(task.selection.sources, task.deliveries, *file_.source, read_cache);
}

void ReadPlans::add_to(ReadFigures& figures) const {
    for (const Plan& plan : plans_)
        if (plan.scatter) add(figures, plan.scatter->counts());
}

}  // namespace thalweg::detail
