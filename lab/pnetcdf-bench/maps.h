/* Decompositions of E3SM-IO's maps, and the calls of its cases F and G.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Ends the job with a message if a call of PnetCDF has failed. */
void check(int code, const char* what);
#define CHECK(call) check(call, #call)

extern int rank, ranks;

/* Removes a file that is there, because replacing it takes longer than writing a new one. Returns
 * the time. */
double begin_file(const char* path);

/* Writes records of E3SM's case F or G. Prints the seconds of the first record, the mean seconds of
 * a later record, and the seconds from create to close.
 * @param which  'f' or 'g'
 * @param map    path of the decompositions */
void write_e3sm(char which, const char* map, const char* path, int records);
