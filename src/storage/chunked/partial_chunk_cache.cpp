// SPDX-License-Identifier: Apache-2.0
#include "storage/chunked/partial_chunk_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "storage/posix/system.hpp"

namespace thalweg::detail {

PartialChunkCache::PartialChunkCache(std::string path, const Definitions& definitions,
                                     std::span<const ChunkGrid> grids, Load load, Take take,
                                     Lacks lacks, std::int64_t memory, BandPlaces* in_file)
    : path_(std::move(path)),
      definitions_(definitions),
      grids_(grids),
      load_(std::move(load)),
      take_(std::move(take)),
      lacks_(std::move(lacks)),
      in_file_(in_file),
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

bool PartialChunkCache::is_in_memory(const Band& band, const Place& place) const {
    const ChunkGrid& g = grid(band);
    return !place.in_file && place.at + g.records * g.band * g.element <= most_memory_;
}

/// Writes bytes at an offset of the band at a place.
Status PartialChunkCache::store(const Band& band, const Place& place, const char* from,
                                std::int64_t bytes, std::int64_t at) {
    if (place.in_file) return in_file_->write_at(band, from, bytes, place.at + at);
    if (!is_in_memory(band, place)) {
        if (Status s = make_file(); !s.ok()) return s;
        return write_fully(fd_, path_, from, bytes, place.at + at);
    }
    // The system provides only what is used, and nothing has to be copied when more is used.
    if (!memory_) memory_ = make_private_memory(most_memory_);
    if (!memory_) throw std::bad_alloc();
    std::copy_n(from, bytes, memory_->data() + place.at + at);
    return {};
}

/// Gives a place to a band without one, and stores the fill values that it has so far.
Status PartialChunkCache::give_place(const Band& band, Place& place) {
    if (!std::exchange(place.empty, false)) return {};
    bool lacks = true;  // the data file lacks the band
    place.at = in_file_ != nullptr ? in_file_->place(band, lacks) : -1;
    place.in_file = place.at >= 0;
    auto& free = free_[band.variable];
    if (place.in_file) {
        if (!lacks) place.have = bytes_of(band);
    } else if (free.empty()) {
        place.at = end_;
        end_ += grid(band).records * grid(band).band * grid(band).element;
    } else {
        place.at = free.back();
        free.pop_back();
    }
    if (place.have == 0 || !lacks) return {};
    buffer_.resize(std::max<std::size_t>(buffer_.size(), bytes_of(band)));
    Status status = load_(band, buffer_.data());
    return status.ok() ? store(band, place, buffer_.data(), place.have, 0) : status;
}

/// Loads the rest of a band, which was not written.
Status PartialChunkCache::load_rest(const Band& band, Place& place) {
    const std::int64_t bytes = bytes_of(band), have = place.have;
    if (have == bytes) return {};
    buffer_.resize(std::max<std::size_t>(buffer_.size(), bytes));
    if (Status s = load_(band, buffer_.data()); !s.ok()) return s;
    place.have = bytes;
    return store(band, place, buffer_.data() + have, bytes - have, have);
}

Status PartialChunkCache::write(const Chunk& range) {
    return for_parts(range, [&](const Part& p) -> Status {
        if (p.whole && !places_.contains(p.band)) return take_(p.band, range.data + p.offset);
        const char* const from = range.data + p.offset;
        Place& place = places_[p.band];
        const bool lacks = place.empty && p.at == place.have && lacks_(p.band, from, p.bytes);
        if (!lacks)
            if (Status s = give_place(p.band, place); !s.ok()) return s;
        const bool follows = p.at == place.have;
        if (!follows)
            if (Status s = load_rest(p.band, place); !s.ok()) return s;
        if (!lacks)
            if (Status s = store(p.band, place, from, p.bytes, p.at); !s.ok()) return s;
        if (!follows) return {};
        place.have += p.bytes;
        return place.have == bytes_of(p.band) ? pass_on(places_.find(p.band)) : Status{};
    });
}

Status PartialChunkCache::read(const Chunk& range, char* to) {
    return for_parts(range, [&](const Part& p) {
        Place& place = places_[p.band];
        if (Status s = give_place(p.band, place); !s.ok()) return s;
        if (Status s = load_rest(p.band, place); !s.ok()) return s;
        if (place.in_file) return in_file_->read_at(to + p.offset, p.bytes, place.at + p.at);
        if (!is_in_memory(p.band, place))
            return read_fully(fd_, path_, to + p.offset, p.bytes, place.at + p.at);
        std::copy_n(memory_->data() + place.at + p.at, p.bytes, to + p.offset);
        return Status{};
    });
}

/// Passes on a complete band and removes it.
Status PartialChunkCache::pass_on(Places::iterator band) {
    const auto [key, place] = *band;
    if (place.empty) {
        places_.erase(band);
        return {};
    }
    if (place.in_file) {
        if (Status s = in_file_->add(key, place.at); !s.ok()) return s;
        places_.erase(band);
        return {};
    }
    const char* elements = nullptr;
    if (is_in_memory(key, place)) {
        elements = memory_->data() + place.at;
    } else {
        buffer_.resize(std::max<std::size_t>(buffer_.size(), bytes_of(key)));
        elements = buffer_.data();
        if (Status s = read_fully(fd_, path_, buffer_.data(), bytes_of(key), place.at); !s.ok())
            return s;
    }
    if (Status s = take_(key, elements); !s.ok()) return s;
    free_[key.variable].push_back(place.at);
    places_.erase(band);
    if (!places_.empty()) return {};
    // Bands of other variables can be larger, so divide the space anew.
    for (std::vector<std::int64_t>& free : free_) free.clear();
    end_ = 0;
    return {};
}

Status PartialChunkCache::pass_on(const std::function<bool(const Band&)>& passes) {
    for (auto next = places_.begin(); next != places_.end();) {
        const auto band = next++;
        if (!passes(band->first)) continue;
        if (!band->second.empty)
            if (Status s = load_rest(band->first, band->second); !s.ok()) return s;
        if (Status s = pass_on(band); !s.ok()) return s;
    }
    return {};
}

}  // namespace thalweg::detail
