// A stream: variables with the same windows, and the files of their records.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "history/output.hpp"

namespace thalweg::history {

class Stream {
public:
    Stream(FileContext& context, const StreamTable& table);
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    const StreamTable& table() const { return table_; }
    const WindowRules& rules() const { return rules_; }
    std::vector<std::unique_ptr<Variable>>& variables() { return variables_; }
    std::vector<std::unique_ptr<Output>>& outputs() { return outputs_; }
    /// Makes the series of files, when all variables are there.
    /// @param coordinates  returns those of a file with these variables
    void make_outputs(
        const std::function<std::vector<WrittenCoordinate>(const std::vector<Variable*>&)>&
            coordinates);

    /// Finds the use of a step, without any effect. @return TW_OK, TW_EARG
    Status plan_step(std::optional<Time> previous, Time now);
    /// Begins at a time at which the history has gone on without it, between two steps.
    void begin_at(Time time);
    /// Returns that time.
    std::optional<Time> late_begin() const { return late_begin_; }
    /// Begins the step that was planned.
    void begin_step();
    const Step& step() const { return steps_.front(); }
    /// Tests if a record is due at the end of the step.
    bool is_due() const { return step().before || step().ends; }

private:
    FileContext& context_;
    const StreamTable& table_;
    WindowRules rules_;
    std::vector<std::unique_ptr<Variable>> variables_;
    std::vector<std::unique_ptr<Output>> outputs_;
    std::vector<Step> steps_;  ///< the stream's, and one of each variable with inner windows
    std::optional<Time> late_begin_;
    bool warned_ = false;
};

}  // namespace thalweg::history
