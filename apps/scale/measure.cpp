// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <mpi.h>

#include "counters/heap.hpp"

namespace thalweg::scale {

namespace {

/// Of which a rank need not have all: a server's tw_init is "serve".
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

double reduced(double value, MPI_Op op) {
    double result = 0;
    PMPI_Reduce(&value, &result, 1, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
    return result;
}

}  // namespace

void Measure::begin(const std::string& phase) {
    end();
    phase_ = phase;
    before_ = *scale_counts();
    begin_ = PMPI_Wtime();
}

void Measure::end() {
    if (phase_.empty()) return;
    Phase& p = phases_[phase_];
    p.seconds += PMPI_Wtime() - begin_;
    for (const Field& f : fields) p.counts.*f.value += scale_counts()->*f.value - before_.*f.value;
    phase_.clear();
}

void Measure::end_as(const std::string& phase) {
    phase_ = phase;
    end();
}

void Measure::begin_step() { step_begin_ = PMPI_Wtime(); }
void Measure::end_step() { steps_.push_back(PMPI_Wtime() - step_begin_); }

void Measure::add_to(nlohmann::ordered_json& report) const {
    int ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (const char* name : phase_names) {
        const auto found = phases_.find(name);
        const Phase mine = found == phases_.end() ? Phase{} : found->second;
        report["seconds"][name] = reduced(mine.seconds, MPI_MAX);
        for (const Field& f : fields) {
            const auto value = static_cast<double>(mine.counts.*f.value);
            auto& to = report["counts"][name][f.name];
            to["sum"] = static_cast<std::int64_t>(reduced(value, MPI_SUM));
            to["most"] = static_cast<std::int64_t>(reduced(value, MPI_MAX));
        }
    }
    auto steps = nlohmann::ordered_json::array();
    std::int64_t n = static_cast<std::int64_t>(steps_.size());
    PMPI_Bcast(&n, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
        steps.push_back(reduced(i < steps_.size() ? steps_[i] : 0, MPI_MAX));
    report["seconds"]["steps"] = steps;
    report["metadata_operations"] = scale_storage()->metadata;
    if (scale_heap != nullptr) {
        const auto most = static_cast<double>(scale_heap()->most);
        report["heap_bytes"]["most"] = static_cast<std::int64_t>(reduced(most, MPI_MAX));
        report["heap_bytes"]["sum"] = static_cast<std::int64_t>(reduced(most, MPI_SUM));
    }
}

}  // namespace thalweg::scale
