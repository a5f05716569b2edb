// Answers of servers to a command: each server joins those of the servers below it with its own.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <climits>
#include <cstdint>
#include <utility>

#include "base/status.hpp"
#include "base/wire.hpp"
#include "storage/storage.hpp"

namespace thalweg::detail {

struct Answer {
    Status status;             ///< error of the first server that has one
    int failed = INT_MAX;      ///< number of that server
    WriteCounts counts = {};   ///< sum over the servers
    std::int64_t records = 0;  ///< records of the file
    FileMap map = {};          ///< from the first server, if it has the file

    void join(Answer other) {
        counts.add(other.counts);
        records = std::max(records, other.records);
        if (other.failed < failed) {
            status = std::move(other.status);
            failed = other.failed;
        }
        if (map.offset.empty()) map = std::move(other.map);
    }
};

template <class Wire>
void carry(Wire& wire, Carried<Wire, Status> status) {
    auto& place = status.place;
    wire(status.code, status.text, place.file, place.variable, place.record, place.rank,
         place.system);
}

template <class Wire>
void carry(Wire& wire, Carried<Wire, Answer> answer) {
    wire(answer.status, answer.failed, answer.counts, answer.records, answer.map);
}

}  // namespace thalweg::detail
