// A model for crash.py, which derives from its files those that a loss of power can leave; and the
// calls by which crash.py recovers such files.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: crash_model --folder ROOT --plan FILE [--limit SECONDS]
//        crash_model --serve
//
// Each line of the plan is "NAME MODE STEPS SETTINGS": a session with these settings writes files
// in ROOT/NAME. What a call has promised is recorded between the changes of the files (record.c).
// Every value follows from variable, version, record and index, so that any file can be checked.
//
// With --serve, one process reads lines from standard input and answers each: "recover FORCE PATH",
// "append PATH".
#include <dlfcn.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "system/check.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr std::int64_t ny = 12, nx = 40;
enum Field : std::uint8_t { temperature = 1, salt = 2, area = 3 };

double value(Field field, int version, std::int64_t record, std::int64_t index) {
    return 1e6 * static_cast<int>(field) + 1e5 * version + 1e3 * static_cast<double>(record) +
           static_cast<double>(index) + 1;
}

void mark(const std::string& text) {
    using Mark = void (*)(const char*);
    static const auto function = reinterpret_cast<Mark>(dlsym(RTLD_DEFAULT, "thalweg_record_mark"));
    if (function != nullptr) function(text.c_str());
}

/// One part of a line of the plan.
struct Scenario {
    std::string name, mode, settings;
    int steps = 4;

    bool has(const char* text) const { return settings.find(text) != std::string::npos; }
    bool durable() const { return has("durable=yes"); }
    bool queued() const { return has("service=background") || has("service=servers"); }
};

/// The rows that this rank holds.
class Rows {
public:
    explicit Rows(tw_session session) {
        const std::int64_t rank = check::state.rank, ranks = check::state.size;
        first_ = ny * rank / ranks;
        count_ = ny * (rank + 1) / ranks - first_;
        const std::array<std::int64_t, 2> shape{ny, nx}, start{first_, 0}, count{count_, nx};
        CHECK_TEXT(tw_decompose(session, "y x", count_ > 0 ? 1 : 0, shape.data(), start.data(),
                                count.data(), &decomposition) == TW_OK,
                   tw_error_message(session));
    }

    std::vector<double> values(Field field, int version, std::int64_t record) const {
        std::vector<double> all;
        for (std::int64_t i = first_ * nx; i < (first_ + count_) * nx; ++i)
            all.push_back(value(field, version, record, i));
        return all;
    }

    tw_decomposition decomposition = nullptr;

private:
    std::int64_t first_ = 0, count_ = 0;
};

/// An open file, and what has been put into it.
class Output {
public:
    Output(tw_session session, const Rows& rows, std::string name)
        : session_(session), rows_(rows), name_(std::move(name)) {}

    bool good(const char* call, tw_status status) {
        if (status == TW_OK) return true;
        CHECK_TEXT(serving, "{} of {}: {}", call, name_, tw_error_message(session_));
        if (error.empty()) error = std::string(call) + ": " + tw_error_message(session_);
        return false;
    }

    bool create(const std::string& path, int generation) {
        version_ = generation;
        if (!good("tw_create", tw_create(session_, path.c_str(), "", &file_))) return false;
        define();
        return good("tw_put_att", tw_put_att(file_, "", "generation", TW_INT, 1, &generation));
    }
    bool append(const std::string& path, int version) {
        version_ = version;
        if (!good("tw_open", tw_open(session_, path.c_str(), "mode=append", &file_))) return false;
        tw_file_info info{};
        if (!good("tw_inq", tw_inq(file_, &info))) return false;
        record_ = info.records;
        define();
        return true;
    }
    void continue_at(std::int64_t record, tw_later later) {
        record_ = record;
        good("tw_set_record", tw_set_record(file_, record, later));
    }

