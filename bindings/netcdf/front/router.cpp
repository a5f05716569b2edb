// SPDX-License-Identifier: Apache-2.0
#include "front/router.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <new>
#include <type_traits>
#include <utility>

#include "front/account.hpp"
#include "front/forward.hpp"

namespace thalweg::netcdf {

namespace {

constexpr int bad_id = -33, no_memory = -61, invalid = -36, not_permitted = -37, no_parallel = -114;

const thalweg_shim* shim;
std::atomic<bool> is_child{false};
Real reals[thalweg_most_libraries];
/// Index in `reals` of the library whose files the engine writes, which is the first one from which
/// it took a file; -1: none yet. The engine serves only one library, because it identifies files by
/// their ids.
int engine_library = -1;

/// Tests if calls on a file are possible. In a child process, those on files of the engine are not.
bool usable(const File* file) { return file != nullptr && (file->forwarded() || !is_child); }

/// An entry of a library's table. It calls the engine or, for a forwarded file, `Forward`.
template <int library, auto entry, class Forward>
struct Entry;

template <int library, class... A, int (*Table::*entry)(int, A...), class Forward>
struct Entry<library, entry, Forward> {
    static int call(int id, A... arguments) {
        const File* const file = find_file(library, id);
        if (!usable(file)) return bad_id;
        const Depth deeper(shim);
        return file->forwarded() ? Forward::call(*file, id, arguments...)
                                 : (engine_table.*entry)(id, arguments...);
    }
};

/// Forwards an entry to a function of namespace `forwarding`.
template <auto function>
struct Special {
    template <class... A>
    static int call(const File& file, int id, A... arguments) {
        return function(file, id, arguments...);
    }
};

/// Suffixes of typed functions, indexed by netCDF's number of the type in memory.
constexpr const char* type_names[memory_types] = {
    "",       "_schar",  "_text", "_short",    "_int",       "_float", "_double",
    "_uchar", "_ushort", "_uint", "_longlong", "_ulonglong", "_string"};

template <class Function>
void find(void* handle, const std::string& name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(handle, ("nc_" + name).c_str()));
}

template <class Function>
void find_typed(void* handle, const char* name, Function* (&functions)[memory_types]) {
    for (int type = 0; type < memory_types; ++type)
        find(handle, std::string(name) + type_names[type], functions[type]);
}

/// Returns the format that a mode selects: NC_FORMAT_*.
int format_of(int mode, const Real& real) {
    enum { classic = 1, cdf2, netcdf4, netcdf4_classic, cdf5 };
    if (mode & thalweg_netcdf4) return mode & thalweg_classic_model ? netcdf4_classic : netcdf4;
    if (mode & thalweg_cdf2) return cdf2;
    if (mode & thalweg_cdf5) return cdf5;
    if (real.get_default_format != nullptr) return real.get_default_format();
    int format = classic;
    if (real.set_default_format != nullptr && real.set_default_format(classic, &format) == 0)
        real.set_default_format(format, nullptr);
    return format;
}

/// Returns an MPI handle that the shim has passed as an integer.
template <class Handle>
Handle handle_of(std::uintptr_t word) {
    if constexpr (std::is_pointer_v<Handle>)
        return reinterpret_cast<Handle>(word);
    else
        return static_cast<Handle>(word);
}

/// Tests if all ranks of a call's communicator give the file to the engine. Each rank decides by
/// what it knows alone.
/// @note Collective
bool all_take(const Call& call, bool takes) {
    int all = takes ? 1 : 0;
    if (call.parallel && call.comm != MPI_COMM_NULL)
        MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, call.comm);
    return all != 0;
}

void set_communicator(const thalweg_call& made, Call& call) {
    if (made.kind == thalweg_no_comm) return;
    call.parallel = true;
    const bool fortran = made.kind == thalweg_fortran_comm;
    call.comm =
        fortran ? MPI_Comm_f2c(static_cast<MPI_Fint>(made.comm)) : handle_of<MPI_Comm>(made.comm);
    call.info =
        fortran ? MPI_Info_f2c(static_cast<MPI_Fint>(made.info)) : handle_of<MPI_Info>(made.info);
}
std::unique_ptr<File> file_of(int library, int id, const char* path, const thalweg_call& made) {
    auto file = std::make_unique<File>();
    file->library = made.library;
    file->real = &reals[library];
    file->outer = id;
    file->fortran = made.kind == thalweg_fortran_comm;
    file->call.path = path;
    file->call.mode = made.mode;
    file->call.create = made.create != 0;
    file->call.initial_size = made.initial_size;
    file->call.chunk_size_hint = made.chunk_size_hint;
    file->call.chunk_cache = file->real->get_chunk_cache;
    if (made.create) file->call.format = format_of(made.mode, *file->real);
    set_communicator(made, file->call);
    return file;
}

/// Creates or opens the file of a call by the program's own library.
/// @return netCDF's code
int make_by_library(File& file, bool create, int mode) {
    shim->act(file.library);
    int inner = -1;
    const int code = make_forwarded(file, create, mode, &inner);
    if (code == 0) file.inner.store(inner, std::memory_order_release);
    return code;
}

/// Offers a file to the engine.
/// @return the engine's code; step_aside: the program's library must have the file
int offer(int library, File& file) {
    Call& call = file.call;
    if (shim->forward_all)
        call.reason = "THALWEG_NETCDF is forward";
    else if (engine_library >= 0 && library != engine_library)
        call.reason = "the program has several netCDF libraries";
    if (!all_take(call, call.reason.empty()) && call.reason.empty())
        call.reason = "another rank cannot take it";
    if (!call.reason.empty()) return step_aside;
    const int code = engine_begin(call, file.outer);
    if (code == 0) engine_library = library;
    return code;
}

