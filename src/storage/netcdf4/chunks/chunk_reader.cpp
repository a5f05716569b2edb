// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/chunks/chunk_reader.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "base/waiting.hpp"
#include "storage/chunked/chunk_grid.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

using Way = StoredVariable::Way;

/// Largest size of a band in bytes: half of the cache, as the next band can belong to another
/// variable.
constexpr std::int64_t most_band = ChunkReader::cache_bytes / 2;
constexpr std::int64_t most_parts = 4096;  ///< largest number of parts into which a variable is
                                           ///< divided

std::span<const std::int64_t> counts_of(const Box& box) {
    return std::span(box.count.data(), box.nd);
}

/// Returns a box whose position is relative to the corner of another box.
Box relative(Box box, const Box& from) {
    for (int d = 0; d < box.nd; ++d) box.low[d] -= from.low[d];
    return box;
}

}  // namespace

bool Cell::stored(const Box& of, Box& part) const {
    Box common;
    return !beyond && intersect(box, of, common) && intersect(common, extent, part);
}

Status for_boxes(const ReadRange& range, std::int64_t element,
                 const std::function<Status(const Box& box, char* to)>& visit) {
    const Box& part = range.part->box;
    Status status;
    char* to = range.to;
    for_boxes_of_range(counts_of(part), range.first, range.first + range.elements,
                       [&](const Box& box) {
                           if (!status.ok()) return;
                           Box placed = box;
                           for (int d = 0; d < box.nd; ++d) placed.low[d] += part.low[d];
                           status = visit(placed, to);
                           to += box.volume() * element;
                       });
    return status;
}

Status for_cells(const Variable& v, const StoredVariable& s, int number, std::int64_t record,
                 const Box& box, const std::function<Status(const Cell& cell)>& visit) {
    const std::size_t lead = v.record ? 1 : 0;
    const std::size_t nd = box.nd;
    Cell cell;
    cell.key.variable = number;
    cell.corner.resize(lead + nd);
    cell.extent.nd = box.nd;
    for (std::size_t d = 0; d < nd; ++d) cell.extent.count[d] = s.extent[d + lead];
    if (v.record) {
        cell.key.record = record / s.chunk[0];
        cell.corner[0] = cell.key.record * s.chunk[0];
        cell.at = record % s.chunk[0] * volume(std::span(s.chunk).subspan(1));
        cell.beyond = record >= s.extent[0];
    }
    Index at{};
    for (std::size_t d = 0; d < nd; ++d) at[d] = box.low[d] / s.chunk[d + lead];
    const Index first = at;
    for (bool more = true; more;) {
        cell.box.nd = box.nd;
        cell.key.number = 0;
        for (std::size_t d = 0; d < nd; ++d) {
            const std::int64_t chunk = s.chunk[d + lead];
            cell.box.low[d] = at[d] * chunk;
            cell.box.count[d] = chunk;
            cell.corner[d + lead] = cell.box.low[d];
            cell.key.number = cell.key.number * ((v.shape[d] + chunk - 1) / chunk) + at[d];
        }
        if (Status status = visit(cell); !status.ok()) return status;
        more = false;
        for (std::size_t d = nd; d-- > 0 && !more;) {
            more = ++at[d] * s.chunk[d + lead] < box.low[d] + box.count[d];
            if (!more) at[d] = first[d];
        }
    }
    return {};
}

