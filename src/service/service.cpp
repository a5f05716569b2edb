// SPDX-License-Identifier: Apache-2.0
#include "service/service.hpp"

namespace thalweg::detail {

Status Service::put_as_boxes(const RecordPut& put) {
    const Placed& placed = *put.placed;
    BoxPart part;
    part.variable = placed.variable;
    part.record = put.record;
    part.type = put.view.type;
    for (const HeldBox& held : placed.held) {
        part.held = &held;
        part.from = locate(*placed.decomposition, placed.order, held, put.view);
        if (Status s = put_box(part); !s.ok()) return s;
    }
    return {};
}

}  // namespace thalweg::detail
