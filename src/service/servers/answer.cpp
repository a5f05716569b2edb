// SPDX-License-Identifier: Apache-2.0
#include "service/servers/answer.hpp"

#include <algorithm>
#include <utility>

namespace thalweg::detail {

void Answer::join(Answer other) {
    counts.add(other.counts);
    records = std::max(records, other.records);
    if (other.failed < failed) {
        status = std::move(other.status);
        failed = other.failed;
    }
    if (map.offset.empty()) map = std::move(other.map);
}

std::vector<char> Answer::bytes() const {
    WireWriter out;
    out(*this);
    return std::move(out.bytes);
}

Answer Answer::of(const std::vector<char>& bytes) { return value_in<Answer>(bytes); }

}  // namespace thalweg::detail
