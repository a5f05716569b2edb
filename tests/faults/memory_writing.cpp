// Makes every allocation of calls that write fail, one per run, on one rank.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: memory_writing [--settings a=1,b=2] [--every N] [--ways all|arrays] [--appended yes]
//                      [--listed yes]
//
// A file is written repeatedly, by whole arrays, records and boxes; the n-th time, the n-th
// allocation throws std::bad_alloc on one rank. Nothing may hang, and all ranks must get the same
// status. After TW_OK the file must have the data; after an error it must be possible to write
// another file of the same name. With --appended, the calls append to a file that has a first
// record, and must keep it. With --listed, the file gets checksums and a line in a
// manifest.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "faults/failing_memory.hpp"
#include "system/check.hpp"

namespace {

using failing_memory::Trial;

constexpr std::int64_t nx = 6;

enum class Way { arrays, records, boxes };

constexpr std::int64_t steps = 2;

class Program {
public:
    Program(const std::string& settings, long every, std::vector<Way> ways, bool appended,
            bool listed)
        : ways_(std::move(ways)),
          first_(appended ? 1 : 0),
          folder_(check::make_folder("memory_writing")),
          path_(folder_ + "/a.nc") {
        if (listed) for_file_ = "checksums=yes; manifest=" + folder_ + "/list";
        ::alarm(0);  // no time limit, as servers work as long as the test
        failing_memory::reach_all(folder_ + "/reached");
        CHECK(tw_init(MPI_COMM_WORLD, ("log=off; " + settings).c_str(), &session_) == TW_OK);
        tw_role role = TW_MODEL;
        CHECK(tw_inq_role(session_, &role) == TW_OK);
        if (role == TW_SERVER) return;
        MPI_Comm model = MPI_COMM_NULL;
        CHECK(tw_model_comm(session_, &model) == TW_OK);
        MPI_Comm_dup(model, &comm_);
        check::use(comm_);
        const std::vector<int> serving = others();
        // In the background, the ranks of a node learn of an error as soon as the writing thread
        // knows it.
        const bool behind = settings.find("service=background") != std::string::npos &&
                            settings.find("node_size") == std::string::npos;
        apart_ = behind || !serving.empty();
        trial_.reset(new Trial(session_, every, serving));
        const std::int64_t rank = check::state.rank, ranks = check::state.size;
        shape_[0] = 2 * ranks + 1;
        start_[0] = shape_[0] * rank / ranks;
        count_[0] = shape_[0] * (rank + 1) / ranks - start_[0];
        ok(tw_decompose(session_, "y x", 1, shape_, start_, count_, &cells_));
        values_.resize(static_cast<std::size_t>(count_[0] * nx));
        // After this, the session has made its plans and its permanent allocations.
        for (const Way way : ways_) {
            way_ = way;
            create();
            finish(TW_OK, first_);
        }
    }
    ~Program() {
        check::step("tw_finalize");
        CHECK(tw_finalize(&session_) == TW_OK);
        check::use(MPI_COMM_WORLD);
        if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
        check::remove_folder(folder_);
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    void go() {
        if (!trial_) return;  // this rank is a server
        for (const Way way : ways_) write(way);
        if (check::state.rank == 0)
            check::print(check::text("memory_writing: %ld calls", trial_->calls()));
    }

private:
    /// The ranks that serve.
    std::vector<int> others() const {
        int world_size = 1, world_rank = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &world_size);
        MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
        std::vector<int> roles(static_cast<std::size_t>(world_size), 0), result;
        roles[static_cast<std::size_t>(world_rank)] = 1;
        MPI_Allreduce(MPI_IN_PLACE, roles.data(), static_cast<int>(roles.size()), MPI_INT, MPI_MAX,
                      comm_);
        for (std::size_t r = 0; r < roles.size(); ++r)
            if (roles[r] == 0) result.push_back(static_cast<int>(r));
        return result;
    }
    void write(Way way) {
        way_ = way;
        trial_->run(
            "tw_enddef", [&] { create(); }, [&] { return tw_enddef(file_); },
            [&](int status) { finish(status, first_); });
        trial_->calls_wait = !apart_;
        for (std::int64_t r = first_; r < steps; ++r)
            trial_->run(
                r == first_ ? "first tw_end_step" : "tw_end_step",
                [&] {
                    create();
                    for (std::int64_t before = first_; before < r; ++before) ok(step(before));
                    ok(put(r));
                },
                [&] { return tw_end_step(file_); }, [&](int status) { finish(status, r + 1, r); });
        trial_->calls_wait = true;
        trial_->run(
            "tw_sync", [&] { write_all(); }, [&] { return tw_sync(file_, 0); },
            [&](int status) { finish(status, steps, steps); });
        trial_->run(
            "tw_close", [&] { write_all(); }, [&] { return tw_close(&file_); },
            [&](int status) {
                CHECK(file_ == nullptr);
                if (status == TW_OK) judge(steps);
            });
    }
    void ok(int status) const { CHECK_TEXT(status == TW_OK, "%s", tw_error_message(session_)); }

