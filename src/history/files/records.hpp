// The records of a history: the ranks agree on their samples, then write them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "history/files/output.hpp"

namespace thalweg::history {

/// A record that is due.
struct Due {
    OutputStream* stream;
    Window window;
    Samples::Number number = {};  ///< number of the window, if it ended before the step
};

/// A variable of a record that is due.
struct DueVariable {
    const Due& due;
    Variable& variable;
};

/// Drops records that are due, so that the next windows begin.
void drop_records(const std::vector<Due>& due);

class Records {
public:
    Records(const FileContext& context, Streams& streams) : context_(context), streams_(streams) {}

    /// @param now  time of the step @note Collective
    Status write(const std::vector<Due>& due, Time now);
    /// Closes the file that has been unused for longest, while as many are open as may be.
    /// @note Collective
    Status limit_open();

private:
    Status check_samples(const std::vector<Due>& due, Time now);
    Status find_differences(const std::vector<DueVariable>& variables,
                            std::span<const std::int64_t> fields);
    Status check_unsent(const std::vector<DueVariable>& variables,
                        std::span<const std::int64_t> fields, Time now);
    void warn_unsent(const Due& due, const Variable& variable);
    Status write_records(const std::vector<Due>& due);
    Status write_window(const Due& due);
    Status write_record(const Due& due, const WindowPart& part);

    const FileContext& context_;
    Streams& streams_;
    std::set<std::string> warned_;  ///< streams and fields of which a warning told: not sent
    std::set<std::pair<const Variable*, Samples::Number>> sent_in_record_;  ///< with Due::number
    std::set<std::pair<const Due*, int>> wanted_bins_;  ///< bins with samples that a rank wanted
};

}  // namespace thalweg::history
