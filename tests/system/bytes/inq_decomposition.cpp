// Tests that tw_inq_decomposition returns what was declared, and that a decomposition declared anew
// from it is the same.
//
// SPDX-License-Identifier: Apache-2.0
#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "system/calls.hpp"

using calls::session;

namespace {

using Integers = std::vector<std::int64_t>;

int rank = 0, size = 1;

Integers numbers(const std::int64_t* values, std::int64_t n) { return {values, values + n}; }

tw_decomposition_info info_of(tw_decomposition d) {
    tw_decomposition_info info{};
    OK(tw_inq_decomposition(d, &info));
    return info;
}

void boxes() {
    // Two boxes, of which the second is empty on odd ranks; and a name that contains a blank.
    const Integers shape = {2 * size, 5};
    const Integers start = {2 * rank, 0, 2 * rank + 1, 1};
    const Integers count = {1, 5, rank % 2 == 0 ? 1 : 0, 3};
    const Integers low = {1, 2}, high = {0, 3};
    tw_decomposition d = nullptr;
    OK(tw_decompose_halo(session, "y my\\ x", 2, shape.data(), start.data(), count.data(),
                         low.data(), high.data(), &d));
    tw_decomposition_info info = info_of(d);
    CHECK(std::string(info.dims) == "y my\\ x" && info.ndims == 2 && info.nblocks == 2);
    CHECK(numbers(info.shape, 2) == shape);
    CHECK(numbers(info.start, 4) == start && numbers(info.count, 4) == count);
    CHECK(numbers(info.halo_low, 2) == low && numbers(info.halo_high, 2) == high);
    CHECK(info.extent == nullptr && info.boxes == 0);
    CHECK(info.nlisted == 0 && info.n == 0 && info.kind == TW_LIST_UNIQUE);
    CHECK(info.held == 5 + (rank % 2 == 0 ? 3 : 0));
    CHECK(info.stored == 20 + (rank % 2 == 0 ? 16 : 0));

    const Integers extent = {4, 12};
    OK(tw_pad(d, extent.data(), 3));
    info = info_of(d);
    CHECK(numbers(info.extent, 2) == extent && info.boxes == 3 && info.stored == 3 * 48);
    tw_decomposition same = nullptr;
    OK(tw_decompose_halo(session, info.dims, info.nblocks, info.shape, info.start, info.count,
                         info.halo_low, info.halo_high, &same));
    CHECK(numbers(info_of(same).start, 4) == start);
    OK(tw_free_decomposition(&same));
    OK(tw_free_decomposition(&d));
}

void lists() {
    const Integers shape = {3, 4 * size, 2, 5};
    const std::int64_t total = 8 * size;
    Integers indices;
    if (rank != 1)  // rank 1 holds nothing
        for (std::int64_t i = total - 1 - rank; i >= 0; i -= size) indices.push_back(i);
    if (rank == 0) indices.push_back(-1);
    for (const tw_list_kind kind : {TW_LIST_UNIQUE, TW_LIST_SHARED}) {
        tw_decomposition d = nullptr;
        OK(tw_decompose_list(session, "lev y x c", shape.data(), "y x",
                             static_cast<std::int64_t>(indices.size()), indices.data(), kind, &d));
        const tw_decomposition_info info = info_of(d);
        CHECK(info.ndims == 4 && info.nblocks == 0 && info.boxes == 0);
        CHECK(info.first_listed == 1 && info.nlisted == 2 && info.kind == kind);
        CHECK(numbers(info.indices, info.n) == indices);
        const auto n = static_cast<std::int64_t>(indices.size());
        CHECK(info.stored == 15 * n && info.held == 15 * (n - (rank == 0 ? 1 : 0)));
        OK(tw_free_decomposition(&d));
    }
}

void errors() {
    tw_decomposition d = nullptr;
    tw_decomposition_info info{};
    CHECK(tw_inq_decomposition(nullptr, &info) == TW_EHANDLE);
    const Integers shape = {size}, start = {rank}, count = {1};
    OK(tw_decompose(session, "x", 1, shape.data(), start.data(), count.data(), &d));
    REFUSED(tw_inq_decomposition(d, nullptr), TW_EARG, "info is missing");
    tw_decomposition copy = d;
    OK(tw_free_decomposition(&d));
    CHECK(tw_inq_decomposition(copy, &info) == TW_EHANDLE && info.dims == nullptr);
}

}  // namespace

int main(int argc, char** argv) {
    check::begin(&argc, &argv, 30);
    rank = check::state.rank;
    size = check::state.size;
    CHECK(tw_init(MPI_COMM_WORLD, nullptr, &session) == TW_OK);
    boxes();
    lists();
    errors();
    OK(tw_finalize(&session));
    return check::verdict("inq_decomposition");
}
