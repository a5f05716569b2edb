// The engine in one process: threads stand for ranks, a file is kept in memory, and random batches
// over every method and service without servers are compared with plain arrays.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "dataset/box_puts.hpp"
#include "service/resources.hpp"
#include "service/service.hpp"
#include "service/setup.hpp"
#include "support/given.hpp"
#include "support/threads.hpp"

using namespace thalweg::detail;

namespace {

/// What a case is about: the same on every rank.
struct Case {
    int ranks = 1, node_size = 0;
    FileOptions options;
    LayoutChoice layout;
    std::vector<int> writers;
    Plan plan;
    std::int64_t most_records = 6;
    bool boxes = true;
    int alike = 0;  ///< percent of the steps

    explicit Case(Random& random)
        : ranks(random.pick<int>({1, 2, 3, 5, 7})),
          node_size(random.pick<int>({0, 0, 1, 2})),
          plan(random_plan(random, 9)) {
        options.service = random.percent(50) ? "inline" : "background";
        options.method = random.pick<std::string>({"serial", "slabs", "record", "record"});
        if (options.service == "inline" && random.percent(25)) options.method = "direct";
        // Too small for a step, at times: then puts are collective, or go in parts.
        boxes = random.percent(80);
        alike = random.pick<int>({0, 50, 90, 100});
        options.staging = boxes ? 1 << 20 : 1024;
        options.queue = boxes ? random.pick<std::int64_t>({-1, 1 << 20}) : 4096;
        options.buffer = 1 << 18;
        options.piece = random.pick<std::int64_t>({0, 256, 4096});
        options.alignment = random.pick<std::int64_t>({1, 64, 512});
        layout.method = options.method;
        layout.alignment = options.alignment;
        layout.writers = options.method == "serial"   ? 1
                         : options.method == "direct" ? ranks
                                                      : static_cast<int>(random.between(1, ranks));
        std::vector<int> all;
        for (int r = 0; r < ranks; ++r) all.push_back(r);
        if (options.method != "direct") random.shuffle(all);
        writers.assign(all.begin(), all.begin() + layout.writers);
    }
    std::int64_t file_bytes() const {
        const FileMap& map = plan.spaces.map;
        return map.record_begin + most_records * map.record_bytes + map.fixed_end + 4096;
    }
};

/// The variables as the file is to have them.
struct Expected {
    std::vector<std::vector<double>> values;  ///< of each variable, record after record
    std::int64_t records = 0;

    explicit Expected(const Case& c) {
        for (const Variable& v : c.plan.definitions.variables) {
            const std::int64_t n = v.elements() * (v.record ? c.most_records : 1);
            values.emplace_back(static_cast<std::size_t>(n), -1.0);
        }
    }
    void put(int variable, const Variable& v, std::int64_t record, std::int64_t element,
             double value) {
        values[static_cast<std::size_t>(variable)]
              [static_cast<std::size_t>(record * v.elements() + element)] = value;
    }
};

/// Fits into every type.
double value_of(int variable, std::int64_t version, std::int64_t element) {
    return static_cast<double>(mix(static_cast<std::uint64_t>(variable * 7919 + version),
                                   static_cast<std::uint64_t>(element)) %
                               100);
}

/// A share of a variable's slowest dimension, without what is left over; `first` shifts who has it.
Box share_of(const Variable& v, int rank, int ranks, std::int64_t first) {
    Box box;
    box.nd = static_cast<int>(v.shape.size());
    std::copy(v.shape.begin(), v.shape.end(), box.count.begin());
    if (box.nd == 0) return box;
    const std::int64_t at = (rank + first) % ranks, n = v.shape[0];
    box.low[0] = n * at / ranks;
    box.count[0] = n * (at + 1) / ranks - box.low[0];
    return box;
}

std::vector<double> values_in(const Variable& v, int variable, const Box& box,
                              std::int64_t version) {
    std::vector<double> values;
    Sent::for_elements(v, box,
                       [&](std::int64_t e) { values.push_back(value_of(variable, version, e)); });
    return values;
}

/// One rank's part of a case.
class Rank {
public:
    Rank(const Case& c, std::uint64_t seed, std::unique_ptr<Comm> comm,
         std::shared_ptr<std::vector<char>> bytes)
        : case_(c), random_(seed), expected_(c) {
        Status status;
        team_ = Team::make(std::move(comm), c.node_size, status);
        EXPECT_TRUE(status.ok()) << status.text;
        resources_ = std::make_unique<Resources>(*team_, c.options.buffer * team_->node().size());
        file_ = std::make_unique<FileContext>(*team_, *resources_, "memory.nc", 1, c.options);
        define();
        auto storage = std::make_unique<MemoryStorage>();
        storage->definitions = &file_->definitions;
        storage->bytes = std::move(bytes);
        target_.layout = c.layout;
        target_.writers = c.writers;
        target_.order = storage->order();
        target_.storage = std::move(storage);
        target_.map = c.plan.spaces.map;
        batch_ = std::make_unique<Batch>(*file_);
        service_ = make_service(*file_, target_, *batch_, status);
        EXPECT_TRUE(status.ok()) << status.text;
        boxes_ = std::make_unique<BoxPuts>(*file_, *batch_, *service_);
    }

