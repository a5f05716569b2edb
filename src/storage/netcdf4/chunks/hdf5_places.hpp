// Finds the places of chunks by HDF5. Used by the model's thread only, as HDF5 itself.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/netcdf4/chunks/chunk_reader.hpp"
#include "storage/netcdf4/chunks/hdf5_view.hpp"
#include "storage/posix/opened_file.hpp"

namespace thalweg::detail {

class Hdf5Places final : public ChunkReader::Finder {
public:
    /// @param file    the file, which is opened when it is needed
    /// @param opened  its identity; like the other arguments, it must outlive this object
    Hdf5Places(const std::string& path, const Definitions& definitions,
               const std::vector<StoredVariable>& stored, ReadFile& file, const OpenedFile& opened)
        : path_(path), definitions_(definitions), stored_(stored), file_(file), opened_(opened) {}
    ~Hdf5Places() { close(); }
    Hdf5Places(const Hdf5Places&) = delete;
    Hdf5Places& operator=(const Hdf5Places&) = delete;

    /// Begins a read, during which a changed file is opened again once.
    void begin() { looked_again_ = false; }
    /// Closes the file in HDF5 until the next call.
    void close();
    Status find(int variable, const Cell& cell, StoredChunk& place) override;
    /// Does the same without opening the file again. Fails if HDF5 does not find the chunk and the
    /// file has changed.
    Status find_steady(int variable, const Cell& cell, StoredChunk& place);
    Status read_by_hdf5(int variable, const Cell& cell, char* to) override;

private:
    const StoredVariable& of(int variable) const { return stored_[variable]; }
    Status open_set(int variable, hid_t& set);
    Status look_up(int variable, const Cell& cell, StoredChunk& place);
    Status check_place(int variable, const StoredChunk& place) const;
    bool look_again();

    const std::string& path_;
    const Definitions& definitions_;
    const std::vector<StoredVariable>& stored_;
    ReadFile& file_;
    const OpenedFile& opened_;
    std::unique_ptr<Hdf5View> view_;
    std::vector<hid_t> sets_;    ///< data set of each variable; negative if it is not open
    bool looked_again_ = false;  ///< the file was already reopened during this read
};

}  // namespace thalweg::detail
