// SPDX-License-Identifier: Apache-2.0
#include "irregular/measure.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "ground.hpp"
#include "progress.hpp"
#include "verify.hpp"

namespace thalweg::bench::irregular {
namespace {

constexpr std::int64_t large = 1'000'000;  // number of elements from which on a variable counts as
                                           // large

int variables_of(const IndexMap& map, const IrregularOptions& options) {
    if (options.variables > 0) return options.variables;
    return map.elements() > large ? 3 : 8;
}

int steps_of(const IndexMap& map, const IrregularOptions& options) {
    if (options.base.steps > 0) return options.base.steps;
    const std::int64_t step = map.elements() * 4 * variables_of(map, options);
    return static_cast<int>(std::clamp<std::int64_t>(100'000'000 / step, 1, 4));
}

std::string words(const IndexMap& map, Share share) {
    if (share == Share::box) return "block";
    return "list of " + list_of(map, share).listed_names();
}

/// Measures the output of one map with each method.
class Bench {
public:
    Bench(const RankGroup& rank_group, const IrregularOptions& options, const Ground& ground,
          const Progress& progress, const IndexMap& map)
        : rank_group_(rank_group),
          options_(options),
          ground_(ground),
          progress_(progress),
          map_(map),
          result_{map.name,
                  map.text,
                  map.dims(),
                  map.held,
                  map.pieces,
                  variables_of(map, options),
                  steps_of(map, options),
                  {}} {}

