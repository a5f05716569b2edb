// From what a call asks for to the arrays: what is read, by whom, and the plans that are kept.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>

#include "comm/clock.hpp"
#include "dataset/reader.hpp"
#include "exchange/straight.hpp"

namespace thalweg::detail {

namespace {

/// Bytes of a run from which on ranks read their own: what Linux reads ahead in a file.
constexpr std::int64_t default_run = std::int64_t(128) << 10;

/// With halos some elements are wanted by several ranks; one in so many may be.
constexpr std::int64_t most_twice = 4;

/// What is read straight at a time stays in the second level of cache.
constexpr std::int64_t straight_piece = std::int64_t(512) << 10;

bool has_halo(const ArrayView& view) { return view.form != Form::without_halo; }

}  // namespace

std::vector<WantedBox> Reader::wanted(const Request& r, bool with_halo) const {
    const Variable& v = source_->definitions().variables[r.variable];
    return wanted_boxes(*r.decomposition, r.order, v.shape, with_halo);
}

/// Each variable of a record is read once, whoever asks for it.
Reader::Selection Reader::select(std::span<const Request> requests) const {
    using Key = std::array<std::int64_t, 3>;
    const auto key = [&](const Request& r) {
        return Key{source_->position(r.variable, r.record), r.variable, r.record};
    };
    std::map<Key, Selection::Run> found;
    for (const Request& r : requests) found[key(r)] = {};
    Selection s;
    for (auto& [at, run] : found) {
        const int variable = at[1];
        const Variable& v = source_->definitions().variables[variable];
        run.first = s.sources.size();
        if (v.elements() == 0) continue;
        const auto parts = source_->parts(variable, readers_.size());
        run.count = parts.size();
        for (const SourcePart& part : parts) {
            const Box& box = part.box;
            Place p;
            p.variable = s.sources.size();
            p.offset = s.space.bytes;
            p.element = v.element();
            p.bytes = box.volume() * p.element;
            p.padded = (p.bytes + 3) / 4 * 4;
            p.shape.assign(box.count.begin(), box.count.begin() + box.nd);
            p.grain = part.grain;
            s.space.bytes += p.padded;
            s.space.places.push_back(std::move(p));
            s.sources.push_back({variable, at[2], part});
        }
    }
    for (const Request& r : requests) s.places.push_back(found[key(r)]);
    return s;
}

/// The same plan serves all reads of the same shapes, decompositions and orders.
std::vector<std::int64_t> Reader::key_of(std::span<const Request> requests,
                                         const Selection& s) const {
    std::vector<std::int64_t> key;
    for (const Place& p : s.space.places) {
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

/// Where everything is to go that is asked for.
void Reader::add_deliveries(std::span<const Request> requests, Task& task) const {
    std::int64_t bytes = 0;
    for (const Request& r : requests) bytes += r.decomposition->held * size_of(r.view.type);
    const bool streams = bytes > in_cache;
    const Selection& s = task.selection;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const Request& r = requests[i];
        const Variable& v = variable(r.variable);
        const auto all = wanted(r, has_halo(r.view));
        for (std::size_t k = 0; k < s.places[i].count; ++k) {
            Delivery d;
            d.place = s.places[i].first + k;
            d.boxes = wanted_within(all, s.sources[d.place].part.box);
            if (d.boxes.empty()) continue;
            d.decomposition = r.decomposition.get();
            d.order = r.order;
            d.array = r.view;
            d.kernel = unpack_kernel(v.type, r.view.type, source_->order(r.variable),
                                     streams && !r.decomposition->listed);
            if (d.boxes.front().list) d.origin = origin_of(d);
            task.deliveries.push_back(std::move(d));
            task.request_of.push_back(i);
        }
    }
    task.misfits.assign(requests.size(), 0);
}

Reader::Task Reader::prepare(std::span<const Request> requests, bool ahead) const {
    Task task;
    task.selection = select(requests);
    const Selection& s = task.selection;
    task.key = key_of(requests, s);
    const auto known = std::find_if(plans_.begin(), plans_.end(),
                                    [&](const Plan& plan) { return plan.key == task.key; });
    if (known != plans_.end() && (known->scatter || (!ahead && known->straight == true)))
        return task;
    task.boxes.resize(s.space.places.size());
    if (team_.topology().nodes > 1)
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

/// The plan of a task, which all ranks have or none.
Reader::Plan& Reader::plan_for(Task& task) {
    const auto known = std::find_if(plans_.begin(), plans_.end(),
                                    [&](const Plan& plan) { return plan.key == task.key; });
    if (known != plans_.end()) {
        std::rotate(plans_.begin(), known, known + 1);
        return plans_.front();
    }
    if (plans_.size() == most_plans) {
        if (plans_.back().scatter) add(figures_, plans_.back().scatter->counts());
        plans_.pop_back();
    }
    return *plans_.insert(plans_.begin(), Plan{std::move(task.key), {}, nullptr});
}

StreamOptions Reader::stream_options() const {
    StreamOptions options;
    options.budget = options_.buffer * static_cast<std::int64_t>(team_.topology().members.size());
    options.piece = std::max<std::int64_t>(0, options_.piece);
    return options;
}

/// The exchange of a plan; made when it is first needed. @note Collective
Scatter* Reader::scatter_of(Plan& plan, Task& task, Status& status) {
    if (plan.scatter) return plan.scatter.get();
    plan.scatter = Scatter::make(team_, *arena_, std::move(task.selection.space),
                                 std::move(task.boxes), readers_, stream_options(), status);
    return plan.scatter.get();
}

/// Whether each rank had better read what it wants itself: all ranks may read, what they want is in
/// long runs, and little of it is wanted by several. @note Collective
bool Reader::long_runs(const Space& space, std::span<const Delivery> deliveries) const {
    if (static_cast<int>(readers_.size()) < team_.size()) return false;
    const RunCounts mine = count_runs(space, deliveries);
    std::int64_t all[] = {mine.bytes, mine.runs, mine.against};
    team_.all_reduce(all, Reduce::sum);
    return all[2] == 0 && all[0] / std::max<std::int64_t>(all[1], 1) >= shortest_run() &&
           all[0] - space.bytes <= space.bytes / most_twice;
}

std::int64_t Reader::shortest_run() const {
    return options_.straight < 0 ? default_run : options_.straight;
}

std::span<char> Reader::straight_buffer() {
    if (buffer_.empty()) {
        const std::int64_t piece = options_.piece > 0 ? options_.piece : straight_piece;
        buffer_.resize(std::clamp<std::int64_t>(piece, 8, options_.buffer));
    }
    return buffer_;
}

/// @return this rank's own failure
Status Reader::take_straight(Task& task) {
    StreamCounts counts;
    Status status = read_straight(task.selection.space, task.selection.sources, task.deliveries,
                                  *source_, straight_buffer(), counts);
    add(figures_, counts);
    return status;
}

/// @return this rank's own failure
Status Reader::take(Plan& plan, Task& task) {
    const bool nothing_ahead = shelf_.memory.empty();
    if (nothing_ahead && !plan.straight)
        plan.straight = long_runs(task.selection.space, task.deliveries);
    if (nothing_ahead && *plan.straight) return alone([&] { return take_straight(task); });
    Status status;
    Scatter* const scatter = scatter_of(plan, task, status);
    if (scatter == nullptr) return status;
    return scatter->run(task.selection.sources, task.deliveries, *source_,
                        nothing_ahead ? nullptr : &shelf_);
}

Status Reader::perform(Call call, std::span<const Request> requests, Status mine) {
    Task task;
    if (mine.ok())
        mine = alone([&]() -> Status {
            task = prepare(requests, !shelf_.memory.empty());
            add_deliveries(requests, task);
            return {};
        });
    if (Status status = agree_on(call, requests, mine); !status.ok() || requests.empty())
        return status;
    Stopwatch watch(figures_.read);
    ++figures_.reads;
    Plan& plan = plan_for(task);
    Status status = take(plan, task);
    for (std::size_t i = 0; i < task.deliveries.size(); ++i)
        task.misfits[task.request_of[i]] += task.deliveries[i].misfits;
    const auto fit = [&]() -> Status {
        for (std::size_t i = 0; i < requests.size(); ++i)
            if (task.misfits[i] > 0)
                return with_place(failure(TW_ERANGE, "{} values are out of range for type {}",
                                          task.misfits[i], name_of(requests[i].view.type)),
                                  requests[i].variable);
        return {};
    };
    if (status.ok()) status = alone(fit);
    status = team_.agree(status);
    if (ahead_ && plan.scatter)
        look_ahead(task.selection, *plan.scatter, status.ok() || status.code == TW_ERANGE);
    return status;
}

}  // namespace thalweg::detail
