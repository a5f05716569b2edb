// SPDX-License-Identifier: Apache-2.0
#include "dataset/file_references.hpp"

#include <sys/stat.h>

#include "storage/posix/paths.hpp"
#include "zarr/references.hpp"

namespace thalweg::detail {

/// Calls act() on rank 0, and returns its status on all ranks.
/// @note Collective
template <class Do>
Status FileReferences::on_root(Do&& act) {
    return file_.team.agree(
        alone([&]() -> Status { return file_.team.rank() == 0 ? act() : Status{}; }));
}

/// Finds the paths of the references: beside the file if the setting is "yes", or in the folder
/// that the setting names, with the file's name.
Status FileReferences::find_paths() {
    if (own()) {
        const std::string& asked = file_.options.references;
        std::string path = file_.path + ".json";
        if (asked != "yes") {
            if (Status status = make_absolute(asked, path); !status.ok()) return status;
            struct stat info {};
            if (asked.back() == '/' || (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)))
                path += (path.back() == '/' ? "" : "/") +
                        file_.path.substr(file_.path.find_last_of('/') + 1) + ".json";
        }
        reference_ = ReferenceFile(path);
        if (Status status = reference_.check(); !status.ok()) return status;
    }
    if (!streamed()) return {};
    std::string path;
    if (Status status = make_absolute(file_.options.stream, path); !status.ok()) return status;
    if (own() && path == reference_.path())
        return failure(TW_ESETTING, "{}: zarr_references and zarr_stream are the same path {}",
                       file_.path, path);
    stream_.set_path(path);
    return stream_.check();
}

Status FileReferences::check_single() const {
    if (!wanted() || !file_.in_files()) return {};
    return failure(TW_ESETTING, "{}: {}={} is not possible with a set of tiles", file_.path,
                   own() ? "zarr_references" : "zarr_stream",
                   own() ? file_.options.references : file_.options.stream);
}

Status FileReferences::find() {
    if (!wanted()) return {};
    if (Status status = check_single(); !status.ok()) return status;
    return on_root([&] { return find_paths(); });
}

Status FileReferences::drop() {
    if (!kept() || !file_.options.live) return {};
    Status status = own() ? reference_.remove() : Status{};
    if (status.ok() && streamed()) status = stream_.drop(file_.path, file_.options.durable);
    return status;
}

Status FileReferences::begin() {
    if (Status status = check_single(); !status.ok()) return status;
    return on_root([&] { return drop(); });
}

Status FileReferences::write_own(std::int64_t least_records) {
    ReferencedFile file{file_.path, file_.data_path, {}};
    Status status = reference_name(file_.path, reference_.path(), file.name);
    ReferenceOptions options;
    options.least_records = least_records;
    JoinedReferences made;
    if (status.ok()) status = make_references({&file, 1}, options, made);
    if (status.ok() && !made.files.empty()) {
        status = reference_.write(made.text(false), file_.options.durable);
        written_ = status.ok();
    }
    return status;
}

/// @param replaced  the complete file is about to replace another one of the same name
Status FileReferences::write_stream(std::int64_t least_records, bool replaced) {
    ReferencedFile file{file_.path, file_.data_path, {}};
    Status status = reference_name(file_.path, stream_.path(), file.name);
    ReferenceOptions options;
    options.least_records = least_records;
    options.grows = true;
    return status.ok() ? stream_.write(file, options, replaced, file_.options.durable) : status;
}

Status FileReferences::publish_both(bool named) {
    const bool durable = file_.options.durable;
    Status first;
    if (written_ && named) first = reference_.publish(durable);
    if (written_ && !named) reference_.discard();
    written_ = false;
    if (!named) stream_.discard();
    Status second = named ? stream_.publish(durable) : Status{};
    return first.ok() ? second : first;
}

Status FileReferences::refresh() {
    if (!kept() || !file_.options.live) return {};
    return on_root([&] {
        // Before the first record, the file may be shorter than its header says, so wait for a
        // record.
        Status first = own() ? write_own(1) : Status{};
        Status second = streamed() ? write_stream(1, false) : Status{};
        Status published = publish_both(true);
        if (!first.ok()) return first;
        return second.ok() ? published : second;
    });
}

Status FileReferences::prepare() {
    if (!kept()) return {};
    return on_root([&] {
        Status first, second;
        if (own()) {
            first = write_own(0);
            // Remove existing references in any case: they would be wrong for the new file.
            Status removed = reference_.remove();
            if (first.ok()) first = std::move(removed);
            if (!first.ok()) first.text += " (the file is complete, but has no references)";
        }
        if (streamed()) {
            second = write_stream(0, !file_.options.live);
            if (!second.ok())
                second.text +=
                    fmt::format(" (the file is complete, but is not in {})", stream_.path());
        }
        return first.ok() ? second : first;
    });
}

Status FileReferences::publish(bool named) {
    if (!kept()) return {};
    return on_root([&] { return publish_both(named); });
}

}  // namespace thalweg::detail
