// SPDX-License-Identifier: Apache-2.0
#include "storage_kills.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace kills {

Progress* shared = nullptr;

Shared::Shared() {
    void* const memory =
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    shared = static_cast<Progress*>(memory);
    *shared = {-1, 0, -1};
}

Shared::~Shared() {
    munmap(shared, sizeof *shared);
    shared = nullptr;
}

std::string path_of(const std::string& name) {
    const std::string folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : "";
    return folder + "thalweg_" + name + "_" + std::to_string(getpid()) + ".nc";
}

int in_child(const std::function<void()>& act, long calls) {
    *shared = {calls, 0, -1};
    const pid_t child = fork();
    if (child == 0) {
        act();
        std::_Exit(99);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

namespace {

void count() {
    if (shared == nullptr) return;
    if (shared->calls_left-- == 0) raise(SIGKILL);
    ++shared->calls;
}

}  // namespace
}  // namespace kills

/// These functions replace those of the system, in this program.
extern "C" ssize_t pwrite(int fd, const void* from, std::size_t bytes, off_t offset) {
    kills::count();
    return syscall(SYS_pwrite64, fd, from, bytes, offset);
}
extern "C" int ftruncate(int fd, off_t length) noexcept {
    kills::count();
    return static_cast<int>(syscall(SYS_ftruncate, fd, length));
}
