// Steps: what was put goes into the file, and records are counted.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "comm/clock.hpp"
#include "dataset/file.hpp"

namespace thalweg::detail {

/// Moves one space of the file: the record at hand, or the fixed-size variables.
Status File::write_space(const Space& space, bool records, const std::vector<Action>& actions) {
    if (std::all_of(actions.begin(), actions.end(), [](Action a) { return a == Action::skip; }))
        return {};
    if (stream_used_) {  // a second pass without an agreement in between
        stream_->prepare();
        team_.barrier();
    }
    stream_used_ = true;
    const std::int64_t base =
        records ? map_.record_begin + records_ * map_.record_bytes : fixed_base_;
    const std::int64_t record = records ? records_ : 0;
    std::vector<const ArrayView*> arrays(space.places.size(), nullptr);
    for (std::size_t i = 0; i < space.places.size(); ++i) {
        const auto v = static_cast<std::size_t>(space.places[i].variable);
        if (pending_[v].put && definitions_.variables[v].decomposition->held > 0)
            arrays[i] = &pending_[v].view;
    }
    Status status;
    if (storage_->collective()) {
        status = team_.agree(storage_->reserve(base, space.bytes));
        if (!status.ok()) return status;
    }
    if (direct_) {
        std::vector<Action> fills(actions.size(), Action::skip);
        bool any = false;
        for (std::size_t i = 0; i < actions.size(); ++i) {
            const Variable& v =
                definitions_.variables[static_cast<std::size_t>(space.places[i].variable)];
            if (actions[i] == Action::fill ||
                (actions[i] == Action::data && !v.decomposition->whole)) {
                fills[i] = Action::fill;
                any = true;
            }
        }
        if (any) {
            const std::vector<const ArrayView*> none(arrays.size(), nullptr);
            status = stream_->run(space, base, record, fills, none, *storage_, misfits_);
            status = team_.agree(status);
        }
        if (status.ok())
            status = direct_->run(space, base, record, actions, arrays, *storage_, misfits_);
    } else {
        status = stream_->run(space, base, record, actions, arrays, *storage_, misfits_);
    }
    return status;
}

Status File::publish_records(bool durable) {
    Status status = storage_->set_records(records_, durable);
    return status.ok() ? storage_->catch_up() : status;
}

/// All ranks learn what became of a write; on success the record is published.
Status File::finish_write(Status mine, Written written, bool durable) {
    if (storage_->collective()) {
        Status complete = storage_->complete();
        if (mine.ok()) mine = std::move(complete);
    }
    if (durable) {  // a collective matter for some drivers, so whatever this rank's own luck
        Status synced = storage_->sync();
        if (mine.ok()) mine = std::move(synced);
    }
    Status misfit;
    for (std::size_t i = 0; i < misfits_.size(); ++i) {
        const Variable& v = definitions_.variables[i];
        if (misfits_[i] == 0 || (v.record && written == Written::fixed)) continue;
        if (misfit.ok())
            misfit = failure(TW_ERANGE,
                             "{}: {} values of variable '{}' do not fit type {}; fill values are "
                             "written instead (rank {})",
                             path_, misfits_[i], v.name, name_of(v.type), team_.rank());
        misfits_[i] = 0;
    }
    std::int64_t words[2] = {mine.ok() ? 0 : 1, misfit.ok() ? 0 : 1};
    {
        Stopwatch watch(figures_.wait);
        team_.all_reduce(words, Reduce::max);
    }
    if (words[0] != 0) return keep(detail::agree(team_.world(), mine));
    if (written == Written::record_complete) {
        // A failure here is rank 0's alone: it is kept, and told to all by the next agreement.
        ++records_;
        Status published = publish_records(durable);
        if (!published.ok()) {
            if (team_.size() > 1) published.text += fmt::format(" (rank {})", team_.rank());
            failed_ = std::move(published);
        }
    }
    if (words[1] != 0) return detail::agree(team_.world(), misfit);
    return {};
}

Status File::put_now(Status checked, int variable, ArrayView view) {
    Agreed agreed;
    if (Status status = agree_on(Call::put, variable, checked, agreed); !status.ok()) return status;
    if (service_) return accept_queued({}, variable, view, false);
    use_netcdf_byte_rule(variable, view);
    const auto at = static_cast<std::size_t>(variable);
    const Variable& v = definitions_.variables[at];
    Pending& pending = pending_[at];
    pending.view = view;
    pending.put = true;
    const Space& space = v.record ? record_ : fixed_;
    std::vector<Action> actions(space.places.size(), Action::skip);
    for (std::size_t i = 0; i < actions.size(); ++i)
        if (space.places[i].variable == variable) actions[i] = Action::data;
    Status status = finish_write(write_space(space, v.record, actions), Written::record, false);
    pending.put = false;
    pending.written = true;
    if (!v.record) filled_[at] = 1;
    return status;
}

/// Writes the fixed-size variables that were put; with `last`, fills those that never were.
Status File::write_fixed(const Agreed& agreed, bool last) {
    std::vector<Action> actions(fixed_.places.size(), Action::skip);
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const auto v = static_cast<std::size_t>(fixed_.places[i].variable);
        if (agreed.put[v])
            actions[i] = Action::data;
        else if (last && !filled_[v])
            actions[i] = Action::fill;
        if (actions[i] != Action::skip) filled_[v] = 1;
    }
    return write_space(fixed_, false, actions);
}

Status File::end_step() {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(figures_.step);
    if (service_) return end_step_queued();
    Agreed agreed;
    if (Status s = agree_on(Call::end_step, -1, check_deferred(true), agreed); !s.ok()) return s;
    if (service_) return end_step_agreed({}, agreed);
    if (records_ >= most_records(format_))
        return keep(failure(TW_EFORMAT, "{}: format {} cannot count record {}; cdf5 can", path_,
                            name_of(format_), options_.wording.index(records_)));
    Status status = write_fixed(agreed, false);
    std::vector<Action> actions(record_.places.size(), Action::skip);
    for (std::size_t i = 0; i < actions.size(); ++i) {
        const auto v = static_cast<std::size_t>(record_.places[i].variable);
        if (agreed.put[v])
            actions[i] = Action::data;
        else if (!pending_[v].written)
            actions[i] = Action::fill;
    }
    Status records = write_space(record_, true, actions);
    if (status.ok()) status = std::move(records);
    status = finish_write(std::move(status),
                          record_.places.empty() ? Written::fixed : Written::record_complete,
                          options_.durable);
    for (Pending& p : pending_) p.put = p.written = false;
    ++figures_.steps;
    return status;
}

Status File::sync(bool durable) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(figures_.step);
    Agreed agreed;
    if (Status s = agree_on(Call::sync, -1, check_deferred(false), agreed); !s.ok()) return s;
    if (service_) return sync_queued(agreed, durable);
    Status status = write_fixed(agreed, false);
    status = finish_write(std::move(status), Written::fixed, durable);
    if (status.ok()) status = keep(team_.agree(publish_records(durable)));
    for (std::size_t i = 0; i < pending_.size(); ++i)
        if (!definitions_.variables[i].record) pending_[i].put = false;
    return status;
}

}  // namespace thalweg::detail
