// SPDX-License-Identifier: Apache-2.0
#include "methods/history.hpp"

#include <fmt/format.h>
#include <thalweg/thalweg.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "fields/loops.hpp"
#include "methods/library.hpp"
#include "report.hpp"

namespace thalweg::bench {
namespace {

using Fields = std::vector<std::vector<float>>;

/// A session, and fields of float, each with the elements of this rank.
struct Model {
    Model(const RankGroup& all, const Options& options) : ranks(all), folder(options.dir) {
        fields = options.variables > 0 ? options.variables : 100;
        levels = options.nz > 0 ? options.nz : 32;
        columns = options.nx > 0 ? options.nx : 2880;
        // With another service, both would only copy the record for a later write.
        check(tw_init(ranks.comm(), "service=inline", &session));
        const std::int64_t shape[2] = {levels, columns * ranks.ranks()};
        const std::int64_t start[2] = {0, columns * ranks.rank()}, count[2] = {levels, columns};
        check(tw_decompose(session, "level column", 1, shape, start, count, &cells));
    }
    void check(int status) const { check_tw(session, status, "history"); }
    std::int64_t elements() const { return levels * columns; }

    /// Calls a function, and returns the seconds that the slowest rank needed.
    template <class F>
    double seconds(F act) const {
        const double start = ranks.start();
        act();
        return ranks.max(now() - start);
    }

    const RankGroup& ranks;
    std::string folder;
    int fields;
    std::int64_t levels, columns;  ///< of one rank
    tw_session session = nullptr;
    tw_decomposition cells = nullptr;
};

std::string name_of(int field) { return "field" + std::to_string(field); }

/// A history of all fields in one stream.
class Stream {
public:
    Stream(const Model& model, const std::string& name, const std::string& keys,
           const char* attributes = "")
        : model_(model) {
        const std::string text =
            fmt::format("[[stream]]\nname = \"{0}\"\nfields = [\"*\"]\npath = \"{1}/{0}.nc\"\n{2}",
                        name, model.folder, keys);
        model.check(tw_history_open(model.session, text.c_str(), "noleap", "2000-01-01", nullptr,
                                    &history_));
        fields_.resize(static_cast<std::size_t>(model.fields));
        for (int f = 0; f < model.fields; ++f)
            model.check(tw_history_field(history_, name_of(f).c_str(), TW_FLOAT, "level column",
                                         model.cells, attributes,
                                         &fields_[static_cast<std::size_t>(f)]));
        const std::int64_t before = memory_now(false).resident;
        model.check(tw_history_ready(history_));
        grown_ = memory_now(false).resident - before;
    }
    void begin() { model_.check(tw_history_time(history_, 3600. * ++step_)); }
    void send(const Fields& data) {
        for (std::size_t f = 0; f < fields_.size(); ++f)
            model_.check(tw_send(fields_[f], TW_FLOAT, data[f].data(), model_.elements()));
    }
    void end() { model_.check(tw_history_end_step(history_)); }
    void close() { model_.check(tw_history_close(&history_)); }

    /// Measures tw_wants, in nanoseconds a call.
    double wants() const {
        constexpr int calls = 10'000'000;
        int wanted = 0;
        const double time = model_.seconds([&] {
            for (std::size_t i = 0; i < calls; i += fields_.size())
                for (const tw_field field : fields_) wanted += tw_wants(field);
        });
        return wanted < 0 ? 0 : 1e9 * time / calls;
    }
    /// Returns the growth of this process's memory as a fraction of what tw_history_memory states.
    double memory_share() const {
        std::int64_t stated = 0;
        model_.check(tw_history_memory(history_, &stated, nullptr));
        return static_cast<double>(grown_) / static_cast<double>(stated);
    }

private:
    const Model& model_;
    tw_history history_ = nullptr;
    std::vector<tw_field> fields_;
    int step_ = 0;
    std::int64_t grown_ = 0;
};

/// A history that maps a level of 1000 x 1000 elements to 360 x 180, with 62 links each; and the
/// same product by a plain loop.
class Remap {
public:
    explicit Remap(const Model& model) : model_(model), path_(model.folder + "/weights.nc") {
        const std::int64_t ranks = model.ranks.ranks(), rank = model.ranks.rank();
        const std::int64_t first = targets * rank / ranks, end = targets * (rank + 1) / ranks;
        std::vector<std::int32_t> row;
        begin_.push_back(0);
        for (std::int64_t t = first; t < end; ++t) {
            for (std::int64_t k = 0; k < links; ++k) {
                row.push_back(static_cast<std::int32_t>(t + 1));
                const std::int64_t y = t / nx * side / ny + k / 8, x = t % nx * side / nx + k % 8;
                columns_.push_back(static_cast<std::int32_t>(y % side * side + x % side));
                weights_.push_back(1. / static_cast<double>(links + k));
            }
            begin_.push_back(std::ssize(columns_));
        }
        from_.assign(sources, 280);
        to_.resize(static_cast<std::size_t>(end - first));
        write(row, first);
        const std::int64_t start = sources * rank / ranks;
        const std::int64_t count = sources * (rank + 1) / ranks - start;
        data_.assign(static_cast<std::size_t>(count), 280);
        model.check(tw_decompose(model.session, "cell", 1, &sources, &start, &count, &cells_));
        const std::string text = fmt::format(
            "[map.m]\nfile = \"{}\"\n[[stream]]\nname = \"map\"\nfields = [\"T\"]\nevery = \"1 "
            "hour\"\nop = \"instant\"\nmap = \"m\"\npath = \"{}/map.nc\"\n",
            path_, model.folder);
        model.check(tw_history_open(model.session, text.c_str(), "noleap", "2000-01-01", nullptr,
                                    &history_));
        model.check(tw_history_field(history_, "T", TW_FLOAT, "cell", cells_, "", &field_));
        model.check(tw_history_ready(history_));
    }
    double plain() {
        return model_.seconds([&] {
            std::copy(from_.begin(), from_.begin() + std::ssize(data_), copied_.begin());
            map_plainly(begin_, columns_.data(), weights_.data(), copied_.data(), to_.data());
        });
    }
    double record() {
        model_.check(tw_history_time(history_, 3600. * ++step_));
        return model_.seconds([&] {
            model_.check(tw_send(field_, TW_FLOAT, data_.data(), std::ssize(data_)));
            model_.check(tw_history_end_step(history_));
        });
    }
    void close() {
        model_.check(tw_history_close(&history_));
        model_.check(tw_free_decomposition(&cells_));
    }

private:
    static constexpr std::int64_t side = 1000, sources = side * side, nx = 360, ny = 180;
    static constexpr std::int64_t targets = nx * ny, links = 62;

