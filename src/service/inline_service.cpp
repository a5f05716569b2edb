// SPDX-License-Identifier: Apache-2.0
#include "service/inline_service.hpp"

#include <algorithm>
#include <utility>

#include "comm/clock.hpp"
#include "comm/log.hpp"
#include "storage/spaces.hpp"

namespace thalweg::detail {

InlineService::InlineService(FileContext& file, Target& target, Batch& batch)
    : file_(file),
      target_(target),
      batch_(batch),
      staging_(file),
      filled_(file.definitions.variables.size(), file.existing.is) {}

Status InlineService::begin() {
    const FileOptions& options = file_.options;
    Team& team = file_.team;
    const bool direct = options.method == "direct";
    const auto members = static_cast<std::int64_t>(team.topology().members.size());
    Status status;
    Memory* arena = file_.session.arena(status);
    if (!status.ok()) return status;
    std::vector<Space> both;
    const auto lay_out = [&]() -> Status {
        spaces_ = make_spaces(file_.definitions, target_.map);
        both = {spaces_.fixed, spaces_.record};
        layout_ = direct ? make_record_layout(team.size(), options.alignment)
                         : make_layout(target_.layout);
        if (!direct) return {};
        // Plain writes go while the packed elements are in cache; a variable that is one collective
        // is packed as far as the buffer reaches, a step that is one collective whole.
        constexpr std::int64_t cached = 1 << 20;
        const std::int64_t budget = !target_.storage->collective() ? cached
                                    : options.pnetcdf_blocking ? std::max(cached, options.buffer)
                                                               : std::max(cached, options.staging);
        direct_ =
            std::make_unique<Direct>(team, file_.packers, file_.definitions, target_.order, budget);
        return {};
    };
    if (status = team.agree(alone(lay_out)); !status.ok()) return status;
    file_.figures.writers = static_cast<int>(target_.writers.size());
    stream_ = Stream::make(
        team, file_.packers, *arena, *layout_, target_.writers, file_.definitions, both,
        target_.order, {options.buffer * members, std::max<std::int64_t>(0, options.piece), direct},
        status);
    if (!status.ok()) return status;
    file_.figures.buffer_bytes = static_cast<std::int64_t>(arena->size()) / members;
    std::int64_t bytes = staging_.bytes();
    team.all_reduce({&bytes, 1}, Reduce::max);
    immediate_ = bytes > options.staging;
    if (immediate_ && team.rank() == 0)
        log::info(
            "{}: a step has up to {} bytes per rank, more than 'staging' ({}): tw_put is "
            "collective; tw_put_deferred stays local",
            file_.path, bytes, options.staging);
    return {};
}

Status InlineService::agree(Call call, int variable, const Status& mine, Agreed& agreed) {
    (void)poll();
    stream_->prepare();
    stream_used_ = false;
    Status status = agree_on(file_, batch_, call, variable, mine, agreed);
    if (agreed.boxed && !turned_)
        if (Status turned = turn_to_boxes(); !turned.ok()) return turned;
    return status;
}

Status InlineService::put(Status checked, int variable, ArrayView view, bool deferred) {
    if (turned_) return boxes_->put(std::move(checked), variable, view, deferred);
    // A collective put is joined by the ranks whose own check failed, too.
    if (immediate_ && !deferred) return put_now(std::move(checked), variable, view);
    if (!checked.ok()) return checked;
    std::int64_t& misfits = batch_.misfits[static_cast<std::size_t>(variable)];
    misfits = 0;
    if (!deferred) {
        if (Status s = staging_.copy(variable, view, misfits); !s.ok()) return s;
        file_.figures.staging_bytes = staging_.bytes();
    }
    batch_[variable].view = view;
    batch_[variable].put = true;
    return {};
}

Status InlineService::put_now(Status checked, int variable, const ArrayView& view) {
    Agreed agreed;
    if (Status s = agree(Call::put, variable, checked, agreed); !s.ok()) return s;
    if (turned_) return boxes_->put({}, variable, view, false);
    Batch::Part& part = batch_[variable];
    const Variable& v = file_.variable(variable);
    part.view = view;
    part.put = true;
    const Space& space = spaces_.of(v.record);
    std::vector<Action> actions(space.places.size(), Action::skip);
    for (std::size_t i = 0; i < actions.size(); ++i)
        if (space.places[i].variable == variable) actions[i] = Action::data;
    Status status = finish_write(write_space(v.record, actions), Written::record, false);
    part.put = false;
    part.written = true;
    if (!v.record) filled_[static_cast<std::size_t>(variable)] = 1;
    return status;
}

Status InlineService::allow_boxes(int variable) const {
    if (turned_) return boxes_->allow_boxes(variable);
    if (target_.storage->takes_boxes()) return {};
    return failure(TW_ESTATE,
                   "{}: variable '{}': tw_put_box and tw_put_record do not work with storage={}; "
                   "use posix (rank {})",
                   file_.path, file_.variable(variable).name, target_.storage->name(),
                   file_.team.rank());
}

Status InlineService::check_room(int variable, std::span<const HeldBox> held,
                                 std::int64_t records) {
    if (!boxes_)
        if (Status s = alone([&] { return make_boxes(); }); !s.ok())
            return file_.in_variable(std::move(s), variable);
    return boxes_->check_room(variable, held, records);
}

/// What is needed for boxes. Local: the other ranks follow when they all meet.
Status InlineService::make_boxes() {
    std::vector<char> written;
    for (const Batch::Part& p : batch_.parts) written.push_back(p.written);
    Status status;
    boxes_ = make_inline_queue(file_, target_, batch_, filled_, std::move(written), status);
    return status;
}

/// Some rank has boxes: from now on all that is put goes the same way. What was put before in this
/// step comes first. @note Collective
Status InlineService::turn_to_boxes() {
    const auto turn = [&]() -> Status {
        if (!boxes_)
            if (Status s = make_boxes(); !s.ok()) return s;
        for (std::size_t i = 0; i < batch_.parts.size(); ++i) {
            Batch::Part& p = batch_.parts[i];
            if (!p.put || p.deferred()) continue;
            const ArrayView view = p.view;
            const std::int64_t misfits = batch_.misfits[i];  // found when it was copied
            p.view = {};
            if (Status s = boxes_->queue_variable(static_cast<int>(i), view); !s.ok()) return s;
            batch_.misfits[i] = misfits;
        }
        return {};
    };
    Status status = file_.team.agree(alone(turn));
    if (!status.ok()) return file_.keep(std::move(status));
    target_.storage->begin_boxes();
    turned_ = batch_.boxed = true;
    staging_.release();
    return {};
}

/// Moves one space of the file: the record at hand, or the fixed-size variables.
Status InlineService::write_space(bool records, const std::vector<Action>& actions) {
    if (std::all_of(actions.begin(), actions.end(), [](Action a) { return a == Action::skip; }))
        return {};
    if (stream_used_) {  // a second pass without an agreement in between
        stream_->prepare();
        file_.team.barrier();
    }
    stream_used_ = true;
    const Space& space = spaces_.of(records);
    const std::int64_t record = records ? batch_.record : 0;
    const std::int64_t base = spaces_.base(records, record);
    std::vector<const ArrayView*> arrays(space.places.size(), nullptr);
    for (std::size_t i = 0; i < space.places.size(); ++i) {
        const int v = space.places[i].variable;
        if (batch_[v].put && file_.variable(v).decomposition->held > 0) arrays[i] = &batch_[v].view;
    }
    Storage& storage = *target_.storage;
    if (storage.collective())
        if (Status s = file_.team.agree(storage.reserve(base, space.bytes)); !s.ok()) return s;
    if (direct_) return run_direct(records, base, actions, arrays);
    return stream_->run(space, base, record, actions, arrays, storage, batch_.misfits);
}

/// Method direct: what no rank holds is filled first.
Status InlineService::run_direct(bool records, std::int64_t base,
                                 const std::vector<Action>& actions,
                                 std::span<const ArrayView* const> arrays) {
    const Space& space = spaces_.of(records);
    const std::int64_t record = records ? batch_.record : 0;
    std::vector<Action> fills(actions.size(), Action::skip);
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const Variable& v = file_.variable(space.places[i].variable);
        if (actions[i] == Action::fill || (actions[i] == Action::data && !v.decomposition->whole))
            fills[i] = Action::fill;
    }
    Status status;
    if (std::count(fills.begin(), fills.end(), Action::fill) > 0) {
        const std::vector<const ArrayView*> none(arrays.size(), nullptr);
        status = file_.team.agree(
            stream_->run(space, base, record, fills, none, *target_.storage, batch_.misfits));
    }
    if (!status.ok()) return status;
    return direct_->run(space, base, record, actions, arrays, *target_.storage, batch_.misfits);
}

