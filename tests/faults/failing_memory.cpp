// SPDX-License-Identifier: Apache-2.0
#include "faults/failing_memory.hpp"

#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <string>

#include "system/check.hpp"

namespace failing_memory {

namespace {

// Only allocations of this thread are counted, because those of the library's own threads must not
// fail.
thread_local bool counting = false;
long made = 0;      // number of allocations since counting has begun
long failing = -1;  // number of the allocation that fails

/// State that all processes of the test share.
struct Reached {
    std::atomic<int> victim;  ///< rank in MPI_COMM_WORLD whose allocations fail; -1: none
    std::atomic<long> failing, made;
};
Reached* reached = nullptr;
int world_rank = 0;
thread_local bool is_reached = false;

}  // namespace

int failed_call(const std::function<int()>& call, long n, long& most) {
    made = 0;
    failing = n;
    counting = true;
    const int status = call();
    counting = false;
    most = made;
    return status;
}

void reach_all(const std::string& path) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && ::ftruncate(fd, sizeof(Reached)) == 0);
    void* const at = ::mmap(nullptr, sizeof(Reached), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    CHECK(at != MAP_FAILED);
    reached = static_cast<Reached*>(at);
    reached->victim = -1;
    is_reached = true;  // set by the thread that serves
    MPI_Barrier(MPI_COMM_WORLD);
}

bool is_expected(tw_session session, int status) {
    const std::string text = status == TW_OK ? "" : tw_error_message(session);
    // HDF5 does not say why a driver could not open a file.
    const bool by_hdf5 =
        (status == TW_EFORMAT || status == TW_EIO) && text.find("HDF5") != std::string::npos;
    return status == TW_OK || status == TW_ENOMEM || by_hdf5;
}

void Trial::run(const char* name, const std::function<void()>& before,
                const std::function<int()>& call, const std::function<void(int)>& after) {
    const int rank = check::state.rank, ranks = check::state.size;
    for (const int victim : {0, ranks - 1}) {
        for (long n = 1;; n += every_) {
            check::step("%s: allocation %ld of rank %d", name, n, victim);
            before();
            MPI_Barrier(check::state.comm);
            long most = 0;
            const int status = failed_call(call, rank == victim ? n : -1, most);
            MPI_Bcast(&most, 1, MPI_LONG, victim, check::state.comm);
            alike(name, n, victim, status);
            after(status);
            ++calls_;
            if (most < n) break;
        }
        if (ranks == 1) break;
    }
    run_others(name, before, call, after);
}

/// Makes a call while allocations fail on ranks that take no part in it. These may continue to work
/// after the call has returned.
void Trial::run_others(const char* name, const std::function<void()>& before,
                       const std::function<int()>& call, const std::function<void(int)>& after) {
    const auto set_victim = [](int rank, long n) {
        MPI_Barrier(check::state.comm);
        if (check::state.rank == 0) {
            reached->made = 0;
            reached->failing = n;
            reached->victim = rank;
        }
        MPI_Barrier(check::state.comm);
    };
    for (const int victim : others_) {
        for (long n = 1;; n += every_) {
            check::step("%s: allocation %ld of rank %d, which serves", name, n, victim);
            before();
            set_victim(victim, n);
            const int status = call();
            alike(name, n, victim, status);
            after(status);
            long most = reached->made;
            MPI_Bcast(&most, 1, MPI_LONG, 0, check::state.comm);
            set_victim(-1, 0);
            ++calls_;
            if (most < n) break;
        }
    }
}

void Trial::alike(const char* name, long n, int victim, int status) const {
    const auto all = check::gather(std::to_string(status));
    for (const std::string& other : all)
        CHECK_TEXT(other == all[0] || !calls_wait,
                   "%s, allocation %ld of rank %d: status %s and %s", name, n, victim,
                   all[0].c_str(), other.c_str());
    CHECK_TEXT(is_expected(session_, status), "%s, allocation %ld of rank %d: %s %s", name, n,
               victim, tw_strerror(status), tw_error_message(session_));
}

namespace {

/// Tests if this allocation must fail. Prints the call stack if THALWEG_TEST_TRACE is set.
bool fails() {
    const bool here = is_reached && reached->victim.load() == world_rank;
    if (!here && !counting) return false;
    if (here ? ++reached->made != reached->failing : ++made != failing) return false;
    if (std::getenv("THALWEG_TEST_TRACE") != nullptr) {
        void* callers[40];
        const bool before = std::exchange(counting, false), also = std::exchange(is_reached, false);
        backtrace_symbols_fd(callers, backtrace(callers, 40), STDERR_FILENO);
        counting = before;
        is_reached = also;
    }
    return true;
}

}  // namespace

}  // namespace failing_memory

// Not inline: otherwise the compiler would warn of malloc paired with delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    if (failing_memory::fails()) throw std::bad_alloc();
    void* p = std::malloc(bytes > 0 ? bytes : 1);
    if (p == nullptr) throw std::bad_alloc();
    return p;
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    if (failing_memory::fails()) return nullptr;
    return std::malloc(bytes > 0 ? bytes : 1);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
