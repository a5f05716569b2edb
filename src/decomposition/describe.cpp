// SPDX-License-Identifier: Apache-2.0
#include "decomposition/describe.hpp"

#include "base/text/text.hpp"

namespace thalweg::detail {

namespace {

std::vector<std::int64_t> indices_of(const Listed& listed) {
    std::vector<std::int64_t> indices(listed.length, -1);
    for (const Run& run : listed.list->runs)
        for (std::int64_t i = 0; i < run.length(); ++i)
            indices[run.position() + i] = run.global() + i;
    return indices;
}

}  // namespace

DecompositionArrays::DecompositionArrays(std::shared_ptr<const Decomposition> decomposition)
    : decomposition_(std::move(decomposition)), dims_(joined_names(decomposition_->dims)) {
    const Decomposition& d = *decomposition_;
    info_.dims = dims_.c_str();
    info_.ndims = d.nd();
    info_.shape = d.shape.data();
    info_.halo_low = d.halo_low.data();
    info_.halo_high = d.halo_high.data();
    info_.extent = d.padded.empty() ? nullptr : d.padded.data();
    info_.boxes = d.room;
    info_.held = d.held;
    info_.stored = d.padded.empty() ? d.stored : d.room * volume(d.padded);
    if (d.listed) {
        indices_ = indices_of(*d.listed);
        info_.first_listed = d.listed->first;
        info_.nlisted = d.listed->count;
        info_.n = d.listed->length;
        info_.indices = indices_.data();
        info_.kind = d.listed->shared ? TW_LIST_SHARED : TW_LIST_UNIQUE;
        return;
    }
    for (const Box& box : d.blocks) {
        start_.insert(start_.end(), box.low.begin(), box.low.begin() + box.nd);
        count_.insert(count_.end(), box.count.begin(), box.count.begin() + box.nd);
    }
    info_.nblocks = static_cast<int>(d.blocks.size());
    info_.start = start_.data();
    info_.count = count_.data();
}

}  // namespace thalweg::detail