Status InlineService::publish_records(bool durable) {
    Status status = target_.storage->set_records(batch_.record, durable);
    return status.ok() ? target_.storage->catch_up() : status;
}

/// All ranks learn what became of a write; on success the record is published.
Status InlineService::finish_write(Status mine, Written written, bool durable) {
    Storage& storage = *target_.storage;
    if (storage.collective()) {
        Status complete = storage.complete();
        if (mine.ok()) mine = std::move(complete);
    }
    if (durable) {  // a collective matter for some drivers, so whatever this rank's own luck
        Status synced = storage.sync();
        if (mine.ok()) mine = std::move(synced);
    }
    const Status misfit = batch_.take_misfits(written != Written::fixed);
    std::int64_t words[2] = {mine.ok() ? 0 : 1, misfit.ok() ? 0 : 1};
    {
        Stopwatch watch(file_.figures.wait);
        file_.team.all_reduce(words, Reduce::max);
    }
    if (words[0] != 0) return file_.keep(detail::agree(file_.team.world(), mine));
    if (written == Written::record_complete) {
        // A failure here is rank 0's alone: it is kept, and told to all by the next agreement.
        ++batch_.record;
        Status published = publish_records(durable);
        if (!published.ok()) {
            if (file_.team.size() > 1)
                published.text += fmt::format(" (rank {})", file_.team.rank());
            file_.failed = std::move(published);
        }
    }
    if (words[1] != 0) return detail::agree(file_.team.world(), misfit);
    return {};
}

