// SPDX-License-Identifier: Apache-2.0
#include "publish/claim.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "publish/committed.hpp"
#include "publish/stale_references.hpp"
#include "storage/checksums/table.hpp"
#include "storage/netcdf4/whole.hpp"
#include "storage/posix/file_system.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/redo.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

const char* kind_of(mode_t mode) {
    switch (mode & S_IFMT) {
        case S_IFIFO: return "a FIFO";
        case S_IFSOCK: return "a socket";
        case S_IFCHR:
        case S_IFBLK: return "a device";
        default: return "not a regular file";
    }
}

/// Renames the logs of an unfinished file so that they belong to `to`. Removes them if `to` is
/// empty, or if renaming fails.
void move_logs(const std::string& data, const std::string& to) {
    for (const auto path_of : {place_log_path, redo_path}) {
        const std::string log = path_of(data);
        if (to.empty() || std::rename(log.c_str(), path_of(to).c_str()) != 0)
            (void)unlink(log.c_str());
    }
}

/// Renames the checksums of a file so that they belong to `to`, or removes them if `to` is empty.
/// Removes older checksums of `to` in any case.
Status move_sums(const std::string& data, const std::string& to) {
    const std::string from = sums_path(data);
    const std::string target = to.empty() ? from : sums_path(to);
    if (is_sums_file(target)) (void)unlink(target.c_str());
    struct stat info {};
    if (to.empty() || (stat(from.c_str(), &info) != 0 && errno == ENOENT)) return {};
    if (stat(target.c_str(), &info) == 0)
        return failure(TW_EEXISTS, "{}: this file holds no checksums, and is not replaced by {}",
                       target, from);
    if (std::rename(from.c_str(), target.c_str()) == 0) return {};
    return system_failure(from, "cannot rename to " + target);
}

/// Removes the second name of a replaced file (former_path) that a killed run has left.
void remove_former(const std::string& own) {
    struct stat info {};
    const std::string former = former_path(own);
    if (lstat(former.c_str(), &info) == 0 && S_ISREG(info.st_mode)) (void)unlink(former.c_str());
}

/// Tests if the system lets this process replace a file with that owner.
bool may_replace(const struct stat& folder, const struct stat& file) {
    const uid_t me = geteuid();
    return (folder.st_mode & S_ISVTX) == 0 || me == 0 || file.st_uid == me || folder.st_uid == me;
}

}  // namespace

Status Claim::take(const ClaimRequest& request, std::unique_ptr<Claim>& claim,
                   std::vector<std::string>& said, std::string& said_of_stripes) {
    auto made = std::make_unique<Claim>();
    const bool in_place = request.live || request.existing;
    // A folder is continued whether the settings name its format or not.
    std::error_code ignored;
    const bool continued = request.existing && std::filesystem::is_directory(request.path, ignored);
    const bool folder = made->folder_ = request.existing ? continued : request.folder;
    std::string path = request.path;
    while (continued && path.size() > 1 && path.back() == '/')
        path.pop_back();  // the lock is beside the folder
    Status status = follow_links(path, made->own_);
    if (!status.ok()) return status;
    made->data_ = in_place ? made->own_ : temporary_path(made->own_);
    struct stat info {};
    if (request.existing && !folder &&
        (stat(made->own_.c_str(), &info) != 0 || !S_ISREG(info.st_mode))) {
        claim = std::move(made);  // there is no file to continue, which the reader reports later
        return {};
    }
    if (!continued) status = made->look();
    if (!status.ok()) return status;
    std::string of_lock;
    if (status = made->lock_.take(made->own_, in_place, of_lock); !status.ok()) return status;
    if (!of_lock.empty()) said.push_back(std::move(of_lock));
    remove_former(made->own_);
    const bool striped = request.stripe_count >= 0 || request.stripe_size >= 0;
    made->uncut_ = request.live && !request.existing && made->replaces_ && !striped;
    if (!request.existing && !made->uncut_) {
        // Remove references before the data change to which they refer, as the run may be killed in
        // between.
        if (in_place)
            remove_references_beside(made->own_);
        else
            status = made->keep_old(said);
        if (status.ok() && folder)
            status = made->make_folder();
        else if (status.ok())
            status = create_striped(made->data_, !in_place, request.stripe_count,
                                    request.stripe_size, said_of_stripes);
        if (!status.ok()) return status;
        made->created_ |= !folder && (!in_place || !made->replaces_);
        move_logs(made->data_, "");
        (void)move_sums(made->data_, "");
        made->restore_permissions(true);
    } else if (request.existing && !folder) {
        // Complete the metadata that a killed run has left beside the file.
        if (status = redo(made->own_); !status.ok()) return status;
        if (status = enter_logged(made->own_); !status.ok()) return status;
        move_logs(made->own_, "");
    }
    claim = std::move(made);
    return {};
}

