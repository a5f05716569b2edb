// What one rank does with netCDF-C, where the library has no way: definitions in a file that has
// data, and netCDF-4 files that exist or that have filters or chunks, which are written by the root
// from the parts that the others send.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "error.hpp"
#include "grid.hpp"
#include "table.hpp"

namespace thalweg::pio {

// A definition that is to be made in a file.
struct Edit {
    enum class Kind {
        dimension,
        variable,
        attribute,
        delete_attribute,
        rename_attribute,
        rename_variable,
        rename_dimension
    };
    Kind kind;
    int id = 0;  // of the dimension, or of the variable, which may be NC_GLOBAL
    std::string name, new_name;
    Attribute attribute{};
};

// Makes the definitions in a file: whoever is killed meanwhile leaves the old file or the new one,
// and perhaps a copy, NAME.redef, which the next change replaces. On one rank.
void edit_file(const std::string& path, const std::vector<Edit>& edits, const Table& table);

// A netCDF-4 file, open on one rank.
class Serial {
public:
    Serial(MPI_Comm comm, int root) : comm_(comm), root_(root) {}
    ~Serial();
    Serial(const Serial&) = delete;
    Serial& operator=(const Serial&) = delete;

    // @note Collective, all of these
    void create(const std::string& path, const Table& table, int mode);
    void open(const std::string& path);
    void sync();
    void close();
    // The part of each rank: dofs of the space that begins at start, and the values, of the
    // variable's type. What no rank has keeps its value, or gets the fill value in a new record;
    // whole: there is nothing of the kind.
    void write(int varid, const std::vector<Index>& start, const std::vector<Index>& count,
               const std::vector<Index>& dofs, const std::string& values, const std::string& fill,
               bool whole);
    // The root's values.
    void put(int varid, const std::vector<Index>& start, const std::vector<Index>& count,
             const std::vector<Index>& stride, nc_type type, const void* values);

private:
    MPI_Comm comm_;
    int root_;
    int ncid_ = -1;
    std::string path_;

    void check(int code) const;
    bool exists(int varid, const std::vector<Index>& start) const;
};

}  // namespace thalweg::pio
