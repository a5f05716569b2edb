// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/index/place_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "storage/posix/log_entry.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

template <class Wire>
void carry(Wire& wire, Carried<Wire, LoggedChunks> logged) {
    wire(logged.records, logged.chunks);
}

namespace {

/// Begins a log. The first entry has the names of the variables, each other one has LoggedChunks.
constexpr LogMark places_mark{'t', 'h', 'a', 'l', 'w', 'e', 'g', ' ',
                              'p', 'l', 'a', 'c', 'e', 's', '2', '\n'};
/// clear() empties the log if it is larger than this number of bytes.
constexpr std::int64_t many = 1 << 20;
/// Number of bytes that are reserved at a time, so that the log can still be written when the disk
/// is full.
constexpr std::int64_t room_step = 64 << 10;

}  // namespace

PlaceLog::PlaceLog(const std::string& path, const Definitions& definitions)
    : path_(place_log_path(path)) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd_ < 0) return;
    std::vector<std::string> names;
    for (const Variable& v : definitions.variables) names.push_back(v.name);
    std::vector<char> first(places_mark.begin(), places_mark.end());
    append_log_entry(first, names);
    append(first);
    begin_ = end_;
}

void PlaceLog::append(std::span<const char> bytes) {
    if (fd_ < 0) return;
    const IgnoreSigxfsz guard;
    if (end_ + std::ssize(bytes) > room_) {
        const std::int64_t more = (std::ssize(bytes) / room_step + 1) * room_step;
        (void)fallocate(fd_, FALLOC_FL_KEEP_SIZE, room_, more);
        room_ += more;
    }
    if (write_fully(fd_, path_, bytes.data(), std::ssize(bytes), end_).ok())
        end_ += std::ssize(bytes);
    else
        fd_ = -1, failed_ = true;
}

void PlaceLog::add(const LoggedChunks& logged, bool durable) {
    std::vector<char> entry;
    append_log_entry(entry, logged);
    append(entry);
    if (!durable || fd_ < 0) return;
    (void)sync_file(fd_, path_);
    if (!std::exchange(named_, true)) (void)sync_folder_of(path_);
}

void PlaceLog::clear() {
    // Without the later ones, the entries in the file would bring back older chunks.
    if (std::exchange(failed_, false)) (void)unlink(path_.c_str());
    if (fd_ < 0 || end_ - begin_ < many || ftruncate(fd_, begin_) != 0) return;
    end_ = room_ = begin_;
}

void PlaceLog::remove() {
    (void)unlink(path_.c_str());
    fd_ = -1;
}

bool read_place_log(const std::string& path, std::vector<std::string>& names,
                    std::vector<LoggedChunks>& logged) {
    const std::string log = place_log_path(path);
    const Descriptor fd = ::open(log.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    struct stat info {};
    std::vector<char> all;
    bool good = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    if (good) all.resize(info.st_size);
    good = good && read_fully(fd, log, all.data(), std::ssize(all), 0).ok();
    std::span<const char> rest(all);
    if (!good || !take_log_mark(rest, places_mark) || !take_log_entry(rest, names)) return false;
    for (LoggedChunks one; take_log_entry(rest, one);) logged.push_back(one);
    return true;
}

}  // namespace thalweg::detail
