/* Loads the front, and attaches it to the netCDF libraries.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_LOAD_H
#define THALWEG_LOAD_H

#include "real.h"

/* Returns the front if it is loaded and serves a library; else null. */
const struct thalweg_front* front_of(const struct library* library);

/* Returns who has an id of a library. */
enum thalweg_owner owner_of(const struct library* library, int id);

/* Loads the front if need be and registers its table in a library.
 * Returns 0 if that is not possible, which is told once. */
int attach(struct library* library, const struct thalweg_call* call);

/* Loads the front if need be, for a file of PnetCDF's names. Returns null if it cannot be used. */
const struct thalweg_front* front_for_pnetcdf(void);

/* Returns a function of PnetCDF as the calls since the first one reach it; null if there is none.
 * In the file for PnetCDF's names. */
void* real_pnetcdf(const char* name);

/* Notes that the program has registered a table of its own in a slot. */
void detach(struct library* library, int mode);

/* Tests if this is a child of the process that loaded the front. */
int is_child(void);

/* Loads the front, if need be, for a path that a killed run may have left incomplete, and lets it
 * prepare what the library is about to do. Returns 1 if the call has to come to the table. */
int prepare(struct library* library, const char* path, int mode, int use);

/* Sets the call that this thread makes; null: none. */
void set_call(const struct thalweg_call* call);

#endif
