// The ids of a program's iosystems, decompositions and files; and the handling of errors.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <string>

#include "base/system/arithmetic.hpp"
#include "file.hpp"
#include "grid.hpp"
#include "nc/base/attempt.hpp"
#include "nc/base/session.hpp"
#include "pio.h"

namespace thalweg::pio {

struct Iosystem {
    int id = 0;
    Session* session = nullptr;
    Writers writers;
    int handler = PIO_INTERNAL_ERROR;
    // A file has been closed. From then on, the ranks compare decompositions when they are first
    // used, not when they are described.
    bool repeats = false;
};

struct Decomposition {
    int id = 0;
    int iosystem = 0;
    nc_type type = NC_DOUBLE;
    std::shared_ptr<DescribedGrid> described;
};

struct OpenFile {
    int id = 0;
    int iosystem = 0;
    std::unique_ptr<File> file;
};

// The following functions return the object with an id. They throw NC_EBADID.
Iosystem& iosystem(int id);
Decomposition& decomposition(int id);
OpenFile& open_file(int id);
bool is_open(int id);
bool has_iosystem(int id);

Iosystem& add_iosystem(Session& session, int number, int stride, int base);
// Makes the id of the iosystem of a component that this rank is not part of. PIO's programs free
// the iosystems of all components on every rank.
int add_iosystem_elsewhere();
// Removes such an id. Returns false if the id is not one of them.
bool remove_iosystem_elsewhere(int id);
// Closes the open files of an iosystem, and removes it. Throws the first error.
// @note Collective
void remove_iosystem(int id);
int add_decomposition(Decomposition made);
void remove_decomposition(int id);
int add_file(int iosystem, std::unique_ptr<File> file);
std::unique_ptr<File> remove_file(int id);

// Sets the error handler of an iosystem; with PIO_DEFAULT, the handler of later iosystems and of
// invalid ids. Returns the previous handler.
int set_handler(int iosystem, int method);

// Handles an error as the iosystem's handler says: returns the error's code, or stops the program.
int fail(const char* call, const Iosystem* system, const std::string& path, const Error& error);

// Logs once, at level info, that a call has no effect.
void tell_once(const char* what);

template <class Action>
int attempt(const char* call, Iosystem* system, const std::string& path, Action action) {
    const detail::OwnArithmetic arithmetic;
    const Error error = error_of(action);
    return error.code == 0 ? PIO_NOERR : fail(call, system, path, error);
}

// Runs an action and passes the iosystem with the given id to it.
template <class Action>
int on_system(const char* call, int iosysid, Action action) {
    Iosystem* system = nullptr;
    const int found = attempt(call, nullptr, "", [&] { system = &iosystem(iosysid); });
    if (found != PIO_NOERR) return found;
    return attempt(call, system, "", [&] { action(*system); });
}

// Runs an action and passes the open file with the given id to it.
template <class Action>
int on_file(const char* call, int ncid, Action action) {
    OpenFile* file = nullptr;
    Iosystem* system = nullptr;
    const int found = attempt(call, nullptr, "", [&] {
        file = &open_file(ncid);
        system = &iosystem(file->iosystem);
    });
    if (found != PIO_NOERR) return found;
    return attempt(call, system, file->file->path(), [&] { action(*file->file); });
}

// Runs a collective action on an open file, after the ranks have compared all decompositions.
template <class Action>
int on_file_of_all(const char* call, int ncid, Action action) {
    return on_file(call, ncid, [&](File& file) {
        compare_descriptions(*iosystem(open_file(ncid).iosystem).session);
        action(file);
    });
}

// Throws NC_EINVAL if a pointer is null.
inline void need(const void* pointer, const char* what) {
    if (pointer == nullptr) throw Error{NC_EINVAL, std::string(what) + " is NULL"};
}

// Throws NC_EINVAL if a definition has no name.
inline void need_name(const char* name, const char* what) {
    need(name, what);
    if (std::strlen(name) > NC_MAX_NAME)
        throw Error{NC_EINVAL, std::string(what) + " is longer than PIO_MAX_NAME"};
}

}  // namespace thalweg::pio
