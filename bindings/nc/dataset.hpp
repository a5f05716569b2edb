// An open file: the definitions that the program sees, and behind them one of four states. The
// interfaces derive from it and add how data are put.
//
// defining  a new file of the library whose definitions have not been handed over: they are when
//           data come, so that redef costs nothing until then
// writing   a file of the library that is written (new, or appended to)
// reading   a file of the library that is read; also one opened for writing, until something is put
// serial    a netCDF-4 file that the root writes with netCDF-C, as the library does not have its
//           definitions or cannot continue it
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "copies.hpp"
#include "grid.hpp"
#include "serial.hpp"
#include "session.hpp"
#include "table.hpp"

namespace thalweg::nc {

enum class Format { cdf1, cdf2, cdf5, netcdf4, netcdf4_classic };

// The settings of the writers.
struct Writers {
    int number = 0, first = 0, stride = 1;  // number 0: the library chooses the writers
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
    int root() const { return root_; }  // rank whose arguments count where all should pass the same

    // @note These are collective
    void redef();
    void enddef();
    void sync();
    void flush();  // begins to write what was put, without waiting
    void close();

    // Definitions. Local, except in a netCDF-4 file in data mode.
    int def_dim(std::string name, Index length);
    int def_var(std::string name, nc_type type, std::vector<int> dims);
    void rename_dim(int dimid, std::string name);
    void rename_var(int varid, std::string name);
    void put_att(int varid, Attribute attribute);
    void rename_att(int varid, const std::string& name, std::string new_name);
    void del_att(int varid, const std::string& name);
    // Returns a variable's storage, to change its settings: throws NC_ELATEDEF once the variable is
    // in the file.
    Storage& storage(int varid);
    int set_fill(int mode);

    // Makes attributes the same as on the root.
    // @note Collective, if some were put since the last time
    void agree_attributes();

    // Reads each rank's section.
    // @param error  error in this rank's arguments, which is thrown on all ranks
    // @note Collective
    void get_section(int varid, const Index* start, const Index* count, const Index* stride,
                     nc_type type, void* data, Error error);
    // Returns a variable's storage, present or planned.
    // @note Collective
    Storage inquire_storage(int varid);

protected:
    enum class State { defining, writing, reading, serial };

    Dataset(Session& session, const Writers& writers, std::string path);

    // @note Both are collective
    void create(Format format, bool clobber);
    void open(bool writable);

    Session& session_;
    std::string settings_;
    int root_;
    std::string path_;
    Format format_ = Format::cdf2;
    State state_ = State::defining;
    bool writable_ = true, define_ = true;
    bool fill_is_free_ = false;  // values of `_FillValue` are not checked before definitions end
    bool continues_in_place_ = false;  // files that it opens, if the library can
    bool shares_attributes_ = true;    // inquiries about attributes return those of the root
    bool dirty_ = false;               // data were put since the last sync
    int fill_mode_ = NC_NOFILL;
    Table table_;
    tw_file file_ = nullptr;
    std::unique_ptr<Serial> serial_;  // kept open while the file is read between two writes
    std::vector<Edit> edits_;  // changed definitions that the file lacks; empty in a new file
    std::vector<std::pair<int, std::string>> fresh_;  // attributes put since the last agreement
    std::size_t variables_in_file_ = 0;
    Index pending_ = 0;  // bytes put by some rank since the last step
    Copies copies_;      // arrays that the library has not written
    Error late_;         // error of a put, which the other ranks learn at the next collective call
    Index late_put_ = -1;  // number of the put that failed; -1: none
    Index put_calls_ = 0;  // puts so far, the same on every rank

    bool is_classic_model() const { return format_ == Format::netcdf4_classic; }
    void check(int status, const std::string& where = "") const;
    void adopt();              // takes the definitions from a file that is read
    void need_define_mode();   // throws unless the file is in define mode
    void need_data_mode();     // throws unless the file is in data mode
    void settle_attributes();  // passes new attributes to the library
    void add_attribute_edits(const std::vector<std::pair<int, std::string>>& put);
    void hand_over();
    void define_all(bool adopted);
    void check_sizes() const;
    void add_rename(Edit::Kind kind, int id, const std::string& old, const std::string& name);
    bool keeps_definitions() const;
    void make_edits();
    void complete();  // closes the library's file, and waits until it is complete
    void open_for_reading();
    void open_for_writing();
    void continue_file();
    void begin_writing();
    void begin_reading();
    void end_step();
    void handed_over(int status);  // status of passing a step to the library
    virtual void step_ended() {}   // called when the file contains what was put
    virtual void edits_begin() {}  // called before the file is replaced to change its definitions
    void keep_late(const Error& error);
    // Errors and data that some rank has and the others may not know.
    struct News {
        bool late;     // some rank has an error that not every rank knows
        bool dirty;    // some rank has data that are not synced
        bool pending;  // some rank has data that are not written
    };
    News compare() const;
    void tell_late(const News& news);  // throws late errors on all ranks
    // @return storage of a variable in a file that is read, or was synced.
    Storage storage_in_file(const Variable& v) const;
    void ask_netcdf(Variable& v);

    Error put_box(const Variable& v, const Index* start, const std::vector<Index>& count,
                  const Index* stride, nc_type type, const void* data);
    void check_section(const Variable& v, const Index* start, const Index* count,
                       const Index* stride, bool reading) const;
};

}  // namespace thalweg::nc
