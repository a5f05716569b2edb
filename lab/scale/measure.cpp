// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <mpi.h>

#include <algorithm>

#include "counters/heap.hpp"

namespace thalweg::scale {

namespace {

/// Names of the phases. A rank need not have all of them: a server has "serve" instead of "init".
constexpr const char* phase_names[] = {"init",  "open",     "put",          "end_step",
                                       "close", "restart",  "restart_read", "read_open",
                                       "read",  "finalize", "serve"};

struct Field {
    const char* name;
    std::int64_t Counts::*value;
};
constexpr Field fields[] = {
    {"messages", &Counts::messages},
    {"message_bytes", &Counts::message_bytes},
    {"received", &Counts::received},
    {"collectives", &Counts::collectives},
    {"collective_bytes", &Counts::collective_bytes},
    {"communicators", &Counts::communicators},
};

/// Reduces all values by one call, because each call takes seconds if thousands of ranks are
/// simulated.
void reduce(std::vector<double>& values, MPI_Op op) {
    const auto mine = values;
    PMPI_Reduce(mine.data(), values.data(), static_cast<int>(values.size()), MPI_DOUBLE, op, 0,
                MPI_COMM_WORLD);
}

}  // namespace

void Measure::begin(const std::string& phase) {
    end();
    phase_ = phase;
    before_ = *scale_counts();
    begin_heap();
    begin_ = PMPI_Wtime();
}

void Measure::end() {
    if (phase_.empty()) return;
    Phase& p = phases_[phase_];
    p.seconds += PMPI_Wtime() - begin_;
    for (const Field& f : fields) p.counts.*f.value += scale_counts()->*f.value - before_.*f.value;
    p.heap = std::max(p.heap, end_heap());
    phase_.clear();
}

void Measure::end_as(const std::string& phase) {
    phase_ = phase;
    end();
}

void Measure::begin_heap() {
    if (scale_heap == nullptr) return;
    Heap& heap = *scale_heap();
    heap_most_ = std::max(heap_most_, heap.most);
    heap.most = heap_before_ = heap.now;
}

/// Returns the largest memory since begin_heap() minus that at begin_heap(). Also updates the peak
/// of the run.
std::int64_t Measure::end_heap() {
    if (scale_heap == nullptr) return 0;
    Heap& heap = *scale_heap();
    const std::int64_t most = heap.most;
    heap.most = std::max(most, heap_most_);
    return most - heap_before_;
}

void Measure::begin_step() { step_begin_ = PMPI_Wtime(); }
void Measure::end_step() { steps_.push_back(PMPI_Wtime() - step_begin_); }

/// Adds the measured phases to the report. Maxima and sums are collected in the order in which they
/// are read below.
void Measure::add_to(nlohmann::ordered_json& report) const {
    std::vector<double> most, sum;
    for (const char* name : phase_names) {
        const auto found = phases_.find(name);
        const Phase mine = found == phases_.end() ? Phase{} : found->second;
        most.push_back(mine.seconds);
        most.push_back(static_cast<double>(mine.heap));
        sum.push_back(most.back());
        for (const Field& f : fields) {
            most.push_back(static_cast<double>(mine.counts.*f.value));
            sum.push_back(most.back());
        }
    }
    const bool heap = scale_heap != nullptr;
    if (heap) {
        most.push_back(static_cast<double>(scale_heap()->most));
        sum.push_back(most.back());
    }
    std::int64_t steps = static_cast<std::int64_t>(steps_.size());  // a server has no steps
    PMPI_Bcast(&steps, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < static_cast<std::size_t>(steps); ++i)
        most.push_back(i < steps_.size() ? steps_[i] : 0);
    reduce(most, MPI_MAX);
    reduce(sum, MPI_SUM);
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0) return;

    auto m = most.begin(), s = sum.begin();
    const auto count = [](double value) { return static_cast<std::int64_t>(value); };
    for (const char* name : phase_names) {
        report["seconds"][name] = *m++;
        const nlohmann::ordered_json of_heap{{"sum", count(*s++)}, {"most", count(*m++)}};
        if (heap) report["heap_bytes"][name] = of_heap;
        for (const Field& f : fields) {
            auto& to = report["counts"][name][f.name];
            to["sum"] = count(*s++);
            to["most"] = count(*m++);
        }
    }
    if (heap) {
        report["heap_bytes"]["most"] = count(*m++);
        report["heap_bytes"]["sum"] = count(*s++);
    }
    report["seconds"]["steps"] = std::vector<double>(m, most.end());
    report["metadata_operations"] = scale_storage()->metadata;
}

}  // namespace thalweg::scale