/// Writes the fixed-size variables that were put; with `last`, fills those that never were.
Status InlineService::write_fixed(const Agreed& agreed, bool last) {
    const auto& places = spaces_.fixed.places;
    std::vector<Action> actions(places.size(), Action::skip);
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const auto v = static_cast<std::size_t>(places[i].variable);
        if (agreed.put[v])
            actions[i] = Action::data;
        else if (last && !filled_[v])
            actions[i] = Action::fill;
        if (actions[i] != Action::skip) filled_[v] = 1;
    }
    return write_space(false, actions);
}

Status InlineService::end_step() {
    if (turned_) return boxes_->end_step();
    Agreed agreed;
    if (Status s = agree(Call::end_step, -1, batch_.check_deferred(true), agreed); !s.ok())
        return s;
    if (turned_) return boxes_->end_step_agreed({}, agreed);
    if (Status s = file_.check_next_record(batch_.record); !s.ok()) return file_.keep(s);
    Status status = write_fixed(agreed, false);
    const auto& places = spaces_.record.places;
    std::vector<Action> actions(places.size(), Action::skip);
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const auto v = static_cast<std::size_t>(places[i].variable);
        if (agreed.put[v])
            actions[i] = Action::data;
        else if (!batch_.parts[v].written)
            actions[i] = Action::fill;
    }
    Status records = write_space(true, actions);
    if (status.ok()) status = std::move(records);
    status =
        finish_write(std::move(status), places.empty() ? Written::fixed : Written::record_complete,
                     file_.options.durable);
    batch_.forget(true);
    ++file_.figures.steps;
    return status;
}

Status InlineService::sync(bool durable) {
    if (turned_) return boxes_->sync(durable);
    Agreed agreed;
    if (Status s = agree(Call::sync, -1, batch_.check_deferred(false), agreed); !s.ok()) return s;
    if (turned_) return boxes_->sync_agreed(agreed, durable);
    Status status = finish_write(write_fixed(agreed, false), Written::fixed, durable);
    if (status.ok()) status = file_.keep(file_.team.agree(publish_records(durable)));
    for (std::size_t i = 0; i < batch_.parts.size(); ++i)
        if (!batch_.is_record(i)) batch_.parts[i].put = false;
    return status;
}

Status InlineService::agree_to_close(Agreed& agreed) {
    if (turned_) return boxes_->agree_to_close(agreed);
    return agree(Call::close, -1, batch_.check_deferred(false), agreed);
}

Status InlineService::write_rest(const Agreed& agreed) {
    if (turned_) return boxes_->write_rest(agreed);
    return finish_write(write_fixed(agreed, true), Written::fixed, file_.options.durable);
}

Status InlineService::close(bool good) {
    if (turned_) return boxes_->close(good);
    return target_.storage->close(batch_.record, good ? file_.late : LateAttributes{});
}

void InlineService::add_figures(FileFigures& f) const {
    f.remap += stream_->counts().pack + stream_->counts().move;
    f.wait += stream_->counts().wait;
    f.messages = stream_->counts().messages;
    f.message_bytes = stream_->counts().message_bytes;
    if (direct_) f.remap += direct_->pack_seconds();
    if (turned_) {
        boxes_->add_figures(f);
        return;
    }
    const WriteCounts& counts = target_.storage->counts();
    f.write = counts.seconds;
    f.bytes = counts.bytes;
    f.writes = counts.calls;
    f.sizes = counts.sizes;
}

std::unique_ptr<Service> make_service(FileContext& file, Target& target, Batch& batch,
                                      Status& status) {
    Stopwatch watch(file.figures.plan);
    if (file.options.service != "inline") {
        auto service = make_queue_service(file, target, batch, status);
        if (file.options.service != "inline") return service;
    }
    std::unique_ptr<InlineService> service;
    status = file.team.agree(alone([&]() -> Status {
        service = std::make_unique<InlineService>(file, target, batch);
        return {};
    }));
    if (status.ok()) status = service->begin();
    return status.ok() ? std::move(service) : nullptr;
}

}  // namespace thalweg::detail
