// SPDX-License-Identifier: Apache-2.0
#include "repack/copy.hpp"

#include <algorithm>

#include "blocks.hpp"
#include "exchange/pack/kernels.hpp"
#include "verify/difference.hpp"

namespace thalweg::app {

using detail::Status;

namespace {

constexpr std::int64_t one_element = 8;
/// Smallest share of a rank in bytes, except if memory is short.
constexpr std::int64_t least_share = 256 << 10;

std::int64_t bytes_of(const detail::Variable& v) {
    return v.elements() * static_cast<std::int64_t>(v.element());
}

/// Returns the lengths of the smallest box that only one writer may write. The box is a contiguous
/// range in file order.
std::vector<std::int64_t> grain_of(const detail::Variable& v, std::int64_t elements) {
    std::vector<std::int64_t> grain(v.shape.size(), 1);
    std::int64_t row = 1;
    for (std::size_t d = v.shape.size(); d-- > 0 && row < elements;) {
        grain[d] = std::min(v.shape[d], elements / row);
        row *= v.shape[d];
    }
    return grain;
}

}  // namespace

Copy::Copy(Reader& in, Output& out, const RepackPlan& plan, std::int64_t memory)
    : in_(in), out_(out), plan_(plan), piece_(std::max(memory / 2, one_element)) {}

Status Copy::run(Progress& progress) {
    const auto& variables = plan_.definitions.variables;
    std::int64_t record_bytes = 0;
    for (std::size_t i = 0; i < variables.size(); ++i) {
        if (variables[i].record) {
            record_bytes += bytes_of(variables[i]);
        } else if (Status s = copy_variable(static_cast<int>(i), 0, 1, progress); !s.ok()) {
            return s;
        }
    }
    std::int64_t group = std::max<std::int64_t>(
        1, piece_ / std::max<std::int64_t>(1, record_bytes / out_.writers()));
    for (std::size_t i = 0; i < variables.size(); ++i)
        if (out_.records_in_chunk(static_cast<int>(i)) > 1) group = std::max(group, plan_.records);
    for (std::int64_t first = 0; first < plan_.records && record_bytes > 0; first += group) {
        const std::int64_t n = std::min(group, plan_.records - first);
        for (std::size_t i = 0; i < variables.size(); ++i) {
            if (!variables[i].record) continue;
            Status status = copy_variable(static_cast<int>(i), first, n, progress);
            if (!status.ok()) return status;
        }
        if (Status status = out_.count(first + n); !status.ok()) return status;
    }
    return {};
}

Status Copy::copy_variable(int number, std::int64_t first, std::int64_t records,
                           Progress& progress) {
    const auto at = static_cast<std::size_t>(number);
    const detail::Variable& v = plan_.definitions.variables[at];
    const auto size = static_cast<std::int64_t>(v.element());
    const std::int64_t writers = out_.writers(), all = records * v.elements();
    const std::int64_t share = std::max((all + writers - 1) / writers, least_share / size);
    const std::int64_t together = out_.records_in_chunk(number);
    std::vector<std::int64_t> shape = v.shape;
    shape.insert(shape.begin(), records);
    // Each writer must have whole units, and should write whole bands of chunks.
    const auto divided = [&](std::vector<std::int64_t> box, std::int64_t grain, std::int64_t most) {
        std::vector<std::int64_t> lengths = grain_of(v, grain);
        lengths.insert(lengths.begin(), together);
        return Blocks(std::move(box), lengths, std::max(grain * together, most));
    };
    const Blocks units = divided(shape, out_.unit(number), std::min(share, piece_ / size));
    const auto pieces_of = [&](std::int64_t unit) {
        return divided(units.block(unit).count, out_.band(number), piece_ / size);
    };
    for (std::int64_t next = 0; next < units.count(); next += writers) {
        const std::int64_t mine = next + out_.writer();
        const bool writes = out_.writer() >= 0 && mine < units.count();
        std::int64_t most = 0;  // pieces of the unit that has most
        for (std::int64_t k = next; k < std::min(next + writers, units.count()); ++k)
            most = std::max(most, pieces_of(k).count());
        for (std::int64_t piece = 0; piece < most; ++piece) {
            Block block{std::vector<std::int64_t>(shape.size()),
                        std::vector<std::int64_t>(shape.size())};
            const bool any = writes && piece < pieces_of(mine).count();
            if (any) block = pieces_of(mine).block(piece);
            for (std::size_t d = 0; any && d < shape.size(); ++d)
                block.start[d] += units.block(mine).start[d];
            read(v, first, block);
            std::vector<detail::Chunk> chunks;
            Status status = detail::catch_errors([&]() -> Status {
                if (any) chunks = pack(number, first, block);
                return {};
            });
            if (status = out_.write_together(status, chunks); !status.ok()) return status;
            progress.add(
                std::min(all, static_cast<std::int64_t>(read_.size()) / size * writers) * size,
                v.name);
        }
    }
    return {};
}

/// Reads a block. A rank with an empty block takes part in the call without reading.
void Copy::read(const detail::Variable& v, std::int64_t first, const Block& block) {
    std::vector<std::int64_t> start = block.start, count = block.count;
    start.front() += first;
    std::int64_t elements = 1;
    for (const std::int64_t n : count) elements *= n;
    if (!v.record) {  // If the variable has no records, this rank reads all of it as one "record",
                      // or nothing.
        const bool none = count.front() == 0;
        start.erase(start.begin());
        count.erase(count.begin());
        if (none && count.empty()) elements = 1;
    }
    read_.resize(static_cast<std::size_t>(elements) * v.element());
    with_type(static_cast<Type>(v.type), [&](auto* t) {
        using T = std::remove_pointer_t<decltype(t)>;
        in_.get_box(v.name, start, count,
                    std::span(reinterpret_cast<T*>(read_.data()), read_.size() / sizeof(T)));
    });
}

std::vector<detail::Chunk> Copy::pack(int number, std::int64_t first, const Block& block) {
    const detail::Variable& v = plan_.definitions.variables[static_cast<std::size_t>(number)];
    const auto size = static_cast<std::int64_t>(v.element());
    // number of the block's elements in one record, and position of the first of them
    std::int64_t elements = 1, low = 0;
    for (std::size_t d = 0; d < v.shape.size(); ++d) {
        elements *= block.count[d + 1];
        low = low * v.shape[d] + block.start[d + 1];
    }
    const std::int64_t records = block.count.front();
    const std::int64_t bytes = elements * size + out_.padding(number, low, elements);
    written_.resize(static_cast<std::size_t>(records * bytes));
    const detail::RowKernel kernel = detail::pack_kernel(v.type, v.type, out_.order());
    std::vector<detail::Chunk> chunks;
    for (std::int64_t r = 0; r < records; ++r) {
        char* const to = written_.data() + r * bytes;
        kernel(to, size, read_.data() + r * elements * size, size, elements, nullptr);
        chunks.push_back(out_.chunk(number, first + block.start.front() + r, low, elements, to));
    }
    return chunks;
}

}  // namespace thalweg::app
