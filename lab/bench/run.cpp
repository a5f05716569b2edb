// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <numeric>
#include <random>

#include "ground.hpp"
#include "progress.hpp"
#include "verify.hpp"

namespace thalweg::bench {
namespace {

/// A method, with the state that it keeps from one file to the next.
struct Runner {
    std::unique_ptr<Method> method;
    Result result;
};

class Bench {
public:
    Bench(const RankGroup& rank_group, Problem& problem, const Options& options)
        : rank_group_(rank_group),
          problem_(problem),
          options_(options),
          progress_(rank_group.rank() == 0 && (options.progress || isatty(STDERR_FILENO) == 1)),
          ground_(rank_group, options.dir) {
        const std::int64_t bytes = problem.step_bytes();
        constexpr std::int64_t default_bytes = 200'000'000;
        measurement_.steps =
            options.steps > 0
                ? options.steps
                : static_cast<int>(std::max<std::int64_t>(1, (default_bytes + bytes - 1) / bytes));
        choose_methods();
        check_folder(rank_group, options.dir, room_needed());
    }

    Measurement run() {
        progress_.say("warming up memory");
        ground_.prewarm(prewarm_bytes());
        problem_.fill();
        // Change the order each time, alike on all ranks, because each method finds the memory in
        // the state that the one before has left.
        const std::size_t count = runners_.size();
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::mt19937 random(1);
        for (int r = -options_.warmup; r < options_.repetitions; ++r) {
            std::shuffle(order.begin(), order.end(), random);
            for (std::size_t i = 0; i < count; ++i) {
                Runner& runner = runners_[order[i]];
                progress_.say(fmt::format("{}, {} ranks: {} {}, {} ({} of {})",
                                          problem_.workload().name, rank_group_.ranks(),
                                          r < 0 ? "warm-up" : "repetition",
                                          r < 0 ? r + options_.warmup + 1 : r + 1,
                                          runner.result.info->name, i + 1, count));
                run_once(runner, r);
            }
        }
        ground_.remove(last_file_);
        for (Runner& runner : runners_) {
            runner.method.reset();
            Result& result = runner.result;
            if (!result.error.empty() || !result.wrong.empty()) measurement_.good = false;
            measurement_.results.push_back(std::move(result));
        }
        return std::move(measurement_);
    }

private:
    void choose_methods() {
        std::vector<std::string> names = options_.methods;
        // Always measure the lower bound, because other methods are reported as multiples of it.
        if (std::find(names.begin(), names.end(), "raw") == names.end())
            names.insert(names.begin(), "raw");
        for (const std::string& name : names) {
            for (const Runner& other : runners_)
                if (other.result.info->name == name)
                    throw UsageError("method \"" + name + "\" is given twice");
            measurement_.methods.push_back(find_method(name));
            runners_.emplace_back();
            runners_.back().result.info = &measurement_.methods.back();
        }
    }

    std::int64_t repetition_bytes() const { return problem_.step_bytes() * measurement_.steps; }

    std::int64_t prewarm_bytes() const {
        if (options_.prewarm_gb >= 0) return static_cast<std::int64_t>(options_.prewarm_gb * 1e9);
        return std::max<std::int64_t>(2'000'000'000, 2 * repetition_bytes());
    }

    double room_needed() const {
        const auto kept = options_.keep ? static_cast<double>(runners_.size()) : 0.;
        return std::max((2.1 + kept) * static_cast<double>(repetition_bytes()),
                        static_cast<double>(prewarm_bytes()));
    }

    /// Calls a collective action. If it throws on any rank, stores the error in the result of the
    /// method and stops measuring it.
    template <class F>
    bool attempt(Runner& runner, F action) {
        std::string error;
        try {
            action();
        } catch (const std::exception& e) {
            error = e.what();
        }
        int failed = error.empty() ? rank_group_.ranks() : rank_group_.rank();
        MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MIN, rank_group_.comm());
        if (failed == rank_group_.ranks()) return true;
        runner.method.reset();
        if (error.empty()) error = fmt::format("rank {} failed", failed);
        runner.result.error = error;
        return false;
    }

    bool make(Runner& runner) {
        const double start = rank_group_.start();
        const MethodInfo& info = *runner.result.info;
        const bool made = attempt(runner, [&] {
            runner.method = info.make(
                {rank_group_.comm(), problem_, options_, measurement_.steps, info.settings});
        });
        if (made) runner.result.setup_seconds = rank_group_.max(now() - start);
        return made;
    }

