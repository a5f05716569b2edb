// The expected contents of a file of random batches, in plain arrays.
//
// SPDX-License-Identifier: Apache-2.0
#ifndef THALWEG_TESTS_SYSTEM_BATCH_REFERENCE_HPP
#define THALWEG_TESTS_SYSTEM_BATCH_REFERENCE_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "batch_case.hpp"

namespace batches {

struct Reference {
    explicit Reference(const Case& c);

    std::int64_t records = 0;
    bool explicit_ = false;                   // some rank has named a record
    std::int64_t first = 0;                   // record of tw_put in step 0
    std::vector<std::vector<double>> values;  // by variable, record after record
};

/// Returns the operation with tw_put's current record filled in.
Op at_record(Op op, std::int64_t current);
/// Applies a step to the reference.
void apply(const Case& c, Reference& reference, std::size_t step, int ranks);
/// Compares a file, read by serial netCDF, with the reference; empty if they agree.
/// @param complete  false: fixed-size variables may lack elements that were not put yet
std::string difference(const Case& c, const Reference& reference, const std::string& path,
                       bool complete);

}  // namespace batches

#endif
