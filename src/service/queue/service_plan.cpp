// SPDX-License-Identifier: Apache-2.0
#include "service/queue/service_plan.hpp"

#include "definitions/wire.hpp"

namespace thalweg::detail {

template <class Wire>
void carry(Wire& wire, Carried<Wire, Cut> cut) {
    wire(cut.dim, cut.begin);
}

template <class Wire>
void carry(Wire& wire, Carried<Wire, LayoutChoice> layout) {
    wire(layout.method, layout.writers, layout.alignment, layout.part, layout.grid.rows,
         layout.grid.columns, layout.grid.own_files, layout.grid.y, layout.grid.x);
}

template <class Wire>
void carry(Wire& wire, Carried<Wire, Packing> p) {
    wire(p.codec, p.level, p.shuffle, p.quantize, p.digits, p.chunks, p.whole, p.cmip7);
}

template <class Wire>
void carry(Wire& wire, Carried<Wire, ServicePlan> plan) {
    wire(plan.path, plan.data_path, plan.serial, plan.layout, plan.storage, plan.options,
         plan.piece, plan.whole, plan.map);
}

std::vector<char> describe_file(const ServicePlan& plan) {
    const Definitions& d = *plan.definitions;
    WireWriter out;
    out(plan, d.dims, d.attributes, d.variables);
    for (const Variable& v : d.variables) out(v.packing);
    return std::move(out.bytes);
}

void read_file(const std::vector<char>& bytes, ServicePlan& plan, Definitions& d) {
    WireReader in(bytes);
    in(plan, d.dims, d.attributes, d.variables);
    for (Variable& v : d.variables) in(v.packing);
}

}  // namespace thalweg::detail