Status Claim::take_over(const std::string& own, const std::string& data,
                        std::unique_ptr<Claim>& claim) {
    auto made = std::make_unique<Claim>();
    made->own_ = own;
    made->data_ = data;
    std::string said;
    std::error_code ignored;
    made->folder_ = std::filesystem::is_directory(data, ignored);
    Status status = made->folder_ && own == data ? Status{} : made->look();
    if (status.ok()) status = made->lock_.take(own, own == data, said);
    if (!status.ok()) return status;
    remove_former(own);
    claim = std::move(made);
    return {};
}

/// Checks that a file can be written to this path, and that an existing file there can be replaced.
Status Claim::look() {
    struct stat info {
    }, folder{};
    if (own_.back() == '/' && folder_)
        return failure(TW_EIO, "{}: leave out the slash at the end of the path", own_);
    if (own_.back() == '/') return failure(TW_EIO, "{}: the path names a directory", own_);
    const bool there = stat(own_.c_str(), &info) == 0;
    if (!there && errno != ENOENT) return system_failure(own_, "cannot create");
    if (stat(folder_of(own_).c_str(), &folder) != 0) return cannot_create(own_);
    if (!there) return {};
    if (folder_) return look_at_folder();
    errno = EISDIR;
    if (S_ISDIR(info.st_mode)) return system_failure(own_, "cannot create");
    if (!S_ISREG(info.st_mode))
        return failure(TW_EIO, "{}: is {}; only a regular file can be written", own_,
                       kind_of(info.st_mode));
    if (faccessat(AT_FDCWD, own_.c_str(), W_OK, AT_EACCESS) != 0)
        return system_failure(own_, "cannot open for writing");
    if (data_ != own_ && !may_replace(folder, info))
        return failure(TW_EIO,
                       "{}: belongs to user {}, and nobody else can replace it, because its "
                       "directory has the sticky bit set; remove it, or use publish=live",
                       own_, info.st_uid);
    replaces_ = true;
    mode_ = info.st_mode & 07777;
    user_ = info.st_uid;
    group_ = info.st_gid;
    return {};
}

/// Checks that a folder contains no other files, as these must neither be replaced nor mixed with
/// new ones.
Status Claim::look_at_folder() const {
    std::error_code error;
    const bool folder = std::filesystem::is_directory(own_, error);
    if (!error && !folder)
        return failure(TW_EEXISTS, "{}: a folder of this name is to be made, but a file has it",
                       own_);
    const bool empty = !error && std::filesystem::is_empty(own_, error);
    errno = error.value();
    if (error) return system_failure(own_, "cannot list the folder");
    if (empty) return {};
    return failure(TW_EEXISTS,
                   "{}: the folder exists and is not empty, and is not replaced: remove it, or use "
                   "another name",
                   own_);
}

Status Claim::make_folder() {
    created_ = mkdir(data_.c_str(), 0777) == 0;
    if (created_ || (errno == EEXIST && data_ == own_)) return {};
    return system_failure(data_, "cannot create the folder");
}

Status Claim::cut() {
    if (!uncut_) return {};
    remove_references_beside(own_);
    if (Status status = with_file(own_, O_WRONLY | O_TRUNC, [](int) { return Status{}; });
        !status.ok())
        return status;
    uncut_ = false;
    move_logs(own_, "");
    (void)move_sums(own_, "");
    return {};
}

