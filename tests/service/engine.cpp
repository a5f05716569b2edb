// Tests the engine in one process, without MPI: threads are the ranks of a session. Random batches,
// by every method, inline and in the background, are compared with plain arrays;
// tests/system/records/batches.cpp has them with MPI, servers, and files of earlier runs.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "session/begin.hpp"
#include "support/threads.hpp"
#include "system/compare.hpp"
#include "system/compare_netcdf4.hpp"
#include "system/records/batch_writer.hpp"

namespace {

namespace engine = thalweg::detail;

void ok(int status) { EXPECT_EQ(status, TW_OK); }

/// Calls act(session, rank) on each of several ranks.
template <class Act>
void in_session(int ranks, const std::string& settings, Act&& act) {
    engine::on_threads(ranks, [&](std::unique_ptr<engine::Comm> comm) {
        const int rank = comm->rank();
        tw_session session = nullptr;
        const auto make_world = [&] { return std::move(comm); };
        const tw_status code = engine::begin_session(
            &session, [&] { return engine::start(rank, make_world, settings.c_str(), session); });
        ASSERT_EQ(code, TW_OK) << tw_error_message(session);
        act(session, rank);
        ok(tw_finalize(&session));
    });
}

class Engine : public testing::Test {
protected:
    void SetUp() override {
        std::string name = testing::TempDir() + "thalweg_engine_XXXXXX";
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        path_ = name + "/file.nc";
    }
    void TearDown() override {
        std::filesystem::remove_all(std::filesystem::path(path_).parent_path());
    }

    void run_case(std::uint64_t seed, const batches::Bounds& bounds) const {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(mix(seed));
        const int ranks = random.pick<int>({1, 2, 3, 5, 7}), nodes = random.pick<int>({0, 0, 1, 2});
        const std::string service = random.pick<std::string>({"inline", "background"});
        const batches::Case c =
            batches::make_case(seed, ranks, "service=" + service, nodes > 0, bounds);
        batches::Reference written(c);
        // With little memory, only few words can describe which ranks hold which pieces.
        const std::string buffer = random.pick<std::string>({"", "; buffer=64KiB"});
        in_session(ranks, check::text("log=off; node_size={}", nodes) + buffer,
                   [&](tw_session session, int rank) {
                       batches::Reference reference(c);
                       batches::BatchWriter writer(session, rank, ranks, c, path_);
                       write(c, writer, reference, ranks);
                       EXPECT_EQ(writer.error, "") << ranks << " ranks, " << c.file;
                       if (rank == 0) written = reference;
                   });
        batches::write_by_netcdf(path_ + ".expected", c, written);
        EXPECT_EQ(c.netcdf4() ? netcdf4_difference(path_ + ".expected", path_)
                              : difference(path_ + ".expected", path_),
                  "")
            << ranks << " ranks, " << c.file;
    }

    std::string path_;

private:
    static void write(const batches::Case& c, batches::BatchWriter& writer,
                      batches::Reference& reference, int ranks) {
        if (!writer.create()) return;
        for (std::size_t s = 0; s < c.steps.size(); ++s) {
            const batches::Step& step = c.steps[s];
            writer.begin_step();
            int number = 0;
            for (const batches::Op& op : step.ops) {
                if (number++ == step.sync_before) writer.ok(tw_sync(writer.file, 0), "tw_sync");
                writer.put(s, batches::at_record(op, static_cast<std::int64_t>(s)));
            }
            if (!step.open) writer.ok(tw_end_step(writer.file), "tw_end_step");
            apply(c, reference, s, ranks);
            if (!step.sync) continue;
            writer.ok(tw_sync(writer.file, 0), "tw_sync");
            writer.read_back(reference, s);
        }
        writer.ok(tw_close(&writer.file), "tw_close");
    }
};

}  // namespace

TEST_F(Engine, RandomBatchesOnThreads) {
    const char* more = std::getenv("THALWEG_ENGINE_CASES");
    const std::uint64_t cases = more != nullptr ? std::strtoull(more, nullptr, 10) : 120;
    const char* from = std::getenv("THALWEG_ENGINE_SEED");
    const std::uint64_t first = from != nullptr ? std::strtoull(from, nullptr, 10) : 0;
    batches::Bounds bounds;
    bounds.again = true;
    for (std::uint64_t seed = first; seed < first + cases && !HasFailure(); ++seed) {
        bounds.packed = seed % 3 == 0;
        run_case(seed, bounds);
    }
}

