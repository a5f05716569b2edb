// SPDX-License-Identifier: Apache-2.0
#include "comm/team.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/clock.hpp"
#include "comm/node_exchange.hpp"
#include "system/random.hpp"

using namespace thalweg::detail;

namespace {

class TeamOf : public testing::TestWithParam<int> {
protected:
    TeamOf() {
        Status status;
        team_ = Team::make(make_mpi_comm(MPI_COMM_WORLD), GetParam(), status);
        EXPECT_TRUE(status.ok()) << status.text;
    }
    std::unique_ptr<Team> team_;
};
INSTANTIATE_TEST_SUITE_P(NodeSize, TeamOf, testing::Values(0, 1, 2, 3));

std::int64_t value_of(int rank, std::size_t word, int round) {
    return static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(rank * 1000 + round), word) %
                                     2'000'001) -
           1'000'000;
}

TEST_P(TeamOf, AllReduceIsTheReductionOverAllRanks) {
    int round = 0;
    for (std::size_t words : {1, 2, 63, 64, 65, 200})
        for (Reduce op : {Reduce::sum, Reduce::min, Reduce::max, Reduce::bit_or}) {
            ++round;
            std::vector<std::int64_t> values, expected;
            for (std::size_t i = 0; i < words; ++i) {
                values.push_back(value_of(team_->rank(), i, round));
                std::int64_t all = value_of(0, i, round);
                for (int r = 1; r < team_->size(); ++r) {
                    const std::int64_t v = value_of(r, i, round);
                    combine(&all, &v, 1, op);
                }
                expected.push_back(all);
            }
            team_->all_reduce(values, op);
            ASSERT_EQ(values, expected) << words << " words, operation " << static_cast<int>(op);
        }
}

/// In one reduction, some words are combined by bitwise or, others by the maximum or the sum.
TEST_P(TeamOf, ARowIsCombinedByOrByTheMaximumAndByTheSum) {
    for (int round = 0; round < 20; ++round) {
        const auto row_of = [&](int rank) {
            RowOfWords row;
            for (std::size_t i = 0; i < RowOfWords::size; ++i)
                row.words()[i] = value_of(rank, i, round);
            return row;
        };
        const auto reduced = [&](auto part, Reduce op) {
            auto all = row_of(0).*part;
            for (int r = 1; r < team_->size(); ++r) {
                const auto its = row_of(r).*part;
                combine(all.data(), its.data(), its.size(), op);
            }
            return all;
        };
        RowOfWords row = row_of(team_->rank());
        team_->all_reduce(row.words(), Reduce::row);
        ASSERT_EQ(row.any, reduced(&RowOfWords::any, Reduce::bit_or));
        ASSERT_EQ(row.most, reduced(&RowOfWords::most, Reduce::max));
        ASSERT_EQ(row.sums, reduced(&RowOfWords::sums, Reduce::sum));
    }
}

/// One rank changes the combined words. All ranks get only the changed ones.
TEST_P(TeamOf, OneRankActsBeforeTheOthersKnow) {
    const auto memory = team_->node().share(4096);
    ASSERT_NE(memory, nullptr);
    auto& acted = *reinterpret_cast<std::atomic<std::int64_t>*>(memory->data());
    team_->barrier();
    std::int64_t round = 0;
    for (int again = 0; again < 20; ++again)
        for (int actor = 0; actor < team_->size(); ++actor) {
            ++round;
            const bool near = team_->topology().node_of[static_cast<std::size_t>(actor)] ==
                              team_->topology().node;
            int calls = 0;
            const auto act = [&](std::span<std::int64_t> words) {
                ++calls;
                if (again == 0) sleep_seconds(0.002);
                words[1] = words[0] + actor;
                acted = round;
            };
            std::int64_t words[] = {team_->rank() + round, -1, 7};
            team_->all_reduce(words, Reduce::sum, actor, std::ref(act));
            const std::int64_t size = team_->size(), sum = size * (size - 1) / 2 + size * round;
            ASSERT_EQ(words[0], sum);
            ASSERT_EQ(words[1], sum + actor);
            ASSERT_EQ(words[2], 7 * size);
            ASSERT_EQ(calls, actor == team_->rank() ? 1 : 0);
            if (near) {
                ASSERT_EQ(acted.load(), round);
            }
            team_->barrier();  // the next segment can be on this node, too, so wait
        }
}

/// Packets arrive unchanged, whether or not they are combined by node.
TEST_P(TeamOf, CombinedPacketsArriveAsTheyWereSent) {
    const CombineLimits always{0, INT64_MAX}, never{INT64_MAX, 0};
    for (int round = 0; round < 4; ++round) {
        std::vector<Packet> packets;
        for (int to = 0; to < team_->size(); ++to) {
            const std::uint64_t h =
                mix(static_cast<std::uint64_t>(team_->rank() * 100 + to), round);
            if (h % 3 == 0) continue;
            Packet p{to, {}};
            for (std::uint64_t i = 0; i < h % 1000; ++i)
                p.bytes.push_back(static_cast<char>(mix(h, i)));
            packets.push_back(std::move(p));
        }
        const auto as_text = [](const std::vector<Packet>& all) {
            std::vector<std::pair<int, std::vector<char>>> texts;
            for (const Packet& p : all) texts.emplace_back(p.rank, p.bytes);
            return texts;
        };
        bool have = true;
        const auto wanted = as_text(exchange_by_nodes(*team_, packets, have, never));
        ASSERT_EQ(as_text(exchange_by_nodes(*team_, packets, have, always)), wanted);
    }
}

