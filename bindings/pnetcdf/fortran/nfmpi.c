/* PnetCDF's functions under their names in Fortran 77, and functions that its Fortran module calls.
 * They call the functions of C. In Fortran, ids count from 1, the fastest dimension is the first
 * one, and compilers pass the lengths of texts after the other arguments.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdlib.h>
#include <string.h>

/* Returns the length of a text. Compilers pass it as int or as size_t, so only the lower half
 * counts. */
static size_t length_of(size_t passed) { return (unsigned)passed; }

/* Returns a text without trailing blanks; null if there is no memory. */
static char* c_text(const char* text, size_t passed) {
    size_t length = length_of(passed);
    while (length > 0 && text[length - 1] == ' ') --length;
    char* const copy = malloc(length + 1);
    if (copy == NULL) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

/* Copies a text to a variable of Fortran, and fills the rest with blanks. */
static void fortran_text(const char* text, char* to, size_t passed) {
    const size_t length = length_of(passed), known = strlen(text);
    const size_t copied = known < length ? known : length;
    memcpy(to, text, copied);
    memset(to + copied, ' ', length - copied);
}

/* Returns ids of dimensions in C's order and numbers; null if there are none, or no memory. */
static int* c_dims(const MPI_Fint* dims, int n) {
    int* const copy = n > 0 ? malloc((size_t)n * sizeof *copy) : NULL;
    for (int i = 0; copy != NULL && i < n; ++i) copy[i] = dims[n - 1 - i] - 1;
    return copy;
}

static int* copy_of(const MPI_Fint* requests, int n) {
    int* const copy = n > 0 ? malloc((size_t)n * sizeof *copy) : NULL;
    for (int i = 0; copy != NULL && i < n; ++i) copy[i] = requests[i];
    return copy;
}

static int rank_of(int ncid, int varid) {
    int n = 0;
    return ncmpi_inq_varndims(ncid, varid, &n) == NC_NOERR ? n : 0;
}

/* Converts the ids of a variable's dimensions to Fortran's order and numbers. */
static void fortran_dims(int ncid, int varid, MPI_Fint* dims) {
    const int n = rank_of(ncid, varid);
    for (int i = 0; i < n; ++i) ++dims[i];
    for (int i = 0; i < n / 2; ++i) {
        const MPI_Fint last = dims[n - 1 - i];
        dims[n - 1 - i] = dims[i];
        dims[i] = last;
    }
}

/* One or several sections of a variable, in C's order of dimensions. */
struct section {
    MPI_Offset *start, *count, *stride, *imap;
    MPI_Offset **starts, **counts;
    void* memory;
};

/* Writes n indices in C's order, reduced by `less`, to `to`. Returns the address after them. */
static MPI_Offset* reversed(const MPI_Offset* from, int n, int less, MPI_Offset* to) {
    for (int i = 0; i < n; ++i) to[i] = from[n - 1 - i] - less;
    return to + n;
}

/* Returns a section. If the variable does not exist, the section is empty: the call must be made
 * nevertheless, as it may be collective. */
static struct section section_of(int ncid, int varid, const MPI_Offset* start,
                                 const MPI_Offset* count, const MPI_Offset* stride,
                                 const MPI_Offset* imap) {
    const int n = rank_of(ncid, varid);
    MPI_Offset* next = malloc((4 * (size_t)n + 1) * sizeof *next);
    struct section s = {.memory = next};
    if (next == NULL) return s;
    s.start = next;
    next = reversed(start, n, 1, next);
    if (count != NULL) s.count = next, next = reversed(count, n, 0, next);
    if (stride != NULL) s.stride = next, next = reversed(stride, n, 0, next);
    if (imap != NULL) s.imap = next, reversed(imap, n, 0, next);
    return s;
}

/* Returns several sections, given by starts and counts that follow one another. */
static struct section section_of_pieces(int ncid, int varid, int pieces, const MPI_Offset* starts,
                                        const MPI_Offset* counts) {
    const size_t n = (size_t)rank_of(ncid, varid), all = pieces > 0 ? (size_t)pieces : 0;
    MPI_Offset* next = malloc((2 * n * all + 1) * sizeof *next + 2 * all * sizeof next);
    struct section s = {.memory = next};
    if (next == NULL) return s;
    s.starts = (MPI_Offset**)(next + 2 * n * all + 1);
    s.counts = s.starts + all;
    if (counts == NULL) s.counts = NULL; /* single elements */
    for (size_t i = 0; i < all; ++i) {
        s.starts[i] = next;
        next = reversed(starts + i * n, (int)n, 1, next);
        if (counts == NULL) continue;
        s.counts[i] = next;
        next = reversed(counts + i * n, (int)n, 0, next);
    }
    return s;
}

/* Returns the section for an array. Without `start`, it begins at the first element. Without
 * `count`, it has the shape of the array, and one element along each further dimension. */
static struct section section_of_array(int ncid, int varid, int ranks, const MPI_Offset* shape,
                                       const MPI_Offset* start, const MPI_Offset* count,
                                       const MPI_Offset* stride, const MPI_Offset* imap) {
    const int n = rank_of(ncid, varid);
    MPI_Offset* const ones = malloc((2 * (size_t)n + 1) * sizeof *ones);
    struct section s = {.memory = NULL};
    if (ones == NULL) return s;
    for (int i = 0; i < 2 * n; ++i) ones[i] = 1;
    for (int i = 0; i < n && i < ranks; ++i) ones[n + i] = shape[i];
    s = section_of(ncid, varid, start != NULL ? start : ones, count != NULL ? count : ones + n,
                   stride, imap);
    free(ones);
    return s;
}

static int done(const struct section* s, int code) {
    free(s->memory);
    return code;
}

#define FUNCTION(name, arguments)                                                                  \
    MPI_Fint name arguments;                                                                       \
    MPI_Fint name arguments

#include "pnetcdf_nf90.inc"
#include "pnetcdf_nfmpi.inc"

FUNCTION(nfmpi_inq_path_, (const MPI_Fint* ncid, MPI_Fint* pathlen, char* path, size_t l_path)) {
    int length = 0;
    int code = ncmpi_inq_path(*ncid, &length, NULL);
    char* const text = code == NC_NOERR ? calloc((size_t)length + 1, 1) : NULL;
    if (code == NC_NOERR && text == NULL) code = NC_ENOMEM;
    if (code == NC_NOERR) code = ncmpi_inq_path(*ncid, pathlen, text);
    if (code == NC_NOERR) fortran_text(text, path, l_path);
    free(text);
    return code;
}

FUNCTION(nfmpi_issyserr_, (const MPI_Fint* code)) { return *code > 0; }

#define TEXT(name, arguments, text)                                                                \
    void name arguments;                                                                           \
    void name arguments { fortran_text(text, to, length); }

TEXT(nfmpi_inq_libvers_, (char* to, size_t length), ncmpi_inq_libvers())
TEXT(nfmpi_strerror_, (char* to, size_t length, const MPI_Fint* code), ncmpi_strerror(*code))
TEXT(nfmpi_strerrno_, (char* to, size_t length, const MPI_Fint* code), ncmpi_strerrno(*code))
