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

// Of the writers, as a setting.
struct Writers {
    int number = 0, first = 0, stride = 1;
};

class File {
public:
    // mode: netCDF's flags. @note Collective, both
    static std::unique_ptr<File> create(Session& session, const Writers& writers,
                                        const std::string& path, int iotype, int mode);
    static std::unique_ptr<File> open(Session& session, const Writers& writers,
                                      const std::string& path, int mode);
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    const std::string& path() const { return path_; }
    int format() const;  // NC_FORMAT_...
    bool is_netcdf4() const { return format_ == Format::netcdf4 || is_classic_model(); }
    Table& table() { return table_; }
    MPI_Comm comm() const { return session_.comm(); }
    int root() const { return root_; }  // whose values count

    // @note Collective, all of these
    void redef();
    void enddef();
    void sync();
    void flush();  // hands over what was put, and waits for nothing
    void close();

    // Definitions. Local, except in a netCDF-4 file in data mode.
    int def_dim(std::string name, Index length);
    int def_var(std::string name, nc_type type, std::vector<int> dims);
    void rename_dim(int dimid, std::string name);
    void rename_var(int varid, std::string name);
    void put_att(int varid, Attribute attribute);
    void rename_att(int varid, const std::string& name, std::string new_name);
    void del_att(int varid, const std::string& name);
    // For settings of a variable: throws NC_ELATEDEF once the variable is in the file.
    Storage& storage(int varid);
    int set_fill(int mode);

    // Attributes as the root has put them. @note Collective, if some were put since the last time
    void agree_attributes();

    // @note Collective, all of these; write_darray only the first time, and when buffers are full
    void write_darray(int varid, Grid& grid, nc_type type, const void* data, Index n, int frame);
    void read_darray(int varid, Grid& grid, nc_type type, void* data, Index n, int frame);
    void put_section(int varid, const Index* start, const Index* count, const Index* stride,
                     nc_type type, const void* data);
    // error: of this rank's arguments; it is that of all then.
    void get_section(int varid, const Index* start, const Index* count, const Index* stride,
                     nc_type type, void* data, Error error);
    // How a variable is stored in the file, or is to be.
    Storage inquire_storage(int varid);

    static void set_buffer_limit(Index bytes);

private:
    enum class State { defining, writing, reading, serial };

    // A grid over the dimensions of a variable, and of which record it is.
    struct Place {
        std::shared_ptr<Grid> owner;  // of a grid that was made for this variable
        Grid* grid;
        Index record;
        Shape index;  // of more dimensions in front
    };

    File(Session& session, const Writers& writers, std::string path);

    Session& session_;
    std::string settings_;
    int root_;
    std::string path_;
    Format format_ = Format::cdf2;
    State state_ = State::defining;
    bool writable_ = true, define_ = true;
    bool dirty_ = false;  // put since the last sync
    int fill_mode_ = NC_NOFILL;
    Table table_;
    tw_file file_ = nullptr;
    std::unique_ptr<Serial> serial_;                  // kept while the file is read between writes
    std::vector<Edit> edits_;                         // that the file lacks; none while defining
    std::vector<std::pair<int, std::string>> fresh_;  // attributes put since they were agreed on
    std::size_t variables_in_file_ = 0;
    Index pending_ = 0;  // bytes put by some rank since the last step
    // What was put of a variable since then: sections, or records by a decomposition.
    struct Put {
        bool section = false;
        std::map<Index, Index> records;  // and the grid's serial number
    };
    std::map<int, Put> puts_;
    Copies copies_;        // of distributed arrays that the library has not written
    Error late_;           // of a put on this rank, for all to know at the next meeting
    Index late_put_ = -1;  // the put that it is of; -1: none
    Index put_calls_ = 0;  // so far, on every rank

    bool is_classic_model() const { return format_ == Format::netcdf4_classic; }
    void check(int status, const std::string& where = "") const;
    void adopt();              // the table from a file that is read
    void need_define_mode();   // for a definition
    void need_data_mode();     // for data
    void settle_attributes();  // hands over what was put
    void hand_over();
    void define_all();
    void check_sizes() const;
    void make_edits();
    void complete();  // closes the file of the library, and waits until it is there
    void open_for_reading();
    void open_for_writing();
    void begin_writing();
    void begin_reading();
    void note(Index bytes);  // that some rank is about to put
    void end_step();
    void handed_over(int status);  // what was put has been written, or failed
    // Of what two ranks put in one step either may stand: what another rank may put again comes
    // with the next step. grid NULL: a section, which the root puts.
    void order(int varid, Index record, const Grid* grid);
    void keep_late(const Error& error);
    // The state of a file on any rank.
    struct News {
        bool late;     // an error that not every rank has been told
        bool dirty;    // data that are not synced
        bool pending;  // data that are not handed over
    };
    News compare() const;
    void tell_late(const News& news);  // throws late errors on all
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
