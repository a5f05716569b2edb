/* Thalweg: parallel output of Earth-system model fields in file order.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C interface. Handles are opaque; every function returns TW_OK (0) or one of the negative
 * codes in thalweg/base.h, and tw_error_message() returns the full text of a session's last error.
 *
 * Conventions
 * - Dimension names are listed slowest first, separated by blanks, as in netCDF's C interface:
 *   "time lev lat lon". A blank inside a name is escaped with a backslash, as in CDL. Starts,
 *   counts, shapes and strides follow the same order. Indices start at 0. (In the Fortran interface
 *   dimensions are listed fastest first, and indices start at 1.)
 * - Counts, indices and sizes are 64-bit.
 * - What is opened is closed, and what is made is freed, by the other verb of the pair: tw_init and
 *   tw_finalize; tw_create, tw_open or tw_restart_read and tw_close; tw_decompose... and
 *   tw_free_decomposition; tw_restart_new and tw_restart_free. The second one sets the handle to
 *   NULL, also if it returns an error, with one exception, which returns TW_ESTATE and has no
 *   effect: another thread is in the session.
 * - tw_put, tw_put_record, tw_get and tw_restart_add take dense arrays. The functions of the same
 *   names with _array take a tw_array, which may have any strides, and flags: TW_DEFERRED leaves
 *   the array in use after the call, until the step ends (puts) or until tw_read (tw_get_array).
 * All other calls have finished with the array when they return.
 * - A function marked "@note Collective" must be called by every rank of the session's
 *   communicator; it returns the same code and sets the same text on every rank. All others are
 *   local: no rank waits for another.
 * - In every collective call the ranks first agree on which call it is. If they are in different
 *   calls (say, tw_create and tw_sync), all of them return TW_EMISMATCH, and none of the calls has
 *   any effect, with two exceptions: if some rank called tw_close, the file is closed on all ranks,
 *   unfinished; if some rank called tw_finalize, the session ends on all ranks.
 * - Every function that takes a handle returns TW_EHANDLE for a null one and for that of a freed
 *   decomposition, and TW_ECLOSED for a copy of a closed file's handle. After tw_finalize no copy
 *   of any handle of the session may be used.
 * - A session must begin after MPI_Init and end before MPI_Finalize. Programs without MPI begin one
 *   by tw_init_serial. With THALWEG_SERIAL defined, as in a build of the library without MPI, these
 *   headers do not include mpi.h; the calls with a communicator are then missing.
 *
 * Threads
 * - One thread at a time may be in a session, with all its handles; it may be any thread from which
 *   MPI allows calls, and another one at the next call. The library has no other state, so threads
 *   with a session each do not disturb each other.
 * - A second thread gets TW_ESTATE at once, and its call has no effect. The next collective call
 *   then returns the same error on all ranks and does nothing else, because other ranks may be
 *   waiting in the refused call.
 * - tw_strerror and tw_recover need no session, and any thread may call them at any time. Between
 *   tw_init and tw_finalize this holds for tw_inq_role and tw_model_comm, too.
 * - tw_error_message returns the text of the session's last error; on a thread that was refused or
 *   passed a null handle, it returns the text of that error.
 * - Threads that write at the same time need MPI_THREAD_MULTIPLE and a session each, on
 *   communicators of their own. They cannot use storage=pnetcdf, which supports only one thread per
 *   process. With one thread in the library at a time, MPI_THREAD_FUNNELED is enough if it is the
 *   main one, else MPI_THREAD_SERIALIZED.
 * - A process that the model forks cannot use the session: its calls return TW_ESTATE and have no
 *   effect, tw_close, tw_finalize and tw_abandon among them.
 */
#ifndef THALWEG_H
#define THALWEG_H

#define TW_VERSION_MAJOR 0
#define TW_VERSION_MINOR 1
#define TW_VERSION_PATCH 0

#include "thalweg/array.h"
#include "thalweg/base.h"
#include "thalweg/decomposition.h"
#include "thalweg/definitions.h"
#include "thalweg/history.h"
#include "thalweg/reading.h"
#include "thalweg/restart.h"
#include "thalweg/session.h"
#include "thalweg/writing.h"

#endif
