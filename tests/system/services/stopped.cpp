// Checks that a rank that the system stops for a while delays the others, but neither changes the
// file nor leaves a rank waiting forever. All ranks share one processor, and the last one holds
// nothing. With --node_size N, nodes have N ranks at most.
//
// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "bands.hpp"

using bands::name_of;
using calls::session;

namespace {

constexpr bands::Shape shape{4, 128, 256};
constexpr int variables = 4;

/// A process that stops its parent and lets it go on.
class Stopper {
public:
    /// Starts the process, which must not have called MPI.
    explicit Stopper(useconds_t time) {
        if (pipe(ends_) != 0) return;
        child_ = fork();
        if (child_ != 0) return;
        ::close(ends_[1]);
        const pid_t parent = getppid();
        for (useconds_t delay = 0; read(ends_[0], &delay, sizeof delay) == sizeof delay;) {
            usleep(delay);
            kill(parent, SIGSTOP);
            usleep(time);
            kill(parent, SIGCONT);
        }
        _exit(0);
    }
    ~Stopper() {
        ::close(ends_[1]);
        waitpid(child_, nullptr, 0);
    }
    Stopper(const Stopper&) = delete;
    Stopper& operator=(const Stopper&) = delete;

    /// Stops this process once, after some microseconds.
    void stop(useconds_t delay) const {
        CHECK(write(ends_[1], &delay, sizeof delay) == sizeof delay);
    }

private:
    int ends_[2] = {-1, -1};
    pid_t child_ = -1;
};

void share_a_processor() {
    cpu_set_t before, one;
    sched_getaffinity(0, sizeof before, &before);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one);
}

float value_of(std::int64_t record, int variable, std::int64_t first, std::int64_t i) {
    return static_cast<float>(record * 1000 + variable * 100) +
           static_cast<float>((first * shape.columns + i) % 97);
}

/// Writes a step for each rank, in which that rank is stopped, and reads all of them.
void write_and_read(const std::string& path, const Stopper& stopper) {
    const int rank = check::state.rank, size = check::state.size;
    const bands::Band band(shape);
    const std::int64_t first = band.first, n = band.elements;
    std::vector<std::vector<float>> values(variables, std::vector<float>(n));
    tw_file file = bands::create(path, variables, band);
    for (int stopped = 0; stopped < size; ++stopped) {
        for (int v = 0; v < variables; ++v) {
            for (std::int64_t i = 0; i < n; ++i) values[v][i] = value_of(stopped, v, first, i);
            OK(tw_put_array(file, name_of(v).c_str(), tw_dense(TW_FLOAT, values[v].data(), n),
                            TW_DEFERRED));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == stopped) stopper.stop(static_cast<useconds_t>(stopped * 700 % 5000));
        OK(tw_end_step(file));
    }
    OK(tw_close(&file));

    OK(tw_open(session, path.c_str(), nullptr, &file));
    for (int record = 0; record < size; ++record)
        for (int v = 0; v < variables; ++v) {
            std::vector<float> read(n, -1.F);
            if (rank == record && v == 1) stopper.stop(100);
            OK(tw_get(file, name_of(v).c_str(), band.decomposition, record, TW_FLOAT, read.data(),
                      n));
            std::int64_t wrong = 0;
            for (std::int64_t i = 0; i < n; ++i) wrong += read[i] != value_of(record, v, first, i);
            CHECK_TEXT(wrong == 0, "record %d, variable %d: %d wrong values", record, v,
                       static_cast<int>(wrong));
        }
    OK(tw_close(&file));
}

}  // namespace

int main(int argc, char** argv) {
    // Seconds for which a rank is stopped each time.
    const double time = std::atof(check::option(argc, argv, "--stop", "0.2").c_str());
    const Stopper stopper(static_cast<useconds_t>(time * 1e6));
    check::begin(&argc, &argv, 60);
    share_a_processor();
    const std::string node_size = check::option(argc, argv, "--node_size", "0");
    const std::string folder = check::make_folder("stopped");
    for (const char* settings : {"service=inline", "service=inline; method=slabs; writers=2",
                                 "service=background; queue=1MiB"}) {
        const std::string all =
            std::string(settings) + "; piece=64KiB; buffer=256KiB; node_size=" + node_size;
        OK(tw_init(MPI_COMM_WORLD, all.c_str(), &session));
        write_and_read(folder + "/a.nc", stopper);
        OK(tw_finalize(&session));
    }
    check::remove_folder(folder);
    return check::verdict("stopped");
}
