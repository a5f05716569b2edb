// The open handles of a file: a file that the library writes or reads, or one that a single rank
// writes with netCDF-C.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thalweg/alone.h>

#include <memory>
#include <string>

#include "api/put_memory.hpp"
#include "nc/base/session.hpp"
#include "nc/definitions/definitions.hpp"
#include "nc/fallback/fallback.hpp"

namespace thalweg::nc {

// The actions of an interface when the state of its file changes.
class Events {
public:
    virtual ~Events() = default;
    virtual void laid_out() {}  // the header of a new file has been written
    // The file contains what was put, or a write has failed.
    virtual void step_ended() {}
};

// The error of a put that one rank has found. The others learn of it at the next collective call.
struct LateError {
    Error error;
    Index put = -1;  // number of the put that failed; -1: none
    Index puts = 0;  // number of puts so far, the same on every rank

    void keep(const Error& found) {
        if (put >= 0) return;
        error = found;
        put = puts;
    }
};

// A handle of the library by which this rank reads without the others.
class OwnReader {
public:
    bool is_open() const { return file_ != nullptr; }
    tw_file open(const std::string& path);
    void close();

private:
    tw_file file_ = nullptr;
};

class State {
public:
    // defining  a new file of the library, which does not have its definitions yet: it gets them
    //           with the first data, so that redef costs nothing until then
    // writing   a file of the library that is written (new, or appended to)
    // reading   a file of the library that is read; also one opened for writing, until something
    //           is put
    // fallback  a netCDF-4 file that the root writes with netCDF-C, as the library does not have
    //           its definitions or cannot continue it
    enum class Kind { defining, writing, reading, fallback };
    // How existing netCDF-4 files are written: by the library if it can, or always by one rank.
    enum class Existing { by_library, by_one_rank };

    // @param root  rank whose arguments count
    // @param settings  settings of a new file, in the library's form
    // @param events  null: none
    State(Session& own_session, Definitions& definitions, int root_rank, std::string settings,
          Existing existing, Events* events);
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    Session& session;
    const int root;
    bool dirty = false;  // data were put since the last sync
    Index pending = 0;   // number of bytes that any rank has put since the last step
    Error failure;       // error of a write, the same on all ranks
    LateError late;
    std::size_t filled = 0;  // number of variables of which nothing is left to be filled
    OwnReader own_reader;

    Kind kind() const { return kind_; }
    tw_file file() const { return file_; }
    Fallback& fallback() { return *fallback_; }
    // Returns the memory for values that are put; null if the file is only read.
    detail::PutMemory* memory() const { return memory_.get(); }
    // Returns the path of what is open.
    const std::string& path() const {
        return fallback_ ? fallback_->work_path() : definitions_.path;
    }

    // @note The following functions are collective.
    void create(bool clobber);
    void open(bool writable);
    void enddef();
    void sync();
    void flush();  // begins to write the data that were put, without waiting
    void close();
    void begin_writing();
    void begin_reading();
    // Ends a step, or writes what was put in the middle of one: variables with NC_NOFILL that were
    // not put yet then get no fill values.
    void end_step(bool goes_on = false);
    void settle_attributes();  // passes new attributes to the library
    void make_edits();         // changes the definitions in the file
    void open_for_reading();
    void complete();  // closes the library's file and waits until it is complete

private:
    Definitions& definitions_;
    std::string settings_;
    Kind kind_ = Kind::defining;
    Existing existing_;
    Events* events_;
    std::unique_ptr<detail::PutMemory> memory_;
    tw_file file_ = nullptr;
    std::unique_ptr<Fallback> fallback_;  // stays open while the file is read between two writes

    void bring_definitions();
    void hand_over();
    void handed_over(int status);
    void open_for_writing();
    void continue_file();
};

// Returns the storage of a variable, as it is in the file or will be.
// @note Collective
Storage inquire_storage(Definitions& definitions, State& state, int varid);

}  // namespace thalweg::nc
