// The engine's open files, by their ids, and the entries of the table, which find them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "file.hpp"
#include "nc/base/attempt.hpp"

namespace thalweg::netcdf::engine {

// Returns the file with a given id. Throws NC_EBADID.
File& file_of(int ncid);
// Returns the open file that this process writes to a path; null if there is none.
File* find_written(const std::string& path);
// Tests if the engine must take an open without communicator, because this process writes the file.
// Writes what was put if netCDF-C can read the file instead.
bool is_redirected(File& file, int mode);
// Waits until all files that this process alone has written and closed are complete.
void wait_for_closing();
void add_file(int ncid, std::unique_ptr<File> file);
std::unique_ptr<File> remove_file(int ncid);
// Closes a file, or ends it by another action.
// @note Collective
template <class Action>
void end_file(std::unique_ptr<File> file, Action action);
// Closes the files whose sessions end, in the order in which they were opened.
// @param with_mpi true: files of sessions that end with MPI; false: those of sessions that began
//                 without it
// @note Collective
void close_files(bool with_mpi);
// Prints the files that were left open and need MPI to be closed. A process that exits without
// MPI_Finalize cannot close them. In a child process there are none.
void tell_unclosed_files();

// Logs the text of an error at level info, and returns its code.
int failed(const Error& error);

// Runs an action. @return the code that it returns, or the code of the error that it throws
template <class Action>
int attempt(Action action) {
    return nc::attempt(failed, action);
}

// Runs an action on an open file. Threads with files of other ranks need not wait for it.
template <class Action>
int on_file(int ncid, Action action) {
    return attempt([&] {
        File& file = file_of(ncid);
        const std::lock_guard lock(file.mutex());
        return action(file);
    });
}

template <class Action>
void end_file(std::unique_ptr<File> file, Action action) {
    const std::lock_guard lock(file->mutex());
    const Error error = error_of([&] { action(*file); });
    if (file->puts.is_mixed())
        (void)file.release();  // do not destroy it: that is collective
    else
        file.reset();
    if (error.code != 0) throw error;
}

// Passes a file to the real library, because the program needs something that the engine lacks. A
// file without data is created there, and its definitions are repeated. Any other file is
// completed, and opened there for writing; with a communicator it is made anew. Returns 0 or a
// code.
// @note Collective
int leave(int ncid, const std::string& reason);

// Thrown by an entry if the program needs something that the engine lacks.
struct Leave {
    std::string reason;
};

// An entry of the table, made of a function that takes the file in place of its id. If the function
// throws Leave, the file is passed to the real library, and the call is repeated there.
template <auto entry, auto function>
struct OnFile;

template <auto entry, class Result, class... A, Result (*function)(File&, A...)>
struct OnFile<entry, function> {
    static int call(int ncid, A... arguments) try {
        return on_file(ncid, [&](File& file) { return function(file, arguments...); });
    } catch (const Leave& needed) {
        const int code = attempt([&] { return leave(ncid, needed.reason); });
        return code != 0 ? code : (file_table().*entry)(ncid, arguments...);
    }
};

// Fills in the entries of storage_entries.cpp.
void add_storage(Table& table);

}  // namespace thalweg::netcdf::engine
