// SPDX-License-Identifier: Apache-2.0
#include "service/batch.hpp"

#include <utility>

namespace thalweg::detail {

Status too_much_put(const FileContext& file, const Variable& variable, const char* setting,
                    std::int64_t bytes) {
    return failure(TW_ENOMEM,
                   "{}: variable '{}': this rank has put more in this step than setting {} allows "
                   "({} bytes): increase it, or call tw_end_step more often (rank {})",
                   file.path, variable.name, setting, bytes, file.team.rank());
}

Batch::Batch(const FileContext& file)
    : parts(file.definitions.variables.size()),
      misfits(file.definitions.variables.size(), 0),
      record(file.existing.first),
      file_(file) {}

Status Batch::check_deferred(bool records) const {
    return alone([&]() -> Status {
        std::vector<Glimpsed> all;
        for (std::size_t i = 0; i < parts.size(); ++i)
            if (parts[i].deferred() && (records || !is_record(i)))
                all.push_back({&file_.definitions.variables[i].name, &parts[i].glimpse});
        for (const RecordPart& p : staged)
            if (p.deferred) all.push_back({&file_.variable(p.placed->variable).name, &p.glimpse});
        Status status = compare_glimpses(std::move(all));
        if (!status.ok())
            status.text =
                fmt::format("{}: {} (rank {})", file_.path, status.text, file_.team.rank());
        return status;
    });
}

Status Batch::take_misfits(bool records) {
    Status status;
    for (std::size_t i = 0; i < misfits.size(); ++i) {
        const Variable& v = file_.definitions.variables[i];
        if (misfits[i] == 0 || (v.record && !records)) continue;
        const auto told = [&] {
            return failure(TW_ERANGE,
                           "{}: {} values of variable '{}' do not fit type {}; fill values are "
                           "written instead (rank {})",
                           file_.path, misfits[i], v.name, name_of(v.type), file_.team.rank());
        };
        if (status.ok()) status = alone(told);
        misfits[i] = 0;
    }
    return status;
}

bool Batch::step_is_open(const Agreed& agreed) const {
    bool open = agreed.any_record;
    for (std::size_t i = 0; i < parts.size(); ++i) open |= parts[i].written && is_record(i);
    return open;
}

void Batch::forget(bool records) {
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (records || !is_record(i)) {
            parts[i].put = parts[i].written = false;
            parts[i].view = {};
        }
}

}  // namespace thalweg::detail
