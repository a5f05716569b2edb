// SPDX-License-Identifier: Apache-2.0
#include "queued.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "ranks.hpp"

namespace thalweg::nc {

QueuedFile::QueuedFile(Session& session, std::string path)
    : Dataset(session, {}, std::move(path)),
      number_(session.files_made++),
      reductions_(session.comm(), session.lanes()),
      queue_(path_),
      last_write_(detail::now()) {
    shares_attributes_ = false;
    continues_in_place_ = true;
    // Without other ranks, a program may have readers that look for the file while it is written.
    if (session_.comm() == MPI_COMM_NULL) settings_ += "; publish=live";
}

bool QueuedFile::has_put(int varid) const {
    const auto& all = queue_.entries();
    return std::any_of(all.begin(), all.end(), [&](const Entry& e) {
        return e.varid == varid && (!e.empty || session_.ranks() > 1);
    });
}

Index QueuedFile::own_records() const {
    const int unlimited = table_.unlimited();
    return unlimited < 0 ? 0 : table_.length(unlimited);
}

Index QueuedFile::records() {
    const int unlimited = table_.unlimited();
    if (unlimited < 0) return 0;
    Index& length = table_.dimension(unlimited).length;
    if (writable_) length = std::max(length, reductions_.wait());
    return length;
}

void QueuedFile::sync() {
    if (!writable_) {
        close_alone();
        return Dataset::sync();
    }
    if (define_ && format_ != Format::netcdf4)
        throw Error{NC_EINDEFINE, path_ + " is in define mode"};
    join(Reason::sync);
    Dataset::sync();
}

void QueuedFile::enddef() {
    if (!define_) throw Error{NC_ENOTINDEFINE, path_ + " is not in define mode"};
    check_sizes();
    define_ = false;
    settle_attributes();
    if (!edits_.empty()) {
        join(Reason::edit);
        make_edits();
    }
    remember_definitions();
}

void QueuedFile::close() {
    Error error;
    const auto attempt = [&](auto action) {
        try {
            action();
        } catch (const Error& thrown) {
            if (error.code == 0) error = thrown;
        }
    };
    close_alone();
    if (define_) {
        attempt([&] { check_sizes(); });
        define_ = false;
    }
    // Wait for ranks that are in another call and will close the file later.
    if (writable_) do
            attempt([&] { join(Reason::close); });
        while (apart_ && !mixed_);
    if (mixed_) throw error;
    attempt([&] { Dataset::close(); });
    if (error.code != 0) throw error;
}

void QueuedFile::abort() {
    close_alone();
    if (writable_ && state_ == State::defining && !ended_once_) return discard();
    if (define_) undo_definitions();
    close();
}

void QueuedFile::definitions_begin() {
    agree_attributes();
    kept_ = {table_, edits_};
}

void QueuedFile::undo_definitions() {
    if (kept_) {
        const Index before = own_records();
        table_ = std::move(kept_->table);
        edits_ = std::move(kept_->edits);
        if (table_.unlimited() >= 0) table_.dimension(table_.unlimited()).length = before;
    }
    kept_.reset();
    fresh_.clear();
    define_ = false;
}

// Completes the new file and removes it, because the library can end a new file only by completing
// it.
void QueuedFile::discard() {
    table_ = {};
    fresh_.clear();
    Dataset::close();
    session_.check(tw_wait(session_.handle(), 0));
    on_rank(session_.comm(), root_, [&] { unlink(path_.c_str()); });
}

// Renames an object. In data mode, a classic file accepts only names that are not longer than the
// old ones.
template <class Rename>
void QueuedFile::rename(const std::string& old, std::string name, bool taken, Rename action) {
    if (!writable_) throw Error{NC_EPERM, path_ + " is open for reading"};
    check_name(name);
    if (taken) throw Error{NC_ENAMEINUSE, path_ + ": the name " + name + " is in use"};
    const bool defining = define_;
    if (!defining && format_ != Format::netcdf4) {
        if (name.size() > old.size())
            throw Error{NC_ENOTINDEFINE, path_ + " is not in define mode"};
        define_ = true;
    }
    action(name);
    define_ = defining || format_ == Format::netcdf4;
}

void QueuedFile::rename_dim(int dimid, const std::string& name) {
    rename(table_.dimension(dimid).name, name, table_.find_dimension(name) >= 0,
           [&](const std::string& n) { Dataset::rename_dim(dimid, n); });
}

void QueuedFile::rename_var(int varid, const std::string& name) {
    rename(table_.variable(varid).name, name, table_.find_variable(name) >= 0,
           [&](const std::string& n) { Dataset::rename_var(varid, n); });
}

void QueuedFile::rename_att(int varid, const std::string& name, const std::string& new_name) {
    const std::string old = table_.attribute(varid, name).name;
    rename(old, new_name, table_.attributes_of(varid).find(new_name) >= 0,
           [&](const std::string& n) { Dataset::rename_att(varid, old, n); });
}

void QueuedFile::remember_definitions() {
    ended_once_ = true;
    kept_.reset();
    if (define_) kept_ = {table_, edits_};
}

}  // namespace thalweg::nc
