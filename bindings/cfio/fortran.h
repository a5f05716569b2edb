/* Functions that the Fortran module needs besides cfio.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_CFIO_FORTRAN_H
#define THALWEG_CFIO_FORTRAN_H

#ifdef __cplusplus
extern "C" {
#endif

/* Lets the program refer to a variable by `number` as well as by its id. */
int thalweg_cfio_alias(int ncid, int number, int varid);

#ifdef __cplusplus
}
#endif

#endif
