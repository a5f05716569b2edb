// SPDX-License-Identifier: Apache-2.0
#include "service/queue/unit_part.hpp"

#include <gtest/gtest.h>

#include "exchange/write/pieces.hpp"
#include "service/setup.hpp"

using namespace thalweg::detail;

TEST(UnitPart, IsReadAsItWasDescribed) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Random random(seed);
        const Plan plan = random_plan(random);
        UnitPart p = empty_unit_part(plan, UnitKind::boxes, 7).unit_part;
        p.head.unit = random.below(1000);
        p.head.kind = static_cast<UnitKind>(random.below(5));
        p.head.records = random.below(100);
        p.head.boxed = random.percent(50);
        p.head.variable = static_cast<int>(random.between(-1, 3));
        p.head.begin = random.below(50);
        p.head.end = random.below(50);
        p.put[0] = static_cast<std::int64_t>(random.next());
        p.lacking[0] = static_cast<std::int64_t>(random.next());
        p.bare[0] = static_cast<std::int64_t>(random.next());
        p.with_halo[0] = static_cast<std::int64_t>(random.next());
        for (std::size_t i = 0; i < plan.definitions.variables.size(); ++i)
            for (const auto& of :
                 random_boxes(plan.definitions.variables[i], plan.whole[i] != 0, 3, random))
                for (const Box& box : of) {
                    PackedValues e;
                    e.variable = static_cast<int>(i);
                    e.record = random.below(9);
                    e.at = random.below(1000);
                    e.held = held_box(box, plan.definitions.variables[i].shape);
                    p.entries.push_back(e);
                }
        const auto bytes = describe_unit_part(p);
        EXPECT_EQ(head_of(bytes.data()).bytes, static_cast<std::int64_t>(bytes.size()));
        EXPECT_EQ(head_of(bytes.data()).kind, p.head.kind);
        EXPECT_EQ(head_of(bytes.data()).boxed, p.head.boxed);
        const char* base = reinterpret_cast<const char*>(&random);
        const UnitPart q = parse_unit_part(bytes.data(), base, plan.definitions.variables, {});
        EXPECT_EQ(describe_unit_part(q), bytes);
        ASSERT_EQ(q.entries.size(), p.entries.size());
        for (std::size_t i = 0; i < p.entries.size(); ++i) {
            EXPECT_EQ(q.entries[i].data, base + p.entries[i].at);
            EXPECT_EQ(q.entries[i].held.first, p.entries[i].held.first);
            EXPECT_EQ(q.entries[i].held.last, p.entries[i].held.last);
        }
    }
}

// The parts of a step that the writers get are those that the ranks hold: each element occurs once,
// with its value, and lies in the writer's share.
TEST(UnitPart, ClippedPartsMakeTheWhole) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Random random(seed + 1000);
        const Plan plan = random_plan(random);
        const auto& variables = plan.definitions.variables;
        const auto layout = random_layout(random, plan);
        const bool boxes = random.percent(40);
        const int ranks = static_cast<int>(random.between(1, 4));
        std::vector<Sent> sent;
        for (int r = 0; r < ranks; ++r)
            sent.push_back(empty_unit_part(plan, boxes ? UnitKind::boxes : UnitKind::step, r));
        std::vector<std::vector<int>> held, seen;
        std::vector<std::int64_t> record_of;
        for (std::size_t i = 0; i < variables.size(); ++i) {
            held.emplace_back(static_cast<std::size_t>(variables[i].elements()), 0);
            seen.push_back(held.back());
            record_of.push_back(variables[i].record ? random.below(4) : 0);
            const auto of = random_boxes(variables[i], plan.whole[i] != 0, ranks, random);
            for (int r = 0; r < ranks; ++r)
                for (const Box& box : of[static_cast<std::size_t>(r)]) {
                    sent[static_cast<std::size_t>(r)].add(plan, static_cast<int>(i), box, 5,
                                                          record_of[i]);
                    Sent::for_elements(variables[i], box, [&](std::int64_t e) {
                        ++held[i][static_cast<std::size_t>(e)];
                    });
                }
        }
        for (int w = 0; w < layout->writers(); ++w) {
            std::vector<char> message;
            bool any = false;
            for (const Sent& s : sent)
                any |= append_clipped(s.unit_part, *layout, w, plan.spaces, variables, message);
            const auto unit_parts = parse_message(message, variables);
            ASSERT_EQ(unit_parts.size(), sent.size());
            bool found = false;
            for (std::size_t r = 0; r < sent.size(); ++r) {
                EXPECT_EQ(unit_parts[r].head.rank, static_cast<int>(r));
                EXPECT_EQ(unit_parts[r].put, sent[r].unit_part.put);
                for (const PackedValues& e : unit_parts[r].entries) {
                    found = true;
                    const auto i = static_cast<std::size_t>(e.variable);
                    const Variable& v = variables[i];
                    EXPECT_EQ(e.record, record_of[i]);
                    const FileSection& space = plan.spaces.of(v.record);
                    const std::size_t at = space.place_of(e.variable);
                    const auto share =
                        layout->share(w, space, plan.spaces.base(v.record, record_of[i]));
                    const char* data = e.data;
                    Sent::for_elements(v, e.held.box, [&](std::int64_t element) {
                        ++seen[i][static_cast<std::size_t>(element)];
                        for (std::int64_t b = 0; b < space.places[at].element; ++b)
                            ASSERT_EQ(*data++, byte_of(e.variable, 5, element, b));
                        const ElementRange one{element, element + 1};
                        std::vector<Extent> wanted;
                        add_wanted(share, at, {&one, 1}, wanted);
                        wanted = intersect(share.extents(), wanted);
                        EXPECT_EQ(wanted.size(), 1U) << "seed " << seed << ", writer " << w << ", "
                                                     << v.name << " element " << element;
                    });
                }
            }
            EXPECT_EQ(any, found);
        }
        EXPECT_EQ(seen, held) << "seed " << seed;
    }
}
