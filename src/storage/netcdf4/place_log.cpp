// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/place_log.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/hash.hpp"
#include "base/wire.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

constexpr std::array<char, 16> log_mark{'t', 'h', 'a', 'l', 'w', 'e', 'g', ' ',
                                        'p', 'l', 'a', 'c', 'e', 's', '1', '\n'};
/// clear() empties the log if it is larger than this number of bytes.
constexpr std::int64_t many = 1 << 20;
/// Number of bytes that are reserved at a time, so that the log can still be written when the disk
/// is full.
constexpr std::int64_t room_step = 64 << 10;

static_assert(std::is_trivially_copyable_v<PlacedChunk>);

/// The head of an entry. The first entry contains the names of the variables; each other entry
/// contains chunks that were logged together.
struct Head {
    std::int64_t records = 0;
    std::int64_t bytes = 0;  ///< size in bytes of the rest of the entry
    std::uint64_t checksum = 0;
};

std::vector<char> entry(std::int64_t records, std::span<const char> bytes) {
    WireWriter out;
    out.put(Head{records, std::ssize(bytes), hash_of({bytes.data(), bytes.size()})});
    out.bytes.insert(out.bytes.end(), bytes.begin(), bytes.end());
    return std::move(out.bytes);
}

/// Removes the next entry from the front of the bytes. @return false if it is incomplete
bool take_entry(std::span<const char>& from, Head& head, std::span<const char>& bytes) {
    if (from.size() < sizeof head) return false;
    std::memcpy(&head, from.data(), sizeof head);
    from = from.subspan(sizeof head);
    if (head.bytes < 0 || head.bytes > std::ssize(from) || head.records < 0) return false;
    bytes = from.first(head.bytes);
    from = from.subspan(head.bytes);
    return hash_of({bytes.data(), bytes.size()}) == head.checksum;
}

}  // namespace

PlaceLog::PlaceLog(const std::string& path, const Definitions& definitions)
    : path_(place_log_path(path)) {
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd_ < 0) return;
    WireWriter names;
    for (const Variable& v : definitions.variables) names.put(v.name);
    append(log_mark);
    append(entry(std::ssize(definitions.variables), names.bytes));
    begin_ = end_;
}

PlaceLog::~PlaceLog() {
    if (fd_ >= 0) ::close(fd_);
}

void PlaceLog::append(std::span<const char> bytes) {
    if (fd_ < 0) return;
    const NoSizeSignal guard;
    if (end_ + std::ssize(bytes) > room_) {
        const std::int64_t more = (std::ssize(bytes) / room_step + 1) * room_step;
        (void)fallocate(fd_, FALLOC_FL_KEEP_SIZE, room_, more);
        room_ += more;
    }
    if (write_fully(fd_, path_, bytes.data(), std::ssize(bytes), end_).ok())
        end_ += std::ssize(bytes);
    else
        ::close(std::exchange(fd_, -1));
}

void PlaceLog::add(std::int64_t records, std::span<const PlacedChunk> chunks, bool durable) {
    append(entry(records, {reinterpret_cast<const char*>(chunks.data()), chunks.size_bytes()}));
    if (!durable || fd_ < 0) return;
    (void)sync_file(fd_, path_);
    if (!std::exchange(named_, true)) (void)sync_folder_of(path_);
}

void PlaceLog::clear() {
    if (fd_ < 0 || end_ - begin_ < many || ftruncate(fd_, begin_) != 0) return;
    end_ = room_ = begin_;
}

void PlaceLog::remove() {
    (void)unlink(path_.c_str());
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

bool read_place_log(const std::string& path, std::vector<std::string>& names,
                    std::vector<LoggedChunks>& logged) {
    const std::string log = place_log_path(path);
    const int fd = ::open(log.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return false;
    struct stat info {};
    std::vector<char> all;
    bool good = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
    if (good) all.resize(info.st_size);
    good = good && read_fully(fd, log, all.data(), std::ssize(all), 0).ok();
    ::close(fd);
    std::span<const char> rest(all), bytes;
    Head head;
    if (!good || rest.size() < log_mark.size() ||
        !std::equal(log_mark.begin(), log_mark.end(), rest.begin()))
        return false;
    rest = rest.subspan(log_mark.size());
    if (!take_entry(rest, head, bytes)) return false;
    const std::vector<char> told(bytes.begin(), bytes.end());
    WireReader in(told);
    for (std::int64_t i = 0; i < head.records; ++i) names.push_back(in.get_many<std::string>());
    while (take_entry(rest, head, bytes)) {
        LoggedChunks one{head.records,
                         std::vector<PlacedChunk>(bytes.size() / sizeof(PlacedChunk))};
        std::memcpy(one.chunks.data(), bytes.data(), one.chunks.size() * sizeof(PlacedChunk));
        logged.push_back(std::move(one));
    }
    return true;
}

}  // namespace thalweg::detail
