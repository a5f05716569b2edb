// Tests a rank that is late for a collective call: the others report the call in which they wait,
// and the run ends normally.
//
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

/// Captures what is written to standard error during the object's lifetime.
class Printed {
public:
    Printed() : path_("printed." + std::to_string(check::state.rank)) {
        std::fflush(stderr);
        kept_ = ::dup(STDERR_FILENO);
        const int file = ::open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0666);
        ::dup2(file, STDERR_FILENO);
        ::close(file);
    }
    std::string end() {
        std::fflush(stderr);
        ::dup2(kept_, STDERR_FILENO);
        ::close(kept_);
        std::ifstream in(path_);
        std::string text(std::istreambuf_iterator<char>(in), {});
        ::unlink(path_.c_str());
        return text;
    }

private:
    std::string path_;
    int kept_ = -1;
};

/// Delays rank 1 by a number of seconds, and by one more for reports that come late on a busy
/// machine.
void stay_away(unsigned seconds) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (check::state.rank == 1) ::usleep(seconds * 1000000 + 1000000);
}

/// Checks that each rank except rank 1 has reported a call that has lasted for a number of seconds,
/// or one more on a busy machine, and that rank 1 has not.
void expect(const std::string& text, const std::string& where, int seconds, const char* waiting) {
    const auto line = [&](int after) {
        return "thalweg: rank " + std::to_string(check::state.rank) + " has been in " + where +
               " for " + std::to_string(after) + " s: waiting for " + waiting + "\n";
    };
    const bool said = text.find(line(seconds)) != std::string::npos ||
                      text.find(line(seconds + 1)) != std::string::npos;
    CHECK_TEXT(said == (check::state.rank != 1), "'{}' in '{}'", line(seconds), text);
}

tw_session start(const char* settings) {
    tw_session session = nullptr;
    CHECK_TEXT(tw_init(MPI_COMM_WORLD, settings, &session) == TW_OK, tw_error_message(session));
    return session;
}

/// Writes two steps of a file. Rank 1 is late for the second step or, with `everywhere`, for every
/// call.
std::string run(const char* settings, unsigned seconds, bool everywhere) {
    check::step(settings);
    Printed printed;
    if (everywhere) stay_away(1);
    tw_session session = start(settings);
    tw_file file = nullptr;
    CHECK(tw_create(session, "history.nc", nullptr, &file) == TW_OK);
    CHECK(tw_def_dim(file, "time", TW_UNLIMITED) == TW_OK);
    CHECK(tw_def_var(file, "t", TW_INT, "time", nullptr) == TW_OK);
    for (int step = 1; step <= 2; ++step) {
        CHECK(tw_put(file, "t", TW_INT, &step, 1) == TW_OK);
        if (step == 2) stay_away(seconds);
        CHECK_TEXT(tw_end_step(file) == TW_OK, tw_error_message(session));
    }
    if (everywhere) stay_away(1);
    CHECK_TEXT(tw_close(&file) == TW_OK, tw_error_message(session));
    if (everywhere) stay_away(1);
    CHECK(tw_finalize(&session) == TW_OK);
    return printed.end();
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const std::string path = std::filesystem::absolute("history.nc").string();
    const std::string step = "tw_end_step of " + path + ", step 2,";
    std::string text = run("watchdog=1; log=off", 3, true);
    expect(text, "tw_init", 1, "all ranks to make this call");
    for (int second = 1; second <= 3; ++second) expect(text, step, second, "all ranks to agree");
    expect(text, "tw_close of " + path, 1, "all ranks to agree");
    expect(text, "tw_finalize", 1, "all ranks to agree");
    CHECK_TEXT(text.find("step 1,") == std::string::npos, text);
    // with several nodes
    expect(run("watchdog=1; node_size=2", 1, false), step, 1, "all ranks to agree");
    for (const char* silent : {"watchdog=0", "watchdog=60"}) {
        text = run(silent, 1, false);
        CHECK_TEXT(text.empty(), "{}: {}", silent, text);
    }
    return check::verdict("watchdog");
}