    void run() {
        const std::int64_t steps = random_.between(1, 4);
        for (std::int64_t s = 0; s < steps; ++s) {
            const bool ends = s + 1 < steps || random_.percent(80);
            // Steps of a model that puts its records alike, and others, in any order.
            if (case_.boxes && random_.percent(case_.alike))
                step_alike();
            else
                step();
            end_step(ends);
            if (ends && random_.percent(25)) ok(service_->sync(false));
        }
        close();
    }
    void close() {
        Agreed agreed;
        ok(service_->agree_to_close(agreed));
        if (batch_->step_is_open(agreed)) {
            ok(service_->end_step());
            agreed.put.assign(agreed.put.size(), 0);
        }
        ok(service_->write_rest(agreed));
        ok(service_->finish(false));
        ok(service_->close(true));
    }
    BoxPuts& boxes() { return *boxes_; }
    Service& service() { return *service_; }
    const Expected& expected() const { return expected_; }
    /// Variable 0 is too large for the staging, so that tw_put is collective; the others are put by
    /// records.
    void run_immediate() {
        for (std::int64_t s = 0; s < 5; ++s) {
            for (int i = 0; i < variables(); ++i) {
                const Variable& v = file_->variable(i);
                ++version_;
                if (i > 0) {
                    boxed_ = boxed_ || s > 0;
                    const std::int64_t record = v.record ? random_.below(case_.most_records) : 0;
                    if (s > 0) put_record(i, v, record, usual_of(i, v));
                } else if (s != 2) {
                    put(i, v, s == 3);
                    counts_ = true;
                }
                if (random_.percent(30)) ok(service_->sync(false));
            }
            end_step(true);
        }
        close();
    }

private:
    static void ok(const Status& status) { EXPECT_TRUE(status.ok()) << status.text; }

