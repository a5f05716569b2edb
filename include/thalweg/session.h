/* Thalweg: sessions.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part of thalweg.h, which states the conventions.
 */
#ifndef THALWEG_SESSION_H
#define THALWEG_SESSION_H

#ifndef THALWEG_SERIAL /* Defined if the program, or the whole library, is built without MPI. */
#include <mpi.h>
#endif

#include "thalweg/base.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef THALWEG_SERIAL
/**
 * Starts a session on a duplicate of @p comm.
 * @param comm      the participating ranks: an intracommunicator
 * @param settings  NULL, or "name=value" pairs separated by ';' ("method=record; format=cdf5").
 *                  The environment (THALWEG_METHOD, ...) overrides them; they override the
 *                  configuration file (setting or environment THALWEG_CONFIG, TOML).
 * @param session   receives the handle, even after an error, so that tw_error_message can return
 *                  the text; free it with tw_finalize in either case. NULL if there is no memory
 *                  for it; then tw_error_message(NULL) returns the text
 * @return TW_OK, TW_EARG, TW_ESETTING, TW_ENOMEM, TW_EMPI (MPI is not running, or comm is
 *         MPI_COMM_NULL, an intercommunicator or a communicator that was freed)
 * @note Collective over comm
 */
tw_status tw_init(MPI_Comm comm, const char* settings, tw_session* session);

/**
 * Starts the sessions of a coupled model whose components share their servers. Each rank is either
 * a server, or in one or several components, or in none. A server is in all sessions: it returns
 * from this call when all of them have ended, and then calls tw_finalize for each.
 * @param comm        all ranks of the components, and the servers: an intracommunicator
 * @param n           number of components, at least 1
 * @param components  [n] communicators of the components' ranks; MPI_COMM_NULL where this rank is
 *                    not in the component
 * @param serves      nonzero if this rank is a server; at least one is
 * @param settings    as in tw_init, for all sessions; the setting "servers" must not be given.
 *                    The servers write files with the setting "service=servers"
 * @param sessions    receives n handles, NULL for components in which this rank is not. After an
 *                    error none can be used for more than tw_error_message; free each with
 *                    tw_finalize in either case
 * @return TW_OK, or an error of tw_init, the same on every rank: TW_EARG (a component has no ranks,
 *         or its communicator has other ranks; a rank of a component serves; no rank serves),
 *         TW_EMISMATCH (n differs), TW_ESETTING, TW_ENOMEM, TW_EMPI. If this rank has no
 *         session, tw_error_message(NULL) returns the text
 * @note Collective over comm
 */
tw_status tw_init_components(MPI_Comm comm, int n, const MPI_Comm components[], int serves,
                             const char* settings, tw_session sessions[]);
#endif

/**
 * Starts a session of this process alone: for programs without MPI. If MPI is running, this is
 * tw_init with MPI_COMM_SELF. If it is not, the session may begin and end at any time, and
 * storage=pnetcdf is an error. Processes that a launcher started each have a session of their own,
 * and must write files of their own.
 * @param settings  as in tw_init
 * @param session   as in tw_init
 * @return TW_OK, TW_EARG, TW_ESETTING, TW_ENOMEM
 */
tw_status tw_init_serial(const char* settings, tw_session* session);

/**
 * Closes the files still open (as tw_close does), writes what the settings "summary", "report" and
 * "trace" ask for, frees everything and sets the handle to NULL.
 * @return TW_OK, TW_EHANDLE, or the first error that no other call has returned yet; TW_EMPI if
 *         MPI_Finalize was called first: files that were open at that time remain as PATH.part, and
 *         tw_recover can complete them; TW_ESTATE: another thread is in the session, which goes on
 * @note Collective
 */
tw_status tw_finalize(tw_session* session);

/**
 * Ends this rank's part of a session without the others: for a program that cannot continue and is
 * about to call MPI_Abort. Open files remain as PATH.part, and tw_recover can complete them. Other
 * ranks are notified only when this one calls MPI_Finalize, or tw_init with the same ranks. These
 * calls wait for the other ranks, which get TW_ECANCELED, as from tw_cancel; memory of the session
 * is kept until then. Sets the handle to NULL. Local.
 * @return TW_OK, TW_EHANDLE, TW_ESTATE (another thread is in the session, which goes on)
 */
