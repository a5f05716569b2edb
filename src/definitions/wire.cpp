// SPDX-License-Identifier: Apache-2.0
#include "definitions/wire.hpp"

namespace thalweg::detail {

void put_attribute(WireWriter& out, const Attribute& a) {
    out.put(a.name);
    out.put(a.type);
    out.put(a.n);
    out.put(a.values);
}

Attribute get_attribute(WireReader& in) {
    Attribute a;
    a.name = in.get_text();
    a.type = in.get<tw_type>();
    a.n = in.get<std::int64_t>();
    a.values = in.get_many<std::vector<char>>();
    return a;
}

void put_attributes(WireWriter& out, const std::vector<Attribute>& attributes) {
    out.put(std::uint64_t{attributes.size()});
    for (const Attribute& a : attributes) put_attribute(out, a);
}

std::vector<Attribute> get_attributes(WireReader& in) {
    std::vector<Attribute> attributes(in.get<std::uint64_t>());
    for (Attribute& a : attributes) a = get_attribute(in);
    return attributes;
}

void put_dims(WireWriter& out, const std::vector<Dimension>& dims) {
    out.put(std::uint64_t{dims.size()});
    for (const Dimension& dim : dims) {
        out.put(dim.name);
        out.put(dim.length);
    }
}

std::vector<Dimension> get_dims(WireReader& in) {
    std::vector<Dimension> dims(in.get<std::uint64_t>());
    for (Dimension& dim : dims) {
        dim.name = in.get_text();
        dim.length = in.get<std::int64_t>();
    }
    return dims;
}

void put_variable(WireWriter& out, const Variable& v) {
    out.put(v.name);
    out.put(v.type);
    out.put(v.dims);
    out.put(v.shape);
    out.put(v.record);
    out.put(v.fill.has_value());
    if (v.fill) out.put(*v.fill);
    put_attributes(out, v.attributes);
}

Variable get_variable(WireReader& in) {
    Variable v;
    v.name = in.get_text();
    v.type = in.get<tw_type>();
    v.dims = in.get_many<std::vector<int>>();
    v.shape = in.get_many<std::vector<std::int64_t>>();
    v.record = in.get<bool>();
    if (in.get<bool>()) v.fill = in.get<FillValue>();
    v.attributes = get_attributes(in);
    return v;
}

}  // namespace thalweg::detail