    /// The plan's variables, each of a decomposition of its own. Some leave a part to nobody, which
    /// keeps what it has, or the fill value.
    void define() {
        file_->definitions = case_.plan.definitions;
        for (std::size_t i = 0; i < file_->definitions.variables.size(); ++i) {
            Variable& v = file_->definitions.variables[i];
            first_.push_back(random_.below(case_.ranks));
            const bool hole = v.shape.size() > 0 && random_.percent(20);
            Box mine = share_of(v, team_->rank(), case_.ranks, first_.back());
            if (hole && team_->rank() == 0) mine.count[0] = 0;
            std::vector<Box> blocks{mine};
            const bool halves = random_.percent(50);  // drawn alike on every rank
            if (halves && mine.nd > 0 && mine.count[0] > 1) {
                blocks[0].count[0] /= 2;  // the upper part comes first in memory
                blocks.push_back(mine);
                blocks[1].low[0] += blocks[0].count[0];
                blocks[1].count[0] -= blocks[0].count[0];
                std::swap(blocks[0], blocks[1]);
            }
            if (v.shape.empty()) {
                v.decomposition = replicate(team_->rank(), {}, {}, {});
            } else {
                std::vector<std::string> dims;
                for (std::size_t d = 0; d < v.shape.size(); ++d)
                    dims.push_back("d" + std::to_string(d));
                ok(make_decomposition(team_->world(), given(dims, v.shape, blocks),
                                      v.decomposition));
            }
            held_.push_back(std::move(blocks));
            holes_.push_back(hole);
        }
    }

    void step() {
        for (int i = 0; i < variables(); ++i) {
            const Variable& v = file_->variable(i);
            ++version_;
            const std::int64_t kind = random_.below(case_.boxes ? 100 : 60);
            const int who = static_cast<int>(random_.below(case_.ranks));
            const std::int64_t record = v.record ? random_.below(case_.most_records) : 0;
            if (kind < 45)
                put(i, v, random_.percent(30));
            else if (!case_.boxes)
                continue;
            else if (kind < 60)
                put_box(i, v, who, record);
            else if (kind < 80)
                put_record(i, v, record, made_for(i, v));
            counts_ |= v.record && kind < 45;
            boxed_ |= kind >= 45 && kind < 80;
            if (random_.percent(10)) ok(service_->sync(false));
        }
    }

    /// Most variables by the same decompositions as before, most of them into one record, by all
    /// ranks; at times something else.
    void step_alike() {
        const std::int64_t next = std::min(expected_.records, case_.most_records - 1);
        const std::int64_t usual = random_.percent(75) ? next : random_.below(case_.most_records);
        const bool often = random_.percent(50);
        for (int i = 0; i < variables(); ++i) {
            const Variable& v = file_->variable(i);
            ++version_;
            if (random_.percent(10)) continue;
            if (random_.percent(often ? 15 : 2)) {
                put(i, v, random_.percent(30));
                counts_ |= v.record;
                continue;
            }
            boxed_ = true;
            std::int64_t record = v.record ? usual : 0;
            if (v.record && random_.percent(often ? 10 : 1))
                record = random_.below(case_.most_records);
            const Made made = usual_of(i, v);
            const std::int64_t kind = random_.below(often ? 100 : 1000);
            if (kind < 10) {  // a box in a rank's own part before the record, or after it
                put_part(i, v, record, made);
                ++version_;
                put_record(i, v, record, made);
            } else if (kind < 20) {
                put_record(i, v, record, made);
                ++version_;
                put_part(i, v, record, made);
            } else if (kind < 30) {  // the same values by another decomposition
                put_record(i, v, record, made);
                put_record(i, v, record, usual_of(i, v));
            } else if (kind < 40) {  // again
                put_record(i, v, record, made);
                ++version_;
                put_record(i, v, record, made);
            } else if (kind < 50) {  // another record, too
                put_record(i, v, record, made);
                ++version_;
                if (v.record) put_record(i, v, (record + 1) % case_.most_records, made);
            } else if (kind < 60) {
                put_record(i, v, record, made, Who::all_but_one);
            } else if (kind < 70) {
                put_record(i, v, record, made, Who::one);
            } else if (kind < 80) {
                put_record(i, v, record, made_for(i, v));
            } else if (v.shape.empty() ? kind % 2 == 0 : random_.percent(15)) {
                put_whole(i, v, record);
            } else {
                put_record(i, v, record, made);
            }
            if (random_.percent(3)) ok(service_->sync(false));
        }
    }

