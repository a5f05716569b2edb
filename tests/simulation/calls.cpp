// Replaces functions of the system in a simulation: those by which threads begin, lock and wait,
// those that read the clock, and those that change files. The linker prefers these functions to the
// system's, for all libraries of the program. Outside the simulation they pass calls on to the
// system.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <map>

#include "simulation/disk.hpp"
#include "simulation/run.hpp"
#include "simulation/scheduler.hpp"

using simulation::Actor;
using simulation::disk;
using simulation::DiskCall;
using simulation::forever;
using simulation::scheduler;
using simulation::self;

namespace {

/// Returns the system's function of a name.
template <class Function>
Function* system_call(const char* name) {
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
#define SYSTEM(name) static auto* const real = system_call<decltype(name)>(#name)

double seconds_of(const timespec& t) {
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Time in seconds that every clock shows at simulated time 0.
constexpr double epoch = 1e9;

std::string path_of(int fd) {
    char name[40], path[PATH_MAX];
    std::snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(name, path, sizeof path);
    return {path, static_cast<std::size_t>(n > 0 ? n : 0)};
}

/// Lets the time of a call on an open file pass.
/// @return false if the call fails; errno has the reason
bool go(DiskCall call, int fd, std::int64_t bytes) {
    if (self == nullptr || !disk.has(path_of(fd))) return true;
    const int error = disk.begin(call, bytes);
    if (error != 0) errno = error;
    return error == 0;
}

std::int64_t bytes_of(const iovec* parts, int n) {
    std::int64_t bytes = 0;
    for (int i = 0; i < n; ++i) bytes += static_cast<std::int64_t>(parts[i].iov_len);
    return bytes;
}

struct Start {
    void* (*routine)(void*);
    void* argument;
    Actor* actor;
};

void* run_actor(void* given) {
    const Start start = *static_cast<Start*>(given);
    delete static_cast<Start*>(given);
    scheduler->enter(start.actor);
    void* const result = start.routine(start.argument);
    scheduler->leave();
    return result;
}

std::map<pthread_t, Actor*>& threads() {
    static std::map<pthread_t, Actor*> all;
    return all;
}

int wait_for(pthread_cond_t* condition, pthread_mutex_t* mutex, double until) {
    pthread_mutex_unlock(mutex);
    const bool woken = scheduler->wait(condition, until);
    pthread_mutex_lock(mutex);
    return woken || until == forever ? 0 : ETIMEDOUT;
}

}  // namespace

extern "C" {

// ---- threads and locks --------------------------------------------------------------------------

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                   void* argument) {
    SYSTEM(pthread_create);
    // A thread is simulated if a simulated thread creates it, or if it is the thread of a rank,
    // which is created before the simulation runs.
    const bool simulated = self != nullptr || simulation::rank_to_start >= 0;
    if (!simulated) return real(thread, attributes, routine, argument);
    const int rank = self != nullptr ? self->rank : simulation::rank_to_start;
    Actor* const actor = scheduler->add(rank);
    const int code = real(thread, attributes, run_actor, new Start{routine, argument, actor});
    threads()[*thread] = actor;
    return code;
}

int pthread_join(pthread_t thread, void** result) {
    SYSTEM(pthread_join);
    if (self != nullptr) {
        Actor* const other = threads().at(thread);
        while (!other->ended) scheduler->wait(other, forever);
    }
    return real(thread, result);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
    SYSTEM(pthread_mutex_lock);
    if (self == nullptr) return real(mutex);
    if (scheduler->random().percent(5)) scheduler->step();
    int code = 0;
    while ((code = pthread_mutex_trylock(mutex)) == EBUSY) scheduler->wait(mutex, forever);
    return code;
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) {
    SYSTEM(pthread_mutex_unlock);
    const int code = real(mutex);
    if (self != nullptr) scheduler->wake(mutex, -1);
    return code;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
    SYSTEM(pthread_cond_wait);
    return self == nullptr ? real(condition, mutex) : wait_for(condition, mutex, forever);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const timespec* t) {
    SYSTEM(pthread_cond_timedwait);
    if (self == nullptr) return real(condition, mutex, t);
    return wait_for(condition, mutex, seconds_of(*t) - epoch);
}

int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* t) {
    SYSTEM(pthread_cond_clockwait);
    if (self == nullptr) return real(condition, mutex, clock, t);
    return wait_for(condition, mutex, seconds_of(*t) - epoch);
}

int pthread_cond_signal(pthread_cond_t* condition) {
    SYSTEM(pthread_cond_signal);
    if (self == nullptr) return real(condition);
    scheduler->wake(condition, 1);
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t* condition) {
    SYSTEM(pthread_cond_broadcast);
    if (self == nullptr) return real(condition);
    scheduler->wake(condition, -1);
    return 0;
}

int sched_yield() {
    if (self != nullptr) scheduler->step();
    return 0;
}

// ---- time and words of memory -------------------------------------------------------------------

int clock_gettime(clockid_t clock, timespec* t) {
    SYSTEM(clock_gettime);
    if (self == nullptr) return real(clock, t);
    const double now = epoch + scheduler->look_at_clock();
    t->tv_sec = static_cast<time_t>(now);
    t->tv_nsec = static_cast<long>((now - static_cast<double>(t->tv_sec)) * 1e9);
    return 0;
}

int nanosleep(const timespec* t, timespec* left) {
    SYSTEM(nanosleep);
    if (self == nullptr) return real(t, left);
    scheduler->pass(seconds_of(*t));
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* t, timespec* left) {
    SYSTEM(clock_nanosleep);
    if (self == nullptr) return real(clock, flags, t, left);
    scheduler->pass(seconds_of(*t) - (flags == TIMER_ABSTIME ? epoch + scheduler->now() : 0));
    return 0;
}

long syscall(long number, ...) {
    using System = long(long, ...);
    static auto* const real = system_call<System>("syscall");
    long a[6];
    va_list list;
    va_start(list, number);
    for (long& of : a) of = va_arg(list, long);
    va_end(list);
    if (self == nullptr || number != SYS_futex)
        return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    auto* const word = reinterpret_cast<std::uint32_t*>(a[0]);
    if ((a[1] & FUTEX_CMD_MASK) == FUTEX_WAKE) {
        scheduler->wake(word, static_cast<int>(a[2]));
        return 0;
    }
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != static_cast<std::uint32_t>(a[2])) {
        errno = EAGAIN;
        return -1;
    }
    const auto* const limit = reinterpret_cast<const timespec*>(a[3]);
    if (scheduler->wait(word, limit == nullptr ? forever : scheduler->now() + seconds_of(*limit)))
        return 0;
    errno = ETIMEDOUT;
    return -1;
}

