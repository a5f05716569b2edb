// Makes every allocation of calls that define and read fail, one per run, on one rank.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: memory [--settings "..."] [--every N]
//
// Each call is repeated; the n-th time, its n-th allocation throws std::bad_alloc on one rank,
// until a call needs no more. Every time, the call must return the same status on every rank,
// nothing may hang, and the same call must succeed afterwards and read or write the right data.
// With --every N, only every N-th allocation is tested.
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "faults/failing_memory.hpp"
#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

using failing_memory::Trial;

int rank() { return check::state.rank; }
int ranks() { return check::state.size; }

// ---- files ----

constexpr std::int64_t nx = 12;
constexpr std::int64_t records = 3;

int value(std::int64_t record, std::int64_t at) { return static_cast<int>(1000 * record + at); }

/// A grid with some rows on each rank, and a list of some of its cells.
struct Grid {
    std::int64_t shape[2] = {2 * ranks() + 1, nx};
    std::int64_t start[2] = {0, 0}, count[2] = {0, nx};
    std::vector<std::int64_t> indices;  ///< indices in descending order, with a hole
    tw_decomposition boxes = nullptr, list = nullptr;

    explicit Grid(tw_session session) {
        start[0] = shape[0] * rank() / ranks();
        count[0] = shape[0] * (rank() + 1) / ranks() - start[0];
        for (std::int64_t i = 0; i < 2 * nx; ++i) indices.push_back((2 * rank() + 2) * nx - 1 - i);
        indices[5] = -1;
        CHECK(declare(session, "y x", &boxes) == TW_OK);
        CHECK(declare_list(session, "y x", &list) == TW_OK);
    }
    int declare(tw_session session, const char* dims, tw_decomposition* d) const {
        return tw_decompose(session, dims, 1, shape, start, count, d);
    }
    int declare_list(tw_session session, const char* dims, tw_decomposition* d) const {
        return tw_decompose_list(session, dims, shape, dims,
                                 static_cast<std::int64_t>(indices.size()), indices.data(),
                                 TW_LIST_UNIQUE, d);
    }
    std::vector<int> values(std::int64_t record) const {
        std::vector<int> v(static_cast<std::size_t>(count[0] * nx));
        std::iota(v.begin(), v.end(), value(record, start[0] * nx));
        return v;
    }
};

