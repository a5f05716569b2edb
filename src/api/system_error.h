/* The system's number of an error, for programs written for interfaces that have codes for it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_API_SYSTEM_ERROR_H
#define THALWEG_API_SYSTEM_ERROR_H

#include "thalweg/thalweg.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Returns the number (errno) with which the system has refused what the last error is about, the
 * same on all ranks that have the error; 0 if the system is not the cause.
 *  @param session  as in tw_error_message
 *  @note Local */
int tw_system_error(tw_session session);

#ifdef __cplusplus
}
#endif

#endif
