// SPDX-License-Identifier: Apache-2.0
#include "nc/queue/queue.hpp"

#include <fcntl.h>
#include <netcdf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/system/ignore_sigxfsz.hpp"
#include "base/work.hpp"

namespace thalweg::nc {

namespace {

// Tests if section b begins, both in the file and in memory, where section a of the same variable
// ends, and if both together are one section.
bool continues(const Entry& a, const Entry& b, std::size_t element) {
    if (a.varid != b.varid || a.collective != b.collective || a.empty || b.empty) return false;
    if (a.round != b.round || a.borrowed != b.borrowed || a.packed != b.packed) return false;
    if (!a.stride.empty() || !b.stride.empty()) return false;
    if (a.pieces != nullptr || b.pieces != nullptr) return false;
    if (a.values + static_cast<std::size_t>(volume(a.count)) * element != b.values) return false;
    const std::size_t dims = a.start.size();
    std::size_t d = 0;
    for (; d < dims && a.start[d] == b.start[d]; d++)
        if (a.count[d] != 1 || b.count[d] != 1) return false;
    if (d == dims || a.start[d] + a.count[d] != b.start[d]) return false;
    for (std::size_t inner = d + 1; inner < dims; inner++)
        if (a.start[inner] != b.start[inner] || a.count[inner] != b.count[inner]) return false;
    return true;
}

}  // namespace

// Joins the last entries if possible, so that rows that are put one by one become a level, and
// levels a record.
void Queue::join_last(std::size_t element) {
    while (entries_.size() > 1) {
        Entry& before = entries_[entries_.size() - 2];
        const Entry& last = entries_.back();
        if (!continues(before, last, element)) return;
        std::size_t d = 0;
        while (before.start[d] == last.start[d]) d++;
        before.count[d] += last.count[d];
        entries_.pop_back();
    }
}

void Queue::push(Entry entry, std::size_t element) {
    has_values_ |= !entry.empty;
    has_independent_ |= !entry.collective;
    entry.round = round_;
    entries_.push_back(std::move(entry));
    if (element != 0) join_last(element);
}

Order Queue::pack(Entry& entry) const {
    entry.packed = entry.pieces == nullptr;
    return entry.packed ? definitions_.order() : Order::native;
}

char* Queue::take(Index bytes, std::size_t alignment) {
    char* const taken = bytes_ + bytes <= staging_limit()
                            ? state_.memory()->take(bytes, alignment)
                            : take_mapped(static_cast<std::size_t>(bytes));
    if (taken == nullptr) throw std::bad_alloc();
    detail::charge_bytes(bytes);
    bytes_ += bytes;
    taken_ = taken;
    return taken;
}

void Queue::give_back(Index bytes) {
    if (bytes_ <= staging_limit())
        state_.memory()->undo(taken_);
    else
        used_ -= static_cast<std::size_t>(bytes);
    bytes_ -= bytes;
    taken_ = nullptr;
}

void Queue::own(std::size_t i) {
    Entry& e = entries_[i];
    const nc_type type = definitions_.table.variable(e.varid).type;
    const std::size_t size = size_of(type);
    char* const copy = take(e.elements() * static_cast<Index>(size), size);
    convert(type, e.values, type, copy, e.elements(), "", false, pack(e));
    e.values = copy;
    e.borrowed = false;
}

void Queue::unpack() {
    char value[8];
    for (Entry& e : entries_) {
        if (!std::exchange(e.packed, false)) continue;
        const nc_type type = definitions_.table.variable(e.varid).type;
        const auto size = static_cast<Index>(size_of(type));
        char* const values = const_cast<char*>(e.values);
        detail::charge_bytes(e.elements() * size);
        for (Index at = 0; at < e.elements() * size; at += size) {
            convert(type, values + at, type, value, 1, "", false, definitions_.order());
            std::memcpy(values + at, value, static_cast<std::size_t>(size));
        }
    }
}

void Queue::drop_borrowed() {
    const auto borrowed = [](const Entry& e) { return e.borrowed; };
    std::erase_if(entries_, borrowed);
    has_values_ = has_independent_ = false;
    for (const Entry& e : entries_) {
        has_values_ |= !e.empty;
        has_independent_ |= !e.collective;
    }
}

// Takes memory in the mapped file. The file is extended before it is mapped, so that a full disk is
// an error here and not a signal later.
char* Queue::take_mapped(std::size_t bytes) {
    constexpr std::size_t usual = 16 << 20, alignment = 64;
    used_ = (used_ + alignment - 1) / alignment * alignment;
    if (mappings_.empty() || used_ + bytes > mappings_.back().size) {
        const std::size_t size = std::max(bytes, usual);
        std::string name = definitions_.path + ".XXXXXX";
        const int file = mkstemp(name.data());
        if (file < 0) throw Error{errno, name + ": " + std::strerror(errno)};
        unlink(name.c_str());
        const detail::IgnoreSigxfsz guard;
        const int full = posix_fallocate(file, 0, static_cast<off_t>(size));
        void* const at = full != 0
                             ? MAP_FAILED
                             : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        const int code = full != 0 ? full : errno;
        ::close(file);
        if (at == MAP_FAILED)
            throw Error{code, definitions_.path + ": no room for data that wait to be written: " +
                                  std::strerror(code)};
        mappings_.push_back({at, size});
        used_ = 0;
    }
    char* const taken = static_cast<char*>(mappings_.back().at) + used_;
    used_ += bytes;
    return taken;
}

void Queue::clear() {
    entries_.clear();
    has_values_ = has_independent_ = false;
    round_ = 0;
    if (state_.memory() != nullptr) state_.memory()->give_back();
    for (const Mapping& m : mappings_) munmap(m.at, m.size);
    mappings_.clear();
    bytes_ = 0;
    taken_ = nullptr;
    used_ = 0;
}

}  // namespace thalweg::nc
