// SPDX-License-Identifier: Apache-2.0
#include "service/queue/writer/composer.hpp"

#include <gtest/gtest.h>

#include "base/clock.hpp"
#include "service/setup.hpp"

using namespace thalweg::detail;

namespace {

/// The expected contents of the file, computed element by element without the library's classes.
class Reference {
public:
    explicit Reference(const Plan& plan) : plan_(plan) {}

    void fill(int variable, std::int64_t record) {
        const Variable& v = of(variable);
        const auto size = v.element();
        const FillValue value = v.fill_value();
        for (std::int64_t b = 0; b < plan_.spaces.map.padded[static_cast<std::size_t>(variable)];
             ++b)
            at(start(variable, record) + b) = value[static_cast<std::size_t>(b % size)];
    }
    void put(int variable, std::int64_t record, const Box& box, std::int64_t unit) {
        const auto size = of(variable).element();
        Sent::for_elements(of(variable), box, [&](std::int64_t element) {
            for (std::int64_t b = 0; b < size; ++b)
                at(start(variable, record) + element * size + b) =
                    byte_of(variable, unit, element, b);
        });
    }
    /// Returns "" if the file is as expected, otherwise the first difference.
    std::string difference(const std::vector<char>& file) const {
        const auto [a, b] = std::mismatch(bytes.begin(), bytes.end(), file.begin(), file.end());
        if (a == bytes.end() && b == file.end()) return "";
        const auto at = a - bytes.begin();
        std::string text =
            fmt::format("byte {} of {}, expected {};", at, file.size(), bytes.size());
        for (const bool record : {false, true})
            for (const VariableSlot& p : plan_.spaces.of(record).places)
                text += fmt::format(" {} '{}' at {} + {} / {}", record ? "record" : "fixed",
                                    of(p.variable).name, plan_.spaces.base(record, 0) + p.offset,
                                    p.bytes, p.padded);
        return text;
    }
    std::vector<char> bytes;

private:
    const Variable& of(int variable) const {
        return plan_.definitions.variables[static_cast<std::size_t>(variable)];
    }
    std::int64_t start(int variable, std::int64_t record) const {
        return plan_.spaces.map.offset[static_cast<std::size_t>(variable)] +
               (of(variable).record ? record * plan_.spaces.map.record_bytes : 0);
    }
    char& at(std::int64_t byte) {
        if (static_cast<std::int64_t>(bytes.size()) <= byte)
            bytes.resize(static_cast<std::size_t>(byte) + 1, MemoryStorage::untouched);
        return bytes[static_cast<std::size_t>(byte)];
    }
    const Plan& plan_;
};

/// Runs all writers of a file, one after another.
struct Writers {
    std::unique_ptr<Layout> layout;
    std::vector<std::unique_ptr<MemoryStorage>> files;
    std::vector<std::unique_ptr<Progress>> progress;
    std::vector<std::unique_ptr<Composer>> composers;

    Writers(const Plan& plan, Random& random) : layout(random_layout(random, plan)) {
        const std::int64_t piece = random.pick<std::int64_t>({16, 100, 4096});
        for (int w = 0; w < layout->writers(); ++w) {
            files.push_back(std::make_unique<MemoryStorage>());
            files.back()->definitions = &plan.definitions;
            files.back()->bytes = files.front()->bytes;
            progress.push_back(std::make_unique<Progress>(plan.definitions, Existing{}));
            composers.push_back(std::make_unique<Composer>(plan.definitions, plan.whole,
                                                           plan.spaces, *layout, w, *files.back(),
                                                           *progress.back(), piece, nullptr));
        }
    }
    template <class Do>
    void each(Do&& act) {
        for (auto& c : composers) {
            const Status status = act(*c);
            ASSERT_TRUE(status.ok()) << status.text;
        }
    }
    void write(const std::vector<Sent>& sent) {
        const auto unit_parts = unit_parts_of(sent);
        each([&](Composer& c) { return c.write(unit_parts); });
    }
    const std::vector<char>& bytes() const { return *files.front()->bytes; }
};

/// Ends a step of a file that is written by boxes.
/// @param records  number of records that the file then has
Status end_step(Composer& composer, std::int64_t records) {
    UnitPart step;
    step.head.boxed = step.head.given = true;
    step.head.records = records;
    return composer.write({&step, 1});
}

}  // namespace

