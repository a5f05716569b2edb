// Serializes definitions, for messages between processes of one run.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "base/wire.hpp"
#include "definitions/definitions.hpp"

namespace thalweg::detail {

template <class T>
void carry(WireWriter& out, const NamedList<T>& list) {
    out(static_cast<const std::vector<T>&>(list));
}
template <class T>
void carry(WireReader& in, NamedList<T>& list) {
    std::vector<T> elements;
    in(elements);
    list = std::move(elements);
}

template <class Wire>
void carry(Wire& wire, Carried<Wire, Attribute> a) {
    wire(a.name, a.type, a.n, a.values);
}

/// Serializes an attribute that was set after define mode, with the number of its variable (-1: the
/// file).
template <class Wire>
void carry(Wire& wire, Carried<Wire, std::pair<int, Attribute>> late) {
    wire(late.first, late.second);
}

template <class Wire>
void carry(Wire& wire, Carried<Wire, Dimension> dim) {
    wire(dim.name, dim.length);
}

/// Serializes a variable without its packing.
template <class Wire>
void carry(Wire& wire, Carried<Wire, Variable> v) {
    wire(v.name, v.type, v.dims, v.shape, v.record, v.fill, v.attributes);
}

}  // namespace thalweg::detail
