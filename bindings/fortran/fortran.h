/* What the files of the C side of the Fortran interface share. Internal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef THALWEG_FORTRAN_H
#define THALWEG_FORTRAN_H

#include <ISO_Fortran_binding.h>
#include <stdint.h>
#include <thalweg/thalweg.h>

/* The derived types of the Fortran modules. */
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

/* A Fortran array in C's order of dimensions. */
struct view {
    void* data;
    int type; /* negative: a type that a file cannot hold */
    int rank;
    int64_t extent[CFI_MAX_RANK + 1];
    int64_t stride[CFI_MAX_RANK + 1]; /* in bytes */
};

/* netCDF's names have at most 256 bytes; longer ones are cut to 257 and so found too long. */
enum { name_size = 258 };
struct name {
    char text[name_size];
};

/* Returns a text as a name, without trailing blanks. */
struct name thalweg_f_name(const CFI_cdesc_t* text);

/* Returns the tw_type of an array's elements; negative: a type that a file cannot hold. */
int thalweg_f_type(const CFI_cdesc_t* array);

struct view thalweg_f_view(const CFI_cdesc_t* array);

/* Describes the view for the library. The result points into the view. */
tw_array thalweg_f_array(const struct view* view);

/* Returns the names of a list in reverse order, for C; NULL if there is no memory. A backslash
 * escapes a blank or a backslash in a name. The caller frees the text. */
char* thalweg_f_reversed(const CFI_cdesc_t* names);

/* Stores the status in ierr; without ierr, prints an error and stops the program.
 * @param session    session with the text of the error; NULL: there is none
 * @param procedure  name of the procedure, for the message */
void thalweg_f_check(int status, tw_session session, const char* procedure, int* ierr);

/* Tests if the program has passed a decomposition that was never created, or was freed. */
int thalweg_f_is_empty(const struct fortran_decomposition* decomposition);

#endif
