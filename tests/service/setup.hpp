// Fixtures for tests of services: random files of a classic format without MPI, pieces of data with
// known values, and a file in memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "layout/grid.hpp"
#include "service/queue/unit_part.hpp"
#include "storage/storage.hpp"
#include "system/random.hpp"

namespace thalweg::detail {

/// A file in memory. It counts the calls, and fails when the test wants it to.
class MemoryStorage : public Storage {
public:
    StorageTraits traits() const override { return {.name = "test", .order = Order::native}; }
    bool collective() const override { return false; }
    Status create(Comm&, const std::string&, const Definitions&, const StorageOptions&, bool,
                  FileMap&) override {
        return {};
    }
    Status write(std::span<const Chunk> chunks) override {
        ++counts_.calls;
        if (!failure.ok()) return failure;
        for (const Chunk& c : chunks) {
            const auto end = static_cast<std::size_t>(c.offset + c.bytes);
            if (bytes->size() < end) bytes->resize(end, untouched);
            std::copy_n(c.data, c.bytes, bytes->begin() + c.offset);
            counts_.bytes += c.bytes;
            sources.push_back(c.data);
        }
        return {};
    }
    Status read(const Chunk& c, char* to) override {
        const std::int64_t n = std::min(c.bytes, std::ssize(*bytes) - c.offset);
        std::fill_n(to, c.bytes, '\0');
        if (n > 0) std::copy_n(bytes->begin() + c.offset, n, to);
        return {};
    }
    Status set_records(std::int64_t n, bool) override {
        records.push_back(n);
        return {};
    }
    Status sync() override {
        ++syncs;
        return {};
    }
    Status close(std::int64_t, const LateAttributes&) override { return {}; }

    static constexpr char untouched = 0x6e;
    /// Contents of the file, which all of its writers share.
    std::shared_ptr<std::vector<char>> bytes = std::make_shared<std::vector<char>>();
    std::vector<std::int64_t> records;  ///< record counts that were published
    std::vector<const char*> sources;   ///< addresses of the chunks that were written
    int syncs = 0;
    Status failure;
};

/// The definitions of a file, and the places of their data.
struct Plan {
    Definitions definitions;
    std::vector<char> whole;  ///< for each variable, nonzero if the ranks hold each element
    FileSections spaces;

    void add(const std::string& name, tw_type type, std::vector<std::int64_t> shape, bool record,
             bool is_whole = true) {
        Variable v;
        v.name = name;
        v.type = type;
        v.record = record;
        v.shape = std::move(shape);
        // Every length is a dimension; the record dimension is separate.
        if (record) v.dims.push_back(-1);
        for (const std::int64_t length : v.shape) {
            v.dims.push_back(static_cast<int>(definitions.dims.size()));
            definitions.dims.push_back({"d" + std::to_string(definitions.dims.size()), length});
        }
        definitions.variables.push_back(std::move(v));
        whole.push_back(is_whole);
    }
    /// Computes the places of the variables as the format does: fixed-size ones first, then
    /// records.
    void lay_out() {
        FileMap map;
        const std::size_t n = definitions.variables.size();
        map.offset.resize(n);
        map.padded.resize(n);
        std::int64_t at = 132;
        for (const bool record : {false, true}) {
            if (record) map.record_begin = at;
            for (std::size_t i = 0; i < n; ++i) {
                const Variable& v = definitions.variables[i];
                if (v.record != record) continue;
                map.offset[i] = at;
                map.padded[i] = (v.elements() * v.element() + 3) / 4 * 4;
                at += map.padded[i];
            }
            if (!record) map.fixed_end = at;
        }
        map.record_bytes = at - map.record_begin;
        spaces = make_spaces(definitions, map);
    }
};

/// Returns byte `b` of an element, as a unit should contain it.
inline char byte_of(int variable, std::int64_t unit, std::int64_t element, std::int64_t b) {
    return static_cast<char>(mix(static_cast<std::uint64_t>(variable * 1000003 + unit),
                                 static_cast<std::uint64_t>(element * 8 + b)));
}

/// A part of a unit, and the memory of its data, which copies share.
struct Sent {
    UnitPart unit_part;
    std::vector<std::shared_ptr<const std::vector<char>>> data;

    void add(const Plan& plan, int variable, const Box& box, std::int64_t unit,
             std::int64_t record = 0) {
        const Variable& v = plan.definitions.variables[static_cast<std::size_t>(variable)];
        const auto size = v.element();
        std::vector<char> bytes;
        for_elements(v, box, [&](std::int64_t element) {
            for (std::int64_t b = 0; b < size; ++b)
                bytes.push_back(byte_of(variable, unit, element, b));
        });
        data.push_back(std::make_shared<std::vector<char>>(std::move(bytes)));
        PackedValues e;
        e.variable = variable;
        e.record = record;
        e.held = held_box(box, v.shape);
        e.data = data.back()->data();
        unit_part.entries.push_back(e);
    }
    template <class Visit>
    static void for_elements(const Variable& v, const Box& box, Visit&& visit) {
        if (box.volume() == 0) return;
        Index at = box.low;
        for (;;) {
            visit(linear(v.shape, at));
            int d = box.nd - 1;
            while (d >= 0 && ++at[d] == box.low[d] + box.count[d]) {
                at[d] = box.low[d];
                --d;
            }
            if (d < 0) return;
        }
    }
};

inline Sent empty_unit_part(const Plan& plan, UnitKind kind, int rank) {
    Sent s;
    s.unit_part.head.kind = kind;
    s.unit_part.head.rank = rank;
    s.unit_part.put.assign((plan.definitions.variables.size() + 63) / 64, 0);
    s.unit_part.lacking = s.unit_part.bare = s.unit_part.with_halo = s.unit_part.put;
    return s;
}

inline void set_put(Sent& s, int variable) {
    s.unit_part.put[static_cast<std::size_t>(variable) / 64] |=
        static_cast<std::int64_t>(std::uint64_t(1) << (variable % 64));
}

inline std::vector<UnitPart> unit_parts_of(const std::vector<Sent>& sent) {
    std::vector<UnitPart> unit_parts;
    for (const Sent& s : sent) unit_parts.push_back(s.unit_part);
    return unit_parts;
}

}  // namespace thalweg::detail
