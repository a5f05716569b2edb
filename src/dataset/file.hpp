// A file that is written: in define mode, in data mode, closed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "dataset/data_mode.hpp"

namespace thalweg::detail {

class File {
public:
    /// @param serial  number of the file in its session, the same on every rank
    File(Team& team, SessionResources& session, std::string path, int serial, FileOptions options)
        : file_(team, session, std::move(path), serial, options), asked_(std::move(options)) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    /// Returns the state that all parts of the file share.
    const FileContext& about() const { return file_; }
    /// Returns this rank's figures so far.
    FileFigures figures() const { return data_ ? data_->figures() : file_.figures; }

    // The following functions are for reading a file that is being written, after define mode.

    /// Tests if data may be written between calls.
    bool written_any_time() const { return data_ && data_->writes_any_time(); }
    /// Returns the number of records that this rank knows of after a tw_sync. At least one rank
    /// knows of all records.
    std::int64_t counted_records() const;
    /// Returns how a variable is stored, if this rank knows it.
    std::optional<VariableStorage> stored(int variable) const {
        return data_ ? data_->stored(variable) : std::nullopt;
    }

    DefineMode& definitions() { return define_; }
    /// Sets the memory in which an interface packs values. Local.
    void use_copies(std::shared_ptr<NodeCopies> copies) { file_.copies = std::move(copies); }

    /// The words of an agreement that precedes begin() with a new file; see FileNames. The ranks
    /// need one exchange fewer if they call both functions. Local.
    void claim_early(FileNames::EarlyWords words) { names_.claim_early(words); }
    void accept_early(FileNames::EarlyWords words) { names_.accept_early(words); }
    /// Creates the file, or opens the existing one.
    /// @note Collective, as are all following functions without the word "Local"
    Status begin();
    Status end_definitions();
    /// Ends define mode at the first call that needs data mode. Later calls are local.
    Status begin_data();
    /// Returns the data mode, which puts data and ends steps, after begin_data(). Local.
    DataMode& data_mode() { return *data_; }
    Status sync(bool durable);
    /// @param later  if given, only passes all data to the service if that is possible: receives
    ///               true if complete() must follow, on every rank alike
    Status close(bool* later = nullptr);
    /// After such a close(), tests if complete() would not have to wait on this rank. Local.
    bool written() const { return data_->finished(); }
    /// Waits until all data are written, and gives the file its final name.
    /// @param status  status of earlier work; after an error the file keeps its temporary name
    Status complete(Status status = {});
    /// Closes the file without giving it its final name.
    /// @return `why`, an error that all ranks know
    Status abandon(Status why);
    /// Closes the file without an agreement of the ranks, on all of them, because some rank has
    /// given it up.
    void leave(const Status& why);
    /// From now on, lets another file use the name. This file can no longer be completed. Local.
    void release_names() { names_.release(); }

private:
    Status take_names();
    bool has_data_mode() const { return data_ && data_->begun(); }
    Status begin_file(bool alike, const RankResources& resources);
    Status publish(Status mine);
    Status end();

    FileContext file_;
    const FileOptions asked_;  ///< options as the user has set them
    FileNames names_{file_};
    DefineMode define_{file_};
    std::unique_ptr<DataMode> data_;  ///< set in data mode, until the file is closed
};

}  // namespace thalweg::detail
