// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>
#include <unistd.h>

#include <vector>

#include "simulation/run.hpp"
#include "thalweg/thalweg.h"

namespace simulation {

namespace {

/// A file as netCDF-C reads it.
class Found {
public:
    explicit Found(const std::string& path) {
        if (nc_open(path.c_str(), NC_NOWRITE, &id_) != NC_NOERR) return;
        opened_ = true;
        int time = -1;
        if (nc_inq_unlimdim(id_, &time) == NC_NOERR && time >= 0)
            nc_inq_dimlen(id_, time, &records_);
    }
    ~Found() {
        if (opened_) nc_close(id_);
    }
    Found(const Found&) = delete;
    Found& operator=(const Found&) = delete;
    bool opened() const { return opened_; }
    std::int64_t records() const { return static_cast<std::int64_t>(records_); }

    /// @return description of the first wrong value; empty: there is none
    std::string compare(const Scenario& s) const {
        for (std::int64_t r = 0; r < records(); ++r)
            if (std::string wrong = compare(s, "T", r); !wrong.empty()) return wrong;
        return records() > 0 ? compare(s, "h", -1) : std::string();
    }

private:
    std::string compare(const Scenario& s, const char* name, std::int64_t record) const {
        int variable = -1;
        if (nc_inq_varid(id_, name, &variable) != NC_NOERR)
            return std::string("there is no variable ") + name;
        const auto ny = static_cast<std::size_t>(s.ny), nx = static_cast<std::size_t>(s.nx);
        std::vector<int> values(ny * nx);
        const std::size_t start[3] = {static_cast<std::size_t>(record), 0, 0};
        const std::size_t count[3] = {1, ny, nx};
        const int skip = record < 0 ? 1 : 0;
        if (const int code =
                nc_get_vara_int(id_, variable, start + skip, count + skip, values.data());
            code != NC_NOERR)
            return std::string(name) + " of record " + std::to_string(record) +
                   " cannot be read: " + nc_strerror(code);
        for (std::size_t i = 0; i < values.size(); ++i)
            if (values[i] != value_of(record, static_cast<std::int64_t>(i)))
                return std::string(name) + " of record " + std::to_string(record) + ", element " +
                       std::to_string(i) + " is " + std::to_string(values[i]);
        return {};
    }

    int id_ = -1;
    bool opened_ = false;
    std::size_t records_ = 0;
};

}  // namespace

std::string judge(const Scenario& scenario, const std::string& folder, Exit exit,
                  const Report& report) {
    if (report.wrong[0] != '\0') return report.wrong;
    if (exit == Exit::hangs) return "the run hangs";
    if (exit == Exit::endless) return "the run does not end";
    if (exit == Exit::aborted) return "the library ends the job";
    const std::string path = folder + "/a.nc";
    const bool faultless = report.failed == 0 && exit == Exit::finished;
    if (faultless && !report.closed) return "without any fault, the file is not closed";
    std::string said = "; complete";
    if (!report.closed) {
        char text[1000] = "";
        const tw_status code = tw_recover(path.c_str(), TW_KEEP_LONGER, text, sizeof text);
        if (code != TW_OK && report.promised > 0)
            return std::string("tw_recover: ") + tw_strerror(code) + ": " + text;
        if (code != TW_OK) return {};  // no record was promised
        said = std::string("; tw_recover said: ") + text;
    }
    const Found found(path);
    if (!found.opened()) return "netCDF-C cannot open the file" + said;
    if (found.records() < report.promised)
        return std::to_string(report.promised) + " records were promised, and " +
               std::to_string(found.records()) + " are there" + said;
    if (report.closed && found.records() != scenario.steps + scenario.appended)
        return "the complete file has " + std::to_string(found.records()) + " records";
    const std::string wrong = found.compare(scenario);
    return wrong.empty() ? wrong : wrong + said;
}

}  // namespace simulation
