// Puts that name their place in the file: sections of any variable, and records by any
// decomposition. Checks them, and passes them to the service of the file as parts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "service/service.hpp"

namespace thalweg::detail {

/// The arguments of tw_put_box, for all dimensions of the variable.
struct BoxToPut {
    int type = 0;
    const std::int64_t* start = nullptr;
    const std::int64_t* count = nullptr;
    const std::int64_t* stride = nullptr;  ///< stride of each dimension; null: 1
    const void* data = nullptr;
    bool alone = false;   ///< write at once, without the other ranks, or not at all
    bool packed = false;  ///< the values are in packed form, and stay until they are written
};

/// The arguments of tw_put_record.
struct RecordToPut {
    /// Decomposition of the array; null: rank 0 puts the whole record.
    std::shared_ptr<const Decomposition> decomposition;
    std::int64_t record = 0;
    tw_array array{};
    bool deferred = false;  ///< the array will not change before it is written
    bool borrowed = false;  ///< deferred, and not checked for changes
    bool packed = false;    ///< the array is in packed form, and stays until it is written
};

/// Returns the error for a missing array.
Status data_missing();

class PartPuts {
public:
    PartPuts(FileContext& file, Batch& batch, Service& service)
        : file_(file), batch_(batch), service_(service) {}

    // Puts a section of a variable. Local.
    Status put_box(const std::string& name, const BoxToPut& box);
    Status put_record(const std::string& name, const RecordToPut& put);

private:
    Status find_holding(int variable, const std::shared_ptr<const Decomposition>& decomposition,
                        std::shared_ptr<const Holding>& holding);
    std::shared_ptr<const Holding> find_whole(int variable, int holder);
    Status put_record_of(int variable, const RecordToPut& put);
    Status put_parts(PartsToPut& puts);

    FileContext& file_;
    Batch& batch_;
    Service& service_;
    /// Most recent holdings for decompositions that the variable's definition does not name.
    Holdings known_;
    std::vector<std::pair<int, std::shared_ptr<const Holding>>>
        wholes_;  ///< holdings of whole variables that were used last
};

}  // namespace thalweg::detail
