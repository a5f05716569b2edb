// What a file of random batches has to hold, in plain arrays.
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
    bool explicit_ = false;                   // some rank gave a record
    std::int64_t first = 0;                   // the record of tw_put in step 0
    std::vector<std::vector<double>> values;  // of each variable, record by record
};

/// tw_put writes the current record.
Op at_record(Op op, std::int64_t current);
/// What the file holds after a step.
void apply(const Case& c, Reference& reference, std::size_t step, int ranks);
/// Empty if a file is as the reference; read by serial netCDF-C.
/// @param complete  else fixed-size variables may lack what nobody has put yet
std::string difference(const Case& c, const Reference& reference, const std::string& path,
                       bool complete);

}  // namespace batches

#endif
