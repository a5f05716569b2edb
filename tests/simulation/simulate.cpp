// Runs the library on simulated ranks, a simulated clock and a simulated disk, and lets seeds
// choose what happens when, and what goes wrong.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: simulate [--seeds N] [--first S] [--seconds T] [--folder F]
//
// Each seed determines a run of some ranks, with or without servers, that write a file and perhaps
// append to it. Either nothing goes wrong, or the disk fails, is full or is slow, or a rank or
// server dies or stops. The run must continue, or end with the same error on every rank; nothing
// may hang. The remaining file must recover with every record that a call has promised, and without
// wrong values. The same seed gives the same run: every twentieth run is repeated and compared.
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "simulation/run.hpp"

namespace {

namespace fs = std::filesystem;
using simulation::Exit;
using simulation::Report;
using simulation::Scenario;

const char* option(int argc, char** argv, const char* name, const char* otherwise) {
    for (int i = 1; i + 1 < argc; ++i)
        if (std::strcmp(argv[i], name) == 0) otherwise = argv[i + 1];
    return otherwise;
}

/// Memory that child processes share with this one.
template <class T>
T* shared() {
    void* const at =
        mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) std::abort();
    return new (at) T;
}

/// Runs a function in a child process. @return its exit code, or 128 and a signal
int in_child(const std::function<void()>& act) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        act();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class Simulation {
public:
    explicit Simulation(std::string folder)
        : folder_(std::move(folder)), report_(shared<Report>()), verdict_(shared<Report>()) {}

    /// @return description of what is wrong; empty if all is right
    std::string run(std::uint64_t seed) {
        const int code = run_once(seed);
        const Report first = *report_;
        std::string wrong = verdict(seed, code);
        ++ended_[code];
        steps_ += report_->steps;
        if (wrong.empty() && seed % 20 == 0) {
            const int again = run_once(seed);
            if (again != code || report_->hash != first.hash || report_->steps != first.steps)
                wrong = "the second run of the seed differs: " + std::to_string(first.steps) +
                        " and " + std::to_string(report_->steps) + " steps";
        }
        return wrong;
    }

    std::string ended() const {
        const auto of = [&](Exit exit) {
            const auto at = ended_.find(static_cast<int>(exit));
            return std::to_string(at == ended_.end() ? 0 : at->second);
        };
        return of(Exit::finished) + " runs ended by themselves, " + of(Exit::killed) +
               " were killed, " + std::to_string(steps_) + " steps";
    }

private:
    int run_once(std::uint64_t seed) {
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        *report_ = {};
        return in_child([&] { simulation::run(Scenario(seed), folder_, *report_); });
    }

    std::string verdict(std::uint64_t seed, int code) {
        if (code >= 128) return "the run ends by signal " + std::to_string(code - 128);
        verdict_->wrong[0] = '\0';
        const int judged = in_child([&] {
            const std::string wrong =
                simulation::judge(Scenario(seed), folder_, static_cast<Exit>(code), *report_);
            std::snprintf(verdict_->wrong, sizeof verdict_->wrong, "%s", wrong.c_str());
        });
        if (judged != 0) return "judging the file ends with " + std::to_string(judged);
        return verdict_->wrong;
    }

    const std::string folder_;
    Report* report_;
    Report* verdict_;
    std::map<int, int> ended_;
    std::int64_t steps_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    // Containers that are sorted by addresses must have the same order in every run, so turn off
    // the randomization of addresses.
    if (std::getenv("SIMULATE_STARTED") == nullptr && personality(ADDR_NO_RANDOMIZE) != -1) {
        setenv("SIMULATE_STARTED", "1", 1);
        execv("/proc/self/exe", argv);
    }
    // Use one processor: only one thread runs at a time, and the change to the next one is fastest
    // there.
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    const long seeds = std::atol(option(argc, argv, "--seeds", "200"));
    const long first = std::atol(option(argc, argv, "--first", "0"));
    const double seconds = std::atof(option(argc, argv, "--seconds", "1e9"));
    const bool memory = fs::is_directory("/dev/shm");
    const std::string folder = option(argc, argv, "--folder", memory ? "/dev/shm" : "/tmp");
    const std::string own = folder + "/thalweg_simulate_" + std::to_string(getpid());
    const auto begin = std::chrono::steady_clock::now();
    Simulation simulation(own);
    long failed = 0, done = 0;
    for (long seed = first; seed < first + seeds; ++seed, ++done) {
        if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >
            seconds)
            break;
        const std::string wrong = simulation.run(static_cast<std::uint64_t>(seed));
        if (wrong.empty()) continue;
        ++failed;
        std::printf("seed %ld: %s\n  %s\n  again: ./run simulate --seeds 1 --first %ld\n", seed,
                    wrong.c_str(), Scenario(static_cast<std::uint64_t>(seed)).describe().c_str(),
                    seed);
        std::fflush(stdout);
    }
    fs::remove_all(own);
    std::printf("simulate: %ld seeds from %ld: %s; %ld failed\n", done, first,
                simulation.ended().c_str(), failed);
    return failed == 0 && done > 0 ? 0 : 1;
}
