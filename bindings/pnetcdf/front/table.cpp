// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/front/table.hpp"

#include <netcdf.h>
#include <pnetcdf.h>

#include <mutex>

#include "front/router.hpp"
#include "pnetcdf/engine/calls.hpp"
#include "pnetcdf/engine/data/data_calls.hpp"
#include "pnetcdf/front/alone.hpp"
#include "pnetcdf/front/open_files.hpp"
#include "pnetcdf/front/opening.hpp"
#include "pnetcdf/front/real.hpp"
#include "shim/pnetcdf_numbers.h"

namespace thalweg::pnetcdf {

namespace {

/// A PnetCDF function whose first argument is a file's id. It calls the engine or the real
/// function.
template <class Function, auto engine, int number>
struct Routed;

template <class... A, auto engine, int number>
struct Routed<int(int, A...), engine, number> {
    static int call(int id, A... arguments) {
        const auto forward = [&](int inner) {
            auto* const real = reinterpret_cast<int (*)(int, A...)>(real_function(number));
            return real != nullptr ? real(inner, arguments...) : NC_ENOTBUILT;
        };
        if (*the_shim()->depth() > 0) return forward(id);
        const OpenFile* const open = find_file(id);
        if (open == nullptr) return NC_EBADID;
        const Depth deeper(the_shim());
        if (open->file == nullptr) return forward(open->inner);
        if (netcdf::in_child()) return NC_EBADID;
        const std::lock_guard lock(open->file->mutex());
        open->file->use(*open->handle);
        return engine(*open->file, arguments...);
    }
};

/// A function that concerns no open file. It calls the real PnetCDF or, if there is none, the
/// library's own function.
template <class Function, auto own, int number>
struct Plain;

template <class Result, class... A, auto own, int number>
struct Plain<Result(A...), own, number> {
    static Result call(A... arguments) {
        auto* const real = reinterpret_cast<Result (*)(A...)>(real_function(number));
        return real != nullptr ? real(arguments...) : own(arguments...);
    }
};

void* const functions[number_of_names] = {
#define PLAIN(name, arguments)                                                                     \
    reinterpret_cast<void*>(Plain<decltype(::name), alone::name, number_of_##name>::call),
#define OPENING(name, arguments) reinterpret_cast<void*>(opening::name),
#define FILES(name, arguments) reinterpret_cast<void*>(opening::name),
#define OF_FILE(name, arguments)                                                                   \
    reinterpret_cast<void*>(Routed<decltype(::name), engine::calls::name, number_of_##name>::call),
#define DATA(name, arguments, verb, kind, type, all)                                               \
    reinterpret_cast<void*>(                                                                       \
        Routed<decltype(::name),                                                                   \
               engine::DataFunction<decltype(::name), engine::Verb::verb, engine::Kind::kind,      \
                                    engine::Memory::type, all>::call,                              \
               number_of_##name>::call),
#include "pnetcdf_names.inc"
};

}  // namespace

void finish() { opening::tell_unclosed_files(); }

void* const* begin(const thalweg_shim* shim, int* count) {
    set_functions(shim, functions);
    *count = number_of_names;
    opening::adopt_open_files();
    return functions;
}

}  // namespace thalweg::pnetcdf
