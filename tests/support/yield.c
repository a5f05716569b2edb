/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into the tests' programs with MPICH: its ranks never give their core away while they
 * wait, so that more ranks than cores wait for each other for milliseconds in every call. Here they
 * do, each time UCX has found nothing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <stddef.h>

unsigned ucp_worker_progress(void* worker);

unsigned ucp_worker_progress(void* worker) {
    static unsigned (*found)(void*);
    if (found == NULL) *(void**)&found = dlsym(RTLD_NEXT, "ucp_worker_progress");
    const unsigned done = found(worker);
    if (done == 0) sched_yield();
    return done;
}
