// SPDX-License-Identifier: Apache-2.0
#include "storage/posix/plain_file.hpp"

#include "base/trace.hpp"

namespace thalweg::detail {

Status PlainFile::write_chunks(std::span<const Chunk> chunks) {
    for (std::size_t i = 0; i < chunks.size();) {
        const Chunk& c = chunks[i];
        if (c.box != nullptr) {
            if (Status status = write_box(c); !status.ok()) return status;
            ++i;
            continue;
        }
        // Chunks that are adjacent in memory and in the file are one write.
        std::int64_t bytes = c.bytes;
        std::size_t j = i + 1;
        while (j < chunks.size() && chunks[j].box == nullptr &&
               chunks[j].offset == c.offset + bytes && chunks[j].data == c.data + bytes)
            bytes += chunks[j++].bytes;
        if (Status status = write_range(c, c.data, bytes, c.offset); !status.ok()) return status;
        i = j;
    }
    return {};
}

Status PlainFile::read(const Chunk& c, char* to) {
    if (c.box == nullptr) return read_range(c.offset, c.bytes, to);
    return for_runs(c, [&](std::int64_t offset, std::int64_t at, std::int64_t bytes) {
        return read_range(offset, bytes, to + at);
    });
}

Status PlainFile::write_range(const Chunk& c, const char* data, std::int64_t bytes,
                              std::int64_t offset) {
    const Variable& v = definitions_->variables[c.variable];
    Span span("write");
    span.variable(v.name).record(v.record ? c.record : -1);
    throttle_.begin();
    if (Status status = write_bytes(data, bytes, in_file(offset)); !status.ok()) {
        status.text += fmt::format(", variable '{}'", v.name);
        if (v.record) status.text += fmt::format(", record {}", wording_.index(c.record));
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
        return write_range(c, c.data + at, bytes, offset);
    });
}

/// Calls visit(byte of the chunk's offset, byte in the box, bytes) for the runs of a box, in order,
/// until one fails.
template <class Visit>
Status PlainFile::for_runs(const Chunk& c, Visit&& visit) const {
    const Variable& v = definitions_->variables[c.variable];
    const Box& box = *c.box;
    const std::int64_t size = v.element();
    int inner = box.nd;  // dimensions from here on are whole
    std::int64_t run = 1;
    while (inner > 0 && (inner == box.nd || box.count[inner] == v.shape[inner]))
        run *= box.count[--inner];
    Index at = box.low;
    for (std::int64_t done = 0;; done += run * size) {
        const std::int64_t offset = c.offset + linear(v.shape, at) * size;
        if (Status status = visit(offset, done, run * size); !status.ok()) return status;
        int d = inner - 1;
        while (d >= 0 && ++at[d] == box.low[d] + box.count[d]) {
            at[d] = box.low[d];
            --d;
        }
        if (d < 0) return {};
    }
}

}  // namespace thalweg::detail
