// SPDX-License-Identifier: Apache-2.0
#include "dataset/data_mode.hpp"

#include <utility>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "dataset/open_target.hpp"
#include "service/service.hpp"
#include "storage/classic/header_reader.hpp"

namespace thalweg::detail {

DataMode::DataMode(FileContext& file, const Source* contents)
    : file_(file), contents_(contents), batch_(file) {
    if (const ClassicHeader* const header =
            file.existing.is ? contents->contents().header : nullptr)
        target_.map = header->map;
}

/// @note Collective
Status DataMode::choose(const RankResources& resources, const FileOptions& asked,
                        FileNames& names) {
    const bool writers_asked = choose_all(file_, resources, asked, target_).writers_asked;
    const Grid* const tiles = contents_ != nullptr ? contents_->contents().grid : nullptr;
    if (Status s = choose_layout(file_, writers_asked, tiles, target_); !s.ok()) return s;
    if (!file_.in_files()) return {};
    return file_.team.agree(names.claim_tiles(target_.layout.grid.parts()));
}

Status DataMode::begin(const RankResources& resources, const FileOptions& asked, FileNames& names) {
    if (Status s = choose(resources, asked, names); !s.ok()) return s;
    if (file_.options.live)
        if (Status s = file_.team.agree(names.cut()); !s.ok()) return s;
    Status status;  // status of this rank alone, because there is no service yet
    if (file_.options.service != "servers") {
        if (Status s = open_target(file_, target_, status); !s.ok()) return s;
        storage_open_ = !target_.storage->traits().opens_alone;
    }
    service_ = make_service(file_, target_, batch_, status);
    storage_open_ = storage_open_ || service_;
    if (status.ok() && file_.in_files() && names.on_several_nodes())
        status = file_.team.agree(names.check_begun());
    if (!status.ok()) return status;
    parts_.emplace(file_, batch_, *service_);
    begun_ = true;
    return {};
}

Status DataMode::put(const std::string& name, const tw_array& array, bool deferred) {
    Stopwatch watch(file_.figures.times[FileTimes::put]);
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

Status DataMode::end_step() {
    Stopwatch watch(file_.figures.times[FileTimes::step]);
    Span span("step");
    span.record(batch_.record);
    // If the call fails, the program may put what the step lacks, and call it again.
    ++ends_;
    return service_->end_step();
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
    closed_early_ = handed_over_ && agreed.closed_early;
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
