// SPDX-License-Identifier: Apache-2.0

#include <netcdf.h>
#include <pnetcdf.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/account.hpp"
#include "front/router.hpp"
#include "nc/base/session.hpp"
#include "pnetcdf/engine/file.hpp"
#include "pnetcdf/front/functions.hpp"
#include "pnetcdf/front/open_files.hpp"
#include "pnetcdf/front/table.hpp"
#include "shim/pnetcdf_numbers.h"

namespace thalweg::pnetcdf::opening {

namespace {

/// Returns the real PnetCDF's function with a name; null if there is none.
template <class Function>
Function* real(int number) {
    return reinterpret_cast<Function*>(real_function(number));
}

template <class Function, class... A>
int call_real(int number, A... arguments) {
    auto* const function = real<Function>(number);
    return function != nullptr ? function(arguments...) : NC_ENOTBUILT;
}

/// Calls a function of PnetCDF as the program itself would.
template <class Function, class... A>
int call_as_program(int number, A... arguments) {
    return reinterpret_cast<Function*>(function_of(number))(arguments...);
}

/// Returns a path without the name of a file system before a colon, by which PnetCDF has MPI-IO
/// choose its driver. Other colons are part of the file's name.
std::string without_driver(const char* path) {
    constexpr std::string_view drivers[] = {"ufs",    "nfs",  "xfs",    "pvfs2", "gpfs",   "panfs",
                                            "lustre", "daos", "testfs", "ime",   "quobyte"};
    const std::string_view text = path == nullptr ? "" : path;
    const std::size_t colon = text.find(':');
    const bool named = colon != text.npos && std::find(std::begin(drivers), std::end(drivers),
                                                       text.substr(0, colon)) != std::end(drivers);
    return std::string(named ? text.substr(colon + 1) : text);
}

/// Returns the format that a mode asks for.
int format_of(int mode) {
    if ((mode & NC_64BIT_DATA) != 0) return NC_FORMAT_64BIT_DATA;
    if ((mode & NC_64BIT_OFFSET) != 0) return NC_FORMAT_64BIT_OFFSET;
    int format = NC_FORMAT_CLASSIC;
    auto* const ask = reinterpret_cast<decltype(&ncmpi_inq_default_format)>(
        function_of(number_of_ncmpi_inq_default_format));
    if ((mode & NC_CLASSIC_MODEL) == 0) ask(&format);
    return format;
}

/// The arguments that the first rank has passed to a call.
struct Said {
    int mode, format, taken;
    int open;  // number of a file that the program has open by this name and that the call
               // concerns; -1: none
};

Said agree_on_call(MPI_Comm comm, const char* path, int mode, bool create) {
    Said said{mode, 0, 0, -1};
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    if (rank == 0) {
        said.format = create ? format_of(mode) : 0;
        const bool classic =
            said.format != NC_FORMAT_NETCDF4 && said.format != NC_FORMAT_NETCDF4_CLASSIC;
        said.taken = classic && the_shim()->takes_pnetcdf(path, mode) != 0 ? 1 : 0;
        const bool replaces = create && (mode & NC_NOCLOBBER) == 0;
        if (said.taken != 0) said.open = static_cast<int>(find_open(path, comm, !replaces));
    }
    MPI_Bcast(&said, 4, MPI_INT, 0, comm);
    return said;
}

/// Finds the open file that a call concerns. If the call creates a file, takes the name from all
/// files that are open by it.
/// @return 0, also if there is none; otherwise PnetCDF's code
/// @note Collective
int use_open_file(const netcdf::Call& call, int number, std::shared_ptr<engine::File>& file) {
    while (number >= 0) {
        file = open_file(number, call.comm);
        if (file == nullptr) return 0;
        const int code = engine::use_again(call, file);
        if (code != 0 || !call.create) return code;
        file.reset();
        number = static_cast<int>(find_open(call.path, call.comm, false));
        MPI_Bcast(&number, 1, MPI_INT, 0, call.comm);
    }
    return 0;
}

int open_really(const netcdf::Call& call, const char* path, int mode, int* id) {
    const int number = call.create ? number_of_ncmpi_create : number_of_ncmpi_open;
    auto* const function = real<decltype(::ncmpi_create)>(number);
    if (function == nullptr) return alone::refuse(call);
    int inner = -1;
    const int code = function(call.comm, path, mode, call.info, &inner);
    const bool is_open = code == 0 || code == NC_EMULTIDEFINE_CMODE ||
                         code == NC_EMULTIDEFINE_OMODE || code == NC_ENULLPAD;
    if (id != nullptr) *id = is_open ? add_file({.inner = inner}) : -1;
    return code;
}

// Removes the engine's open files from the list, and returns them in the order in which they were
// opened, which is the same on all ranks.
std::vector<OpenFile> take_files() {
    std::vector<OpenFile> files;
    for (const int id : open_ids())
        if (find_file(id)->file != nullptr) files.push_back(remove_file(id));
    std::stable_sort(files.begin(), files.end(), [](const OpenFile& a, const OpenFile& b) {
        return a.file->opened < b.file->opened;
    });
    return files;
}

/// Closes the files that the program has left open. @note Collective
void close_open_files(bool with_mpi) {
    if (!with_mpi) return;
    const Depth deeper(the_shim());
    for (OpenFile& open : take_files()) {
        const std::string path = open.file->path();
        const bool tell = open.file->state.session.rank() == 0 && open.file.use_count() == 1;
        if (tell) std::fprintf(stderr, "thalweg: %s was not closed by the program\n", path.c_str());
        const int code = engine::end(open.file, *open.handle, false);
        if (tell && code != 0)
            std::fprintf(stderr, "thalweg: %s: its close returned %d\n", path.c_str(), code);
    }
}

int start(MPI_Comm comm, const char* path, int mode, MPI_Info info, bool create, int* id) try {
    netcdf::Call call;
    call.path = without_driver(path);
    const Said said = agree_on_call(comm, call.path.c_str(), mode, create);
    call.mode = said.mode;
    call.format = said.format;
    call.create = create;
    call.parallel = true;
    call.comm = comm;
    call.info = info;
    if (the_shim()->forward_pnetcdf != 0) call.reason = "THALWEG_PNETCDF is forward";
    OpenFile made;
    int code = netcdf::step_aside;
    if (said.taken != 0 && call.reason.empty()) {
        code = use_open_file(call, said.open, made.file);
        if (code == 0 && made.file == nullptr) code = engine::begin(call, &made.file);
    }
    if (code == netcdf::step_aside) {
        code = open_really(call, path, mode, id);
        if (code == 0 && said.taken != 0) netcdf::account(call, call.reason, "PnetCDF");
        return code;
    }
    if (id != nullptr) *id = -1;
    if (code != 0) return code;
    nc::at_end(close_open_files);
    made.handle = std::make_unique<engine::Handle>(call);
    const int added = add_file(std::move(made));
    if (added < 0) return NC_ENFILE;
    netcdf::account(call, "");
    if (id != nullptr) *id = added;
    const int differs = create ? NC_EMULTIDEFINE_CMODE : NC_EMULTIDEFINE_OMODE;
    return said.mode == mode ? 0 : differs;
} catch (const std::bad_alloc&) {
    return NC_ENOMEM;
}

bool passes() { return *the_shim()->depth() > 0 || netcdf::in_child(); }

int finish(int id, bool abort) {
    const int number = abort ? number_of_ncmpi_abort : number_of_ncmpi_close;
    if (*the_shim()->depth() > 0) return call_real<int(int)>(number, id);
    const OpenFile* const open = find_file(id);
    if (open == nullptr || (open->file != nullptr && netcdf::in_child())) return NC_EBADID;
    const Depth deeper(the_shim());
    OpenFile file = remove_file(id);
    if (file.file == nullptr) return call_real<int(int)>(number, file.inner);
    return engine::end(file.file, *file.handle, abort);
}

}  // namespace

int ncmpi_create(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* id) {
    if (passes())
        return call_real<decltype(::ncmpi_create)>(number_of_ncmpi_create, comm, path, mode, info,
                                                   id);
    const Depth deeper(the_shim());
    return start(comm, path, mode, info, true, id);
}

int ncmpi_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, int* id) {
    if (passes())
        return call_real<decltype(::ncmpi_open)>(number_of_ncmpi_open, comm, path, mode, info, id);
    const Depth deeper(the_shim());
    return start(comm, path, mode, info, false, id);
}

