// Checks that an array fits a decomposition, and locates its elements.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "decomposition/decomposition.hpp"

namespace thalweg::detail {

namespace {

using Extents = std::vector<std::int64_t>;

bool has_halo(const Decomposition& d) {
    const auto any = [](const Extents& halo) {
        return std::any_of(halo.begin(), halo.end(), [](std::int64_t n) { return n != 0; });
    };
    return any(d.halo_low) || any(d.halo_high);
}

std::int64_t boxes_of(const Decomposition& d) { return d.replicated ? 1 : std::ssize(d.blocks); }

/// Returns the extents of one box in an array, or the largest extent along each dimension if there
/// are several boxes.
Extents extents_of(const Decomposition& d, Form form) {
    const bool bare = form == Form::without_halo;
    Extents extents = d.padded;
    if (d.replicated) {
        extents = d.shape;
    } else if (d.padded.empty()) {
        extents.assign(d.shape.size(), 0);
        for (const Box& box : d.blocks)
            for (std::size_t i = 0; i < extents.size(); ++i)
                extents[i] = std::max(extents[i],
                                      box.count[i] + (bare ? 0 : d.halo_low[i] + d.halo_high[i]));
    } else if (bare) {
        for (std::size_t i = 0; i < extents.size(); ++i)
            extents[i] -= d.halo_low[i] + d.halo_high[i];
    }
    return extents;
}

/// Formats the extents of an array as text for a message.
/// @param boxes  length of the array's additional first dimension, which counts boxes; -1: it has
///     none
std::string in_words(const Decomposition& d, std::int64_t boxes, const Extents& extents) {
    std::vector<std::string> lengths;
    if (boxes >= 0) lengths.push_back(std::to_string(boxes));
    for (const std::int64_t n : extents)
        lengths.push_back(d.wording.fortran && n == -1 ? "*" : std::to_string(n));
    return fmt::format("({})", d.wording.list(lengths));
}

}  // namespace

std::string extents_in_words(const Decomposition& d, Form form) {
    if (d.listed) return in_words(d, -1, d.listed_extent());
    return in_words(d, boxes_of(d) == 1 ? -1 : boxes_of(d), extents_of(d, form));
}

Status check_dense(const Decomposition& d, std::int64_t n, ArrayView& view) {
    view.form = has_halo(d) && d.held > 0 ? Form::with_halo : Form::either;
    // A rank that holds nothing may pass an array of any size, for example the halo of an empty
    // box.
    if (!d.has_part() && n >= 0) return {};
    if (d.padded.empty()) {
        if (n == d.stored) return {};
        return failure(TW_ESHAPE, "the array has {} elements, but this rank's part of ({}) has {}",
                       n, d.wording.names(d.dims), d.stored);
    }
    const std::int64_t box = volume(d.padded);
    if (n == d.room * box || n == boxes_of(d) * box) return {};
    return failure(TW_ESHAPE,
                   "the array has {} elements, but padded boxes of ({}) have {} each: {} for the "
                   "{} boxes of this rank, or {} with room for {}",
                   n, d.wording.names(d.dims), box, boxes_of(d) * box, boxes_of(d), d.room * box,
                   d.room);
}

namespace {

Status check_listed(const Decomposition& d, int rank, const std::int64_t* extent,
                    const std::int64_t* byte_stride, ArrayView& view) {
    const std::vector<std::int64_t> wanted = d.listed_extent();
    if (rank != std::ssize(wanted))
        return failure(
            TW_ESHAPE,
            "the array has {} dimensions, but the list over ({}) has {} in memory, where "
            "the listed ones are a single dimension",
            rank, d.wording.names(d.dims), wanted.size());
    if (extent == nullptr || byte_stride == nullptr)
        return failure(TW_EARG, "the extents or strides are missing");
    const std::span given(extent, wanted.size());
    if (d.listed->length > 0 && !std::equal(given.begin(), given.end(), wanted.begin()))
        return failure(TW_ESHAPE, "the array is ({}), but this rank's part of ({}) is ({})",
                       d.wording.list(given), d.wording.names(d.dims), d.wording.list(wanted));
    view.dense = false;
    std::copy_n(byte_stride, wanted.size(), view.stride.begin());
    return {};
}

/// Returns the byte strides of an array that holds the elements of a list, along each memory
/// dimension.
Index listed_strides(const Decomposition& d, const ArrayView& array) {
    if (!array.dense) return array.stride;
    Index stride = strides_of(d.listed_extent());
    for (std::int64_t& s : stride) s *= size_of(array.type);
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
            result.stride[f] = stride[m < listed.first ? m : m - listed.count + 1];
    }
    const std::size_t along = held.list->dims.back();
    result.stride[along] = stride[listed.first];
    result.base = array.data + held.position * result.stride[along];
    return result;
}

/// Returns a question if the extents of an array fit the decomposition in one other order of its
/// dimensions.
std::string ask_for_order(const Decomposition& d, const Extents& given, const Extents& wanted) {
    std::vector<std::string> names;
    for (const std::int64_t n : given) {
        if (std::count(wanted.begin(), wanted.end(), n) != 1) return {};
        names.push_back(d.dims[std::find(wanted.begin(), wanted.end(), n) - wanted.begin()]);
    }
    if (d.by_position() ||
        !std::is_permutation(given.begin(), given.end(), wanted.begin(), wanted.end()))
        return {};
    return fmt::format(". Is the order of dimensions ({})?", d.wording.names(names));
}

/// Returns the error for an array whose extents do not fit the decomposition.
/// @param listed  true: given[0] is the number of boxes
Status misfit(const Decomposition& d, const Extents& given, bool listed) {
    if (d.nd() == 0)
        return failure(TW_ESHAPE, "the array has {} elements, but a scalar has 1", given.front());
    const Extents bare = extents_of(d, Form::without_halo), whole = extents_of(d, Form::with_halo);
    const std::int64_t boxes = d.replicated || (!listed && boxes_of(d) == 1) ? -1 : boxes_of(d);
    const auto words = [&](const Extents& extents) { return in_words(d, boxes, extents); };
    const std::string names = d.wording.names(d.dims);
    std::string text = fmt::format("the array is {}; ", in_words(d, -1, given));
    if (d.replicated) {
        text += fmt::format("the whole of ({}) is {}", names, words(whole));
    } else if (!d.padded.empty()) {
        text += fmt::format("padded boxes of ({}) are {}", names, words(whole));
        if (has_halo(d)) text += fmt::format(", or {} without halo", words(bare));
        if (boxes >= 0 && boxes != d.room)
            text += fmt::format(", also with {} boxes instead of {}", d.room, boxes);
    } else {
        text += fmt::format("this rank's part of ({}) is {}", names, words(bare));
        if (has_halo(d)) text += fmt::format(", or {} with its halo", words(whole));
        bool larger = (listed ? given.front() : 1) >= boxes_of(d);
        for (std::size_t i = 0; i < bare.size(); ++i)
            larger &= given[i + (listed ? 1 : 0)] >= bare[i];
        if (larger)
            text +=
                ". If the arrays are larger than the boxes, declare their halo in the "
                "decomposition, or the extent of the arrays with tw_pad";
    }
    const std::string order = ask_for_order(d, given, bare);
    text += order.empty() ? ask_for_order(d, given, whole) : order;
    if (d.wording.fortran && given.front() == -1)
        text += ". For an array of assumed size (*), pass a section with all bounds";
    return failure(TW_ESHAPE, "{}", text);
}

}  // namespace

