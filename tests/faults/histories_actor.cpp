// Makes random calls on one file, as other processes do at the same time, and logs them.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: histories_actor ROLE FILE LOG NUMBER SEED SECONDS SETTINGS
//
// ROLE: write, append, read, netcdf (reads by netCDF-C) or recover. The log gets a line when a call
// begins and when it ends, in one write each, so that the log is complete if the process is killed:
//   begin TIME NUMBER KIND     the operation NUMBER begins
//   counted TIME NUMBER N      a call has promised the first N records
//   closing TIME NUMBER N      the file with N records is being closed
//   end TIME NUMBER CODE TEXT  TEXT: the records that were read, as RECORDS:OPERATION, or a message
// Every value determines the operation, the record and the element.
#include <fcntl.h>
#include <netcdf.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "system/random.hpp"
#include "thalweg/thalweg.h"

namespace {

constexpr std::int64_t length = 300;
/// Number that is logged for a record whose values come from different operations.
constexpr std::int64_t torn = -1;

double value_of(std::int64_t operation, std::int64_t record, std::int64_t i) {
    return static_cast<double>((operation * 1000 + record) * 1000 + i);
}

/// @return the operation that wrote a record
std::int64_t origin_of(const std::vector<double>& values, std::int64_t record) {
    const auto operation = static_cast<std::int64_t>(values[0]) / 1000000;
    for (std::int64_t i = 0; i < length; ++i)
        if (values[static_cast<std::size_t>(i)] != value_of(operation, record, i)) return torn;
    return operation;
}

double clock_now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

class Actor {
public:
    explicit Actor(char** argv)
        : role_(argv[1]),
          path_(argv[2]),
          log_(::open(argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)),
          number_(std::atol(argv[4])),
          random_(std::strtoull(argv[5], nullptr, 10)),
          until_(clock_now() + std::atof(argv[6])),
          settings_(argv[7]) {
        if (tw_init_serial("log=off", &session_) != TW_OK) std::abort();
        const std::int64_t start = 0;
        if (tw_decompose(session_, "x", 1, &length, &start, &length, &cells_) != TW_OK)
            std::abort();
    }
    ~Actor() {
        tw_finalize(&session_);
        ::close(log_);
    }
    Actor(const Actor&) = delete;
    Actor& operator=(const Actor&) = delete;

    void go() {
        while (clock_now() < until_) {
            ++number_;
            say("begin", role_);
            if (role_ == "write") write();
            if (role_ == "append") append();
            if (role_ == "read") read();
            if (role_ == "netcdf") read_by_netcdf();
            if (role_ == "recover") recover();
            rest(role_ == "recover" ? 60000 : 20000);
        }
    }

private:
    void say(const char* what, const std::string& rest) const {
        char line[4000];
        const int n = std::snprintf(line, sizeof line, "%s %.9f %ld %s\n", what, clock_now(),
                                    number_, rest.c_str());
        if (::write(log_, line, static_cast<std::size_t>(n)) != n) std::abort();
    }
    void end(int code, const std::string& text) const {
        say("end", std::to_string(code) + " " + text);
    }
    void end(tw_status code) const { end(code, code == TW_OK ? "" : tw_error_message(session_)); }
    void rest(std::int64_t microseconds) {
        usleep(static_cast<useconds_t>(random_.below(microseconds)));
    }