/// Creates or opens a file by the engine or the program's library. The library also gets a file
/// that the engine cannot open, as it may be able to, and has codes of its own for this.
int begin(int library, File& file) {
    const int code = offer(library, file);
    if (code == 0) file.duplicate_handles();
    const bool fails = !file.call.create && code != 0 && code != not_permitted;
    if (code != step_aside && !fails) return code;
    if (file.call.reason.empty()) file.call.reason = "Thalweg cannot open it";
    const int other = make_by_library(file, file.call.create, file.call.mode);
    return fails && other == no_parallel && code != step_aside ? code : other;
}

int start(int library, const char* path, int id) try {
    thalweg_call* const made = shim->call();
    if (made == nullptr || made->library->index != library) return invalid;
    std::unique_ptr<File> file = file_of(library, id, path, *made);
    made->reached = 1;
    const int code = begin(library, *file);
    file->call.chunk_size_hint = nullptr;
    if (code != 0) return code;
    account(file->call, file->call.reason);
    add_file(library, std::move(file));
    return code;
} catch (const std::bad_alloc&) {
    return no_memory;
}

template <int library>
int create(const char* path, int, std::size_t, int, std::size_t*, void*, const Table*, int id) {
    return start(library, path, id);
}

template <int library>
int close(int id, void* parameters) {
    File* const file = find_file(library, id);
    if (!usable(file)) return bad_id;
    const Depth deeper(shim);
    const bool forwarded = file->forwarded();
    const int code =
        forwarded ? file->real->close(file->inner_of(id)) : engine_table.close(id, parameters);
    if (code == 0)
        remove_file(library, id);
    else
        file->ended = !forwarded && code != bad_id;
    return code;
}

template <int library>
int abort(int id) {
    const File* const file = find_file(library, id);
    if (!usable(file)) return bad_id;
    const Depth deeper(shim);
    const int code =
        file->forwarded() ? file->real->abort(file->inner_of(id)) : engine_table.abort(id);
    remove_file(library, id);
    return code;
}

template <int library>
Table make_table() {
    Table table{};
    table.create = create<library>;
    table.close = close<library>;
    table.abort = abort<library>;
#define FORWARDED(name, Forward) table.name = Entry<library, &Table::name, Forward>::call;
#define X(name) FORWARDED(name, forwarding::Same<&Real::name>)
    THALWEG_PLAIN_ENTRIES(X)
#undef X
#define X(name) FORWARDED(name, forwarding::Group<&Real::name>)
    THALWEG_GROUP_ENTRIES(X)
#undef X
#define X(name) FORWARDED(name, forwarding::Typed<&Real::name>)
    THALWEG_TYPED_ENTRIES(X)
#undef X
#define X(name) FORWARDED(name, Special<&forwarding::name>)
    THALWEG_SPECIAL_ENTRIES(X)
    X(put_att)
    X(inq_var_all)
#undef X
    return table;
}

}  // namespace

void decline(const thalweg_call* made) {
    Call call;
    set_communicator(*made, call);
    all_take(call, false);
}

void begin_router(const thalweg_shim* given) {
    shim = given;
    pthread_atfork(nullptr, nullptr, [] { is_child = true; });
}

Table registered_table(int library) {
    static_assert(thalweg_most_libraries == 4);
    switch (library) {
        case 0: return make_table<0>();
        case 1: return make_table<1>();
        case 2: return make_table<2>();
        default: return make_table<3>();
    }
}

bool in_child() { return is_child; }

const Real& real_of(int library, void* handle) {
    Real& real = reals[library];
    real = {};
#define X(name, ...) find(handle, #name, real.name);
    THALWEG_PLAIN_ENTRIES(X)
    THALWEG_GROUP_ENTRIES(X)
    THALWEG_SPECIAL_ENTRIES(X)
    THALWEG_OTHER_FUNCTIONS(X)
#undef X
#define X(name) find_typed(handle, #name, real.name);
    THALWEG_TYPED_ENTRIES(X)
    X(put_att)
#undef X
    return real;
}

int set_access(const thalweg_netcdf* library, int id, int variable, int access) {
    const File* const file = find_file(library->index, id);
    if (file == nullptr) return thalweg_call_not_taken;
    if (!usable(file)) return bad_id;
    if (!file->forwarded()) return engine_table.var_par_access(id, variable, access);
    const Depth deeper(shim);
    return call_if_built(file->real->var_par_access, file->inner_of(id), variable, access);
}

const Table& file_table() {
    static const Table table = registered_table(engine_library);
    return table;
}

int forward(int id, const std::string& place, int mode, bool create, const std::string& reason) {
    File* const file = find_file(engine_library, id);
    if (file == nullptr || file->forwarded()) return bad_id;
    const Depth deeper(shim);
    const std::string path = std::exchange(file->call.path, place);
    const int code = make_by_library(*file, create, mode);
    file->call.path = path;
    if (code == 0 && !reason.empty()) account(file->call, reason);
    return code;
}

void take_back(int id) {
    File* const file = find_file(engine_library, id);
    const Depth deeper(shim);
    if (!file->forwarded()) return;
    file->real->close(file->inner_of(id));
    file->inner.store(-1, std::memory_order_release);
}

}  // namespace thalweg::netcdf
