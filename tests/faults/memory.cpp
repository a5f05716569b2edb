// Makes every large allocation of the library fail, one per run, on one rank.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: memory [--settings a=1,b=2] [--file a=1,b=2] [--every N] [--small yes]
//
// A cycle of calls is repeated; the n-th time, the n-th large allocation of one rank fails: of
// memory from operator new, or mapped by mmap. Nothing may hang, a call that all ranks make must
// return the same status on all of them, which is TW_OK or TW_ENOMEM, and a cycle without failures
// must succeed afterwards and find the right data. With --small, a small allocation fails while
// other ranks wait, which must end the job with a message; with a single rank, the file fails.
#include <execinfo.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

/// State that all processes of the test share, so that allocations can also fail on servers.
struct Armed {
    std::atomic<int> victim;  ///< rank in MPI_COMM_WORLD whose allocations fail; -1: none
    std::atomic<long> failing, made;
    std::atomic<std::size_t> least, most;  ///< sizes in bytes of the allocations that count
};
Armed* armed = nullptr;
int world_rank = 0;

/// Tests if an allocation must fail. Prints the call stack if THALWEG_TEST_TRACE is set.
bool fails(std::size_t bytes) {
    if (armed == nullptr || armed->victim != world_rank || bytes < armed->least ||
        bytes > armed->most || ++armed->made != armed->failing)
        return false;
    if (std::getenv("THALWEG_TEST_TRACE") != nullptr) {
        void* callers[40];
        backtrace_symbols_fd(callers, backtrace(callers, 40), STDERR_FILENO);
    }
    return true;
}

void share_state(const std::string& path) {
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    const int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && ::ftruncate(fd, sizeof(Armed)) == 0);
    void* const at = ::mmap(nullptr, sizeof(Armed), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ::close(fd);
    CHECK(at != MAP_FAILED);
    static_cast<Armed*>(at)->victim = -1;
    MPI_Barrier(MPI_COMM_WORLD);
    armed = static_cast<Armed*>(at);
}

/// Lets the n-th allocation of a rank fail; -1: none. @note Collective over the tested ranks
void arm(int victim, long n, std::size_t least = 64 << 10, std::size_t most = SIZE_MAX) {
    MPI_Barrier(check::state.comm);
    if (check::state.rank == 0) {
        armed->least = least;
        armed->most = most;
        armed->made = 0;
        armed->failing = n;
        armed->victim = victim;
    }
    MPI_Barrier(check::state.comm);
}

constexpr std::int64_t nx = 128, rows = 200, records = 2;

int value(std::int64_t record, std::int64_t at) { return static_cast<int>(record << 24 | at); }

