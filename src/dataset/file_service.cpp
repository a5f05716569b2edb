// A file whose work is done behind the model: puts go to the queue, steps are published.
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>
#include <new>

#include "comm/clock.hpp"
#include "comm/log.hpp"
#include "dataset/file.hpp"
#include "exchange/dense.hpp"
#include "exchange/pack_part.hpp"

namespace thalweg::detail {

namespace {

void set_bit(std::vector<std::int64_t>& words, std::size_t i) {
    words[i / 64] |= static_cast<std::int64_t>(std::uint64_t(1) << (i % 64));
}

}  // namespace

/// What speaks against a service is said, and the file is written inline.
void File::choose_service() {
    if (options_.service == "inline") return;
    const bool servers = arena_source_.port() != nullptr;
    if (options_.service == "auto") {
        options_.service = servers ? "servers" : "background";
        if (team_.rank() == 0)
            log::info("{}: service {}: {} set aside as servers", path_, options_.service,
                      servers ? "ranks are" : "no ranks are");
    }
    std::string reason;
    if (storage_->collective())
        reason = fmt::format("storage {} writes collectively, so the model's own calls must write",
                             storage_->name());
    else if (options_.method == "direct")
        reason = "with method=direct every rank writes from its own arrays";
    else if (options_.service == "servers" && !servers)
        reason = "no ranks are set aside as servers (setting servers of tw_init)";
    if (reason.empty()) return;
    if (team_.rank() == 0)
        log::info("{}: service={} is not possible, using inline: {}", path_, options_.service,
                  reason);
    options_.service = "inline";
}

/// Sizes the queue, and decides whether a step fits into it.
void File::plan_queue(ServicePlan& plan) {
    const std::size_t n = definitions_.variables.size();
    const auto descriptor = static_cast<std::int64_t>(8 * (17 + n / 16 + 2 * n));
    std::int64_t total = Outbox::rounded(descriptor), largest = total;
    for (const Variable& v : definitions_.variables) {
        FillValue fill{};
        v.fill_value(fill.data());
        if (order_ == Order::big_endian) to_big_endian(v.type, fill.data());
        fill_.push_back(fill);
        if (goes_as_boxes(v)) continue;
        const std::int64_t bytes =
            Outbox::rounded(v.decomposition->held * static_cast<std::int64_t>(v.element()));
        total += bytes;
        largest = std::max(largest, bytes);
    }
    // Without decompositions any rank may put anything (tw_put_box, tw_put_record), as much as
    // `staging` allows. Where ranks publish together, all of a step's boxes have to fit, though the
    // steps that wait are no more than two.
    const bool together = options_.service == "background" && team_.topology().nodes > 1;
    plan.queue_grows = (together && options_.queue < 0) ||
                       std::all_of(definitions_.variables.begin(), definitions_.variables.end(),
                                   [](const Variable& v) { return v.decomposition->replicated; });
    const std::int64_t least = options_.queue >= 0 ? 4096 : 256 << 10;
    const std::int64_t steps = std::min(2 * total, options_.staging);
    const auto rounded = [&](std::int64_t queue) {
        // What one rank sends to another of a unit is one message.
        if (team_.topology().nodes > 1) queue = std::min<std::int64_t>(queue, 1 << 30);
        // Descriptors are not cut in parts.
        return Outbox::rounded(std::max({queue, least, 8 * descriptor}));
    };
    plan.queue = rounded(options_.queue >= 0 ? options_.queue
                         : plan.queue_grows  ? options_.staging
                                             : steps);
    if (together) plan.queue_limit = std::min(plan.queue, rounded(steps));
    std::int64_t words[] = {2 * total > plan.queue && total + largest > plan.queue, -plan.queue};
    team_.all_reduce(words, Reduce::max);
    in_parts_ = words[0] != 0;
    part_bytes_ = -words[1] / 4;
    if (in_parts_ && team_.rank() == 0)
        log::info(
            "{}: a step exceeds the queue of {} bytes on some rank: variables are written in "
            "parts, and "
            "all ranks must put them in the same order",
            path_, plan.queue);
}

/// What this rank holds, as the writers of its node are told once.
Status File::plan_holdings() try {
    for (const Variable& v : definitions_.variables)
        held_.push_back(held_by(*v.decomposition, v.order, v.shape));
    told_ = Holdings(definitions_);
    // The writers are told that this rank goes where all ranks meet: until they all have come, it
    // publishes nothing.
    arena_source_.meeting().prepare(serial_, [this] {
        if (service_) service_->outbox().meet();
    });
    return {};
} catch (const std::bad_alloc&) {
    return failure(TW_ENOMEM,
                   "{}: out of memory for the description of what this rank holds (rank {})", path_,
                   team_.rank());
}

Status File::plan_service() {
    Stopwatch watch(figures_.plan);
    if (Status s = team_.agree(plan_holdings()); !s.ok()) return s;
    ServicePlan plan;
    plan.path = path_;
    plan.data_path = data_path_;
    plan.serial = serial_;
    plan.definitions = &definitions_;
    plan.holdings = &told_;
    plan.layout = layout_choice_;
    plan.storage = options_.storage;
    if (options_.piece > 0) plan.piece = options_.piece;
    plan.durable = options_.durable;
    plan.queue_inline = options_.queue_inline;
    plan.options = storage_options();
    if (existing_.is) plan.map = map_;
    plan_queue(plan);
    pending_.resize(definitions_.variables.size());
    filled_.assign(definitions_.variables.size(), existing_.is);
    misfits_.assign(definitions_.variables.size(), 0);
    Status status;
    if (options_.service == "servers") {
        const auto servers = static_cast<double>(arena_source_.port()->crew().servers.size());
        const bool one = options_.method == "serial";
        plan.options.rate = static_cast<double>(options_.bandwidth) / (one ? 1 : servers);
        plan.options.one_writer = one;
        service_ = make_served_file(team_, *arena_source_.port(), plan, status);
    } else if (Background* background = arena_source_.background(status); status.ok()) {
        service_ =
            make_background_file(team_, *background, plan, map_, writers_, *storage_, status);
        if (status.code == TW_ENOMEM) {
            // Systems that keep the memory of processes apart can still write.
            if (team_.rank() == 0)
                log::warn("{}: service=background is not possible, using inline: {}", path_,
                          status.text);
            figures_.service = options_.service = "inline";
            return this->plan();
        }
    }
    if (!status.ok()) return status;
    together_ = in_parts_ || service_->collective();
    for (const Variable& v : definitions_.variables) has_records_ |= v.record;
    figures_.writers = service_->writers();
    return {};
}

/// A failure of a writer becomes the file's own.
Status File::poll_service() {
    if (service_) return keep(service_->outbox().failure());
    return early_ ? keep(early_->outbox().failure()) : Status{};
}

Status File::accept_queued(Status checked, int variable, ArrayView view, bool deferred) {
    if (in_parts_ && !deferred) {
        // Joined by the ranks whose own check failed, too.
        Agreed agreed;
        if (Status s = agree_on(Call::put, variable, checked, agreed); !s.ok()) return s;
    } else if (Status s = poll_service(); !s.ok()) {
        return s;
    }
    if (!checked.ok()) return checked;
    use_netcdf_byte_rule(variable, view);
    Pending& pending = pending_[static_cast<std::size_t>(variable)];
    misfits_[static_cast<std::size_t>(variable)] = 0;
    if (goes_as_boxes(definitions_.variables[static_cast<std::size_t>(variable)])) {
        if (Status s = queue_whole(variable, view); !s.ok()) return s;
    } else if (deferred) {
        pending.view = view;
    } else if (in_parts_) {
        if (Status s = queue_parts(variable, &view); !s.ok()) return s;
        return take_misfits(true);
    } else {
        if (Status s = queue_variable(variable, view); !s.ok()) return s;
        pending.view = {};
    }
    pending.put = true;
    return {};
}

/// This rank waits for room that cannot come, as others are where all ranks meet: it joins them, so
/// that all learn of it.
Status File::mismatch(Call call, int variable) {
    Agreed agreed;
    Status status = agree_on(call, variable, {}, agreed);
    if (status.ok())
        status = failure(TW_EINTERNAL, "{}: waited for room without need (rank {})", path_,
                         team_.rank());
    return status;
}

/// The queue has no room for a variable, and will not have any: the file fails on all ranks.
Status File::no_room(const Variable& v) {
    Status status =
        service_->outbox().no_memory()
            ? failure(TW_ENOMEM, "{}: variable '{}': out of memory for the queue (rank {})", path_,
                      v.name, team_.rank())
        : !boxes_.empty()
            ? no_room_for_boxes(v)
            : failure(TW_EINTERNAL, "{}: variable '{}': the queue is too small (rank {})", path_,
                      v.name, team_.rank());
    service_->outbox().region().fail(status);
    return keep(std::move(status));
}

/// The pack pass: the held elements in file order and byte order.
Status File::queue_variable(int variable, const ArrayView& view) {
    const auto at = static_cast<std::size_t>(variable);
    const Variable& v = definitions_.variables[at];
    const Decomposition& d = *v.decomposition;
    Pending& pending = pending_[at];
    const auto size = static_cast<std::int64_t>(v.element());
    misfits_[at] = 0;
    if (held_[at].empty()) return {};
    Outbox& outbox = service_->outbox();
    if (pending.queued == nullptr) {
        pending.queued = outbox.take(d.held * size);
        if (pending.queued == nullptr && boxed_ && service_->publishes_alone() && !outbox.stuck()) {
            if (Status s = publish_boxes(); !s.ok()) return s;
            pending.queued = outbox.take(d.held * size);
        }
        pending.mark = outbox.mark();
        if (pending.queued == nullptr && outbox.stuck()) return mismatch(Call::put, variable);
        if (pending.queued == nullptr) return no_room(v);
    }
    const RowKernel kernel = pack_kernel(view.type, v.type, order_);
    char* to = pending.queued;
    for (std::size_t i = 0; i < held_[at].size(); ++i) {
        const HeldBox& held = held_[at][i];
        const HeldBox& told = told_.of(variable)[i];
        const Strided from = locate(d, v.order, held, view);
        // Positions that were counted anew are in another order than the array's.
        misfits_[at] +=
            told.list != held.list
                ? pack_part(packers_, held, held.box, from, to, kernel, size, fill_[at].data())
                : packers_.copy_box(told.box.nd, dense_shape(told), to, dense_strides(told, size),
                                    from.base, from.stride, kernel, fill_[at].data());
        to += elements_of(told) * size;
    }
    return {};
}

/// A variable of a step that exceeds the queue: range after range in file order, the same ranges on
/// every rank.
/// @param view  null on a rank that did not put it
Status File::queue_parts(int variable, const ArrayView* view) {
    const auto at = static_cast<std::size_t>(variable);
    const Variable& v = definitions_.variables[at];
    const auto size = static_cast<std::int64_t>(v.element());
    // What one rank holds of a range is at most the range.
    const std::int64_t range = std::max<std::int64_t>(1, part_bytes_ / size);
    Status first;
    // What a part leaves open takes the room of the next one.
    if (service_->publishes_alone()) first = publish_boxes();
    for (std::int64_t begin = 0; begin < v.elements(); begin += range) {
        Parcel parcel = open_parcel(UnitKind::part);
        parcel.head.variable = variable;
        parcel.head.begin = begin;
        parcel.head.end = std::min(v.elements(), begin + range);
        if (view != nullptr) {
            Status status = queue_range(variable, *view, parcel);
            if (first.ok()) first = std::move(status);
        }
        service_->publish(parcel, boxes_.empty() ? -1 : boxes_mark_);
    }
    pending_[at].written = true;
    pending_[at].put = false;
    return keep(std::move(first));
}

/// The pack pass for what this rank holds of a range.
Status File::queue_range(int variable, const ArrayView& view, Parcel& parcel) {
    const auto at = static_cast<std::size_t>(variable);
    const Variable& v = definitions_.variables[at];
    const auto size = static_cast<std::int64_t>(v.element());
    const ElementRange range{parcel.head.begin, parcel.head.end};
    std::int64_t bytes = 0;
    for_frames(v.shape, range, held_[at], [&](const HeldBox& held, const Box& part) {
        const Index lengths = dense_shape(held, part);
        bytes += volume(std::span(lengths.data(), static_cast<std::size_t>(part.nd))) * size;
    });
    if (bytes == 0) return {};
    char* to = service_->outbox().take(bytes);
    if (to == nullptr) return no_room(v);
    parcel.told.push_back({variable, service_->outbox().position(to)});
    const RowKernel kernel = pack_kernel(view.type, v.type, order_);
    for_frames(v.shape, range, held_[at], [&](const HeldBox& held, const Box& part) {
        if (!has_any(held, part)) return;
        const Strided from = locate(*v.decomposition, v.order, held, view);
        misfits_[at] += pack_part(packers_, held, part, from, to, kernel, size, fill_[at].data());
        const Index lengths = dense_shape(held, part);
        to += volume(std::span(lengths.data(), static_cast<std::size_t>(part.nd))) * size;
    });
    return {};
}

/// Deferred arrays are packed when the call comes that ends their time.
Status File::queue_deferred(bool records, const Agreed& agreed) {
    Status first;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        Pending& pending = pending_[i];
        if (!records && definitions_.variables[i].record) continue;
        const ArrayView view = pending.view;
        const bool deferred = pending.put && view.data != nullptr;
        Status status;
        if (in_parts_) {
            if (!agreed.put[i]) continue;
            status = queue_parts(static_cast<int>(i), deferred ? &view : nullptr);
        } else if (deferred) {
            status = queue_variable(static_cast<int>(i), view);
        }
        if (status.code == TW_EMISMATCH) return status;  // it stays to be packed
        pending.view = {};
        if (first.ok()) first = std::move(status);
    }
    return first;
}

