/* Functions with PnetCDF's names. Each calls the front's function if the front is loaded,
 * otherwise the real one. All arguments are integers or addresses, so each is passed on as a
 * machine word, whatever its type.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "front.h"
#include "pnetcdf_numbers.h"
#include "policy.h"

typedef uintptr_t word;

static void* _Atomic functions[number_of_names];
static const void* _Atomic first_caller; /* address in the program's first caller, by which the
                                          * front finds the real functions */

static word no_library(void) { return (word)netcdf_not_built; }
static const char* no_text(void) { return "there is no PnetCDF library"; }

/* Returns a function that takes the place of a missing one and returns an error. */
static void* absent(const char* name) {
    const int text = strcmp(name, "ncmpi_strerror") == 0 || strcmp(name, "ncmpi_strerrno") == 0 ||
                     strcmp(name, "ncmpi_inq_libvers") == 0;
    return text ? (void*)no_text : (void*)no_library;
}

void* real_pnetcdf(const char* name) { return real_function(first_caller, name); }

/* Loads the front when the program first creates or opens a file, or calls a function that no other
 * library has. */
static void begin(const void* caller, int opens) {
    static _Atomic int begun;
    if (begun || *thalweg_shim_depth() > 0 || pnetcdf_choice() == pnetcdf_off) return;
    first_caller = caller;
    const struct thalweg_front* const front = front_for_pnetcdf(opens);
    begun = 1;
    if (front == NULL || front->pnetcdf == NULL) return;
    if (front->pnetcdf_count != number_of_names) {
        tell_once("no file of PnetCDF is taken: the front was built for another version of it", "");
        return;
    }
    for (int i = 0; i < number_of_names; ++i) functions[i] = front->pnetcdf[i];
}

/* Returns the real function of a name, and notes it unless the front has another one meanwhile. If
 * there is none, returns that of the front. */
static void* find(enum pnetcdf_number number, const char* name, const void* caller) {
    void* const real = real_function(caller, name);
    void* none = NULL;
    if (real == NULL) {
        begin(caller, 0);
        return functions[number] != NULL ? functions[number] : absent(name);
    }
    atomic_compare_exchange_strong(&functions[number], &none, real);
    return real;
}

static inline void* function_of(enum pnetcdf_number number, const char* name, const void* caller) {
    void* const known = atomic_load_explicit(&functions[number], memory_order_acquire);
    return known != NULL ? known : find(number, name, caller);
}

/* Defines a function that does something first, and then calls the front's or the real one. */
#define FUNCTION(name, types, values, first)                                                       \
    word name types;                                                                               \
    word name types {                                                                              \
        typedef word function types;                                                               \
        first;                                                                                     \
        return ((function*)function_of(number_of_##name, #name, CALLER))values;                    \
    }
#define PLAIN(name, types, values, ...) FUNCTION(name, types, values, (void)0)
#define FILES PLAIN
#define OF_FILE PLAIN
#define DATA PLAIN
#define OPENING(name, types, values) FUNCTION(name, types, values, begin(CALLER, 1))
#include "pnetcdf_names.inc"
