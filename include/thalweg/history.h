/* Thalweg: history, that is, files of instants, means, minima and maxima of a model's fields, as a
 * configuration file asks for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part of thalweg.h, which states the conventions. docs/history.md describes the configuration.
 *
 * A model declares its coordinates and fields once and calls tw_history_ready. In each step it
 * calls tw_history_time, sends its fields in any order, and calls tw_history_end_step.
 */
#ifndef THALWEG_HISTORY_H
#define THALWEG_HISTORY_H

#include "thalweg/array.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tw_history_impl* tw_history;
typedef struct tw_field_impl* tw_field;

/**
 * Begins a history.
 * @param config    path of a TOML file, which rank 0 reads; or its text, if it has a newline
 * @param calendar  CF's name: "standard" (or "gregorian"), "proleptic_gregorian", "julian",
 *                  "noleap" ("365_day"), "all_leap" ("366_day"), "360_day"
 * @param start     date to which time 0 belongs, "2000-01-01" or "2000-01-01 06:00:00"; a restarted
 *                  run passes that of the first run
 * @param settings  NULL, or "name=value; ..." as for tw_create, for all files of the history; the
 *                  configuration overrides them. One more, "step=1800", is the length of the
 *                  model's step in seconds, for configurations that count in steps, and for a first
 *                  step that is longer than a window
 * @param history   receives the handle; end it with tw_history_close
 * @return TW_OK, TW_EARG (an unknown calendar, an invalid date), TW_EIO (the file cannot be read),
 *         TW_ESETTING (the text has all errors of the configuration, with their lines),
 *         TW_EMISMATCH (the arguments differ between ranks)
 * @note Collective
 */
tw_status tw_history_open(tw_session session, const char* config, const char* calendar,
                          const char* start, const char* settings, tw_history* history);

/**
 * Declares a coordinate, or any other variable without time that belongs in the files of the fields
 * that need it: those that have its dimension of the same name, or name it in one of the attributes
 * coordinates, bounds, climatology, cell_measures, ancillary_variables, grid_mapping, formula_terms
 * or mesh, directly or by another coordinate. It is written once a file. Every rank passes the same
 * arguments, except for the data. Local.
 * @param dims           names in file order, slowest first; "" for a scalar
 * @param decomposition  as for tw_def_var; NULL: every rank has all of it. It may be freed
 *                       afterwards
 * @param array          as for tw_put_array; copied
 * @param attributes     NULL, or "units=degrees_north; standard_name=latitude". Numbers
 *                       become numbers of type double; a text in quotes stays a text
 * @return TW_OK, TW_EARG, TW_EEXISTS, TW_ESHAPE, TW_ETYPE, TW_EHANDLE, TW_ESTATE (after
 *         tw_history_ready)
 */
tw_status tw_history_coordinate(tw_history history, const char* name, const char* dims,
                                tw_decomposition decomposition, tw_array array,
                                const char* attributes);

/**
 * Declares a field. Every rank passes the same arguments. Local.
 * @param type           type of its values, and of its instants in files with type = "same"
 * @param dims           names in file order, slowest first, without time: "lev lat lon"
 * @param decomposition  the ranks' parts: its dimensions are those of the field, by name, in any
 *                       order. It may be freed afterwards
 * @param attributes     as for tw_history_coordinate. Three are not written: missing=none
 *                       (default), fixed (the same elements in all samples of a window) or
 *                       varying; missing_value, which marks missing elements (default 1e20; nan:
 *                       any NaN); kind=intensive or flux, which is accepted and has no effect yet
 * @param field          receives the handle, which belongs to the history
 * @return as tw_history_coordinate
 */
tw_status tw_history_field(tw_history history, const char* name, tw_type type, const char* dims,
                           tw_decomposition decomposition, const char* attributes, tw_field* field);

/**
 * Ends the declarations, checks the configuration against them and allocates the memory for running
 * means and other statistics.
 * @return TW_OK, TW_ESETTING (the text has all errors), TW_EMISMATCH (the declarations differ
 *         between ranks), TW_ENOMEM, TW_ESTATE, or an error of tw_open (a file that lists
 *         the elements of a region)
 * @note Collective
 */
tw_status tw_history_ready(tw_history history);

/**
 * Sets the time to which the fields sent from now on belong: of instants, their time; of means, the
 * end of the step. Local.
 * @param seconds  since the start, rounded to microseconds. It grows from step to step; the same
 *                 time may be set again before tw_history_end_step
 * @return TW_OK, TW_ESTATE, TW_EARG: it does not grow; a step covers a whole window of a stream
 *         whose samples are no averages over steps (those count in each window with the part of the
 *         step that lies there); or the first step covers a window, and its length is not known by
 *         the setting "step"
 */
