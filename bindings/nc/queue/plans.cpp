// SPDX-License-Identifier: Apache-2.0
#include "nc/queue/plans.hpp"

#include <algorithm>

#include "nc/base/hash.hpp"

namespace thalweg::nc {

Plans::Own Plans::find(const Session& session, const Table& table,
                       const std::vector<Entry>& entries) const {
    const auto has_record = [&](const Entry& e) {
        return !e.empty && table.is_record(table.variables[static_cast<std::size_t>(e.varid)]);
    };
    Own own;
    for (const Entry& e : entries)
        if (has_record(e)) own.first = std::min(own.first, e.start[0]);
    Shape numbers;
    for (const Entry& e : entries) {
        numbers.push_back(4 * Index{e.varid} + (e.collective ? 2 : 0) + (e.empty ? 1 : 0));
        numbers.push_back(e.round);
        if (e.empty) continue;
        const std::size_t at = numbers.size();
        numbers.insert(numbers.end(), e.start.begin(), e.start.end());
        if (has_record(e)) numbers[at] -= own.first;
        numbers.insert(numbers.end(), e.count.begin(), e.count.end());
        numbers.insert(numbers.end(), e.stride.begin(), e.stride.end());
        if (e.pieces == nullptr) continue;
        numbers.push_back(static_cast<Index>(e.pieces->key.first));
        numbers.push_back(static_cast<Index>(e.pieces->key.second));
    }
    own.key = hash_of(numbers, entries.size());
    for (std::size_t i = plans_.size(); i-- > 0 && own.plan < 0;)
        if (plans_[i].key == own.key && plans_[i].decompositions == session.decompositions_freed)
            own.plan = static_cast<Index>(i);
    return own;
}

void Plans::repeat(Index plan, Index first, Batch& batch) const {
    const Plan& p = plans_[static_cast<std::size_t>(plan)];
    batch = p.batch;
    if (p.first != no_record && first != no_record)
        for (PutCall& call : batch.calls) call.record += first - p.first;
}

void Plans::keep(const Session& session, const Own& own, Index first, const Batch& batch) {
    if (plans_.size() == most) plans_.clear();
    plans_.push_back({own.key, batch, first, session.decompositions_freed});
}

}  // namespace thalweg::nc
