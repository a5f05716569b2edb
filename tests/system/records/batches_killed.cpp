// Writes random batches until it is killed, and checks the file that remains.
//
// SPDX-License-Identifier: Apache-2.0
//
// Usage: batches_killed --die SEED FOLDER SESSION FILE | --look FOLDER...
// The first form writes FOLDER/batches.nc, with settings of the session and of the file, and is
// killed by another program (tests/faults/inject.c). In FOLDER/log.RANK each rank notes what it has
// reached. The second form judges such folders:
// - The header counts the records of all steps that calls on rank 0 have promised, or more.
// - An element of a promised record has the value that it had when the record was promised, or one
//   that was put later.
// - Any other counted record has at least the values with which the step that made it has left it.
//   In netCDF-4 files with filters, some variables may lack such a record.
// Every second seed uses a netCDF-4 file with filters, whose chunks are written only once.

#include <mpi.h>
#include <netcdf.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "batch_case.hpp"
#include "batch_reference.hpp"
#include "batch_writer.hpp"
#include "system/check.hpp"
#include "system/model.hpp"
#include "thalweg/thalweg.h"

namespace {

using namespace batches;

constexpr const char* file_name = "batches.nc";

bool has_filters(const Case& c) {
    bool filters =
        c.file.find("deflate") != std::string::npos || c.file.find("shuffle") != std::string::npos;
    for (const Variable& v : c.variables)
        filters |= v.settings.find("deflate") != std::string::npos;
    return filters;
}

/// Removes puts into counted records and into fixed-size variables: a filtered chunk may be damaged
/// if the run is killed while it is written again (docs/records.md).
void put_once(Case& c, int ranks) {
    Reference ref(c);
    for (std::size_t s = 0; s < c.steps.size(); ++s) {
        std::erase_if(c.steps[s].ops, [&](const Op& op) {
            return !c.variables[static_cast<std::size_t>(op.variable)].record ||
                   at_record(op, static_cast<int>(s)).record < ref.records;
        });
        apply(c, ref, s, ranks);
    }
}

Case case_of(std::uint64_t seed, int ranks, const std::string& file) {
    Bounds bounds;
    bounds.steps = 20;
    bounds.nx = 40;
    bounds.packed = seed % 2 == 1;
    for (;; seed += 1000003) {
        Case c = make_case(seed, ranks, file, true, bounds);
        if (has_filters(c) != bounds.packed || c.steps.size() < 5) continue;
        if (bounds.packed) put_once(c, ranks);
        for (Step& s : c.steps) {
            s.reopen = false;
            s.sync_before = -1;
        }
        return c;
    }
}

// ---- writing ------------------------------------------------------------------------------------

int write(std::uint64_t seed, const std::string& folder, const std::string& session,
          const std::string& file) {
    Model m(MPI_COMM_WORLD, "log=off; " + session);
    if (!m) {
        m.end();
        return check::verdict("batches_killed");
    }
    const Case c = case_of(seed, m.size, file);
    std::ofstream log(folder + "/log." + std::to_string(m.rank));
    const auto note = [&](const char* what, std::size_t step) {
        log << what << ' ' << step << std::endl;
    };
    log << seed << ' ' << m.size << ' ' << file << std::endl;
    BatchWriter writer(m.session, m.rank, m.size, c, folder + "/" + file_name);
    if (!writer.create()) check::print(writer.error);
    if (!writer.good()) return 1;
    const bool is_inline = file.find("inline") != std::string::npos;
    for (std::size_t s = 0; s < c.steps.size(); ++s) {
        writer.begin_step();
        note("begun", s + 1);
        check::step("step {}", s);
        for (const Op& op : c.steps[s].ops) writer.put(s, at_record(op, static_cast<int>(s)));
        if (!c.steps[s].open) writer.ok(tw_end_step(writer.file), "tw_end_step");
        if (!c.steps[s].open && is_inline) note("promised", s + 1);
        if (!c.steps[s].sync) continue;
        writer.ok(tw_sync(writer.file, 0), "tw_sync");
        note("promised", s + 1);
    }
    writer.ok(tw_close(&writer.file), "tw_close");
    note("closed", c.steps.size());
    CHECK_TEXT(writer.good(), writer.error);
    m.end();
    return check::verdict("batches_killed");
}

// ---- judging ------------------------------------------------------------------------------------

struct Log {
    std::uint64_t seed = 0;
    int ranks = 0;
    std::string file;
    std::size_t begun = 0;     ///< number of steps that some rank has begun
    std::size_t promised = 0;  ///< number of steps whose calls have returned on rank 0, which are
                               ///< then promised (docs/recovery.md)
    bool closed = false;
};

Log read_logs(const std::string& folder) {
    Log log;
    for (int rank = 0; rank == 0 || rank < log.ranks; ++rank) {
        std::ifstream in(folder + "/log." + std::to_string(rank));
        std::string line, what;
        std::getline(in, line);
        std::istringstream first(line);
        if (rank == 0) first >> log.seed >> log.ranks;
        if (rank == 0) std::getline(first >> std::ws, log.file);
        for (std::size_t step = 0; in >> what >> step;) {
            if (what == "begun") log.begun = std::max(log.begun, step);
            if (what != "begun" && rank == 0) log.promised = step;
            log.closed |= what == "closed";
        }
    }
    return log;
}

/// Returns the expected file after each step.
std::vector<Reference> states_of(const Case& c, int ranks) {
    std::vector<Reference> states{Reference(c)};
    for (std::size_t s = 0; s < c.steps.size(); ++s) {
        states.push_back(states.back());
        apply(c, states.back(), s, ranks);
    }
    return states;
}

class Judge {
public:
    Judge(const Case& c, const Log& log) : case_(c), log_(log), states_(states_of(c, log.ranks)) {}