Parcel File::open_parcel(UnitKind kind) const {
    const std::size_t words = (definitions_.variables.size() + 63) / 64;
    Parcel parcel;
    parcel.head.kind = kind;
    parcel.head.rank = team_.rank();
    parcel.head.record = records_;
    parcel.head.step = steps_;
    parcel.head.given = given_;
    parcel.head.records = box_records_;
    for (auto* mask : {&parcel.put, &parcel.lacking, &parcel.bare, &parcel.with_halo})
        mask->assign(words, 0);
    return parcel;
}

/// Publishes what was put: all of it, or with tw_sync and tw_close the boxes and the fixed-size
/// variables.
Status File::publish_queued(UnitKind kind) {
    Outbox& outbox = service_->outbox();
    if (kind == UnitKind::step)
        for (std::size_t i = 0; i < pending_.size(); ++i)
            if (definitions_.variables[i].record && (pending_[i].put || pending_[i].written))
                box_records_ = std::max(box_records_, records_ + 1);
    Parcel parcel = open_parcel(kind);
    if (kind == UnitKind::step && boxed_) parcel.head.kind = UnitKind::boxes;
    parcel.entries = std::move(boxes_);
    boxes_.clear();
    open_bytes_ = 0;
    std::int64_t keep_from = -1;
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        Pending& pending = pending_[i];
        const Variable& v = definitions_.variables[i];
        if (v.record && kind != UnitKind::step) {
            if (pending.queued != nullptr && (keep_from < 0 || pending.mark < keep_from))
                keep_from = pending.mark;
            continue;
        }
        if (pending.put)
            set_bit(parcel.put, i);
        else if (!pending.written && (v.decomposition->held > 0 || v.decomposition->replicated))
            set_bit(parcel.lacking, i);
        if (pending.put && pending.form == Form::without_halo) set_bit(parcel.bare, i);
        if (pending.put && pending.form == Form::with_halo) set_bit(parcel.with_halo, i);
        if (pending.put && pending.queued != nullptr)
            parcel.told.push_back({static_cast<int>(i), outbox.position(pending.queued)});
    }
    if (!service_->publish(parcel, keep_from)) return mismatch(Call::end_step, -1);
    for (std::size_t i = 0; i < pending_.size(); ++i) {
        if (definitions_.variables[i].record && kind != UnitKind::step) continue;
        pending_[i].put = pending_[i].written = false;
        pending_[i].queued = nullptr;
    }
    for (Pending& p : pending_) p.boxed = false;
    return {};
}

