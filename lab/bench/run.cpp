// SPDX-License-Identifier: Apache-2.0
#include "run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <random>
#include <tuple>

#include "base/clock.hpp"
#include "fields/ground.hpp"
#include "fields/loops.hpp"
#include "verify.hpp"

namespace thalweg::bench {
namespace {

using Json = nlohmann::ordered_json;

/// Seconds; a way to write lists whose first run takes longer is not repeated.
constexpr double patience = 30;

bool reads(Mode mode) { return mode == Mode::read || mode == Mode::prefetch; }

/// Shows one line on standard error, which is overwritten.
class Progress {
public:
    explicit Progress(bool shown) : shown_(shown) {}
    ~Progress() { say(""); }
    void say(const std::string& text) const {
        if (!shown_) return;
        fmt::print(stderr, "\r\033[K{}", text);
        std::fflush(stderr);
    }

private:
    bool shown_;
};

/// Memory into which a rank reads, in huge pages if possible. All of it has been touched.
class Arrays {
public:
    explicit Arrays(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
        constexpr std::size_t page = std::size_t(2) << 20;
        void* p = std::aligned_alloc(page, (bytes_ + page - 1) / page * page);
        if (p == nullptr) throw std::bad_alloc();
        madvise(p, bytes_, MADV_HUGEPAGE);
        memory_.reset(static_cast<std::byte*>(p));
        clear();
    }
    std::byte* data() const { return memory_.get(); }
    void clear() { std::memset(memory_.get(), 0xff, bytes_); }

private:
    struct Free {
        void operator()(std::byte* p) const { std::free(p); }
    };
    std::size_t bytes_;
    std::unique_ptr<std::byte, Free> memory_;
};

/// The first ranks of all: those of the model, and servers.
struct Party {
    MPI_Comm comm = MPI_COMM_NULL;   ///< null on other ranks
    std::vector<pid_t> processes{};  ///< on this node
};

/// State that a row of the benchmark keeps from one file to the next.
struct Runner {
    std::unique_ptr<RankGroup> ranks;  ///< of the model
    Problem* problem = nullptr;
    std::unique_ptr<Method> method;
};

class Bench {
public:
    Bench(const RankGroup& world, const Options& options, Measurement& measurement)
        : world_(world),
          options_(options),
          m_(measurement),
          progress_(world.rank() == 0 && isatty(STDERR_FILENO) == 1),
          ground_(world, options.dir),
          runners_(measurement.rows.size()) {
        std::int64_t most = 0;
        for (const Case& c : m_.cases)
            most = std::max(most, c.step_bytes * (c.steps + (reads(options.mode) ? 1 : 0)));
        prewarm_ = options.prewarm_gb >= 0 ? static_cast<std::int64_t>(options.prewarm_gb * 1e9)
                                           : std::max<std::int64_t>(2'000'000'000, 2 * most);
        check_folder(world, options.dir,
                     std::max(2.1 * static_cast<double>(most), static_cast<double>(prewarm_)));
        for (const Row& row : m_.rows)
            if (!parties_.contains(row.servers)) parties_[row.servers] = make_party(row.servers);
    }

    ~Bench() {
        runners_.clear();
        for (auto& [servers, party] : parties_)
            if (party.comm != MPI_COMM_NULL) MPI_Comm_free(&party.comm);
    }

    void run() {
        progress_.say("warming up memory");
        ground_.prewarm(prewarm_);
        if (reads(options_.mode)) prepare_file();
        choose_computing();
        // Change the order each time, alike on all ranks, because each method finds the memory in
        // the state that the one before has left.
        std::mt19937 random(1);
        for (std::size_t c = 0; c < m_.cases.size(); ++c) {
            std::vector<std::size_t> order;
            for (std::size_t i = 0; i < m_.rows.size(); ++i)
                if (m_.rows[i].which == c) order.push_back(i);
            for (int r = -options_.warmup; r < options_.repetitions; ++r) {
                std::shuffle(order.begin(), order.end(), random);
                for (const std::size_t i : order) {
                    Row& row = m_.rows[i];
                    progress_.say(fmt::format(
                        "{}, {} ranks: {} {}, {} {}", m_.cases[c].workload.name, m_.ranks,
                        r < 0 ? "warm-up" : "repetition", r < 0 ? r + options_.warmup + 1 : r + 1,
                        row.name, row.computing));
                    run_once(i, r, m_.compute_seconds, m_.cases[c].steps);
                }
            }
            for (const std::size_t i : order) runners_[i].reset();
        }
        for (const std::string& file : files_) ground_.remove(file);
        ground_.remove(prepared_);
        for (const Row& row : m_.rows)
            if (!row.wrong.empty() || (!row.error.empty() && options_.mode != Mode::overlap))
                m_.good = false;
    }

private:
    Party make_party(int servers) const {
        Party party;
        const bool in = world_.rank() < m_.ranks + servers;
        MPI_Comm_split(world_.comm(), in ? 0 : MPI_UNDEFINED, world_.rank(), &party.comm);
        if (!in) return party;
        MPI_Comm node = MPI_COMM_NULL;
        MPI_Comm_split_type(party.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        int size = 0;
        MPI_Comm_size(node, &size);
        party.processes.resize(static_cast<std::size_t>(size));
        const pid_t own = getpid();
        MPI_Allgather(&own, sizeof own, MPI_BYTE, party.processes.data(), sizeof own, MPI_BYTE,
                      node);
        MPI_Comm_free(&node);
        return party;
    }

    /// Returns the fields of a model rank. With servers, a rank's number in the model differs from
    /// row to row.
    Problem& problem_of(std::size_t which, Share share, int rank) {
        std::unique_ptr<Problem>& problem = problems_[{which, share, rank}];
        const Case& c = m_.cases[which];
        if (!problem)
            problem = std::make_unique<Problem>(c.workload, options_.grid, rank, m_.ranks, share);
        problem->fill();
        return *problem;
    }

    /// Writes the file that is read.
    void prepare_file() {
        const Case& c = m_.cases.front();
        Problem& problem = problem_of(0, Share::own, world_.rank());
        const MethodInfo writer =
            find_method(Mode::write, options_.format == "netcdf4" ? "record-netcdf4" : "record");
        Context context{world_.comm(), problem, options_, c.steps};
        const std::string settings =
            options_.format == "netcdf4"
                ? fmt::format("{}; format=netcdf4; deflate={}; shuffle={}", writer.settings,
                              options_.deflate, options_.shuffle ? "yes" : "no")
                : fmt::format("{}; format={}", writer.settings, options_.format);
        if (tw_init(world_.comm(), settings.c_str(), &context.session) != TW_OK)
            throw std::runtime_error(tw_error_message(context.session));
        const auto method = writer.make(context);
        prepared_ = ground_.prefix() + "-input";
        method->open(prepared_);
        for (int s = 0; s < c.steps + (options_.mode == Mode::prefetch ? 1 : 0); ++s)
            method->step(s);
        method->close();
        for (auto& arrays : arrays_) arrays = std::make_unique<Arrays>(problem.memory_bytes());
    }

    /// Chooses the seconds of computing in a step by those of its output or input.
    void choose_computing() {
        if (options_.mode == Mode::pio) m_.compute_seconds = std::max(0., options_.compute_seconds);
        if (options_.mode != Mode::overlap && options_.mode != Mode::prefetch) return;
        progress_.say("measuring the output and computation of a step");
        const bool input = options_.mode == Mode::prefetch;
        const Pace& pace = m_.cases[0].workload.pace;
        const std::string known = input || options_.compute_seconds >= 0 ? "inline" : pace.output;
        const auto row = std::find_if(m_.rows.begin(), m_.rows.end(),
                                      [&](const Row& r) { return r.name == known; });
        const auto i = static_cast<std::size_t>(row - m_.rows.begin());
        const int steps = std::min(m_.cases[0].steps, input ? m_.cases[0].steps : 5);
        if (input) run_once(i, -1, 0, steps);
        const Json found = run_once(i, -1, 0, steps);
        if (!row->error.empty()) throw std::runtime_error(row->error);
        m_.output_seconds = found.at("figures").at("total_seconds").get<double>() / steps;
        m_.compute_seconds = input ? options_.proportion * m_.output_seconds
                             : options_.compute_seconds >= 0 ? options_.compute_seconds
                                                             : pace.compute * m_.output_seconds;
        const Party& party = parties_.begin()->second;
        if (party.comm != MPI_COMM_NULL) {
            // The rounds that the slowest rank does in a second while all ranks compute.
            const RankGroup ranks(party.comm);
            constexpr double long_enough = 0.25;
            double seconds = 0;
            std::int64_t rounds = 500;
            while (seconds < long_enough) {
                rounds *= 2;
                // Take the fastest of several trials, as other programs may interfere.
                for (int k = 0; k < 3; ++k) {
                    const double start = ranks.start();
                    compute_arithmetic(rounds);
                    const double taken = ranks.max(now() - start);
                    seconds = k == 0 ? taken : std::min(seconds, taken);
                    if (seconds < long_enough) break;
                }
            }
            rounds_per_second_ = static_cast<double>(rounds) / seconds;
        }
        world_.wait(20000);
        rounds_per_second_ = world_.max(rounds_per_second_);
    }

    void compute(const Row& row, double seconds) const {
        if (row.computing == "arithmetic")
            return compute_arithmetic(static_cast<std::int64_t>(seconds * rounds_per_second_));
        const double end = now() + seconds;
        for (double left; (left = end - now()) > 0;) detail::sleep_seconds(left);
    }

    /// Measures a row once, on all ranks.
    /// @param repetition  its number; negative: not counted
    Json run_once(std::size_t i, int repetition, double compute_seconds, int steps) {
        Row& row = m_.rows[i];
        if (!row.error.empty() || row.done) return {};
        const bool writes =
            !reads(options_.mode) && row.method.make != nullptr && row.name != "pack";
        if (writes) {
            ground_.level(m_.cases[row.which].step_bytes * steps, files_);
            files_.clear();
            const bool several = m_.cases[row.which].workload.file_per_step;
            for (int s = 0; s < (several ? steps : 1); ++s)
                files_.push_back(ground_.file_of(
                    fmt::format("{}{}", row.name, several ? fmt::format("-{}", s) : "")));
        }
        Json told;
        const Party& party = parties_.at(row.servers);
        if (party.comm != MPI_COMM_NULL)
            told = take_part(i, party, repetition, compute_seconds, steps);
        // Wait with few polls where ranks without a part in the row would disturb the others.
        world_.wait(options_.mode == Mode::overlap ? 20000 : 200);
        // The lowest rank that belongs to the model tells the others.
        const std::string text = world_.first_text(told.is_null() ? "" : told.dump());
        told = Json::parse(text);
        row.error = told.value("error", "");
        if (!row.error.empty()) return told;
        for (const auto& [name, value] : told.at("facts").items()) row.facts[name] = value;
        const Json& figures = told.at("figures");
        row.done =
            options_.mode == Mode::irregular && figures.at("seconds").get<double>() > patience;
        // Memory is measured in the first file only, before which the method has allocated nothing.
        for (const auto& [name, value] : figures.items())
            if (repetition >= 0 || row.done || name.starts_with("peak") || name == "setup_seconds")
                row.samples[name].push_back(value);
        if (told.contains("wrong")) judge(row, told);
        return told;
    }

    /// Compares the file with those of other rows, if its own values are right.
    void judge(Row& row, const Json& told) {
        std::string wrong = told.at("wrong");
        if (wrong.empty() && told.contains("hash")) {
            const auto known =
                hashes_.try_emplace(row.which, row.name, told.at("hash").get<std::uint64_t>())
                    .first->second;
            if (known.second != told.at("hash").get<std::uint64_t>())
                wrong = "the bytes differ from those of " + known.first;
        }
        if (row.wrong.empty()) row.wrong = wrong;
        row.verified = row.wrong.empty();
    }

    /// Calls a collective action. @return the error of the first rank that has one; else ""
    template <class F>
    static std::string attempt(const RankGroup& ranks, F act) {
        std::string error;
        try {
            act();
        } catch (const std::exception& e) {
            error = e.what();
        }
        return ranks.first_text(error);
    }

    /// Starts a row's session and method.
    /// @return false on servers, and after an error, which `told` gets
    bool begin(const Row& row, std::optional<Runner>& runner, const Party& party, int steps,
               Json& told) {
        MPI_Comm model = party.comm;
        tw_session session = nullptr;
        if (row.method.library) {
            tw_role role = TW_MODEL;
            int ranks = 0;
            bool good = tw_init(party.comm, row.settings.c_str(), &session) == TW_OK;
            if (!good) {
                told["error"] = tw_error_message(session);
            } else if (tw_inq_role(session, &role); role == TW_MODEL) {
                tw_model_comm(session, &model);
                MPI_Comm_size(model, &ranks);
                good = ranks == m_.ranks;
                if (!good) told["error"] = "no effect: all ranks belong to the model";
            }
            if (!good || role == TW_SERVER) {
                tw_finalize(&session);
                return false;
            }
        }
        runner.emplace();
        runner->ranks = std::make_unique<RankGroup>(model);
        const std::int64_t without = memory_now(false).resident;
        runner->problem = &problem_of(row.which, row.method.share, runner->ranks->rank());
        fields_ = memory_now(false).resident - without;  // of fields that were made only now
        if (row.method.make == nullptr) return true;
        const int records = steps + (options_.mode == Mode::prefetch ? 1 : 0);
        Context context{runner->ranks->comm(), *runner->problem, options_, records,
                        row.settings,          session};
        for (int k = 0; k < 2; ++k) context.arrays[k] = arrays_[k] ? arrays_[k]->data() : nullptr;
        const std::string error =
            attempt(*runner->ranks, [&] { runner->method = row.method.make(context); });
        if (error.empty()) return true;
        runner.reset();
        told["error"] = error;
        return false;
    }

    /// Writes a short file, so that buffers, connections and memory of a new session are ready.
    void warm_up(Runner& runner, int steps) const {
        const std::string path = files_.front() + "-warm-up";
        runner.method->open(path);
        for (int s = 0; s < std::min(2, steps); ++s) runner.method->step(s);
        runner.method->close();
        runner.method->finish();
        runner.ranks->wait();
        if (runner.ranks->rank() == 0) ::unlink(path.c_str());
    }

    /// Runs this rank's part of a row. @return what was measured, alike on all ranks of the model
    Json take_part(std::size_t i, const Party& party, int repetition, double compute_seconds,
                   int steps) {
        const Row& row = m_.rows[i];
        std::optional<Runner>& runner = runners_[i];
        const bool first = !runner;
        Json told, figures;
        Memory before, open;
        if (first) {
            trim_memory();
            reset_peak();
            before = memory_now(true);
            const double start = now();
            if (!begin(row, runner, party, steps, told)) return told;
            figures["setup_seconds"] = runner->ranks->max(now() - start);
            before.resident += fields_;
        }
        const RankGroup& ranks = *runner->ranks;
        Method* const method = runner->method.get();
        const bool input = reads(options_.mode), overlap = options_.mode == Mode::overlap;
        if (method != nullptr && overlap && row.name != "pack") warm_up(*runner, steps);
        const bool verifies = row.name != "none" && row.name != "pack" &&
                              !(input && row.name == "raw") &&
                              (options_.verify == Verify::all ||
                               (options_.verify == Verify::first && repetition == 0));
        if (input && verifies) arrays_[0]->clear();

        const bool several = m_.cases[row.which].workload.file_per_step;
        const std::string path = input ? prepared_ : files_.empty() ? "" : files_.front();
        double begun = ranks.start(), opening = 0;
        if (method != nullptr && !several) {
            const std::string error = attempt(ranks, [&] {
                method->open(path);
                opening = now() - begun;
                if (options_.mode == Mode::prefetch) method->step(0);
            });
            if (!error.empty()) {
                runner.reset();
                return {{"error", error}};
            }
        }
        const std::vector<pid_t> counted = counted_by(ranks, party);
        begun = ranks.start();
        const double cpu = overlap ? cpu_seconds(counted) : cpu_seconds();
        const std::int64_t switches = voluntary_switches();
        double computing = 0, calls = 0;
        for (int s = 0; s < steps; ++s) {
            const double start = now();
            if (compute_seconds > 0) compute(row, compute_seconds);
            const double output = now();
            computing += output - start;
            if (method == nullptr) continue;
            if (several) method->open(files_[static_cast<std::size_t>(s)]);
            if (several) opening += (now() - output) / steps;
            method->step(options_.mode == Mode::prefetch ? s + 1 : s);
            if (several) method->close();
            calls += now() - output;
        }
        const double switched = static_cast<double>(voluntary_switches() - switches) / steps;
        // Measure shared memory while the file is open. This takes time, so do it only in
        // repetitions that are not measured.
        if (first && repetition < 0 && !overlap && !input) open = memory_now(true);
        const double closing = now();
        if (method != nullptr && !several) method->close();
        if (method != nullptr && (overlap || options_.mode == Mode::pio)) method->finish();
        if (options_.durable && !input) make_durable(ranks, path);
        const double total = now() - begun, used = cpu_seconds() - cpu;
        ranks.wait();
        figures["seconds"] = ranks.max(total - computing);
        figures["total_seconds"] = ranks.max(total);
        figures["open_seconds"] = ranks.max(opening);
        figures["computing_seconds"] = ranks.max(computing);
        figures["library_seconds"] = ranks.max(calls);
        figures["close_seconds"] = ranks.max(begun + total - closing);
        figures["cpu_seconds"] = ranks.sum(overlap ? cpu_seconds(counted) - cpu : used);
        figures["switches_per_step"] = ranks.sum(switched) / ranks.ranks();
        figures["most_switches_per_step"] = ranks.max(switched);
        if (first) {
            const Growth grown = growth(before, open, memory_now(false));
            figures["peak_bytes"] = ranks.max(static_cast<double>(grown.fair));
            figures["peak_rss_bytes"] = ranks.max(static_cast<double>(grown.whole));
        }
        told["facts"] = Json::object();
        if (method != nullptr && !input) add_report(ranks, row, method->report(), figures, told);
        told["figures"] = figures;
        if (verifies) verify(row, *runner, steps, told);
        if (row.anew) runner.reset();
        return told;
    }

    /// Returns the processes whose time this rank counts: all on its node, servers included, if it
    /// is the first of the model there.
    static std::vector<pid_t> counted_by(const RankGroup& ranks, const Party& party) {
        int node_rank = 0;
        MPI_Comm_rank(ranks.node(), &node_rank);
        return node_rank == 0 ? party.processes : std::vector<pid_t>();
    }

    void add_report(const RankGroup& ranks, const Row& row, const FileReport& report, Json& figures,
                    Json& told) const {
        const Phases& p = report.phases;
        for (const auto& [name, seconds] :
             std::initializer_list<std::pair<const char*, double>>{{"open", p.open},
                                                                   {"put", p.put},
                                                                   {"remap", p.remap},
                                                                   {"wait", p.wait},
                                                                   {"write", p.write},
                                                                   {"close", p.close}})
            figures[std::string("phase_") + name] = ranks.max(seconds);
        figures["writes"] = ranks.sum(report.writes);
        const bool known = ranks.max(-report.messages) <= 0;
        const double messages = ranks.sum(report.messages);
        if (known) figures["messages"] = messages;
        const double waits = ranks.max(report.queue_waits),
                     waited = ranks.max(report.queue_wait_seconds);
        if (waits >= 0) figures["queue_waits"] = waits;
        if (waited >= 0) figures["queue_wait_seconds"] = waited;
        Json& facts = told["facts"];
        facts["storage"] = report.storage.empty() ? row.method.storage : report.storage;
        if (options_.mode == Mode::overlap)
            facts["method"] = report.method.empty() ? row.name : report.method;
        else
            facts["service"] = report.service;
        if (options_.mode != Mode::overlap || row.name != "pack")
            facts["file_bytes"] = files_.empty() ? 0 : file_bytes(ranks, files_.front());
        if (!row.service.empty() && row.service != "pack" && row.service != "auto" &&
            report.service != row.service)
            told["error"] = "no effect: the service was " + report.service;
    }

    void verify(const Row& row, const Runner& runner, int steps, Json& told) const {
        const RankGroup& ranks = *runner.ranks;
        const Problem& problem = *runner.problem;
        const FileKind kind = row.method.kind;
        if (reads(options_.mode)) {
            const int last = options_.mode == Mode::read ? 0 : steps;
            told["wrong"] = check_arrays(ranks, problem, arrays_[last % 2]->data(), last);
            return;
        }
        std::string wrong;
        for (std::size_t f = 0; f < files_.size() && wrong.empty(); ++f)
            wrong = check_values(ranks, problem, kind, files_[f],
                                 {files_.size() > 1 ? 1 : steps, static_cast<int>(f)});
        told["wrong"] = wrong;
        // All classic files of the library must have the same bytes; those of boxes, if the lists
        // leave out no elements.
        const Case& c = m_.cases[row.which];
        const bool whole = options_.mode != Mode::irregular || row.method.share != Share::box ||
                           c.held * 4 * static_cast<double>(problem.variables().size()) >=
                               static_cast<double>(c.step_bytes);
        if (kind == FileKind::classic && whole && (row.method.library || row.name == "pio")) {
            told["hash"] = hash_file(ranks, files_.back());
            told["facts"]["hash"] = fmt::format("{:016x}", told["hash"].get<std::uint64_t>());
        }
    }

    static void make_durable(const RankGroup& ranks, const std::string& path) {
        ranks.wait();
        const int file = ranks.rank() == 0 ? ::open(path.c_str(), O_RDONLY) : -1;
        if (file < 0) return;
        ::fsync(file);
        ::close(file);
    }

    const RankGroup& world_;
    const Options& options_;
    Measurement& m_;
    Progress progress_;
    Ground ground_;
    std::int64_t prewarm_ = 0;
    std::vector<std::optional<Runner>> runners_;
    std::map<int, Party> parties_;  ///< by number of servers
    std::map<std::tuple<std::size_t, Share, int>, std::unique_ptr<Problem>> problems_;
    std::unique_ptr<Arrays> arrays_[2];
    std::string prepared_;            ///< file that is read
    std::vector<std::string> files_;  ///< files that are kept until Ground::level() removes them
    double rounds_per_second_ = 0;
    std::int64_t fields_ = 0;  ///< memory of fields that begin() has made
    /// For each case, the first file of the library: row and hash.
    std::map<std::size_t, std::pair<std::string, std::uint64_t>> hashes_;
};

}  // namespace

void measure(const RankGroup& world, const Options& options, Measurement& measurement) {
    Bench(world, options, measurement).run();
}

}  // namespace thalweg::bench
