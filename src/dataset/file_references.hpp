// The settings `zarr_references` and `zarr_stream` of a file: where its Zarr references go, and
// when they are written. Rank 0 makes them of the file itself, when it is complete or readable
// while it is written.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "service/file_context.hpp"
#include "zarr/stream_file.hpp"

namespace thalweg::detail {

class FileReferences {
public:
    explicit FileReferences(FileContext& file) : file_(file) {}

    /// Finds where they go. @return TW_OK, TW_ESETTING (a set of tiles), TW_EIO, TW_EEXISTS
    /// @note Collective, as are the next ones; the same status on every rank
    Status find();
    /// Of a file that was there and changes under its own name, removes old ones. @return as find()
    Status begin();
    /// The same on rank 0, in the middle of taking the name of a new file. Local.
    Status drop();
    /// After a sync: refers to the records that are counted, if there are some and the file has its
    /// own name.
    Status refresh();
    /// Before the complete file gets its name: writes the references under a temporary name, and
    /// removes those to the file that is replaced.
    Status prepare();
    /// After that. @param named  whether the file has its name; else there are no references
    Status publish(bool named);

private:
    bool own() const { return file_.options.references != "no"; }
    bool streamed() const { return !file_.options.stream.empty(); }
    bool wanted() const { return own() || streamed(); }
    /// storage=memory keeps no file.
    bool kept() const { return wanted() && file_.options.storage != "memory"; }
    template <class Do>
    Status on_root(Do&& act);
    Status check_single() const;
    Status find_paths();
    Status write_own(std::int64_t least_records);
    Status write_stream(std::int64_t least_records, bool replaced);
    Status publish_both(bool named);

    FileContext& file_;
    // On rank 0:
    ReferenceFile reference_;
    StreamFile stream_;
    bool written_ = false;  ///< the file's own references, under their temporary name
};

}  // namespace thalweg::detail