/// Renames unfinished files of earlier runs, to keep them.
Status Claim::keep_old(std::vector<std::string>& said) const {
    struct stat info {};
    if (lstat(data_.c_str(), &info) != 0) return {};
    if (!S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode) && !(folder_ && S_ISDIR(info.st_mode)))
        return failure(TW_EIO, "{}: cannot use this path for the temporary file: it is {}", data_,
                       S_ISDIR(info.st_mode) ? "a directory" : kind_of(info.st_mode));
    const auto move = [&](const std::string& to) {
        if (std::rename(data_.c_str(), to.c_str()) != 0)
            return system_failure(data_, "cannot rename to " + to);
        move_logs(data_, to);
        said.push_back(fmt::format("kept the unfinished file of an earlier run as {}", to));
        if (const Status status = move_sums(data_, to); !status.ok())
            said.back() += fmt::format(", without its checksums: {}", status.text);
        return Status{};
    };
    if (S_ISREG(info.st_mode) && info.st_size == 0) {
        if (unlink(data_.c_str()) == 0) return {};
        return system_failure(data_, "cannot remove the empty file of an earlier run");
    }
    if (S_ISDIR(info.st_mode) && rmdir(data_.c_str()) == 0) return {};
    // A larger file may have much data in variables of fixed size.
    constexpr off_t small = 1 << 20;
    if (S_ISREG(info.st_mode) && info.st_size <= small && lacks_records(data_)) {
        if (unlink(data_.c_str()) != 0)
            return system_failure(data_, "cannot remove the file of an earlier run");
        said.push_back("removed the unfinished file of an earlier run, which had no record");
        return {};
    }
    for (int k = 1; k <= most_kept; ++k) {
        struct stat there {};
        const std::string kept = kept_path(own_, k);
        if (lstat(kept.c_str(), &there) != 0 && errno == ENOENT) return move(kept);
    }
    std::vector<std::string> all{data_};
    for (int k = 1; k <= most_kept; ++k) all.push_back(kept_path(own_, k));
    const std::string least = sorted_by_records(all).front();
    std::error_code error;
    std::filesystem::remove_all(least, error);
    move_logs(least, "");
    (void)move_sums(least, "");
    errno = error.value();
    if (error) return system_failure(least, "cannot remove");
    said.push_back(fmt::format(
        "at most {} unfinished files of earlier runs are kept: removed {}, which had the fewest "
        "records",
        most_kept, least));
    return least == data_ ? Status{} : move(least);
}

/// Gives the new file the owner, group and mode of the replaced one, as far as the system permits.
/// @param while_written  the file is still being written, so its owner must keep the right to write
void Claim::restore_permissions(bool while_written) const {
    if (!replaces_ || data_ == own_) return;
    struct stat info {};
    if (stat(data_.c_str(), &info) != 0) return;
    // Change the group first: after a change of the owner, this user may no longer change the file.
    if (info.st_gid != group_) (void)!chown(data_.c_str(), static_cast<uid_t>(-1), group_);
    (void)!chmod(data_.c_str(), while_written ? (mode_ & 0777) | S_IRUSR | S_IWUSR : mode_);
    if (info.st_uid != user_ && !while_written &&
        chown(data_.c_str(), user_, static_cast<gid_t>(-1)) == 0)
        (void)!chmod(data_.c_str(), mode_);  // chown clears the set-user-ID and set-group-ID bits
}

Status Claim::check_begun() const {
    // Open the file instead of calling stat(), which NFS answers from its cache.
    const Descriptor fd = ::open(data_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return system_failure(data_, "cannot open");
    struct stat info {};
    const bool empty = fstat(fd, &info) == 0 && info.st_size == 0;
    if (!empty) return {};
    return failure(TW_EIO,
                   "{}: host {} does not see what another host has written to it, so its directory "
                   "is not shared",
                   data_, host_name());
}

Status Claim::sync_name() const {
    // First sync the truncation of an older file of this name; then new data may follow.
    Status status = data_ == own_ && !folder_ ? sync_closed(data_) : Status{};
    if (status.ok()) status = sync_folder_of(data_);
    return status.ok() && folder_ ? sync_folder_of(data_ + "/") : status;
}

Status Claim::publish(bool durable) {
    if (Status status = lock_.check_held(own_); !status.ok()) return status;
    move_logs(data_, "");
    if (data_ != own_) {
        // Remove logs that a killed run has left beside the replaced file, so that they are not
        // used for the new one.
        move_logs(own_, "");
        restore_permissions(false);
        remove_references_beside(own_);
        if (Status status = replace(); !status.ok()) return status;
    }
    return durable ? sync_folder_of(own_) : Status{};
}

/// Gives the data and their checksums their final names. At no time are the checksums of another
/// file beside the data. If renaming the checksums fails, restores the replaced file.
Status Claim::replace() const {
    (void)move_sums(own_, "");
    const std::string former = former_path(own_);
    const bool summed = replaces_ && access(sums_path(data_).c_str(), F_OK) == 0;
    const bool kept = summed && link(own_.c_str(), former.c_str()) == 0;
    Status status;
    if (std::rename(data_.c_str(), own_.c_str()) != 0)
        status = system_failure(data_, "cannot rename to " + own_);
    else if (status = move_sums(data_, own_); !status.ok() && kept)
        (void)std::rename(former.c_str(), own_.c_str());
    if (kept) (void)unlink(former.c_str());
    return status;
}

void Claim::discard() {
    std::error_code ignored;
    if (created_) std::filesystem::remove_all(data_, ignored);
    if (created_) (void)move_sums(data_, "");
    if (!uncut_) move_logs(data_, "");
    lock_.release();
}

}  // namespace thalweg::detail
