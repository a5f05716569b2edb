// The state that the parts of a reader share: the file, the readers, and the way of reading.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/team.hpp"
#include "exchange/write/write_pipeline.hpp"
#include "service/file_options.hpp"
#include "storage/source.hpp"
#include "telemetry/telemetry.hpp"

namespace thalweg::detail {

/// Number of bytes per rank that are still in a cache when the model uses them after a read.
constexpr std::int64_t bytes_in_cache = std::int64_t(8) << 20;

struct ReadContext {
    Team& team;
    SessionResources& session;
    std::string path;
    int serial;  ///< number of the file in its session, the same on every rank
    FileOptions options;
    std::vector<int> readers{};  ///< ranks
    std::unique_ptr<Source> source{};
    Memory* arena = nullptr;
    ReadFigures figures{};

    const Variable& variable(int number) const { return source->definitions().variables[number]; }
    /// Tests if this rank is a reader.
    bool reads() const;
    /// Finds a variable's number. @return TW_OK, TW_ENOTFOUND
    Status find(const std::string& name, int& variable) const;
    /// Checks that a variable can be read into an array of this type.
    Status check_type(int variable, int type) const;
    /// Returns the type to use for an array. As in writing, values of type byte in CDF-1 and CDF-2
    /// can be interpreted as signed or unsigned.
    tw_type type_of_array(int variable, int type) const;
    /// Adds the file, the variable and the rank to an error.
    Status with_place(Status status, int variable) const;

    StreamOptions stream_options() const;
    /// Returns the size in bytes of a contiguous run from which on a rank reads its runs itself,
    /// without an exchange.
    std::int64_t shortest_run() const;
    /// Returns a buffer for data that a rank reads without an exchange.
    std::span<char> straight_buffer();

    std::vector<char> buffer{};  ///< see straight_buffer()
};

/// Makes a place of a box of elements.
VariableSlot place_of(const Box& box, std::int64_t element, std::int64_t grain);

void add(ReadFigures& figures, const StreamCounts& counts);

}  // namespace thalweg::detail