// A call that exceeds what a rank may put in a step must have no effect; everything else is
// written.
TEST_F(Engine, ARefusedBoxLeavesNothing) {
    constexpr std::int64_t n = 20000, start = 0, large = 15000, small = 10;
    const std::vector<double> values(large, 7.0);
    std::vector<double> wanted(n, 9.0);
    std::fill_n(wanted.begin(), small, 7.0);
    for (const char* service : {"service=inline", "service=background"})
        in_session(2, "log=off; node_size=1", [&](tw_session session, int rank) {
            tw_file file = nullptr;
            const std::string settings = std::string(service) + "; staging=64KiB; queue=64KiB";
            ok(tw_create(session, path_.c_str(), settings.c_str(), &file));
            ok(tw_def_dim(file, "x", n));
            ok(tw_def_var(file, "v", TW_DOUBLE, "x", nullptr));
            ok(tw_set_var(file, "v", "fill=9"));
            ok(tw_enddef(file));
            const auto put = [&](const std::int64_t& count) {
                return tw_put_box(file, "v", TW_DOUBLE, &start, &count, nullptr, values.data());
            };
            if (rank == 0) {
                EXPECT_EQ(put(large), TW_ENOMEM);
                ok(put(small));
            }
            ok(tw_end_step(file));
            ok(tw_close(&file));
            ok(tw_open(session, path_.c_str(), nullptr, &file));
            std::vector<double> found(n);
            ok(tw_get_box(file, "v", TW_DOUBLE, &start, &n, nullptr, found.data()));
            EXPECT_EQ(found, wanted);
            ok(tw_close(&file));
        });
}

// Records are written by a plan, even in a file whose tw_put is collective.
TEST_F(Engine, RecordsWhereStepsAreTooLarge) {
    constexpr std::int64_t n = 20000, m = 35;
    for (const char* format : {"format=cdf5", "format=netcdf4; deflate=1"})
        in_session(3, "log=off; node_size=2", [&](tw_session session, int rank) {
            const std::int64_t begin = n * rank / 3, held = n * (rank + 1) / 3 - begin;
            tw_decomposition cells = nullptr;
            ok(tw_decompose(session, "x", 1, &n, &begin, &held, &cells));
            tw_file file = nullptr;
            const std::string settings =
                std::string("service=inline; writers=2; staging=16KiB; ") + format;
            ok(tw_create(session, path_.c_str(), settings.c_str(), &file));
            ok(tw_def_dim(file, "y", m));
            ok(tw_def_var(file, "large", TW_DOUBLE, "time x", cells));
            ok(tw_set_var(file, "large", "fill=9"));
            ok(tw_def_var(file, "small", TW_DOUBLE, "time y", nullptr));
            ok(tw_enddef(file));
            for (int step = 0; step < 5; ++step) {
                const std::vector<double> large(static_cast<std::size_t>(held), step);
                const std::vector<double> small(m, 10 + step);
                const tw_array array = tw_dense(TW_DOUBLE, large.data(), held);
                // The steps write records of the other variable in another order.
                const auto put = [&] {
                    ok(tw_put_record(file, "small", nullptr, 4 - step, TW_DOUBLE, small.data(), m));
                };
                if (step % 2 == 0) put();
                if (step != 2) ok(tw_put_array(file, "large", array, step == 3 ? TW_DEFERRED : 0));
                if (step % 2 == 1) put();
                if (step == 1) ok(tw_sync(file, 0));
                ok(tw_end_step(file));
            }
            ok(tw_close(&file));
            ok(tw_open(session, path_.c_str(), nullptr, &file));
            const auto expect = [&](const char* name, std::int64_t length, int record, double v) {
                const std::int64_t at[] = {record, 0}, count[] = {1, length};
                std::vector<double> found(static_cast<std::size_t>(length));
                ok(tw_get_box(file, name, TW_DOUBLE, at, count, nullptr, found.data()));
                EXPECT_EQ(found, std::vector<double>(found.size(), v)) << name << " " << record;
            };
            for (int record = 0; record < 5; ++record) {
                expect("large", n, record, record == 2 ? 9 : record);
                expect("small", m, record, 14 - record);
            }
            ok(tw_close(&file));
            ok(tw_free_decomposition(&cells));
        });
}
