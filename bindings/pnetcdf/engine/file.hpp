// A file of a program that calls PnetCDF, with PnetCDF's rules and codes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "front/table.hpp"
#include "pnetcdf/engine/arrays.hpp"
#include "pnetcdf/engine/codes.hpp"
#include "pnetcdf/engine/data_calls.hpp"
#include "pnetcdf/engine/places.hpp"
#include "queued.hpp"

namespace thalweg::pnetcdf::engine {

using namespace nc;
using netcdf::Call;

// The part of a variable that a call selects, and the array for it.
struct Selection {
    int varid = 0;
    std::vector<Entry> parts;  // without values; the parts follow each other in the array
    Index elements = 0;
    Array array;

    // Tests if the selection is a single part of the call's own variable.
    bool is_one() const { return parts.size() == 1 && parts.front().varid == varid; }
};

// A request that is not completed yet.
struct Request {
    int id = 0;
    bool puts = false;
    Index buffered = 0;  // bytes of the attached buffer that the request uses
    Selection selection;
    const char* values = nullptr;  // values to put, in the variable's type
    std::unique_ptr<char[]> own;   // copy of the values
};

// The state of one id. Several ids can belong to the same file.
struct Handle {
    explicit Handle(const Call& call);
    ~Handle();
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    std::string path;                // path as the program has passed it
    MPI_Info hints = MPI_INFO_NULL;  // a copy: the program frees its own
    bool writable;
    bool defines;              // this id is in define mode
    bool independent = false;  // this id is in independent data mode
    int fill_mode = NC_NOFILL;
    std::vector<Request> requests;
    Index buffer = -1;       // size of the attached buffer in bytes; -1: there is none
    Index put = 0, got = 0;  // number of bytes that this id has put and got
};

class File : public QueuedFile {
public:
    // @note create and open are collective over the communicator of the call
    static std::shared_ptr<File> create(Call& call);
    static std::shared_ptr<File> open(Call& call);

    // Sets the id through which the following calls are made. It must exist until another id is
    // set. Each id is in define mode by itself.
    void use(Handle& handle) {
        handle_ = &handle;
        define_ = handle.defines;
    }
    const Handle& handle() const { return *handle_; }
    long number() const { return number_; }
    bool is_first() const { return session_.rank() == 0; }
    std::recursive_mutex& mutex() { return session_.mutex; }
    bool is_written() const { return writable_; }
    bool is_writable() const { return handle_->writable; }
    bool in_define_mode() const { return handle_->defines; }
    // Returns a variable by its id. Throws a separate error for NC_GLOBAL.
    Variable& variable_of(int varid);
    Index length_of(int dimid);
    // Returns the places of the data. Throws not_supported if a setting makes them unpredictable.
    Places places();
    Index header_size() { return places_of(table_, format(), spacing()).header; }

    long opened = 0;  // number of this file among all that the process has opened

    // Definitions.
    void redef();
    // @param asked  free bytes and alignments that the program wants; alignments of 0: PnetCDF's
    void enddef(const detail::HeaderPadding& asked);
    void enddef() { enddef(usual_spacing()); }
    // Returns the number that a hint of the program or of the environment sets; 0 if there is none.
    Index hint(const char* name) const;
    detail::HeaderPadding spacing() const { return spacing_.value_or(detail::HeaderPadding{}); }
    int def_dim(const std::string& name, Index length);
    int def_var(const std::string& name, int type, std::vector<int> dims);
    void def_var_fill(int varid, bool no_fill, const void* value);
    int set_fill(int mode);
    // @return NC_ERANGE if values do not fit, otherwise 0; fill values are stored for those that do
    //     not fit
    int put_att(int varid, const char* name, int type, Index n, const void* values, int memory);
    int get_att(int varid, const char* name, void* values, int memory);
    void del_att(int varid, const std::string& name);
    void need_write() const;   // throws if the id is open for reading
    void need_define() const;  // throws unless the id is in define mode