/// What a tw_sync leaves open moves to the start of the drained queue: where it lies, nothing
/// behind it would become free before the step ends, and the syncs of a long step would fill the
/// queue.
void File::gather_open() {
    Outbox& outbox = service_->outbox();
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < pending_.size(); ++i)
        if (pending_[i].queued != nullptr) open.push_back(i);
    // From low addresses to high ones, so that nothing is overwritten that has yet to move.
    std::sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
        return pending_[a].queued < pending_[b].queued;
    });
    outbox.restart();
    for (std::size_t i : open) {
        const Variable& v = definitions_.variables[i];
        const auto bytes = v.decomposition->held * static_cast<std::int64_t>(v.element());
        char* to = outbox.take(bytes);
        std::memmove(to, pending_[i].queued, static_cast<std::size_t>(bytes));
        pending_[i].queued = to;
        pending_[i].mark = outbox.mark();
    }
}

/// Values that did not fit: told by the call that found them, and again to all ranks when they
/// meet.
Status File::take_misfits(bool records) {
    Status status;
    for (std::size_t i = 0; i < misfits_.size(); ++i) {
        const Variable& v = definitions_.variables[i];
        if (misfits_[i] == 0 || (v.record && !records)) continue;
        if (status.ok())
            status = failure(TW_ERANGE,
                             "{}: {} values of variable '{}' do not fit type {}; fill values are "
                             "written instead (rank {})",
                             path_, misfits_[i], v.name, name_of(v.type), team_.rank());
        misfits_[i] = 0;
    }
    if (misfit_.ok()) misfit_ = status;
    return status;
}

