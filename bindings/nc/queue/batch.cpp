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

// A put that all ranks make: the j-th put of a variable on each rank.
struct Slot {
    int varid = 0;
    int entry = -1;  // index of the put in this rank's queue; -1: the rank puts nothing
    Key key{};
    bool before = false;  // before this slot, some rank has puts that are not collective
    // The first index and the end along each dimension, over all ranks.
    Shape low, high;
    Index most = 0;         // largest number of elements of a put on any rank
    Index most_pieces = 0;  // largest number of boxes of a put on any rank; 0: all puts are single
                            // boxes
    bool empty = true, plain = true, whole = true, same_records = true;
    bool single = false;  // one rank has all elements
    int step = 0;
};

// The puts of one variable in one round on all ranks.
struct Sequence {
    int varid = 0;
    bool aligned = false;              // all puts, collective or not, are slots
    std::vector<int> mine;             // indices of the puts in this rank's queue
    std::size_t first = 0, slots = 0;  // index of the first slot, and number of slots
    bool after = false;                // after the last slot, some rank has puts that are not
                                       // collective
};

// The step that the puts of a variable have reached.
struct Position {
    int step = 0;
    std::vector<std::size_t> slots;  // slots of the step that are not empty
    bool own = false;                // the step has puts that are not collective
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
    std::vector<Sequence> sequences_;  // those of an earlier round first
    std::vector<Position> positions_;  // of each variable
    std::vector<Slot> slots_;
    Batch batch_;

    const Variable& variable(int varid) const {
        return table_.variables[static_cast<std::size_t>(varid)];
    }
    void align();
    void make_slots(std::vector<std::vector<int>>& mine, const std::vector<Index>& numbers);
    std::vector<Index> words_of_slots();
    void take_bounds(const Index* words);
    std::vector<std::uint64_t> own_keys() const;
    void compare_bounds();
    void sum_keys();
    void order(Sequence& s);
    PutCall call_of(const Slot& slot);
    bool is_slot(const Sequence& s, int entry) const {
        return s.aligned || entries_[static_cast<std::size_t>(entry)].collective;
    }
    Shape inner_lengths(const Variable& v) const;
};

// Finds the puts that all ranks make of each variable in each round.
void Maker::align() {
    const std::size_t variables = table_.variables.size(), n = variables * rounds_;
    std::vector<std::vector<int>> mine;
    // For each round and variable: the smallest number of puts and the negative of the largest one;
    // then the same numbers of collective puts.
    std::vector<Index> numbers;
    on_all(session_.comm(), [&] {
        mine.resize(n);
        numbers.resize(4 * n);
        for (std::size_t e = 0; e < entries_.size(); e++) {
            const auto v = static_cast<std::size_t>(entries_[e].round) * variables +
                           static_cast<std::size_t>(entries_[e].varid);
            mine[v].push_back(static_cast<int>(e));
            numbers[4 * v]++;
            if (entries_[e].collective) numbers[4 * v + 2]++;
        }
        for (std::size_t v = 0; v < n; v++) {
            numbers[4 * v + 1] = -numbers[4 * v];
            numbers[4 * v + 3] = -numbers[4 * v + 2];
        }
    });
    reduce(session_.comm(), MPI_MIN, numbers.data(), numbers.size());
    on_all(session_.comm(), [&] { make_slots(mine, numbers); });
}

void Maker::make_slots(std::vector<std::vector<int>>& mine, const std::vector<Index>& numbers) {
    for (std::size_t v = 0; v < mine.size(); v++) {
        const Index* const all = &numbers[4 * v];
        if (all[1] == 0) continue;
        Sequence s;
        s.varid = static_cast<int>(v % table_.variables.size());
        const bool alone = all[3] == 0;  // no put is collective
        s.aligned = all[0] == -all[1] && (alone || all[2] == all[0]);
        s.mine = std::move(mine[v]);
        // If ranks have different numbers of puts that are not collective, those with fewer take
        // part in the last slots with empty puts.
        if (!s.aligned && alone && -all[1] <= static_cast<Index>(most_compared)) {
            s.aligned = true;
            s.mine.resize(static_cast<std::size_t>(-all[1]), -1);
        }
        s.first = slots_.size();
        if (s.aligned || all[2] == -all[3]) {
            for (const int e : s.mine)
                if (is_slot(s, e)) slots_.push_back({s.varid, e, {}, false, {}, {}});
            s.slots = slots_.size() - s.first;
        }
        sequences_.push_back(std::move(s));
    }
}

Shape Maker::inner_lengths(const Variable& v) const {
    Shape shape = table_.lengths(v);
    if (table_.is_record(v)) shape.erase(shape.begin());
    return shape;
}