    void put_fixed() {
        const std::vector<double> values = rows_.values(area, 0, 0);
        put("area", values);
    }
    void step() {
        put("temperature", rows_.values(temperature, version_, record_));
        put("salt", rows_.values(salt, version_, record_));
        good("tw_end_step", tw_end_step(file_));
        ++record_;
    }
    void sync(bool durable) { good("tw_sync", tw_sync(file_, durable ? 1 : 0)); }
    bool close() { return file_ == nullptr || good("tw_close", tw_close(&file_)); }
    void attribute(std::size_t bytes) {
        good("tw_put_att_text",
             tw_put_att_text(file_, "temperature", "late", std::string(bytes, 'x').c_str()));
    }

    std::int64_t record() const { return record_; }
    void mark_records(const char* what) const {
        mark(name_ + " " + what + " " + std::to_string(record_) + " " + std::to_string(version_));
    }
    void mark_at(const char* what, std::int64_t number) const {
        mark(name_ + " " + what + " " + std::to_string(number) + " " + std::to_string(version_));
    }

    std::string error;  ///< error of the first call that failed
    bool serving = false;

private:
    void define() {
        good("tw_def_dim", tw_def_dim(file_, "time", TW_UNLIMITED));
        const auto def = [&](const char* name, tw_type type, const char* dims) {
            good("tw_def_var", tw_def_var(file_, name, type, dims, rows_.decomposition));
        };
        def("temperature", TW_DOUBLE, "time y x");
        def("salt", TW_INT, "time y x");
        def("area", TW_DOUBLE, "y x");
    }
    void put(const char* name, const std::vector<double>& values) {
        good("tw_put", tw_put(file_, name, TW_DOUBLE, values.data(),
                              static_cast<std::int64_t>(values.size())));
    }

    tw_session session_;
    const Rows& rows_;
    std::string name_;
    tw_file file_ = nullptr;
    int version_ = 0;
    std::int64_t record_ = 0;
};

// ---- the plan -----------------------------------------------------------------------------------

class Run {
public:
    Run(Scenario scenario, const std::string& root)
        : scenario_(std::move(scenario)), folder_(root + "/" + scenario_.name) {}