    void end_step(bool ends) {
        bool any_record = false;
        for (int i = 0; i < variables(); ++i) any_record |= file_->variable(i).record;
        // A step in which nothing is put is a record of fill values, but where there are boxes.
        if (any_record && (counts_ || (!boxed_ && ends)))
            expected_.records = std::max(expected_.records, batch_->record + 1);
        if (!ends) return;
        ok(service_->end_step());
        kept_.clear();
        counts_ = false;
    }
    int variables() const { return static_cast<int>(case_.plan.definitions.variables.size()); }

    void put(int i, const Variable& v, bool deferred) {
        const auto at = static_cast<std::size_t>(i);
        const std::int64_t record = v.record ? batch_->record : 0;
        std::vector<double> values;
        for (const Box& box : held_[at])
            for (const double value : values_in(v, i, box, version_)) values.push_back(value);
        ArrayView view;
        view.data = reinterpret_cast<const char*>(values.data());
        view.type = TW_DOUBLE;
        const auto given_n = static_cast<std::int64_t>(values.size());
        ok(check_dense(
            *v.decomposition,
            v.decomposition->replicated && team_->rank() > 0 ? v.decomposition->stored : given_n,
            view));
        if (deferred)
            (*batch_)[i].glimpse = Glimpse(*v.decomposition, v.order,
                                           held_by(*v.decomposition, v.order, v.shape), view);
        ok(service_->put({}, i, view, deferred));
        if (deferred) kept_.push_back(std::move(values));
        for (int r = 0; r < case_.ranks; ++r) {
            Box box = share_of(v, r, case_.ranks, first_[at]);
            if (holes_[at] && r == 0) continue;
            note(i, v, record, box);
        }
    }

    void put_box(int i, const Variable& v, int who, std::int64_t record) {
        Box box;
        box.nd = static_cast<int>(v.shape.size());
        std::vector<std::int64_t> start, count;
        if (v.record) {
            start.push_back(record);
            count.push_back(1);
        }
        for (int d = 0; d < box.nd; ++d) {
            box.low[d] = random_.below(v.shape[static_cast<std::size_t>(d)]);
            box.count[d] = random_.between(1, v.shape[static_cast<std::size_t>(d)] - box.low[d]);
            start.push_back(box.low[d]);
            count.push_back(box.count[d]);
        }
        if (team_->rank() == who) {
            const std::vector<double> values = values_in(v, i, box, version_);
            ok(boxes_->put_box(v.name,
                               {TW_DOUBLE, start.data(), count.data(), nullptr, values.data()}));
        }
        note(i, v, record, box);
        if (v.record) expected_.records = std::max(expected_.records, record + 1);
    }

    /// A decomposition of a variable, and who holds which share of it. Null: rank 0 has it whole.
    struct Made {
        std::shared_ptr<const Decomposition> decomposition;
        std::int64_t first = 0;
        std::int64_t halo = 0;
        bool hole = false;  ///< nobody has the share of rank 0
    };
    Box share(const Variable& v, int rank, const Made& made) const {
        if (!made.decomposition) return share_of(v, rank, rank == 0 ? 1 : case_.ranks, 0);
        Box box = share_of(v, rank, case_.ranks, made.first);
        if (made.hole && rank == 0) box.count[0] = 0;
        return box;
    }
    bool holds(int rank, const Made& made) const { return made.decomposition || rank == 0; }

