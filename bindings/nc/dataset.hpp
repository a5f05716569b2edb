// An open file: the definitions that the program sees, and behind them one of four states. The
// interfaces derive from it and add how data are put.
//
// defining  a new file of the library, which does not have its definitions yet: it gets them with
//           the first data, so that redef costs nothing until then
// writing   a file of the library that is written (new, or appended to)
// reading   a file of the library that is read; also one opened for writing, until something is put
// serial    a netCDF-4 file that the root writes with netCDF-C, as the library does not have its
//           definitions or cannot continue it
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "copies.hpp"
#include "grid.hpp"
#include "serial.hpp"
#include "session.hpp"
#include "storage/header_padding.hpp"
#include "table.hpp"

namespace thalweg::nc {

enum class Format { cdf1, cdf2, cdf5, netcdf4, netcdf4_classic };
const char* name_of_format(Format format);  // name in the setting `format`

// The ranks that write, as settings of a file.
struct Writers {
    int number = 0, first = 0, stride = 1;  // if number is 0, the library chooses the writers
};

class Dataset {
public:
    virtual ~Dataset();
    Dataset(const Dataset&) = delete;
    Dataset& operator=(const Dataset&) = delete;

    const std::string& path() const { return path_; }
    int format() const;  // a value of NC_FORMAT_...
    bool is_netcdf4() const { return format_ == Format::netcdf4 || is_classic_model(); }
    Table& table() { return table_; }
    MPI_Comm comm() const { return session_.comm(); }
    int root() const { return root_; }  // rank whose arguments count

    // @note The following functions are collective.
    void redef();
    void enddef();
    void sync();
    void flush();  // begins to write the data that were put, without waiting
    void close();

    // Definitions. Local, except in a netCDF-4 file in data mode.
    int def_dim(std::string name, Index length);
    int def_var(std::string name, nc_type type, std::vector<int> dims);
    void rename_dim(int dimid, std::string name);
    void rename_var(int varid, std::string name);
    void put_att(int varid, Attribute attribute);
    void rename_att(int varid, const std::string& name, std::string new_name);
    void del_att(int varid, const std::string& name);
    // Returns a variable's storage, to change its settings. Throws NC_ELATEDEF if the file already
    // contains the variable.
    Storage& storage(int varid);
    int set_fill(int mode);
    // Sets the free space and the alignment of a new classic file, as nc__enddef does. The root's
    // values are used.
    void set_spacing(const detail::HeaderPadding& spacing) { spacing_ = spacing; }

    // Makes the attributes on all ranks equal to those of the root.
    // @note Collective, if attributes were put since the last call
    void agree_attributes();

    // Reads a section on each rank.
    // @param error error in this rank's arguments, which is thrown on all ranks
    // @note Collective
    void get_section(int varid, const Index* start, const Index* count, const Index* stride,
                     nc_type type, void* data, const Error& error);
    // Returns the storage of a variable, as it is in the file or will be.
    // @note Collective
    Storage inquire_storage(int varid);

protected:
    enum class State { defining, writing, reading, serial };

    Dataset(Session& session, const Writers& writers, std::string path);

    // @note create() and open() are collective.
    void create(Format format, bool clobber);
    void open(bool writable);

    Session& session_;
    std::string settings_;
    int root_;
    std::string path_;
    Format format_ = Format::cdf2;
    State state_ = State::defining;
    bool writable_ = true, define_ = true;
    bool fill_is_free_ = false;  // values of `_FillValue` are checked only when definitions end
    bool continues_in_place_ = false;  // existing files are continued by the library if it can,
                                       // otherwise by one rank
    bool shares_attributes_ = true;    // inquiries return the root's attributes
    bool dirty_ = false;               // data were put since the last sync
    int fill_mode_ = NC_NOFILL;
    // HeaderPadding that the program wants in a new classic file.
    std::optional<detail::HeaderPadding> spacing_;
    Table table_;
    tw_file file_ = nullptr;
    std::unique_ptr<Serial> serial_;  // stays open while the file is read between two writes
    std::vector<Edit> edits_;  // changes of definitions that are not in the file yet; empty in a
                               // new file
    std::vector<std::pair<int, std::string>> fresh_;  // attributes that were put since the ranks
                                                      // last agreed on them
    std::size_t variables_in_file_ = 0;
    Index pending_ = 0;    // number of bytes that any rank has put since the last step
    Copies copies_;        // copies of arrays that the library has not written yet
    Error late_;           // error of a put, which the other ranks learn of at the next collective
                           // call
    Index late_put_ = -1;  // number of the put that failed; -1: none
    Index put_calls_ = 0;  // number of puts so far, the same on every rank

    bool is_classic_model() const { return format_ == Format::netcdf4_classic; }
    void check(int status, const std::string& where = "") const;
    void adopt();             // takes over the definitions of a file that is read
    void need_define_mode();  // throws unless the file is in define mode
    void begin_definitions();
    void need_data_mode();     // throws unless the file is in data mode
    void settle_attributes();  // passes new attributes to the library
    void add_attribute_edits(const std::vector<std::pair<int, std::string>>& put);
    void hand_over();
    void define_all(bool adopted);
    void check_sizes() const;
    void check_bytes(const std::string& name, nc_type type, const std::vector<int>& dims);
    void add_rename(Edit::Kind kind, int id, const std::string& old, const std::string& name);
    bool keeps_definitions() const;
    void make_edits();
    void complete();  // closes the library's file and waits until it is complete
    void open_for_reading();
    void open_for_writing();
    void continue_file();
    void begin_writing();
    void begin_reading();
    void end_step();
    void handed_over(int status);  // releases copies after a step was handed to the library; throws
                                   // if `status` is an error
    // Called when the library could not write.
    [[noreturn]] virtual void fail(const Error& error) { throw error; }
    virtual void step_ended() {}   // called when the file contains what was put
    virtual void laid_out() {}     // called when the header of a new file has been written
    virtual void edits_begin() {}  // called before the file is replaced to change its definitions
    virtual void definitions_begin() {}  // called before define mode begins in an existing file
    void keep_late(const Error& error);
    // Errors and data of some ranks, of which the others may not know.
    struct News {
        bool late;     // some rank has an error that not all ranks know
        bool dirty;    // some rank has data that are not synced
        bool pending;  // some rank has data that are not written yet
    };
    News compare() const;
    void tell_late(const News& news);  // throws late errors on all ranks
    // Returns the storage of a variable in a file that is read, or that was synced.
    Storage storage_in_file(const Variable& v) const;
    void ask_netcdf(Variable& v);

    Error put_box(const Variable& v, const Index* start, const std::vector<Index>& count,
                  const Index* stride, nc_type type, const void* data);
    void check_section(const Variable& v, const Index* start, const Index* count,
                       const Index* stride, bool reading) const;
};

}  // namespace thalweg::nc