/// A fast rank must not enter a round before slow ranks have left the previous one.
TEST_P(TeamOf, RoundsDoNotMix) {
    for (int round = 0; round < 200; ++round) {
        if (round % 50 == team_->rank()) sleep_seconds(0.002);
        std::int64_t values[2] = {round, team_->rank()};
        team_->all_reduce(values, Reduce::max);
        ASSERT_EQ(values[0], round);
        ASSERT_EQ(values[1], team_->size() - 1);
    }
}

double clock_now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

TEST_P(TeamOf, NobodyPassesABarrierBeforeTheLast) {
    for (int late = 0; late < team_->size(); ++late) {
        if (team_->rank() == late) sleep_seconds(0.01);
        std::int64_t before = static_cast<std::int64_t>(clock_now() * 1e6);
        team_->barrier();
        const auto after = static_cast<std::int64_t>(clock_now() * 1e6);
        team_->world().all_reduce({&before, 1}, Reduce::max);
        ASSERT_GE(after, before);
    }
}

TEST_P(TeamOf, AgreesOnTheLowestThatFailed) {
    EXPECT_TRUE(team_->agree({}).ok());
    for (int lowest = 0; lowest < team_->size(); ++lowest) {
        Status mine;
        if (team_->rank() >= lowest && (team_->rank() - lowest) % 2 == 0)
            mine = failure(static_cast<tw_status>(TW_EIO - team_->rank() % 3), "no luck with {}",
                           team_->rank());
        const Status all = team_->agree(mine);
        EXPECT_EQ(all.code, TW_EIO - lowest % 3);
        EXPECT_NE(all.text.find(fmt::format("no luck with {}", lowest)), std::string::npos);
        if (team_->size() > 1) {
            EXPECT_NE(all.text.find(fmt::format("rank {}", lowest)), std::string::npos) << all.text;
        }
    }
    EXPECT_TRUE(team_->agree({}).ok());
}

TEST_P(TeamOf, Topology) {
    const Topology& t = team_->topology();
    const int limit = GetParam();
    const int size = team_->size();
    EXPECT_EQ(t.sizes.size(), static_cast<std::size_t>(t.nodes));
    EXPECT_EQ(team_->node().size(), static_cast<int>(t.members.size()));
    EXPECT_EQ(team_->node().rank(), t.node_rank);
    EXPECT_EQ(t.node_of[static_cast<std::size_t>(team_->rank())], t.node);
    EXPECT_EQ(t.members[static_cast<std::size_t>(t.node_rank)], team_->rank());
    std::vector<int> seen(static_cast<std::size_t>(size), 0);
    for (int node = 0; node < t.nodes; ++node) {
        const int n = t.sizes[static_cast<std::size_t>(node)];
        EXPECT_GE(n, 1);
        if (limit > 0) {
            EXPECT_LE(n, limit);
        }
        for (int place = 0; place < n; ++place) {
            const int rank = t.rank_of(node, place);
            EXPECT_EQ(t.node_of[static_cast<std::size_t>(rank)], node);
            ++seen[static_cast<std::size_t>(rank)];
        }
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), size);
    if (limit > 0) {
        EXPECT_GE(t.nodes, (size + limit - 1) / limit);
    }
    for (int place = 0; place < static_cast<int>(t.members.size()); ++place)
        EXPECT_EQ(t.rank_of(t.node, place), t.members[static_cast<std::size_t>(place)]);
}

class MpiComm : public testing::Test {
protected:
    std::unique_ptr<Comm> comm_ = make_mpi_comm(MPI_COMM_WORLD);
    int rank_ = comm_->rank(), size_ = comm_->size();
};

/// Consecutive exchanges are not separated by a barrier. Each rank knows what each exchange should
/// deliver.
TEST_F(MpiComm, ExchangesInARowDoNotMix) {
    struct Message {
        int round, from, to, number;
    };
    for (int round = 0; round < 60; ++round) {
        std::vector<Packet> packets, expected;
        for (int from = 0; from < size_; ++from)
            for (int to = 0; to < size_; ++to) {
                const std::uint64_t dice = mix(static_cast<std::uint64_t>(round),
                                               static_cast<std::uint64_t>(from * 100 + to));
                for (int n = 0; n < static_cast<int>(dice % 5) - 2; ++n) {
                    Packet packet{0, {}};
                    if (dice % 7 != 0) {
                        const Message m{round, from, to, n};
                        // Some packets are longer than MPI's eager messages.
                        packet.bytes.resize(dice % 11 == 0 ? 100'000 : sizeof m);
                        std::memcpy(packet.bytes.data(), &m, sizeof m);
                    }
                    if (from == rank_) {
                        packet.rank = to;
                        packets.push_back(packet);
                    }
                    if (to == rank_) {
                        packet.rank = from;
                        expected.push_back(packet);
                    }
                }
            }
        if ((round + rank_) % 13 == 0) sleep_seconds(0.001);
        bool have = true;
        const std::vector<Packet> received = comm_->exchange(packets, have);
        EXPECT_TRUE(have);
        ASSERT_EQ(received.size(), expected.size()) << "round " << round;
        for (std::size_t i = 0; i < received.size(); ++i) {
            ASSERT_EQ(received[i].rank, expected[i].rank);
            ASSERT_EQ(received[i].bytes, expected[i].bytes);
        }
    }
}

}  // namespace
