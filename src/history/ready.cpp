// The end of a history's declarations: its streams and their variables.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <random>

#include "base/log.hpp"
#include "history/history.hpp"
#include "history/selection/step_values.hpp"

namespace thalweg::history {

static Status resolve_all(Declarations& declared, const Table& table, const Groupings& groupings,
                          bool warns, std::vector<ResolvedStream>& resolved) {
    std::vector<DeclaredField> fields;
    (void)declared.add_computed({});  // drops those of an earlier attempt
    for (Field& field : declared.fields()) {
        DeclaredField& f = field;
        f.has_axes = declared.has_axes(f.dims);
        const Centres centres = declared.centres(field);
        f.has_centres = centres.complete();
        f.horizontal = centres.dims;
        for (int d = 0; d < field.part.nd() && !f.has_centres; ++d)
            if (field.part.lists(d)) f.horizontal.push_back(field.part.dims[d]);
        f.terms = formula_terms(declared.coordinates(), f.dims, field.attributes);
        f.standard_name = text_of(field.attributes, "standard_name");
        f.units = text_of(field.attributes, "units");
        f.positive = text_of(field.attributes, "positive");
        fields.push_back(f);
    }
    Names warnings;
    Problems problems = resolve(table, fields, resolved, warnings);
    groupings.check(problems);
    for (const std::string& warning : warnings)
        if (warns) detail::log::warn("history: {}", warning);
    Status status = problem_status(problems, table.name);
    return status.ok() ? declared.add_computed(fields) : status;
}

Status History::make_streams() {
    streams_.clear();  // an earlier attempt has failed
    choices_.clear();
    groupings_.clear();
    maps_.clear();
    reductions_.clear();
    for (Field& field : declared_.fields()) {
        field.users.clear();
        field.weighed.clear();
        if (!field.computed) continue;
        Status status = field.computed->match();
        if (status.ok()) continue;
        return failure(status.code, "{}:{}: {}", table_.name, field.computation->line, status.text);
    }
    for (const ResolvedStream& one : resolved_) {
        streams_.push_back(
            std::make_unique<OutputStream>(context_, table_.streams[one.table], one));
        if (Status s = make_variables(*streams_.back(), one); !s.ok()) return s;
    }
    return {};
}

/// Checks that two fields of a file do not pick different elements of the same dimensions.
static Status check_picks(const StreamTable& stream, const RegionPick& one,
                          const RegionPick& other) {
    if (&one == &other ||
        restricted(one.pick, other.pick.dims) == restricted(other.pick, one.pick.dims))
        return {};
    return failure(TW_ESETTING,
                   "stream '{}': region '{}': the elements of the fields '{}' and '{}' that are "
                   "nearest to the points differ: write them in two streams",
                   stream.name, stream.region, one.field->name, other.field->name);
}

Status History::make_variables(OutputStream& stream, const ResolvedStream& resolved) {
    const StreamTable& table = stream.table();
    const RegionPick* first = nullptr;
    for (const StreamField& about : resolved.fields) {
        const RegionPick* own = picks_.of(table, declared_.fields()[about.declared]);
        if (first == nullptr || (table.file_per_variable && !about.term)) first = own;
        if (own != nullptr && first != nullptr)
            if (Status s = check_picks(table, *own, *first); !s.ok()) return s;
        StreamField one = about;
        for (int bin = 0; bin < table.timing.cycle.bins(context_.run.calendar); ++bin) {
            if (table.timing.cycle) one.bin = bin;
            if (Status s = make_variable(stream, one); !s.ok()) return s;
        }
    }
    if (waits(stream)) return {};  // the stations are not known yet
    stream.make_outputs([&](const std::vector<Variable*>& variables) {
        std::vector<const Coordinate*> others;
        for (const Coordinate* c : {picks_.station_names(table.region), groupings_.numbers(table)})
            if (c != nullptr) others.push_back(c);
        const auto mapped = std::ranges::find_if(
            variables, [](const Variable* variable) { return variable->mapping != nullptr; });
        if (mapped != variables.end())
            for (const Coordinate& c : (*mapped)->mapping->map().coordinates) others.push_back(&c);
        return choices_.coordinates_of(table, variables, others);
    });
    for (const auto& output : stream.outputs())
        if (Status s = output->check_names(); !s.ok()) return s;
    return {};
}

Status History::make_variable(OutputStream& stream, const StreamField& about) {
    const StreamTable& table = stream.table();
    Field& field = declared_.fields()[about.declared];
    const RegionPick* const in_file = picks_.of(table, field);
    const RegionPick* const picked = picks_.waits(table, field) ? nullptr : in_file;
    const Pick pick = picked == nullptr ? Pick{} : picked->pick;
    Choice choice;
    if (Status s = choices_.find(table, field.dims, pick, choice); !s.ok()) return s;
    const Taken& t = choices_.take(field.serial, field.part, choice);
    Reducing reducing{&field, &t, nullptr, nullptr, {}, {}};
    Weights& weights = reducing.weights;
    if (about.weight >= 0) {
        weights.field = &declared_.fields()[about.weight];
        Choice own;
        if (Status s = choices_.find(table, weights.field->dims, pick, own); !s.ok()) return s;
        weights.chosen = &choices_.take(weights.field->serial, weights.field->part, own);
        if (t.part != weights.chosen->part &&
            !find_places(t.part, weights.chosen->part, weights.places))
            return failure(TW_ESETTING, "a rank does not hold the same elements of the weight '{}'",
                           weights.field->name);
    }
    if (!table.timing.local_times.empty())
        if (Status s = find_local_times(table, field, pick, t.part, weights); !s.ok()) return s;
    WindowRules rules = window_rules(table_, table, context_.run, about.inner);
    set_splits(table, {&about, 1}, rules);
    rules.takes_begin = is_difference(about.statistic.op);
    const Value fill =
        about.keys.fill ? value_of(about.type, *about.keys.fill) : fill_of(about.type);
    if (!about.reduced.empty())
        if (Status s = make_reduction(stream, about, reducing); !s.ok()) return s;
    StreamField own = about;
    if (table.reduce.maps())
        if (Status s = make_mapping(stream, own, reducing); !s.ok()) return s;
    auto made =
        std::make_unique<Variable>(SampledField{own, *reducing.field, rules, *reducing.taken, fill,
                                                reducing.reduction, reducing.mapping},
                                   weights);
    const bool joins = !about.reduced.empty() || reducing.mapping != nullptr;
    if (joins) made->set_reduced(declared_.coordinates(), reducing.units);
    if (picked != nullptr) made->set_pick(pick, picks_.names_beside(*picked));
    const Pick stations = in_file == nullptr ? Pick{} : in_file->pick;
    Choice written;
    if (Status s = choices_.find(table, field.dims, stations, written); !s.ok()) return s;
    const Status fits =
        choose_packing(table_, table, joins ? made->dims() : picked_dims(field.dims, stations),
                       joins ? made->written().part : choose(field.part, written).part, *made);
    if (!fits.ok()) return failure(fits.code, "stream '{}': {}", table.name, fits.text);
    Variable* const kept = made.get();
    stream.variables().push_back(std::move(made));
    kept->field.users.push_back(&kept->samples);
    if (Field* const weight = weights.field) weight->weighed.push_back(&kept->samples);
    return {};
}

/// Finds the times of the day at which the local solar time of each element is one of the stream's.
Status History::find_local_times(const StreamTable& stream, const Field& field, const Pick& pick,
                                 const Part& part, Weights& weights) const {
    const Coordinate& c = *declared_.centres(field).longitude;
    Choice own;
    if (Status s = choices_.find(stream, c.part.dims, pick, own); !s.ok()) return s;
    std::vector<double> longitudes;
    if (!find_numbers(c, own, part, longitudes))
        return failure(TW_ESETTING, "a rank does not hold the longitudes '{}' of field '{}'",
                       c.name, field.name);
    weights.local_count = stream.timing.local_times.size();
    for (const Time local : stream.timing.local_times)
        for (const double longitude : longitudes) {
            const bool is = is_place(longitude, 0);
            const Time time = is ? local - std::llround(longitude / 360 * one_day) : 0;
            weights.local_times.push_back(is ? time - floor_div(time, one_day) * one_day
                                             : -forever);
        }
    return {};
}

/// Checks that all ranks made the same declarations, and agrees on the stamp (time and random
/// numbers) for the files. @note Collective
static Status agree_on_declarations(Ranks& ranks, const Status& mine, std::int64_t hash,
                                    std::array<std::int64_t, 3>& stamp) {
    std::array<std::int64_t, 5> words{hash, ~hash, 0, 0, 0};
    if (ranks.rank() == 0) {
        std::random_device random;
        words[2] = std::time(nullptr);
        for (const int i : {3, 4}) words[i] = std::int64_t{random()} << 32 | random();
    }
    if (Status status = ranks.agree(mine, 0, words); !status.ok()) return status;
    std::copy(words.begin() + 2, words.end(), stamp.begin());
    if ((words[0] & words[1]) != 0)
        return failure(TW_EMISMATCH,
                       "history: the declared coordinates or fields differ between ranks");
    return {};
}

/// Limits the number of open files, so that those of a process suffice on every rank. A file takes
/// up to four: its data, lock, checksums, and the places of its chunks. @note Collective
static Status agree_on_open_files(Ranks& ranks, std::int64_t asked, std::int64_t& most) {
    std::array<std::int64_t, 1> files{asked};
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        files[0] = std::clamp<std::int64_t>(limit.rlim_cur / 4, 1, files[0]);
    Status status = ranks.reduce(files, detail::Reduce::min);
    most = files[0];
    return status;
}

Status History::ready() {
    Status mine = declared_.ended()
                      ? failure(TW_ESTATE, "tw_history_ready has been called before")
                      : resolve_all(declared_, table_, groupings_, ranks_.rank() == 0, resolved_);
    if (mine.ok()) mine = picks_.list(resolved_);
    mine = agree_on_declarations(ranks_, mine, declared_.hash(), context_.stamp);
    if (mine.ok()) mine = agree_on_open_files(ranks_, table_.max_open, context_.max_open);
    if (!mine.ok()) return mine;
    if (Status status = picks_.find(); !status.ok()) return status;
    if (Status status = groupings_.find(resolved_, context_.hashes); !status.ok()) return status;
    if (Status status = maps_.read(); !status.ok()) return status;
    mine = detail::catch_errors([&] { return make_streams(); });
    if (Status status = ranks_.agree(mine, 0, {}); !status.ok()) return status;
    Status status = choices_.declare(ranks_);
    if (status.ok()) status = maps_.connect();
    if (status.ok()) declared_.end();
    return status;
}

Status History::make_reduction(OutputStream& stream, const StreamField& about, Reducing& reducing) {
    const StreamTable& table = stream.table();
    Field& field = *reducing.field;
    std::shared_ptr<const Grouping> grouping;
    if (Status s = groupings_.make(table, about, field, *reducing.taken, grouping); !s.ok())
        return s;
    const Field* const weight = reducing.weights.field;
    if (!table.reduce.area.empty())
        reducing.units.push_back(
            text_of(declared_.coordinates().at(table.reduce.area).attributes, "units"));
    if (weight != nullptr) reducing.units.push_back(text_of(weight->attributes, "units"));
    const bool weighted = weight != nullptr || about.statistic.weight_field ||
                          !table.reduce.area.empty() ||
                          (!about.reduces_samples && about.statistic.missing == Missing::varying);
    auto reduction = std::make_shared<const Reduction>(
        Reduction{*table.reduce.op, grouping, weighted && table.reduce.op == ReduceOp::mean});
    if (!about.reduces_samples) {
        reducing.reduction = std::move(reduction);
        return {};
    }
    StepReduction& made = reductions_.emplace_back(
        field, *reducing.taken, reduction, nullptr, std::exchange(reducing.weights, Weights{}),
        reduced_dims(field.dims, about.reduced, table.reduce.by));
    field.users.push_back(&made);
    if (weight != nullptr) declared_.fields()[about.weight].weighed.push_back(&made);
    if (made.joins_ranks()) stream.set_reduces_samples();
    reducing.field = &made.field();
    reducing.taken = grouping->results;
    return {};
}

/// Tests if no grid mapping says that cells are in another order of HEALPix than the nested one.
static bool is_nested(const Field& field, const Coordinates& coordinates) {
    const auto grid = coordinates.find(text_of(field.attributes, "grid_mapping"));
    if (grid == coordinates.end()) return true;
    const std::string order = text_of(grid->second.attributes, "indexing_scheme");
    return order.empty() || order == "nested";
}

/// Makes the map of a variable. Each sample is mapped if a map of the results would give other
/// values, once for all variables that take it.
Status History::make_mapping(OutputStream& stream, StreamField& about, Reducing& reducing) {
    const StreamTable& table = stream.table();
    Field& field = *reducing.field;
    if (table.reduce.map.empty() && !is_nested(field, declared_.coordinates()))
        return failure(
            TW_ESETTING,
            "{}:{}: stream '{}': the cells of field '{}' are not in HEALPix's nested order",
            table_.name, table.line_of("zoom"), table.name, field.name);
    Status status = maps_.make(table, about, field, *reducing.taken, reducing.mapping);
    if (!status.ok() || reducing.mapping == nullptr || !about.reduces_samples) return status;
    stream.set_reduces_samples();
    set_reduced_samples(about.statistic);
    const Mapping& mapping = *reducing.mapping;
    const Taken& taken = *std::exchange(reducing.taken, &mapping.results());
    auto made = std::ranges::find_if(
        reductions_, [&](const StepReduction& one) { return one.maps(field, mapping); });
    if (made == reductions_.end()) {
        reductions_.emplace_back(field, taken, nullptr, reducing.mapping, Weights{},
                                 mapping.dims());
        made = std::prev(reductions_.end());
        field.users.push_back(&*made);
    }
    reducing.field = &made->field();
    return {};
}

/// Maps samples of the step, and reduces those whose groups have elements on several ranks.
/// @note Collective if there are any
Status History::reduce_samples() {
    std::vector<StepReduction*> used;
    std::vector<std::int64_t> words;
    for (StepReduction& one : reductions_) {
        if (!one.joins_ranks() || !one.wants()) continue;
        one.prepare();
        one.give_words(words);
        used.push_back(&one);
    }
    // A rank whose time was refused knows only which streams take the step.
    const bool meets =
        std::ranges::any_of(streams_, [](const auto& stream) { return stream->meets(); });
    Status status;
    if (meets) status = ranks_.agree({}, step_.now, words);
    if (status.ok()) {
        std::span<const std::int64_t> all(words);
        std::vector<Reduced*> reduced;
        std::vector<Mapped*> mapped;
        for (StepReduction* one : used) {
            if (Status s = one->take_words(all); !s.ok()) one->fail(s);
            one->list(reduced, mapped);
        }
        status = combine(ranks_, reduced);
        if (status.ok()) status = Mapped::exchange(ranks_, mapped);
    }
    for (StepReduction* one : used)
        if (status.ok()) one->send(step_.now);
    for (StepReduction& one : reductions_) one.end_step();
    return status;
}

}  // namespace thalweg::history
