/* Declarations that the C files of the Fortran interface share. Internal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma once

#include <ISO_Fortran_binding.h>
#include <stdint.h>
#include <thalweg/thalweg.h>

/* Begins the definition of a function that only Fortran calls, so that no header declares it. */
#define FROM_FORTRAN(type, name, ...)                                                              \
    type name(__VA_ARGS__);                                                                        \
    type name(__VA_ARGS__)

/* The derived types that the Fortran modules declare. */
struct fortran_decomposition {
    tw_decomposition handle;
    tw_session session;
    int ndims;
};
struct fortran_file {
    tw_file handle;
    tw_session session;
};
struct fortran_restart {
    tw_restart handle;
    tw_session session;
};

/* A Fortran array, described with C's order of dimensions. */
struct view {
    void* data;
    int type; /* tw_type of the elements; negative: the file cannot hold this type */
    int rank;
    int64_t extent[CFI_MAX_RANK + 1];
    int64_t stride[CFI_MAX_RANK + 1]; /* distance between neighbours along each dimension, in
                                       * bytes */
};

/* Size of a name. netCDF limits names to 256 bytes. A longer name is cut to 257 bytes, so that the
 * library reports it as too long. */
enum { name_size = 258 };
struct name {
    char text[name_size];
};

/* Copies a text without its trailing blanks to `size` bytes; a text that does not fit is cut. */
void thalweg_f_copy(const CFI_cdesc_t* from, char* to, size_t size);

/* Returns a text without its trailing blanks as a name. */
struct name thalweg_f_name(const CFI_cdesc_t* text);

/* Returns the tw_type of an array's elements; negative if a file cannot hold them. */
int thalweg_f_type(const CFI_cdesc_t* array);

struct view thalweg_f_view(const CFI_cdesc_t* array);

/* Describes the view for the library. The result points into the view. */
tw_array thalweg_f_array(const struct view* view);

/* Writes the names of a list of `size` characters to `list` in reverse order, as C needs them, with
 * a null character at the end: at most size + 1 characters. Returns the number of names. A
 * backslash escapes a blank or a backslash in a name. */
int thalweg_f_reverse(const char* names, size_t size, char* list);

/* Returns the names in reverse order; NULL if there is no memory. The caller frees the text. */
char* thalweg_f_reversed(const CFI_cdesc_t* names);

/* Stores the status in ierr. If ierr is NULL, prints an error and stops the program.
 * @param session    session that has the text of the error; NULL if there is none
 * @param procedure  name of the procedure, for the message; with a colon and the text of the error
 *                   if the library does not know it (session is then NULL) */
void thalweg_f_check(int status, tw_session session, const char* procedure, int* ierr);

/* Tests if the program has passed a decomposition that was never created, or was freed. */
int thalweg_f_is_empty(const struct fortran_decomposition* decomposition);