    /// Checks a file; returns the error, or an empty text.
    std::string look(const std::string& path) {
        int id = 0;
        if (const int status = nc_open(path.c_str(), NC_NOWRITE, &id); status != NC_NOERR)
            return log_.promised == 0 ? "" : std::string(nc_strerror(status));
        std::string wrong = look(id);
        nc_close(id);
        return wrong;
    }

private:
    std::string look(int id) {
        int time = -1;
        std::size_t records = 0;
        nc_inq_unlimdim(id, &time);
        if (time >= 0) nc_inq_dimlen(id, time, &records);
        const auto n = static_cast<std::int64_t>(records);
        const Reference& promised = states_[log_.promised];
        if (n < promised.records || n > states_[log_.begun].records)
            return check::text("{} records, of which {} were promised and {} begun", n,
                               promised.records, states_[log_.begun].records);
        for (std::size_t v = 0; v < case_.variables.size(); ++v) {
            const Variable& var = case_.variables[v];
            std::vector<double> got(
                static_cast<std::size_t>(var.elements() * (var.record ? n : 1) + 1));
            int number = 0;
            if (nc_inq_varid(id, var.name.c_str(), &number) != NC_NOERR ||
                nc_get_var_double(id, number, got.data()) != NC_NOERR)
                return "cannot read " + var.name;
            for (std::size_t i = 0; i + 1 < got.size(); ++i)
                if (!may_be(v, i, got[i]))
                    return check::text("{} is {} at element {} ({} a record)", var.name, got[i], i,
                                       var.elements());
        }
        return "";
    }
    bool may_be(std::size_t v, std::size_t element, double value) const {
        const Variable& var = case_.variables[v];
        std::size_t first = log_.promised;
        if (var.record) {
            const std::int64_t record = static_cast<std::int64_t>(element) / var.elements();
            if (has_filters(case_) && record >= states_[first].records && value == fill_value)
                return true;
            while (states_[first].records <= record) ++first;
        } else if (states_[first].values[v][element] == fill_value) {
            return true;  // elements that were not put yet get fill values at the end
        }
        for (std::size_t s = first; s <= log_.begun; ++s)
            if (states_[s].values[v][element] == value) return true;
        return false;
    }

    const Case& case_;
    const Log& log_;
    std::vector<Reference> states_;
};

/// @return true if the run was killed
bool judge(const std::string& folder) {
    check::step(folder);
    const Log log = read_logs(folder);
    const std::string path = folder + "/" + file_name;
    const bool whole = std::filesystem::exists(path);
    const bool part = std::filesystem::exists(path + ".part");
    CHECK_TEXT(whole || part || log.promised == 0, "{}: no file", path);
    CHECK_TEXT(whole || !log.closed, "{} is closed but not there", path);
    CHECK_TEXT(!whole || !part, "{} is there under both names", path);
    if (log.ranks == 0 || !(whole || part)) return true;
    const Case c = case_of(log.seed, log.ranks, log.file);
    Log reached = log;
    const bool live = c.file.find("publish=live") != std::string::npos;
    if (whole && !live) reached.promised = reached.begun = c.steps.size();
    // Until a netCDF-4 file is recovered, some variables may be longer than others.
    std::string found = path + (whole ? "" : ".part");
    if (part && c.file.find("netcdf4") != std::string::npos && log.promised > 0) {
        char said[400];
        const tw_status status = tw_recover(path.c_str(), TW_KEEP_LONGER, said, sizeof said);
        CHECK_TEXT(status == TW_OK, said);
        if (status == TW_OK) found = path;
    }
    const std::string wrong = Judge(c, reached).look(found);
    CHECK_TEXT(wrong.empty(), "{} (seed {}, {} ranks, {}; begun {}, promised {} of {}): {}", path,
               log.seed, log.ranks, c.file, log.begun, log.promised, c.steps.size(), wrong);
    return !log.closed;
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 60);
    const std::string mode = argc > 2 ? argv[1] : "";
    if (mode == "--die" && argc == 6) return write(std::stoull(argv[2]), argv[3], argv[4], argv[5]);
    if (mode != "--look") return 2;
    int killed = 0;
    for (int i = 2; i < argc; ++i)
        if (judge(argv[i])) ++killed;
    check::print(check::text("batches_killed: {} of {} were killed", killed, argc - 2));
    CHECK(2 * killed > argc - 2);
    return check::verdict("batches_killed");
}