// Finds the bounds of each slot over all ranks.
void Maker::compare_bounds() {
    std::vector<Index> words;
    on_all(session_.comm(), [&] { words = words_of_slots(); });
    reduce(session_.comm(), MPI_MIN, words.data(), words.size());
    on_all(session_.comm(), [&] { take_bounds(words.data()); });
}

Entry empty_entry() {
    Entry e;
    e.empty = true;
    return e;
}

std::vector<Index> Maker::words_of_slots() {
    std::vector<Index> words;
    for (Sequence& s : sequences_) {
        const Variable& v = variable(s.varid);
        const std::size_t record = table_.is_record(v) ? 1 : 0;
        std::size_t slot = s.first;
        Index before = 0;
        for (const int number : s.mine) {
            // Never destroyed, as files may be closed when the process exits.
            static const auto* const nothing = new Entry(empty_entry());
            const Entry& e = number < 0 ? *nothing : entries_[static_cast<std::size_t>(number)];
            if (s.slots == 0 || !is_slot(s, number)) {
                before = -1;
                continue;
            }
            Slot& own = slots_[slot++];
            if (e.empty) own.entry = -1;
            for (std::size_t d = 0; d < v.dims.size(); d++) {
                const Index step = e.stride.empty() ? 1 : e.stride[d];
                words.push_back(e.empty ? none : e.start[d]);
                words.push_back(e.empty ? none : -(e.start[d] + (e.count[d] - 1) * step + 1));
            }
            words.push_back(e.empty || record == 0 ? none : -e.start[0]);
            words.push_back(e.empty || record == 0 ? none : e.start[0] + e.count[0]);
            bool whole = !e.empty && e.pieces == nullptr;
            for (std::size_t d = record; d < v.dims.size() && whole; d++)
                whole = e.start[d] == 0 && e.count[d] == table_.length(v.dims[d]);
            words.push_back(whole ? 1 : 0);
            words.push_back(e.stride.empty() ? 1 : 0);
            words.push_back(before);
            words.push_back(e.empty ? 0 : -e.elements());
            words.push_back(e.pieces == nullptr ? 0 : -e.pieces->n);
            words.push_back(e.empty ? none : session_.rank());
            words.push_back(e.empty ? none : -session_.rank());
            before = 0;
        }
        words.push_back(before);
    }
    return words;
}

void Maker::take_bounds(const Index* w) {
    for (Sequence& s : sequences_) {
        const Variable& v = variable(s.varid);
        const bool record = table_.is_record(v);
        for (std::size_t i = s.first; i < s.first + s.slots; i++) {
            Slot& slot = slots_[i];
            const Index* const bounds = w;
            for (std::size_t d = 0; d < v.dims.size(); d++, w += 2) {
                slot.low.push_back(w[0]);
                slot.high.push_back(w[1] == none ? none : -w[1]);
            }
            slot.most = -w[5];
            slot.empty = slot.most == 0;
            slot.same_records = !record || slot.empty || (bounds[0] == -w[0] && -bounds[1] == w[1]);
            slot.whole = w[2] != 0;
            slot.plain = w[3] != 0;
            slot.before = w[4] != 0;
            slot.most_pieces = -w[6];
            slot.single = w[7] == -w[8];
            w += 9;
        }
        s.after = *w++ != 0;
    }
}

// Gives each slot a key: the sum of hashes of what each rank puts. Equal slots have equal keys.
void Maker::sum_keys() {
    std::vector<std::uint64_t> sums;
    on_all(session_.comm(), [&] { sums = own_keys(); });
    reduce(session_.comm(), MPI_SUM, sums.data(), sums.size());
    for (std::size_t i = 0; i < slots_.size(); i++) slots_[i].key = {sums[2 * i], sums[2 * i + 1]};
}

std::vector<std::uint64_t> Maker::own_keys() const {
    std::vector<std::uint64_t> sums;
    Shape numbers;
    for (const Slot& slot : slots_) {
        const Variable& v = variable(slot.varid);
        const std::size_t record = table_.is_record(v) ? 1 : 0;
        numbers = inner_lengths(v);
        numbers.push_back(slot.entry >= 0 ? 1 : 0);
        if (slot.entry >= 0) {
            const Entry& e = entries_[static_cast<std::size_t>(slot.entry)];
            if (e.pieces != nullptr) {
                numbers.push_back(static_cast<Index>(e.pieces->key.first));
                numbers.push_back(static_cast<Index>(e.pieces->key.second));
            } else {
                numbers.insert(numbers.end(), e.start.begin() + record, e.start.end());
                numbers.insert(numbers.end(), e.count.begin() + record, e.count.end());
                numbers.insert(numbers.end(), e.stride.begin(), e.stride.end());
            }
        }
        const Key key = hash_of(numbers, 2 * static_cast<std::uint64_t>(session_.rank()) + 1);
        sums.push_back(key.first);
        sums.push_back(key.second);
    }
    return sums;
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
    if (a.empty || b.empty) return false;
    for (std::size_t d = 0; d < a.low.size(); d++)
        if (a.high[d] <= b.low[d] || b.high[d] <= a.low[d]) return false;
    return true;
}

