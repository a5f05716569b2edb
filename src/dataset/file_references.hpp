// The settings `zarr_references` and `zarr_stream` of a file: the paths of its Zarr references, and
// the times at which they are written. Rank 0 makes the references from the file: when it is
// complete, or while it is written, as soon as it is readable.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "service/file_context.hpp"
#include "zarr/stream_file.hpp"

namespace thalweg::detail {

class FileReferences {
public:
    explicit FileReferences(FileContext& file) : file_(file) {}

    /// Finds the paths of the references.
    /// @return TW_OK, TW_ESETTING (a set of tiles), TW_EIO, TW_EEXISTS
    /// @note Collective, as are the following functions; the same status on every rank
    Status find();
    /// Removes old references of an existing file that changes in place.
    /// @return as for find()
    Status begin();
    /// Removes old references. Local; rank 0 calls this while it claims the name of a new file, and
    /// in begin().
    Status drop();
    /// After a sync, writes references to the counted records, if the file already has its final
    /// name and has records.
    Status refresh();
    /// Before the complete file gets its final name, writes its references under a temporary name,
    /// and removes those of the file that it replaces.
    Status prepare();
    /// After the file has got its final name, renames its references to theirs.
    /// @param named  the file has its final name; otherwise the references are discarded
    Status publish(bool named);

private:
    bool own() const { return file_.options.references != "no"; }
    bool streamed() const { return !file_.options.stream.empty(); }
    bool wanted() const { return own() || streamed(); }
    /// Tests if references are wanted and possible. With storage=memory there is no file to refer
    /// to.
    bool kept() const { return wanted() && file_.options.storage != "memory"; }
    template <class Do>
    Status on_root(Do&& act);
    Status check_single() const;
    Status find_paths();
    Status write_own(std::int64_t least_records);
    Status write_stream(std::int64_t least_records, bool replaced);
    Status publish_both(bool named);

    FileContext& file_;
    // The following members are used on rank 0 only.
    ReferenceFile reference_;
    StreamFile stream_;
    /// The references of this file alone are written, under their temporary name.
    bool written_ = false;
};

}  // namespace thalweg::detail