    void go() {
        check::step(scenario_.name);
        if (check::state.rank == 0) ::mkdir(folder_.c_str(), 0777);
        MPI_Barrier(MPI_COMM_WORLD);
        const std::string settings = "log=off; " + scenario_.settings;
        CHECK_TEXT(tw_init(MPI_COMM_WORLD, settings.c_str(), &session_) == TW_OK,
                   tw_error_message(session_));
        tw_role role = TW_MODEL;
        CHECK(tw_inq_role(session_, &role) == TW_OK);
        if (role == TW_MODEL) be_model();
        CHECK_TEXT(tw_finalize(&session_) == TW_OK, "{}: tw_finalize", scenario_.name);
        check::use(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }

private:
    std::string path() const { return folder_ + "/history.nc"; }
    std::string title() const { return scenario_.name + "/history.nc"; }

    void be_model() {
        MPI_Comm comm = MPI_COMM_NULL;
        CHECK(tw_model_comm(session_, &comm) == TW_OK);
        check::use(comm);
        const Rows rows(session_);
        const std::string& mode = scenario_.mode;
        if (mode == "restart") return write_restarts(rows);
        write(rows, 0, mode == "write" || mode == "late" ? scenario_.steps : 2);
        if (mode == "replace") write(rows, 1, scenario_.steps);
        if (mode == "append" || mode == "rewrite" || mode == "drop") grow(rows, mode);
    }

    void write(const Rows& rows, int generation, int steps) {
        Output out(session_, rows, title());
        if (scenario_.has("publish=live")) withdraw(out);  // truncates the former file
        if (check::state.rank == 0) out.mark_at("create", generation);
        if (!out.create(path(), generation)) return;
        out.put_fixed();
        go_steps(out, steps);
        if (scenario_.mode == "late") out.attribute(scenario_.has("cdf") ? 600 : 60);
        end(out);
    }

    void grow(const Rows& rows, const std::string& mode) {
        Output out(session_, rows, title());
        const int version = mode == "append" ? 0 : 1;
        if (!out.append(path(), version)) return;
        if (mode == "rewrite") out.mark_at("rewrite", 0);
        if (mode == "drop") out.mark_at("drop", 1);
        MPI_Barrier(check::state.comm);
        if (mode == "rewrite") out.continue_at(0, TW_KEEP_LATER);
        if (mode == "drop") out.continue_at(1, TW_DROP_LATER);
        go_steps(out, scenario_.steps);
        end(out);
    }

    void go_steps(Output& out, int steps) const {
        for (int s = 0; s < steps; ++s) {
            // Without durable=yes, HDF5's index changes in place without protection, so withdraw
            // all promises about the file.
            if (scenario_.has("netcdf4") && !scenario_.durable()) withdraw(out);
            out.step();
            if (scenario_.durable() && !scenario_.queued()) out.mark_records("promise");
            if (s % 2 == 0) continue;
            const bool asked = !scenario_.durable();  // with durable=yes, every call is durable
            out.sync(asked);
            out.mark_records("promise");
        }
    }

    static void withdraw(const Output& out) {
        out.mark_records("withdraw");
        MPI_Barrier(check::state.comm);
    }

    void end(Output& out) const {
        if (scenario_.has("netcdf4") && !scenario_.durable()) withdraw(out);
        if (out.close() && scenario_.durable()) out.mark_records("complete");
    }

    void write_restarts(const Rows& rows) {
        tw_restart restart = nullptr;
        CHECK(tw_restart_new(session_, "", &restart) == TW_OK);
        for (int generation = 0; generation < scenario_.steps; ++generation) {
            const auto mark_it = [&](const char* what) {
                mark(title() + " " + what + " 0 " + std::to_string(generation));
            };
            std::vector<double> values = rows.values(area, generation, 0);
            CHECK(tw_restart_add(restart, "area", TW_DOUBLE, "y x", rows.decomposition,
                                 values.data(), static_cast<std::int64_t>(values.size()),
                                 TW_REQUIRED) == TW_OK);
            if (check::state.rank == 0) mark_it("create");
            CHECK_TEXT(tw_restart_write(restart, path().c_str()) == TW_OK,
                       tw_error_message(session_));
            mark_it("complete");
        }
        CHECK(tw_restart_free(&restart) == TW_OK);
    }

    Scenario scenario_;
    std::string folder_;
    tw_session session_ = nullptr;
};

void run_plan(const std::string& root, const std::string& plan) {
    std::ifstream lines(plan);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        Scenario scenario;
        words >> scenario.name >> scenario.mode >> scenario.steps;
        std::getline(words, scenario.settings);
        Run(scenario, root).go();
    }
}

// ---- the service --------------------------------------------------------------------------------

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

std::string append_record(tw_session session, const Rows& rows, const std::string& path) {
    Output out(session, rows, path);
    out.serving = true;
    const bool open = out.append(path, 9);
    if (open) out.step();
    out.close();
    if (!out.error.empty()) return "1 " + one_line(out.error);
    return "0 " + std::to_string(out.record());
}

void serve() {
    ::alarm(0);
    tw_session session = nullptr;
    CHECK(tw_init(MPI_COMM_SELF, "log=off", &session) == TW_OK);
    const Rows rows(session);
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::string what, path, answer;
        int force = 0;
        words >> what;
        if (what == "recover") {
            std::array<char, 1000> text{};
            words >> force >> path;
            const tw_status status =
                tw_recover(path.c_str(), force != 0 ? TW_REPLACE_LONGER : TW_KEEP_LONGER,
                           text.data(), static_cast<std::int64_t>(text.size()));
            answer = std::to_string(status) + " " + one_line(text.data());
        } else {
            words >> path;
            answer = append_record(session, rows, path);
        }
        std::cout << answer << std::endl;
    }
    tw_finalize(&session);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    if (check::has_flag(argc, argv, "--serve")) {
        serve();
        MPI_Finalize();
        return 0;
    }
    run_plan(check::option(argc, argv, "--folder", "."), check::option(argc, argv, "--plan", ""));
    return check::verdict("crash_model");
}
