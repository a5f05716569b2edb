// The aggregation file of a series of files: it describes all of their data as single variables
// (CF 1.13, section 2.8).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "history/selection/part.hpp"
#include "history/selection/ranks.hpp"
#include "thalweg/thalweg.h"

namespace thalweg::history {

/// A complete file of a series, and the number of its records.
struct CompleteFile {
    std::string path;
    std::int64_t records = 0;
};

class Aggregation {
public:
    /// @param path   path of the aggregation file
    /// @param files  files in the order of time; not empty. All arguments must outlive this object
    Aggregation(const Ranks& ranks, const std::string& path, const std::vector<CompleteFile>& files)
        : check_(ranks), path_(path), files_(files) {}

    /// Returns the number of records of all files.
    std::int64_t records() const;
    /// Defines a variable without data of its own.
    /// @param dims   names of the dimensions; the file has those of the parts of the grid
    /// @param shape  their lengths
    /// @param along  the first dimension is that of the records; otherwise all files have the same
    ///               values, and those of the first file are taken
    Status define(tw_file file, const std::string& name, tw_type type, const Names& dims,
                  const std::vector<std::int64_t>& shape, bool along);
    /// Writes the variables that say which file has which part of the data.
    Status put(tw_file file);

private:
    /// Values of a variable that all ranks know.
    struct Values {
        tw_type type = TW_CHAR;
        std::vector<std::int64_t> numbers;
        std::string text;
    };
    void add(tw_file file, const std::string& name, const Names& dims, Values values);
    void add_paths(tw_file file, const std::string& name, std::size_t rank, std::size_t files);
    void add_dim(tw_file file, const std::string& name, std::size_t length);

    Checks check_;
    const std::string& path_;
    const std::vector<CompleteFile>& files_;
    std::map<std::string, Values> values_;
};

}  // namespace thalweg::history
