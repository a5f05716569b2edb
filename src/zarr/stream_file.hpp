// The references file of a stream, which several runs may write.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "publish/write_lock.hpp"
#include "zarr/joined_references.hpp"
#include "zarr/reference_file.hpp"
#include "zarr/references.hpp"

namespace thalweg::detail {

/// Updates the references of a stream. All functions are local, for one rank. The references are
/// locked from reading them to replacing them.
class StreamFile {
public:
    void set_path(std::string path) { file_ = ReferenceFile(std::move(path)); }
    const std::string& path() const { return file_.path(); }

    /// Checks that the references can be written, as ReferenceFile::check() does. An existing file
    /// of this name must contain references of a stream.
    /// @return TW_OK, TW_EIO, TW_EEXISTS
    Status check() const {
        return file_.check(stream_begin, "the references of a stream (zarr_stream)");
    }

    /// Removes a file from the references. Must be called before the file's data change.
    /// @param path  path of the data file
    /// @return TW_OK, TW_EINUSE, TW_EIO, TW_EFORMAT
    Status drop(const std::string& path, bool durable);

    /**
     * Adds a file to the references and writes them under a temporary name. Keeps the lock until
     * publish() or discard(), one of which must follow. Writes nothing if the file has fewer than
     * least_records.
     * @param replaced  the file replaces another one of the same name, whose references are removed
     * @return TW_OK; or the error of drop(), make_references() or JoinedReferences::add()
     */
    Status write(const ReferencedFile& file, const ReferenceOptions& options, bool replaced,
                 bool durable);
    /// Gives the references their final name. Does nothing if write() has written nothing because
    /// the file had too few records.
    Status publish(bool durable);
    void discard();

private:
    Status begin(JoinedReferences& stream);
    Status take_out(JoinedReferences& stream, const std::string& name, bool durable);
    void find_fixed(JoinedReferences& stream) const;
    Status add(const ReferencedFile& file, const ReferenceOptions& options, bool replaced,
               bool durable);

    ReferenceFile file_;
    WriteLock lock_;
    bool written_ = false;
};

}  // namespace thalweg::detail
