// SPDX-License-Identifier: Apache-2.0
#include "comm/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <string_view>

#include "base/system/free_memory.hpp"
#include "base/system/ignore_sigxfsz.hpp"
#include "base/system/system_words.hpp"
#include "base/work.hpp"

namespace thalweg::detail {

namespace {

// A segment that is mapped in this process, found by token. Threads, and ranks that are threads,
// share one mapping; the last user unmaps it. Process numbers would not identify it, as they may be
// the same in other containers.
struct OwnSegment {
    char* data = nullptr;
    int users = 0;
};
std::mutex own_lock;
/// Returns the segments of this process. They are never destroyed: threads may still use them while
/// the process ends.
std::map<std::int64_t, OwnSegment>& own_segments() {
    static auto* const segments = new std::map<std::int64_t, OwnSegment>;
    return *segments;
}

/// The name by which the system, and so other processes, identifies shared memory.
class SegmentLabel {
public:
    explicit SegmentLabel(std::int64_t token) {
        (void)std::snprintf(text_.data(), text_.size(), "thalweg-%016llx",
                            static_cast<unsigned long long>(token));
    }
    const char* text() const { return text_.data(); }
    /// Tests if a link in /proc leads to the memory with this name.
    bool is_at(const char* link) const {
        constexpr std::string_view before = "/memfd:";
        std::array<char, 64> found{};
        const ssize_t n = readlink(link, found.data(), found.size());
        const std::string_view target(found.data(), n > 0 ? n : 0);
        return target.starts_with(before) && target.substr(before.size()).starts_with(text());
    }

private:
    std::array<char, 32> text_{};
};

}  // namespace

std::unique_ptr<Segment> Segment::make(std::size_t bytes, bool touch, Status& status) {
    // Fail here: the system might kill this process or another one rather than refuse.
    if (touch && static_cast<std::int64_t>(bytes) > free_memory().bytes) {
        status = failure(TW_ENOMEM, "cannot allocate {} bytes of memory shared within a node: {}",
                         bytes, std::strerror(ENOMEM));
        return nullptr;
    }
    IgnoreSigxfsz guard;  // a limit on the size of files applies to this memory, too
    std::int64_t token = 0;
    (void)!getrandom(&token, sizeof token, 0);
    const int fd = memfd_create(SegmentLabel(token).text(), MFD_CLOEXEC);
    void* data = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, bytes) == 0)
        data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED) {
        status = failure(TW_ENOMEM, "cannot allocate {} bytes of memory shared within a node: {}",
                         bytes, system_words(errno));
        if (fd >= 0) ::close(fd);
        return nullptr;
    }
    // A core dump would allocate all pages, also those that were never used.
    (void)madvise(data, bytes, MADV_DONTDUMP);
    std::unique_ptr<Segment> segment(new Segment);
    segment->data_ = static_cast<char*>(data);
    segment->size_ = bytes;
    segment->name_ = {getpid(), fd, static_cast<std::int64_t>(bytes), token};
    {
        const std::lock_guard lock(own_lock);
        own_segments()[token] = {segment->data_, 1};
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
    segment->size_ = name.bytes;
    {
        const std::lock_guard lock(own_lock);
        const auto own = own_segments().find(name.token);
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
    if (fd >= 0 && !SegmentLabel(name.token).is_at(path.c_str())) {
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
    (void)madvise(data, segment->size_, MADV_DONTDUMP);
    segment->data_ = static_cast<char*>(data);
    return segment;
}

bool Segment::touch(std::size_t offset, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    // If the system does not support this, it provides the pages on first use.
    return advise(offset, bytes, MADV_POPULATE_WRITE) || (errno != ENOMEM && errno != EFAULT);
#else
    (void)offset, (void)bytes;
    return true;
#endif
}

void Segment::map(std::size_t offset, std::size_t bytes) {
#ifdef MADV_POPULATE_READ
    // If the system does not support this, it maps the pages on first use.
    (void)advise(offset, bytes, MADV_POPULATE_READ);
#else
    (void)offset, (void)bytes;
#endif
}

/// Advises the system on the pages of a part. A simulation does not touch memory.
bool Segment::advise(std::size_t offset, std::size_t bytes, int advice) {
    const std::size_t page = sysconf(_SC_PAGESIZE);
    const std::size_t begin = offset / page * page;
    return !touches_memory() || madvise(data_ + begin, offset + bytes - begin, advice) == 0;
}

Segment::~Segment() {
    if (data_ == nullptr) return;
    if (owner_) ::close(name_.descriptor);
    if (own_) {
        const std::lock_guard lock(own_lock);
        const auto own = own_segments().find(name_.token);
        if (--own->second.users > 0) return;
        own_segments().erase(own);
    }
    munmap(data_, size_);
}

std::unique_ptr<Memory> share_segment(int place, int ranks, std::size_t bytes,
                                      const std::function<void(std::span<std::int64_t>)>& unite) {
    if (ranks == 1) return make_private_memory(bytes);
    std::unique_ptr<Segment> segment;
    Status ignored;  // the caller returns its own status
    struct {
        SegmentName name{0, 0, 0, 0};  // 0 bytes: there is no segment
        std::int64_t strict = 0;
    } told;
    if (place == 0) {
        segment = Segment::make(bytes, false, ignored);
        told.strict = free_memory().strict ? 1 : 0;
        if (segment) told.name = segment->name();
    }
    unite({reinterpret_cast<std::int64_t*>(&told), sizeof told / sizeof(std::int64_t)});
    if (told.name.bytes == 0) return nullptr;
    bytes = told.name.bytes;
    if (place != 0) segment = Segment::map(told.name, ignored);
    // Pages may be missing even if they were mapped, so each rank touches its part.
    const std::size_t begin = bytes / ranks * place;
    const std::size_t end = place + 1 < ranks ? bytes / ranks * (place + 1) : bytes;
    const bool have = segment && (told.strict == 0 || segment->touch(begin, end - begin));
    std::int64_t lacks = have ? 0 : 1;
    unite({&lacks, 1});
    if (lacks != 0) return nullptr;
    return segment;
}

std::vector<SegmentName> share_names(Comm& node, const SegmentName& mine) {
    std::vector<SegmentName> names(node.size(), SegmentName{0, 0, 0, 0});
    names[node.rank()] = mine;
    static_assert(sizeof(SegmentName) % sizeof(std::int64_t) == 0);
    const std::size_t words = names.size() * sizeof(SegmentName) / sizeof(std::int64_t);
    node.all_reduce({reinterpret_cast<std::int64_t*>(names.data()), words}, Reduce::sum);
    return names;
}

Status share_segments(Comm& node, std::size_t bytes,
                      std::vector<std::unique_ptr<Segment>>& segments) {
    std::unique_ptr<Segment> own;
    segments.clear();
    Status status;
    if (bytes > 0) own = Segment::make(bytes, false, status);
    for (const SegmentName& name : share_names(node, own ? own->name() : SegmentName{})) {
        if (static_cast<int>(segments.size()) == node.rank())
            segments.push_back(std::move(own));
        else
            segments.push_back(status.ok() && name.bytes > 0 ? Segment::map(name, status)
                                                             : nullptr);
    }
    return status;
}

}  // namespace thalweg::detail