    Made made_for(int i, const Variable& v, std::int64_t halo = 0, bool hole = false) {
        Made made;
        if (v.shape.empty() || random_.percent(10)) return made;
        made.first = random_.below(case_.ranks);
        made.halo = halo;
        made.hole = hole;
        std::vector<std::string> dims;
        for (const int d : v.dims)
            if (d >= 0) dims.push_back(file_->definitions.dims[static_cast<std::size_t>(d)].name);
        Box mine = share_of(v, team_->rank(), case_.ranks, made.first);
        if (hole && team_->rank() == 0) mine.count[0] = 0;
        Decomposition d = given(dims, v.shape, {mine});
        d.halo_low.assign(v.shape.size(), halo);
        d.halo_high.assign(v.shape.size(), halo);
        d.serial = ++serial_;
        ok(make_decomposition(team_->world(), d, made.decomposition));
        EXPECT_EQ(made.decomposition->serial, serial_) << i;
        return made;
    }
    /// One of a few that are kept, mostly the same.
    Made usual_of(int i, const Variable& v) {
        usual_.resize(static_cast<std::size_t>(variables()));
        auto& all = usual_[static_cast<std::size_t>(i)];
        if (all.empty() || (all.size() < 3 && random_.percent(10))) {
            const std::int64_t halo = random_.percent(30) ? random_.between(1, 2) : 0;
            all.push_back(made_for(i, v, halo, random_.percent(15)));
        }
        return random_.percent(80) ? all.front()
                                   : all[static_cast<std::size_t>(
                                         random_.below(static_cast<std::int64_t>(all.size())))];
    }

    enum class Who { all, all_but_one, one };
    void put_record(int i, const Variable& v, std::int64_t record, const Made& made,
                    Who who = Who::all) {
        const int chosen = static_cast<int>(random_.below(case_.ranks));
        const bool deferred = random_.percent(25);
        const auto puts = [&](int rank) {
            return who == Who::all || (rank == chosen) == (who == Who::one);
        };
        if (puts(team_->rank())) {
            const Box mine = share(v, team_->rank(), made);
            std::vector<double> values(1, -7.0);
            if (made.decomposition) {
                values = with_halo(values_in(v, i, mine, version_), mine, made.halo);
                values.resize(static_cast<std::size_t>(made.decomposition->stored), -7.0);
            } else {
                const Box all = share_of(v, 0, 1, 0);
                values = values_in(v, i, all, version_ + (team_->rank() > 0 ? 1000 : 0));
            }
            RecordToPut put;
            put.record = record;
            put.type = TW_DOUBLE;
            put.decomposition = made.decomposition;
            put.data = values.data();
            put.n = static_cast<std::int64_t>(values.size());
            put.deferred = deferred;
            ok(boxes_->put_record(v.name, put));
            if (deferred) kept_.push_back(std::move(values));
        }
        bool any = false;
        for (int r = 0; r < case_.ranks; ++r) {
            any |= puts(r);
            if (puts(r) && holds(r, made)) note(i, v, record, share(v, r, made));
        }
        if (v.record && any) expected_.records = std::max(expected_.records, record + 1);
    }
    static std::vector<double> with_halo(const std::vector<double>& values, const Box& box,
                                         std::int64_t halo) {
        if (halo == 0 || box.volume() == 0) return values;
        std::int64_t all = 1;
        for (int d = 0; d < box.nd; ++d) all *= box.count[d] + 2 * halo;
        std::vector<double> result(static_cast<std::size_t>(all), -7.0);
        for (std::size_t k = 0; k < values.size(); ++k) {
            std::int64_t rest = static_cast<std::int64_t>(k), at = 0, stride = 1;
            for (int d = box.nd - 1; d >= 0; --d) {
                at += (rest % box.count[d] + halo) * stride;
                stride *= box.count[d] + 2 * halo;
                rest /= box.count[d];
            }
            result[static_cast<std::size_t>(at)] = values[k];
        }
        return result;
    }

