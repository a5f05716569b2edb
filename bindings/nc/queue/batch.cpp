// SPDX-License-Identifier: Apache-2.0
#include "nc/queue/batch.hpp"

#include <algorithm>
#include <limits>

#include "nc/base/hash.hpp"
#include "nc/base/ranks.hpp"
#include "nc/base/types.hpp"

namespace thalweg::nc {

namespace {

constexpr Index none = std::numeric_limits<Index>::max();  // neutral element of a minimum
constexpr std::size_t most_decompositions = 256;
constexpr std::size_t most_compared = 64;  // largest number of slots of a variable in one step
constexpr Index most_boxes = 16;           // largest number of boxes in a decomposition that is not
                                           // a list

// Words on a slot that the ranks combine by the minimum, after two words for each dimension: the
// first index and the negative end.
enum Word : std::size_t {
    minus_record,  // negative first record and end of the records
    record_end,
    whole,  // each rank puts all of the variable or record
    plain,  // no stride is above 1
    any_before,
    minus_elements,
    minus_boxes,  // negative number of boxes; 0: all puts are single boxes
    rank,         // rank that has elements
    minus_rank,
    words_of_slot
};

// A put that all ranks make: the j-th put of a variable on each rank in one round; or the end of
// the round.
struct Slot {
    int varid = 0;
    int entry = -1;          // index of the put in this rank's queue; -1: the rank puts nothing
    std::size_t dims = 0;    // number of dimensions of the variable
    std::vector<int> own{};  // puts of this rank before the slot which are no slots
    const Index* words = nullptr;
    Key key{};  // the same for equal slots
    int step = 0;

    Index low(std::size_t d) const { return words[2 * d]; }
    Index end(std::size_t d) const { return -words[2 * d + 1]; }
    Index of(Word word) const { return words[2 * dims + word]; }
    Index most_elements() const { return -of(minus_elements); }  // on any rank
    bool empty() const { return of(minus_elements) == 0; }
    // Tests if all ranks that have elements put the same records.
    bool has_same_records() const {
        return low(0) == -of(minus_record) && end(0) == of(record_end);
    }
};

// The step that the puts of a variable have reached.
struct Position {
    int step = 0;
    std::vector<std::size_t> slots;  // slots of the step that are not empty
    bool own = false;                // the step has puts that are no slots
    void next() {
        step++;
        slots.clear();
        own = false;
    }
};

class Maker {
public:
    Maker(Session& session, const Table& table, const Queue& queue, bool boxes)
        : session_(session),
          table_(table),
          entries_(queue.entries()),
          rounds_(static_cast<std::size_t>(queue.rounds())),
          boxes_(boxes) {}

    Batch make();

private:
    Session& session_;
    const Table& table_;
    const std::vector<Entry>& entries_;
    std::size_t rounds_;
    bool boxes_;
    std::vector<Slot> slots_;  // those of an earlier round first
    std::vector<Index> words_;
    Batch batch_;

