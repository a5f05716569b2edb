// Puts: what the model hands over is checked, and kept until it is written.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "comm/clock.hpp"
#include "dataset/file.hpp"
#include "exchange/copy.hpp"

namespace thalweg::detail {

Status File::check_type(const std::string& name, int type, int& variable) const {
    if (Status s = usable(); !s.ok()) return s;
    variable = definitions_.find_variable(name);
    if (variable < 0) return no_variable(definitions_, path_, name, team_.rank());
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    if (!valid_type(type))
        return failure(TW_ETYPE, "{}: variable '{}': {} (rank {})", path_, name, no_type(type),
                       team_.rank());
    if ((type == TW_CHAR) != (v.type == TW_CHAR))
        return failure(
            TW_ETYPE, "{}: variable '{}' has type {}, and {} cannot be converted to it (rank {})",
            path_, name, name_of(v.type), name_of(static_cast<tw_type>(type)), team_.rank());
    return {};
}

Status File::check_put(const std::string& name, int type, const void* data, int& variable) {
    if (Status s = check_type(name, type, variable); !s.ok()) return s;
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    if (pending_[static_cast<std::size_t>(variable)].boxed)
        return failure(TW_ESTATE,
                       "{}: variable '{}': tw_put_box or tw_put_record has written this record in "
                       "this step; call tw_end_step before tw_put "
                       "(rank {})",
                       path_, name, team_.rank());
    if (data == nullptr && v.decomposition->stored > 0)
        return failure(TW_EARG, "{}: variable '{}': the data are missing (null pointer) (rank {})",
                       path_, name, team_.rank());
    return {};
}

Status File::with_place(Status status, int variable) const {
    if (!status.ok())
        status.text = fmt::format("{}: variable '{}': {} (rank {})", path_,
                                  definitions_.variables[static_cast<std::size_t>(variable)].name,
                                  status.text, team_.rank());
    return status;
}

Status File::put(const std::string& name, int type, const void* data, std::int64_t n,
                 bool deferred) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(figures_.put);
    int variable = -1;
    ArrayView view;
    view.data = static_cast<const char*>(data);
    view.type = static_cast<tw_type>(type);
    Status status = check_put(name, type, data, variable);
    if (status.ok())
        status = with_place(check_dense(decomposition_of(variable), n, view), variable);
    return accept(std::move(status), variable, view, deferred);
}

Status File::put_strided(const std::string& name, int type, const void* data, int rank,
                         const std::int64_t* extent, const std::int64_t* byte_stride,
                         bool deferred) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(figures_.put);
    int variable = -1;
    ArrayView view;
    view.data = static_cast<const char*>(data);
    view.type = static_cast<tw_type>(type);
    Status status = check_put(name, type, data, variable);
    if (status.ok())
        status = with_place(
            check_strided(decomposition_of(variable), rank, extent, byte_stride, view), variable);
    return accept(std::move(status), variable, view, deferred);
}

/// The first call that needs data mode ends the definitions.
Status File::begin_data() {
    if (state_ == State::defining) return end_definitions();
    if (state_ == State::closed) return usable();
    return {};
}

Status File::accept(Status checked, int variable, ArrayView view, bool deferred) {
    if (checked.ok()) {
        const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
        Pending& pending = pending_[static_cast<std::size_t>(variable)];
        pending.form = view.dense ? Form::either : view.form;
        if (deferred)
            pending.glimpse = Glimpse(*v.decomposition, v.order,
                                      held_by(*v.decomposition, v.order, v.shape), view);
    }
    if (service_) return accept_queued(std::move(checked), variable, view, deferred);
    // A collective put is joined by the ranks whose own check failed, too.
    if (immediate_ && !deferred) return put_now(std::move(checked), variable, view);
    if (!checked.ok()) return checked;
    use_netcdf_byte_rule(variable, view);
    Pending& pending = pending_[static_cast<std::size_t>(variable)];
    if (deferred) {
        pending.view = view;
        misfits_[static_cast<std::size_t>(variable)] = 0;
    } else if (Status status = stage(variable, view); !status.ok()) {
        return status;
    }
    pending.put = true;
    return {};
}

/// Whether the arrays that were deferred are still what they were; of all variables, or of those
/// of fixed size.
Status File::check_deferred(bool records) const {
    return alone([&]() -> Status {
        std::vector<Glimpsed> all;
        for (std::size_t i = 0; i < pending_.size(); ++i)
            if (pending_[i].deferred() && (records || !definitions_.variables[i].record))
                all.push_back({&definitions_.variables[i].name, &pending_[i].glimpse});
        Status status = compare_glimpses(std::move(all));
        if (!status.ok())
            status.text = fmt::format("{}: {} (rank {})", path_, status.text, team_.rank());
        return status;
    });
}

