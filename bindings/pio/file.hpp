// An open file: the definitions that the program sees, and behind them one of four states.
//
// defining  a new file of the library whose definitions have not been handed over: they are when
//           data come, so that redef costs nothing until then
// writing   a file of the library that is written (new, or appended to)
// reading   a file of the library that is read; also one opened for writing, until something is put
// serial    a netCDF-4 file that the root writes with netCDF-C: one that was there before, or whose
//           definitions the library does not have
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/thalweg.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "copies.hpp"
#include "grid.hpp"
#include "serial.hpp"
#include "session.hpp"
#include "table.hpp"

namespace thalweg::pio {

enum class Format { cdf1, cdf2, cdf5, netcdf4, netcdf4_classic };

// The settings of the writers.
struct Writers {
    int number = 0, first = 0, stride = 1;
};

class File {
public:
    // @param mode  netCDF's flags
    // @note Collective, both
    static std::unique_ptr<File> create(Session& session, const Writers& writers,
                                        const std::string& path, int iotype, int mode);
    static std::unique_ptr<File> open(Session& session, const Writers& writers,
                                      const std::string& path, int mode);
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    const std::string& path() const { return path_; }
    int format() const;  // a value of NC_FORMAT_...
    bool is_netcdf4() const { return format_ == Format::netcdf4 || is_classic_model(); }
    Table& table() { return table_; }
    MPI_Comm comm() const { return session_.comm(); }
    int root() const { return root_; }  // rank whose values count

    // @note Collective, all of these
    void redef();
    void enddef();
    void sync();
    void flush();  // writes what was put without waiting
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

    // @note Collective, all of these; write_darray only the first time, and when buffers are full
    void write_darray(int varid, Grid& grid, nc_type type, const void* data, Index n, int frame);
    void read_darray(int varid, Grid& grid, nc_type type, void* data, Index n, int frame);
    void put_section(int varid, const Index* start, const Index* count, const Index* stride,
                     nc_type type, const void* data);
    // @param error  error in this rank's arguments, which is thrown on all ranks
    void get_section(int varid, const Index* start, const Index* count, const Index* stride,
                     nc_type type, void* data, Error error);
    // Returns a variable's storage, present or planned.
    Storage inquire_storage(int varid);

    static void set_buffer_limit(Index bytes);

private:
    enum class State { defining, writing, reading, serial };

    // The grid for the dimensions of a variable, and the record.
    struct Place {
        std::shared_ptr<Grid> owner;  // set if the grid was made for this variable
        Grid* grid;
        Index record;
        Shape index;  // indices of additional leading dimensions
    };

    File(Session& session, const Writers& writers, std::string path);

    Session& session_;
    std::string settings_;
    int root_;
    std::string path_;
    Format format_ = Format::cdf2;
    State state_ = State::defining;
    bool writable_ = true, define_ = true;
    bool dirty_ = false;  // data were put since the last sync
    int fill_mode_ = NC_NOFILL;
    Table table_;
    tw_file file_ = nullptr;
    std::unique_ptr<Serial> serial_;  // kept while the file is read between writes
    std::vector<Edit> edits_;         // changes that the file lacks; empty while defining
    std::vector<std::pair<int, std::string>> fresh_;  // attributes put since the last agreement
    std::size_t variables_in_file_ = 0;
    Index pending_ = 0;  // bytes put by some rank since the last step
    // The puts of a variable since the last step: sections, or records by a decomposition.
    struct Put {
        bool section = false;
        std::map<Index, Index> records;  // serial number of the grid, by record
    };
    std::map<int, Put> puts_;
    Copies copies_;        // distributed arrays that the library has not written
    Error late_;           // of a put; the other ranks learn of it at the next collective call
    Index late_put_ = -1;  // number of the put that failed; -1: none
    Index put_calls_ = 0;  // puts so far, the same on every rank

    bool is_classic_model() const { return format_ == Format::netcdf4_classic; }
    void check(int status, const std::string& where = "") const;
    void adopt();              // takes the definitions from a file that is read
    void need_define_mode();   // needed for a definition
    void need_data_mode();     // needed for data
    void settle_attributes();  // passes new attributes to the library
    void hand_over();
    void define_all();
    void check_sizes() const;
    void make_edits();
    void complete();  // closes the library's file, and waits until it is complete
    void open_for_reading();
    void open_for_writing();
    void begin_writing();
    void begin_reading();
    void note(Index bytes);  // bytes that some rank is about to put
    void end_step();
    void handed_over(int status);  // data were written, or failed to be
    // Keeps puts in order: if two ranks put the same element in one step, either value may win, so
    // an element that another rank may put again comes with the next step. grid NULL: a section,
    // which the root puts.
    void order(int varid, Index record, const Grid* grid);
    void keep_late(const Error& error);
    // The state of a file, as if all ranks were one.
    struct News {
        bool late;     // some rank has an error that not every rank knows
        bool dirty;    // some rank has data that are not synced
        bool pending;  // some rank has data that are not written
    };
    News compare() const;
    void tell_late(const News& news);  // throws late errors on all ranks
    void ask_library(Variable& v);
    void ask_netcdf(Variable& v);

    std::vector<Place> places(const Variable& variable, Grid& grid, int frame, bool reading);
    std::string short_array(const Variable& v, const Grid& grid, Index n) const;
    tw_decomposition decomposition_of(const Variable& v, const Place& place, bool reading,
                                      tw_decomposition* made);
    Error put_copy(const Variable& v, const Place& place, tw_decomposition d, nc_type type,
                   const void* data);
    Error put_place(int varid, const Place& place, nc_type type, const void* data);
    Error put_box(const Variable& v, const Index* start, const std::vector<Index>& count,
                  const Index* stride, nc_type type, const void* data);
    Error put_serial(int varid, const Place& place, nc_type type, const void* data);
    void check_section(const Variable& v, const Index* start, const Index* count,
                       const Index* stride, bool reading) const;
};

}  // namespace thalweg::pio
