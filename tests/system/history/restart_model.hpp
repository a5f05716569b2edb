// A model whose history has means, extremes, weights and regions, to be continued from restarts.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "history.hpp"

namespace histories {

constexpr double hour = 3600;
constexpr std::int64_t nx = 24, nz = 3;

/// Streams with means, extremes, varying masks, weights and inner operations; with files for one
/// window and for many; on levels and in a region.
inline const char* const configuration = R"(
[history]
time_units = "hours since START"
max_open = OPEN
[[stream]]
name = "mean"
every = "10 hours"
anchor = "start"
fields = ["T", "M", "S"]
path = "mean.nc"
[[stream]]
name = "max"
every = "1 day"
op = "max"
fields = ["T", "M"]
new_file = "2 days"
anchor = "start"
path = "max_{start:YYYYMMDD}.nc"
file = { format = "netcdf4" }
[[stream]]
name = "std"
every = "20 hours"
anchor = "start"
op = "std"
fields = ["M"]
files = "variable"
type = "double"
path = "{variable}_std.nc"
[[stream]]
name = "inner"
every = "2 days"
anchor = "start"
inner = { op = "max", every = "1 day" }
fields = ["T"]
path = "inner.nc"
[[stream]]
name = "weighted"
every = "2 days"
anchor = "start"
weight = "W"
fields = ["T"]
path = "weighted.nc"
[[stream]]
name = "now"
every = "5 hours"
anchor = "start"
op = "instant"
fields = ["T"]
region = "middle"
levels = { dim = "z", index = [2, 0] }
records = 4
path = "now_{start:YYYYMMDDhh}.nc"
[region.middle]
index = { x = [5, 17] }
)";

struct Run {
    std::string folder;
    MPI_Comm comm;
    std::string settings;
    bool lists = false;
};

/// @param few  permit only a few open files
inline std::string configuration_in(const std::string& folder, bool few) {
    std::string text = configuration;
    text.replace(text.find("OPEN"), 4, few ? "2" : "512");
    return in_folder(std::move(text), folder);
}

inline double value_of(int step, std::int64_t z, std::int64_t x) {
    return std::sin(0.1 * static_cast<double>(step * 7 + 100 * z + x)) + 1.0 / 3;
}

/// A model on the ranks of a communicator, with or without lists of columns.
class Runner {
public:
    explicit Runner(const Run& run) : run_(run) {
        MPI_Comm_rank(run.comm, &rank_);
        MPI_Comm_size(run.comm, &size_);
        OK(tw_init(run.comm, run.settings.c_str(), &session));
        const std::int64_t shape[2] = {nz, nx};
        if (run.lists) {
            for (std::int64_t i = nx - 1 - rank_; i >= 0; i -= size_) mine_.push_back(i);
            mine_.insert(mine_.begin(), -1);
            OK(tw_decompose_list(session, "z x", shape, "x", std::ssize(mine_), mine_.data(),
                                 TW_LIST_UNIQUE, &decomposition_));
        } else {
            const std::int64_t low = nx * rank_ / size_, high = nx * (rank_ + 1) / size_;
            for (std::int64_t i = low; i < high; ++i) mine_.push_back(i);
            const std::int64_t start[2] = {0, low}, count[2] = {nz, high - low};
            OK(tw_decompose(session, "z x", 1, shape, start, count, &decomposition_));
        }
        const std::string text = configuration_in(run.folder, run.lists);
        OK(tw_history_open(session, text.c_str(), "noleap", "2000-01-30", nullptr, &history_));
        const double z[nz] = {1, 2, 3};
        OK(tw_history_coordinate(history_, "z", "z", nullptr, tw_dense(TW_DOUBLE, z, nz),
                                 "positive=up"));
        const char* missing = "missing=varying; missing_value=-999";
        OK(tw_history_field(history_, "T", TW_DOUBLE, "z x", decomposition_, "units=K", &t_));
        OK(tw_history_field(history_, "M", TW_FLOAT, "z x", decomposition_, missing, &m_));
        OK(tw_history_field(history_, "W", TW_DOUBLE, "z x", decomposition_, "units=m", &w_));
        OK(tw_history_field(history_, "S", TW_DOUBLE, "", nullptr, "units=1", &s_));
        OK(tw_history_ready(history_));
        OK(tw_restart_new(session, nullptr, &restart_));
    }
    void load(const std::string& path) {
        tw_file file = nullptr;
        OK(tw_restart_read(restart_, path.c_str(), &file));
        OK(tw_history_load(history_, file));
        OK(tw_close(&file));
    }
    void save(const std::string& path) {
        OK(tw_history_save(history_, restart_));
        OK(tw_restart_write(restart_, path.c_str()));
    }
    void step(int n) {
        OK(tw_history_time(history_, n * hour));
        std::vector<double> t, w;
        std::vector<float> m;
        for (std::int64_t z = 0; z < nz; ++z)
            for (const std::int64_t x : mine_) {
                const double v = value_of(n, z, x);
                t.push_back(x < 0 ? 1e300 : v);
                w.push_back(x < 0 ? -1 : (n + x) % 3 == 0 ? 0 : 1 + v * v);
                m.push_back((n + x + z) % 4 == 0 ? -999.f : static_cast<float>(v));
            }
        OK(tw_send(w_, TW_DOUBLE, w.data(), std::ssize(w)));
        OK(tw_send(t_, TW_DOUBLE, t.data(), std::ssize(t)));
        if (n % 2 == 0) OK(tw_send(m_, TW_FLOAT, m.data(), std::ssize(m)));
        const double s = value_of(n, 0, 0);
        OK(tw_send(s_, TW_DOUBLE, &s, 1));
        OK(tw_history_end_step(history_));
    }
    void end() {
        OK(tw_history_close(&history_));
        OK(tw_restart_free(&restart_));
        OK(tw_finalize(&session));
    }

private:
    Run run_;
    int rank_ = 0, size_ = 1;
    std::vector<std::int64_t> mine_;
    tw_decomposition decomposition_ = nullptr;
    tw_history history_ = nullptr;
    tw_field t_ = nullptr, m_ = nullptr, w_ = nullptr, s_ = nullptr;
    tw_restart restart_ = nullptr;
};

constexpr int steps = 100;

}  // namespace histories
