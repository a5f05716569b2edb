// SPDX-License-Identifier: Apache-2.0
#include "storage/checksums/writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "index/runs.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

Status SumsWriter::begin(const std::string& data, const Definitions& definitions,
                         std::span<const std::int64_t> chunks, const StorageOptions& options,
                         bool first) {
    if (!options.checksums) return {};
    path_ = sums_path(data);
    definitions_ = &definitions;
    const bool fresh = !options.has_checksums;
    fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd_ < 0) return system_failure(path_, "cannot open for writing");
    const SumsTable expected = SumsTable::of(definitions, chunks);
    table_ = expected;
    Status status;
    if (fresh && first) status = table_.write(fd_, path_);
    if (!fresh) status = table_.read(fd_, path_);
    if (!status.ok()) return status;
    const bool has = options.existing.is;
    ended_ = ending_ = options.existing.kept;
    for (const SummedVariable& v : expected.variables()) {
        const int at = table_.variables().find(v.name);
        of_.push_back(at);
        fixed_ended_.push_back(has);
        fixed_ending_.push_back(has);
        if (at < 0) continue;
        const SummedVariable& there = table_.variables()[at];
        // Chunks of an existing file are always written whole. If the table was made with the file,
        // the addresses of unfiltered chunks were known, so it may have pieces of fixed size
        // instead of these chunks.
        const bool same = there.chunks == v.chunks ? there.pieces == v.pieces : v.chunks;
        if (there.record != v.record || there.bytes != v.bytes || !same)
            return failure(TW_EFORMAT,
                           "{}: variable '{}': these checksums belong to another file: remove them",
                           path_, v.name);
    }
    if (!fresh && first && has && ftruncate(fd_, table_.offset(table_.pieces(ended_))) != 0)
        return system_failure(path_, "cannot drop checksums");
    return {};
}

bool SumsWriter::has_ended(int variable, std::int64_t record) const {
    return definitions_->variables[variable].record ? record < ended_ : fixed_ended_[variable] != 0;
}

void SumsWriter::note_end(int variable, std::int64_t record) {
    if (definitions_->variables[variable].record)
        ending_ = std::max(ending_, record + 1);
    else
        fixed_ending_[variable] = 1;
}

/// Calls visit(offset in the variable, offset in the data, bytes) for each contiguous range of a
/// chunk.
template <class Visit>
void SumsWriter::for_ranges(const Chunk& c, Visit&& visit) const {
    const Variable& v = definitions_->variables[c.variable];
    const std::int64_t element = v.element();
    if (c.elements == 0) return;  // the chunk consists of padding only
    if (c.box == nullptr) return visit(c.first * element, 0, c.elements * element);
    const Runs runs = runs_of(*c.box, v.shape);
    const std::int64_t bytes = runs.length * element;
    std::int64_t from = 0;
    for_runs(*c.box, v.shape, runs, each_element, [&](std::int64_t first) {
        visit(first * element, from, bytes);
        from += bytes;
        return true;
    });
}

Status SumsWriter::note_open(std::span<const Chunk> chunks, bool only_ended) {
    if (!on()) return {};
    for (const Chunk& c : chunks)
        if (!only_ended || has_ended(c.variable, c.record))
            for_ranges(c, [&](std::int64_t at, std::int64_t, std::int64_t bytes) {
                add_open(c.variable, c.record, at, bytes);
            });
    return flush();
}

Status SumsWriter::note(std::span<const Chunk> chunks) {
    if (!on()) return {};
    for (const Chunk& c : chunks) {
        note_end(c.variable, c.record);
        for_ranges(c, [&](std::int64_t at, std::int64_t from, std::int64_t bytes) {
            add(c.variable, c.record, at, c.data + from, bytes, c.box == nullptr);
        });
    }
    return flush();
}

