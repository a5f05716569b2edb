// SPDX-License-Identifier: Apache-2.0
#include "service/inline/finish_write.hpp"

#include <functional>
#include <utility>

#include "base/clock.hpp"

namespace thalweg::detail {

namespace {

Status publish_records(Storage& storage, std::int64_t records, bool durable, bool closes) {
    Status status = alone([&] { return storage.set_records(records, durable); });
    if (status.ok()) status = alone([&] { return storage.catch_up(); });
    return status.ok() && closes ? alone([&] { return storage.close_early(); }) : status;
}

}  // namespace

Status finish_write(FileContext& file, Target& target, Status mine, const Status& misfit,
                    std::int64_t records, bool durable, bool closes) {
    Storage& storage = *target.storage;
    if (mine.ok() || storage.collective()) {
        Status complete = alone([&] { return storage.complete(); });
        if (mine.ok()) mine = std::move(complete);
    }
    if (durable) {  // Some drivers sync collectively, so a rank that failed must take part.
        Status synced = storage.sync();
        if (mine.ok()) mine = std::move(synced);
    }
    if (mine.ok() && closes) mine = alone([&] { return storage.close_early(); });
    std::int64_t words[2] = {mine.ok() ? 0 : 1, misfit.ok() ? 0 : 1};
    const auto count = [&](std::span<std::int64_t> all) {
        if (all[0] != 0) return;
        mine = publish_records(storage, records, durable, closes);
        all[0] = mine.ok() ? 0 : 1;
    };
    const bool counts = records != records_as_before;
    const bool by_keeper = counts && storage.keeper_counts();
    {
        Stopwatch watch(file.figures.wait);
        if (by_keeper)
            file.team.all_reduce(words, Reduce::max, target.writers.front(), std::ref(count));
        else
            file.team.all_reduce(words, Reduce::max);
    }
    if (words[0] != 0) return file.keep(agree(file.team.world(), mine));
    if (counts && !by_keeper)
        if (Status s = file.team.agree(publish_records(storage, records, durable, closes)); !s.ok())
            return file.keep(std::move(s));
    return words[1] != 0 ? agree(file.team.world(), misfit) : Status{};
}

}  // namespace thalweg::detail
