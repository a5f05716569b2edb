// SPDX-License-Identifier: Apache-2.0
#include "dataset/file_references.hpp"

#include <sys/stat.h>

#include "storage/posix/paths.hpp"
#include "storage/zarr/references.hpp"

namespace thalweg::detail {

/// @note Collective
template <class Do>
Status FileReferences::on_root(Do&& act) {
    return file_.team.agree(
        alone([&]() -> Status { return file_.team.rank() == 0 ? act() : Status{}; }));
}

/// `yes`: beside the file. A folder: in it, by the file's name.
Status FileReferences::find_path() {
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
    return reference_.check();
}

Status FileReferences::find() {
    if (!wanted()) return {};
    if (file_.in_files())
        return failure(TW_ESETTING, "{}: zarr_references={} is not possible with tile_files=yes",
                       file_.path, file_.options.references);
    return on_root([&] { return find_path(); });
}

Status FileReferences::begin() {
    if (!wanted() || !file_.options.live) return {};
    return on_root([&] { return reference_.remove(); });
}

Status FileReferences::write(std::int64_t least_records, bool& written) const {
    ReferencedFile file{file_.path, file_.data_path, {}};
    Status status = reference_name(file_.path, reference_.path(), file.name);
    ReferenceOptions options;
    options.least_records = least_records;
    std::string text;
    if (status.ok()) status = make_references({&file, 1}, options, text);
    written = status.ok() && !text.empty();
    if (written) status = reference_.write(text, file_.options.durable);
    return status;
}

Status FileReferences::refresh() {
    if (!kept() || !file_.options.live) return {};
    return on_root([&] {
        bool written = false;  // before there is a record, a file may be shorter than it says
        Status status = write(1, written);
        return status.ok() && written ? reference_.publish(file_.options.durable) : status;
    });
}

Status FileReferences::prepare() {
    if (!kept()) return {};
    Status status = on_root([&] {
        bool written = false;
        Status made = write(0, written);
        // Whatever came out: they would not be right for the file that comes.
        Status removed = reference_.remove();
        return made.ok() ? removed : made;
    });
    if (!status.ok()) status.text += " (the file is complete, but has no references)";
    return status;
}

Status FileReferences::publish(bool named) {
    if (!kept()) return {};
    return on_root([&] {
        if (named) return reference_.publish(file_.options.durable);
        reference_.discard();
        return Status{};
    });
}

}  // namespace thalweg::detail
