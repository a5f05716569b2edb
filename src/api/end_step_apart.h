/* The end of a step for programs written for CFIO, whose clients do not end the same steps.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THALWEG_API_END_STEP_APART_H
#define THALWEG_API_END_STEP_APART_H

#include "thalweg/thalweg.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Hands over what was put, as tw_end_step does, but no other rank has to end the step: writers
 * take boxes as they come, and count a record when each rank has ended the step or waits in tw_sync
 * or tw_close. If ranks put the same elements, values of a later step may be overwritten by those
 * of an earlier one.
 *  @note Local with service servers, and with background on one node; otherwise as tw_end_step */
tw_status tw_end_step_apart(tw_file file);

#ifdef __cplusplus
}
#endif

#endif