    tw_status step(tw_file file, std::int64_t record) {
        std::vector<double> values;
        for (std::int64_t i = 0; i < length; ++i) values.push_back(value_of(number_, record, i));
        tw_status code = tw_put(file, "T", TW_DOUBLE, values.data(), length);
        if (code == TW_OK) code = tw_end_step(file);
        if (code == TW_OK && random_.percent(30)) {
            code = tw_sync(file, 0);
            if (code == TW_OK) say("counted", std::to_string(record + 1));
        }
        rest(2000);
        return code;
    }
    /// Writes records after the first `records`, and closes the file.
    void fill(tw_file file, std::int64_t records, std::int64_t steps) {
        tw_status code = tw_def_var(file, "T", TW_DOUBLE, "time x", cells_);
        if (code == TW_OK) code = tw_enddef(file);
        const std::int64_t last = records + steps;
        for (; records < last && code == TW_OK; ++records) code = step(file, records);
        say("closing", std::to_string(records));
        const tw_status closed = tw_close(&file);
        end(code == TW_OK ? closed : code);
    }
    void write() {
        tw_file file = nullptr;
        const tw_status code = tw_create(session_, path_.c_str(), settings_.c_str(), &file);
        if (code != TW_OK) return end(code);
        fill(file, 0, random_.between(1, 8));
    }
    void append() {
        tw_file file = nullptr;
        const std::string settings = settings_ + "; mode=append";
        const tw_status code = tw_open(session_, path_.c_str(), settings.c_str(), &file);
        if (code != TW_OK) return end(code);
        std::int64_t records = 0;
        if (const tw_status asked = tw_inq_dim(file, "time", &records); asked != TW_OK) {
            tw_close(&file);
            return end(asked);
        }
        fill(file, records, random_.between(1, 4));
    }
    void read() const {
        tw_file file = nullptr;
        tw_status code = tw_open(session_, path_.c_str(), "", &file);
        if (code != TW_OK) return end(code);
        tw_file_info info{};
        code = tw_inq(file, &info);
        Seen seen;
        for (std::int64_t r = 0; r < info.records && code == TW_OK; ++r) {
            std::vector<double> values(length);
            code = tw_get(file, "T", cells_, r, TW_DOUBLE, values.data(), length);
            seen.add(origin_of(values, r));
        }
        if (code != TW_OK) {
            end(code);
            tw_close(&file);
        } else {
            code = tw_close(&file);
            code == TW_OK ? end(code, seen.text()) : end(code);
        }
    }
    void read_by_netcdf() const {
        int id = -1, dim = -1, variable = -1;
        int code = nc_open(path_.c_str(), NC_NOWRITE, &id);
        if (code != NC_NOERR) return end(code, nc_strerror(code));
        std::size_t records = 0;
        code = nc_inq_dimid(id, "time", &dim);
        if (code == NC_NOERR) code = nc_inq_dimlen(id, dim, &records);
        if (code == NC_NOERR) code = nc_inq_varid(id, "T", &variable);
        Seen seen;
        for (std::size_t r = 0; r < records && code == NC_NOERR; ++r) {
            std::vector<double> values(length);
            const std::size_t start[2] = {r, 0}, count[2] = {1, length};
            code = nc_get_vara_double(id, variable, start, count, values.data());
            seen.add(origin_of(values, static_cast<std::int64_t>(r)));
        }
        nc_close(id);
        end(code, code == NC_NOERR ? seen.text() : nc_strerror(code));
    }
    void recover() const {
        char text[1000] = "";
        const tw_status code = tw_recover(path_.c_str(), TW_KEEP_LONGER, text, sizeof text);
        end(code, text);
    }

    /// The operations that wrote the records of a file, in order.
    class Seen {
    public:
        void add(std::int64_t operation) {
            if (runs_.empty() || runs_.back().second != operation) runs_.emplace_back(0, operation);
            ++runs_.back().first;
        }
        std::string text() const {
            std::string all;
            for (const auto& [n, operation] : runs_)
                all += std::to_string(n) + ":" + std::to_string(operation) + " ";
            return all;
        }

    private:
        std::vector<std::pair<int, std::int64_t>> runs_;
    };

    const std::string role_, path_;
    const int log_;
    long number_;
    Random random_;
    const double until_;
    const std::string settings_;
    tw_session session_ = nullptr;
    tw_decomposition cells_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 8) return 2;
    Actor(argv).go();
    return 0;
}
