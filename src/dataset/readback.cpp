// SPDX-License-Identifier: Apache-2.0
#include "dataset/readback.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace thalweg::detail {

namespace {

/// Different boxes of a variable that are remembered; with more it counts as not written whole.
constexpr std::size_t most_boxes = 4096;

}  // namespace

/// Models put their variables in the same order in every step.
int Readback::find(const std::string& variable) {
    const Definitions& d = file_.definitions();
    const int n = d.variables.size();
    if (next_ >= n || d.variables[next_].name != variable) next_ = d.find_variable(variable);
    const int found = next_;
    next_ = next_ + 1 < n ? next_ + 1 : 0;
    return found;
}

/// Null of a variable of which nothing needs to be known, or without memory: then it counts as not
/// written.
Readback::Put* Readback::put_of(int variable) {
    touched_ = true;
    const auto& variables = file_.definitions().variables;
    const std::size_t at = variable;
    if (variable < 0 || variables[at].record) return nullptr;
    (void)alone([&]() -> Status {
        put_.resize(variables.size());
        return {};
    });
    return at < put_.size() && !put_[at].written ? &put_[at] : nullptr;
}

void Readback::note_put(const std::string& variable) {
    const int at = find(variable);
    Put* const put = put_of(at);
    if (put == nullptr) return;
    put->by_put = true;
    const auto& d = file_.definitions().variables[at].decomposition;
    note_record(variable, d->replicated ? nullptr : d.get());
}

void Readback::note_record(const std::string& variable, const Decomposition* decomposition) {
    Put* const put = put_of(find(variable));
    if (put == nullptr) return;
    if (decomposition == nullptr) {
        put->all |= team_.rank() == 0;
        return;
    }
    put->serial = decomposition->serial;
    put->held = decomposition->held;
}

void Readback::note_box(const std::string& variable, const std::int64_t* start,
                        const std::int64_t* count, const std::int64_t* stride) {
    const int at = find(variable);
    Put* const put = put_of(at);
    if (put == nullptr) return;
    const Variable& v = file_.definitions().variables[at];
    // With strides, one box for each of the indices along the dimensions that have one.
    Box box;
    Index step{};
    std::size_t boxes = 1;
    for (std::size_t d = 0; d < v.shape.size(); ++d, ++box.nd) {
        box.low[box.nd] = start[d];
        box.count[box.nd] = count[d];
        if (count[d] < 2 || stride == nullptr || stride[d] == 1) continue;
        step[box.nd] = stride[d];
        box.count[box.nd] = 1;
        boxes *= std::min<std::int64_t>(count[d], most_boxes + 1);
        boxes = std::min(boxes, most_boxes + 1);
    }
    if (boxes > most_boxes) return;
    for (std::size_t n = 0; n < boxes; ++n) {
        note(*put, v, box);
        for (int d = box.nd - 1; d >= 0; --d) {
            if (step[d] == 0) continue;
            if ((box.low[d] += step[d]) < start[d] + count[d] * step[d]) break;
            box.low[d] = start[d];
        }
    }
}

void Readback::note(Put& put, const Variable& v, const Box& box) {
    const auto same = [&](const Box& other) {
        return other.low == box.low && other.count == box.count;
    };
    if (box.volume() == v.elements()) put.all = true;
    if (put.all || box.volume() == 0 || put.boxes.size() >= most_boxes ||
        std::any_of(put.boxes.begin(), put.boxes.end(), same))
        return;
    (void)alone([&]() -> Status {
        put.boxes.push_back(box);
        return {};
    });
}

/// The definitions for those who ask from now on; names that were told before stay.
Status Readback::tell() {
    if (!told_.empty() && late_ == file_.late_attributes().size()) return {};
    told_.push_back(file_.definitions());
    for (const auto& [variable, attribute] : file_.late_attributes())
        set_attribute(
            variable < 0 ? told_.back().attributes : told_.back().variables[variable].attributes,
            attribute);
    late_ = file_.late_attributes().size();
    return {};
}

/// Whether the ranks' boxes are all of a variable, and no two share an element: of others that is
/// not known. @note Collective
bool Readback::boxes_cover(std::size_t variable, Status& status) {
    const Variable& v = file_.definitions().variables[variable];
    Decomposition given;
    status = team_.agree(alone([&]() -> Status {
        for (std::size_t d = 0; d < v.shape.size(); ++d) given.dims.push_back(std::to_string(d));
        given.shape = v.shape;
        given.halo_low.assign(v.shape.size(), 0);
        given.halo_high = given.halo_low;
        given.blocks = put_[variable].boxes;
        return {};
    }));
    if (!status.ok()) return false;
    std::shared_ptr<const Decomposition> made;
    Status fits = make_decomposition(team_.world(), std::move(given), made);
    if (!fits.ok() && fits.code != TW_EOVERLAP) status = std::move(fits);
    return fits.ok() && made->whole;
}

