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

    /// Returns this rank's start and count of a variable in a step; empty if another rank writes
    /// the value that all hold.
    void range(const Group& g, int step, std::vector<MPI_Offset>& start,
               std::vector<MPI_Offset>& count) const;

private:
    const Context context_;
    MPI_Info info_ = MPI_INFO_NULL;
    int file_ = -1;
    std::vector<int> variables_;
};

}  // namespace thalweg::bench
