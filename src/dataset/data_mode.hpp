// A file from the end of its definitions until it is closed: its puts and its service.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "choose/choose_all.hpp"
#include "dataset/define_mode.hpp"
#include "dataset/file_names.hpp"
#include "dataset/part_puts.hpp"

namespace thalweg::detail {

class DataMode {
public:
    /// @param contents  contents of an existing file; null for a new file
    DataMode(FileContext& file, const Source* contents);
    DataMode(const DataMode&) = delete;
    DataMode& operator=(const DataMode&) = delete;

    /// Chooses the options that the settings leave open, creates or opens the file, and makes its
    /// service.
    /// @param resources  resources of all ranks, combined
    /// @param asked      options as the user has set them
    /// @note Collective; the status is the same on every rank
    Status begin(const RankResources& resources, const FileOptions& asked, FileNames& names);
    bool begun() const { return begun_; }
    /// Tests if a storage is open, which may be true even if begin() has failed.
    bool storage_open() const { return storage_open_; }

    // The following functions are described in thalweg.h.
    Status put(const std::string& name, const tw_array& array, bool deferred);
    /// Returns the object for puts that name their place in the file.
    PartPuts& parts() { return *parts_; }
    Status end_step();
    Status sync(bool durable) { return service_->sync(durable); }
    /// After sync(), fills variables so that they can be read; see Service. @note Collective
    Status fill(std::span<const int> variables) { return service_->fill(variables); }

    /// Does everything that the ranks must do together before the file can be completed. With a
    /// service, the writers then have all data, and may still be writing.
    /// @note Collective, as is the next function
    Status hand_over(DefineMode& definitions);
    /// Waits until everything is written (after an error, only the steps that all ranks have
    /// ended), and closes the storage.
    /// @param good  no error so far
    /// @param mine  receives a failure of this rank if all ranks have closed their storage early
    ///              (Agreed::closed_early); the caller makes the ranks agree
    Status close(bool good, Status& mine);

    /// Returns the byte order of packed values.
    Order order() const { return target_.order; }
    /// Returns the file's number of records that this rank knows after sync(). At least one rank
    /// knows all.
    std::int64_t records() const { return batch_.boxed ? batch_.file_records : batch_.record; }
    /// Returns the storage of a variable, if this rank knows it.
    std::optional<VariableStorage> stored(int variable) const {
        return target_.storage ? target_.storage->stored(variable) : std::nullopt;
    }
    /// Tests if data may be written between calls, on a thread or on servers.
    bool writes_any_time() const { return service_ && file_.options.service != "inline"; }
    bool finished() const { return service_->finished(); }
    /// Returns this rank's figures so far.
    FileFigures figures() const;

private:
    Status check(int variable, const tw_array& array, ArrayView& view) const;
    Status choose(const RankResources& resources, const FileOptions& asked, FileNames& names);

    FileContext& file_;
    const Source* contents_;
    Target target_;
    Batch batch_;
    std::unique_ptr<Service> service_;
    std::optional<PartPuts> parts_;
    std::int64_t ends_ = 0;      ///< number of this rank's tw_end_step calls
    bool storage_open_ = false;  ///< the storage is open, on the model's ranks or on the servers
    bool begun_ = false;
    bool handed_over_ = false;   ///< hand_over() has given all data to the service
    bool closed_early_ = false;  ///< see Agreed::closed_early; the same on every rank
};

}  // namespace thalweg::detail
