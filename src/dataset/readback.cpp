// SPDX-License-Identifier: Apache-2.0
#include "dataset/readback.hpp"

#include <utility>

#include "base/bits.hpp"

namespace thalweg::detail {

/// Makes the present definitions available for inquiries. Names that were returned earlier stay
/// valid.
void Readback::tell() {
    if (!told_.empty() && late_ == about_.late.size()) return;
    told_.push_back(about_.definitions);
    for (const auto& [variable, attribute] : about_.late)
        (variable < 0 ? told_.back().attributes : told_.back().variables[variable].attributes)
            .set(attribute);
    late_ = about_.late.size();
}

/// After a sync, makes the contents that can be read the same on all ranks.
Status Readback::synced() {
    if (whole_.empty())
        for (const Variable& v : about_.definitions.variables) {
            whole_.push_back(v.record || file_.definitions().contents() != nullptr ||
                             v.elements() == 0);
            open_ += whole_.back() == 0 ? 1 : 0;
        }
    tell();
    std::int64_t records = file_.counted_records();
    team_.all_reduce({&records, 1}, Reduce::max);
    touched_ = false;
    stale_ = true;
    const Format format = about_.format;
    // With servers, ranks do not know how variables are stored, so read that from the file.
    const bool asks = has_chunks(format) && !reader_ && about_.options.service == "servers";
    if (asks && supported().ok()) (void)look();
    contents_.emplace(Contents{told_.back(), records, name_of(format), !has_new_types(format)});
    return {};
}

std::optional<VariableStorage> Readback::stored(int variable) const {
    if (!contents_) return {};
    if (auto known = file_.stored(variable)) return known;
    if (!reader_) return {};
    int number = -1;
    const std::string& name = contents_->definitions.variables[variable].name;
    if (!reader_->find(name, number).ok()) return {};
    return reader_->contents().contents().variables[number].storage;
}

Status Readback::not_synced() const {
    return failure(TW_ESTATE, "{}: the file is being written: call tw_sync before reading it",
                   about_.path);
}

Status Readback::supported() const {
    const FileOptions& o = about_.options;
    if (about_.in_files() || o.by_variable)
        return failure(TW_EUNSUPPORTED,
                       "{}: a set of files (files=tiles, files=variable) cannot be read by the "
                       "handle that writes it",
                       about_.path);
    if (o.storage == "memory")
        return failure(TW_EUNSUPPORTED, "{}: cannot be read: storage=memory keeps no data",
                       about_.path);
    return {};
}

/// Tests if nothing may be written while the file is read, because HDF5 fails if the index changes
/// during a read. In this case all ranks wait until each of them has read.
bool Readback::must_rest() const { return file_.written_any_time() && is_netcdf4(about_.format); }

Status Readback::readable_now() const {
    if (!contents_) return not_synced();
    if (Status status = supported(); !status.ok()) return status;
    if (!touched_ || !must_rest()) return {};
    return failure(TW_ESTATE,
                   "{}: a netCDF-4 file with service {} can be read only directly after tw_sync, "
                   "before more is put (rank {})",
                   about_.path, about_.options.service, OfRank{team_.rank()});
}

/// Prepares a read: opens the file, or refreshes it after a tw_sync. Writes fill values to elements
/// that were never put in fixed-size variables that some rank wants to read.
/// @param names  names of the variables that this rank wants to read
/// @note Collective
Status Readback::ready(Call call, std::span<const std::string* const> names) {
    if (reader_ && !stale_ && !must_rest() && open_ == 0) return {};
    const auto describe = [&] { return "of " + about_.path; };
    std::vector<std::int64_t> wanted((about_.definitions.variables.size() + 63) / 64, 0);
    for (const std::string* const name : names)
        if (const int v = about_.definitions.find_variable(*name); v >= 0) set_bit(wanted, v);
    Status status = session_.call_agreement()
                        .enter({call, about_.serial, 0, false, std::ref(describe)}, readable_now(),
                               about_.failed, {wanted})
                        .status;
    if (status.ok() && open_ > 0) status = fill(wanted);
    if (status.ok() && (!reader_ || stale_)) status = look();
    if (!status.ok() || !stale_) return status;
    reader_->show(contents_->records);
    stale_ = false;
    return {};
}

/// Writes fill values to incomplete variables that are to be read.
/// @param wanted  one bit for each variable; the same on every rank
/// @note Collective
Status Readback::fill(std::span<const std::int64_t> wanted) {
    std::vector<int> variables;
    for (std::size_t v = 0; v < whole_.size(); ++v)
        if (whole_[v] == 0 && has_bit(wanted, v)) variables.push_back(v);
    if (variables.empty()) return {};
    if (Status status = file_.begin_data(); !status.ok()) return status;
    if (Status status = file_.data_mode().fill(variables); !status.ok()) return status;
    for (const int v : variables) whole_[v] = 1;
    open_ -= variables.size();
    stale_ = true;
    return {};
}

/// Opens or refreshes the reader. The status is the same on every rank; after an error there is no
/// reader.
/// @note Collective
Status Readback::look() {
    Status status = reader_ ? reader_->refresh() : open();
    if (!status.ok()) reader_.reset();
    return status;
}

Status Readback::open() {
    FileOptions options = about_.options;
    options.read_ahead = false;  // data that were read ahead could become out of date
    reader_ = std::make_unique<Reader>(team_, session_, about_.data_path, about_.serial,
                                       std::move(options));
    return reader_->open();
}

Status Readback::get(const GetArguments& arguments) {
    const std::string* const name = &arguments.name;
    Status status = ready(Call::get, {&name, 1});
    return status.ok() ? reader_->get(arguments) : status;
}

Status Readback::get_box(const GetBoxArguments& arguments) {
    const std::string* const name = &arguments.name;
    Status status = ready(Call::get_box, {&name, 1});
    return status.ok() ? reader_->get_box(arguments) : status;
}

/// Checks the arguments as far as possible before the file is open; read() checks the rest.
Status Readback::get_deferred(const GetArguments& arguments) {
    if (!contents_) return not_synced();
    if (!arguments.wrong.ok()) return arguments.wrong;
    const Definitions& d = contents_->definitions;
    const int at = d.find_variable(arguments.name);
    if (at < 0) return no_variable(d, about_.path, arguments.name, team_.rank());
    if (d.variables[at].record && (arguments.record < 0 || arguments.record >= contents_->records))
        return failure(TW_EBOUNDS, "{}: variable '{}': no record {}; the file has {} records",
                       about_.path, OfVariable{arguments.name},
                       OfRecord{about_.options.wording.index(arguments.record)},
                       contents_->records);
    asked_.emplace_back(arguments);
    return {};
}

Status Readback::read() {
    const std::vector<Asked> all = std::exchange(asked_, {});
    std::vector<const std::string*> names;
    for (const Asked& a : all) names.push_back(&a.arguments.name);
    if (Status status = ready(Call::read, names); !status.ok()) return status;
    Status mine;
    for (std::size_t i = 0; i < all.size() && mine.ok(); ++i)
        mine = reader_->get_deferred(all[i].arguments);
    return reader_->read(mine);
}

Status Readback::prefetch() {
    return session_.call_agreement().enter(
        {Call::prefetch, about_.serial, 0, false, {}},
        failure(TW_ESTATE,
                "{}: the file is being written: tw_prefetch is only for files opened for reading",
                about_.path));
}

std::optional<ReadFigures> Readback::figures() {
    if (!reader_) return {};
    ReadFigures figures = reader_->figures();
    figures.path = about_.path;
    return figures;
}

}  // namespace thalweg::detail
