// The file in which the references of a stream are, which several runs may write.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "publish/write_lock.hpp"
#include "zarr/reference_file.hpp"
#include "zarr/references.hpp"
#include "zarr/stream.hpp"

namespace thalweg::detail {

/// All of its functions are local, for one rank. Whoever changes the references holds their lock
/// from reading them until they are replaced.
class StreamFile {
public:
    void set_path(std::string path) { file_ = ReferenceFile(std::move(path)); }
    const std::string& path() const { return file_.path(); }

    /// Whether it can be written: see ReferenceFile::check(); and nothing but references of a
    /// stream has its name. @return TW_OK, TW_EIO, TW_EEXISTS
    Status check() const;

    /// Takes a file out, before its data change. @param path  its own
    /// @return TW_OK, TW_EINUSE, TW_EIO, TW_EFORMAT
    Status drop(const std::string& path, bool durable);

    /**
     * Makes the references with a file, under a temporary name, and keeps the lock for publish() or
     * discard(), one of which has to follow. Without least_records there are none.
     * @param replaced  the file takes the place of another one of its name, whose references go
     *                  now
     * @return TW_OK; that of drop(), make_references(), ReferenceStream::add()
     */
    Status write(const ReferencedFile& file, const ReferenceOptions& options, bool replaced,
                 bool durable);
    /// Gives them their name. Does nothing if there are none: the file had too few records.
    Status publish(bool durable);
    void discard();

private:
    Status begin(ReferenceStream& stream);
    Status take_out(ReferenceStream& stream, const std::string& name, bool durable);
    void find_fixed(ReferenceStream& stream) const;
    Status add(const ReferencedFile& file, const ReferenceOptions& options, bool replaced,
               bool durable);

    ReferenceFile file_;
    WriteLock lock_;
    bool written_ = false;
};

}  // namespace thalweg::detail
