// Puts that say where they go: boxes of any variable and records, and records by any decomposition.
// Checked here, and handed to the file's service as parts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dataset/array_to_put.hpp"
#include "dataset/section_to_put.hpp"
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
    ArrayToPut array;
};

class BoxPuts {
public:
    BoxPuts(FileContext& file, Batch& batch, Service& service)
        : file_(file), batch_(batch), service_(service) {}

    // Local.
    Status put_box(const std::string& name, const BoxToPut& box);
    Status put_record(const std::string& name, const RecordToPut& put);

private:
    Status check_open(int variable, bool open) const;
    void begin_boxes(int variable, bool open);
    Status place(int variable, const std::shared_ptr<const Decomposition>& decomposition,
                 std::shared_ptr<const Placed>& placed);
    std::shared_ptr<const Placed> place_whole(int variable, int holder);
    void keep(std::shared_ptr<const Placed> placed);
    bool is_whole(int variable, const SectionToPut& section) const;
    Status put_record_of(int variable, const RecordToPut& put);
    Status put_whole_box(int variable, const SectionToPut& section, const BoxToPut& put);
    Status put_placed(RecordPut put);
    Status end_put(std::int64_t records);

    FileContext& file_;
    Batch& batch_;
    Service& service_;
    std::vector<std::shared_ptr<const Placed>> placed_;  ///< the latest ones
};

}  // namespace thalweg::detail
