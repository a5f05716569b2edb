// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/front/table.hpp"

#include <netcdf.h>
#include <pnetcdf.h>

#include <atomic>

#include "front/router.hpp"
#include "pnetcdf/engine/calls.hpp"
#include "pnetcdf/engine/data/data_calls.hpp"
#include "pnetcdf/front/functions.hpp"
#include "pnetcdf/front/open_files.hpp"
#include "shim/pnetcdf_numbers.h"

namespace thalweg::pnetcdf {

namespace {

const thalweg_shim* shim;

constexpr const char* texts[] = {
#define NAME(name, ...) #name,
#include "pnetcdf_names.inc"
};

std::atomic<void*> reals[number_of_names];

/// A PnetCDF function whose first argument is a file's id. It calls the engine or the real
/// function.
template <class Function, auto function, int number>
struct Routed;

template <class... A, auto function, int number>
struct Routed<int(int, A...), function, number> {
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
        return engine::on(*open->file, [&] {
            open->file->use(*open->handle);
            return function(*open->file, arguments...);
        });
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
#define PLAIN(name, ...)                                                                           \
    reinterpret_cast<void*>(Plain<decltype(::name), alone::name, number_of_##name>::call),
#define OPENING(name, ...) reinterpret_cast<void*>(opening::name),
#define FILES(name, ...) reinterpret_cast<void*>(opening::name),
#define OF_FILE(name, ...)                                                                         \
    reinterpret_cast<void*>(Routed<decltype(::name), engine::calls::name, number_of_##name>::call),
#define DATA(name, types, values, verb, kind, type, all)                                           \
    reinterpret_cast<void*>(                                                                       \
        Routed<decltype(::name),                                                                   \
               engine::DataFunction<decltype(::name), engine::Verb::verb, engine::Kind::kind,      \
                                    engine::Memory::type, all>::call,                              \
               number_of_##name>::call),
#include "pnetcdf_names.inc"
};

}  // namespace

const thalweg_shim* the_shim() { return shim; }

void* function_of(int number) { return functions[number]; }

void* real_function(int number) {
    void* found = reals[number].load(std::memory_order_acquire);
    if (found == nullptr) {
        found = shim->real_pnetcdf(texts[number]);
        reals[number].store(found, std::memory_order_release);
    }
    return found;
}

void finish() { opening::tell_unclosed_files(); }

void* const* begin(const thalweg_shim* given, int* count) {
    shim = given;
    *count = number_of_names;
    opening::adopt_open_files();
    return functions;
}

}  // namespace thalweg::pnetcdf
