// The end of a file: it is completed and gets its name, or is given up.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "comm/clock.hpp"
#include "dataset/file.hpp"
#include "storage/system.hpp"
#include "storage/tiles.hpp"

namespace thalweg {

/// Calls act(own name, data's name) for the files of this rank: the one file on rank 0, and of a
/// set each on one of the ranks.
template <class Do>
Status File::for_files(Do&& act) const {
    const int n = in_files() ? layout_choice_.grid.parts() : 1;
    const std::string suffix = data_path_.substr(path_.size());
    Status status;
    for (int k = team_.rank(); k < n && status.ok(); k += team_.size()) {
        const std::string own = in_files() ? tile_path(path_, k) : path_;
        status = act(own, own + suffix);
    }
    return status;
}

Status File::rename_to_final() {
    if (options_.live) return {};
    return for_files([&](const std::string& own, const std::string& data) -> Status {
        if (std::rename(data.c_str(), own.c_str()) != 0)
            return failure(TW_EIO, "{}: cannot rename to {}: {}", data, own, std::strerror(errno));
        if (!options_.durable) return {};
        const auto slash = own.rfind('/');
        const std::string folder = slash == std::string::npos ? "." : own.substr(0, slash + 1);
        const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0) return system_failure(own, "cannot open the folder to sync it");
        Status status = sync_file(fd, own + ": the folder", true);
        ::close(fd);
        return status;
    });
}

/// Everything that is due before a file can have its name.
Status File::complete() {
    Agreed agreed;
    if (Status s = agree_on(Call::close, -1, {}, agreed); !s.ok()) return s;
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
    if (service_) {
        Status status = finish_queued(UnitKind::last, agreed, options_.durable);
        return status.ok() ? misfit : status;
    }
    Status status = finish_write(write_fixed(agreed, true), Written::fixed, options_.durable);
    return status.ok() ? misfit : status;
}

Status File::close() {
    if (state_ == State::closed) return usable();
    Status status = begin_data();
    if (status.ok()) status = complete();
    Stopwatch watch(figures_.close);
    const bool good = status.ok() || status.code == TW_ERANGE;
    if (storage_open_) {
        if (!good) late_.clear();
        Status closed = service_ ? service_->close(good, late_) : storage_->close(records_, late_);
        closed = team_.agree(closed);
        storage_open_ = false;
        if (good && !closed.ok()) status = std::move(closed);
    }
    if (status.ok() || status.code == TW_ERANGE) {
        Status renamed = team_.agree(rename_to_final());
        if (!renamed.ok()) status = std::move(renamed);
    } else if (state_ == State::defining && !options_.live && team_.rank() == 0) {
        unlink(first_data_path().c_str());  // never had data
    }
    figures_ = figures();
    state_ = State::closed;
    service_.reset();
    stream_.reset();
    direct_.reset();
    storage_.reset();
    pending_ = {};
    staging_.reset();
    return status;
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
    } else if (storage_) {
        f.write = storage_->counts().seconds;
        f.bytes = storage_->counts().bytes;
        f.writes = storage_->counts().calls;
    }
    return f;
}

}  // namespace thalweg