// ---- files --------------------------------------------------------------------------------------

ssize_t write(int fd, const void* data, size_t n) {
    SYSTEM(write);
    return go(DiskCall::write, fd, static_cast<std::int64_t>(n)) ? real(fd, data, n) : -1;
}

ssize_t pwrite(int fd, const void* data, size_t n, off_t offset) {
    SYSTEM(pwrite);
    return go(DiskCall::write, fd, static_cast<std::int64_t>(n)) ? real(fd, data, n, offset) : -1;
}

ssize_t pwrite64(int fd, const void* data, size_t n, off64_t offset) {
    return pwrite(fd, data, n, offset);
}

ssize_t pwritev(int fd, const iovec* parts, int n, off_t offset) {
    SYSTEM(pwritev);
    return go(DiskCall::write, fd, bytes_of(parts, n)) ? real(fd, parts, n, offset) : -1;
}

ssize_t pwritev64(int fd, const iovec* parts, int n, off64_t offset) {
    return pwritev(fd, parts, n, offset);
}

ssize_t pread(int fd, void* data, size_t n, off_t offset) {
    SYSTEM(pread);
    return go(DiskCall::read, fd, static_cast<std::int64_t>(n)) ? real(fd, data, n, offset) : -1;
}

ssize_t pread64(int fd, void* data, size_t n, off64_t offset) { return pread(fd, data, n, offset); }

int ftruncate(int fd, off_t size) {
    SYSTEM(ftruncate);
    return go(DiskCall::size, fd, 0) ? real(fd, size) : -1;
}

int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

int fsync(int fd) {
    SYSTEM(fsync);
    return go(DiskCall::sync, fd, 0) ? real(fd) : -1;
}

int fdatasync(int fd) {
    SYSTEM(fdatasync);
    return go(DiskCall::sync, fd, 0) ? real(fd) : -1;
}

int rename(const char* from, const char* to) {
    SYSTEM(rename);
    if (self != nullptr && disk.has(from)) {
        if (const int error = disk.begin(DiskCall::rename, 0); error != 0) {
            errno = error;
            return -1;
        }
    }
    return real(from, to);
}

}  // extern "C"
