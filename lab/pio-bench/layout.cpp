// SPDX-License-Identifier: Apache-2.0
#include "layout.hpp"

namespace pio_bench {

std::int64_t Layout::global_elements() const {
    std::int64_t n = 1;
    for (const Dim& dim : dims) n *= dim.length;
    return n;
}

std::int64_t Layout::local_elements() const {
    if (is_list) return static_cast<std::int64_t>(indices.size());
    if (dims.empty()) return 1;
    std::int64_t all = 0;
    for (const Block& block : blocks) {
        std::int64_t n = 1;
        for (std::size_t d = 0; d < block.count.size(); ++d) n *= block.count[d] + 2 * halo_of(d);
        all += n;
    }
    return all;
}

std::vector<std::int64_t> Layout::degrees_of_freedom() const {
    std::vector<std::int64_t> dofs;
    dofs.reserve(static_cast<std::size_t>(local_elements()));
    if (is_list) {
        for (const std::int64_t index : indices) dofs.push_back(index + 1);
        return dofs;
    }
    const std::size_t nd = dims.size();
    std::vector<std::int64_t> stride(nd, 1);  // stride in the file of each memory dimension
    for (std::size_t m = 0; m < nd; ++m)
        for (std::size_t f = static_cast<std::size_t>(memory[m]) + 1; f < nd; ++f)
            stride[m] *= dims[f].length;
    for (const Block& block : blocks) {
        std::int64_t elements = 1;
        for (std::size_t d = 0; d < nd; ++d) elements *= block.count[d] + 2 * halo_of(d);
        std::vector<std::int64_t> at(nd, 0);
        for (std::int64_t i = 0; i < elements; ++i) {
            std::int64_t index = 1;
            bool inside = true;
            for (std::size_t d = 0; d < nd; ++d) {
                const std::int64_t here = at[d] - halo_of(d);
                inside = inside && here >= 0 && here < block.count[d];
                index += (block.start[d] + here) * stride[d];
            }
            dofs.push_back(inside ? index : 0);
            for (std::size_t d = nd; d-- > 0 && ++at[d] == block.count[d] + 2 * halo_of(d);)
                at[d] = 0;
        }
    }
    return dofs;
}

}  // namespace pio_bench