    // @note These functions are collective
    void begin_independent();
    void end_independent();
    void sync_records();
    void fill_record(int varid, Index record);
    // Ends an id, and also the file if it is the file's last id.
    // @return NC_EPENDING if requests were left, else 0
    int end(bool abort, bool last);
    // Gives up the file's name, because the program creates another file with it. The ids stay
    // valid; the file is removed when the last one ends.
    // @note Collective
    void give_up_name();

    // The functions for data.
    // @return NC_ERANGE if values do not fit, otherwise 0. They throw other errors.
    int data(const DataCall& call);
    int data(const SeveralCall& call);

    // Requests.
    int wait(bool together, int n, int* ids, int* statuses);
    int cancel(int n, int* ids, int* statuses);
    int pending() const { return static_cast<int>(handle_->requests.size()); }
    void attach(Index bytes);
    void detach();
    Index buffer_size() const;
    Index buffer_usage() const;

private:
    using QueuedFile::QueuedFile;

    Handle* handle_ = nullptr;
    // A start index must lie in the dimension even if the count is 0 (PNETCDF_RELAX_COORD_BOUND).
    bool strict_bounds_ = is_strict();
    bool placed_by_program_ = true;  // the places of data follow from the definitions
    Places places_;                  // places in a new file whose header was written
    // Boxes of varn calls, without the record dimension.
    struct KnownPieces {
        Session::Key key{};
        Entry part;
    };
    std::vector<KnownPieces> known_pieces_;
    Shape numbers_;             // lengths, starts and counts of the last such call
    bool is_replaced_ = false;  // the file has given up its name

    void laid_out() override;
    void extend();
    static bool is_strict();
    void set_places(const detail::HeaderPadding& asked);
    // Leaves room for late attributes, except in CDF-1, where a file of nearly 2 GiB may have none.
    detail::HeaderPadding usual_spacing() const {
        return {format_ == Format::cdf1 ? 0 : 4096, 0, 0, 0};
    }
    void check_mode(const DataCall& call) const;
    Selection select(const DataCall& call);
    void add_section(const Variable& v, const DataCall& call, Selection& s);
    void add_pieces(const Variable& v, const DataCall& call, Selection& s);
    void add_new_pieces(const Variable& v, const DataCall& call, Selection& s);
    bool find_pieces(const Variable& v, const DataCall& call, Session::Key& key, Selection& s);
    void keep_pieces(const Variable& v, const Session::Key& key, const Selection& s);
    void add_places(const Variable& v, const DataCall& call, Selection& s);
    Shape lengths_for(const Variable& v, bool reading);
    // @param lengths  the variable's lengths, see lengths_for()
    void check_bounds(const Variable& v, const Shape& lengths, bool reading, bool whole,
                      const MPI_Offset* start, const MPI_Offset* count,
                      const MPI_Offset* stride) const;
    int put_together(const DataCall& call);
    int put_alone(const Selection& s);
    bool write_alone(const Selection& s, int& code);
    int get_together(const DataCall& call);
    int post(const DataCall& call, bool small_too);
    int convert_to(const Selection& s, char* to);
    int deliver(const Selection& s, const char* read);
    void push(const Selection& s, const char* values, bool together);
    std::vector<Request> take(int n, int* ids, int* statuses, int& code, std::vector<int>& numbers);
    int finish(std::vector<Request>& chosen, bool together, const std::vector<int>& numbers,
               int* statuses);
    struct Reading {
        const Entry* part;
        char* to;
    };
    void read_together(std::vector<Reading> readings);
    void read_alone(const Entry& part, char* to);
};

// Runs an action on a file. @return PnetCDF's code
template <class Action>
int on(File& file, Action action) {
    return attempt([&] {
        const std::lock_guard lock(file.mutex());
        return action();
    });
}

}  // namespace thalweg::pnetcdf::engine