    /// A box of a rank's own share: of each rank that has one.
    void put_part(int i, const Variable& v, std::int64_t record, const Made& made) {
        const std::int64_t cut = random_.between(1, 3);
        bool any = false;
        for (int r = 0; r < case_.ranks; ++r) {
            if (!holds(r, made)) continue;
            Box box = share(v, r, made);
            if (box.nd > 0) box.count[0] = (box.count[0] + cut - 1) / cut;
            if (box.volume() == 0) continue;
            any = true;
            if (r == team_->rank()) put_box_of(i, v, record, box);
            note(i, v, record, box);
        }
        if (v.record && any) expected_.records = std::max(expected_.records, record + 1);
    }
    /// All of it as a box of one rank, or of several of which any may stand.
    void put_whole(int i, const Variable& v, std::int64_t record) {
        const int who = static_cast<int>(random_.below(case_.ranks));
        const bool several = random_.percent(20);
        const Box all = share_of(v, 0, 1, 0);
        if (team_->rank() == who || several) put_box_of(i, v, record, all);
        note(i, v, record, all);
        if (v.record) expected_.records = std::max(expected_.records, record + 1);
    }
    void put_box_of(int i, const Variable& v, std::int64_t record, const Box& box) {
        std::vector<std::int64_t> start(box.low.begin(), box.low.begin() + box.nd);
        std::vector<std::int64_t> count(box.count.begin(), box.count.begin() + box.nd);
        if (v.record) {
            start.insert(start.begin(), record);
            count.insert(count.begin(), 1);
        }
        const std::vector<double> values = values_in(v, i, box, version_);
        ok(boxes_->put_box(v.name,
                           {TW_DOUBLE, start.data(), count.data(), nullptr, values.data()}));
    }

    void note(int i, const Variable& v, std::int64_t record, const Box& box) {
        Sent::for_elements(v, box, [&](std::int64_t e) {
            expected_.put(i, v, record, e, value_of(i, version_, e));
        });
    }

    const Case& case_;
    Random random_;  ///< the same numbers on every rank
    std::unique_ptr<Team> team_;
    std::unique_ptr<Resources> resources_;
    std::unique_ptr<FileContext> file_;
    Target target_;
    std::unique_ptr<Batch> batch_;
    std::unique_ptr<Service> service_;
    std::unique_ptr<BoxPuts> boxes_;
    std::vector<std::int64_t> first_;        ///< of each variable: whose share comes first
    std::vector<std::vector<Box>> held_;     ///< of each variable, in the order of memory
    std::vector<std::vector<double>> kept_;  ///< arrays that are deferred
    std::vector<char> holes_;
    Expected expected_;
    std::vector<std::vector<Made>> usual_;  ///< of each variable
    int serial_ = 0;                        ///< of the latest decomposition
    std::int64_t version_ = 0;
    bool boxed_ = false;
    bool counts_ = false;  ///< the step, in a file with boxes
};

double stored(const Variable& v, const char* at) {
    switch (v.type) {
        case TW_BYTE: return *reinterpret_cast<const signed char*>(at);
        case TW_SHORT: return *reinterpret_cast<const short*>(at);
        case TW_INT: return *reinterpret_cast<const int*>(at);
        case TW_FLOAT: return *reinterpret_cast<const float*>(at);
        default: return *reinterpret_cast<const double*>(at);
    }
}

void compare(const Case& c, const Expected& expected, const std::vector<char>& bytes) {
    const FileMap& map = c.plan.spaces.map;
    int wrong = 0;
    for (std::size_t i = 0; i < expected.values.size(); ++i) {
        const Variable& v = c.plan.definitions.variables[i];
        const auto size = v.element();
        const FillValue fill = v.fill_value();
        for (std::int64_t r = 0; r < (v.record ? expected.records : 1); ++r)
            for (std::int64_t e = 0; e < v.elements(); ++e) {
                char element[8];
                std::copy_n(bytes.begin() + map.offset[i] + r * (v.record ? map.record_bytes : 0) +
                                e * size,
                            size, element);
                double wanted = expected.values[i][static_cast<std::size_t>(r * v.elements() + e)];
                if (wanted < 0) wanted = stored(v, fill.data());
                if (stored(v, element) != wanted && ++wrong <= 3)
                    ADD_FAILURE() << v.name << " of record " << r << ", element " << e << " is "
                                  << stored(v, element) << ", not " << wanted << " (" << c.ranks
                                  << " ranks in nodes of " << c.node_size << ", "
                                  << c.options.service << ", " << c.options.method << ")";
            }
    }
}

/// Lets all ranks of a case act, and compares the file with what they expect.
void run_and_compare(const Case& c, std::uint64_t seed, void (*act)(Rank&)) {
    auto bytes = std::make_shared<std::vector<char>>(static_cast<std::size_t>(c.file_bytes()),
                                                     MemoryStorage::untouched);
    Expected expected(c);
    on_threads(c.ranks, [&](std::unique_ptr<Comm> comm) {
        const bool first = comm->rank() == 0;
        Rank rank(c, seed, std::move(comm), bytes);
        act(rank);
        if (first) expected = rank.expected();
    });
    compare(c, expected, *bytes);
}

}  // namespace

