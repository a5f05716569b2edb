// The definitions of an open file, as the program sees and makes them. They are local to a rank.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nc/base/error.hpp"
#include "nc/base/types.hpp"
#include "nc/definitions/table.hpp"
#include "storage/header_padding.hpp"

namespace thalweg::nc {

// A change of the definitions in a file.
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
    int id = 0;  // number of the dimension or variable; NC_GLOBAL: the file
    std::string name, new_name;
    Attribute attribute{};
};

// Changes of definitions that are not in the file yet.
struct Changes {
    // False for a new file, which gets all definitions when it is written first.
    bool recorded = false;
    std::vector<Edit> edits;
    // Attributes that were put since the ranks last agreed on them: their variables and names.
    std::vector<std::pair<int, std::string>> fresh;

    void add(Edit edit) {
        if (recorded) edits.push_back(std::move(edit));
    }
    // Adds a rename. A second rename of the same object replaces the first: netCDF-C cannot read
    // some files after several renames.
    void rename(Edit::Kind kind, int id, const std::string& old, const std::string& name);
    // Adds the attributes that were put since the last call.
    void add_fresh(Table& table);
    bool are_attributes() const;
};

class Definitions {
public:
    // The attributes that a file gets: those of one rank, or those that each rank has put, which
    // must be the same.
    enum class Attributes { of_root, of_each };

    Definitions(std::string file, Attributes whose) : attributes(whose), path(std::move(file)) {}

    const Attributes attributes;
    std::string path;
    Format format = Format::cdf2;
    bool zarr = false;  // the file is a Zarr store, which has the data model of netCDF-4
    Table table;
    Changes changes;
    bool fill_is_free = false;  // values of `_FillValue` are checked only when definitions end
    int fill_mode = NC_NOFILL;
    // Free bytes that the program wants in a new classic file. The root's values are used.
    std::optional<detail::HeaderPadding> spacing;

    // Takes over the definitions of an existing file.
    void adopt(Format its_format, Table its_table);
    // Notes that the file has these definitions now.
    void written();
    void set_writable(bool writable) { writable_ = writable; }

    bool is_netcdf4() const { return nc::is_netcdf4(format); }
    // Returns the byte order of values in the file.
    Order order() const { return is_netcdf4() ? Order::native : Order::big_endian; }
    bool is_writable() const { return writable_; }
    bool is_new() const { return !changes.recorded; }
    bool in_file(int varid) const;
    bool in_define_mode() const { return define_; }
    void set_define_mode(bool define) { define_ = define; }
    // Tests if define mode has ended at least once.
    bool have_ended() const { return ended_once_; }
    void need_write() const;
    // Throws unless the file is in define mode, which begins by itself in a netCDF-4 file.
    void need_define();
    void begin();  // begins define mode
    void end();    // ends it
    // Keeps the present definitions, to which undo() returns.
    void remember();
    void undo();

    int def_dim(std::string name, Index length);
    int def_var(std::string name, nc_type type, std::vector<int> dims);
    // In data mode, a new name in a classic file must not be longer than the old one.
    void rename_dim(int dimid, std::string name);
    void rename_var(int varid, std::string name);
    void rename_att(int varid, const std::string& name, std::string new_name);
    void put_att(int varid, Attribute attribute);
    void del_att(int varid, const std::string& name);
    // Returns a variable's storage, to change its settings. Throws NC_ELATEDEF if the file already
    // contains the variable.
    Storage& storage(int varid);

private:
    struct Kept {
        Table table;
        std::vector<Edit> edits;
    };

    bool writable_ = true, define_ = true;
    bool ended_once_ = false;
    std::size_t variables_in_file_ = 0;
    std::optional<Kept> kept_;  // definitions before define mode began
};

// Checks the limits of CDF-1 and CDF-2. The errors have netCDF's texts.
void check_sizes(const Definitions& definitions);

// Sets the fill mode. Returns the previous one.
int set_fill(Definitions& definitions, int mode);

// Makes the attributes that were put on all ranks equal to those of the root, if they count.
// @note Collective, if attributes were put since the last call
void agree_attributes(Definitions& definitions, MPI_Comm comm, int root);

}  // namespace thalweg::nc
