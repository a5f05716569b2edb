// SPDX-License-Identifier: Apache-2.0
#include "comm/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <span>

#include "comm/size_signal.hpp"

namespace thalweg::detail {

namespace {

// Who maps a segment of its own process gets the same addresses: a thread, or a rank where ranks
// are threads. The last one unmaps. By inode: processes in containers of their own may have the
// same numbers.
struct OwnSegment {
    char* data = nullptr;
    int users = 0;
};
std::mutex own_lock;
std::map<std::int64_t, OwnSegment>& own_segments() {
    static std::map<std::int64_t, OwnSegment> segments;
    return segments;
}

std::int64_t inode_of(int fd) {
    struct stat info {};
    return fstat(fd, &info) == 0 ? static_cast<std::int64_t>(info.st_ino) : -1;
}

}  // namespace

std::unique_ptr<Segment> Segment::make(std::size_t bytes, bool touch, Status& status) {
    NoSizeSignal guard;  // memory, but a limit on files is one on it
    const int fd = memfd_create("thalweg", MFD_CLOEXEC);
    void* data = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, static_cast<off_t>(bytes)) == 0)
        data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) {
        status = failure(TW_ENOMEM, "cannot allocate {} bytes of memory shared within a node: {}",
                         bytes, std::strerror(errno));
        if (fd >= 0) ::close(fd);
        return nullptr;
    }
    std::unique_ptr<Segment> segment(new Segment);
    segment->data_ = static_cast<char*>(data);
    segment->size_ = bytes;
    segment->name_ = {getpid(), fd, static_cast<std::int64_t>(bytes), inode_of(fd)};
    {
        const std::lock_guard lock(own_lock);
        own_segments()[segment->name_.inode] = {segment->data_, 1};
        segment->own_ = true;
    }
    if (!touch || segment->touch(0, bytes)) return segment;
    status = failure(TW_ENOMEM, "cannot allocate {} bytes of memory shared within a node: {}",
                     bytes, std::strerror(ENOMEM));
    return nullptr;
}

std::unique_ptr<Segment> Segment::map(const SegmentName& name, Status& status) {
    std::unique_ptr<Segment> segment(new Segment);
    segment->owner_ = false;
    segment->name_ = name;
    segment->size_ = static_cast<std::size_t>(name.bytes);
    {
        const std::lock_guard lock(own_lock);
        const auto own = own_segments().find(name.inode);
        if (own != own_segments().end()) {
            segment->own_ = true;
            segment->data_ = own->second.data;
            ++own->second.users;
            return segment;
        }
    }
    const std::string path = fmt::format("/proc/{}/fd/{}", name.process, name.descriptor);
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    void* data = MAP_FAILED;
    int error = errno;
    if (fd >= 0 && inode_of(fd) != name.inode) {
        error = ESRCH;
    } else if (fd >= 0) {
        data = mmap(nullptr, segment->size_, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        error = errno;
    }
    if (fd >= 0) ::close(fd);
    if (data == MAP_FAILED) {
        status = failure(TW_ENOMEM, "cannot map memory of process {} on this node ({}): {}",
                         name.process, path, std::strerror(error));
        return nullptr;
    }
    segment->data_ = static_cast<char*>(data);
    return segment;
}

bool Segment::touch(std::size_t offset, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t begin = offset / page * page;
    if (madvise(data_ + begin, offset + bytes - begin, MADV_POPULATE_WRITE) == 0) return true;
    // Where the system cannot, the pages come with their first use.
    return errno != ENOMEM && errno != EFAULT;
#else
    (void)offset, (void)bytes;
    return true;
#endif
}

Segment::~Segment() {
    if (data_ == nullptr) return;
    if (owner_) ::close(static_cast<int>(name_.descriptor));
    if (own_) {
        const std::lock_guard lock(own_lock);
        const auto own = own_segments().find(name_.inode);
        if (--own->second.users > 0) return;
        own_segments().erase(own);
    }
    munmap(data_, size_);
}

Status share_segments(Comm& node, std::size_t bytes, bool touch,
                      std::vector<std::unique_ptr<Segment>>& segments) {
    std::unique_ptr<Segment> own;
    std::vector<char> all;
    segments.clear();
    Status status = alone([&]() -> Status {
        Status made;
        segments.reserve(static_cast<std::size_t>(node.size()));
        all.reserve(static_cast<std::size_t>(node.size()) * sizeof(SegmentName));
        if (bytes > 0) own = Segment::make(bytes, touch, made);
        return made;
    });
    SegmentName name;
    if (own) name = own->name();
    // Where rank 0 of the node has no room for the names, nobody gets them.
    const Status told = alone([&]() -> Status {
        all.clear();
        const std::span<const char> mine(reinterpret_cast<const char*>(&name), sizeof name);
        for (const auto& one : node.gather(mine, 0)) {
            if (all.size() + one.size() > all.capacity()) break;
            all.insert(all.end(), one.begin(), one.end());
        }
        node.broadcast(all, 0);
        return {};
    });
    if (status.ok()) status = told;
    if (!status.ok()) return status;
    return alone([&]() -> Status {
        if (all.size() < static_cast<std::size_t>(node.size()) * sizeof name)
            throw std::bad_alloc();
        Status mapped;
        for (std::size_t at = 0; at < all.size(); at += sizeof name) {
            std::memcpy(&name, all.data() + at, sizeof name);
            if (static_cast<int>(segments.size()) == node.rank())
                segments.push_back(std::move(own));
            else
                segments.push_back(mapped.ok() && name.bytes > 0 ? Segment::map(name, mapped)
                                                                 : nullptr);
        }
        return mapped;
    });
}

}  // namespace thalweg::detail
