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
};

// A request that is not completed yet.
struct Request {
    int id = 0;
    bool puts = false;
    Index buffered = 0;  // bytes that it takes of the attached buffer
    Selection selection;
    const char* values = nullptr;  // values to put, in the variable's type
    std::unique_ptr<char[]> own;   // copy of the values
};

class File : public QueuedFile {
public:
    // @note create and open are collective over the communicator of the call
    static std::shared_ptr<File> create(Call& call);
    static std::shared_ptr<File> open(Call& call);

    ~File() override;

    const Call& call() const { return call_; }
    // Returns the program's hints; MPI_INFO_NULL if there are none.
    MPI_Info hints() const { return hints_; }
    bool is_first() const { return session_.rank() == 0; }
    std::recursive_mutex& mutex() { return session_.mutex; }
    int fill_mode() const { return fill_mode_; }
    // Returns the variable with an id. Throws another error for NC_GLOBAL than for other invalid
    // ids.
    Variable& variable_of(int varid);
    Index length_of(int dimid);
    Places places();

    long opened = 0;  // number of this file among all that the process has opened

    // Definitions.
    void redef();
    void enddef();
    int def_dim(const std::string& name, Index length);
    int def_var(const std::string& name, int type, std::vector<int> dims);
    void def_var_fill(int varid, bool no_fill, const void* value);
    int set_fill(int mode);
    // @return NC_ERANGE if values do not fit, otherwise 0; fill values are stored for those that do
    //     not fit
    int put_att(int varid, const char* name, int type, Index n, const void* values, int memory);
    int get_att(int varid, const char* name, void* values, int memory);
    void del_att(int varid, const std::string& name);

    // @note These functions are collective
    void begin_independent();
    void end_independent();
    void sync_records();
    void fill_record(int varid, Index record);
    // Closes the file.
    // @return NC_EPENDING if requests were not completed, otherwise 0
    int end(bool abort);

    // The functions for data.
    // @return NC_ERANGE if values do not fit, otherwise 0. They throw other errors.
    int data(const DataCall& call);
    int data(const SeveralCall& call);

    // Requests.
    int wait(bool together, int n, int* ids, int* statuses);
    int cancel(int n, int* ids, int* statuses);
    int pending() const { return static_cast<int>(requests_.size()); }
    void attach(Index bytes);
    void detach();
    Index buffer_size() const;
    Index buffer_usage() const;

    Index bytes_put() const { return put_; }
    Index bytes_got() const { return got_; }

private:
    using QueuedFile::QueuedFile;

    void keep(const Call& call);

    Call call_;
    MPI_Info hints_ = MPI_INFO_NULL;  // a copy, because the program frees its own
    bool independent_ = false;
    bool strict_bounds_ = false;     // set by PNETCDF_RELAX_COORD_BOUND
    bool placed_by_program_ = true;  // the addresses of data follow from the definitions
    std::vector<Request> requests_;
    Index buffer_ = -1;  // size of the attached buffer; -1: none
    Index put_ = 0, got_ = 0;

    void check_mode(const DataCall& call) const;
    Selection select(const DataCall& call);
    void add_section(const Variable& v, const DataCall& call, Selection& s);
    void add_pieces(const Variable& v, const DataCall& call, Selection& s);
    void check_bounds(const Variable& v, bool reading, bool whole, const MPI_Offset* start,
                      const MPI_Offset* count, const MPI_Offset* stride);
    int put_together(const DataCall& call);
    int put_alone(const Selection& s);
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
