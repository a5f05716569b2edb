// SPDX-License-Identifier: Apache-2.0
#include "dataset/data_mode.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/reserve.hpp"
#include "base/trace.hpp"
#include "dataset/open_target.hpp"
#include "storage/classic/header_reader.hpp"

namespace thalweg::detail {

DataMode::DataMode(FileContext& file, const Source* contents)
    : file_(file), contents_(contents), batch_(file) {
    if (const ClassicHeader* const header = file.existing.is ? contents->classic_header() : nullptr)
        target_.map = header->map;
}

/// @note Collective
Status DataMode::choose(const RankResources& resources, const FileOptions& asked,
                        FileNames& names) {
    chosen_ = choose_all(file_, resources, asked, target_);
    computing_ = file_.session.computing();
    const Grid* const tiles = contents_ != nullptr ? contents_->files().grid : nullptr;
    if (Status s = choose_layout(file_, chosen_.writers_asked, tiles, target_); !s.ok()) return s;
    if (!file_.in_files()) return {};
    return file_.team.agree(alone([&] { return names.claim_tiles(target_.layout.grid.parts()); }));
}

Status DataMode::begin(const RankResources& resources, const FileOptions& asked, FileNames& names) {
    if (Status s = choose(resources, asked, names); !s.ok()) return s;
    if (file_.options.live)
        if (Status s = file_.team.agree(alone([&] { return names.cut(); })); !s.ok()) return s;
    Status status;  // status of this rank alone, because there is no service yet
    if (file_.options.service != "servers") {
        if (Status s = open_target(file_, target_, chosen_.may_change, status); !s.ok()) return s;
        storage_open_ = !target_.storage->traits().opens_alone;
    }
    service_ = make_service(file_, target_, batch_, status);
    storage_open_ = storage_open_ || service_;
    if (status.ok() && file_.in_files() && names.on_several_nodes())
        status = file_.team.agree(alone([&] { return names.check_begun(); }));
    if (!status.ok()) return status;
    parts_.emplace(file_, batch_, *service_);
    begun_ = true;
    return {};
}

Status DataMode::put(const std::string& name, const tw_array& array, bool deferred) {
    Stopwatch watch(file_.figures.put);
    Span span("put");
    PartsToPut puts;
    Part& part = puts.part;
    part.variable = -1;
    puts.deferred = deferred;
    puts.by_put = true;
    Status status = file_.find_variable(name, array.type, part.variable);
    if (status.ok()) {
        const int at = part.variable;
        const Variable& v = file_.variable(at);
        part.record = batch_.record_of(at);
        part.holding = file_.holdings[at];
        span.variable(v.name).record(v.record ? batch_.record : -1);
        span.bytes(part.holding->elements * v.element());
        status = check(at, array, part.array);
    }
    if (status.ok()) {
        batch_[part.variable].form = part.array.dense ? Form::either : part.array.form;
        file_.use_netcdf_byte_rule(part.variable, part.array.type);
    }
    status = service_->put(status, puts);
    if (status.ok() || status.code == TW_ERANGE) batch_[part.variable].in_step = ends_;
    return status;
}

Status DataMode::check(int variable, const tw_array& array, ArrayView& view) const {
    const Decomposition& d = *file_.holdings[variable]->decomposition;
    const Batch::Put& before = batch_[variable];
    Status status;
    if (before.boxed)
        status = failure(TW_ESTATE,
                         "tw_put_box or tw_put_record has written this record in this step; call "
                         "tw_end_step before tw_put");
    else if (before.in_step == ends_ && batch_.is_record(variable))
        status =
            failure(TW_ESTATE,
                    "tw_put has put record {} already; call tw_end_step after the puts of each "
                    "step",
                    OfRecord{file_.options.wording.index(batch_.record)});
    else
        status = lacks_data(d, array) ? data_missing() : check_array(d, array, view);
    return file_.in_variable(std::move(status), variable);
}

Status DataMode::put_box(const std::string& name, const BoxToPut& put) {
    Stopwatch watch(file_.figures.put);
    Span span("put");
    span.variable(name);
    return parts_->put_box(name, put);
}

Status DataMode::put_record(const std::string& name, const RecordToPut& put) {
    Stopwatch watch(file_.figures.put);
    Span span("put");
    span.variable(name).record(put.record);
    return parts_->put_record(name, put);
}

Status DataMode::end_step(bool apart) {
    Stopwatch watch(file_.figures.step);
    Span span("step");
    span.record(batch_.record);
    // If the call fails, the program may put what the step lacks, and call it again.
    ++ends_;
    Status status = service_->end_step(apart);
    if (apart || file_.leaving || !status.ok()) return status;
    return may_change_service() ? reconsider_service() : status;
}

/// Tests if the service may change after the step that has just ended: after the 2nd, 4th, 8th, ...
/// step, or after the one that the setting names. The same on every rank.
bool DataMode::may_change_service() const {
    const std::int64_t steps = file_.figures.steps, after = file_.options.background_after;
    if (!chosen_.may_change) return false;
    return after > 0 ? steps >= after : steps >= 2 && (steps & (steps - 1)) == 0;
}

/// Changes the service to writing in the background if the setting asks for it, or if that saves
/// time. Called directly after an agreement of the ranks.
/// @note Collective
Status DataMode::reconsider_service() {
    OutputTimes times = file_.session.outputs;
    if (file_.options.background_after <= 0) {
        times += output_times(with_reserve([&] { return figures(); }));
        const int threads = with_reserve([&] { return most_writers_of_node(file_, target_); });
        times = agree_on(file_.team, times);
        if (!pays_in_background(times) || threads > chosen_.free_processors) return {};
    }
    chosen_.may_change = false;
    Status status = go_on_in_background(file_, target_, batch_, service_);
    parts_.emplace(file_, batch_, *service_);
    (void)alone([&] { note_service(times); });
    return file_.keep(std::move(status));
}

/// Records in the log and the summary that the service has changed.
/// @param times  the measurements if the choice depends on them
void DataMode::note_service(const OutputTimes& times) {
    FileFigures& f = file_.figures;
    const std::int64_t after = file_.options.background_after;
    f.service = file_.options.service;
    f.why_service = f.service != "background"
                        ? "its steps do not fit into the queue, or boxes wait for other records"
                    : after > 0 ? fmt::format("in the background after {} steps", after)
                                : in_words(times);
    for (ChosenSetting& row : f.settings)
        if (row.name == "service") row = {row.name, row.asked, f.service, f.why_service};
    if (file_.team.rank() == 0)
        log::info("{}: service {} from record {} on: {}", file_.path, f.service,
                  file_.options.wording.index(batch_.record), f.why_service);
}

/// Returns this rank's measurements of this file's outputs.
OutputTimes DataMode::output_times(const FileFigures& f) const {
    return {f.steps, std::max(f.put, f.remap), f.write, file_.session.computing() - computing_};
}

FileFigures DataMode::figures() const {
    FileFigures f = file_.figures;
    if (service_) service_->add_figures(f);
    return f;
}

Status DataMode::hand_over(DefineMode& definitions) {
    Agreed agreed;
    Status status = service_->hand_over(agreed);
    handed_over_ = status.ok() || status.code == TW_ERANGE;
    // References are made from the complete file, so all ranks must know that it is complete.
    closed_early_ = handed_over_ && agreed.closed_early && file_.options.references == "no" &&
                    file_.options.stream.empty();
    // The accepted steps are written even if the ranks disagree about attributes.
    const Status compared = handed_over_ && !agreed.same_late ? definitions.compare() : Status{};
    return compared.ok() ? status : compared;
}

Status DataMode::close(bool good, Status& mine) {
    if (!std::exchange(storage_open_, false)) return {};
    Status closed = service_ ? service_->close(good || handed_over_, good)
                             : target_.storage->close(batch_.record, {});
    if (!good || !closed_early_) return file_.team.agree(closed);
    mine = std::move(closed);
    return {};
}

}  // namespace thalweg::detail
