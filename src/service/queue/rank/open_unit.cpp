// SPDX-License-Identifier: Apache-2.0
#include "service/queue/rank/open_unit.hpp"

#include <algorithm>
#include <cstring>

#include "base/bits.hpp"
#include "base/trace.hpp"
#include "exchange/pack/dense.hpp"
#include "exchange/pack/pack.hpp"
#include "exchange/pieces.hpp"
#include "service/queue/rank/unit_queue.hpp"

namespace thalweg::detail {

namespace {

std::int64_t queued_bytes(const FileContext& file, int variable) {
    return QueueMemory::rounded(file.holdings[variable]->elements *
                                file.variable(variable).element());
}

/// Tests if steps replace records of an existing file. Then they cannot be put as boxes, which
/// overwrite only the elements that they cover: a step also fills elements that no rank puts.
bool replaces_records(const FileContext& file) { return file.existing.first < file.existing.kept; }

}  // namespace

QueuePlan plan_queue(const FileContext& file) {
    const FileOptions& options = file.options;
    const int n = file.definitions.variables.size();
    const std::int64_t descriptor = 8 * (17 + n / 16 + std::int64_t{2} * n);
    std::int64_t total = QueueMemory::rounded(descriptor), largest = total;
    for (int i = 0; i < n; ++i) {
        if (goes_as_boxes(file, i)) continue;
        total += queued_bytes(file, i);
        largest = std::max(largest, queued_bytes(file, i));
    }
    const int nodes = file.team.topology().nodes;
    const auto rounded = [&](std::int64_t queue) {
        const std::int64_t least = options.queue >= 0 ? 4096 : 256 << 10;
        // A rank sends its data of a unit to another node as one message, whose size is limited.
        if (nodes > 1) queue = std::min<std::int64_t>(queue, 1 << 30);
        // The queue must hold a descriptor, which cannot be divided.
        return QueueMemory::rounded(std::max({queue, least, 8 * descriptor}));
    };
    // Without decompositions, any rank may put anything (tw_put_box, tw_put_record), up to
    // `staging` bytes. If ranks publish together, the queue must hold all boxes of a step, but it
    // accepts a new unit only while those that wait take less than two steps.
    const bool together = options.service == "background" && nodes > 1;
    const std::int64_t steps = std::min(2 * total, options.staging);
    QueuePlan plan;
    plan.grows = (together && options.queue < 0) ||
                 std::all_of(file.holdings.begin(), file.holdings.end(), [](const auto& holding) {
                     return holding->decomposition->replicated;
                 });
    plan.bytes = rounded(options.queue >= 0 ? options.queue : plan.grows ? options.staging : steps);
    if (together) plan.limit = std::min(plan.bytes, rounded(steps));
    const auto& variables = file.definitions.variables;
    plan.replaces = replaces_records(file) ||
                    (file.existing.is && !std::ranges::all_of(variables, &Variable::record));
    if (plan.replaces) plan.bytes = std::max(plan.bytes, rounded(total + largest));
    plan.holds_step = 2 * total <= plan.bytes || total + largest <= plan.bytes;
    return plan;
}

std::int64_t description_of(const HeldBox& held) {
    // A list takes at most three words for each run.
    const std::int64_t list = held.list ? 8 + 3 * std::ssize(held.list->list->runs) : 0;
    return 8 * (6 + 2 * held.box.nd + list);
}

std::int64_t room_for_boxes(const Variable& v, std::span<const HeldBox> held,
                            std::int64_t capacity) {
    std::int64_t needed = 0;
    for (const HeldBox& h : held) {
        const std::int64_t bytes = elements_of(h) * v.element() + description_of(h);
        // Each piece uses at least an eighth of the capacity.
        const std::int64_t pieces = 1 + 8 * bytes / capacity;
        needed += bytes + pieces * (QueueMemory::rounded(1) + 8 * (14 + 2 * h.box.nd));
    }
    return needed;
}

bool goes_as_boxes(const FileContext& file, int variable) {
    const Variable& v = file.variable(variable);
    const FileOptions& options = file.options;
    // If ranks publish together, all boxes must fit into the queue.
    const bool can = options.service == "servers" ||
                     (options.service == "background" && file.team.topology().nodes == 1);
    const std::int64_t queue = options.queue >= 0 ? options.queue : options.staging;
    return can && !replaces_records(file) && file.holdings[variable]->decomposition->replicated &&
           v.elements() * v.element() > std::min(queue, options.staging) / 8;
}

namespace {

/// Largest number of cached lists that were cut to a box.
constexpr std::size_t most_clips = 64;

}  // namespace

OpenUnit::OpenUnit(FileContext& file, Batch& batch, Order order, Publisher& publisher,
                   std::function<Status(int)> mismatch)
    : file_(file),
      batch_(batch),
      order_(order),
      publisher_(publisher),
      mismatch_(std::move(mismatch)),
      queued_(batch.puts.size()) {
    if (publisher.copies() != nullptr) file.copies->step.serve(this);
}

OpenUnit::~OpenUnit() {
    if (publisher_.copies() == nullptr) return;
    file_.copies->step.serve(nullptr);
    // The interface may have left the file before it was complete.
    if (file_.copies.use_count() == 1) NodeCopies::keep(std::move(file_.copies), file_.session);
}

// ---- packing ------------------------------------------------------------------------------------

/// Returns an upper bound for the bytes of the unit's descriptor, as it is now.
std::int64_t OpenUnit::descriptor_bytes() const {
    const std::int64_t n = queued_.size();
    return QueueMemory::rounded(8 * (17 + n / 16 + 4 + 2 * n)) + description_;
}

/// Returns room in the queue for this rank's part of a variable; repeated calls return the same
/// room until it is published. Null for the reasons of UnitQueue::take().
char* OpenUnit::room_for(int variable, std::int64_t bytes) {
    Queued& queued = queued_[variable];
    if (queued.at != nullptr) return queued.at;
    // If the unit has boxes, leave space in the queue for its descriptor. If it has none, the queue
    // has been made large enough for that.
    queued = {queue().take(bytes, boxes_.empty() ? 0 : descriptor_bytes()), bytes,
              queue().memory().mark()};
    return queued.at;
}

/// Fails the file on all ranks, as the queue cannot have room for a variable.
Status OpenUnit::no_room(int variable) {
    Status status =
        queue().memory().out_of_memory() ? failure(TW_ENOMEM, "out of memory for the queue")
        : !boxes_.empty()
            ? too_much_put("queue", queue().memory().capacity())
            : failure(TW_EINTERNAL, "the queue is too small; increase the setting 'queue'");
    status = file_.in_variable(std::move(status), variable);
    publisher_.fail(status);
    return file_.keep(std::move(status));
}

/// Returns the error for boxes that do not fit. The file has not failed: queued data are kept, and
/// there will be room after a collective call of all ranks.
Status OpenUnit::no_room_for_boxes(int variable) const {
    return file_.in_variable(too_much_put("queue", queue().memory().capacity()), variable);
}

Status OpenUnit::put_whole(const Part& part) {
    const int variable = part.variable;
    const Variable& v = file_.variable(variable);
    batch_.misfits[variable] = 0;
    if (!part.has_any()) return {};
    const std::int64_t bytes = part.holding->elements * v.element();
    char* to = room_for(variable, bytes);
    if (to == nullptr && batch_.boxed && !publisher_.collective() && !queue().stuck()) {
        if (Status s = make_room(); !s.ok()) return s;
        to = room_for(variable, bytes);
    }
    if (to == nullptr && queue().stuck()) return mismatch_(variable);
    if (to == nullptr) return no_room(variable);
    Span span("pack");
    span.variable(v.name).bytes(bytes);
    batch_.misfits[variable] = pack(file_.packers, v, order_, part, to);
    return {};
}

Status OpenUnit::check_room(const Part& part, std::int64_t records) {
    if (!publisher_.collective()) return {};
    const Variable& v = file_.variable(part.variable);
    const std::int64_t capacity = queue().memory().capacity();
    const std::int64_t needed = room_for_boxes(v, part.holding->held, capacity);
    if (needed > 0 && records > INT64_MAX / 2 / needed) return no_room_for_boxes(part.variable);
    const std::int64_t open = box_bytes_ + needed * records;
    const bool fits = open <= file_.options.staging && open <= capacity / 8 * 7;
    return fits ? Status{} : no_room_for_boxes(part.variable);
}

Status OpenUnit::put_boxes(const Part& part) {
    const bool refers = can_refer(part);
    for (std::size_t at = 0; at < part.boxes().size(); ++at) {
        const HeldBox& held = part.boxes()[at];
        Status s = refers && !held.list ? refer(part, at) : put_box(part, at, held.box);
        if (!s.ok()) return s;
    }
    return {};
}

/// Tests if the values of a part lie where the writers can take them.
bool OpenUnit::can_refer(const Part& part) const {
    const Memory* const copies = publisher_.copies();
    if (copies == nullptr || part.packed == nullptr) return false;
    const std::int64_t at = part.packed - copies->data();
    return at >= 0 && std::cmp_less(at, copies->size());
}

/// Adds a held box to the open unit, with its values where they lie.
Status OpenUnit::refer(const Part& part, std::size_t number) {
    const HeldBox& held = part.boxes()[number];
    const std::int64_t element = file_.variable(part.variable).element();
    const std::int64_t described = description_of(held);
    // As no room is taken beforehand for the description, it counts twice.
    const std::int64_t bytes = elements_of(held) * element + described;
    if (Status s = limit_boxes(QueueMemory::rounded(bytes) + described); !s.ok()) return s;
    if (queue().stuck()) return mismatch_(part.variable);
    const char* const from = part.packed + part.holding->packed_at[number] * element;
    refers_ = true;
    add_box({part.variable, part.record, held, ~(from - publisher_.copies()->data())}, bytes,
            described);
    return {};
}

/// Publishes the boxes if they and another one have more bytes than half of the queue.
Status OpenUnit::limit_boxes(std::int64_t needed) {
    const bool much = box_bytes_ + needed > queue().memory().capacity() / 2;
    return much && !publisher_.collective() ? make_room() : Status{};
}

void OpenUnit::add_box(PackedValues values, std::int64_t bytes, std::int64_t description) {
    box_bytes_ += QueueMemory::rounded(bytes) + description;
    description_ += description;
    boxes_.push_back(std::move(values));
}

/// Packs into the open unit those elements of a held box that lie in another box.
Status OpenUnit::put_box(const Part& part, std::size_t number, const Box& box) {
    const Variable& v = file_.variable(part.variable);
    const HeldBox& held = part.boxes()[number];
    HeldBox packed = held_box(box, v.shape);
    if (held.list) {
        if (!has_any(held, box)) return {};
        if (clips_.size() == most_clips) clips_.clear();
        packed.list = clips_.of(held.list, box);
    }
    const std::int64_t bytes = elements_of(packed) * v.element();
    if (box.volume() > 1 && bytes + description_of(packed) > queue().memory().capacity() / 4) {
        Box first = box;
        const Box second = halve(first);
        if (Status s = put_box(part, number, first); !s.ok()) return s;
        return put_box(part, number, second);
    }
    // The box's description in the unit needs room, too.
    const std::int64_t described = description_of(packed);
    char* to = nullptr;
    if (Status s = room_for_box(part.variable, bytes, described, to); !s.ok()) return s;
    {
        Span span("pack");
        span.variable(v.name).record(v.record ? part.record : -1).bytes(bytes);
        batch_.misfits[part.variable] += pack(file_.packers, v, order_, part, number, box, to);
    }
    if (boxes_mark_ < 0) boxes_mark_ = queue().memory().mark();
    add_box({part.variable, part.record, std::move(packed), position(to)}, bytes, described);
    return {};
}

Status OpenUnit::room_for_box(int variable, std::int64_t bytes, std::int64_t description,
                              char*& to) {
    const std::int64_t needed = QueueMemory::rounded(bytes) + description;
    if (Status s = limit_boxes(needed); !s.ok()) return s;
    const std::int64_t open = box_bytes_ + needed;
    if (publisher_.collective() &&
        (open > queue().memory().capacity() / 8 * 7 || open > file_.options.staging))
        return no_room_for_boxes(variable);
    const auto take = [&] { return queue().take(bytes, descriptor_bytes() + description); };
    to = take();
    if (to == nullptr && !publisher_.collective() && !queue().stuck()) {
        if (Status s = make_room(); !s.ok()) return s;
        to = take();
    }
    if (to != nullptr) return {};
    if (queue().stuck()) return mismatch_(variable);
    return queue().memory().out_of_memory() ? no_room(variable) : no_room_for_boxes(variable);
}

// ---- publishing ---------------------------------------------------------------------------------

UnitPart OpenUnit::unit_part(UnitKind kind) const {
    UnitPart unit;
    for (auto* mask : {&unit.put, &unit.lacking, &unit.bare, &unit.with_halo})
        mask->assign((queued_.size() + 63) / 64, 0);
    unit.whole.assign(queued_.size(), -1);
    unit.head.kind = kind;
    unit.head.rank = file_.team.rank();
    unit.head.record = batch_.record;
    unit.head.boxed = batch_.boxed;
    unit.head.given = batch_.given;
    unit.head.records = batch_.file_records;
    return unit;
}

/// Describes which variables were put, in which form, and where their data are queued.
void OpenUnit::describe(UnitPart& unit_part, UnitKind kind) const {
    for (std::size_t i = 0; i < queued_.size(); ++i) {
        const Batch::Put& part = batch_.puts[i];
        const Variable& v = file_.definitions.variables[i];
        if (v.record && kind != UnitKind::step) continue;
        if (part.put)
            set_bit(unit_part.put, i);
        else if (!part.written && file_.holdings[i]->decomposition->has_part())
            set_bit(unit_part.lacking, i);
        if (part.put && part.form == Form::without_halo) set_bit(unit_part.bare, i);
        if (part.put && part.form == Form::with_halo) set_bit(unit_part.with_halo, i);
        if (part.put && queued_[i].at != nullptr) unit_part.whole[i] = position(queued_[i].at);
    }
}

/// Returns the mark of the first queued data; -1 if there are none.
/// @param all  false: only the data of record variables that tw_put has put
std::int64_t OpenUnit::first_mark(bool all) const {
    std::int64_t first = all ? boxes_mark_ : -1;
    for (std::size_t i = 0; i < queued_.size(); ++i)
        if ((all || batch_.is_record(i)) && queued_[i].at != nullptr &&
            (first < 0 || queued_[i].mark < first))
            first = queued_[i].mark;
    return first;
}

/// Publishes a unit with the boxes. If that is impossible, the boxes stay.
bool OpenUnit::publish_boxes(UnitPart& unit, std::int64_t keep) {
    unit.entries = std::exchange(boxes_, {});
    if (!publisher_.publish(unit, keep)) {
        boxes_ = std::move(unit.entries);
        return false;
    }
    box_bytes_ = description_ = 0;
    boxes_mark_ = -1;
    refers_ = false;
    return true;
}

bool OpenUnit::publish(UnitKind kind) {
    const bool step = kind == UnitKind::step;
    if (step)
        for (std::size_t i = 0; i < queued_.size(); ++i)
            if (batch_.is_record(i) && (batch_.puts[i].put || batch_.puts[i].written))
                batch_.note_records(batch_.record + 1);
    UnitPart unit = unit_part(kind);
    describe(unit, kind);
    if (!publish_boxes(unit, step ? -1 : first_mark(false))) return false;
    for (std::size_t i = 0; i < queued_.size(); ++i)
        if (step || !batch_.is_record(i)) queued_[i] = {};
    batch_.forget_puts(step);
    return true;
}

Status OpenUnit::make_room() {
    const bool empty = boxes_.empty() && first_mark(true) < 0;
    if (Status s = poll(); !s.ok() || empty) return s;
    UnitPart unit = unit_part(UnitKind::boxes);
    // Data queued by tw_put are published with the boxes, as they would otherwise occupy room that
    // later boxes need.
    for (std::size_t i = 0; i < queued_.size(); ++i)
        if (queued_[i].at != nullptr) unit.whole[i] = position(queued_[i].at);
    // Otherwise the caller finds that this rank waits in vain.
    if (publish_boxes(unit, -1)) std::fill(queued_.begin(), queued_.end(), Queued{});
    return {};
}

void OpenUnit::publish_fill(std::span<const int> variables) {
    UnitPart unit = unit_part(UnitKind::fill);
    unit.head.records = 0;  // this unit ends no record
    for (const int v : variables) set_bit(unit.put, v);
    publisher_.publish(unit, first_mark(true));
}

void OpenUnit::gather() {
    std::vector<Queued*> open;
    for (Queued& q : queued_)
        if (q.at != nullptr) open.push_back(&q);
    // Moves from low addresses to high ones, so that nothing is overwritten before it has moved.
    std::sort(open.begin(), open.end(), [](auto* a, auto* b) { return a->at < b->at; });
    queue().memory().restart();
    for (Queued* q : open) {
        char* to = queue().take(q->bytes);
        std::memmove(to, q->at, q->bytes);
        q->at = to;
        q->mark = queue().memory().mark();
    }
}

}  // namespace thalweg::detail