class Program {
public:
    Program(const std::string& settings, long every) : folder_(check::make_folder("memory")) {
        CHECK(tw_init(MPI_COMM_WORLD, ("log=off; " + settings).c_str(), &session_) == TW_OK);
        grid_.reset(new Grid(session_));
        trial_.reset(new Trial(session_, every));
        array_.resize(static_cast<std::size_t>(2 * nx * 3));
    }
    ~Program() {
        check::step("tw_finalize");
        CHECK(tw_finalize(&session_) == TW_OK);
        check::remove_folder(folder_);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    void go() {
        write("classic.nc", "");
        write("four.nc", "format=netcdf4; deflate=1");
        write("tiles.nc", "method=tiles; files=tiles");
        decompose();
        for (const char* name : {"classic.nc", "four.nc", "tiles.nc"}) {
            open_and_close(name);
            get(name);
        }
        read_ahead();
        append();
        restart();
        if (rank() == 0) check::print(check::text("memory: %ld calls", trial_->calls()));
    }

private:
    std::string path(const std::string& name) const { return folder_ + "/" + name; }
    void ok(int status) const { CHECK_TEXT(status == TW_OK, "%s", tw_error_message(session_)); }

    void write(const char* name, const char* settings) {
        check::step("writing %s", name);
        tw_file f = nullptr;
        ok(tw_create(session_, path(name).c_str(), settings, &f));
        define(f);
        for (std::int64_t r = 0; r < records; ++r) put(f, r);
        ok(tw_close(&f));
    }
    void define(tw_file f) const {
        ok(tw_def_var(f, "T", TW_INT, "time y x", grid_->boxes));
        ok(tw_def_var(f, "h", TW_INT, "y x", grid_->boxes));
    }
    void put(tw_file f, std::int64_t r) const {
        const std::vector<int> v = grid_->values(r);
        const auto n = static_cast<std::int64_t>(v.size());
        ok(tw_put(f, "T", TW_INT, v.data(), n));
        if (r == 0) ok(tw_put(f, "h", TW_INT, v.data(), n));
        ok(tw_end_step(f));
    }
    void open(const char* name, const char* settings = "") {
        ok(tw_open(session_, path(name).c_str(), settings, &file_));
    }
    void close() { ok(tw_close(&file_)); }

    int get_boxes(std::int64_t record) {
        return tw_get(file_, "T", grid_->boxes, record, TW_INT, array_.data(),
                      grid_->count[0] * nx);
    }
    int get_list(std::int64_t record) {
        return tw_get(file_, "T", grid_->list, record, TW_INT, array_.data(),
                      static_cast<std::int64_t>(grid_->indices.size()));
    }
    void expect_boxes(std::int64_t record) const {
        const std::vector<int> v = grid_->values(record);
        CHECK(std::equal(v.begin(), v.end(), array_.begin()));
    }
    void expect_list(std::int64_t record) const {
        bool good = true;
        for (std::size_t i = 0; i < grid_->indices.size(); ++i)
            good &= grid_->indices[i] < 0 || array_[i] == value(record, grid_->indices[i]);
        CHECK(good);
    }

    void decompose() {
        int number = 0;
        std::string dims;
        tw_decomposition d = nullptr;
        const auto before = [&] { dims = "y" + std::to_string(++number) + " x"; };
        trial_->run(
            "tw_decompose", before, [&] { return grid_->declare(session_, dims.c_str(), &d); },
            [&](int) { ok(grid_->declare(session_, dims.c_str(), &d)); });
        const tw_edge edges[] = {TW_HALO_CLIP, TW_HALO_CLIP};
        trial_->run(
            "tw_fill_halo", [] {}, [&] { return tw_fill_halo(d, edges); },
            [&](int) { ok(tw_fill_halo(d, edges)); });
        trial_->run(
            "tw_decompose_list", before,
            [&] { return grid_->declare_list(session_, dims.c_str(), &d); },
            [&](int) { ok(grid_->declare_list(session_, dims.c_str(), &d)); });
    }

    void open_and_close(const char* name) {
        const std::string at = path(name);
        trial_->run(
            "tw_open", [] {}, [&] { return tw_open(session_, at.c_str(), "piece=4KiB", &file_); },
            [&](int status) {
                if (status != TW_OK) open(name);
                close();
            });
        trial_->run(
            "tw_sync", [&] { open(name); }, [&] { return tw_sync(file_, 0); },
            [&](int) {
                ok(tw_sync(file_, 0));
                close();
            });
        trial_->run(
            "tw_close", [&] { open(name); }, [&] { return tw_close(&file_); },
            [&](int) { CHECK(file_ == nullptr); });
    }

    void get(const char* name) {
        trial_->run(
            "tw_get, boxes", [&] { open(name, "piece=256"); }, [&] { return get_boxes(1); },
            [&](int) {
                ok(get_boxes(1));
                expect_boxes(1);
                close();
            });
        trial_->run(
            "tw_get, straight",
            [&] {
                setenv("THALWEG_TEST_STRAIGHT", "1", 1);
                open(name);
                unsetenv("THALWEG_TEST_STRAIGHT");
            },
            [&] { return get_boxes(1); },
            [&](int) {
                ok(get_boxes(1));
                expect_boxes(1);
                close();
            });
        trial_->run(
            "tw_get, list", [&] { open(name); }, [&] { return get_list(2); },
            [&](int) {
                ok(get_list(2));
                expect_list(2);
                close();
            });
        open(name);
        trial_->run(
            "tw_get, known", [&] { ok(get_boxes(0)); }, [&] { return get_boxes(1); },
            [&](int) {
                ok(get_boxes(1));
                expect_boxes(1);
            });
        std::vector<int> h(static_cast<std::size_t>(grid_->shape[0] * nx));
        const auto n = static_cast<std::int64_t>(h.size());
        const auto ask = [&] {
            ok(tw_get_array(
                file_, "T", grid_->list, 1,
                tw_dense(TW_INT, array_.data(), static_cast<std::int64_t>(grid_->indices.size())),
                TW_DEFERRED));
            ok(tw_get_array(file_, "h", nullptr, 0, tw_dense(TW_INT, h.data(), n), TW_DEFERRED));
        };
        trial_->run(
            "tw_read", ask, [&] { return tw_read(file_); },
            [&](int) {
                ask();
                ok(tw_read(file_));
                expect_list(1);
                CHECK(h.back() == value(0, n - 1));
            });
        close();
    }

    void read_ahead() {
        const auto ask = [&] {
            ok(tw_get_array(file_, "T", grid_->boxes, 1,
                            tw_dense(TW_INT, array_.data(), grid_->count[0] * nx), TW_DEFERRED));
        };
        trial_->run(
            "tw_prefetch",
            [&] {
                open("classic.nc");
                ask();
            },
            [&] { return tw_prefetch(file_); },
            [&](int) {
                ok(tw_read(file_));
                expect_boxes(1);
                close();
            });
        trial_->run(
            "tw_get, read ahead",
            [&] {
                open("classic.nc", "read_ahead=yes; staging=64KiB");
                ok(get_boxes(0));
            },
            [&] { return get_boxes(1); },
            [&](int) {
                ok(get_boxes(1));
                expect_boxes(1);
                close();
            });
    }

    void append() {
        const std::string at = path("classic.nc");
        trial_->run(
            "tw_open to append", [] {},
            [&] { return tw_open(session_, at.c_str(), "mode=append", &file_); },
            [&](int status) {
                if (status != TW_OK) open("classic.nc", "mode=append");
                define(file_);
                close();
            });
        for (const char* settings : {"mode=append", "mode=append; method=direct"})
            trial_->run(
                "tw_enddef of an old file",
                [&] {
                    open("classic.nc", settings);
                    define(file_);
                },
                [&] { return tw_enddef(file_); },
                [&](int status) {
                    const int closed = tw_close(&file_);
                    CHECK((closed == TW_OK) == (status == TW_OK));
                    // The failed calls have left the file unchanged, so it can be continued.
                    open("classic.nc");
                    tw_file_info info{};
                    ok(tw_inq(file_, &info));
                    CHECK(info.records == records);
                    ok(get_boxes(2));
                    expect_boxes(2);
                    close();
                    open("classic.nc", settings);
                    define(file_);
                    ok(tw_set_record(file_, 1, TW_KEEP_LATER));
                    put(file_, 1);
                    close();
                });
    }

    /// Registers, writes and reads arrays.
    void restart() {
        std::vector<int> array(static_cast<std::size_t>(grid_->count[0] * nx));
        const auto n = static_cast<std::int64_t>(array.size());
        const std::vector<int> wanted = grid_->values(1);
        const std::string at = path("restart.nc");
        tw_restart r = nullptr, other = nullptr;
        const auto begin = [&] {
            array = wanted;
            ok(tw_restart_new(session_, "", &r));
            ok(tw_restart_add(r, "T", TW_INT, "y x", grid_->boxes, array.data(), n, 0));
        };
        begin();
        trial_->run(
            "tw_restart_write", [&] { array = wanted; },
            [&] { return tw_restart_write(r, at.c_str()); },
            [&](int) {
                ok(tw_restart_write(r, at.c_str()));
                array.assign(array.size(), 0);
                ok(tw_restart_read(r, at.c_str(), nullptr));
                CHECK(array == wanted);
            });
        trial_->run(
            "tw_restart_new", [] {}, [&] { return tw_restart_new(session_, "", &other); },
            [&](int status) {
                if (status == TW_OK) ok(tw_restart_free(&other));
            });
        tw_file file = nullptr;
        ok(tw_restart_read(r, at.c_str(), &file));
        const auto get = [&] {
            return tw_get(file, "T", grid_->boxes, 0, TW_INT, array.data(), n);
        };
        trial_->run(
            "tw_get of a restart", [&] { array.assign(array.size(), 0); }, get,
            [&](int) {
                ok(get());
                CHECK(array == wanted);
            });
        ok(tw_close(&file));
        trial_->run(
            "tw_restart_read", [&] { array.assign(array.size(), 0); },
            [&] { return tw_restart_read(r, at.c_str(), nullptr); },
            [&](int) {
                ok(tw_restart_read(r, at.c_str(), nullptr));
                CHECK(array == wanted);
            });
    }

    std::string folder_;
    tw_session session_ = nullptr;
    tw_file file_ = nullptr;
    std::unique_ptr<Grid> grid_;
    std::unique_ptr<Trial> trial_;
    std::vector<int> array_;
};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 20);
    const std::string every = check::option(argc, argv, "--every", "1");
    Program(check::option(argc, argv, "--settings", ""), std::atol(every.c_str())).go();
    return check::verdict("memory");
}
