// Decides what a write does with a variable. Used by all services. Pure.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "exchange/parts.hpp"

namespace thalweg::detail {

/// Facts about a variable of a record, or a fixed-size variable, when ranks write.
struct VariableFacts {
    bool put = false;         ///< all ranks have put their parts of it
    bool complete = false;    ///< the parts cover all elements
    bool has_values = false;  ///< the file has values that must stay where no part covers them
    bool ends = false;        ///< elements that were never written get fill values now
    bool hole = false;        ///< never written elements stay a hole, or the storage fills them
};

/// Returns what a write does: it writes the parts, and fill values where no part covers an element
/// (data); merges the parts with the values of the file; only fills; or does nothing.
inline Action classify(const VariableFacts& facts) {
    if (facts.put) return facts.complete || !facts.has_values ? Action::data : Action::merge;
    return facts.ends && !facts.has_values && !facts.hole ? Action::fill : Action::skip;
}

}  // namespace thalweg::detail