tw_status tw_history_time(tw_history history, double seconds);

/** Tests if a field sent now would be used. Returns 0 for NULL. Costs one comparison. Local. */
int tw_wants(tw_field field);

/**
 * Sends this rank's part of a field. Values that no stream uses at this time are ignored. Local.
 * @param type     the field's
 * @param data, n  as for tw_put; the array can be reused when the call returns
 * @return TW_OK, TW_ETYPE, TW_ESHAPE, TW_EARG, TW_EHANDLE, TW_ESTATE (before tw_history_time, or
 *     sent twice in a step: the first values stand), TW_ENOMEM
 */
tw_status tw_send(tw_field field, tw_type type, const void* data, int64_t n);

/** Sends an array with any strides; otherwise as tw_send. Local.
 *  @param weight  weight of the sample, the same on every rank: 0 adds nothing. NULL: the step's
 *                 length
 *  @return as tw_send; TW_EARG (the weight is negative or not finite) */
tw_status tw_send_array(tw_field field, tw_array array, const double* weight);

/** Sends one box of the field's decomposition, as dense as in a whole array: for models that work
 *  on one block at a time. Every rank sends each of its boxes once a step. Local.
 *  @param block  from 0
 *  @param n      number of elements at data, halos (and padding) included
 *  @return as tw_send; TW_EBOUNDS */
tw_status tw_send_block(tw_field field, int block, tw_type type, const void* data, int64_t n);

/**
 * Ends the step: writes the records that are due. A step in which none is due makes no call of MPI,
 * except the first step of a run without the setting "step".
 * @return TW_OK; TW_EMISSING (a field was sent by some ranks only; or by none, with unsent =
 *         "error" in the configuration: otherwise its values are the fill value), TW_EMISMATCH
 *         (sent with different times or weights), TW_EARG (the missing elements of a field declared
 *         with missing=fixed have changed), TW_ERANGE (values do not fit the type of the file, and
 *         become the fill value), TW_ESTATE, or an error of the files. The record is then lost, and
 *         the model may go on
 * @note Collective if a record is due, if stations are found that are not on land, and in the first
 *       step of a run without the setting "step". Every rank sets the same times and calls this in
 *       each step, also after an error of tw_history_time or tw_send. A rank whose tw_history_time
 *       has failed, or was not called, assumes a step as long as its last one and takes part in
 *       what is due then. A rank that has set another time is detected in the next collective call
 *       (TW_EMISMATCH); until then, ranks wait for it
 */
tw_status tw_history_end_step(tw_history history);

/**
 * Completes the records written so far, and registers a copy of the history's state in a restart.
 * Call it between steps, before each tw_restart_write, which then writes the state.
 * @return TW_OK, TW_ESTATE, an error of tw_restart_add or of the files
 * @note Collective
 */
tw_status tw_history_save(tw_history history, tw_restart restart);

/**
 * Reads the state that tw_history_save registered, on any number of ranks: after tw_history_ready,
 * before the first tw_history_time. The next records continue the files: records after the saved
 * state, which a run wrote before it was killed, are removed.
 * @param file  as tw_restart_read has opened it
 *
 * Streams are found by name. One that the state lacks begins at the restart, with a window that is
 * not complete and a file of its own; one that is no longer in the configuration has ended. If a
 * session has several histories, each finds its own state if they are opened in the same order.
 * @return TW_OK, TW_EDIFFERENT (a stream's definition has changed: the text names the key),
 *         TW_ENOTFOUND (the restart has no state of this history), TW_EFORMAT (a file has lost
 *         records), an error of tw_get. After the first two, none of the state is used, unless it
 *         has stations that skip land; after the others, tw_history_end_step, tw_history_save and
 *         tw_history_close return the error again, and no records are written
 * @note Collective
 */
tw_status tw_history_load(tw_history history, tw_file file);

/** Returns the bytes of running sums, minima and other statistics that this rank keeps from step
 *  to step, now and at most so far. Instants, weights and the records that are being written are
 *  not counted. Each pointer may be NULL. Local.
 *  @return TW_OK, TW_EHANDLE, TW_ECLOSED */
tw_status tw_history_memory(tw_history history, int64_t* now, int64_t* most);

/**
 * Ends the step, if that was not done, and the history, closes its files and sets the handle to
 * NULL. Windows that are not complete are dropped (with a warning, unless tw_history_save has saved
 * them), or written if the configuration says at_close = "write".
 * @return as tw_history_end_step, and as tw_close; TW_EMISMATCH (the ranks are at different times)
 * @note Collective
 */
tw_status tw_history_close(tw_history* history);

#ifdef __cplusplus
}
#endif

#endif
