// The files of a stream, one after another.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "history/files/aggregation.hpp"
#include "history/files/variable.hpp"
#include "history/selection/ranks.hpp"

namespace thalweg::history {

/// Data that all files of a history share.
struct FileContext {
    Ranks* ranks = nullptr;
    const Table* table = nullptr;
    RunTimes run;
    std::string settings;         ///< settings for tw_create of all files
    std::set<std::string> paths;  ///< paths of the files begun so far
    std::int64_t uses = 0;        ///< number of times that a file was used
    std::int64_t opened = 0;      ///< number of open files
    std::int64_t max_open = 0;    ///< number of files that may be open at once
    /// Seconds since 1970 and two random numbers, the same on every rank, from which the files'
    /// UUIDs are made.
    std::array<std::int64_t, 3> stamp{};
    /// Hashes of coordinates with the numbers of regions, or with areas; the same on every rank.
    std::map<std::string, std::int64_t> hashes;
};

/// A coordinate, or those of its elements that a stream takes.
struct WrittenCoordinate {
    const Coordinate* about = nullptr;
    std::vector<std::string> dims;  ///< names in the file
    const Taken* taken = nullptr;   ///< elements
    std::shared_ptr<const std::vector<char>> data;
};

/// The state of a series of files, which a restart keeps.
struct OutputState {
    std::string path;          ///< path of the incomplete file; empty: there is none
    std::int64_t period = 0;   ///< number of the file's period
    std::int64_t records = 0;  ///< number of records in the file
    std::string complete;      ///< path of the last complete file, which is never written again
    /// All complete files, for a stream with an aggregation file.
    std::vector<CompleteFile> aggregated;
};

class Output {
public:
    /// @param variables  variables of one file; they belong to the stream
    Output(FileContext& context, const StreamTable& stream, const WindowRules& rules,
           std::vector<Variable*> variables, std::vector<WrittenCoordinate> coordinates);

    const std::vector<Variable*>& variables() const { return variables_; }
    /// Checks that the names in a file are valid, and that each has one meaning. Local.
    Status check_names() const;
    /// Opens the file to which a record belongs, unless it is open.
    /// @note Collective
    Status prepare(const Window& record);
    /// Puts the values of a variable of the record, which stay until end_record(). Local.
    Status put(const Variable& variable, const void* values);
    /// Completes a record of a window; closes the file if no more records belong to it.
    /// @note Collective
    Status end_record(const Window& window, const WindowPart& record);
    /// Makes the records safe on the disk.
    /// @note Collective
    Status sync();
    /// Closes the file.
    /// @param again  more records will be appended later, unless this fails
    /// @note Collective
    Status close(bool again);
    bool is_open() const { return file_ != nullptr; }
    /// Tests if values that were put may wait in the file, because a step did not end.
    bool values_wait() const { return file_ != nullptr && values_wait_; }
    std::int64_t last_use() const { return used_; }

    const OutputState& state() const { return state_; }
    /// Continues the series of files from a restart.
    /// @note Collective
    Status resume(const OutputState& state);

private:
    std::int64_t period_of(const Window& record) const;
    std::string path_of(const std::string& pattern, const Window& record) const;
    bool full(const Window& record) const;
    Status create();
    Status append();
    Status recover();
    Status put_coordinates(tw_file file, bool small);
    Status aggregate();
    Status check(tw_status code) const { return context_.ranks->status(code); }
    bool timeless() const { return rules_.every == Every::once; }

    FileContext& context_;
    const StreamTable& stream_;
    const WindowRules& rules_;
    std::vector<Variable*> variables_;
    std::vector<WrittenCoordinate> coordinates_;
    std::optional<Boundaries> periods_;
    OutputState state_;
    tw_file file_ = nullptr;
    bool values_wait_ = false;
    Status failed_;  ///< error of a close before the file was complete
    std::int64_t used_ = 0;
};

/// Defines the variables and attributes of a file.
/// @param aggregation  the files that this file aggregates; null: it has data of its own
Status define_file(tw_file file, const FileContext& context, const StreamTable& stream,
                   const WindowRules& rules, const std::vector<Variable*>& variables,
                   const std::vector<WrittenCoordinate>& coordinates, const std::string& path,
                   Aggregation* aggregation = nullptr);

/// Returns the coordinates that a file of these variables needs.
/// @param others  names of coordinates that the file has in any case
std::vector<const Coordinate*> needed_coordinates(const std::map<std::string, Coordinate>& declared,
                                                  const std::vector<Variable*>& variables,
                                                  const std::set<std::string>& others);

/// Returns the words of the attributes formula_terms of the coordinates that a field needs.
std::vector<std::string> formula_terms(const std::map<std::string, Coordinate>& declared,
                                       const std::vector<std::string>& dims,
                                       const std::vector<Attribute>& attributes);

/// Returns the attributes of a variable of a stream.
std::vector<Attribute> variable_attributes(const FileContext& context, const StreamTable& stream,
                                           const Variable& variable);
/// Returns the attributes of the time coordinate.
/// @param bounds  attribute that names its bounds; empty: there are none
std::vector<Attribute> time_attributes(const FileContext& context, const std::string& bounds);
/// Returns the attributes of a file.
/// @param quantized  some of its variables are quantized
/// @param series  its variables are time series at stations
std::vector<Attribute> file_attributes(const FileContext& context, const StreamTable& stream,
                                       const std::string& path, bool quantized, bool series);

/// Returns the settings of a variable, for tw_set_var.
std::string variable_settings(const Variable& variable);
/// Checks the settings of a variable before a file exists, and sets its packing.
/// @param files       settings of the stream's files
/// @param dims, part  dimensions and part of the variable in its file
/// @return TW_OK, TW_ESETTING
Status choose_packing(const FileContext& context, const std::string& files,
                      const std::vector<std::string>& dims, const Part& part, Variable& variable);

}  // namespace thalweg::history
