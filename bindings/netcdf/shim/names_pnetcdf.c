/* PnetCDF's names: each function calls the front's once that is loaded, and the real one before.
 * Whatever its types, an argument is an integer or an address and is passed on as a word.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <string.h>

#include "front.h"
#include "names.h"
#include "policy.h"
#include "real.h"

#define CALLER __builtin_return_address(0)

typedef uintptr_t word;

enum number {
#define PLAIN(name, arguments) number_of_##name,
#define OF_FILE(name, arguments) number_of_##name,
#define OPENING(name, arguments) number_of_##name,
#define DATA(name, arguments, ...) number_of_##name,
#include "pnetcdf_names.inc"
#undef PLAIN
#undef OF_FILE
#undef OPENING
#undef DATA
    number_of_names
};

static void* _Atomic functions[number_of_names];
static const void* _Atomic first_caller; /* address in the program's first caller, by which the
                                          * front finds the real functions */

static word no_library(void) { return (word)netcdf_not_built; }
static const char* no_text(void) { return "there is no PnetCDF library"; }

static int returns_text(const char* name) {
    return strcmp(name, "ncmpi_strerror") == 0 || strcmp(name, "ncmpi_strerrno") == 0 ||
           strcmp(name, "ncmpi_inq_libvers") == 0;
}

void* real_pnetcdf(const char* name) { return real_function(first_caller, name); }

/* Returns the real function of a name. Stores it, unless the front has replaced it meanwhile. */
static void* find(enum number number, const char* name, const void* caller) {
    void* const real = real_function(caller, name);
    void* none = NULL;
    if (real == NULL) return returns_text(name) ? (void*)no_text : (void*)no_library;
    atomic_compare_exchange_strong(&functions[number], &none, real);
    return real;
}

static inline void* function_of(enum number number, const char* name, const void* caller) {
    void* const known = atomic_load_explicit(&functions[number], memory_order_acquire);
    return known != NULL ? known : find(number, name, caller);
}

/* Loads the front when the program first creates or opens a file by PnetCDF. */
static void begin(const void* caller) {
    static _Atomic int begun;
    if (begun || *thalweg_shim_depth() > 0 || pnetcdf_choice() == pnetcdf_off) return;
    first_caller = caller;
    const struct thalweg_front* const front = front_for_pnetcdf();
    begun = 1;
    if (front == NULL || front->pnetcdf == NULL) return;
    if (front->pnetcdf_count != number_of_names) {
        tell_once("no file of PnetCDF is taken: the front was built for another version of it", "");
        return;
    }
    for (int i = 0; i < number_of_names; ++i)
        if (front->pnetcdf[i] != NULL) functions[i] = front->pnetcdf[i];
}

#define TYPES_0 void
#define TYPES_1 word a
#define TYPES_2 TYPES_1, word b
#define TYPES_3 TYPES_2, word c
#define TYPES_4 TYPES_3, word d
#define TYPES_5 TYPES_4, word e
#define TYPES_6 TYPES_5, word f
#define TYPES_7 TYPES_6, word g
#define TYPES_8 TYPES_7, word h
#define TYPES_9 TYPES_8, word i
#define TYPES_10 TYPES_9, word j
#define VALUES_0
#define VALUES_1 a
#define VALUES_2 VALUES_1, b
#define VALUES_3 VALUES_2, c
#define VALUES_4 VALUES_3, d
#define VALUES_5 VALUES_4, e
#define VALUES_6 VALUES_5, f
#define VALUES_7 VALUES_6, g
#define VALUES_8 VALUES_7, h
#define VALUES_9 VALUES_8, i
#define VALUES_10 VALUES_9, j

#define PLAIN(name, n)                                                                             \
    word name(TYPES_##n);                                                                          \
    word name(TYPES_##n) {                                                                         \
        typedef word function(TYPES_##n);                                                          \
        return ((function*)function_of(number_of_##name, #name, CALLER))(VALUES_##n);              \
    }
#define OF_FILE(name, n) PLAIN(name, n)
#define DATA(name, n, ...) PLAIN(name, n)
#define OPENING(name, n)                                                                           \
    word name(TYPES_##n);                                                                          \
    word name(TYPES_##n) {                                                                         \
        typedef word function(TYPES_##n);                                                          \
        begin(CALLER);                                                                             \
        return ((function*)function_of(number_of_##name, #name, CALLER))(VALUES_##n);              \
    }
#include "pnetcdf_names.inc"
