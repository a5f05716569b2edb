// SPDX-License-Identifier: Apache-2.0
#include "overlap.hpp"

#include <thalweg/thalweg.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <random>

#include "ground.hpp"
#include "method.hpp"
#include "pack.hpp"
#include "progress.hpp"
#include "verify.hpp"

namespace thalweg::bench {
namespace {

using Json = nlohmann::ordered_json;

/// The ranks that a row of the report needs, which are the first of all ranks.
struct ServerRoles {
    MPI_Comm comm = MPI_COMM_NULL;  ///< communicator of these ranks; null on other ranks
    std::vector<pid_t> here;        ///< processes of these ranks that are on this node
};

double cpu_seconds(const std::vector<pid_t>& processes) {
    double sum = 0;
    for (const pid_t process : processes) sum += bench::cpu_seconds(process);
    return sum;
}

class Overlap {
public:
    Overlap(const RankGroup& world, const OverlapOptions& options)
        : world_(world),
          options_(options),
          base_(options.base),
          progress_(world.rank() == 0 && (base_.progress || isatty(STDERR_FILENO) == 1)),
          ground_(world, base_.dir) {
        if (world.ranks() < options.all_ranks())
            throw UsageError(
                fmt::format("{} ranks are running, but {} are needed: {} of the model, "
                            "and the servers; ./run bench overlap starts the right number",
                            world.ranks(), options.all_ranks(), options.ranks));
        const Problem size(base_, 0, options.ranks);
        measured_.step_bytes = size.step_bytes();
        measured_.variables = size.variables().size();
        measured_.workload = size.workload();
        const double bytes = static_cast<double>(run_bytes());
        check_folder(world, base_.dir, 2.1 * bytes);
        // Remove settings from the environment, which would override those of the rows.
        for (const char* name : {"THALWEG_SERVICE", "THALWEG_SERVERS", "THALWEG_BANDWIDTH"})
            unsetenv(name);
        for (const Way& way : options.ways)
            if (!server_roles_.contains(way.servers))
                server_roles_[way.servers] = make_server_roles(way.servers);
        for (const Computing computing : options.computing)
            for (const Way& way : options.ways) {
                measured_.rows.emplace_back();
                measured_.rows.back().way = &way;
                measured_.rows.back().computing = computing;
            }
    }

    ~Overlap() {
        for (auto& [servers, server_roles] : server_roles_)
            if (server_roles.comm != MPI_COMM_NULL) MPI_Comm_free(&server_roles.comm);
    }

