// Tests how definitions of several clients are united, and how clients agree, without a session.
//
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <mpi.h>

#include "agreement.hpp"
#include "definitions.hpp"
#include "roles.hpp"

namespace {

using namespace thalweg::cfio;

struct Ranks {
    int rank = 0;
    int size = 1;
    Ranks() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
};

Attribute text(const std::string& variable, const std::string& name, const std::string& value) {
    return Attribute{variable, name, 2, static_cast<std::int64_t>(value.size()), value};
}

template <class T>
std::vector<T> elements(const List<T>& list) {
    return list;
}

TEST(CfioDefinitions, PackedAndUnpacked) {
    Definitions some;
    some.dims = {{"x", 3}, {"time", 0}};
    some.vars = {{"v", 5, {"time", "x"}}, {"scalar", 4, {}}};
    some.atts = {text("", "title", "a b"), text("v", "units", std::string("\0K", 2))};
    const Definitions again = unpack(pack(some));
    EXPECT_EQ(elements(again.dims), elements(some.dims));
    EXPECT_EQ(elements(again.vars), elements(some.vars));
    EXPECT_EQ(pack(again), pack(some));
    EXPECT_EQ(pack(unpack(pack(Definitions()))), pack(Definitions()));
}

TEST(CfioDefinitions, UnitedInOrderOfRanks) {
    const Ranks ranks;
    Definitions mine;
    mine.dims = {{"all", 7}, {"d" + std::to_string(ranks.rank), ranks.rank}};
    mine.vars = {{"v", 5, {"all"}}};
    mine.atts = {text("", "rank", std::to_string(ranks.rank))};
    if (ranks.rank == ranks.size - 1) mine.atts.push_back(text("v", "last", "yes"));
    std::string conflict = "?";
    const Definitions all = unite(mine, MPI_COMM_WORLD, conflict);
    EXPECT_EQ(conflict, "");
    ASSERT_EQ(all.dims.size(), static_cast<std::size_t>(ranks.size) + 1);
    EXPECT_EQ(all.dims[0].name, "all");
    for (int r = 0; r < ranks.size; ++r)
        EXPECT_EQ(all.dims[static_cast<std::size_t>(r) + 1].name, "d" + std::to_string(r));
    EXPECT_EQ(elements(all.vars), elements(mine.vars));
    ASSERT_EQ(all.atts.size(), 2U);
    EXPECT_EQ(all.atts[0].bytes, "0");
    EXPECT_EQ(all.atts[1].bytes, "yes");
}

TEST(CfioDefinitions, ConflictsAreNamedEverywhere) {
    const Ranks ranks;
    Definitions mine;
    mine.dims = {{"same", 1}};
    mine.vars = {{"v", 5, {}}, {"w", ranks.rank == 0 ? 5 : 6, {}}};
    std::string conflict;
    const Definitions all = unite(mine, MPI_COMM_WORLD, conflict);
    EXPECT_EQ(conflict, ranks.size > 1 ? "w" : "");
    EXPECT_EQ(all.vars[1].type, 5);
}

TEST(CfioAgreement, TellsCallsApart) {
    const Ranks ranks;
    const bool last = ranks.size > 1 && ranks.rank == ranks.size - 1;
    const auto call = last ? Call::finalize : Call::close;
    EXPECT_TRUE(agree(MPI_COMM_WORLD, Call::enddef, 3, 5, 0).together);
    EXPECT_TRUE(agree(MPI_COMM_WORLD, Call::enddef, -3, INT64_MIN, 0).alike);
    EXPECT_EQ(agree(MPI_COMM_WORLD, call, 3, 5, 0).together, ranks.size == 1);
    EXPECT_EQ(agree(MPI_COMM_WORLD, Call::close, last ? 2 : 1, 5, 0).together, ranks.size == 1);
    EXPECT_EQ(agree(MPI_COMM_WORLD, Call::close, 1, last ? 2 : 1, 0).alike, ranks.size == 1);
}

TEST(CfioAgreement, ErrorOfTheLowestClient) {
    const Ranks ranks;
    const int client = ranks.size / 2;
    const int error = ranks.rank < client ? 0 : -500 + ranks.rank - client;
    const Outcome outcome = agree(MPI_COMM_WORLD, Call::close, 1, 1, error);
    EXPECT_EQ(outcome.error, -500);
    EXPECT_EQ(outcome.client, client);
    EXPECT_EQ(first_error(MPI_COMM_WORLD, error), -500);
    EXPECT_EQ(first_error(MPI_COMM_WORLD, 0), 0);
}

TEST(CfioRoles, AnyGridAndRatio) {
    EXPECT_EQ(roles_of(3, 2, 4).needed(), 7);
    EXPECT_EQ(roles_of(3, 2, 100).servers, 1);
    EXPECT_EQ(roles_of(3, 3, 4).servers, 2);
    EXPECT_EQ(roles_of(2, 2, 1).servers, 4);
    EXPECT_EQ(roles_of(1 << 16, 1 << 16, 4).clients, std::int64_t{1} << 32);
    const Roles roles = roles_of(2, 2, 2);
    EXPECT_TRUE(roles.is_client(3));
    EXPECT_FALSE(roles.is_client(4));
    EXPECT_FALSE(roles.is_blank(5));
    EXPECT_TRUE(roles.is_blank(6));
}

}  // namespace