    /// Writes one file by one method.
    /// @param repetition  number of the repetition; negative: not measured
    void run_once(Runner& runner, int repetition) {
        Result& result = runner.result;
        if (!result.error.empty()) return;
        ground_.level(repetition_bytes(), last_file_, options_.sync_between, options_.settle_ms);
        last_file_.clear();
        // Measure memory only in a method's first file, before which the method has allocated
        // nothing. A model would not return free memory to the system before each file.
        const bool first = !runner.method;
        Memory before, open;
        if (first) {
            trim_memory();
            if (!reset_peak()) measurement_.peaks_reset = false;
            before = memory_now(true);
            if (!make(runner)) return;
        }
        const std::string path = ground_.file_of(result.info->name);
        last_file_ = path;
        const Fsyncs fsyncs_before = fsyncs();

        double start = rank_group_.start();
        double opened = start;
        const bool open_worked = attempt(runner, [&] {
            runner.method->open(path);
            opened = now();
        });
        if (!open_worked) return;
        Method& method = *runner.method;
        Sample sample;
        sample.open_seconds = rank_group_.max(opened - start);

        start = rank_group_.start();
        const double cpu_start = cpu_seconds();
        const std::int64_t switches_start = voluntary_switches();
        for (int s = 0; s < measurement_.steps; ++s) method.step(s);
        const double switches = static_cast<double>(voluntary_switches() - switches_start) /
                                std::max(1, measurement_.steps);
        // Measure shared memory while the file is open. This takes time, so do it only in
        // repetitions that are not measured.
        if (first && repetition < 0) open = memory_now(true);
        method.close();
        if (options_.durable) make_durable(path);
        const double seconds = now() - start;
        const double cpu = cpu_seconds() - cpu_start;
        rank_group_.wait();

        if (first) add_memory(result, before, open);
        sample.seconds = rank_group_.max(seconds);
        sample.cpu_seconds = rank_group_.sum(cpu);
        sample.switches = rank_group_.sum(switches) / rank_group_.ranks();
        sample.most_switches = rank_group_.max(switches);
        add_report(method.report(), result, sample);
        const Fsyncs fsyncs_after = fsyncs();
        sample.fsync_calls = rank_group_.sum(fsyncs_after.calls - fsyncs_before.calls);
        sample.fsync_seconds = rank_group_.max(fsyncs_after.seconds - fsyncs_before.seconds);
        if (repetition >= 0) result.samples.push_back(sample);

        if (options_.verify == Verify::all || (options_.verify == Verify::first && repetition == 0))
            verify(result, path);
        result.file_bytes = file_bytes(rank_group_, path);
        if (options_.keep && repetition + 1 == options_.repetitions) {
            const std::string kept =
                fmt::format("{}/{}-{}.nc", options_.dir, problem_.workload().name,
                            file_name(result.info->name));
            if (rank_group_.rank() == 0) ::rename(path.c_str(), kept.c_str());
            last_file_.clear();
        }
    }

    void add_memory(Result& result, const Memory& before, const Memory& open) const {
        const Growth grown = growth(before, open, memory_now(false));
        result.peak_rss_bytes = rank_group_.max(grown.whole);
        result.peak_bytes = rank_group_.max(grown.fair);
        result.peak_node_bytes = rank_group_.max_node_sum(grown.fair);
    }

    void make_durable(const std::string& path) const {
        rank_group_.wait();
        if (rank_group_.rank() != 0) return;
        const int file = ::open(path.c_str(), O_RDONLY);
        if (file < 0) return;
        ::fsync(file);
        ::close(file);
    }

    void add_report(const FileReport& report, Result& result, Sample& sample) const {
        const auto slowest = [&](double Phases::*phase) {
            sample.phases.*phase = rank_group_.max(report.phases.*phase);
        };
        slowest(&Phases::open);
        slowest(&Phases::put);
        slowest(&Phases::remap);
        slowest(&Phases::wait);
        slowest(&Phases::write);
        slowest(&Phases::close);
        sample.writes = rank_group_.sum(report.writes);
        const bool known = rank_group_.max(-report.messages) <= 0;
        sample.messages = known ? rank_group_.sum(report.messages) : -1;
        result.service = report.service;
        result.storage = report.storage.empty() ? result.info->storage : report.storage;
        result.details = report.details;
    }

    void verify(Result& result, const std::string& path) {
        std::string wrong =
            check_values(rank_group_, problem_, result.info->kind, path, {measurement_.steps});
        if (result.info->kind == FileKind::classic) {
            const std::uint64_t hash = hash_file(rank_group_, path);
            if (wrong.empty() && result.hashed && hash != result.hash)
                wrong = "the bytes differ from those of an earlier repetition";
            if (wrong.empty() && result.info->library) {
                if (!reference_) reference_ = &result;
                if (hash != reference_->hash && reference_ != &result)
                    wrong = "the bytes differ from those of " + reference_->info->name;
            }
            result.hash = hash;
            result.hashed = true;
        }
        result.verified = wrong.empty() && result.wrong.empty();
        if (!wrong.empty() && result.wrong.empty()) result.wrong = wrong;
    }

    const RankGroup& rank_group_;
    Problem& problem_;
    const Options& options_;
    Progress progress_;
    Ground ground_;
    std::string last_file_;  ///< file that is kept until Ground::level() removes it
    std::vector<Runner> runners_;
    Measurement measurement_;
    const Result* reference_ = nullptr;  ///< result of the library's first classic file
};

}  // namespace

Measurement measure(const RankGroup& rank_group, Problem& problem, const Options& options) {
    return Bench(rank_group, problem, options).run();
}

}  // namespace thalweg::bench
