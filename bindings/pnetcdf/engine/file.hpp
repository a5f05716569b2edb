// A file of a program that calls PnetCDF, with PnetCDF's rules and codes.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "front/table.hpp"
#include "pnetcdf/engine/codes.hpp"
#include "pnetcdf/engine/data/transfers.hpp"
#include "pnetcdf/engine/handle.hpp"
#include "pnetcdf/engine/layout.hpp"

namespace thalweg::pnetcdf::engine {

class File {
public:
    // @note create and open are collective over the communicator of the call
    static std::shared_ptr<File> create(Call& call);
    static std::shared_ptr<File> open(Call& call);

    Definitions definitions;
    Layout layout;
    State state;
    Puts puts{definitions, state};
    Transfers transfers{definitions, state, puts, layout};
    long opened = 0;  // number of this file among all that the process has opened

    // Sets the id through which the following calls are made. It must exist until another id is
    // set. Each id is in define mode by itself.
    void use(Handle& handle);
    Handle& handle() { return *handle_; }
    const std::string& path() const { return definitions.path; }
    Table& table() { return definitions.table; }
    std::recursive_mutex& mutex() { return state.session.mutex; }
    Index length_of(int dimid);

    void redef();
    // @param asked  free bytes and alignments that the program wants; alignments of 0: PnetCDF's
    void enddef(const detail::HeaderPadding& asked);
    void enddef() { enddef(usual_spacing()); }

    // @note These functions are collective
    void begin_independent();
    void end_independent();
    // Ends an id, and also the file if it is the file's last id.
    // @return NC_EPENDING if requests were left, else 0
    int end(bool abort, bool last);
    // Gives up the file's name, because the program creates another file with it. The ids stay
    // valid; the file is removed when the last one ends.
    // @note Collective
    void give_up_name();

private:
    File(Session& session, std::string path, bool is_new);

    Handle* handle_ = nullptr;
    bool is_replaced_ = false;  // the file has given up its name

    void set_layout(const detail::HeaderPadding& asked);
    // Leaves room for late attributes, except in CDF-1, where a file of nearly 2 GiB may have none.
    detail::HeaderPadding usual_spacing() const {
        return {definitions.format == Format::cdf1 ? 0 : 4096, 0, 0, 0};
    }
};

// Runs an action on a file. @return PnetCDF's code
template <class Action>
int on(File& file, Action action) {
    return attempt([&] {
        const std::lock_guard lock(file.mutex());
        return action();
    });
}

// Creates or opens the file of a call. @return PnetCDF's code, or netcdf::step_aside
// @note Collective over the communicator of the call
int begin(Call& call, std::shared_ptr<File>* file);

// Prepares a file that the program writes for another id, or for a new file of its name.
// @return PnetCDF's code
// @note Collective
int use_again(const Call& call, const std::shared_ptr<File>& file);

// Closes or aborts an id of a file. @return PnetCDF's code
// @note Collective
int end(std::shared_ptr<File>& file, Handle& handle, bool abort);

}  // namespace thalweg::pnetcdf::engine
