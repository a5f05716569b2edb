// The puts of a rank that were not passed to the library yet. They are kept in the variable's type,
// if possible as the file has them, in memory from which the library writes. Data that exceed the
// budget go to an unnamed file beside the output, so that a rank may put any number of times
// between two joint calls (see puts.hpp).
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nc/base/shape.hpp"
#include "nc/state/state.hpp"

namespace thalweg::nc {

// The boxes of a put that consists of several. They leave out the record dimension; their values
// follow one another.
struct Pieces {
    std::vector<Index> numbers;  // start and count of each box
    Index n = 0, elements = 0;
    std::pair<std::uint64_t, std::uint64_t> key{};  // hash of these numbers
};

// A section that was put, and its values.
struct Entry {
    int varid = 0;
    bool collective = false;
    Shape start, count;
    Shape stride;  // stride of each dimension; empty: 1
    const char* values = nullptr;
    bool empty = false;  // the section has no elements
    // Boxes of the put; null if it is a single box. If there are several boxes, all are in one
    // record, and the section is the smallest that contains them.
    std::shared_ptr<const Pieces> pieces = nullptr;
    bool borrowed = false;  // the values are in the program's memory, or in that of a request
    bool packed = false;    // the values are in the byte order of the file, in memory of the queue
    int round = 0;          // counts the calls in which all ranks waited before this put, since the
                            // last write; puts of a later round win, whichever rank made them

    Index elements() const { return pieces != nullptr ? pieces->elements : volume(count); }
    // Calls act(start, count, address of the first value) for each box.
    template <class Act>
    void for_boxes(Act act) const;
};

template <class Act>
void Entry::for_boxes(Act act) const {
    if (pieces == nullptr) return act(start, count, Index{0});
    const auto inner = pieces->numbers.size() / static_cast<std::size_t>(2 * pieces->n);
    const auto outer = static_cast<std::ptrdiff_t>(start.size() - inner);
    Shape first = start, lengths = count;
    const auto dims = static_cast<std::ptrdiff_t>(inner);
    auto at = pieces->numbers.begin();
    for (Index i = 0, value = 0; i < pieces->n; i++, at += 2 * dims) {
        std::copy(at, at + dims, first.begin() + outer);
        std::copy(at + dims, at + 2 * dims, lengths.begin() + outer);
        act(first, lengths, value);
        value += volume(lengths);
    }
}

class Queue {
public:
    // @param definitions, state  those of the output; the unnamed file is made in its folder
    Queue(const Definitions& definitions, const State& state)
        : definitions_(definitions), state_(state) {}
    ~Queue() { clear(); }
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;

    const std::vector<Entry>& entries() const { return entries_; }
    // Tests if any entry has elements.
    bool has_values() const { return has_values_; }
    // Tests if any entry was put with independent access.
    bool has_independent() const { return has_independent_; }
    Index bytes() const { return bytes_; }
    // Returns the number of rounds, which is the same on all ranks.
    int rounds() const { return round_ + 1; }

    // Chooses the byte order in which the values of a put are queued.
    Order pack(Entry& entry) const;
    // Returns memory for the next entry. Throws std::bad_alloc, or Error if the unnamed file cannot
    // be extended.
    // @param alignment alignment of the variable's type
    char* take(Index bytes, std::size_t alignment);
    // Gives back the memory that was taken last, which no entry uses.
    void give_back(Index bytes);
    // Appends an entry. Its values are in the memory that was taken last, or in the program's
    // memory.
    // @param element  size of an element in bytes if the entry may be joined with the previous one;
    //                 otherwise 0
    void push(Entry entry, std::size_t element = 0);
    // Tests if values are in the memory that was taken last.
    bool has_taken(const char* values) const { return values == taken_; }
    // Copies the values of entry number i, which are in the program's memory. Throws as take()
    // does.
    void own(std::size_t i);
    // Changes packed values to the byte order of memory.
    void unpack();
    void begin_round() { round_++; }
    // Removes entries whose values are not in the memory of the queue.
    void drop_borrowed();
    void clear();

private:
    struct Mapping {
        void* at;
        std::size_t size;
    };

    const Definitions& definitions_;
    const State& state_;
    std::vector<Entry> entries_;
    bool has_values_ = false, has_independent_ = false;
    int round_ = 0;
    Index bytes_ = 0;              // number of bytes that were taken
    const char* taken_ = nullptr;  // memory that was taken last
    std::vector<Mapping> mappings_;
    std::size_t used_ = 0;  // number of bytes used in the last mapping

    void join_last(std::size_t element);
    char* take_mapped(std::size_t bytes);
};

}  // namespace thalweg::nc