class Program {
public:
    Program(std::string settings, std::string file_settings, long every)
        : folder_(check::make_folder("memory")),
          settings_("log=off; buffer=1MiB; " + std::move(settings)),
          file_settings_(std::move(file_settings)),
          every_(every) {
        ::alarm(0);  // no time limit for servers, which work as long as the test
        share_state(folder_ + "/armed");
        CHECK(tw_init(MPI_COMM_WORLD, settings_.c_str(), &session_) == TW_OK);
        tw_role role = TW_MODEL;
        CHECK(tw_inq_role(session_, &role) == TW_OK);
        if (role == TW_SERVER) return;
        CHECK(tw_model_comm(session_, &comm_) == TW_OK);
        MPI_Comm_dup(comm_, &comm_);
        check::use(comm_);
        int world = 1;
        MPI_Comm_size(MPI_COMM_WORLD, &world);
        victims_ = {0, world - 1};
        serves_ = world > check::state.size;
        late_ = serves_ || settings_.find("background") != std::string::npos;
        const std::int64_t rank = check::state.rank;
        shape_[0] = rows * check::state.size;
        start_[0] = rows * rank;
        // Every second element of another rank's rows, so that lists have many runs.
        for (std::int64_t i = 0; i < rows * nx; i += 2)
            indices_.push_back((rank + 1) % check::state.size * rows * nx + i);
        ok(tw_decompose(session_, "y x", 1, shape_, start_, count_, &boxes_));
        ok(declare_list());
    }
    ~Program() {
        check::step("tw_finalize");
        CHECK(tw_finalize(&session_) == TW_OK);
        check::use(MPI_COMM_WORLD);
        if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    void go() {
        if (victims_.empty()) return;  // this rank is a server
        if (!serves_) run("session", [&] { return begin(); });
        run("list", [&] {
            ++lists_;
            return alike("tw_decompose_list", declare_list());
        });
        run("write", [&] { return write(0); });
        run("write, deferred", [&] { return write(TW_DEFERRED); });
        run("append", [&] { return write(0, "mode=append"); });
        run("read", [&] { return read(""); });
        run("read ahead", [&] { return read("read_ahead=yes; staging=1MiB"); });
        run("restart", [&] { return restart(); });
        if (check::state.rank == 0) check::print(check::text("memory: {} cycles", cycles_));
    }

    /// Fails the first small allocation of a call that all ranks make.
    void fail_small() {
        tw_file f = nullptr;
        const std::string path = folder_ + "/a.nc";
        arm(0, 1, 1, 4096);
        (void)tw_create(session_, path.c_str(), "", &f);
    }

    /// Fails each small allocation of tw_end_step with a single rank: the file must fail, too.
    void fail_small_alone() {
        const std::string path = folder_ + "/a.nc";
        long made = 1;
        for (long n = 1; n <= made; ++n) {
            tw_file f = nullptr;
            ok(tw_create(session_, path.c_str(), "", &f));
            ok(tw_def_var(f, "T", TW_INT, "time y x", boxes_));
            ok(tw_put(f, "T", TW_INT, values_.data(), static_cast<std::int64_t>(values_.size())));
            arm(0, n, 1, 4096);
            const int ended = tw_end_step(f);
            made = armed->made;
            arm(-1, 0);
            CHECK(ended == TW_OK || ended == TW_ENOMEM);
            CHECK(tw_close(&f) == ended && f == nullptr);
            CHECK((::unlink(path.c_str()) == 0) == (ended == TW_OK));
        }
        CHECK(made > 1);
    }

private:
    void ok(int status) const { CHECK_TEXT(status == TW_OK, tw_error_message(session_)); }

    /// Repeats a cycle of calls until it has fewer than n allocations.
    void run(const char* name, const std::function<int()>& cycle) {
        for (const int victim : victims_)
            for (long n = 1;; n += every_) {
                check::step("{}: allocation {} of rank {}", name, n, victim);
                arm(victim, n);
                (void)cycle();
                const long made = armed->made;
                arm(-1, 0);
                CHECK_TEXT(cycle() == TW_OK, "{} after allocation {} of rank {}: {}", name, n,
                           victim, tw_error_message(session_));
                ++cycles_;
                if (made < n) break;
            }
    }

    /// Checks that all ranks have the same status.
    bool same(const char* call, int status) const {
        const auto all = check::gather(std::to_string(status));
        for (const std::string& other : all)
            CHECK_TEXT(other == all[0], "{}: status {} and {}", call, all[0], other);
        return true;
    }

    /// Checks the status of a call that all ranks have made.
    /// @param late  ranks may learn of an error in different calls
    /// @return with `late`, TW_ENOMEM if any rank has an error
    int alike(const char* call, int status, bool late = false) const {
        const std::string text = status == TW_OK ? "" : tw_error_message(session_);
        // HDF5 does not say why a driver could not open a file.
        const bool by_hdf5 = text.find("HDF5") != std::string::npos;
        CHECK_TEXT(status == TW_OK || status == TW_ENOMEM || by_hdf5, "{}: {} {}", call,
                   tw_strerror(status), text);
        if (!late) (void)same(call, status);
        if (!late) return status;
        const auto all = check::gather(std::to_string(status));
        const bool good =
            std::all_of(all.begin(), all.end(), [](const auto& s) { return s == "0"; });
        return good ? static_cast<int>(TW_OK) : static_cast<int>(TW_ENOMEM);
    }

    int declare_list() {
        const std::string dims = "y" + std::to_string(lists_) + " x";
        return tw_decompose_list(session_, dims.c_str(), shape_, dims.c_str(),
                                 static_cast<std::int64_t>(indices_.size()), indices_.data(),
                                 TW_LIST_UNIQUE, &list_);
    }

    int begin() {
        tw_session own = nullptr;
        const int status = alike("tw_init", tw_init(MPI_COMM_WORLD, settings_.c_str(), &own));
        if (own != nullptr) CHECK(tw_finalize(&own) == TW_OK);
        return status;
    }

    int put(tw_file f, std::int64_t record, int flags) {
        const auto n = static_cast<std::int64_t>(values_.size());
        std::iota(values_.begin(), values_.end(), value(record, start_[0] * nx));
        int status = tw_put_array(f, "T", tw_dense(TW_INT, values_.data(), n), flags);
        if (status != TW_OK) return status;
        const std::int64_t start[] = {record, start_[0], 0}, count[] = {1, rows, nx};
        return tw_put_box(f, "U", TW_INT, start, count, nullptr, values_.data());
    }

    int write(int flags, const char* mode = "") {
        const std::string path = folder_ + "/a.nc";
        tw_file f = nullptr;
        int status = alike("tw_create", *mode == '\0' ? tw_create(session_, path.c_str(),
                                                                  file_settings_.c_str(), &f)
                                                      : tw_open(session_, path.c_str(), mode, &f));
        if (f == nullptr) return status;
        ok(tw_def_var(f, "T", TW_INT, "time y x", boxes_));
        ok(tw_def_var(f, "U", TW_INT, "time y x", boxes_));
        if (*mode != '\0') ok(tw_set_record(f, 0, TW_DROP_LATER));
        status = alike("tw_enddef", tw_enddef(f));
        for (std::int64_t r = 0; r < records && status == TW_OK; ++r) {
            status = alike("tw_put", put(f, r, flags), true);
            const int ended = tw_end_step(f);
            if (status == TW_OK) status = alike("tw_end_step", ended, late_);
        }
        if (status == TW_OK) status = alike("tw_sync", tw_sync(f, 0));
        const int closed = tw_close(&f);  // after an error, it may return another one
        status = status == TW_OK ? alike("tw_close", closed) : status;
        CHECK(f == nullptr && same("tw_close", closed));
        return status == TW_OK && armed->victim < 0 ? read("") : status;
    }

    int read(const char* settings) {
        tw_file f = nullptr;
        int status = alike("tw_open", tw_open(session_, (folder_ + "/a.nc").c_str(), settings, &f));
        if (f == nullptr) return status;
        const auto n = static_cast<std::int64_t>(values_.size());
        for (std::int64_t r = 0; r < records && status == TW_OK; ++r) {
            status = alike("tw_get", tw_get(f, "T", boxes_, r, TW_INT, values_.data(), n));
            if (status != TW_OK) break;
            CHECK(values_.front() == value(r, start_[0] * nx) &&
                  values_.back() == value(r, start_[0] * nx + n - 1));
            std::vector<int> listed(indices_.size());
            status = alike("tw_get of a list",
                           tw_get(f, "U", listed_like_file(), r, TW_INT, listed.data(),
                                  static_cast<std::int64_t>(listed.size())));
            if (status == TW_OK) CHECK(listed.back() == value(r, indices_.back()));
        }
        const int closed = alike("tw_close", tw_close(&f));
        return status == TW_OK ? closed : status;
    }

    /// Returns the list over the dimensions of the file.
    tw_decomposition listed_like_file() {
        if (file_list_ == nullptr) {
            const int victim = armed->victim.exchange(-1);
            ok(tw_decompose_list(session_, "y x", shape_, "y x",
                                 static_cast<std::int64_t>(indices_.size()), indices_.data(),
                                 TW_LIST_UNIQUE, &file_list_));
            armed->victim = victim;
        }
        return file_list_;
    }

    int restart() {
        const std::string path = folder_ + "/restart.nc";
        const auto n = static_cast<std::int64_t>(values_.size());
        tw_restart r = nullptr;
        int status = alike("tw_restart_new", tw_restart_new(session_, "", &r));
        if (r == nullptr) return status;
        std::iota(values_.begin(), values_.end(), value(0, start_[0] * nx));
        status = alike("tw_restart_add",
                       tw_restart_add(r, "T", TW_INT, "y x", boxes_, values_.data(), n, 0), true);
        if (status == TW_OK) status = alike("tw_restart_write", tw_restart_write(r, path.c_str()));
        if (status == TW_OK) {
            std::fill(values_.begin(), values_.end(), 0);
            status = alike("tw_restart_read", tw_restart_read(r, path.c_str(), nullptr));
        }
        if (status == TW_OK) CHECK(values_.back() == value(0, start_[0] * nx + n - 1));
        ok(tw_restart_free(&r));
        return status;
    }

    std::string folder_, settings_, file_settings_;
    long every_, cycles_ = 0;
    std::vector<int> victims_;            ///< ranks in MPI_COMM_WORLD
    bool serves_ = false, late_ = false;  ///< there are servers; tw_end_step does not wait
    tw_session session_ = nullptr;
    MPI_Comm comm_ = MPI_COMM_NULL;  ///< communicator of the model
    std::int64_t shape_[2] = {0, nx}, start_[2] = {0, 0}, count_[2] = {rows, nx};
    std::vector<std::int64_t> indices_;
    int lists_ = 0;
    tw_decomposition boxes_ = nullptr, list_ = nullptr, file_list_ = nullptr;
    std::vector<int> values_ = std::vector<int>(static_cast<std::size_t>(rows * nx));
};

std::string with_semicolons(std::string settings) {  // CMake divides arguments at ';'
    std::replace(settings.begin(), settings.end(), ',', ';');
    return settings;
}

}  // namespace

// Not inline: otherwise the compiler would warn of malloc paired with delete.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    void* const p = fails(bytes) ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
    if (p == nullptr) throw std::bad_alloc();
    return p;
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return fails(bytes) ? nullptr : std::malloc(bytes > 0 ? bytes : 1);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }

extern "C" void* mmap(void* at, std::size_t bytes, int protection, int flags, int fd,
                      off_t offset) {
    if (fails(bytes)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    {
        Program program(with_semicolons(check::option(argc, argv, "--settings", "")),
                        with_semicolons(check::option(argc, argv, "--file", "")),
                        std::atol(check::option(argc, argv, "--every", "1").c_str()));
        if (check::option(argc, argv, "--small", "no") == "yes")
            check::state.size == 1 ? program.fail_small_alone() : program.fail_small();
        else
            program.go();
    }
    return check::verdict("memory");
}