    void define() const {
        ok(tw_def_var(file_, "T", TW_INT, "time y x", cells_));
        ok(tw_def_var(file_, "h", TW_INT, "y x", cells_));
    }
    void create() {  // nothing to test without a file
        ok(tw_create(session_, path_.c_str(), for_file_.c_str(), &file_));
        define();
        if (first_ == 0) return;
        ok(step(0));
        ok(tw_close(&file_));
        ok(tw_open(session_, path_.c_str(), "mode=append", &file_));
        define();
    }
    void set_values(std::int64_t record) {
        std::iota(values_.begin(), values_.end(), static_cast<int>(1000 * record + start_[0] * nx));
    }
    int put(std::int64_t r) {
        set_values(r);
        const auto n = static_cast<std::int64_t>(values_.size());
        int status = TW_OK;
        if (r == 0) status = tw_put(file_, "h", TW_INT, values_.data(), n);
        if (status != TW_OK) return status;
        if (way_ == Way::arrays) return tw_put(file_, "T", TW_INT, values_.data(), n);
        if (way_ == Way::records)
            return tw_put_record(file_, "T", cells_, r, TW_INT, values_.data(), n);
        const std::int64_t start[] = {r, start_[0], 0}, count[] = {1, count_[0], nx};
        return tw_put_box(file_, "T", TW_INT, start, count, nullptr, values_.data());
    }
    int step(std::int64_t r) {
        const int status = put(r);
        return status == TW_OK ? tw_end_step(file_) : status;
    }
    void write_all() {
        create();
        for (std::int64_t r = first_; r < steps; ++r) ok(step(r));
    }

    /// Writes the rest of the file after a call with a given status. An error of that call may also
    /// be returned by the next call.
    /// @param next number of the next record
    /// @param told number of records that earlier calls have ended
    void finish(int status, std::int64_t next, std::int64_t told = 0) {
        bool good = status == TW_OK;
        const auto goes = [&](int code) {
            CHECK_TEXT(failing_memory::is_expected(session_, code), "%s",
                       tw_error_message(session_));
            good = good && code == TW_OK;
        };
        for (std::int64_t r = next; r < steps && good; ++r) goes(step(r));
        const int closed = tw_close(&file_);
        if (good) goes(closed);
        CHECK(file_ == nullptr);
        if (closed == TW_OK)
            judge(good ? steps : told);
        else if (first_ > 0)
            judge(first_);
    }
    /// Checks that the file has at least a given number of records, and that all values are right.
    void judge(std::int64_t least) {
        least = std::max(least, first_);
        ok(tw_open(session_, path_.c_str(), "", &file_));
        std::vector<int> got(values_.size());
        const auto n = static_cast<std::int64_t>(got.size());
        tw_file_info info{};
        ok(tw_inq(file_, &info));
        const std::int64_t counted = info.records;
        CHECK_TEXT(counted >= least && counted <= steps, "%ld records", static_cast<long>(counted));
        for (std::int64_t r = 0; r < counted; ++r) {
            ok(tw_get(file_, "T", cells_, r, TW_INT, got.data(), n));
            set_values(r);
            CHECK_TEXT(got == values_, "record %ld", static_cast<long>(r));
        }
        if (counted > 0) {
            ok(tw_get(file_, "h", cells_, 0, TW_INT, got.data(), n));
            set_values(0);
            CHECK_TEXT(got == values_, "h");
        }
        ok(tw_close(&file_));
    }

    std::vector<Way> ways_;
    std::int64_t first_;  // record that is put
    std::string folder_, path_, for_file_;
    tw_session session_ = nullptr;
    MPI_Comm comm_ = MPI_COMM_NULL;  ///< communicator of the model
    tw_decomposition cells_ = nullptr;
    tw_file file_ = nullptr;
    std::unique_ptr<Trial> trial_;
    std::int64_t shape_[2] = {0, nx}, start_[2] = {0, 0}, count_[2] = {0, nx};
    std::vector<int> values_;
    Way way_ = Way::arrays;
    bool apart_ = false;  ///< with a service, ranks may be in different steps, because tw_end_step
                          ///< does not wait for other ranks
};

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 20);
    const std::string every = check::option(argc, argv, "--every", "1");
    {
        std::vector<Way> ways = {Way::arrays};
        if (check::option(argc, argv, "--ways", "all") == "all")
            ways.insert(ways.end(), {Way::records, Way::boxes});
        std::string settings = check::option(argc, argv, "--settings", "");
        std::replace(settings.begin(), settings.end(), ',', ';');  // use commas in the test's
                                                                   // arguments, because CMake
                                                                   // divides them at ';'
        const bool appended = check::option(argc, argv, "--appended", "no") == "yes";
        const bool listed = check::option(argc, argv, "--listed", "no") == "yes";
        Program(settings, std::atol(every.c_str()), ways, appended, listed).go();
    }
    return check::verdict("memory_writing");
}
