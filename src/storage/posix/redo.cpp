// SPDX-License-Identifier: Apache-2.0
#include "storage/posix/redo.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/hash.hpp"
#include "base/wire.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

struct RedoHead {
    std::array<char, 16> mark{'t', 'h', 'a', 'l', 'w', 'e', 'g', ' ',
                              'r', 'e', 'd', 'o', ' ', '1', '\n'};
    std::int64_t bytes = 0;  ///< size in bytes of the rest of the log
    std::uint64_t checksum = 0;
};

/// Number of bytes that a disk writes completely or not at all.
constexpr std::int64_t sector = 512;

/// Reads the logged changes. Leaves `changes` empty if there are none, or if they are incomplete.
Status read_changes(const std::string& path, std::vector<ChangedBytes>& changes) {
    if (access(redo_path(path).c_str(), F_OK) != 0) return {};
    std::vector<char> all;
    if (Status s = read_file(redo_path(path), all); !s.ok()) return s;
    RedoHead head;
    const RedoHead wanted;
    if (all.size() < sizeof head) return {};
    std::memcpy(static_cast<void*>(&head), all.data(), sizeof head);
    all.erase(all.begin(), all.begin() + sizeof head);
    if (head.mark != wanted.mark || head.bytes < 0 || head.bytes > std::ssize(all)) return {};
    all.resize(head.bytes);
    if (hash_of({all.data(), all.size()}) != head.checksum) return {};
    WireReader in(all);
    for (auto left = in.get<std::int64_t>(); left > 0; --left) {
        ChangedBytes change;
        change.address = in.get<std::int64_t>();
        change.before = in.get_many<std::vector<char>>();
        change.after = in.get_many<std::vector<char>>();
        changes.push_back(std::move(change));
    }
    return {};
}

/// Tests if each sector of a range has either its former or its new bytes.
bool is_old_or_new(int fd, const ChangedBytes& change) {
    const std::int64_t bytes = std::ssize(change.after);
    std::vector<char> now(bytes);
    if (pread(fd, now.data(), now.size(), change.address) != bytes) return false;
    for (std::int64_t at = 0; at < bytes;) {
        const std::int64_t n = std::min(bytes - at, sector - (change.address + at) % sector);
        if (std::memcmp(now.data() + at, change.before.data() + at, n) != 0 &&
            std::memcmp(now.data() + at, change.after.data() + at, n) != 0)
            return false;
        at += n;
    }
    return true;
}

Status change_again(int fd, const std::string& path, const std::vector<ChangedBytes>& changes) {
    for (const ChangedBytes& change : changes)
        if (!is_old_or_new(fd, change)) return {};
    for (const ChangedBytes& change : changes)
        if (Status s = write_fully(fd, path, change.after.data(), std::ssize(change.after),
                                   change.address);
            !s.ok())
            return s;
    return sync_file(fd, path);
}

}  // namespace

RedoLog::~RedoLog() {
    if (fd_ >= 0) ::close(fd_);
}

Status RedoLog::write(const std::vector<ChangedBytes>& changes) {
    const std::string path = redo_path(path_);
    WireWriter out;
    out.put(std::ssize(changes));
    for (const ChangedBytes& change : changes) {
        out.put(change.address);
        out.put(change.before);
        out.put(change.after);
    }
    RedoHead head;
    head.bytes = std::ssize(out.bytes);
    head.checksum = hash_of({out.bytes.data(), out.bytes.size()});
    WireWriter all;
    all.put(head);
    all.bytes.insert(all.bytes.end(), out.bytes.begin(), out.bytes.end());
    const bool fresh = fd_ < 0;
    if (fresh) fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd_ < 0) return system_failure(path_, "cannot create " + path);
    Status status = write_fully(fd_, path_, all.bytes.data(), std::ssize(all.bytes), 0);
    if (status.ok()) status = sync_file(fd_, path_);
    if (status.ok() && fresh) status = sync_folder_of(path_);
    if (!status.ok()) status.text += fmt::format(" (for {})", path);
    return status;
}

Status RedoLog::drop(bool durable) {
    const std::string path = redo_path(path_);
    if (fd_ < 0 && !durable) return {};  // logs of earlier runs were already removed
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    if (unlink(path.c_str()) != 0)
        return errno == ENOENT ? Status{} : system_failure(path_, "cannot remove " + path);
    return durable ? sync_folder_of(path) : Status{};
}

Status redo(const std::string& path) {
    std::vector<ChangedBytes> changes;
    Status status = alone([&] { return read_changes(path, changes); });
    if (!status.ok() || changes.empty()) return status;
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return system_failure(path, "cannot open for writing");
    NoSizeSignal guard;
    status = alone([&] { return change_again(fd, path, changes); });
    ::close(fd);
    return status;
}

}  // namespace thalweg::detail
