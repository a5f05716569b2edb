// SPDX-License-Identifier: Apache-2.0
#include "definitions/first_attributes.hpp"

#include "comm/team.hpp"
#include "definitions/wire.hpp"

namespace thalweg::detail {

namespace {

using Late = std::vector<std::pair<int, Attribute>>;

void write(const Definitions& d, const Late* late, WireWriter& out) {
    put_attributes(out, d.attributes);
    out.put(std::uint64_t{d.variables.size()});
    for (const Variable& v : d.variables) {
        out.put(v.name);
        put_attributes(out, v.attributes);
    }
    if (late == nullptr) return;
    out.put(std::uint64_t{late->size()});
    for (const auto& [variable, attribute] : *late) {
        out.put(variable);
        put_attribute(out, attribute);
    }
}

/// Replaces the attributes by received ones. Skips variables that this rank lacks: a later check
/// compares the ranks' variables.
void read(WireReader& in, Definitions& d, Late* late) {
    d.attributes = get_attributes(in);
    const auto variables = in.get<std::uint64_t>();
    for (std::uint64_t i = 0; i < variables; ++i) {
        const std::string name = in.get_text();
        NamedList<Attribute> attributes = get_attributes(in);
        const bool in_place = i < d.variables.size() && d.variables[i].name == name;
        const int at = in_place ? static_cast<int>(i) : d.find_variable(name);
        if (at >= 0) d.variables[at].attributes = std::move(attributes);
    }
    if (late == nullptr) return;
    late->clear();
    const auto n = in.get<std::uint64_t>();
    for (std::uint64_t i = 0; i < n; ++i) {
        const int variable = in.get<int>();
        late->emplace_back(variable, get_attribute(in));
    }
}

}  // namespace

Status take_first_attributes(Team& team, Definitions& definitions, Late* late) {
    WireWriter out;
    Status status = team.agree(alone([&]() -> Status {
        if (team.rank() == 0) write(definitions, late, out);
        return {};
    }));
    if (!status.ok()) return status;
    team.world().broadcast(out.bytes, 0);
    return team.agree(alone([&]() -> Status {
        if (team.rank() == 0) return {};
        WireReader in(out.bytes);
        read(in, definitions, late);
        return {};
    }));
}

}  // namespace thalweg::detail
