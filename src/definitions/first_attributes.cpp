// SPDX-License-Identifier: Apache-2.0
#include "definitions/first_attributes.hpp"

#include "comm/team.hpp"
#include "definitions/wire.hpp"

namespace thalweg::detail {

namespace {

void write(const Definitions& d, const LateAttributes* late, WireWriter& out) {
    out(d.attributes, std::uint64_t{d.variables.size()});
    for (const Variable& v : d.variables) out(v.name, v.attributes);
    if (late != nullptr) out(*late);
}

/// Replaces attributes by those received from rank 0. Skips variables that this rank lacks; a later
/// check will report them.
void read(WireReader& in, Definitions& d, LateAttributes* late) {
    std::uint64_t variables = 0;
    in(d.attributes, variables);
    for (std::uint64_t i = 0; i < variables; ++i) {
        std::string name;
        NamedList<Attribute> attributes;
        in(name, attributes);
        const bool in_place = i < d.variables.size() && d.variables[i].name == name;
        const int at = in_place ? static_cast<int>(i) : d.find_variable(name);
        if (at >= 0) d.variables[at].attributes = std::move(attributes);
    }
    if (late != nullptr) in(*late);
}

}  // namespace

Status take_first_attributes(Team& team, Definitions& definitions, LateAttributes* late) {
    WireWriter out;
    Status status = team.agree(alone([&] {
        if (team.rank() == 0) write(definitions, late, out);
    }));
    if (!status.ok()) return status;
    team.world().broadcast(out.bytes, 0);
    return team.agree(alone([&] {
        if (team.rank() == 0) return;
        WireReader in(out.bytes);
        read(in, definitions, late);
    }));
}

}  // namespace thalweg::detail
