// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/front/real.hpp"

#include <atomic>

#include "shim/pnetcdf_numbers.h"

namespace thalweg::pnetcdf {

namespace {

const thalweg_shim* shim;
void* const* functions;

constexpr const char* texts[] = {
#define NAME(name, ...) #name,
#include "pnetcdf_names.inc"
};

std::atomic<void*> reals[number_of_names];

}  // namespace

void set_functions(const thalweg_shim* given, void* const* own) {
    shim = given;
    functions = own;
}

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

}  // namespace thalweg::pnetcdf
