// The expected contents of a file of random batches, in plain arrays.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "batch_case.hpp"

namespace batches {

struct Reference {
    explicit Reference(const Case& c);

    std::int64_t records = 0;
    bool explicit_ = false;                   // some rank has put a record by its number
    std::int64_t first = 0;                   // record that tw_put writes in step 0
    std::vector<std::vector<double>> values;  // values of each variable, one record after another
};

/// Returns the operation with the record that tw_put writes at present.
Op at_record(Op op, std::int64_t current);
/// Applies a step to the reference.
void apply(const Case& c, Reference& reference, std::size_t step, int ranks);
/// Writes the file by serial netCDF.
void write_by_netcdf(const std::string& path, const Case& c, const Reference& reference);
/// Compares a file, which serial netCDF reads, with the reference. Returns "" if they agree.
/// @param complete false: elements of fixed-size variables that were not put yet may be missing
std::string difference(const Case& c, const Reference& reference, const std::string& path,
                       bool complete);

}  // namespace batches
