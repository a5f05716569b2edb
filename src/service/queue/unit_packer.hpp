// Packs parts into the open unit of a rank's queue, and makes room for them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include "service/queue/clips.hpp"
#include "service/queue/open_unit.hpp"

namespace thalweg::detail {

class UnitPacker {
public:
    /// @param order     byte order in the file
    /// @param mismatch  function that handles a wait for room which would never end, as other ranks
    ///                  are in a collective call; gets the variable that waits
    UnitPacker(FileContext& file, Batch& batch, Order order, Publisher& publisher, OpenUnit& unit,
               std::function<Status(int)> mismatch)
        : file_(file),
          batch_(batch),
          order_(order),
          publisher_(publisher),
          unit_(unit),
          mismatch_(std::move(mismatch)) {}

    /// Keeps an error of the writers that this rank knows already. Returns the file's first error.
    Status poll() {
        (void)file_.keep(publisher_.known_failure());
        return file_.failed;
    }
    /// Packs this rank's part of a variable.
    Status put_whole(const Part& part);
    /// Packs this rank's part of a range.
    /// @param part  null on a rank that did not put the variable
    /// @param at    receives the place in the queue; null if there are no data
    Status put_range(int variable, ElementRange range, const Part* part, const char*& at);
    /// Packs a part box by box.
    Status put_boxes(const Part& part);
    /// Checks that all boxes of a part, and of similar parts in `records` records, fit into the
    /// queue, if units are published only in collective calls.
    Status check_room(const Part& part, std::int64_t records);
    /// Publishes the queued data in the middle of a step, if publishing is local.
    Status publish_early();

private:
    Status put_box(const Part& part, std::size_t number, const Box& box);
    Status room_for_box(int variable, std::int64_t bytes, std::int64_t description, char*& to);
    Status no_room(const Variable& v);
    Status no_room_for_boxes(const Variable& v) const;

    FileContext& file_;
    Batch& batch_;
    Order order_;
    Publisher& publisher_;
    OpenUnit& unit_;
    std::function<Status(int)> mismatch_;
    Clips clips_;
};

}  // namespace thalweg::detail