int ncmpi_close(int id) { return finish(id, false); }

int ncmpi_abort(int id) { return finish(id, true); }

int ncmpi_inq_files_opened(int* count, int* ids) {
    const std::vector<int> open = open_ids();
    if (count != nullptr) *count = static_cast<int>(open.size());
    if (ids != nullptr) std::copy(open.begin(), open.end(), ids);
    return 0;
}

int ncmpi_copy_att(int id, int variable, const char* name, int to, int to_variable) {
    const auto copy_really = [&](int source, int target) {
        return call_real<decltype(::ncmpi_copy_att)>(number_of_ncmpi_copy_att, source, variable,
                                                     name, target, to_variable);
    };
    if (*the_shim()->depth() > 0) return copy_really(id, to);
    const OpenFile *const from = find_file(id), *const into = find_file(to);
    if (from == nullptr || into == nullptr) return NC_EBADID;
    if (from->file == nullptr && into->file == nullptr) {
        const Depth deeper(the_shim());
        return copy_really(from->inner, into->inner);
    }
    nc_type type = NC_NAT;
    MPI_Offset length = 0;
    int code = call_as_program<decltype(::ncmpi_inq_att)>(number_of_ncmpi_inq_att, id, variable,
                                                          name, &type, &length);
    std::vector<double> values(static_cast<std::size_t>(length) + 1);  // 8 bytes each
    if (code == 0)
        code = call_as_program<decltype(::ncmpi_get_att)>(number_of_ncmpi_get_att, id, variable,
                                                          name, static_cast<void*>(values.data()));
    if (code == 0)
        code = call_as_program<decltype(::ncmpi_put_att)>(number_of_ncmpi_put_att, to, to_variable,
                                                          name, type, length,
                                                          static_cast<const void*>(values.data()));
    return code;
}

void tell_unclosed_files() {
    std::vector<OpenFile> left = take_files();
    if (!left.empty()) nc::tell_incomplete(left.front().file->path(), left.size() > 1);
    // Never destroy these files, because their destructors are collective.
    new std::vector<OpenFile>(std::move(left));
}

void adopt_open_files() {
    auto* const ask = real<decltype(::ncmpi_inq_files_opened)>(number_of_ncmpi_inq_files_opened);
    int count = 0;
    if (ask == nullptr || ask(&count, nullptr) != 0 || count == 0) return;
    std::vector<int> ids(static_cast<std::size_t>(count));
    if (ask(&count, ids.data()) != 0) return;
    for (const int id : ids) add_file({.inner = id}, id);
}

}  // namespace thalweg::pnetcdf::opening
