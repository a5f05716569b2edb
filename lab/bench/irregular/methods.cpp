// SPDX-License-Identifier: Apache-2.0
#include "irregular/methods.hpp"

#include <mpi.h>

#include <algorithm>

namespace thalweg::bench::irregular {
namespace {

/// Calls f(position in memory, index in the file) for each element of a dense block.
template <class F>
void for_each(const std::vector<Dim>& dims, const Part& part, F f) {
    const std::size_t nd = dims.size();
    std::vector<std::int64_t> at(nd, 0);
    const std::int64_t row = part.count[nd - 1], n = part.elements();
    for (std::int64_t position = 0; position < n; position += row) {
        std::int64_t index = 0;
        for (std::size_t d = 0; d < nd; ++d)
            index = index * dims[d].length + part.start[d] + (d + 1 < nd ? at[d] : 0);
        for (std::int64_t i = 0; i < row; ++i) f(position + i, index + i);
        for (std::size_t d = nd - 1; d-- > 0;) {
            if (++at[d] < part.count[d]) break;
            at[d] = 0;
        }
    }
}

}  // namespace

const List& list_of(const IndexMap& map, Share share) {
    return share == Share::flattened ? map.flattened : map.shortest();
}

Part box_of(const IndexMap& map, int rank, int ranks) {
    const List& list = map.shortest();
    std::vector<int> grid(list.count, 0);
    MPI_Dims_create(ranks, static_cast<int>(grid.size()), grid.data());
    Part part;
    for (const Dim& dim : list.dims) {
        part.start.push_back(0);
        part.count.push_back(dim.length);
    }
    for (std::size_t i = list.count; i-- > 0; rank /= grid[i]) {
        const std::int64_t length = list.dims[list.first + i].length, at = rank % grid[i];
        const std::int64_t begin = length * at / grid[i];
        part.start[list.first + i] = begin;
        part.count[list.first + i] = length * (at + 1) / grid[i] - begin;
    }
    return part;
}

Fields::Fields(const IndexMap& map, Share share, int variables, int rank, int ranks)
    : variables_(variables) {
    const Part box = box_of(map, rank, ranks);
    elements_ = share == Share::box ? box.elements() : list_of(map, share).local_elements();
    values_.resize(static_cast<std::size_t>(elements_ * variables));
    for (int v = 0; v < variables; ++v) {
        float* const values = values_.data() + v * elements_;
        const auto put = [&](std::int64_t at, std::int64_t index) {
            values[at] = field_number<float>(static_cast<std::uint32_t>(v), index);
        };
        if (share == Share::box)
            for_each(map.dims(), box, put);
        else
            list_of(map, share).for_each(put);
    }
}

const std::vector<MethodInfo>& methods() {
    static const std::vector<MethodInfo> table = {
        {"raw", "every rank writes 1/P of the bytes with pwrite, without a format: the baseline",
         false, false, Share::shortest, "", make_raw},
        {"box", "Thalweg: an array of the same shape, one contiguous block per rank", true, true,
         Share::box, "method=record; storage=posix", make_library},
        {"thalweg", "Thalweg: an index list over the dimensions that are not held whole", true,
         true, Share::shortest, "method=record; storage=posix", make_library},
        {"thalweg-flattened", "the same with a list over all dimensions", true, true,
         Share::flattened, "method=record; storage=posix", make_library},
        {"thalweg-direct", "Thalweg: every rank writes its own pieces", true, true, Share::shortest,
         "method=direct; storage=posix", make_library},
        {"pnetcdf-varn", "plain PnetCDF: put_varn_all of the contiguous pieces, once per variable",
         false, true, Share::shortest, "", make_varn},
        {"pnetcdf-varn-nonblocking",
         "plain PnetCDF: iput_varn of all variables, one wait_all per step", false, true,
         Share::shortest, "", make_varn_nonblocking},
    };
    return table;
}

MethodInfo find_method(const std::string& name) {
    const auto colon = name.find(':');
    std::string names;
    for (const MethodInfo& m : methods()) {
        names += (names.empty() ? "" : ", ") + m.name;
        if (m.name != name.substr(0, colon)) continue;
        MethodInfo info = m;
        if (colon == std::string::npos) return info;
        if (!info.library)
            throw UsageError("method \"" + name + "\": only the library's methods have settings");
        info.name = name;
        info.settings += ";" + name.substr(colon + 1);
        std::replace(info.settings.begin(), info.settings.end(), ':', ';');
        return info;
    }
    throw UsageError("unknown method \"" + name + "\"; the methods are " + names);
}

}  // namespace thalweg::bench::irregular
