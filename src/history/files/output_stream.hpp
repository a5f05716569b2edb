// A stream: variables with the same windows, and the files of their records.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "history/files/output.hpp"

namespace thalweg::history {

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
    void make_outputs(
        const std::function<std::vector<WrittenCoordinate>(const std::vector<Variable*>&)>&
            coordinates);

    /// Determines how a step's samples will be used, without changing anything.
    /// @return TW_OK, TW_EARG
    Status plan_step(std::optional<Time> previous, Time now);
    /// Begins the stream at a time between two steps of a history that is running already (after a
    /// restart).
    void begin_at(Time time);
    /// Notes that the windows changed between two steps.
    void change_windows(const WindowRules::Change& change);
    /// Returns the time of begin_at().
    std::optional<Time> late_begin() const { return late_begin_; }
    /// Begins the step that was planned.
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