/// Which of the fixed-size variables are written by now, all of them: what no rank puts is filled
/// with the rest of it, but where the file has boxes. @note Collective
/// @param open  those of which that was not known, the same on every rank
Status Readback::find_written(std::span<const std::size_t> open, bool boxed) {
    const auto& variables = file_.definitions().variables;
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
    enum : std::size_t { by_put, all, serial, not_serial, words };
    std::vector<std::int64_t> most, sums;
    Status status = team_.agree(alone([&]() -> Status {
        most.assign(words * open.size(), none);
        sums.assign(2 * open.size(), 0);
        return {};
    }));
    if (!status.ok()) return status;
    const std::int64_t limit = std::numeric_limits<std::int64_t>::max() / team_.size();
    for (std::size_t i = 0; i < open.size(); ++i) {
        const Put& put = put_[open[i]];
        std::int64_t* const row = most.data() + words * i;
        row[by_put] = put.by_put;
        row[all] = put.all;
        if (put.serial >= 0) {
            row[serial] = put.serial;
            row[not_serial] = -put.serial;
            sums[2 * i] = std::min(put.held, limit);
        }
        for (const Box& box : put.boxes)
            sums[2 * i + 1] = std::min(limit, sums[2 * i + 1] + std::min(limit / 2, box.volume()));
    }
    team_.all_reduce(most, Reduce::max);
    team_.all_reduce(sums, Reduce::sum);
    for (std::size_t i = 0; i < open.size(); ++i) {
        const std::int64_t* const row = most.data() + words * i;
        const std::int64_t elements = variables[open[i]].elements();
        // No two ranks hold an element of one decomposition.
        const bool held =
            row[serial] != none && row[serial] == -row[not_serial] && sums[2 * i] >= elements;
        bool written = (row[by_put] > 0 && !boxed) || row[all] > 0 || held || elements == 0;
        if (!written && sums[2 * i + 1] >= elements) {
            written = boxes_cover(open[i], status);
            if (!status.ok()) return status;
        }
        put_[open[i]].written = written;
        if (written) put_[open[i]].boxes = {};
    }
    return {};
}

/// What is readable now is the same on all ranks.
Status Readback::synced() {
    const auto& variables = file_.definitions().variables;
    std::vector<std::size_t> open;
    Status status = team_.agree(alone([&]() -> Status {
        if (Status told = tell(); !told.ok()) return told;
        put_.resize(variables.size());
        for (std::size_t i = 0; i < variables.size(); ++i) {
            put_[i].written |= file_.contents() != nullptr;
            if (!variables[i].record && !put_[i].written) open.push_back(i);
        }
        return {};
    }));
    if (!status.ok()) return status;
    std::int64_t words[] = {file_.boxed() ? 1 : 0, file_.counted_records()};
    team_.all_reduce(words, Reduce::max);
    if (status = find_written(open, words[0] != 0); !status.ok()) return status;
    status = team_.agree(alone([&]() -> Status {
        std::vector<std::string> lacking;
        for (const std::size_t i : open)
            if (!put_[i].written) lacking.push_back(variables[i].name);
        lacking_ = std::move(lacking);
        return {};
    }));
    if (!status.ok()) return status;
    touched_ = false;
    stale_ = true;
    // Of boxes, the file knows how many records are complete; and of netCDF-4, how its variables
    // are stored.
    const bool asked = words[0] != 0 || (is_netcdf4(file_.format()) && !reader_);
    const bool can = alone([&] { return supported(); }).ok();  // the same on all ranks
    if (asked && can && look().ok()) {
        if (words[0] != 0) words[1] = reader_->contents().records();
        stale_ = !team_.agree(alone([&] { return reader_->show(words[1], lacking_); })).ok();
    }
    const Format format = file_.format();
    contents_.emplace(told_.back(), words[1], name_of(format), !has_new_types(format));
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
            "{}: a set of files (tile_files=yes, files=variable) cannot be read by the handle that "
            "writes it",
            file_.path());
    if (o.storage == "memory")
        return failure(TW_EUNSUPPORTED, "{}: cannot be read: storage=memory keeps no data",
                       file_.path());
    return {};
}

/// Whether nothing may be under way while the file is read: HDF5 does not bear that its index
/// changes while it looks at it. Other ranks do not go on before all have read.
bool Readback::must_rest() const { return file_.written_any_time() && is_netcdf4(file_.format()); }

Status Readback::readable_now() const {
    if (!contents_) return not_synced();
    if (Status status = supported(); !status.ok()) return status;
    if (!touched_ || !must_rest()) return {};
    return failure(TW_ESTATE,
                   "{}: a netCDF-4 file with service {} can be read only directly after tw_sync, "
                   "before more is put (rank {})",
                   file_.path(), file_.options().service, team_.rank());
}

/// Finds out whether the file can be read, and opens it, or looks for what the last tw_sync has
/// made readable. @note Collective
Status Readback::ready(Call call) {
    if (reader_ && !stale_ && !must_rest()) return {};
    const auto describe = [&] { return "of " + file_.path(); };
    Status status = session_.meeting()
                        .enter({call, file_.serial(), 0, false, std::ref(describe)},
                               alone([&] { return readable_now(); }), file_.failed(), {})
                        .status;
    if (status.ok() && (!reader_ || stale_)) status = look();
    if (!status.ok() || !stale_) return status;
    status = team_.agree(alone([&] { return reader_->show(contents_->records(), lacking_); }));
    stale_ = !status.ok();
    return status;
}

/// The same status on every rank; without success there is no reader. @note Collective
Status Readback::look() {
    Status status = reader_ ? reader_->refresh() : open();
    if (!status.ok()) reader_.reset();
    return status;
}

Status Readback::open() {
    Status status = team_.agree(alone([&]() -> Status {
        FileOptions options = file_.options();
        options.read_ahead = false;  // what is read ahead may be written over
        reader_ = std::make_unique<Reader>(team_, session_, file_.data_path(), file_.serial(),
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
    if (d.variables[at].record && (wish.record < 0 || wish.record >= contents_->records()))
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
    return session_.meeting().enter({Call::prefetch, file_.serial(), 0, false, {}}, alone([&] {
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