Status check_strided(const Decomposition& d, int rank, const std::int64_t* extent,
                     const std::int64_t* byte_stride, ArrayView& view) {
    if (d.listed) return check_listed(d, rank, extent, byte_stride, view);
    const bool listed = rank == d.nd() + 1;
    if (rank != d.nd() && !listed)
        return failure(TW_ESHAPE, "the array has {} dimensions, but the {} ({}) has {}", rank,
                       d.replicated ? "variable" : "decomposition", d.wording.names(d.dims),
                       d.nd());
    if (rank > 0 && (extent == nullptr || byte_stride == nullptr))
        return failure(TW_EARG, "the extents or strides are missing");
    const std::int64_t boxes = boxes_of(d), room = listed ? extent[0] : 1;
    const std::int64_t* lengths = extent + (listed ? 1 : 0);
    const std::int64_t* strides = byte_stride + (listed ? 1 : 0);
    const Extents bare = extents_of(d, Form::without_halo), whole = extents_of(d, Form::with_halo);
    const bool enough = room == boxes || (!d.padded.empty() && room == d.room);
    const bool is_bare = std::equal(bare.begin(), bare.end(), lengths);
    const bool is_whole = std::equal(whole.begin(), whole.end(), lengths);
    // A rank that holds nothing may pass an array of any shape.
    const bool nothing = !d.has_part();
    if (!nothing && (!enough || (!is_bare && !is_whole)))
        return misfit(d, {extent, extent + rank}, listed);
    view.dense = false;
    view.form = nothing || (is_bare && is_whole) ? Form::either
                : is_bare                        ? Form::without_halo
                                                 : Form::with_halo;
    view.block_stride = listed ? byte_stride[0] : 0;
    for (std::size_t i = 0; i < d.shape.size(); ++i) view.stride[i] = strides[i];
    return {};
}

Status check_array(const Decomposition& d, const tw_array& array, ArrayView& view) {
    view.data = static_cast<const char*>(array.data);
    view.type = array.type;
    return array.rank == TW_DENSE
               ? check_dense(d, array.n, view)
               : check_strided(d, array.rank, array.extent, array.byte_stride, view);
}

KeptArray::KeptArray(const tw_array& array) : tw_array(array) {
    if (rank <= 0 || extent == nullptr || byte_stride == nullptr) return;
    extents_.assign(extent, extent + rank);
    strides_.assign(byte_stride, byte_stride + rank);
    extent = extents_.data();
    byte_stride = strides_.data();
}

Strided locate(const Decomposition& d, std::span<const int> order, const HeldBox& held,
               const ArrayView& array) {
    if (d.listed) return locate_listed(d, order, held, array);
    const int block = held.block;
    const Box& box = d.blocks[block];
    const std::int64_t size = size_of(array.type);
    Index stride{};  // byte strides along each memory dimension
    const char* base = array.data;
    if (array.dense) {
        std::int64_t n = size;
        for (int m = d.nd() - 1; m >= 0; --m) {
            stride[m] = n;
            if (array.bare) {
                n *= box.count[m];
                continue;
            }
            base += n * d.halo_low[m];
            n *= d.padded.empty() ? box.count[m] + d.halo_low[m] + d.halo_high[m] : d.padded[m];
        }
        if (array.bare)
            base += d.starts[block].bare * size;
        else if (d.padded.empty())
            base += d.starts[block].with_halo * size;
        else
            base += n * block;
    } else {
        stride = array.stride;
        base += array.block_stride * block;
        if (array.form != Form::without_halo)
            for (int m = 0; m < d.nd(); ++m) base += stride[m] * d.halo_low[m];
    }
    Strided result;
    result.base = base;
    for (std::size_t f = 0; f < order.size(); ++f) result.stride[f] = stride[order[f]];
    return result;
}

}  // namespace thalweg::detail