    OverlapMeasurement run() {
        progress_.say("warming up memory");
        ground_.prewarm(base_.prewarm_gb >= 0
                            ? static_cast<std::int64_t>(base_.prewarm_gb * 1e9)
                            : std::max<std::int64_t>(2'000'000'000, 2 * run_bytes()));
        if (world_.rank() < options_.ranks) problem_of(world_.rank());
        calibrate();
        std::vector<std::size_t> order(measured_.rows.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::mt19937 random(1);
        for (int r = -base_.warmup; r < base_.repetitions; ++r) {
            std::shuffle(order.begin(), order.end(), random);
            for (std::size_t i = 0; i < order.size(); ++i) {
                OverlapRow& row = measured_.rows[order[i]];
                progress_.say(fmt::format("{} {}: {}, {} ({} of {})",
                                          r < 0 ? "warm-up" : "repetition",
                                          r < 0 ? r + base_.warmup + 1 : r + 1, row.way->name,
                                          name_of(row.computing), i + 1, order.size()));
                run_row(row, r);
            }
        }
        remove_files();
        for (const OverlapRow& row : measured_.rows)
            if (!row.wrong.empty()) measured_.good = false;
        return std::move(measured_);
    }

private:
    std::int64_t run_bytes() const { return measured_.step_bytes * base_.steps; }

    ServerRoles make_server_roles(int servers) const {
        ServerRoles server_roles;
        const bool in = world_.rank() < options_.ranks + servers;
        MPI_Comm_split(world_.comm(), in ? 0 : MPI_UNDEFINED, world_.rank(), &server_roles.comm);
        if (!in) return server_roles;
        MPI_Comm node = MPI_COMM_NULL;
        MPI_Comm_split_type(server_roles.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        int size = 0;
        MPI_Comm_size(node, &size);
        server_roles.here.resize(static_cast<std::size_t>(size));
        const pid_t own = getpid();
        MPI_Allgather(&own, sizeof own, MPI_BYTE, server_roles.here.data(), sizeof own, MPI_BYTE,
                      node);
        MPI_Comm_free(&node);
        return server_roles;
    }

    /// Returns the fields of a model rank. With servers, a rank's number in the model differs from
    /// row to row.
    Problem& problem_of(int rank) {
        std::unique_ptr<Problem>& problem = problems_[rank];
        if (!problem) {
            problem = std::make_unique<Problem>(base_, rank, options_.ranks);
            problem->fill();
        }
        return *problem;
    }

    /// Measures the time of a step's output, and the amount of computing for the chosen pace.
    void calibrate() {
        progress_.say("measuring the output and computation of a step");
        OverlapRow row;
        const Pace& pace = measured_.workload.pace;
        const std::string known = options_.compute_seconds >= 0 ? "inline" : pace.output;
        row.way = &*std::find_if(options_.ways.begin(), options_.ways.end(),
                                 [&](const Way& way) { return way.name == known; });
        const int steps = std::min(base_.steps, 5);
        const OverlapSample sample = run_once(row, -1, 0, steps);
        if (!row.note.empty()) throw std::runtime_error(row.note);
        measured_.io_seconds = sample.total / steps;
        measured_.compute_seconds = options_.compute_seconds >= 0
                                        ? options_.compute_seconds
                                        : pace.compute * measured_.io_seconds;
        const ServerRoles& server_roles = server_roles_.at(0);
        if (server_roles.comm != MPI_COMM_NULL)
            rounds_per_second_ = calibrate_arithmetic(RankGroup(server_roles.comm));
        rest();
        rounds_per_second_ = world_.max(rounds_per_second_);
    }

    /// Waits with few polls, so that ranks without a part in the row do not disturb the others.
    void rest() const { world_.wait(20000); }

    void run_row(OverlapRow& row, int repetition) {
        if (!row.note.empty()) return;
        const OverlapSample sample =
            run_once(row, repetition, measured_.compute_seconds * options_.every, base_.steps);
        if (repetition >= 0 && row.note.empty()) row.samples.push_back(sample);
    }

    /// Writes one file of one row, on all ranks.
    OverlapSample run_once(OverlapRow& row, int repetition, double compute_seconds, int steps) {
        const Way& way = *row.way;
        if (way.writes()) {
            ground_.level(measured_.step_bytes * steps, last_file_, base_.sync_between,
                          base_.settle_ms);
            remove_files();
            name_files(ground_.file_of(way.name), steps);
        }
        OverlapSample sample;
        Json told;
        const ServerRoles& server_roles = server_roles_.at(way.servers);
        if (server_roles.comm != MPI_COMM_NULL) {
            const Compute compute(row.computing, compute_seconds, rounds_per_second_);
            sample = take_part(way, server_roles, compute, repetition, steps, told);
        }
        rest();
        MPI_Allreduce(MPI_IN_PLACE, &sample, sizeof sample / sizeof(double), MPI_DOUBLE, MPI_MAX,
                      world_.comm());
        hear(told, row);
        return sample;
    }

    /// Runs this rank's part of a row of the table.
    /// @param told  receives the report of the model, which is the same on all of its ranks
    OverlapSample take_part(const Way& way, const ServerRoles& server_roles, const Compute& compute,
                            int repetition, int steps, Json& told) {
        trim_memory();
        if (!reset_peak()) measured_.peaks_reset = false;
        Memory before = memory_now(false);
        OverlapSample sample;
        tw_session session = nullptr;
        MPI_Comm model = server_roles.comm;
        if (way.library()) {
            const int role = begin_session(way, server_roles, session, model, told);
            if (role == TW_SERVER)
                sample.server_peak_rss = static_cast<double>(memory_now(false).peak);
            if (role == TW_SERVER || told.contains("note")) {
                tw_finalize(&session);
                return sample;
            }
        }
        {
            const RankGroup rank_group(model);
            const std::int64_t without = memory_now(false).resident;
            Problem& problem = problem_of(rank_group.rank());
            // Do not count the memory of fields that were made only now.
            before.resident += memory_now(false).resident - without;
            const Context context{rank_group.comm(), problem, base_, steps, {}};
            std::unique_ptr<Method> method;
            if (way.library()) method = make_library(context, session);
            if (way.peer) method = way.peer->make(context);
            if (way.service == "pack") method = std::make_unique<Pack>(problem);
            if (method) warm_up(*method, rank_group);
            run_model(method.get(), compute, rank_group, server_roles, steps, sample);
            const Memory after = memory_now(false);
            const auto code = std::max<std::int64_t>(0, after.code - before.code);
            sample.peak = rank_group.max(static_cast<double>(
                std::max<std::int64_t>(0, after.peak - code - before.resident)));
            sample.peak_rss = rank_group.max(static_cast<double>(after.peak));
            if (way.writes()) {
                report(*method, way, rank_group, sample, told);
                if (base_.verify == Verify::all ||
                    (base_.verify == Verify::first && repetition == 0))
                    verify(way, rank_group, problem, steps, told);
            }
        }
        return sample;
    }

    /// Starts a session of the library on the ranks that a row of the report needs, and returns
    /// this rank's role. If this fails, `told` gets a note with the reason.
    int begin_session(const Way& way, const ServerRoles& server_roles, tw_session& session,
                      MPI_Comm& model, Json& told) const {
        const bool alone = way.name == "serial" && options_.serial_bandwidth > 0;
        const std::string settings =
            fmt::format("service={}; servers={}; bandwidth={}; format={}; {}; {}", way.service,
                        way.servers, alone ? options_.serial_bandwidth : base_.bandwidth,
                        base_.format, way.settings, base_.settings);
        tw_role role = TW_MODEL;
        int ranks = 0;
        if (tw_init(server_roles.comm, settings.c_str(), &session) != TW_OK) {
            told["note"] = tw_error_message(session);
            return role;
        }
        tw_inq_role(session, &role);
        if (role == TW_SERVER) return role;
        tw_model_comm(session, &model);
        MPI_Comm_size(model, &ranks);
        if (ranks != options_.ranks) told["note"] = "no effect: all ranks belong to the model";
        return role;
    }

    /// Writes a short file first, so that buffers, connections and memory of the session are ready.
    void warm_up(Method& method, const RankGroup& rank_group) const {
        const std::string path = files_.front() + "-warm-up";
        method.open(path);
        for (int s = 0; s < std::min(2, base_.steps); ++s) method.step(s);
        method.close();
        method.finish();
        rank_group.wait();
        if (rank_group.rank() == 0) ::unlink(path.c_str());
    }

    /// Runs the model, which is the part that is measured.
    void run_model(Method* method, const Compute& compute, const RankGroup& rank_group,
                   const ServerRoles& server_roles, int steps, OverlapSample& sample) const {
        int node_rank = 0;
        MPI_Comm_rank(rank_group.node(), &node_rank);
        const std::vector<pid_t> counted =
            node_rank == 0 ? server_roles.here : std::vector<pid_t>();
        double start = rank_group.start();
        if (method) method->open(files_.front());
        sample.open = now() - start;

        start = rank_group.start();
        const double cpu = cpu_seconds(counted);
        for (int s = 0; s < steps; ++s) {
            const double begin = now();
            compute.run();
            const double output = now();
            if (method && s > 0 && s % steps_of_file() == 0) {
                method->close();
                method->open(files_[static_cast<std::size_t>(s / steps_of_file())]);
            }
            if (method) method->step(s);
            sample.computing += output - begin;
            sample.library += now() - output;
        }
        const double closing = now();
        if (method) {
            method->close();
            method->finish();
        }
        sample.close = now() - closing;
        sample.total = now() - start;
        rank_group.wait();
        sample.cpu = rank_group.sum(cpu_seconds(counted) - cpu);
        for (double OverlapSample::*figure :
             {&OverlapSample::open, &OverlapSample::total, &OverlapSample::computing,
              &OverlapSample::library, &OverlapSample::close})
            sample.*figure = rank_group.max(sample.*figure);
    }

    void report(Method& method, const Way& way, const RankGroup& rank_group, OverlapSample& sample,
                Json& told) const {
        const FileReport report = method.report();
        if (way.peer) {
            told["method"] = way.peer->name;
            told["storage"] = way.peer->storage;
            return;
        }
        const Json file = Json::parse(report.details);
        const auto most = [&](const char* name) {
            const bool known = file.contains(name) && file[name].is_number();
            return rank_group.max(known ? file[name].get<double>() : -1.);
        };
        sample.queue_waits = most("queue_waits");
        sample.queue_wait_seconds = most("queue_wait_seconds");
        told["method"] = file.at("method");
        told["storage"] = report.storage;
        told["details"] = file;
        if (report.service != way.service && way.service != "auto")
            told["note"] = "no effect: the service was " + report.service;
    }

    void verify(const Way& way, const RankGroup& rank_group, const Problem& problem, int steps,
                Json& told) const {
        const bool netcdf4 = told.value("storage", "") == "netcdf4";
        const FileKind kind = way.peer  ? way.peer->kind
                              : netcdf4 ? FileKind::netcdf4
                                        : FileKind::classic;
        std::string wrong;
        for (std::size_t f = 0; f < files_.size() && wrong.empty(); ++f) {
            const int first = static_cast<int>(f) * steps_of_file();
            wrong = check_values(rank_group, problem, kind, files_[f],
                                 {std::min(steps_of_file(), steps - first), first});
        }
        told["wrong"] = wrong;
        // Do not hash netCDF-4 files: they have the same values, but not the same bytes.
        if (!way.peer && !netcdf4) told["hash"] = hash_file(rank_group, last_file_);
    }

    int steps_of_file() const {
        return options_.steps_per_file > 0 ? options_.steps_per_file : base_.steps;
    }

    void name_files(const std::string& first, int steps) {
        files_ = {first};
        for (int s = steps_of_file(); s < steps; s += steps_of_file())
            files_.push_back(fmt::format("{}-{}", first, files_.size()));
        last_file_ = files_.back();
    }

    void remove_files() const {
        for (const std::string& file : files_) ground_.remove(file);
    }

    /// Broadcasts the report from the lowest rank that has one.
    void hear(const Json& told, OverlapRow& row) {
        int owner = told.is_null() ? world_.ranks() : world_.rank();
        MPI_Allreduce(MPI_IN_PLACE, &owner, 1, MPI_INT, MPI_MIN, world_.comm());
        if (owner == world_.ranks()) return;
        std::string text = told.is_null() ? "" : told.dump();
        int length = static_cast<int>(text.size());
        MPI_Bcast(&length, 1, MPI_INT, owner, world_.comm());
        text.resize(static_cast<std::size_t>(length));
        MPI_Bcast(text.data(), length, MPI_CHAR, owner, world_.comm());
        const Json heard = Json::parse(text);
        row.note = heard.value("note", "");
        row.method = heard.value("method", "");
        row.storage = heard.value("storage", "");
        if (heard.contains("details")) row.details = heard["details"].dump();
        if (!heard.contains("wrong") || !row.wrong.empty()) return;
        row.wrong = heard["wrong"];
        if (heard.contains("hash") && row.wrong.empty()) {
            const auto hash = heard["hash"].get<std::uint64_t>();
            if (!hash_) hash_ = hash;
            if (*hash_ != hash) row.wrong = "the bytes differ from those of another row";
        }
        row.verified = row.wrong.empty();
    }

    const RankGroup& world_;
    const OverlapOptions& options_;
    const Options& base_;
    Progress progress_;
    Ground ground_;
    std::vector<std::string> files_;           ///< files of the most recent run
    std::string last_file_;                    ///< last of these files
    std::map<int, ServerRoles> server_roles_;  ///< roles for each number of servers
    std::map<int, std::unique_ptr<Problem>> problems_;
    double rounds_per_second_ = 0;
    std::optional<std::uint64_t> hash_;  ///< hash of the files that the library has written
    OverlapMeasurement measured_;
};

}  // namespace

OverlapMeasurement measure_overlap(const RankGroup& world, const OverlapOptions& options) {
    return Overlap(world, options).run();
}

}  // namespace thalweg::bench
