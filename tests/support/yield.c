/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into the tests' programs with MPICH, whose ranks never yield their core while they
 * wait: with more ranks than cores, every call would wait for milliseconds. With this library they
 * yield each time UCX has found no event.
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
