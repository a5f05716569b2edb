// SPDX-License-Identifier: Apache-2.0
#include "dataset/readback.hpp"

#include <algorithm>
#include <limits>

namespace thalweg::detail {

void Readback::note(int variable, std::int64_t elements) {
    const auto& variables = file_.definitions().variables;
    const auto at = static_cast<std::size_t>(variable);
    if (variable < 0 || variables[at].record) return;
    // No memory: then the variable counts as not written.
    (void)alone([&]() -> Status {
        put_.resize(variables.size());
        return {};
    });
    if (at < put_.size())
        put_[at] += std::min(elements, std::numeric_limits<std::int64_t>::max() - put_[at]);
}

/// Models put their variables in the same order in every step.
int Readback::find(const std::string& variable) {
    const Definitions& d = file_.definitions();
    const auto n = static_cast<int>(d.variables.size());
    if (next_ >= n || d.variables[static_cast<std::size_t>(next_)].name != variable)
        next_ = d.find_variable(variable);
    const int found = next_;
    next_ = next_ + 1 < n ? next_ + 1 : 0;
    return found;
}

void Readback::note_put(const std::string& variable) {
    const Definitions& d = file_.definitions();
    const int at = find(variable);
    if (at >= 0) note(at, d.variables[static_cast<std::size_t>(at)].elements());
}

void Readback::note_box(const std::string& variable, const std::int64_t* count) {
    const Definitions& d = file_.definitions();
    const int at = find(variable);
    if (at < 0) return;
    const Variable& v = d.variables[static_cast<std::size_t>(at)];
    // tw_sync fills the rest of it.
    if (v.dims.empty() || volume(std::span(count, v.dims.size())) > 0) note(at, v.elements());
}

/// What is readable now is the same on all ranks.
Status Readback::synced() {
    const auto& variables = file_.definitions().variables;
    std::vector<std::int64_t> put;
    Status status = team_.agree(alone([&]() -> Status {
        put.resize(variables.size() + 1);
        if (told_.empty() || late_ != file_.late_attributes().size()) {
            told_.push_back(file_.definitions());
            for (const auto& [variable, attribute] : file_.late_attributes())
                set_attribute(
                    variable < 0
                        ? told_.back().attributes
                        : told_.back().variables[static_cast<std::size_t>(variable)].attributes,
                    attribute);
            late_ = file_.late_attributes().size();
        }
        lacking_.clear();
        lacking_.reserve(variables.size());
        return {};
    }));
    if (!status.ok()) return status;
    // Of one that is put whole, every rank that has some of it has put that. Of boxes, fewer
    // elements than the variable has are not all of it.
    for (std::size_t i = 0; i < put_.size(); ++i)
        put[i] = std::min({put_[i], variables[i].elements(),
                           std::numeric_limits<std::int64_t>::max() / team_.size()});
    team_.all_reduce(std::span(put).first(variables.size()), Reduce::sum);
    put.back() = file_.counted_records();
    team_.all_reduce(std::span(put).last(1), Reduce::max);
    if (file_.contents() == nullptr)
        for (std::size_t i = 0; i < variables.size(); ++i)
            if (!variables[i].record && put[i] < variables[i].elements())
                lacking_.push_back(variables[i].name);
    const Format format = file_.format();
    contents_.emplace(told_.back(), put.back(), name_of(format), !has_new_types(format));
    stale_ = true;
    return {};
}

Status Readback::not_synced() const {
    return failure(TW_ESTATE, "{}: the file is being written: call tw_sync before reading it",
                   file_.path());
}

Status Readback::supported() const {
    const FileOptions& o = file_.options();
    if (file_.several_files())
        return failure(
            TW_EUNSUPPORTED,
            "{}: a set of tiles (tile_files=yes) cannot be read while it is being written",
            file_.path());
    if (o.storage == "memory")
        return failure(TW_EUNSUPPORTED, "{}: cannot be read: storage=memory keeps no data",
                       file_.path());
    return {};
}

/// Whether nothing may be written while the file is read: HDF5 does not bear that its index changes
/// while it looks at it. Other ranks do not go on before all have read.
bool Readback::settles() const { return file_.has_service() && is_netcdf4(file_.format()); }

/// Opens the file, or looks for what the last tw_sync has made readable. @note Collective
Status Readback::ready(Call call) {
    if (reader_ && !stale_ && !settles()) return {};
    const Status mine = alone([&] { return contents_ ? supported() : not_synced(); });
    const auto describe = [&] { return "of " + file_.path(); };
    Status status =
        arena_source_.meeting()
            .enter({call, file_.serial(), 0, false, std::ref(describe)}, mine, file_.failed(), {})
            .status;
    if (status.ok() && settles()) status = file_.settle();
    if (!status.ok() || (reader_ && !stale_)) return status;
    status = reader_ ? reader_->refresh() : open();
    if (!status.ok()) {
        reader_.reset();
        return status;
    }
    status = team_.agree(alone([&] { return reader_->show(contents_->records(), lacking_); }));
    stale_ = !status.ok();
    return status;
}

Status Readback::open() {
    Status status = team_.agree(alone([&]() -> Status {
        FileOptions options = file_.options();
        options.read_ahead = false;  // what is read ahead may be written over
        reader_ = std::make_unique<Reader>(team_, arena_source_, file_.data_path(), file_.serial(),
                                           std::move(options));
        return {};
    }));
    return status.ok() ? reader_->open() : status;
}

Status Readback::get(const Wish& wish) {
    Status status = ready(Call::get);
    return status.ok() ? reader_->get(wish) : status;
}

Status Readback::get_box(const BoxWish& wish) {
    Status status = ready(Call::get_box);
    return status.ok() ? reader_->get_box(wish) : status;
}

/// What can be told now; the rest is found out by read(), when the file is open.
Status Readback::get_deferred(const Wish& wish) {
    if (!contents_) return not_synced();
    if (!wish.wrong.ok()) return wish.wrong;
    const Definitions& d = contents_->definitions();
    const int at = d.find_variable(wish.name);
    if (at < 0) return no_variable(d, file_.path(), wish.name, team_.rank());
    if (d.variables[static_cast<std::size_t>(at)].record &&
        (wish.record < 0 || wish.record >= contents_->records()))
        return failure(TW_EBOUNDS, "{}: variable '{}': no record {}; the file has {} records",
                       file_.path(), wish.name, file_.options().wording.index(wish.record),
                       contents_->records());
    Asked asked{wish, {}, {}};
    if (wish.n < 0 && wish.rank > 0 && wish.extent != nullptr && wish.byte_stride != nullptr) {
        asked.extent.assign(wish.extent, wish.extent + wish.rank);
        asked.byte_stride.assign(wish.byte_stride, wish.byte_stride + wish.rank);
    }
    asked_.push_back(std::move(asked));
    return {};
}

Status Readback::read() {
    std::vector<Asked> all = std::exchange(asked_, {});
    if (Status status = ready(Call::read); !status.ok()) return status;
    const Status mine = alone([&]() -> Status {
        for (Asked& a : all) {
            if (!a.extent.empty()) {
                a.wish.extent = a.extent.data();
                a.wish.byte_stride = a.byte_stride.data();
            }
            if (Status status = reader_->get_deferred(a.wish); !status.ok()) return status;
        }
        return {};
    });
    return reader_->read(mine);
}

Status Readback::prefetch() {
    return arena_source_.meeting().enter({Call::prefetch, file_.serial(), 0, false, {}}, alone([&] {
                                             return failure(TW_ESTATE,
                                                            "{}: the file is being written: "
                                                            "tw_prefetch is only for files opened "
                                                            "for reading",
                                                            file_.path());
                                         }));
}

std::optional<ReadFigures> Readback::figures() {
    if (!reader_) return {};
    ReadFigures figures = reader_->figures();
    figures.path = file_.path();
    return figures;
}

}  // namespace thalweg::detail