TEST(Composer, StepsPartsAndFixedVariables) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        Random random(seed + 5000);
        const Plan plan = random_plan(random);
        const auto& variables = plan.definitions.variables;
        const int n = static_cast<int>(variables.size());
        const int ranks = static_cast<int>(random.between(1, 4));
        Writers writers(plan, random);
        Reference expected(plan);
        std::vector<std::vector<std::vector<Box>>> boxes;
        for (std::size_t i = 0; i < variables.size(); ++i)
            boxes.push_back(random_boxes(variables[i], plan.whole[i] != 0, ranks, random));
        std::vector<char> ever(variables.size(), 0);
        const std::int64_t units = random.between(1, 5);
        std::int64_t record = 0;
        for (std::int64_t unit = 0; unit <= units; ++unit) {
            const UnitKind kind = unit == units        ? UnitKind::last
                                  : random.percent(70) ? UnitKind::step
                                                       : UnitKind::fixed;
            const bool step = kind == UnitKind::step;
            std::vector<Sent> sent;
            for (int r = 0; r < ranks; ++r) sent.push_back(empty_unit_part(plan, kind, r));
            for (int i = 0; i < n; ++i) {
                const Variable& v = variables[static_cast<std::size_t>(i)];
                if (v.record && !step) continue;
                // Sometimes put the same data again.
                const bool put = random.percent(60);
                if (put || (v.record && step)) {
                    if (v.record || !ever[static_cast<std::size_t>(i)]) expected.fill(i, record);
                    ever[static_cast<std::size_t>(i)] = 1;
                }
                if (!put) continue;
                const bool parts = random.percent(30);
                if (parts) {
                    const std::int64_t length = random.between(1, v.elements());
                    for (std::int64_t begin = 0; begin < v.elements(); begin += length) {
                        const std::int64_t end = std::min(v.elements(), begin + length);
                        std::vector<Sent> part;
                        for (int r = 0; r < ranks; ++r) {
                            part.push_back(empty_unit_part(plan, UnitKind::part, r));
                            UnitHead& head = part.back().unit_part.head;
                            head.variable = i;
                            head.begin = begin;
                            head.end = end;
                            for (const Box& box :
                                 boxes[static_cast<std::size_t>(i)][static_cast<std::size_t>(r)])
                                for_boxes_of_range(v.shape, begin, end, [&](const Box& of) {
                                    Box common;
                                    if (intersect(of, box, common))
                                        part.back().add(plan, i, common, unit);
                                });
                        }
                        writers.write(part);
                    }
                }
                for (int r = 0; r < ranks; ++r) {
                    for (const Box& box :
                         boxes[static_cast<std::size_t>(i)][static_cast<std::size_t>(r)]) {
                        expected.put(i, record, box, unit);
                        if (!parts) sent[static_cast<std::size_t>(r)].add(plan, i, box, unit);
                    }
                    if (!parts) set_put(sent[static_cast<std::size_t>(r)], i);
                }
            }
            writers.write(sent);
            if (step && !plan.spaces.record.places.empty()) ++record;
        }
        for (int i = 0; i < n; ++i)
            if (!variables[static_cast<std::size_t>(i)].record &&
                !ever[static_cast<std::size_t>(i)])
                expected.fill(i, 0);
        for (const auto& p : writers.progress) EXPECT_EQ(p->records(), record);
        EXPECT_FALSE(writers.composers[0]->boxed());
        ASSERT_EQ(expected.difference(writers.bytes()), "") << "seed " << seed;
    }
}