Status SumsWriter::note_stored(int variable, std::int64_t record, std::int64_t number,
                               const char* data, std::int64_t bytes) {
    if (!on() || of_[variable] < 0) return {};
    note_end(variable, record);
    const SummedVariable& v = table_.variables()[of_[variable]];
    if (!v.chunks) {
        add_open(variable, record, 0, v.bytes);
        return flush();
    }
    const std::int64_t index = table_.index(v, record, number);
    // The chunk is written after this. If it replaces an older version, mark the piece as open, so
    // that no wrong checksum is in the file meanwhile.
    entries_.push_back({index, has_ended(variable, record) ? open_sum : sum_of(data, bytes)});
    return entries_.size() < 1024 ? Status{} : flush();
}

/// Marks the pieces of a range as open.
void SumsWriter::add_open(int variable, std::int64_t record, std::int64_t at, std::int64_t bytes) {
    if (of_[variable] < 0) return;
    const std::int64_t first = table_.index(table_.variables()[of_[variable]], record, 0);
    constexpr std::int64_t piece = SumsTable::piece;
    for (std::int64_t p = at / piece; p * piece < at + bytes; ++p) {
        if (begun_.index == first + p) begun_ = {};
        // Runs of a box can share a piece; add it only once.
        if (entries_.empty() || entries_.back().index != first + p ||
            entries_.back().sum != open_sum)
            entries_.push_back({first + p, open_sum});
    }
}

/// Adds the checksums of a range's pieces.
/// @param at        offset of the range in the variable
/// @param in_order  the range can continue the previous range, so that a piece can be completed
void SumsWriter::add(int variable, std::int64_t record, std::int64_t at, const char* data,
                     std::int64_t bytes, bool in_order) {
    if (of_[variable] < 0) return;
    const SummedVariable& v = table_.variables()[of_[variable]];
    const std::int64_t first = table_.index(v, record, 0);
    constexpr std::int64_t piece = SumsTable::piece;
    while (bytes > 0) {
        const std::int64_t number = at / piece, begin = at % piece;
        const std::int64_t size = std::min(piece, v.bytes - number * piece);
        const std::int64_t n = std::min(bytes, size - begin);
        const bool continues =
            in_order && begin > 0 && begun_.index == first + number && begun_.bytes == begin;
        if (n == size) {
            begun_ = {};
            entries_.push_back({first + number, sum_of(data, n)});
        } else if (in_order && (begin == 0 || continues)) {
            if (begin == 0) {
                add_open(variable, record, at, n);
                begun_ = {first + number, 0};
                stream_.begin();
            }
            stream_.add(data, n);
            begun_.bytes += n;
            if (begun_.bytes == size) {
                // Replace the note that the piece is open, if it was not written yet.
                if (entries_.empty() || entries_.back().index != first + number)
                    entries_.push_back({first + number, {}});
                entries_.back().sum = stream_.end();
                begun_ = {};
            }
        } else {
            add_open(variable, record, at, n);
        }
        at += n;
        data += n;
        bytes -= n;
    }
}

/// Writes the noted checksums to the file, adjacent ones by one call.
Status SumsWriter::flush() {
    IgnoreSigxfsz guard;
    Status status;
    for (std::size_t i = 0; i < entries_.size() && status.ok();) {
        std::vector<Sum> sums;
        std::size_t j = i;
        for (; j < entries_.size() &&
               entries_[j].index == entries_[i].index + static_cast<std::int64_t>(j - i);
             ++j)
            sums.push_back(entries_[j].sum);
        status = write_fully(fd_, path_, reinterpret_cast<const char*>(sums.data()),
                             std::ssize(sums) * std::int64_t(sizeof(Sum)),
                             table_.offset(entries_[i].index));
        i = j;
    }
    entries_.clear();
    return status;
}

Status SumsWriter::end_step() {
    if (!on()) return {};
    leave_piece();
    ended_ = ending_;
    fixed_ended_ = fixed_ending_;
    return flush();
}

Status SumsWriter::sync() {
    if (!on()) return {};
    Status status = flush();
    return status.ok() ? sync_file(fd_, path_, true) : status;
}

Status SumsWriter::close() {
    if (!on()) return {};
    Status status = flush();
    if (close_file(fd_.release()) != 0 && status.ok())
        status = system_failure(path_, "cannot close");
    return status;
}

}  // namespace thalweg::detail
