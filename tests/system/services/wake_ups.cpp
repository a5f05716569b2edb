// Counts how often a rank sleeps and wakes others in a step, and fails if that grows. A rank that
// holds nothing sleeps only while the ranks agree; the others also sleep until a slot is free, at
// most once for each 256 KiB of their part, however many pieces the step has.
//
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <linux/futex.h>
#include <mpi.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <string>
#include <vector>

#include "system/calls.hpp"

using calls::session;

namespace {

constexpr std::int64_t levels = 4, rows = 256, columns = 1024;
constexpr int variables = 8, steps = 6;
constexpr std::int64_t piece = 512 << 10;
constexpr std::int64_t pieces = variables * levels * rows * columns * 4 / piece;

/// Number of times that another rank has woken this one. Sleeps that end by themselves are not
/// counted.
std::atomic<int> sleeps{0};
std::atomic<int> wakes{0};  ///< number of calls that wake others

}  // namespace

/// Counts the library's calls of futex, which go through this function of the C library.
extern "C" long syscall(long number, ...) noexcept {
    using Function = long (*)(long, ...);
    static const auto real = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "syscall"));
    va_list list;
    va_start(list, number);
    long a[6];
    for (long& word : a) word = va_arg(list, long);
    va_end(list);
    const long result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (number == SYS_futex && a[1] == FUTEX_WAIT && result == 0) ++sleeps;
    if (number == SYS_futex && a[1] == FUTEX_WAKE) ++wakes;
    return result;
}

namespace {

/// The band of this rank. The last rank holds nothing, unless it is the only one.
class Band {
public:
    Band() {
        const std::int64_t rank = check::state.rank;
        const std::int64_t holders = std::max(check::state.size - 1, 1);
        first = rank < holders ? rows * rank / holders : 0;
        const std::int64_t held = rank < holders ? rows * (rank + 1) / holders - first : 0;
        elements = levels * held * columns;
        const std::int64_t whole[] = {levels, rows, columns};
        const std::int64_t start[] = {0, first, 0}, count[] = {levels, held, columns};
        OK(tw_decompose(session, "lev lat lon", 1, whole, start, count, &decomposition));
    }
    ~Band() { OK(tw_free_decomposition(&decomposition)); }
    Band(const Band&) = delete;
    Band& operator=(const Band&) = delete;

    std::int64_t first = 0;  ///< number of the first row
    std::int64_t elements = 0;
    tw_decomposition decomposition = nullptr;
};

std::string name_of(int variable) { return "v" + std::to_string(variable); }

/// Largest numbers in one step.
struct Most {
    int sleeps = 0, wakes = 0;
    int all_wakes = 0;  ///< number of wake-ups by all ranks together
};

/// Writes steps of 32 MiB; the last rank holds nothing.
/// @param part  receives the bytes of this rank's part of a step
Most write(const std::string& path, std::int64_t& part) {
    const Band band;
    const std::int64_t elements = band.elements;
    const std::vector<float> values(static_cast<std::size_t>(variables * elements), 1.F);
    part = variables * elements * 4;
    tw_file file = nullptr;
    OK(tw_create(session, path.c_str(), nullptr, &file));
    for (int v = 0; v < variables; ++v)
        OK(tw_def_var(file, name_of(v).c_str(), TW_FLOAT, "time lev lat lon", band.decomposition));
    OK(tw_enddef(file));
    Most most;
    for (int s = 0; s < steps; ++s) {
        for (int v = 0; v < variables; ++v)
            OK(tw_put_array(file, name_of(v).c_str(),
                            tw_dense(TW_FLOAT, values.data() + v * elements, elements),
                            TW_DEFERRED));
        sleeps = wakes = 0;
        OK(tw_end_step(file));
        int all = wakes;
        most.sleeps = std::max(most.sleeps, sleeps.load());
        most.wakes = std::max(most.wakes, all);
        MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        most.all_wakes = std::max(most.all_wakes, all);
    }
    OK(tw_close(&file));
    return most;
}

void check_step(const std::string& path) {
    const int rank = check::state.rank, size = check::state.size;
    std::int64_t part = 0;
    const Most most = write(path, part);
    // A step has two agreements. In addition, the first rank, which writes, waits for each piece.
    const auto sleeps_allowed = 4 + (rank == 0 ? pieces : part / (256 << 10));
    // The last rank that packs a piece wakes the writer. The writer wakes ranks that wait for a
    // free slot.
    const std::int64_t wakes_allowed = 4 + (part > 0 ? pieces : 0);
    const std::int64_t all_allowed = 4 * size + 2 * pieces;
    if (rank == 0 || rank == size - 1)
        check::print(check::text("rank {}: {} sleeps, {} wakes in a step; {} wakes on all ranks",
                                 rank, most.sleeps, most.wakes, most.all_wakes));
    CHECK_TEXT(most.sleeps <= sleeps_allowed, "{} sleeps in a step, at most {} are expected",
               most.sleeps, sleeps_allowed);
    CHECK_TEXT(most.wakes <= wakes_allowed, "{} wakes in a step, at most {} are expected",
               most.wakes, wakes_allowed);
    CHECK_TEXT(most.all_wakes <= all_allowed, "{} wakes of all ranks, at most {} are expected",
               most.all_wakes, all_allowed);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const std::string folder = check::make_folder("wake_ups");
    OK(tw_init(MPI_COMM_WORLD, "method=record; writers=1; service=inline; piece=512KiB", &session));
    check_step(folder + "/a.nc");
    OK(tw_finalize(&session));
    return check::verdict("wake_ups");
}
