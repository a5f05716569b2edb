// SPDX-License-Identifier: Apache-2.0
#include "storage/posix/plain_file.hpp"

#include "base/trace.hpp"
#include "index/runs.hpp"

namespace thalweg::detail {

namespace {

/// Largest number of places in memory from which one system call writes; the system's limit is
/// higher.
constexpr std::size_t most_parts = 512;

const char* end_of(const iovec& part) {
    return static_cast<const char*>(part.iov_base) + part.iov_len;
}

}  // namespace

Status PlainFile::write_chunks(std::span<const Chunk> chunks) {
    for (std::size_t i = 0; i < chunks.size();) {
        const Chunk& c = chunks[i];
        if (c.box != nullptr) {
            if (Status status = write_box(c); !status.ok()) return status;
            ++i;
            continue;
        }
        // Write chunks that are adjacent in the file by one call, wherever they lie in memory.
        parts_.clear();
        std::int64_t end = c.offset;
        for (; i < chunks.size() && chunks[i].box == nullptr && chunks[i].offset == end; ++i) {
            const Chunk& next = chunks[i];
            if (!parts_.empty() && end_of(parts_.back()) == next.data)
                parts_.back().iov_len += next.bytes;
            else if (parts_.size() == most_parts)
                break;
            else
                parts_.push_back(part_of(next.data, next.bytes));
            end += next.bytes;
        }
        Status status = write_parts(c.variable, c.record, parts_, in_file(c.offset));
        if (!status.ok()) return status;
    }
    return {};
}

Status PlainFile::read(const Chunk& c, char* to) {
    if (Status status = need_file(); !status.ok()) return status;
    if (c.box == nullptr) return read_range(c.offset, c.bytes, to);
    return for_runs(c, [&](std::int64_t offset, std::int64_t at, std::int64_t bytes) {
        return read_range(offset, bytes, to + at);
    });
}

Status PlainFile::write_range(int variable, std::int64_t record, const char* data,
                              std::int64_t bytes, std::int64_t at) {
    iovec part = part_of(data, bytes);
    return write_parts(variable, record, {&part, 1}, at);
}

Status PlainFile::write_parts(int variable, std::int64_t record, std::span<iovec> parts,
                              std::int64_t at) {
    std::int64_t bytes = 0;
    for (const iovec& part : parts) bytes += static_cast<std::int64_t>(part.iov_len);
    const Variable& v = definitions->variables[variable];
    Span span("write");
    span.variable(v.name).record(v.record ? record : -1);
    throttle_.begin();
    if (Status status = write_bytes(parts, bytes, at); !status.ok()) {
        reword(status, "{}, variable '{}'", status.text, OfVariable{v.name});
        if (v.record)
            reword(status, "{}, record {}", status.text, OfRecord{options.wording.index(record)});
        return status;
    }
    counts_.count(bytes);
    span.bytes(bytes);
    throttle_.moved(bytes);
    return {};
}

/// Writes each run of elements that are adjacent in the file.
Status PlainFile::write_box(const Chunk& c) {
    return for_runs(c, [&](std::int64_t offset, std::int64_t at, std::int64_t bytes) {
        return write_range(c.variable, c.record, c.data + at, bytes, in_file(offset));
    });
}

/// Calls visit(offset in bytes from the chunk's, offset in the box, bytes) for each contiguous run
/// of a box in file order, until a call fails.
template <class Visit>
Status PlainFile::for_runs(const Chunk& c, Visit&& visit) const {
    const Variable& v = definitions->variables[c.variable];
    const Runs runs = runs_of(*c.box, v.shape);
    const std::int64_t bytes = runs.length * v.element();
    std::int64_t done = 0;
    Status status;
    detail::for_runs(*c.box, v.shape, runs, each_element, [&](std::int64_t first) {
        status = visit(c.offset + first * v.element(), done, bytes);
        done += bytes;
        return status.ok();
    });
    return status;
}

}  // namespace thalweg::detail
