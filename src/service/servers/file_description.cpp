// SPDX-License-Identifier: Apache-2.0
#include "service/servers/file_description.hpp"

#include "definitions/wire.hpp"

namespace thalweg::detail {

namespace {

void put_cuts(WireWriter& out, const std::vector<Cut>& cuts) {
    out.put(std::uint64_t{cuts.size()});
    for (const Cut& cut : cuts) {
        out.put(cut.dim);
        out.put(cut.begin);
    }
}

std::vector<Cut> get_cuts(WireReader& in) {
    std::vector<Cut> cuts(in.get<std::uint64_t>());
    for (Cut& cut : cuts) {
        cut.dim = in.get<int>();
        cut.begin = in.get_many<std::vector<std::int64_t>>();
    }
    return cuts;
}

void put_layout(WireWriter& out, const LayoutChoice& layout) {
    out.put(layout.method);
    out.put(layout.writers);
    out.put(layout.alignment);
    out.put(layout.grid.rows);
    out.put(layout.grid.columns);
    out.put(layout.grid.own_files);
    put_cuts(out, layout.grid.y);
    put_cuts(out, layout.grid.x);
}

LayoutChoice get_layout(WireReader& in) {
    LayoutChoice layout;
    layout.method = in.get_text();
    layout.writers = in.get<int>();
    layout.alignment = in.get<std::int64_t>();
    layout.grid.rows = in.get<int>();
    layout.grid.columns = in.get<int>();
    layout.grid.own_files = in.get<bool>();
    layout.grid.y = get_cuts(in);
    layout.grid.x = get_cuts(in);
    return layout;
}

void put_packing(WireWriter& out, const Packing& p) {
    out.put(p.codec);
    out.put(p.level);
    out.put(p.shuffle);
    out.put(p.quantize);
    out.put(p.digits);
    out.put(p.chunks);
    out.put(p.whole);
}

Packing get_packing(WireReader& in) {
    Packing p;
    p.codec = in.get<Packing::Codec>();
    p.level = in.get<int>();
    p.shuffle = in.get<bool>();
    p.quantize = in.get<Packing::Quantize>();
    p.digits = in.get<int>();
    p.chunks = in.get_many<std::vector<std::int64_t>>();
    p.whole = in.get<bool>();
    return p;
}

}  // namespace

void put_status(WireWriter& out, const Status& status) {
    out.put(status.code);
    out.put(packed(status));
}

Status get_status(WireReader& in) {
    const auto code = in.get<tw_status>();
    return unpacked(code, in.get_text());
}

void put_late(WireWriter& out, const LateAttributes& late) {
    out.put(std::uint64_t{late.size()});
    for (const auto& [variable, attribute] : late) {
        out.put(variable);
        put_attribute(out, attribute);
    }
}

LateAttributes get_late(WireReader& in) {
    LateAttributes late(in.get<std::uint64_t>());
    for (auto& [variable, attribute] : late) {
        variable = in.get<int>();
        attribute = get_attribute(in);
    }
    return late;
}

void describe_file(const ServicePlan& plan, WireWriter& out) {
    out.put(plan.path);
    out.put(plan.data_path);
    out.put(plan.serial);
    put_layout(out, plan.layout);
    out.put(plan.storage);
    out.put(plan.options);
    out.put(words_of(plan.map));
    out.put(plan.piece);
    out.put(plan.queue);
    out.put(plan.durable);
    const Definitions& d = *plan.definitions;
    put_dims(out, d.dims);
    put_attributes(out, d.attributes);
    out.put(std::uint64_t{d.variables.size()});
    for (const Variable& v : d.variables) {
        put_variable(out, v);
        put_packing(out, v.packing);
    }
    out.put(plan.whole);
}

FileDescription read_file(const std::vector<char>& bytes) {
    WireReader in(bytes);
    FileDescription f;
    f.plan.path = in.get_text();
    f.plan.data_path = in.get_text();
    f.plan.serial = in.get<int>();
    f.plan.layout = get_layout(in);
    f.plan.storage = in.get_text();
    f.plan.options = in.get<StorageOptions>();
    f.plan.map = map_of(in.get_many<std::vector<std::int64_t>>());
    f.plan.piece = in.get<std::int64_t>();
    f.plan.queue = in.get<std::int64_t>();
    f.plan.durable = in.get<bool>();
    f.definitions.dims = get_dims(in);
    f.definitions.attributes = get_attributes(in);
    for (auto n = in.get<std::uint64_t>(); n > 0; --n) {
        Variable v = get_variable(in);
        v.packing = get_packing(in);
        f.definitions.variables.push_back(std::move(v));
    }
    f.plan.whole = in.get_many<std::vector<char>>();
    return f;
}

}  // namespace thalweg::detail