tw_status tw_abandon(tw_session* session);

/**
 * Ends the session on all ranks, because this rank cannot go on with the others: after an
 * exception, for example. The other ranks get TW_ECANCELED, with this rank and `why`, from the
 * collective call of this session that they are in or make next, and from every later one; they
 * then call tw_finalize, which returns the same. Open files remain as PATH.part, and tw_recover can
 * complete them. Waits until all ranks are in such a call: if some of them may wait for this rank
 * elsewhere, call tw_abandon and MPI_Abort instead. Sets the handle to NULL.
 * @param why  NULL, or text for the other ranks
 * @return TW_OK, TW_EHANDLE, TW_ESTATE (another thread is in the session, which goes on)
 * @note Collective, but the other ranks may be in other calls
 */
tw_status tw_cancel(tw_session* session, const char* why);

/** Role of a rank in its session. */
enum tw_role TW_ENUM {
    TW_MODEL = 0, /**< the rank runs the model */
    TW_SERVER = 1 /**< the rank writes files for the model's ranks */
};
typedef enum tw_role tw_role;

/**
 * Returns this rank's role. With the setting "servers" some ranks are dedicated to I/O: on them
 * tw_init runs the server, and returns when all model ranks have called tw_finalize; a server then
 * only has to call tw_finalize itself. Local.
 * @param role  receives TW_MODEL or TW_SERVER
 * @return TW_OK, TW_EARG, TW_EHANDLE
 */
tw_status tw_inq_role(tw_session session, tw_role* role);

#ifndef THALWEG_SERIAL
/**
 * Returns the communicator of the ranks that are not servers, in the order of the session's
 * communicator; the model uses it in place of the one it passed to tw_init. Local.
 * @param comm  receives the communicator, which belongs to the session, is valid until tw_finalize
 *              and carries none of the library's messages; MPI_COMM_NULL on a server, and where
 *              MPI was not running when tw_init_serial was called
 * @return TW_OK, TW_EARG, TW_EHANDLE
 */
tw_status tw_model_comm(tw_session session, MPI_Comm* comm);
#endif

/** Returns the full text of this rank's last error in this session; "" if there was none. If this
 *  thread's last call had a null handle, or was refused because another thread was in a call,
 *  returns the text of that error. Valid until the next call. Local. */
const char* tw_error_message(tw_session session);

/**
 * Returns the place of the error whose text tw_error_message returns.
 * Each pointer may be NULL. The texts are valid until the next call. Local.
 * @param file      receives the path; "" if the error concerns no file, or there was none
 * @param variable  receives the name; "" if the error concerns no single variable
 * @param record    receives the record, from 0 (in Fortran's texts from 1); -1 if it concerns none
 * @param rank      receives the rank where the call failed; -1 if the error concerns no single rank
 * @return TW_OK
 */
tw_status tw_error_place(tw_session session, const char** file, const char** variable,
                         int64_t* record, int* rank);

/** Kinds of text that tw_summary returns. */
enum tw_summary_form TW_ENUM {
    TW_SUMMARY_JSON = 0,  /**< figures of the session so far, as JSON: phases (seconds, slowest
                               rank), bytes, writes, messages, peak memory, totals per file; files
                               beyond the first 1000 are summed up */
    TW_SUMMARY_TABLE = 1, /**< the most important of these figures, as a table to be printed */
    TW_SUMMARY_SETTINGS =
        2 /**< as a table: the settings in effect, and where each value comes from */
};
typedef enum tw_summary_form tw_summary_form;

/**
 * Returns a summary of the session.
 * @param form  the same on every rank
 * @param text  receives the text, which is the same on every rank, belongs to the session and is
 *              valid until the next call of this function
 * @return TW_OK, TW_EARG, TW_EHANDLE, TW_EMISMATCH (the ranks are in different calls, or form
 *         differs)
 * @note Collective
 */
tw_status tw_summary(tw_session session, tw_summary_form form, const char** text);

#ifdef __cplusplus
}
#endif

#endif
