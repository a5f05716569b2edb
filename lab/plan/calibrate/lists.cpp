// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <new>

#include "exchange/pack/copy_runs.hpp"
#include "plan/calibrate/calibrate.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

/// A list with every second run of indices of a dimension, and memory for its elements before and
/// after packing.
class ListedField {
public:
    /// Makes the list. @param run  number of consecutive indices in a run
    explicit ListedField(std::int64_t run)
        : from_(make_private_memory(elements * size)), to_(make_private_memory(elements * size)) {
        if (!from_ || !to_) throw std::bad_alloc();
        // Write to the memory first: if it were only read, all pages could be the same page of
        // zeros.
        std::memset(from_->data(), 1, elements * size);
        std::memset(to_->data(), 1, elements * size);
        auto list = std::make_shared<IndexList>();
        for (std::int64_t at = 0; at < elements; at += run)
            list->runs.emplace_back(2 * at, at, run);
        list->elements = elements;
        listing_ = {std::move(list), {0}, {2 * elements}};
    }
    std::int64_t runs() const { return static_cast<std::int64_t>(listing_.list->runs.size()); }
    /// Copies and converts the elements of the list, as a rank packs them for a writer.
    void pack_all() {
        const RowKernel kernel = pack_kernel(TW_FLOAT, TW_FLOAT, Order::big_endian);
        const char fill[size]{};
        Box box;
        box.nd = 1;
        box.count[0] = 2 * elements;
        const Index stride{size};
        copy_runs(listing_, box, {RunOrder::dense, to_->data(), stride},
                  {RunOrder::positions, from_->data(), stride}, kernel, fill);
    }

private:
    static constexpr std::int64_t elements = 4 << 20, size = sizeof(float);
    std::unique_ptr<Memory> from_, to_;
    Listing listing_;
};

constexpr std::int64_t short_run = 4, long_run = 4096;
constexpr int rounds = 4;

}  // namespace

/// Measures how long one rank packs the same elements in short runs and in long ones. The
/// difference is the cost of the runs.
void measure_lists(Team& team, double seconds, Machine& machine) {
    std::unique_ptr<ListedField> in_short, in_long;
    const Status had = team.agree(catch_errors([&]() -> Status {
        if (team.rank() != 0) return {};
        in_short = std::make_unique<ListedField>(short_run);
        in_long = std::make_unique<ListedField>(long_run);
        return {};
    }));
    if (!had.ok()) throw std::bad_alloc();
    double run = 0;
    team.barrier();
    if (team.rank() == 0) {
        double of_short = 1e9, of_long = 1e9;
        // Take the minimum over some rounds, because the first ones touch memory, and other
        // programs may use the machine.
        for (int i = 0; i < rounds; ++i) {
            const double each = seconds * 0.45 / rounds;
            of_short = std::min(of_short, repeat_for(each, [&] { in_short->pack_all(); }));
            of_long = std::min(of_long, repeat_for(each, [&] { in_long->pack_all(); }));
        }
        run = std::max(0.0, of_short - of_long) /
              static_cast<double>(in_short->runs() - in_long->runs());
        team.barrier();
    } else {
        sleep_until_met(team, seconds * 0.9);
    }
    team.world().broadcast(&run, sizeof run, 0);
    machine.run = run;
}

}  // namespace thalweg::planning
