// SPDX-License-Identifier: Apache-2.0
#include "dataset/section_to_put.hpp"

#include <algorithm>

#include "exchange/dense.hpp"

namespace thalweg::detail {

namespace {

/// Checks start, count and stride along one dimension.
/// @param length  length of the dimension; -1: unlimited
Status check_range(const std::string& dim, std::int64_t length, std::int64_t start,
                   std::int64_t count, std::int64_t stride, Wording wording) {
    if (stride < 1)
        return failure(TW_EARG, "the stride along dimension '{}' is {}; it must be at least 1", dim,
                       stride);
    const std::int64_t end = length < 0 ? INT64_MAX : length;
    if (count >= 0 && start >= 0 && start <= end &&
        (count == 0 || (start < end && count - 1 <= (end - 1 - start) / stride)))
        return {};
    return failure(TW_EBOUNDS, "{} elements from {}{} along dimension '{}' of length {}", count,
                   wording.index(start),
                   stride == 1 ? std::string() : fmt::format(" with a stride of {}", stride), dim,
                   length < 0 ? std::string("unlimited") : std::to_string(length));
}

/// Returns the elements of a section as a list. The listed dimensions are those from the first to
/// the last one that has a stride above 1; they are dense in memory.
std::shared_ptr<const Listing> list_section(const Box& box, const Index& count, const Index& stride,
                                            std::span<const std::int64_t> shape) {
    int begin = box.nd, end = 0;
    for (int d = 0; d < box.nd; ++d) {
        if (stride[d] == 1) continue;
        begin = std::min(begin, d);
        end = d + 1;
    }
    auto listing = std::make_shared<Listing>();
    std::int64_t elements = 1;
    for (int d = begin; d < end; ++d) {
        listing->dims.push_back(d);
        listing->shape.push_back(shape[d]);
        elements *= count[d];
    }
    auto list = std::make_shared<IndexList>();
    list->elements = elements;
    list->runs.reserve(elements);
    Index at{};
    for (std::int64_t position = 0; position < elements; ++position) {
        std::int64_t global = 0;
        for (int d = begin; d < end; ++d)
            global = global * shape[d] + box.low[d] + at[d] * stride[d];
        list->runs.emplace_back(global, position, 1);
        for (int d = end - 1; d >= begin && ++at[d] == count[d]; --d) at[d] = 0;
    }
    listing->list = std::move(list);
    return listing;
}

}  // namespace

std::int64_t SectionToPut::array_strides(std::int64_t element, Index& stride) const {
    const std::int64_t bytes = dense_strides(held.box.nd, count, element, stride);
    if (held.list)  // the listed dimensions are a single one in memory, see locate()
        for (std::size_t i = 0; i + 1 < held.list->dims.size(); ++i) stride[held.list->dims[i]] = 0;
    return bytes;
}

Status read_section(const Definitions& definitions, const Variable& v, const std::int64_t* start,
                    const std::int64_t* count, const std::int64_t* strides, Wording wording,
                    SectionToPut& section) {
    if (!v.dims.empty() && (start == nullptr || count == nullptr)) return no_section(v);
    Box box;
    Index stride{};
    bool strided = false;
    for (std::size_t d = 0; d < v.dims.size(); ++d) {
        const Dimension& dim = definitions.dims[v.dims[d]];
        const bool record = v.record && d == 0;
        const std::int64_t step = strides == nullptr ? 1 : strides[d];
        if (Status s =
                check_range(dim.name, record ? -1 : dim.length, start[d], count[d], step, wording);
            !s.ok())
            return s;
        section.empty |= count[d] == 0;
        if (record) {
            section.first = start[d];
            section.records = count[d];
            section.step = count[d] > 1 ? step : 1;
            continue;
        }
        const int to = box.nd++;
        stride[to] = count[d] > 1 ? step : 1;
        strided |= stride[to] > 1;
        section.count[to] = count[d];
        box.low[to] = start[d];
        box.count[to] = (count[d] - 1) * stride[to] + 1;
    }
    if (section.empty) return {};
    section.held = held_box(box, v.shape);
    if (strided) section.held.list = list_section(box, section.count, stride, v.shape);
    return {};
}

}  // namespace thalweg::detail