Status File::end_step_queued() {
    Agreed agreed;
    const Status lost = check_deferred(true);
    Status mine = together_ ? agree_on(Call::end_step, -1, lost, agreed) : poll_service();
    if (!mine.ok()) return mine;
    return end_step_agreed(lost, agreed);
}

Status File::end_step_agreed(const Status& lost, const Agreed& agreed) {
    if (!lost.ok()) {  // the other ranks have ended the step
        service_->outbox().region().fail(lost);
        return keep(lost);
    }
    if (!boxed_ && records_ >= most_records(format_))
        return keep(failure(TW_EFORMAT, "{}: format {} cannot count record {}; cdf5 can", path_,
                            name_of(format_), options_.wording.index(records_)));
    Status mine = queue_deferred(true, agreed);
    if (mine.code == TW_EMISMATCH) return mine;
    if (Status s = publish_queued(UnitKind::step); !s.ok()) return s;
    if (has_records_) ++records_;
    ++steps_;
    ++figures_.steps;
    if (service_->in_calls()) {
        (void)take_misfits(true);
        if (Status s = service_->finish(options_.durable); !s.ok()) return keep(std::move(s));
        return agree_on_misfits(std::move(mine));
    }
    Status misfit = take_misfits(true);
    return mine.ok() ? misfit : mine;
}

/// Publishes what tw_sync or tw_close ends.
Status File::queue_rest(UnitKind kind, const Agreed& agreed) {
    Status mine = queue_deferred(false, agreed);
    // In a unit of their own: writers know by its kind that the file has boxes.
    if (boxed_)
        if (Status s = publish_boxes(); mine.ok()) mine = std::move(s);
    (void)publish_queued(kind);  // all ranks are here, so none is stuck
    steps_ = 0;
    return mine;
}

/// The ranks meet: all learn of values that did not fit.
Status File::agree_on_misfits(Status mine) {
    (void)take_misfits(false);
    if (mine.ok()) mine = misfit_;
    misfit_ = {};
    return detail::agree(team_.world(), mine);
}

Status File::sync_queued(const Agreed& agreed, bool durable) {
    Status mine = queue_rest(UnitKind::fixed, agreed);
    Status status = service_->finish(durable);
    if (!status.ok()) return keep(std::move(status));
    gather_open();
    return agree_on_misfits(std::move(mine));
}

}  // namespace thalweg::detail