std::vector<SourcePart> parts_of(const Variable& v, const StoredVariable& s, int readers) {
    const std::int64_t element = v.element();
    const std::size_t lead = v.record ? 1 : 0;
    const std::size_t nd = v.shape.size();
    const auto chunk = [&](std::size_t d) { return std::min(s.chunk[d + lead], v.shape[d]); };
    std::size_t first = 0;  // slowest dimension in which chunks are longer than 1
    while (first + 1 < nd && chunk(first) == 1) ++first;
    // All records in a chunk are cached together, so count all of them.
    std::int64_t chunk_bytes = v.record ? s.chunk[0] * element : element;
    for (std::size_t d = 0; d < nd; ++d) chunk_bytes *= chunk(d);
    std::vector<std::int64_t> width(v.shape);  // length of a part in each dimension
    const std::int64_t share = v.elements() * element / std::max(1, readers);
    const std::int64_t most = std::max(chunk_bytes, std::min(most_band, share));
    std::int64_t band = 1, parts = 1;  // number of chunks in a band, and number of parts
    for (std::size_t d = nd; d-- > first + 1;) {
        const std::int64_t chunks = (v.shape[d] + chunk(d) - 1) / chunk(d);
        std::int64_t n = std::clamp<std::int64_t>(most / chunk_bytes / band, 1, chunks);
        n = std::max(n, chunks / std::max<std::int64_t>(1, most_parts / parts));
        width[d] = std::min(v.shape[d], n * chunk(d));
        band *= n;
        parts *= (chunks + n - 1) / n;
    }
    std::vector<SourcePart> result;
    Box box = whole_box(v.shape);
    for (bool more = true; more;) {
        SourcePart part;
        for (std::size_t d = 0; d < nd; ++d)
            box.count[d] = std::min(d > first ? width[d] : v.shape[d], v.shape[d] - box.low[d]);
        part.box = box;
        std::int64_t rest = element;
        for (std::size_t d = first + 1; d < nd; ++d) rest *= box.count[d];
        // Outside the slowest dimension, a short last chunk recurs for each slower index. The grain
        // must then span the whole dimension.
        const bool slowest = volume(std::span(v.shape).first(first)) == 1;
        const bool even = slowest || v.shape[first] % chunk(first) == 0;
        part.grain = rest * (even ? chunk(first) : v.shape[first]);
        result.push_back(part);
        more = false;
        for (std::size_t d = nd; d-- > first + 1 && !more;) {
            box.low[d] += width[d];
            more = box.low[d] < v.shape[d];
            if (!more) box.low[d] = 0;
        }
    }
    return result;
}

Status ChunkReader::read(std::span<const ReadRange> ranges, Throttle& throttle) {
    Stopwatch watch(counts_.seconds);
    const Waiting system(the_file_system);
    Span span("read");
    const std::int64_t before = counts_.bytes;
    throttle.begin();
    Status status;
    for (std::size_t i = 0; i < ranges.size() && status.ok(); ++i) {
        status = catch_errors([&] { return read_range(ranges[i]); });
        if (status.ok()) continue;
        if (status.place.file.empty()) reword(status, "{}: {}", OfFile{path_}, status.text);
        reword(status, "{} (variable '{}')", status.text,
               OfVariable{definitions_.variables[ranges[i].variable].name});
    }
    span.bytes(counts_.bytes - before);
    throttle.moved(counts_.bytes - before);
    return status;
}

Status ChunkReader::read_range(const ReadRange& range) {
    const Variable& v = definitions_.variables[range.variable];
    const StoredVariable& s = stored_[range.variable];
    const std::int64_t element = v.element();
    if (s.way != Way::range)
        return for_boxes(range, element, [&](const Box& box, char* to) {
            return for_cells(v, s, range.variable, range.record, box, [&](const Cell& cell) {
                return read_cell(range.variable, cell, box, to);
            });
        });
    if (s.address >= 0)
        return read_raw(s.address + range.first * element, range.elements * element, range.to);
    fill_with(s.fill, element, range.to, range.elements);
    return {};
}

/// Sets the elements of `box` to the fill value. The array at `to` holds exactly the elements of
/// the box `in`.
void ChunkReader::fill(const FillValue& value, std::int64_t element, const Box& box, const Box& in,
                       char* to) {
    const std::int64_t n = box.nd == 0 ? 1 : box.count[box.nd - 1];
    row_.resize(n * element);
    fill_with(value, element, row_.data(), n);
    const Index stride = strides_of(counts_of(in));
    to += linear(counts_of(in), relative(box, in).low) * element;
    copy_rows(box.nd, box.count, element, row_.data(), Index{}, to, stride);
}

