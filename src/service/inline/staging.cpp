// SPDX-License-Identifier: Apache-2.0
#include "service/inline/staging.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/trace.hpp"
#include "exchange/copy.hpp"

namespace thalweg::detail {

Staging::Staging(const FileContext& file) : file_(file) {
    for (const Variable& v : file.definitions.variables) {
        at_.push_back(bytes_);
        bytes_ += (Staged{v, *v.decomposition, v.order}.bytes() + 63) / 64 * 64;
    }
}

Staging::~Staging() {
    std::unique_ptr<Memory>& spare = file_.session.spare_copies;
    if (!memory_ || (spare && spare->size() >= memory_->size())) return;
    offer(*memory_);
    spare = std::move(memory_);
}

Status Staging::copy(int variable, ArrayView& view, std::int64_t& misfits) {
    const Variable& v = file_.variable(variable);
    if (!memory_ && bytes_ > 0) {
        memory_ = std::move(file_.session.spare_copies);
        if (!memory_ || memory_->size() < static_cast<std::size_t>(bytes_)) {
            memory_.reset();
            memory_ = make_private_memory(bytes_);
        }
        if (!memory_)
            return failure(TW_ENOMEM,
                           "{}: variable '{}': out of memory: {} bytes for copies (rank {})",
                           file_.path, v.name, bytes_, file_.team.rank());
    }
    Span span("copy");
    span.variable(v.name).bytes(v.decomposition->stored * v.element());
    char* const to = memory_ ? memory_->data() + at_[variable] : nullptr;
    misfits = Staged{v, *v.decomposition, v.order}.copy(file_.packers, view, to);
    return {};
}

std::int64_t Staged::copy(Packers& packers, ArrayView& view, char* to) const {
    const std::int64_t misfits =
        decomposition.listed ? copy_list(packers, view, to) : copy_blocks(packers, view, to);
    view = {};
    view.data = to;
    view.type = variable.type;
    view.bare = true;
    return misfits;
}

/// The held blocks, dense, one after another.
std::int64_t Staged::copy_blocks(Packers& packers, const ArrayView& view, char* to) const {
    const Variable& v = variable;
    const Decomposition& d = decomposition;
    const std::int64_t size = v.element();
    const RowKernel kernel = pack_kernel(view.type, v.type, Order::native);
    const FillValue fill = v.fill_value();
    std::vector<int> same(d.nd());
    std::iota(same.begin(), same.end(), 0);
    std::int64_t misfits = 0;
    for (std::size_t b = 0; b < d.blocks.size(); ++b) {
        const Box& box = d.blocks[b];
        if (box.volume() == 0) continue;
        HeldBox held;
        held.block = b;
        const Strided from = locate(d, same, held, view);
        Index stride = strides_of(std::span(box.count.data(), box.nd));
        for (int i = 0; i < box.nd; ++i) stride[i] *= size;
        misfits += packers.copy_box(box.nd, box.count, to, stride, from.base, from.stride, kernel,
                                    fill.data());
        to += box.volume() * size;
    }
    return misfits;
}

/// The array of a list as it is. What is in holes is not looked at.
std::int64_t Staged::copy_list(Packers& packers, const ArrayView& view, char* to) const {
    const Variable& v = variable;
    const Decomposition& d = decomposition;
    const std::int64_t size = v.element();
    const RowKernel kernel = pack_kernel(view.type, v.type, Order::native);
    const FillValue fill = v.fill_value();
    const std::vector<std::int64_t> extent = d.listed_extent();
    Index dense = strides_of(extent);
    for (std::int64_t& s : dense) s *= size;
    const int nd = extent.size();
    if (d.listed->list->elements == d.listed->length) {
        Index count{}, stride = view.stride;
        std::copy(extent.begin(), extent.end(), count.begin());
        if (view.dense)
            for (int i = 0; i < nd; ++i) stride[i] = dense[i] / size * size_of(view.type);
        return packers.copy_box(nd, count, to, dense, view.data, stride, kernel, fill.data());
    }
    ArrayView copy;
    copy.data = to;
    copy.type = v.type;
    std::int64_t misfits = 0;
    for (const HeldBox& held : held_by(d, order, v.shape)) {
        const Strided from = locate(d, order, held, view), into = locate(d, order, held, copy);
        const int along = held.list->dims.back();
        held.list->for_runs(held.box, [&](const Box& part, std::int64_t position, const Run&) {
            misfits += copy_box(part.nd, part.count,
                                const_cast<char*>(into.base) + position * into.stride[along],
                                into.stride, from.base + position * from.stride[along], from.stride,
                                kernel, fill.data());
        });
    }
    return misfits;
}

char* StagingMemory::take(std::int64_t bytes) {
    const std::size_t size = (static_cast<std::size_t>(bytes) + 63) / 64 * 64;
    while (chunk_ < chunks_.size() && chunks_[chunk_]->size() - at_ < size) {
        ++chunk_;
        at_ = 0;
    }
    if (chunk_ == chunks_.size()) {
        // Chunks that grow, so that they are few, and little of them stays unused.
        constexpr std::size_t least = std::size_t(4) << 20, most = std::size_t(64) << 20;
        const std::size_t usual = std::clamp(static_cast<std::size_t>(bytes_), least, most);
        std::unique_ptr<Memory> memory = make_private_memory(std::max(size, usual));
        if (!memory) return nullptr;
        bytes_ += memory->size();
        chunks_.push_back(std::move(memory));
    }
    char* const to = chunks_[chunk_]->data() + at_;
    at_ += size;
    return to;
}

}  // namespace thalweg::detail
