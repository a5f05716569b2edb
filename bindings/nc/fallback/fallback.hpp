// Writes with netCDF-C, on one rank, files that the library cannot write: definitions in a file
// that has data, and netCDF-4 files that exist already or have definitions beyond the library. The
// root writes the parts that the others send.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nc/fallback/by_netcdf.hpp"
#include "nc/fallback/edits.hpp"
#include "nc/fallback/work_file.hpp"

namespace thalweg::nc {

// A netCDF-4 file that one rank writes by netCDF-C. It is a work file, which gets the name of the
// file when it is closed.
class Fallback {
public:
    Fallback(MPI_Comm comm, int root) : comm_(comm), root_(root) {}
    ~Fallback();
    Fallback(const Fallback&) = delete;
    Fallback& operator=(const Fallback&) = delete;

    // @note The following functions are collective.
    void create(const std::string& path, const Table& table, int mode);
    void open(const std::string& path, const Table& table);
    void sync();
    void pause();  // closes the work file, so that other programs can open it
    void resume();
    // Changes definitions while the file is paused.
    void edit(const std::vector<Edit>& edits, const Table& table);
    // Closes the file. After a failed write, restores the file as it was when it was opened, and
    // throws an error.
    void close();
    // Writes the part of each rank. `dofs` are the numbers of its elements in the section that
    // begins at `start`; values have the variable's type. Elements that no rank has keep their
    // values; in a new record they get the fill value. `whole` means that there are no such
    // elements.
    void write(int varid, const std::vector<Index>& start, const std::vector<Index>& count,
               const std::vector<Index>& dofs, const std::string& values, const std::string& fill,
               bool whole);
    // Writes the root's values.
    // @param fill  value for elements that do not fit the variable's type
    void put(int varid, const std::vector<Index>& start, const std::vector<Index>& count,
             const std::vector<Index>& stride, nc_type type, const void* values,
             const std::string& fill);

    const std::string& work_path() const { return work_path_; }  // the same on every rank

private:
    MPI_Comm comm_;
    int root_;
    int ncid_ = -1;
    std::string path_, work_path_;
    std::unique_ptr<WorkFile> work_;  // the work file; on the root only
    bool failed_ = false;             // a write has failed; known on the root only

    void begin(const std::string& path, WorkFile::Begin begin);
    void on_root(const std::function<void()>& action) const;
    void check(int code) const;
    void check_write(int code);
    void check_filters(int varid) const;
    void put_values(int varid, const std::vector<Index>& start, const std::vector<Index>& count,
                    const std::vector<Index>& stride, std::string& values);
    bool exists(int varid, const std::vector<Index>& start) const;
};

}  // namespace thalweg::nc