TEST(Composer, BoxesInAnyOrder) {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        Random random(seed + 9000);
        const Plan plan = random_plan(random);
        const auto& variables = plan.definitions.variables;
        Writers writers(plan, random);
        Reference expected(plan);
        for (int i = 0; i < static_cast<int>(variables.size()); ++i)
            for (std::int64_t r = 0; r < (variables[static_cast<std::size_t>(i)].record ? 6 : 1);
                 ++r)
                expected.fill(i, r);
        std::int64_t ended = 0;
        for (std::int64_t unit = 0; unit < random.between(1, 20); ++unit) {
            std::vector<Sent> sent{empty_unit_part(plan, UnitKind::boxes, 0)};
            for (std::int64_t k = random.below(4); k > 0; --k) {
                const int i =
                    static_cast<int>(random.below(static_cast<std::int64_t>(variables.size())));
                const Variable& v = variables[static_cast<std::size_t>(i)];
                Box box;
                box.nd = static_cast<int>(v.shape.size());
                for (std::size_t d = 0; d < v.shape.size(); ++d) {
                    box.low[d] = random.below(v.shape[d] + 1);
                    box.count[d] = random.below(v.shape[d] - box.low[d] + 1);
                    if (random.percent(30)) {
                        box.low[d] = 0;
                        box.count[d] = v.shape[d];
                    }
                }
                // Puts into earlier records, the current one, and later ones.
                const std::int64_t record = v.record ? random.below(6) : 0;
                sent[0].add(plan, i, box, unit, record);
                expected.put(i, record, box, unit);
            }
            writers.write(sent);
            EXPECT_TRUE(writers.composers[0]->boxed());
            if (random.percent(30)) {
                ended = std::min<std::int64_t>(6, ended + random.below(3));
                writers.each([&](Composer& c) { return end_step(c, ended); });
            }
        }
        writers.each([&](Composer& c) { return end_step(c, 6); });
        UnitPart last;
        last.head.kind = UnitKind::last;
        writers.each([&](Composer& c) { return c.write({&last, 1}); });
        ASSERT_EQ(expected.difference(writers.bytes()), "") << "seed " << seed;
    }
}

namespace {

/// Every second row of a variable. Each is a separate box.
struct Stripes {
    static constexpr std::int64_t width = 8;
    Plan plan;
    std::unique_ptr<Layout> layout = make_record_layout(1, 1);
    std::vector<Sent> sent;
    MemoryStorage file;

    explicit Stripes(std::int64_t rows) {
        plan.add("v", TW_SHORT, {2 * rows, width}, true);
        plan.lay_out();
        sent.push_back(empty_unit_part(plan, UnitKind::boxes, 0));
        for (std::int64_t row = 0; row < rows; ++row) {
            Box box;
            box.nd = 2;
            box.low[0] = 2 * row;
            box.count[0] = 1;
            box.count[1] = width;
            sent[0].add(plan, 0, box, 0);
        }
    }
    double write() {
        Progress progress(plan.definitions, {});
        Composer composer(plan.definitions, plan.whole, plan.spaces, *layout, 0, file, progress,
                          1 << 20, nullptr);
        const auto unit_parts = unit_parts_of(sent);
        const double begin = now();
        EXPECT_TRUE(composer.write(unit_parts).ok());
        EXPECT_TRUE(end_step(composer, 1).ok());
        return now() - begin;
    }
};

}  // namespace

TEST(Composer, ManySmallBoxesAreFewWrites) {
    Stripes stripes(1000);
    stripes.write();
    const std::int64_t bytes = 2 * 1000 * Stripes::width * 2;
    EXPECT_EQ(stripes.file.counts().bytes, bytes);
    EXPECT_LE(stripes.file.counts().calls, 2);  // the last row is filled
}

// Sixteen times as many boxes take about sixteen times as long, not 256 times. On a busy machine
// with small caches, permit three times more.
TEST(Composer, ManySmallBoxesTakeLinearTime) {
    Stripes few(10000), many(160000);
    double short_time = few.write(), long_time = many.write();
    for (int i = 0; i < 4; ++i) {
        short_time = std::min(short_time, few.write());
        long_time = std::min(long_time, many.write());
    }
    EXPECT_LT(long_time, 80 * short_time);
}

TEST(Composer, TellsOfFailures) {
    Random random(1);
    Plan plan;
    plan.add("v", TW_INT, {100}, true);
    plan.lay_out();
    const auto layout = make_record_layout(1, 1);
    MemoryStorage file;
    file.failure = failure(TW_EIO, "no space");
    Progress progress(plan.definitions, {});
    Composer composer(plan.definitions, plan.whole, plan.spaces, *layout, 0, file, progress, 16,
                      nullptr);
    const std::vector<Sent> sent{empty_unit_part(plan, UnitKind::step, 0)};
    EXPECT_EQ(composer.write(unit_parts_of(sent)).code, TW_EIO);
    EXPECT_EQ(file.counts().calls, 1);
}