// Tests if each rank puts the same elements in both slots. The order between ranks then does not
// matter.
bool same(const Slot& a, const Slot& b) {
    return a.key == b.key && a.same_records && b.same_records &&
           (a.low.empty() || (a.low[0] == b.low[0] && a.high[0] == b.high[0]));
}

// Moves a put to a later step if an earlier put of another rank has, or may have, some of its
// elements.
void Maker::order(Sequence& s) {
    Position& p = positions_[static_cast<std::size_t>(s.varid)];
    if (p.own) p.next();  // puts of an earlier round
    // Step of each slot; the last entry is the step of the puts after the last slot.
    std::vector<int> steps;
    for (std::size_t i = s.first; i < s.first + s.slots; i++) {
        Slot& slot = slots_[i];
        if (slot.before && !p.slots.empty()) p.next();
        steps.push_back(p.step);
        p.own |= slot.before;
        const bool conflict = p.own || p.slots.size() >= most_compared ||
                              std::any_of(p.slots.begin(), p.slots.end(), [&](std::size_t other) {
                                  return overlap(slots_[other], slot) && !same(slots_[other], slot);
                              });
        if (conflict) p.next();
        slot.step = p.step;
        if (!slot.empty) p.slots.push_back(i);
    }
    if (s.after && !p.slots.empty()) p.next();
    p.own |= s.after;
    steps.push_back(p.step);
    batch_.steps = std::max(batch_.steps, p.step + 1);
    std::size_t slot = 0;
    for (const int e : s.mine) {
        if (s.slots > 0 && is_slot(s, e)) {
            slot++;
            continue;
        }
        PutCall call;
        call.varid = s.varid;
        call.entry = e;
        call.step = steps[slot];
        if (!entries_[static_cast<std::size_t>(e)].empty) batch_.calls.push_back(call);
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
    if (boxes_ || !slot.plain || !slot.same_records) return call;
    Index bytes = static_cast<Index>(size_of(v.type));
    for (std::size_t d = 0; d < slot.low.size(); d++) bytes *= slot.high[d] - slot.low[d];
    // A rank can write a large section of a variable that is not filled by itself.
    if (slot.single && !record && v.storage.no_fill && session_.ranks() > 1 && bytes >= small)
        return call;
    const Shape shape = inner_lengths(v);
    // With a decomposition, the library fills the rest of the variable or record first.
    const Index put = std::max(slot.most * session_.ranks(), small / Index(size_of(v.type)));
    const bool keeps_rest =
        record || v.storage.no_fill || v.storage.layout == NC_CHUNKED || v.storage.filtered();
    if (keeps_rest && volume(shape) / sparse > put) return call;
    if (record) {
        call.record = slot.low[0];
        call.records = slot.high[0] - slot.low[0];
        if (call.records > few && volume(shape) * static_cast<Index>(size_of(v.type)) < small)
            return call;
    }
    if (slot.whole) {
        call.form = Form::replicated;
        return call;
    }
    if (shape.empty()) return call;
    auto& known = session_.decompositions;
    auto found = known.find(slot.key);
    if (found == known.end()) {
        const Entry* const e =
            slot.entry >= 0 ? &entries_[static_cast<std::size_t>(slot.entry)] : nullptr;
        found =
            known.emplace(slot.key, decompose(session_, shape, e, slot.most_pieces, false)).first;
    }
    call.decomposition = found->second;
    if (call.decomposition != nullptr) call.form = Form::decomposed;
    return call;
}

Batch Maker::make() {
    align();
    compare_bounds();
    sum_keys();
    auto& known = session_.decompositions;
    if (known.size() > most_decompositions) {
        for (auto& k : known)
            if (k.second != nullptr) tw_free_decomposition(&k.second);
        known.clear();
        session_.decompositions_freed++;
    }
    on_all(session_.comm(), [&] {
        positions_.resize(table_.variables.size());
        for (Sequence& s : sequences_) order(s);
        batch_.calls.reserve(batch_.calls.size() + slots_.size());
    });
    for (const Slot& slot : slots_) {
        if (slot.empty) continue;
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

Batch make_batch(Session& session, const Table& table, const Queue& queue, bool boxes) {
    return Maker(session, table, queue, boxes).make();
}

}  // namespace thalweg::nc
