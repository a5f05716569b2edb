// SPDX-License-Identifier: Apache-2.0
#include "service/inline/staged_parts.hpp"

#include <algorithm>
#include <utility>

#include "base/trace.hpp"
#include "exchange/pack/pack.hpp"

namespace thalweg::detail {

StagedParts::StagedParts(FileContext& file, Batch& batch, Order order, NodeCopies& copies)
    : file_(file),
      batch_(batch),
      order_(order),
      copies_(copies),
      copy_of_(file.definitions.variables.size(), nullptr) {}

/// Keeps the address of an array that is deferred, or a packed copy of its values.
/// @param copy  memory for the values; if null, receives newly taken memory
Status StagedParts::stage(const Part& part, bool deferred, bool borrowed, StagingMemory& memory,
                          char*& copy, WaitingPart& waiting) {
    const Variable& v = file_.variable(part.variable);
    const Holding& h = *part.holding;
    Fingerprint fingerprint;
    if (deferred) {
        if (!borrowed) fingerprint = Fingerprint(*h.decomposition, h.order, h.held, part.array);
    } else if (part.packed != nullptr) {
        copy = const_cast<char*>(part.packed);
    } else if (part.has_any()) {
        const std::int64_t bytes = h.elements * v.element();
        if (copy == nullptr) copy = memory.take(bytes);
        if (copy == nullptr)
            return file_.in_variable(
                failure(TW_ENOMEM, "out of memory: {} bytes for copies", bytes), part.variable);
        Span span("pack");
        span.variable(v.name).bytes(bytes);
        batch_.misfits[part.variable] += pack(file_.packers, v, order_, part, copy);
    }
    static_cast<Part&>(waiting) = part;
    waiting.packed = deferred || !part.has_any() ? nullptr : copy;
    waiting.deferred = deferred;
    waiting.fingerprint = std::move(fingerprint);
    return {};
}

Status StagedParts::add_put(const Part& part, bool deferred) {
    batch_.misfits[part.variable] = 0;
    WaitingPart waiting;
    if (Status s = stage(part, deferred, false, copies_.step, copy_of_[part.variable], waiting);
        !s.ok())
        return s;
    waiting.by_put = true;
    std::vector<WaitingPart>& parts =
        batch_.parts.try_emplace({part.variable, part.record}, 1).first->second;
    parts.resize(1);
    parts.front() = std::move(waiting);
    batch_[part.variable].put = true;
    return {};
}

/// Returns the bytes of the setting "staging" that a part uses, including its boxes' descriptions
/// in messages.
std::int64_t StagedParts::needed_for(const Part& part) const {
    constexpr std::int64_t description = 256;
    std::int64_t bytes = part.holding->elements * file_.variable(part.variable).element();
    for (const HeldBox& held : part.holding->packed)
        bytes += description + (held.list ? 16 * std::ssize(held.list->list->runs) : 0);
    return bytes;
}

/// Finds the waiting part that a new one replaces: an earlier put of the same record, by the same
/// decomposition. Null if there is none.
WaitingPart* StagedParts::replaced_by(const Part& part) {
    std::vector<WaitingPart>* const there = batch_.find({part.variable, part.record});
    const bool again = there != nullptr && there->size() == 1 && part.holding->key != 0 &&
                       there->front().holding->key == part.holding->key;
    return again ? &there->front() : nullptr;
}

Status StagedParts::check_room(const Part& part, std::int64_t records) {
    if (records == 1 && replaced_by(part) != nullptr) return {};
    const std::int64_t needed = needed_for(part), limit = file_.options.staging;
    if (needed == 0 || (limit - batch_.waiting) / needed >= records) return {};
    return file_.in_variable(too_much_put("staging", limit), part.variable);
}

Status StagedParts::add(const Part& part, bool deferred, bool borrowed) {
    WaitingPart* const old = replaced_by(part);
    WaitingPart made;
    char* copy = old != nullptr ? const_cast<char*>(old->packed) : nullptr;
    if (Status s = stage(part, deferred, borrowed, copies_.parts, copy, made); !s.ok()) return s;
    made.bytes = old != nullptr ? old->bytes : needed_for(part);
    if (old != nullptr) {
        *old = std::move(made);
        return {};
    }
    batch_.waiting += made.bytes;
    const Batch::Key key{part.variable, part.record};
    if (std::vector<WaitingPart>* const there = batch_.find(key); there != nullptr)
        there->push_back(std::move(made));
    else
        batch_.parts.try_emplace(key, 1).first->second.front() = std::move(made);
    return {};
}

Status StagedParts::pack_rest(const CollectiveWriter& collective, const Agreed& agreed, Ends ends,
                              std::vector<Part>& rest, std::int64_t& records) {
    for (auto& [key, parts] : batch_.parts) {
        const bool ended =
            parts.front().by_put ? ends_put(batch_, agreed, ends, key.first) : ends != Ends::put;
        if (!ended || collective.has(parts.front())) continue;
        for (WaitingPart& part : parts) {
            char* copy = nullptr;
            if (part.has_any() && part.packed == nullptr)
                if (Status s = stage(Part(part), false, false, copies_.parts, copy, part); !s.ok())
                    return s;
            if (batch_.is_record(part.variable) && ends != Ends::put)
                records = std::max(records, part.record + 1);
            if (part.has_any()) rest.push_back(part);
        }
    }
    return {};
}

void StagedParts::drop() {
    std::erase_if(batch_.parts, [](const auto& entry) { return !entry.second.front().by_put; });
    batch_.waiting = 0;
    copies_.parts.give_back();
}

}  // namespace thalweg::detail