/// In the classic formats without unsigned types, and in netCDF-4's classic model, a byte is signed
/// or unsigned, as the user likes (netCDF User's Guide).
void File::use_netcdf_byte_rule(int variable, ArrayView& view) const {
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    if (v.type == TW_BYTE && view.type == TW_UBYTE && !has_new_types(format_)) view.type = TW_BYTE;
}

/// The held blocks, dense one behind the other.
std::int64_t File::stage_blocks(const Variable& v, const ArrayView& view, char* to,
                                RowKernel kernel, const char* fill) {
    const Decomposition& d = *v.decomposition;
    const auto size = static_cast<std::int64_t>(v.element());
    std::vector<int> same(static_cast<std::size_t>(d.nd()));
    for (std::size_t i = 0; i < same.size(); ++i) same[i] = static_cast<int>(i);
    std::int64_t misfits = 0;
    for (std::size_t b = 0; b < d.blocks.size(); ++b) {
        const Box& box = d.blocks[b];
        if (box.volume() == 0) continue;
        HeldBox held;
        held.block = static_cast<int>(b);
        const Strided from = locate(d, same, held, view);
        Index stride = strides_of(std::span(box.count.data(), static_cast<std::size_t>(box.nd)));
        for (int i = 0; i < box.nd; ++i) stride[i] *= size;
        misfits +=
            packers_.copy_box(box.nd, box.count, to, stride, from.base, from.stride, kernel, fill);
        to += box.volume() * size;
    }
    return misfits;
}

/// The array of a list as it is; what is in holes is nobody's business, and not looked at.
std::int64_t File::stage_list(const Variable& v, const ArrayView& view, char* to, RowKernel kernel,
                              const char* fill) {
    const Decomposition& d = *v.decomposition;
    const auto size = static_cast<std::int64_t>(v.element());
    const std::vector<std::int64_t> extent = d.listed_extent();
    Index dense = strides_of(extent);
    for (std::int64_t& s : dense) s *= size;
    const auto nd = static_cast<int>(extent.size());
    if (d.listed->list->elements == d.listed->length) {
        Index count{}, stride = view.stride;
        std::copy(extent.begin(), extent.end(), count.begin());
        if (view.dense)
            for (int i = 0; i < nd; ++i)
                stride[i] = dense[i] / size * static_cast<std::int64_t>(size_of(view.type));
        return packers_.copy_box(nd, count, to, dense, view.data, stride, kernel, fill);
    }
    ArrayView copy;
    copy.data = to;
    copy.type = v.type;
    std::int64_t misfits = 0;
    for (const HeldBox& held : held_by(d, v.order, v.shape)) {
        const Strided from = locate(d, v.order, held, view), into = locate(d, v.order, held, copy);
        const int along = held.list->dims.back();
        held.list->for_runs(held.box, [&](const Box& part, std::int64_t position, const Run&) {
            misfits += copy_box(
                part.nd, part.count, const_cast<char*>(into.base) + position * into.stride[along],
                into.stride, from.base + position * from.stride[along], from.stride, kernel, fill);
        });
    }
    return misfits;
}

/// Copies the held elements, converted to the file's type, so that the budget is known from the
/// definitions.
Status File::stage(int variable, const ArrayView& view) {
    const Variable& v = definitions_.variables[static_cast<std::size_t>(variable)];
    const Decomposition& d = *v.decomposition;
    Pending& pending = pending_[static_cast<std::size_t>(variable)];
    if (!staging_ && staging_bytes_ > 0) {
        staging_ = make_private_memory(staging_bytes_);
        if (!staging_)
            return failure(TW_ENOMEM,
                           "{}: variable '{}': out of memory: {} bytes for copies (rank {})", path_,
                           v.name, staging_bytes_, team_.rank());
        figures_.staging_bytes = static_cast<std::int64_t>(staging_bytes_);
    }
    char* const copy = staging_ ? staging_->data() + pending.staged_at : nullptr;
    char fill[8];
    v.fill_value(fill);
    const RowKernel kernel = pack_kernel(view.type, v.type, Order::native);
    std::int64_t& misfits = misfits_[static_cast<std::size_t>(variable)];
    misfits = d.listed ? stage_list(v, view, copy, kernel, fill)
                       : stage_blocks(v, view, copy, kernel, fill);
    pending.view = {};
    pending.view.data = copy;
    pending.view.type = v.type;
    pending.view.bare = true;
    return {};
}

}  // namespace thalweg::detail