TEST(Engine, RandomBatchesOnThreads) {
    const char* more = std::getenv("THALWEG_ENGINE_CASES");
    const std::uint64_t cases = more != nullptr ? std::strtoull(more, nullptr, 10) : 300;
    for (std::uint64_t seed = 0; seed < cases && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(mix(seed));
        const Case c(random);
        run_and_compare(c, seed, [](Rank& rank) { rank.run(); });
    }
}

// A call that exceeds what a rank may put in a step writes nothing, and the rest is as it should
// be.
TEST(Engine, ARefusedBoxLeavesNothing) {
    for (const char* service : {"inline", "background"}) {
        Random random(1);
        Case c(random);
        c.ranks = 2;
        c.node_size = 1;
        c.options.service = service;
        c.options.method = c.layout.method = "record";
        c.options.staging = 1 << 16;
        c.options.queue = 1 << 16;
        c.layout.writers = 2;
        c.writers = {1, 0};
        c.plan = Plan();
        c.plan.add("v", TW_DOUBLE, {20000}, false);
        c.plan.lay_out();
        auto bytes = std::make_shared<std::vector<char>>(static_cast<std::size_t>(c.file_bytes()),
                                                         MemoryStorage::untouched);
        on_threads(c.ranks, [&](std::unique_ptr<Comm> comm) {
            const bool first = comm->rank() == 0;
            Rank rank(c, 1, std::move(comm), bytes);
            if (first) {
                const std::vector<double> values(15000, 7.0);
                const std::int64_t start = 0, large = 15000, small = 10;
                EXPECT_EQ(rank.boxes()
                              .put_box("v", {TW_DOUBLE, &start, &large, nullptr, values.data()})
                              .code,
                          TW_ENOMEM);
                EXPECT_TRUE(rank.boxes()
                                .put_box("v", {TW_DOUBLE, &start, &small, nullptr, values.data()})
                                .ok());
            }
            EXPECT_TRUE(rank.service().end_step().ok());
            rank.close();
        });
        Expected expected(c);
        for (std::int64_t e = 0; e < 10; ++e)
            expected.put(0, c.plan.definitions.variables[0], 0, e, 7.0);
        compare(c, expected, *bytes);
    }
}

// Records go by a plan, too, in a file whose tw_put is collective.
TEST(Engine, RecordsWhereStepsAreTooLarge) {
    for (std::uint64_t seed = 0; seed < 24 && !testing::Test::HasFailure(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Random random(mix(seed));
        Case c(random);
        c.options.service = "inline";
        c.options.staging = 1 << 14;
        c.plan = Plan();
        c.plan.add("large", TW_DOUBLE, {20000}, true);
        c.plan.add("v", TW_FLOAT, {7, 5}, true);
        c.plan.add("w", TW_DOUBLE, {4, 9}, true);
        c.plan.add("fixed", TW_SHORT, {11}, false);
        c.plan.lay_out();
        run_and_compare(c, seed, [](Rank& rank) { rank.run_immediate(); });
    }
}