    void write(std::vector<std::int32_t>& row, std::int64_t first) {
        const std::int64_t all = targets * links, start = first * links, count = std::ssize(row);
        tw_decomposition part = nullptr;
        tw_file file = nullptr;
        model_.check(tw_decompose(model_.session, "n_s", 1, &all, &start, &count, &part));
        model_.check(tw_create(model_.session, path_.c_str(), nullptr, &file));
        for (const auto& [name, length] :
             {std::pair{"n_s", all}, {"n_a", sources}, {"n_b", targets}})
            model_.check(tw_def_dim(file, name, length));
        for (const auto& [name, type] :
             {std::pair{"row", TW_INT}, {"col", TW_INT}, {"S", TW_DOUBLE}})
            model_.check(tw_def_var(file, name, type, "n_s", part));
        model_.check(tw_enddef(file));
        std::vector<std::int32_t> column = columns_;
        for (std::int32_t& each : column) ++each;
        model_.check(tw_put(file, "row", TW_INT, row.data(), count));
        model_.check(tw_put(file, "col", TW_INT, column.data(), count));
        model_.check(tw_put(file, "S", TW_DOUBLE, weights_.data(), count));
        model_.check(tw_close(&file));
        model_.check(tw_free_decomposition(&part));
    }

    const Model& model_;
    std::string path_;
    std::vector<std::int64_t> begin_;
    std::vector<std::int32_t> columns_;
    std::vector<double> weights_, from_, copied_ = std::vector<double>(sources, 280), to_;
    std::vector<float> data_;
    tw_decomposition cells_ = nullptr;
    tw_history history_ = nullptr;
    tw_field field_ = nullptr;
    int step_ = 0;
};

/// Times of a line of the table, and what it is compared with in the same repetitions.
struct Line {
    const char* name;
    const char* than;
    double goal;
    std::vector<double> times{}, ratios{};
};

}  // namespace

void measure_history(const RankGroup& ranks, const Options& options) {
    Model model(ranks, options);
    const auto n = static_cast<std::size_t>(model.elements());
    Fields data(static_cast<std::size_t>(model.fields)), holes;
    for (std::size_t f = 0; f < data.size(); ++f)
        for (std::size_t i = 0; i < n; ++i)
            data[f].push_back(280 + static_cast<float>((i * 7 + f) % 100) / 8);
    holes = data;
    for (auto& field : holes)
        for (std::size_t i = 0; i < n; ++i)
            if (i % 977 < 97) field[i] = 1e20F;
    std::vector<std::vector<double>> sums(data.size(), std::vector<double>(n));

    Fields columns = data;  // the first is the coordinate of the others
    for (std::size_t i = 0; i < n; ++i)
        columns[0][i] =
            static_cast<float>(100 * (i / static_cast<std::size_t>(model.columns)) + i % 97);
    std::vector<float> wanted;
    for (std::int64_t i = 1; 5 * i <= 3 * model.levels; ++i)
        wanted.push_back(static_cast<float>(160 * i));

    const std::string run = "every = \"run\"\n";
    constexpr int window = 3;  // steps of a mean
    Stream mean(model, "mean", run), varying(model, "varying", run, "missing=varying");
    Stream deviations(model, "std", run + "op = \"std\"\n");
    Stream records(model, "records", fmt::format("every = \"{} hours\"\n", window));
    Stream levels(model, "levels",
                  fmt::format("{}levels = {{ dim = \"level\", coordinate = \"{}\", name = "
                              "\"plev\", values = [{:.1f}] }}\n",
                              run, name_of(0), fmt::join(wanted, ", ")));
    Stream global(model, "global",
                  fmt::format("every = \"{} hours\"\nreduce = \"mean\"\nover = [\"level\", "
                              "\"column\"]\n",
                              window));
    Stream instants(model, "instants", "every = \"1 hour\"\nop = \"instant\"\n");
    Remap remap(model);
    tw_file file = nullptr;  // the same records by tw_put
    model.check(tw_create(model.session, (model.folder + "/put.nc").c_str(), nullptr, &file));
    model.check(tw_def_dim(file, "time", TW_UNLIMITED));
    model.check(tw_def_dim(file, "level", model.levels));
    model.check(tw_def_dim(file, "column", model.columns * ranks.ranks()));
    for (int f = 0; f < model.fields; ++f)
        model.check(
            tw_def_var(file, name_of(f).c_str(), TW_FLOAT, "time level column", model.cells));
    model.check(tw_enddef(file));

    std::vector<Line> lines;
    for (int r = -2; r < options.repetitions; ++r) {
        std::size_t at = 0;
        const auto add = [&](const char* name, double time, const char* than, double other,
                             double goal) {
            if (lines.size() == at) lines.push_back({name, than, goal});
            Line& line = lines[at++];
            if (r < 0) return;
            line.times.push_back(time);
            line.ratios.push_back(time / other);
        };
        const double loop = model.seconds([&] {
            for (std::size_t f = 0; f < data.size(); ++f)
                add_plainly(data[f].data(), model.elements(), sums[f].data());
        });
        const double interpolating = model.seconds([&] {
            for (std::size_t f = 0; f < data.size(); ++f)
                interpolate_plainly(columns[0].data(), columns[f].data(), model.levels,
                                    model.columns, wanted, sums[f].data());
        });
        const auto sample = [&](Stream& stream, const Fields& values) {
            stream.begin();
            const double time = model.seconds([&] { stream.send(values); });
            stream.end();
            return time;
        };
        add("plain loop, double sum of floats", loop, "plain", loop, 1);
        const double sampled = sample(mean, data);
        add("mean", sampled, "plain", loop, 1.1);
        add("mean, varying mask", sample(varying, holes), "plain", loop, 1.6);
        add("std", sample(deviations, data), "plain", loop, 2.5);
        add("plain loop, interpolation to levels", interpolating, "plain", interpolating, 1);
        add("mean on levels", sample(levels, columns), "plain", interpolating, 1.3);
        const double put = model.seconds([&] {
            for (int f = 0; f < model.fields; ++f)
                model.check(tw_put(file, name_of(f).c_str(), TW_FLOAT,
                                   data[static_cast<std::size_t>(f)].data(), model.elements()));
            model.check(tw_end_step(file));
        });
        add("record by tw_put", put, "tw_put", put, 1);
        for (int i = 1; i < window; ++i) {
            sample(records, data);
            sample(global, data);
        }
        records.begin();
        const double sends = model.seconds([&] { records.send(data); });
        const double record = model.seconds([&] { records.end(); });
        add("record of a mean, tw_history_end_step", record, "tw_put", put, 1.15);
        add("record of a mean, with tw_send", sends + record, "loop + put", loop + put, 1.15);
        instants.begin();
        const double instant = model.seconds([&] {
            instants.send(data);
            instants.end();
        });
        add("record of instants, with tw_send", instant, "tw_put", put, 1.15);
        global.begin();
        const double last = model.seconds([&] {
            global.send(data);
            global.end();
        });
        add("record of a mean over space, with tw_send", last, "720 samples", 720 * sampled, 0.03);
        const double product = remap.plain();
        add("plain product of a map, copy", product, "plain", product, 1);
        add("record of 360 x 180 of 10^6, with tw_send", remap.record(), "plain", product, 1.5);
    }
    const double wants = mean.wants(), memory = mean.memory_share();
    for (Stream* stream : {&mean, &varying, &deviations, &levels, &records, &instants, &global})
        stream->close();
    remap.close();
    model.check(tw_close(&file));
    model.check(tw_finalize(&model.session));
    if (ranks.rank() != 0) return;
    fmt::print("{} ranks, {} fields of {} elements a rank, medians of {} repetitions\n",
               ranks.ranks(), model.fields, n, options.repetitions);
    for (const Line& line : lines)
        fmt::print("{:<41} {:9.2f} ms   {:6.3f} x {:<11} (goal {:.2f})\n", line.name,
                   1e3 * median(line.times), median(line.ratios), line.than, line.goal);
    fmt::print("{:<41} {:9.2f} ns   (goal 2)\n{:<41} {:9.4f} x stated (goal 0.99 to 1.01)\n",
               "tw_wants", wants, "memory of means", memory);
    for (const char* name : {"mean", "varying", "std", "levels", "records", "instants", "global",
                             "put", "map", "weights"})
        ::unlink(fmt::format("{}/{}.nc", model.folder, name).c_str());
}

}  // namespace thalweg::bench
