// SPDX-License-Identifier: Apache-2.0
#include "service/servers/answer.hpp"

#include <algorithm>
#include <utility>

#include "base/wire.hpp"
#include "service/servers/file_description.hpp"

namespace thalweg::detail {

void Answer::join(Answer other) {
    counts.add(other.counts);
    records = std::max(records, other.records);
    if (other.failed < failed) {
        status = std::move(other.status);
        failed = other.failed;
    }
    if (map.empty()) map = std::move(other.map);
}

std::vector<char> Answer::bytes() const {
    WireWriter out;
    put_status(out, status);
    out.put(failed);
    out.put(counts);
    out.put(records);
    out.put(map);
    return std::move(out.bytes);
}

Answer Answer::of(const std::vector<char>& bytes) {
    WireReader in(bytes);
    Answer answer;
    answer.status = get_status(in);
    answer.failed = in.get<int>();
    answer.counts = in.get<WriteCounts>();
    answer.records = in.get<std::int64_t>();
    answer.map = in.get_many<std::vector<std::int64_t>>();
    return answer;
}

bool Answers::take(Answer answer) {
    together_.join(std::move(answer));
    return --missing_ == 0;
}

}  // namespace thalweg::detail
