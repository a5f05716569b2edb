// The engine's open files, by their ids; and how calls return errors.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "file.hpp"

namespace thalweg::netcdf::engine {

// Returns the file with an id. Throws NC_EBADID.
File& file_of(int ncid);
void add_file(int ncid, std::unique_ptr<File> file);
std::unique_ptr<File> remove_file(int ncid);
// Closes all files.
// @note Collective
void close_files();

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

// Runs an action on an open file.
template <class Action>
int on_file(int ncid, Action action) {
    return attempt([&] { return action(file_of(ncid)); });
}

template <class T>
void set(T* to, T value) {
    if (to != nullptr) *to = value;
}

// Copies a text with its terminating zero.
inline void set(char* to, const std::string& text) {
    if (to != nullptr) std::memcpy(to, text.c_str(), text.size() + 1);
}

// Hands a file over to the real library, which has what the engine does not write: makes it there
// and repeats the definitions and the data. Returns 0 or a code.
// @note Collective
int leave(int ncid, const std::string& reason);

}  // namespace thalweg::netcdf::engine
