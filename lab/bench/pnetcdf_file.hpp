// A file written through PnetCDF only, for the two methods that do so.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "method.hpp"

namespace thalweg::bench {

/// Throws if a PnetCDF call failed.
void check_ncmpi(int status, const std::string& what);

class PnetcdfFile {
public:
    explicit PnetcdfFile(const Context& context);
    ~PnetcdfFile();
    PnetcdfFile(const PnetcdfFile&) = delete;
    PnetcdfFile& operator=(const PnetcdfFile&) = delete;

    /// Creates the file, defines the problem's variables and ends the definitions.
    void create(const std::string& path);
    void close();

    int id() const { return file_; }
    int variable(std::size_t i) const { return variables_[i]; }

    /// Returns start and count of this rank's part of a variable in a step. They are empty if all
    /// ranks hold the same value and another one writes it.
    void range(const Group& g, int step, std::vector<MPI_Offset>& start,
               std::vector<MPI_Offset>& count) const;

private:
    const Context context_;
    MPI_Info info_ = MPI_INFO_NULL;
    int file_ = -1;
    std::vector<int> variables_;
};

}  // namespace thalweg::bench
