// Whether an array fits a decomposition, and where its elements are.
// SPDX-License-Identifier: Apache-2.0
#include <fmt/ranges.h>

#include <algorithm>

#include "decomposition/decomposition.hpp"

namespace thalweg {

Status check_dense(const Decomposition& d, std::int64_t n) {
    if (n == d.stored) return {};
    return failure(TW_ESHAPE, "{} elements given, this rank's part of ({}) has {}", n,
                   fmt::join(d.dims, " "), d.stored);
}

namespace {

Status check_listed(const Decomposition& d, int rank, const std::int64_t* extent,
                    const std::int64_t* byte_stride, ArrayView& view) {
    const std::vector<std::int64_t> wanted = d.listed_extent();
    if (rank != static_cast<int>(wanted.size()))
        return failure(TW_ESHAPE,
                       "the array has {} dimensions, the list over ({}), whose listed ones are one "
                       "in memory, has {}",
                       rank, fmt::join(d.dims, " "), wanted.size());
    if (extent == nullptr || byte_stride == nullptr)
        return failure(TW_EARG, "no extents or strides given");
    const std::span given(extent, wanted.size());
    if (d.listed->length > 0 && !std::equal(given.begin(), given.end(), wanted.begin()))
        return failure(TW_ESHAPE, "the array is ({}), this rank's part of ({}) is ({})",
                       fmt::join(given, ", "), fmt::join(d.dims, " "), fmt::join(wanted, ", "));
    view.dense = false;
    std::copy_n(byte_stride, wanted.size(), view.stride.begin());
    return {};
}

/// Of the dense array of a list, per dimension in memory.
Index listed_strides(const Decomposition& d, const ArrayView& array) {
    if (!array.dense) return array.stride;
    Index stride = strides_of(d.listed_extent());
    for (std::int64_t& s : stride) s *= static_cast<std::int64_t>(size_of(array.type));
    return stride;
}

Strided locate_listed(const Decomposition& d, std::span<const int> order, const HeldBox& held,
                      const ArrayView& array) {
    const Listed& listed = *d.listed;
    const Index stride = listed_strides(d, array);
    Strided result;
    for (std::size_t f = 0; f < order.size(); ++f) {
        const int m = order[f];
        if (!listed.covers(m))
            result.stride[f] =
                stride[static_cast<std::size_t>(m < listed.first ? m : m - listed.count + 1)];
    }
    const auto along = static_cast<std::size_t>(held.list->dims.back());
    result.stride[along] = stride[static_cast<std::size_t>(listed.first)];
    result.base = array.data + held.position * result.stride[along];
    return result;
}

}  // namespace

Status check_strided(const Decomposition& d, int rank, const std::int64_t* extent,
                     const std::int64_t* byte_stride, ArrayView& view) {
    if (d.listed) return check_listed(d, rank, extent, byte_stride, view);
    const bool listed = rank == d.nd() + 1;
    if (rank != d.nd() && !listed)
        return failure(TW_ESHAPE, "the array has {} dimensions, its decomposition ({}) has {}",
                       rank, fmt::join(d.dims, " "), d.nd());
    if (rank > 0 && (extent == nullptr || byte_stride == nullptr))
        return failure(TW_EARG, "no extents or strides given");
    const std::size_t boxes = d.replicated ? 1 : d.blocks.size();
    if ((listed && extent[0] < static_cast<std::int64_t>(boxes)) || (!listed && boxes > 1))
        return failure(TW_ESHAPE, "the array has room for {} boxes, this rank has {}",
                       listed ? extent[0] : 1, boxes);

    // Either all dimensions come with their halos or none does. Where boxes are listed, the array
    // is as large as the largest or larger.
    const std::int64_t* lengths = extent + (listed ? 1 : 0);
    const std::int64_t* strides = byte_stride + (listed ? 1 : 0);
    bool bare = true, with_halo = true;
    std::vector<std::int64_t> wanted(d.shape.size(), 0);
    for (std::size_t b = 0; b < boxes; ++b) {
        for (std::size_t i = 0; i < d.shape.size(); ++i) {
            const std::int64_t count = d.replicated ? d.shape[i] : d.blocks[b].count[i];
            const std::int64_t whole = count + d.halo_low[i] + d.halo_high[i];
            wanted[i] = std::max(wanted[i], count);
            bare &= listed ? lengths[i] >= count : lengths[i] == count;
            with_halo &= listed ? lengths[i] >= whole : lengths[i] == whole;
        }
    }
    // A rank that holds nothing may hand over an empty array of any form.
    const bool nothing = !d.replicated && d.held == 0;
    if (!bare && !with_halo && !nothing)
        return failure(TW_ESHAPE, "the array is ({}), this rank's part of ({}) is ({})",
                       fmt::join(std::span(lengths, static_cast<std::size_t>(d.nd())), ", "),
                       fmt::join(d.dims, " "), fmt::join(wanted, ", "));
    view.dense = false;
    view.with_halo = with_halo && (!bare || listed);
    view.block_stride = listed ? byte_stride[0] : 0;
    for (std::size_t i = 0; i < d.shape.size(); ++i) view.stride[i] = strides[i];
    return {};
}

Strided locate(const Decomposition& d, std::span<const int> order, const HeldBox& held,
               const ArrayView& array) {
    if (d.listed) return locate_listed(d, order, held, array);
    const int block = held.block;
    const Box& box = d.blocks[static_cast<std::size_t>(block)];
    const auto size = static_cast<std::int64_t>(size_of(array.type));
    Index stride{};  // per memory dimension, in bytes
    const char* base = array.data;
    if (array.dense) {
        std::int64_t n = size;
        for (int m = d.nd() - 1; m >= 0; --m) {
            const auto s = static_cast<std::size_t>(m);
            stride[s] = n;
            if (array.bare) {
                n *= box.count[s];
            } else {
                base += n * d.halo_low[s];
                n *= box.count[s] + d.halo_low[s] + d.halo_high[s];
            }
        }
        const auto& offsets = array.bare ? d.bare_offsets : d.offsets;
        base += offsets[static_cast<std::size_t>(block)] * size;
    } else {
        stride = array.stride;
        base += array.block_stride * block;
        if (array.with_halo)
            for (int m = 0; m < d.nd(); ++m)
                base +=
                    stride[static_cast<std::size_t>(m)] * d.halo_low[static_cast<std::size_t>(m)];
    }
    Strided result;
    result.base = base;
    for (std::size_t f = 0; f < order.size(); ++f)
        result.stride[f] = stride[static_cast<std::size_t>(order[f])];
    return result;
}

}  // namespace thalweg
