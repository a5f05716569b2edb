// SPDX-License-Identifier: Apache-2.0
#include "service/batch.hpp"

#include <utility>

namespace thalweg::detail {

Status too_much_put(const char* setting, std::int64_t bytes) {
    return failure(
        TW_ENOMEM,
        "this rank has put more in this step than setting {} allows ({} bytes): increase "
        "it, or call tw_end_step more often",
        setting, bytes);
}

Batch::Batch(const FileContext& file)
    : puts(file.definitions.variables.size()),
      misfits(file.definitions.variables.size(), 0),
      record(file.existing.first),
      file_(file) {}

std::vector<WaitingPart>* Batch::find(Key key) {
    const auto found = parts.find(key);
    return found == parts.end() ? nullptr : &found->second;
}

WaitingPart* Batch::find_put(int variable) {
    std::vector<WaitingPart>* const found = find({variable, record_of(variable)});
    return found != nullptr && found->front().by_put ? &found->front() : nullptr;
}

Status Batch::check_deferred(bool records) const {
    // A file that has failed reads no arrays, which may be gone.
    if (!file_.failed.ok()) return {};
    std::vector<SeenArray> all;
    for (const auto& [key, waiting_parts] : parts)
        for (const WaitingPart& p : waiting_parts)
            if (p.deferred && (records || !p.by_put || !is_record(p.variable)))
                all.push_back({&file_.variable(p.variable).name, &p.fingerprint});
    Status status = compare_fingerprints(std::move(all));
    if (!status.ok())
        reword(status, "{}: {} (rank {})", OfFile{file_.path}, status.text,
               OfRank{file_.team.rank()});
    return status;
}

Status Batch::keep_misfits(bool records) {
    Status status;
    for (std::size_t i = 0; i < misfits.size(); ++i) {
        const Variable& v = file_.definitions.variables[i];
        if (misfits[i] == 0 || (v.record && !records)) continue;
        if (status.ok())
            status = failure(TW_ERANGE,
                             "{}: {} values of variable '{}' do not fit type {}; fill values are "
                             "written instead (rank {})",
                             file_.path, misfits[i], OfVariable{v.name}, name_of(v.type),
                             OfRank{file_.team.rank()});
        misfits[i] = 0;
    }
    if (misfit_.ok()) misfit_ = status;
    return status;
}

Status Batch::first_misfit(bool records) {
    (void)keep_misfits(records);
    return std::exchange(misfit_, {});
}

bool Batch::step_is_open(const Agreed& agreed) const {
    bool open = agreed.any_record;
    for (std::size_t i = 0; i < puts.size(); ++i) open |= puts[i].written && is_record(i);
    return open;
}

void Batch::forget_puts(bool records) {
    for (std::size_t i = 0; i < puts.size(); ++i) {
        if (records || !is_record(i)) puts[i].put = puts[i].written = false;
        puts[i].boxed = false;
    }
    std::erase_if(parts, [&](const auto& entry) {
        return entry.second.front().by_put && (records || !is_record(entry.first.first));
    });
}

}  // namespace thalweg::detail
