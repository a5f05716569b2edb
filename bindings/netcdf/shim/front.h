/* Loads the front, attaches it to the netCDF libraries, and offers calls to it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_LOAD_H
#define THALWEG_LOAD_H

#include "real.h"

/* Returns the front if it is loaded and serves a library; otherwise null. */
const struct thalweg_front* front_of(const struct library* library);

/* Returns the owner of a file id in a library. */
enum thalweg_owner owner_of(const struct library* library, int id);

/* Loads the front if necessary, and registers its table in a library. Returns 0 if this is not
 * possible, which is reported once. */
int attach(struct library* library, const struct thalweg_call* call);

/* Leaves a call with a communicator to the library on all ranks. Collective with their calls of the
 * table. */
void decline(const struct thalweg_call* call);

/* Loads the front if necessary, for a call of PnetCDF. Returns null if it cannot be used.
 * opens: nonzero if the call creates or opens a file, so that MPI must have been initialized. */
const struct thalweg_front* front_for_pnetcdf(int opens);

/* Notes that the program has registered its own table.
 * @param mode  contains the bits of its slot */
void detach(struct library* library, int mode);

/* Tests if this process was forked from the one that loaded the front. */
int is_child(void);

/* Lets the front prepare a path that the library is about to use. Loads the front first if a killed
 * run may have left the file incomplete. Returns 1 if the table must get the call. */
int prepare(struct library* library, const char* path, int mode, int use);

/* Sets the call that this thread is making; null: none. */
void set_call(struct thalweg_call* call);

/* The following functions are in copied_objects.c. */

/* Returns the number of objects (executable and libraries) that are loaded. */
int loaded_objects(void);

/* Makes libraries that were loaded with RTLD_DEEPBIND use the program's copies of objects.
 * first: number of objects that were loaded before them. */
void share_copied_objects(int first);

/* The address to which the present function returns; it tells which library the caller uses. */
#define CALLER __builtin_return_address(0)

#define X(name, arguments) int name arguments;
THALWEG_REAL_FUNCTIONS(X)
#undef X

/* Error codes of netCDF. */
enum { netcdf_not_built = -128, netcdf_no_parallel = -114, netcdf_bad_type = -45 };

/* Offers a call to the front. `code` receives its result. Returns 0 if the library must get the
 * call; for a call with a communicator, this is the same on all ranks. */
int offer(struct library* library, struct thalweg_call call, const char* path, int* id, int* code);

#endif
