// A file whose definitions have ended, until it is closed: what is put, and what becomes of it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "dataset/define_mode.hpp"
#include "dataset/file_names.hpp"
#include "dataset/output_watch.hpp"
#include "dataset/part_puts.hpp"

namespace thalweg::detail {

class DataMode {
public:
    /// @param contents  of a file that is there; else null
    DataMode(FileContext& file, const Source* contents);
    DataMode(const DataMode&) = delete;
    DataMode& operator=(const DataMode&) = delete;

    /// Chooses what the settings leave open, creates or opens the file, and makes its service.
    /// @param told      by all ranks
    /// @param asked     the options before anything was chosen
    /// @note Collective; the status is the same on every rank
    Status begin(const ToldOfRoom& told, const FileOptions& asked, FileNames& names);
    bool begun() const { return begun_; }
    /// Whether there is something to close, also where begin() has failed.
    bool storage_open() const { return storage_open_; }

    // See File.
    Status put(const std::string& name, const tw_array& array, bool deferred);
    Status put_box(const std::string& name, const BoxToPut& put);
    Status put_record(const std::string& name, const RecordToPut& put);
    Status end_step();
    Status sync(bool durable) { return service_->sync(durable); }
    /// See Service. @note Collective
    Status fill(std::span<const int> variables) { return service_->fill(variables); }

    /// Everything that the ranks have to do together before the file can be completed. With a
    /// service the writers have it all then, and may still be at it.
    /// @note Collective, as are the next two
    Status hand_over(DefineMode& definitions);
    /// Waits until everything is written, or after a failure the steps that all ranks have ended.
    /// @param good  nothing has failed so far
    Status finish(bool good);
    /// Ends the storage. @param good  all of it was written
    Status close(bool good);
    /// For the next file of the session. Local.
    void note_end() { watch_->note_end(figures()); }

    /// Records of the file after sync(), as far as this rank knows: some rank knows all.
    std::int64_t records() const { return service_->records(); }
    /// How a variable is stored, where this rank knows.
    std::optional<VariableStorage> stored(int variable) const {
        return target_.storage ? target_.storage->stored(variable) : std::nullopt;
    }
    bool writes_any_time() const { return service_ && service_->writes_any_time(); }
    bool finished() const { return service_->finished(); }
    /// This rank's so far.
    FileFigures figures() const;

private:
    Status check(int variable, const tw_array& array, ArrayView& view) const;
    Status choose(const ToldOfRoom& told, const FileOptions& asked, FileNames& names);
    Status reconsider_service();

    FileContext& file_;
    const Source* contents_;
    Target target_;
    Batch batch_;
    std::unique_ptr<Service> service_;
    std::optional<PartPuts> parts_;
    std::optional<OutputWatch> watch_;
    bool storage_open_ = false;  ///< on the ranks, or by the servers
    bool begun_ = false;
    bool handed_over_ = false;  ///< the service has everything
};

}  // namespace thalweg::detail
