// The engine's open files, by their ids; and how calls return errors.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include "file.hpp"

namespace thalweg::netcdf::engine {

// Returns the file with an id. Throws NC_EBADID.
File& file_of(int ncid);
// Returns the open file that this process writes at a path; null if there is none.
File* find_written(const std::string& path);
// Tests if an open without communicator of a file that this process writes has to come to the
// engine. Writes what was put if netCDF-C can read the file.
bool is_redirected(File& file, int mode);
// Waits for files of this process alone that are being completed.
void wait_for_closing();
void add_file(int ncid, std::unique_ptr<File> file);
std::unique_ptr<File> remove_file(int ncid);
// Closes the file, or ends it by another action.
// @note Collective
template <class Action>
void end_file(std::unique_ptr<File> file, Action action);
// Closes the files whose sessions end, in the order in which they were opened.
// @param with_mpi  those that end with MPI, or those that began without it
// @note Collective
void close_files(bool with_mpi);
// Prints which files were left open and need MPI. A process that exits without MPI_Finalize closes
// none of them; in a child process there are none.
void tell_unclosed_files();

// Logs the text of an error at level info, and returns its code.
int failed(const Error& error);

// Runs an action, and returns its code: that of an error which it throws, or the one it returns.
template <class Action>
int attempt(Action action) {
    try {
        if constexpr (std::is_void_v<decltype(action())>) {
            action();
            return 0;
        } else {
            return action();
        }
    } catch (const Error& error) {
        return failed(error);
    } catch (const std::bad_alloc&) {
        return out_of_memory;
    } catch (const std::exception& error) {
        return failed({internal_error, error.what()});
    }
}

// Runs an action on an open file. Threads with files of other ranks do not wait for it.
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
    if (file->is_mixed())
        (void)file.release();  // its end is collective
    else
        file.reset();
    if (error.code != 0) throw error;
}

template <class T>
void set(T* to, T value) {
    if (to != nullptr) *to = value;
}

// Copies a text with its terminating zero.
inline void set(char* to, const std::string& text) {
    if (to != nullptr) std::memcpy(to, text.c_str(), text.size() + 1);
}

// Hands a file over to the real library, which has what the engine does not write. A file without
// data is made there, and its definitions are repeated; else it is completed, and opened there for
// writing. Returns 0 or a code.
// @note Collective
int leave(int ncid, const std::string& reason);

}  // namespace thalweg::netcdf::engine
