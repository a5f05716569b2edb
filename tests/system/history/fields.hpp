// A history of two fields, of which each rank holds one element.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mpi.h>

#include "history.hpp"

namespace histories {

struct Fields {
    explicit Fields(const std::string& config, const char* attributes = "units=K",
                    const char* first = "T", const char* second = "U",
                    const char* settings = nullptr) {
        const std::int64_t shape = check::state.size, start = check::state.rank, one = 1;
        OK(tw_decompose(session, "x", 1, &shape, &start, &one, &decomposition));
        OK(tw_history_open(session, config.c_str(), "noleap", "2000-01-01", settings, &history));
        OK(tw_history_field(history, first, TW_DOUBLE, "x", decomposition, attributes, &t));
        OK(tw_history_field(history, second, TW_DOUBLE, "x", decomposition, "units=m", &u));
    }
    ~Fields() {
        if (history != nullptr) OK(tw_history_close(&history));
        OK(tw_free_decomposition(&decomposition));
    }
    Fields(const Fields&) = delete;
    Fields& operator=(const Fields&) = delete;

    int time(double days) const { return tw_history_time(history, std::round(86400 * days)); }
    static int send(tw_field field, double value = 1) {
        return tw_send(field, TW_DOUBLE, &value, 1);
    }
    /// Takes a step in which both fields are sent.
    void step(double days, double first, double second = 0) const {
        OK(time(days));
        OK(send(t, first));
        OK(send(u, second));
        OK(tw_history_end_step(history));
    }
    void save(const std::string& path) const { histories::save(history, path); }
    int load(const std::string& path) const {
        tw_file file = nullptr;
        OK(tw_open(session, path.c_str(), nullptr, &file));
        const int loaded = tw_history_load(history, file);
        const std::string text = calls::text();
        OK(tw_close(&file));
        if (loaded != TW_OK) message = text;
        return loaded;
    }
    void close() { OK(tw_history_close(&history)); }

    tw_decomposition decomposition = nullptr;
    tw_history history = nullptr;
    tw_field t = nullptr, u = nullptr;
    mutable std::string message;  ///< text of the error of a failed load
};

/// Tests if the element of each rank has the expected value in each record.
inline void expect(const std::string& path, const std::vector<double>& records,
                   const char* variable = "T") {
    MPI_Barrier(MPI_COMM_WORLD);
    std::vector<double> right;
    for (const double value : records) right.insert(right.end(), check::state.size, value);
    const Contents file(path, variable);
    CHECK_TEXT(file.values == right, "{}: {} values, {} ... instead of {}, {} ...", path,
               file.values.size(), file.values.empty() ? 0 : file.values.back(), right.size(),
               right.empty() ? 0 : right.back());
}

/// Returns the configuration of a stream with a path in a folder, and with other keys.
inline std::string stream_of(const std::string& name, const std::string& path,
                             const std::string& keys) {
    return "[[stream]]\nname = \"" + name + "\"\ntype = \"double\"\npath = \"" + path + "\"\n" +
           keys;
}

}  // namespace histories
