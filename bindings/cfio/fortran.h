/* What the Fortran module needs beside cfio.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef THALWEG_CFIO_FORTRAN_H
#define THALWEG_CFIO_FORTRAN_H

#ifdef __cplusplus
extern "C" {
#endif

/* From now on a number stands for a variable, beside its id. */
int thalweg_cfio_alias(int ncid, int number, int varid);

#ifdef __cplusplus
}
#endif

#endif
