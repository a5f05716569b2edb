// The end of a file: it is completed and gets its name, or is given up.
// SPDX-License-Identifier: Apache-2.0
#include "comm/clock.hpp"
#include "dataset/file.hpp"

namespace thalweg::detail {

/// Gives the files of this rank their own names. Local.
Status File::publish() {
    Status status;
    for (const auto& claim : claims_)
        if (status.ok()) status = claim->publish(options_.durable);
    return status;
}

/// Everything that the ranks have to do together before a file can be completed. With a service the
/// writers have it all then, and may still be at it.
Status File::hand_over() {
    Agreed agreed;
    if (Status s = agree_on(Call::close, -1, check_deferred(false), agreed); !s.ok()) return s;
    bool open_step = agreed.any_record;
    for (std::size_t i = 0; i < pending_.size(); ++i)
        open_step |= pending_[i].written && definitions_.variables[i].record;
    Status misfit;
    if (open_step) {
        misfit = end_step();
        Status ended = misfit.code == TW_ERANGE ? Status{} : misfit;
        // With a service a rank may see a failure before the others do; they stop together.
        if (service_) ended = team_.agree(ended);
        if (!ended.ok()) return keep(std::move(ended));
        agreed.put.assign(agreed.put.size(), 0);  // the step took the fixed-size ones with it
    }
    if (Status s = compare_definitions(); !s.ok()) return s;
    Status status = service_
                        ? agree_on_misfits(queue_rest(UnitKind::last, agreed))
                        : finish_write(write_fixed(agreed, true), Written::fixed, options_.durable);
    return status.ok() ? misfit : status;
}

/// The meeting with which a close begins, and what is left to write.
Status File::end() {
    leaving_ = true;
    Status status = begin_data();
    if (status.ok()) return hand_over();
    return storage_open_ ? enter(Call::close, -1, {}, {}) : status;
}

Status File::close() {
    if (state_ == State::closed) return usable();
    Status status = end();
    // Else all ranks end it in the order in which they find it.
    return arena_source_.meeting().parted() ? status : complete(std::move(status));
}

Status File::close_later(bool& later) {
    later = false;
    if (state_ == State::closed) return usable();
    Status status = end();
    if (arena_source_.meeting().parted()) return status;
    later = service_ && !service_->in_calls() && (status.ok() || status.code == TW_ERANGE);
    return later ? status : complete(std::move(status));
}

bool File::written() const { return service_->outbox().drained(); }

Status File::complete(Status status) {
    Stopwatch watch(figures_.close);
    const auto good = [&] { return status.ok() || status.code == TW_ERANGE; };
    if (service_ && good())
        if (Status written = service_->finish(options_.durable); !written.ok())
            status = keep(std::move(written));
    if (storage_open_) {
        if (!good()) late_.clear();
        Status closed =
            service_ ? service_->close(good(), late_) : storage_->close(records_, late_);
        closed = team_.agree(closed);
        storage_open_ = false;
        if (good() && !closed.ok()) status = std::move(closed);
    }
    if (good()) {
        Status published = team_.agree(alone([&] { return publish(); }));
        if (!published.ok()) status = std::move(published);
    } else if (state_ == State::defining) {
        discard();  // never had data
    }
    claims_.clear();
    figures_ = figures();
    state_ = State::closed;
    arena_source_.meeting().forget(serial_);
    service_.reset();
    early_.reset();
    stream_.reset();
    direct_.reset();
    storage_.reset();
    pending_ = {};
    staging_.reset();
    return status;
}

void File::leave(const Status& why) {
    if (state_ == State::closed) return;
    (void)keep(why);
    (void)complete(failed_);
}

Status File::abandon(Status why) {
    Status first = keep(std::move(why));
    (void)close();
    return first;
}

FileFigures File::figures() const {
    FileFigures f = figures_;
    if (stream_) {
        f.remap += stream_->counts().pack + stream_->counts().move;
        f.wait += stream_->counts().wait;
        f.messages = stream_->counts().messages;
        f.message_bytes = stream_->counts().message_bytes;
    }
    if (direct_) f.remap += direct_->pack_seconds();
    if (service_) {
        const WriteCounts counts = service_->counts();
        f.write = counts.seconds;
        f.bytes = counts.bytes;
        f.writes = counts.calls;
        f.queue_waits = service_->outbox().waits;
        f.queue_wait = service_->outbox().wait_seconds;
        f.queue_bytes = service_->outbox().most_bytes;
        f.staging_bytes = service_->outbox().touched();
    } else if (storage_) {
        f.write = storage_->counts().seconds;
        f.bytes = storage_->counts().bytes;
        f.writes = storage_->counts().calls;
    }
    return f;
}

}  // namespace thalweg::detail
