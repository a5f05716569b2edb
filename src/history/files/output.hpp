// The files of a stream, one after another.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "history/files/aggregation.hpp"
#include "history/files/samples.hpp"
#include "history/selection/ranks.hpp"

namespace thalweg::history {

struct FileContext {
    Ranks* ranks = nullptr;
    const Table* table = nullptr;
    RunTimes run;
    std::string settings;           ///< settings for tw_create of all files
    std::set<std::string> paths{};  ///< paths of the files begun so far
    std::int64_t uses = 0;          ///< number of times that a file was used
    std::int64_t opened = 0;        ///< number of open files
    std::int64_t max_open = 0;      ///< number of files that may be open at once
    /// Seconds since 1970 and two random numbers of the files' UUIDs, the same on every rank.
    std::array<std::int64_t, 3> stamp{};
    /// Hashes of coordinates with the numbers of regions, or with areas; the same on every rank.
    std::map<std::string, std::int64_t> hashes{};

    std::string text(Time time) const { return date_text(run.calendar, time); }
};

/// A coordinate, or those of its elements that a stream takes.
struct WrittenCoordinate {
    const Coordinate* about = nullptr;
    Names dims;                    ///< names in the file
    const Taken* taken = nullptr;  ///< elements
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

/// The contents of each file of a series.
struct FileContents {
    FileContext& context;
    const StreamTable& stream;
    const WindowRules& rules;
    std::vector<Variable*> variables;  ///< they belong to the stream
    std::vector<WrittenCoordinate> coordinates;
    bool timeless() const { return rules.every == Every::once; }
};

class Output : public FileContents {
public:
    explicit Output(FileContents contents);
    /// Checks that the names in a file are valid, and that each has one meaning. Local.
    Status check_names() const;
    /// Opens the file to which a record belongs, unless it is open. @note Collective
    Status prepare(const Window& record);
    /// Puts the values of a variable of the record, which stay until end_record(). Local.
    Status put(const Variable& variable, const void* values);
    /// Completes a record of a window; closes the file if no more records belong to it.
    /// @note Collective
    Status end_record(const Window& window, const WindowPart& record);
    /// @note Collective
    Status sync();
    /// @param again  more records will be appended later, unless this fails
    /// @note Collective
    Status close(bool again);
    bool is_open() const { return file_ != nullptr; }
    /// Tests if values that were put may wait in the file, because a step did not end.
    bool values_wait() const { return file_ != nullptr && values_wait_; }
    std::int64_t last_use() const { return used_; }

    const OutputState& state() const { return state_; }
    /// Continues the series of files from a restart. @note Collective
    Status resume(const OutputState& state);

private:
    std::int64_t period_of(const Window& record) const;
    std::string path_of(const std::string& pattern, const Window& record) const;
    bool full(const Window& record) const;
    Status create();
    Status create(const std::string& path, const std::string& settings, Aggregation* aggregation,
                  tw_file& file) const;
    Status append();
    Status recover();
    Status aggregate();
    Status check(tw_status code) const { return context.ranks->status(code); }

    std::optional<Boundaries> periods_;
    OutputState state_;
    tw_file file_ = nullptr;
    bool values_wait_ = false;
    Status failed_;  ///< error of a close before the file was complete
    std::int64_t used_ = 0;
};

/// Defines the variables and attributes of a file.
/// @param aggregation  the files that this file aggregates; null: it has data of its own
Status define_file(tw_file file, const FileContents& contents, const std::string& path,
                   Aggregation* aggregation = nullptr);

/// Returns the coordinates that a file of these variables needs.
/// @param others  names of coordinates that the file has in any case
std::vector<const Coordinate*> needed_coordinates(const Coordinates& declared,
                                                  const std::vector<Variable*>& variables,
                                                  const std::set<std::string>& others);

/// Returns the words of the attributes formula_terms of the coordinates that a field needs.
Names formula_terms(const Coordinates& declared, const Names& dims, const Attributes& attributes);

/// Checks the settings of a variable before a file exists, and sets its packing.
/// @param dims, part  dimensions and part of the variable in its file
/// @return TW_OK, TW_ESETTING
Status choose_packing(const Table& table, const StreamTable& stream, const Names& dims,
                      const Part& part, Variable& variable);

using FindCoordinates =
    std::function<std::vector<WrittenCoordinate>(const std::vector<Variable*>&)>;

class OutputStream {
public:
    OutputStream(FileContext& context, const StreamTable& table, const ResolvedStream& resolved);
    OutputStream(const OutputStream&) = delete;
    OutputStream& operator=(const OutputStream&) = delete;

    const StreamTable& table() const { return table_; }
    const WindowRules& rules() const { return rules_; }
    std::vector<std::unique_ptr<Variable>>& variables() { return variables_; }
    std::vector<std::unique_ptr<Output>>& outputs() { return outputs_; }
    /// Notes that ranks meet in each step whose samples the stream takes, to reduce these.
    void set_reduces_samples() { reduces_samples_ = true; }
    /// Makes the series of files. Call it when all variables have been added.
    /// @param coordinates  function that returns the coordinates of a file with the given variables
    void make_outputs(const FindCoordinates& coordinates);

    /// Determines how a step's samples will be used, without changing anything.
    /// @return TW_OK, TW_EARG
    Status plan_step(std::optional<Time> previous, Time now);
    /// Begins the stream at a time between two steps, after a restart.
    void begin_at(Time time);
    void change_windows(const WindowRules::Change& change);
    std::optional<Time> late_begin() const { return late_begin_; }
    void begin_step();
    const Step& step() const { return steps_.front(); }
    /// Tests if ranks meet in the step that was planned, to reduce its samples.
    bool meets() const { return reduces_samples_ && std::ranges::any_of(steps_, &Step::used); }

private:
    FileContext& context_;
    const StreamTable& table_;
    WindowRules rules_;
    std::vector<std::unique_ptr<Variable>> variables_;
    std::vector<std::unique_ptr<Output>> outputs_;
    /// Use of the step by the stream, and by each variable with inner windows.
    std::vector<Step> steps_;
    std::optional<Time> late_begin_;
    bool warned_ = false, reduces_samples_ = false;
};

using Streams = std::vector<std::unique_ptr<OutputStream>>;
std::vector<Variable*> variables_of(const Streams& streams);
std::vector<Output*> outputs_of(const Streams& streams);

}  // namespace thalweg::history
