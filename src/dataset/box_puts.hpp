// Puts that say where they go: boxes of any variable and records, and records by any decomposition.
// Checked here, and handed to the file's service as parts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "service/service.hpp"

namespace thalweg::detail {

/// What tw_put_box is given; of all dimensions of the variable.
struct BoxToPut {
    int type = 0;
    const std::int64_t* start = nullptr;
    const std::int64_t* count = nullptr;
    const std::int64_t* stride = nullptr;  ///< null: all 1
    const void* data = nullptr;
    int ndims = -1;  ///< of start, count and stride; -1: as many as the variable has
};

/// What tw_put_record is given.
struct RecordToPut {
    std::shared_ptr<const Decomposition> decomposition;  ///< null: the whole, of rank 0
    std::int64_t record = 0;
    int type = 0;
    const void* data = nullptr;
    std::int64_t n = 0;    ///< elements of a dense array
    bool strided = false;  ///< else dense
    int rank = 0;          ///< of a strided one, as are the next ones
    const std::int64_t* extent = nullptr;
    const std::int64_t* byte_stride = nullptr;
};

class BoxPuts {
public:
    BoxPuts(FileContext& file, Batch& batch, Service& service)
        : file_(file), batch_(batch), service_(service) {}

    // Local.
    Status put_box(const std::string& name, const BoxToPut& box);
    Status put_record(const std::string& name, const RecordToPut& put);

private:
    /// How a decomposition that was not told at definition holds a variable.
    struct Placed {
        int variable = 0;
        std::shared_ptr<const Decomposition> decomposition;
        std::vector<int> order;
        std::vector<HeldBox> held;
    };

    Status begin_boxes(int variable, bool open, std::int64_t records,
                       std::span<const HeldBox> held);
    Status place(int variable, const std::shared_ptr<const Decomposition>& decomposition,
                 const Placed*& placed);
    void place_whole(const Decomposition& decomposition, Placed& placed) const;
    Status put_record_of(int variable, const RecordToPut& put);
    Status end_put(std::int64_t records);

    FileContext& file_;
    Batch& batch_;
    Service& service_;
    std::vector<Placed> placed_;  ///< the latest ones
};

}  // namespace thalweg::detail
