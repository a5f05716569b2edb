// SPDX-License-Identifier: Apache-2.0
#include "storage/chunked/partial_chunk_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "storage/posix/system.hpp"

namespace thalweg::detail {

PartialChunkCache::PartialChunkCache(std::string path, const Definitions& definitions,
                                     std::span<const ChunkGrid> grids, Load load,
                                     std::int64_t memory)
    : path_(std::move(path)),
      definitions_(definitions),
      grids_(grids),
      load_(std::move(load)),
      most_memory_(memory),
      free_(grids.size()) {}

Status PartialChunkCache::make_file() {
    if (fd_ >= 0) return {};
    const std::size_t slash = path_.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path_.substr(0, slash + 1);
    fd_ = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd_ >= 0) return {};
    // Used on file systems that do not support unnamed files (O_TMPFILE).
    std::string name = path_ + ".XXXXXX";
    fd_ = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd_ < 0) return system_failure(path_, "cannot make a file for unpacked chunks beside it");
    ::unlink(name.c_str());
    return {};
}

std::int64_t PartialChunkCache::bytes_of(const Band& band) const {
    const ChunkGrid& g = grid(band);
    return g.records * g.elements_of(band.number) * g.element;
}

bool PartialChunkCache::counts(const Band& band, std::int64_t records) const {
    return band.record < records || !definitions_.variables[band.variable].record;
}

/// Calls visit(part) for the parts of a range, until one fails.
template <class Visit>
Status PartialChunkCache::for_parts(const Chunk& range, Visit&& visit) const {
    const ChunkGrid& g = grids_[range.variable];
    if (range.box != nullptr)
        return failure(TW_EINTERNAL, "{}: variable '{}': a box where chunks are written whole",
                       OfFile{path_}, OfVariable{definitions_.variables[range.variable].name});
    const std::int64_t first_record = g.first_record(range.record);
    const std::int64_t end = range.first + range.elements;
    for (std::int64_t at = range.first; at < end;) {
        Part part;
        part.band = {range.variable, first_record, at / g.band};
        const std::int64_t elements = g.elements_of(part.band.number);
        const std::int64_t within = at - part.band.number * g.band;
        const std::int64_t n = std::min(end - at, elements - within);
        part.whole = n == elements && g.records == 1;
        part.at = ((range.record - first_record) * elements + within) * g.element;
        part.offset = (at - range.first) * g.element;
        part.bytes = n * g.element;
        if (Status status = visit(part); !status.ok()) return status;
        at += n;
    }
    return {};
}

bool PartialChunkCache::is_in_memory(const Band& band, std::int64_t place) const {
    const ChunkGrid& g = grid(band);
    return place + g.records * g.band * g.element <= most_memory_;
}

/// Writes bytes at an offset of the band at a place.
Status PartialChunkCache::store(const Band& band, std::int64_t place, const char* from,
                                std::int64_t bytes, std::int64_t at) {
    if (!is_in_memory(band, place)) {
        if (Status s = make_file(); !s.ok()) return s;
        return write_fully(fd_, path_, from, bytes, place + at);
    }
    // Growing in steps of one band would copy the earlier ones each time.
    if (std::ssize(memory_) < place + bytes_of(band))
        memory_.resize(std::min(most_memory_, 2 * (place + bytes_of(band))));
    std::copy_n(from, bytes, memory_.data() + place + at);
    return {};
}

/// Finds the place of a band. A new band is loaded first, unless all of it is about to be written.
Status PartialChunkCache::find(const Band& band, bool whole, std::int64_t& at) {
    if (const auto found = at_.find(band); found != at_.end()) {
        at = found->second;
        return {};
    }
    auto& free = free_[band.variable];
    const ChunkGrid& g = grid(band);
    at = free.empty() ? end_ : free.back();
    if (!whole) {
        buffer_.resize(std::max<std::size_t>(buffer_.size(), bytes_of(band)));
        if (Status s = load_(band, buffer_.data()); !s.ok()) return s;
        Status s = store(band, at, buffer_.data(), bytes_of(band), 0);
        if (!s.ok()) return s;
    }
    at_.emplace(band, at);
    if (free.empty())
        end_ += g.records * g.band * g.element;
    else
        free.pop_back();
    return {};
}

Status PartialChunkCache::write(const Chunk& range) {
    return for_parts(range, [&](const Part& p) {
        std::int64_t at = 0;
        if (Status s = find(p.band, p.whole, at); !s.ok()) return s;
        return store(p.band, at, range.data + p.offset, p.bytes, p.at);
    });
}

Status PartialChunkCache::read(const Chunk& range, char* to) {
    return for_parts(range, [&](const Part& p) {
        std::int64_t at = 0;
        if (Status s = find(p.band, false, at); !s.ok()) return s;
        if (!is_in_memory(p.band, at))
            return read_fully(fd_, path_, to + p.offset, p.bytes, at + p.at);
        std::copy_n(memory_.data() + at + p.at, p.bytes, to + p.offset);
        return Status{};
    });
}

Status PartialChunkCache::take(std::int64_t records, const Take& take) {
    for (auto at = at_.begin(); at != at_.end();) {
        const auto [band, place] = *at;
        if (!counts(band, records)) {
            ++at;
            continue;
        }
        Status status;
        char* elements = memory_.data() + place;
        if (!is_in_memory(band, place)) {
            buffer_.resize(std::max<std::size_t>(buffer_.size(), bytes_of(band)));
            elements = buffer_.data();
            status = read_fully(fd_, path_, elements, bytes_of(band), place);
        }
        if (status.ok()) status = take(band, elements);
        if (!status.ok()) return status;
        free_[band.variable].push_back(place);
        at = at_.erase(at);
    }
    return {};
}

}  // namespace thalweg::detail