    const Variable& variable(int varid) const {
        return table_.variables[static_cast<std::size_t>(varid)];
    }
    // Returns this rank's put in a slot; null if it has no elements.
    const Entry* entry_of(const Slot& slot) const {
        return slot.entry < 0 ? nullptr : &entries_[static_cast<std::size_t>(slot.entry)];
    }
    void align();
    void add_slots(int varid, std::vector<int> mine, const Index* numbers);
    void compare();
    void add_words(const Slot& slot);
    Key own_key(const Slot& slot) const;
    void order();
    PutCall call_of(const Slot& slot);
    Shape inner_lengths(const Variable& v) const;
};

// Finds the puts that all ranks make of each variable in each round.
void Maker::align() {
    const std::size_t variables = table_.variables.size(), n = variables * rounds_;
    std::vector<std::vector<int>> mine(n);
    // For each round and variable: the smallest number of puts and the negative of the largest one;
    // then the same numbers of collective puts.
    std::vector<Index> numbers(4 * n);
    for (std::size_t e = 0; e < entries_.size(); e++) {
        const auto v = static_cast<std::size_t>(entries_[e].round) * variables +
                       static_cast<std::size_t>(entries_[e].varid);
        mine[v].push_back(static_cast<int>(e));
        numbers[4 * v]++;
        numbers[4 * v + 1]--;
        numbers[4 * v + 2] += entries_[e].collective ? 1 : 0;
        numbers[4 * v + 3] -= entries_[e].collective ? 1 : 0;
    }
    reduce(session_.comm(), MPI_MIN, numbers.data(), numbers.size());
    for (std::size_t v = 0; v < n; v++)
        if (numbers[4 * v + 1] != 0)
            add_slots(static_cast<int>(v % variables), std::move(mine[v]), &numbers[4 * v]);
}

// @param mine  this rank's puts of the variable in one round
void Maker::add_slots(int varid, std::vector<int> mine, const Index* numbers) {
    const Index most = -numbers[1];
    const bool alone = numbers[3] == 0;                              // no put is collective
    bool all = numbers[0] == most && (alone || numbers[2] == most);  // all puts are slots
    // If ranks have different numbers of puts that are not collective, those with fewer take part
    // in the last slots with empty puts.
    if (!all && alone && most <= static_cast<Index>(most_compared)) {
        all = true;
        mine.resize(static_cast<std::size_t>(most), -1);
    }
    const bool collective = numbers[2] == -numbers[3];  // collective puts are slots
    Slot slot{varid, -1, variable(varid).dims.size()};
    for (const int e : mine) {
        const bool empty = e < 0 || entries_[static_cast<std::size_t>(e)].empty;
        if (all || (collective && entries_[static_cast<std::size_t>(e)].collective)) {
            slot.entry = empty ? -1 : e;
            slots_.push_back(std::move(slot));
            slot = {varid, -1, slots_.back().dims};
        } else if (!empty) {
            slot.own.push_back(e);
        }
    }
    slots_.push_back(std::move(slot));
}

Shape Maker::inner_lengths(const Variable& v) const {
    Shape shape = table_.lengths(v);
    if (table_.is_record(v)) shape.erase(shape.begin());
    return shape;
}

// Finds the bounds of each slot over all ranks, and gives it a key: the sum of hashes of what each
// rank puts.
void Maker::compare() {
    std::vector<std::uint64_t> sums;
    for (const Slot& slot : slots_) {
        add_words(slot);
        const Key key = own_key(slot);
        sums.insert(sums.end(), {key.first, key.second});
    }
    reduce(session_.comm(), MPI_MIN, words_.data(), words_.size());
    reduce(session_.comm(), MPI_SUM, sums.data(), sums.size());
    const Index* words = words_.data();
    const std::uint64_t* sum = sums.data();
    for (Slot& slot : slots_) {
        slot.words = std::exchange(words, words + 2 * slot.dims + words_of_slot);
        slot.key = {sum[0], sum[1]};
        sum += 2;
    }
}

void Maker::add_words(const Slot& slot) {
    const Index before = slot.own.empty() ? 0 : -1;
    const Entry* const e = entry_of(slot);
    if (e == nullptr) {
        words_.insert(words_.end(), 2 * slot.dims, none);
        words_.insert(words_.end(), {none, none, 0, 1, before, 0, 0, none, none});
        return;
    }
    const Variable& v = variable(slot.varid);
    const bool record = table_.is_record(v);
    bool all = e->pieces == nullptr;
    for (std::size_t d = 0; d < slot.dims; d++) {
        const Index step = e->stride.empty() ? 1 : e->stride[d];
        words_.push_back(e->start[d]);
        words_.push_back(-(e->start[d] + (e->count[d] - 1) * step + 1));
        if (d > 0 || !record) all &= e->start[d] == 0 && e->count[d] == table_.length(v.dims[d]);
    }
    words_.insert(words_.end(),
                  {record ? -e->start[0] : none, record ? e->start[0] + e->count[0] : none,
                   all ? 1 : 0, e->stride.empty() ? 1 : 0, before, -e->elements(),
                   e->pieces == nullptr ? 0 : -e->pieces->n, session_.rank(), -session_.rank()});
}

// Appends the numbers that describe a put, without its record dimension.
void append_section(Shape& numbers, const Entry& e, bool record) {
    if (e.pieces != nullptr) {
        numbers.push_back(static_cast<Index>(e.pieces->key.first));
        numbers.push_back(static_cast<Index>(e.pieces->key.second));
        return;
    }
    for (const Shape* const shape : {&e.start, &e.count})
        numbers.insert(numbers.end(), shape->begin() + (record ? 1 : 0), shape->end());
    numbers.insert(numbers.end(), e.stride.begin(), e.stride.end());
}

Key Maker::own_key(const Slot& slot) const {
    const Variable& v = variable(slot.varid);
    const Entry* const e = entry_of(slot);
    Shape numbers = inner_lengths(v);
    numbers.push_back(e == nullptr ? 0 : 1);
    if (e != nullptr) append_section(numbers, *e, table_.is_record(v));
    return hash_of(numbers, 2 * static_cast<std::uint64_t>(session_.rank()) + 1);
}

// Appends the row-major indices of a box in an array, row by row.
void add_indices(const Shape& shape, const Shape& start, const Shape& count, Shape& list) {
    const std::size_t dims = shape.size();
    Shape at(dims, 0);
    const Index row = count.back(), rows = row == 0 ? 0 : volume(count) / row;
    for (Index r = 0; r < rows; r++) {
        Index first = 0;
        for (std::size_t d = 0; d < dims; d++) first = first * shape[d] + start[d] + at[d];
        for (Index i = 0; i < row; i++) list.push_back(first + i);
        for (std::size_t d = dims - 1; d-- > 0;) {
            if (++at[d] < count[d]) break;
            at[d] = 0;
        }
    }
}

bool overlap(const Slot& a, const Slot& b) {
    for (std::size_t d = 0; d < a.dims; d++)
        if (a.end(d) <= b.low(d) || b.end(d) <= a.low(d)) return false;
    return true;
}

// Tests if each rank puts the same elements in both slots. The order between ranks then does not
// matter.
bool same(const Slot& a, const Slot& b, bool records) {
    if (a.key != b.key) return false;
    if (!records) return true;
    return a.has_same_records() && b.has_same_records() && a.low(0) == b.low(0) &&
           a.end(0) == b.end(0);
}

// Moves a put to a later step if an earlier put of another rank has, or may have, some of its
// elements. Adds the calls for puts that are no slots.
void Maker::order() {
    std::vector<Position> positions(table_.variables.size());
    for (std::size_t i = 0; i < slots_.size(); i++) {
        Slot& slot = slots_[i];
        Position& p = positions[static_cast<std::size_t>(slot.varid)];
        const bool own = slot.of(any_before) != 0;
        const bool records = table_.is_record(variable(slot.varid));
        if (own && !p.slots.empty()) p.next();
        p.own |= own;
        for (const int e : slot.own)
            batch_.calls.push_back({slot.varid, e, Form::box, nullptr, 0, 1, p.step});
        if (own) batch_.steps = std::max(batch_.steps, p.step + 1);
        const auto conflicts = [&](std::size_t other) {
            return overlap(slots_[other], slot) && !same(slots_[other], slot, records);
        };
        if (p.own || (!slot.empty() && (p.slots.size() >= most_compared ||
                                        std::any_of(p.slots.begin(), p.slots.end(), conflicts))))
            p.next();
        if (slot.empty()) continue;
        slot.step = p.step;
        batch_.steps = std::max(batch_.steps, p.step + 1);
        p.slots.push_back(i);
    }
}

PutCall Maker::call_of(const Slot& slot) {
    constexpr Index small = 64 << 10, few = 16;  // limits for the size in bytes of a record, and
                                                 // for the number of records
    constexpr Index sparse = 4;  // what is put is less than this part of the variable or record
    const Variable& v = variable(slot.varid);
    const bool record = table_.is_record(v);
    PutCall call;
    call.varid = slot.varid;
    call.entry = slot.entry;
    call.step = slot.step;
    if (boxes_ || slot.of(plain) == 0 || (record && !slot.has_same_records())) return call;
    Index bytes = static_cast<Index>(size_of(v.type));
    for (std::size_t d = 0; d < slot.dims; d++) bytes *= slot.end(d) - slot.low(d);
    // A rank can write a large section of a variable that is not filled by itself.
    if (slot.of(rank) == -slot.of(minus_rank) && !record && v.storage.no_fill &&
        session_.ranks() > 1 && bytes >= small)
        return call;
    const Shape shape = inner_lengths(v);
    // No decomposition if little is put: with one, the library would fill all the rest first.
    const Index put =
        std::max(slot.most_elements() * session_.ranks(), small / Index(size_of(v.type)));
    const bool keeps_rest =
        record || v.storage.no_fill || v.storage.layout == NC_CHUNKED || v.storage.filtered();
    if (keeps_rest && volume(shape) / sparse > put) return call;
    if (record) {
        call.record = slot.low(0);
        call.records = slot.end(0) - slot.low(0);
        if (call.records > few && volume(shape) * static_cast<Index>(size_of(v.type)) < small)
            return call;
    }
    if (slot.of(whole) != 0) {
        call.form = Form::replicated;
        return call;
    }
    if (shape.empty()) return call;
    auto& known = session_.decompositions;
    auto found = known.find(slot.key);
    if (found == known.end())
        found = known
                    .emplace(slot.key, decompose(session_, shape, entry_of(slot),
                                                 -slot.of(minus_boxes), false))
                    .first;
    call.decomposition = found->second;
    if (call.decomposition != nullptr) call.form = Form::decomposed;
    return call;
}

Batch Maker::make() {
    align();
    compare();
    auto& known = session_.decompositions;
    if (known.size() > most_decompositions) {
        for (auto& k : known)
            if (k.second != nullptr) tw_free_decomposition(&k.second);
        known.clear();
        session_.decompositions_freed++;
    }
    order();
    for (const Slot& slot : slots_) {
        if (slot.empty()) continue;
        const PutCall call = call_of(slot);
        if (call.entry >= 0 || call.form != Form::box) batch_.calls.push_back(call);
    }
    // Keep the order of a variable's puts in one step: the last one counts.
    std::stable_sort(batch_.calls.begin(), batch_.calls.end(),
                     [](const PutCall& a, const PutCall& b) { return a.step < b.step; });
    return std::move(batch_);
}

}  // namespace

tw_decomposition decompose(Session& session, const Shape& shape, const Entry* entry, Index pieces,
                           bool reading) {
    const bool listed = pieces > most_boxes || reading;
    const std::size_t dims = shape.size();
    Shape start, count, list;
    Index boxes = 0;
    on_all(session.comm(), [&] {
        if (entry == nullptr) return;
        entry->for_boxes([&](const Shape& first, const Shape& lengths, Index) {
            const auto outer = static_cast<std::ptrdiff_t>(first.size() - dims);
            boxes++;
            const Shape low(first.begin() + outer, first.end());
            const Shape n(lengths.begin() + outer, lengths.end());
            if (listed) return add_indices(shape, low, n, list);
            start.insert(start.end(), low.begin(), low.end());
            count.insert(count.end(), n.begin(), n.end());
        });
    });
    std::string names = "*";
    for (std::size_t d = 1; d < dims; d++) names += " *";
    tw_decomposition made = nullptr;
    const int status =
        listed ? tw_decompose_list(session.handle(), names.c_str(), shape.data(), names.c_str(),
                                   static_cast<Index>(list.size()), list.data(),
                                   reading ? TW_LIST_SHARED : TW_LIST_UNIQUE, &made)
               : tw_decompose(session.handle(), names.c_str(), static_cast<int>(boxes),
                              shape.data(), start.data(), count.data(), &made);
    if (status != TW_OK && status != TW_EOVERLAP) session.check(status);
    return made;
}

// ---- batches that are repeated ------------------------------------------------------------------

Batch Batches::boxes() { return Maker(session_, table_, queue_, true).make(); }

Batch Batches::next() {
    constexpr std::size_t most_plans = 8;
    const Index own_first = first_record();
    const Key key = key_of_puts(own_first);
    const Index own = find(key);
    Index least[] = {own, -own, own_first, own_first == none ? none : -own_first};
    reduce(session_.comm(), MPI_MIN, least, 4);
    const Index plan = least[0], first = least[2];
    const bool same_first = first == none || first == -least[3];
    if (plan >= 0 && plan == -least[1] && same_first) {
        const Plan& p = plans_[static_cast<std::size_t>(plan)];
        Batch batch = p.batch;
        if (p.first != none && first != none)
            for (PutCall& call : batch.calls) call.record += first - p.first;
        return batch;
    }
    Batch batch = Maker(session_, table_, queue_, false).make();
    if (same_first) {
        if (plans_.size() == most_plans) plans_.clear();
        plans_.push_back({key, first, batch, session_.decompositions_freed});
    }
    return batch;
}

// Returns the first record that this rank puts; none: none.
Index Batches::first_record() const {
    Index first = none;
    for (const Entry& e : queue_.entries())
        if (has_record(e)) first = std::min(first, e.start[0]);
    return first;
}

// Returns a hash of this rank's puts, with their records relative to the first one.
Key Batches::key_of_puts(Index first) const {
    Shape numbers;
    for (const Entry& e : queue_.entries()) {
        numbers.push_back(4 * Index{e.varid} + (e.collective ? 2 : 0) + (e.empty ? 1 : 0));
        numbers.push_back(e.round);
        if (e.empty) continue;
        const bool record = has_record(e);
        if (record) numbers.insert(numbers.end(), {e.start[0] - first, e.count[0]});
        append_section(numbers, e, record);
    }
    return hash_of(numbers, queue_.entries().size());
}

// Returns the number of the latest plan with a key; -1: none.
Index Batches::find(const Key& key) const {
    for (std::size_t i = plans_.size(); i-- > 0;)
        if (plans_[i].key == key && plans_[i].decompositions == session_.decompositions_freed)
            return static_cast<Index>(i);
    return -1;
}

}  // namespace thalweg::nc
