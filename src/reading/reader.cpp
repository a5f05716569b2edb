// SPDX-License-Identifier: Apache-2.0
#include "reading/reader.hpp"

#include <utility>

#include "base/clock.hpp"
#include "layout/writers.hpp"
#include "publish/check_set.hpp"
#include "storage/posix/file_system.hpp"

namespace thalweg::detail {

Reader::Reader(Team& team, SessionResources& session, std::string path, int serial,
               FileOptions options)
    : file_{team, session, std::move(path), serial, std::move(options)},
      plans_(file_),
      read_caches_(file_) {}

/// Chooses the readers. One rank asks the file system, so that all choose alike.
/// @param mine  this rank's own failure so far
Status Reader::choose_readers(const Status& mine) {
    Team& team = file_.team;
    const bool parallel =
        team.rank() == 0 && file_system_at(file_.path).sharing == Sharing::parallel;
    std::int64_t words[] = {mine.ok() ? 0 : 1, parallel ? 1 : 0};
    team.all_reduce(words, Reduce::max);
    if (words[0] != 0) return agree(team.world(), mine);
    std::string& readers = file_.options.readers;
    if (readers == "auto") readers = words[1] != 0 ? "4/node" : std::to_string(team.size());
    return pick_writers(team.topology(), parse_writers(readers), true, file_.readers);
}

Status Reader::open() {
    Stopwatch watch(file_.figures.open);
    Status status;
    file_.arena = file_.session.arena(status);
    if (status = choose_readers(status); !status.ok()) return status;
    file_.source = open_source(file_.team.world(), file_.path, file_.reads(), status);
    if (status.ok())
        status =
            check_set(file_.team.world(), *file_.source, file_.path, file_.options.common_records);
    if (!status.ok()) return status;
    const double readers = file_.readers.size();
    file_.source->limit(file_.options.bandwidth / readers);
    file_.figures.format = name_of(file_.source->contents().format);
    file_.figures.readers = file_.readers.size();
    return file_.options.read_ahead ? read_caches_.make() : status;
}

/// Reads the requests of all ranks.
/// @param mine  this rank's own error so far
Status Reader::perform(Call call, std::span<const ReadRequest> requests, Status mine) {
    ReadTask task;
    if (mine.ok())
        mine = catch_errors([&] {
            task = plans_.prepare(requests, read_caches_.read_cache() != nullptr);
            plans_.add_deliveries(requests, task);
        });
    if (Status status = agree_on(file_, call, requests, mine); !status.ok() || requests.empty())
        return status;
    Stopwatch watch(file_.figures.read);
    ++file_.figures.reads;
    ReadPlans::Plan& plan = plans_.plan_for(task);
    Status status = plans_.take(plan, task, read_caches_.read_cache());
    task.count_misfits();
    for (std::size_t i = 0; i < requests.size() && status.ok(); ++i)
        if (task.misfits[i] > 0)
            status = file_.with_place(failure(TW_ERANGE, "{} values are out of range for type {}",
                                              task.misfits[i], name_of(requests[i].view.type)),
                                      requests[i].variable);
    status = file_.team.agree(status);
    if (plan.scatter)
        read_caches_.look_ahead(task.selection.sources, *plan.scatter,
                                status.ok() || status.code == TW_ERANGE);
    return status;
}

Status Reader::get(const GetArguments& arguments) {
    ReadRequest request;
    Status mine = catch_errors([&] { return check_arguments(file_, arguments, request); });
    return perform(Call::get, {&request, 1}, std::move(mine));
}

Status Reader::get_deferred(const GetArguments& arguments) {
    return catch_errors([&]() -> Status {
        ReadRequest request;
        if (Status status = check_arguments(file_, arguments, request); !status.ok()) return status;
        const Variable& v = file_.variable(request.variable);
        const Decomposition& d = *request.decomposition;
        request.fingerprint =
            Fingerprint(d, request.order, held_by(d, request.order, v.shape), request.view);
        deferred_.push_back(std::move(request));
        return {};
    });
}

Status Reader::get_box(const GetBoxArguments& arguments) {
    return read_box(file_, read_caches_, arguments);
}

/// Reads the deferred requests. Requests that prefetch() was called for together must also be read
/// together.
Status Reader::read(const Status& mine) {
    const std::vector<ReadRequest> requests = std::exchange(deferred_, {});
    const std::vector<std::size_t> ends = std::exchange(prefetched_, {});
    const Status usable = mine.ok() ? check_deferred(file_, requests) : mine;
    Status result;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= ends.size(); ++i) {
        const std::size_t end = i < ends.size() ? ends[i] : requests.size();
        Status status =
            perform(Call::read, std::span(requests).subspan(begin, end - begin), usable);
        begin = end;
        const bool goes_on = status.ok() || status.code == TW_ERANGE;
        if (result.ok()) result = std::move(status);
        if (!goes_on) break;
    }
    return result;
}

Status Reader::prefetch() {
    const std::size_t begin = prefetched_.empty() ? 0 : prefetched_.back();
    const auto requests = std::span<const ReadRequest>(deferred_).subspan(begin);
    ReadTask task;
    Status status = catch_errors([&] { task = plans_.prepare(requests, true); });
    status = agree_on(file_, Call::prefetch, requests, status);
    if (!status.ok() || requests.empty()) return status;
    if (status = read_caches_.make(); !status.ok()) return status;
    const Scatter* scatter = plans_.scatter_of(plans_.plan_for(task), task, status);
    if (scatter == nullptr) return status;
    prefetched_.push_back(deferred_.size());
    read_caches_.expect(task.selection.sources, *scatter, true, false);
    return {};
}

Status Reader::sync() {
    Status status = agree_on(file_, Call::sync, {}, {});
    return status.ok() ? refresh() : status;
}

Status Reader::refresh() {
    const auto pause = read_caches_.pause();
    Status status = file_.source->refresh(file_.team.world());
    read_caches_.read_again();
    return status;
}

Status Reader::close() {
    Status status = file_.source ? agree_on(file_, Call::close, {}, {}) : Status{};
    if (!file_.session.call_agreement().gave_up()) leave();
    return status;
}

void Reader::leave() {
    file_.figures = figures();
    read_caches_.end();
    plans_.clear();
    file_.source.reset();
}

ReadFigures Reader::figures() {
    ReadFigures f = file_.figures;
    f.path = file_.path;
    if (!file_.source) return f;
    plans_.add_to(f);
    const auto pause = read_caches_.pause();
    f.calls = file_.source->counts().calls;
    f.bytes = file_.source->counts().bytes;
    f.file = file_.source->counts().seconds;
    read_caches_.add_to(f);
    return f;
}

}  // namespace thalweg::detail