    MapResult run() {
        for (const std::string& name : options_.base.methods) add(find_method(name));
        for (Row& row : result_.rows) runners_.push_back({&row, nullptr});
        // Change the order each time, alike on all ranks, because each method finds the memory in
        // the state that the one before has left.
        std::vector<std::size_t> order(runners_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::mt19937 random(1);
        for (int r = -options_.base.warmup; r < options_.base.repetitions; ++r) {
            std::shuffle(order.begin(), order.end(), random);
            for (const std::size_t i : order) run_once(runners_[i], r);
        }
        ground_.remove(last_file_);
        return std::move(result_);
    }

private:
    struct Runner {
        Row* row;
        std::unique_ptr<Writer> writer;
        bool done = false;  ///< the method is not repeated, because its first run took too long
    };

    void add(MethodInfo info) {
        // If no rank holds a full dimension, both shares have the same list.
        if (info.share == Share::flattened && !map_.factored) return;
        Row row;
        row.info = std::move(info);
        row.share = row.info.format ? words(map_, row.info.share) : "";
        result_.rows.push_back(std::move(row));
    }

    const Fields& fields(Share share) {
        auto& fields = fields_[share];
        if (!fields)
            fields = std::make_unique<Fields>(map_, share, result_.variables, rank_group_.rank(),
                                              rank_group_.ranks());
        return *fields;
    }

    /// Calls a collective action. If it throws on any rank, stores the error in the row of the
    /// method and stops measuring it.
    template <class F>
    bool attempt(Runner& runner, F action) {
        std::string error;
        try {
            action();
        } catch (const std::exception& e) {
            error = e.what();
        }
        error = rank_group_.first_text(error);
        if (error.empty()) return true;
        runner.writer.reset();
        runner.row->error = error;
        return false;
    }

    void set_up(Runner& runner) {
        Row& row = *runner.row;
        const Context context{
            rank_group_,       map_,           options_.base,    fields(row.info.share),
            result_.variables, row.info.share, row.info.settings};
        const List& list = list_of(map_, row.info.share);
        const std::int64_t list_bytes =
            rank_group_.sum(static_cast<std::int64_t>(list.indices.size() * sizeof(std::int64_t)));
        list_bytes_[&row] = row.info.library && row.info.share != Share::box ? list_bytes : 0;
        // Repeat this with a new session, because a session that knows the decomposition would need
        // no time.
        const int times = row.info.library ? options_.base.repetitions : 1;
        for (int i = 0; i < times; ++i) {
            progress_.say(fmt::format("{}: describing for {}", map_.name, row.info.name));
            runner.writer.reset();
            if (!attempt(runner, [&] { runner.writer = row.info.make(context); })) return;
            const SetUp& set_up = runner.writer->set_up();
            row.set_up_seconds.push_back(rank_group_.max(set_up.seconds));
            row.set_up_cpu.push_back(rank_group_.sum(set_up.cpu_seconds));
            row.set_up_bytes.push_back(rank_group_.max(set_up.bytes));
            const std::int64_t all = rank_group_.sum(set_up.bytes);
            if (list_bytes_[&row] > 0)
                row.set_up_to_list.push_back(static_cast<double>(all) /
                                             static_cast<double>(list_bytes));
        }
    }

    /// Writes one file by one method.
    /// @param repetition  number of the repetition; negative: not measured
    void run_once(Runner& runner, int repetition) {
        Row& row = *runner.row;
        if (!row.error.empty() || runner.done) return;
        progress_.say(
            fmt::format("{}, {} ranks: {}", map_.name, rank_group_.ranks(), row.info.name));
        ground_.level(result_.bytes(), last_file_, options_.base.sync_between,
                      options_.base.settle_ms);
        const std::string path = ground_.file_of(map_.name + "-" + row.info.name);
        last_file_ = path;
        const bool first = row.file_bytes == 0;
        if (first) set_up(runner);
        if (!row.error.empty()) return;
        Writer* const writer = runner.writer.get();
        const Memory& before = writer->set_up().before;
        Memory open;
        double start = rank_group_.start();
        double opened = start;
        const auto open_file = [&] {
            writer->open(path);
            opened = now();
        };
        if (!attempt(runner, open_file)) return;
        Sample sample;
        sample.open_seconds = rank_group_.max(opened - start);
        if (first) weigh_plans(row, before);

        start = rank_group_.start();
        const double cpu_start = cpu_seconds();
        for (int s = 0; s < result_.steps; ++s) writer->step(s);
        // Measure shared memory while the file is open. This takes time, so do it only in
        // repetitions that are not measured.
        if (first && repetition < 0) open = memory_now(true);
        writer->close();
        const double seconds = now() - start;
        const double cpu = cpu_seconds() - cpu_start;
        rank_group_.wait();

        if (first) row.peak_bytes = rank_group_.max(growth(before, open, memory_now(false)).fair);
        sample.seconds = rank_group_.max(seconds);
        sample.cpu_seconds = rank_group_.sum(cpu);
        runner.done = sample.seconds > options_.patience;
        if (repetition >= 0 || runner.done) row.samples.push_back(sample);
        row.details = writer->details();
        row.file_bytes = file_bytes(rank_group_, path);
        const Verify verify = options_.base.verify;
        if (row.info.format && (verify == Verify::all || (verify == Verify::first && first)))
            check(row, path);
    }

    /// Measures the memory for decompositions and plans that a rank keeps, without the shared
    /// buffers.
    void weigh_plans(Row& row, const Memory& before) {
        if (list_bytes_[&row] == 0) return;
        const auto own = [](const Memory& m) { return m.resident - m.code - m.shared; };
        trim_memory();
        const std::int64_t kept = own(memory_now(false)) - own(before);
        row.kept_to_list = static_cast<double>(rank_group_.sum(std::max<std::int64_t>(0, kept))) /
                           static_cast<double>(list_bytes_[&row]);
    }

    void check(Row& row, const std::string& path) {
        const bool lists = row.info.share != Share::box;
        std::string wrong =
            check_file(rank_group_, map_, lists, result_.variables, result_.steps, path);
        // All methods of the library must write the same bytes.
        if (wrong.empty() && row.info.library && (lists || map_.covers())) {
            const std::uint64_t hash = hash_file(rank_group_, path);
            if (hash_.empty()) hash_[row.info.name] = hash;
            if (hash != hash_.begin()->second)
                wrong = "the bytes differ from those of " + hash_.begin()->first;
        }
        row.verified = wrong.empty() && row.wrong.empty();
        if (row.wrong.empty()) row.wrong = wrong;
    }

    const RankGroup& rank_group_;
    const IrregularOptions& options_;
    const Ground& ground_;
    const Progress& progress_;
    const IndexMap& map_;
    MapResult result_;
    std::map<Share, std::unique_ptr<Fields>> fields_;
    std::vector<Runner> runners_;
    /// Size in bytes of the lists of all ranks; 0 if the method has no lists.
    std::map<const Row*, std::int64_t> list_bytes_;
    std::map<std::string, std::uint64_t> hash_;  ///< hash of the first file of the library
    /// File that is kept until Ground::level() removes it.
    std::string last_file_;
};

}  // namespace

std::int64_t MapResult::elements() const {
    std::int64_t n = 1;
    for (const Dim& dim : dims) n *= dim.length;
    return n;
}

std::int64_t MapResult::bytes() const { return elements() * 4 * variables * steps; }

Measurement measure(const RankGroup& rank_group, const IrregularOptions& options) {
    Measurement measurement;
    measurement.ranks = rank_group.ranks();
    measurement.peaks_reset = reset_peak();
    for (const std::string& name : options.base.methods) find_method(name);
    std::vector<IndexMap> maps;
    for (const std::string& file : options.files)
        for (IndexMap& map : read_maps(rank_group, file, options.chosen))
            maps.push_back(std::move(map));
    for (const std::string& kind : options.generated)
        maps.push_back(generate_map(rank_group, kind, options.elements, options.seed));
    std::int64_t most = 0;
    for (const IndexMap& map : maps)
        most = std::max(most,
                        map.elements() * 4 * variables_of(map, options) * steps_of(map, options));
    const double prewarm = options.base.prewarm_gb >= 0
                               ? options.base.prewarm_gb * 1e9
                               : std::max(2e9, 2 * static_cast<double>(most));
    check_folder(rank_group, options.base.dir, std::max(2.1 * static_cast<double>(most), prewarm));
    const Ground ground(rank_group, options.base.dir);
    const Progress progress(rank_group.rank() == 0 &&
                            (options.base.progress || isatty(STDERR_FILENO) == 1));
    progress.say("warming up memory");
    ground.prewarm(static_cast<std::int64_t>(prewarm));
    for (const IndexMap& map : maps)
        measurement.maps.push_back(Bench(rank_group, options, ground, progress, map).run());
    for (const MapResult& map : measurement.maps)
        for (const Row& row : map.rows)
            if (!row.error.empty() || !row.wrong.empty()) measurement.good = false;
    return measurement;
}

}  // namespace thalweg::bench::irregular
