// SPDX-License-Identifier: Apache-2.0
#include "dataset/file.hpp"

#include <algorithm>
#include <array>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "dataset/completion.hpp"
#include "storage/zarr/shards.hpp"

namespace thalweg::detail {

// ---- folders: the settings files=variable, files=zarr and format=zarr ---------------------------

namespace {

/// Checks that the other settings permit a folder. Local; the result is the same on every rank, as
/// is that of the next function.
/// @return TW_OK, TW_ESETTING
Status check_folder(const std::string& path, const FileOptions& o) {
    if (!o.folder()) return {};
    std::string other;
    if (o.by_variable && has_chunks(format_of(o.format))) other = "format=" + o.format;
    if (o.by_variable && o.storage != "auto" && o.storage != "posix")
        other = "storage=" + o.storage;
    if (o.stripe_count >= 0 || o.stripe_size >= 0) other = "stripes";
    if (o.by_variable && o.append) other = "mode=append";
    if (o.tile_files) other = "files=tiles";
    if (other.empty()) return {};
    return failure(TW_ESETTING, "{}: {} is not possible with {}", path, other,
                   !o.by_variable ? "format=zarr"
                   : o.shards     ? "files=zarr"
                                  : "files=variable");
}

/// Checks that the definitions permit one file per variable.
Status check_any_variable(const FileContext& file) {
    if (!file.options.by_variable || !file.definitions.variables.empty()) return {};
    return failure(TW_ESETTING, "{}: files=variable needs a variable, but none is defined",
                   file.path);
}

/// If the setting asks for it, turns the folder of complete files into a Zarr store. The folder
/// still has its temporary name. Rank 0 does the work.
/// @note Collective
Status make_shards(const FileContext& file) {
    if (!file.options.shards) return {};
    return file.team.agree(file.team.rank() == 0 ? make_zarr_store(file.data_path, file.definitions,
                                                                   file.options.durable)
                                                 : Status{});
}

}  // namespace

// ---- define mode --------------------------------------------------------------------------------

/// Claims the name of the file.
/// @note Collective
Status File::take_names() {
    if (!file_.options.append) return names_.create();
    // Claim the name before the file is read: otherwise data that another run adds in between would
    // be lost.
    Status status = names_.take_existing();
    return status.ok() ? define_.open_existing() : status;
}

Status File::begin() {
    Stopwatch watch(file_.figures.times[FileTimes::open]);
    const TraceFile traced(file_.path);
    const Span span("open");
    Status status = check_folder(file_.path, file_.options);
    if (status.ok()) status = take_names();
    if (!status.ok()) {
        names_.discard();
        file_.closed = true;
    }
    return status;
}

// ---- the end of define mode ---------------------------------------------------------------------

Status File::end_definitions() {
    if (Status status = file_.usable(); !status.ok()) return status;
    if (has_data_mode())
        return failure(TW_ESTATE, "{}: the definitions have already ended", file_.path);
    Stopwatch watch(file_.figures.times[FileTimes::open]);
    const Span span("open");
    std::int64_t hash = 0;
    RankResources resources;
    const Status mine = catch_errors([&] {
        hash = define_.hash();
        resources = own_resources(file_);
    });
    std::array<std::int64_t, 2> alike = equality_words(hash);
    std::array<std::int64_t, 5> most{file_.step_bytes()};
    std::ranges::copy(resources.most(), most.begin() + 1);
    const AgreedWords words{alike, most, resources.sums()};
    if (Status s = file_.enter(Call::enddef, -1, mine, words); !s.ok())
        return s.code == TW_ENOMEM ? file_.keep(std::move(s)) : s;
    file_.most_step_bytes = most[0];
    std::copy(most.begin() + 1, most.end(), resources.most().begin());
    // Share the failure with all ranks here, so that later calls need not ask the others.
    return file_.keep(begin_file(are_alike(alike), resources));
}

/// Ends define mode, and creates the file or opens it for data.
/// @param alike  all ranks have made the same definitions
/// @note Collective
Status File::begin_file(bool alike, const RankResources& resources) {
    if (!alike)
        if (Status s = define_.compare(); !s.ok()) return s;
    if (Status s = define_.settle(); !s.ok()) return s;
    if (Status s = check_any_variable(file_); !s.ok()) return s;
    data_ = std::make_unique<DataMode>(file_, define_.contents());
    Status status = data_->begin(resources, asked_, names_);
    if (status.ok()) define_.end();
    return status;
}

// ---- data mode ----------------------------------------------------------------------------------

Status File::begin_data() {
    if (file_.closed) return file_.usable();
    return has_data_mode() ? Status{} : end_definitions();
}

Status File::sync(bool durable) {
    if (Status s = begin_data(); !s.ok()) return s;
    Stopwatch watch(file_.figures.times[FileTimes::step]);
    // With options.durable, names were synced when they were claimed.
    const bool names = durable && !file_.options.durable;
    Status status = data_->sync(durable || file_.options.durable);
    if (status.ok() && names) status = file_.keep(file_.team.agree(names_.sync()));
    return status;
}

std::int64_t File::counted_records() const {
    return std::max(data_ ? data_->records() : 0, file_.existing.kept);
}

// ---- the end: complete and give the final name, or give up --------------------------------------

/// Begins to close the file: the ranks agree on the call and write all remaining data.
Status File::end() {
    file_.leaving = true;
    Status status = begin_data();
    const double begin = now(), stepped = file_.figures.times[FileTimes::step];
    if (status.ok())
        status = data_->hand_over(define_);
    else if (data_ && data_->storage_open())
        status = file_.enter(Call::close, -1, {}, {});
    // The time of a step that ends in this call counts as that of the step.
    file_.figures.times[FileTimes::close] +=
        now() - begin - (file_.figures.times[FileTimes::step] - stepped);
    return status;
}

Status File::close(bool* later) {
    if (file_.closed) return file_.usable();
    Status status = end();
    // If the ranks were in different calls, call_agreement().gave_up() is true. The file is then
    // not completed; all ranks give it up together later.
    if (file_.session.call_agreement().gave_up()) return status;
    const bool good = status.ok() || status.code == TW_ERANGE;
    if (later != nullptr) *later = good && written_any_time();
    return later != nullptr && *later ? status : complete(std::move(status));
}

/// Renames the complete file to its final name.
/// @param mine  this rank's own failure to complete the file
/// @note Collective
Status File::publish(Status mine) {
    if (Status status = make_shards(file_); !status.ok()) return status;
    if (Status status = complete_checksums(file_); !status.ok()) return status;
    Status named = file_.team.agree(mine.ok() ? names_.publish() : std::move(mine));
    return named.ok() ? add_to_manifest(file_) : named;
}

Status File::complete(Status status) {
    Stopwatch watch(file_.figures.times[FileTimes::close]);
    const TraceFile traced(file_.path);
    const Span span("close");
    const auto good = [&] { return status.ok() || status.code == TW_ERANGE; };
    Status mine;
    if (data_) {
        Status closed = data_->close(good(), mine);
        if (good() && !closed.ok()) status = std::move(closed);
    }
    if (good()) {
        Status published = publish(std::move(mine));
        if (status.ok() || !published.ok()) status = std::move(published);
    } else if (!has_data_mode()) {
        names_.discard();  // the file has never contained data, so remove it
    }
    names_.release();
    file_.figures = figures();
    file_.closed = true;
    data_.reset();
    return status;
}

void File::leave(const Status& why) {
    if (file_.closed) return;
    (void)file_.keep(why);
    (void)complete(file_.failed);
}

Status File::abandon(Status why) {
    Status first = file_.keep(std::move(why));
    (void)close();
    return first;
}

}  // namespace thalweg::detail