/// Copies the elements of `box` that are in a chunk to the array at `to`, which holds exactly the
/// elements of `box`.
Status ChunkReader::read_cell(int variable, const Cell& cell, const Box& box, char* to) {
    const StoredVariable& s = stored_[variable];
    const std::int64_t element = definitions_.variables[variable].element();
    Box common, part;
    if (!intersect(cell.box, box, common)) return {};
    const bool any = cell.stored(box, part);
    if (!any || part.volume() < common.volume()) fill(s.beyond, element, common, box, to);
    if (!any) return {};
    const char* data = cache_.find(cell.key);
    if (s.way == Way::chunks && data == nullptr) {
        if (Status status = locate(variable, cell); !status.ok()) return status;
        if (place_.address < 0) {
            fill(s.fill, element, part, box, to);
            return {};
        }
    }
    const Box in_chunk = relative(part, cell.box), in_box = relative(part, box);
    const std::int64_t from = cell.at + linear(counts_of(cell.box), in_chunk.low);
    to += linear(counts_of(box), in_box.low) * element;
    if (s.way == Way::chunks && s.filters.empty() && data == nullptr &&
        contiguous(in_chunk, counts_of(cell.box)) && contiguous(in_box, counts_of(box)))
        return read_raw(place_.address + from * element, part.volume() * element, to);
    if (data == nullptr)
        if (Status status = unpack(variable, cell, data); !status.ok()) return status;
    copy_rows(part.nd, part.count, element, data + from * element, strides_of(counts_of(cell.box)),
              to, strides_of(counts_of(box)));
    return {};
}

Status ChunkReader::locate(int variable, const Cell& cell) {
    if (located_ == cell.key) return {};
    located_ = {};
    if (Status status = finder_.find(variable, cell, place_); !status.ok()) return status;
    located_ = cell.key;
    return {};
}

Status ChunkReader::read_raw(std::int64_t address, std::int64_t bytes, char* to) {
    if (Status status = file_.open_again(opened_); !status.ok()) return status;
    ++counts_.calls;
    counts_.bytes += bytes;
    return read_fully(file_.fd(), path_, to, bytes, address);
}

/// Reads a chunk whose place is known (`place_`) into the cache.
Status ChunkReader::unpack(int variable, const Cell& cell, const char*& data) {
    const StoredVariable& s = stored_[variable];
    const std::int64_t bytes = volume(s.chunk) * definitions_.variables[variable].element();
    std::vector<char> memory = cache_.take(bytes);
    if (s.way == Way::hdf5) {
        // If a chunk has neither data nor a fill value, HDF5 leaves the memory unset.
        memory.assign(bytes, 0);
        ++counts_.calls;
        if (!s.chunk.empty()) counts_.bytes += bytes;
        if (Status status = finder_.read_by_hdf5(variable, cell, memory.data()); !status.ok())
            return status;
    } else if (s.filters.empty()) {
        memory.resize(bytes);
        if (Status status = read_raw(place_.address, bytes, memory.data()); !status.ok())
            return status;
    } else {
        raw_.resize(place_.bytes);
        if (Status status = read_raw(place_.address, place_.bytes, raw_.data()); !status.ok())
            return status;
        if (!decompressor_) decompressor_.emplace();
        const char* wrong = decompressor_->undo(s.filters, place_.skipped, raw_, bytes, memory);
        if (wrong != nullptr)
            return failure(TW_EFORMAT, "the chunk at byte {} is damaged: {}", place_.address,
                           wrong);
    }
    data = cache_.add(cell.key, std::move(memory));
    return {};
}

}  // namespace thalweg::detail
