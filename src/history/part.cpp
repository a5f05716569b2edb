// SPDX-License-Identifier: Apache-2.0
#include "history/part.hpp"

#include <algorithm>
#include <utility>

#include "history/pick.hpp"
#include "history/ranges.hpp"
#include "session/session.hpp"

namespace thalweg::history {

namespace {

/// Chooses elements of boxes: each combination of ranges becomes a box. If every rank has all
/// elements, the chosen ones stay one box.
void choose_boxes(const Part& part, const Choice& choice, Chosen& chosen) {
    if (part.replicated) choose_all(chosen);
    const Integers whole = dense_steps(chosen.part.shape);
    const auto nd = static_cast<std::size_t>(part.nd());
    for (int b = 0; b < part.boxes; ++b) {
        std::vector<std::vector<Range>> all;
        for (std::size_t d = 0; d < nd; ++d)
            all.push_back(chosen_ranges(part.start[b * nd + d], part.count[b * nd + d],
                                        chosen_along(choice, part.dims[d])));
        std::vector<Range> one;
        combine_ranges(all, one, [&](const std::vector<Range>& box) {
            ChosenBox piece;
            piece.box = b;
            std::int64_t in_whole = 0;
            for (std::size_t d = 0; d < nd; ++d) {
                piece.start.push_back(box[d].from);
                piece.count.push_back(box[d].count);
                in_whole += whole[d] * box[d].to;
            }
            piece.step = part.replicated ? whole : dense_steps(piece.count);
            piece.to = part.replicated ? in_whole : chosen.elements;
            if (!part.replicated) {
                for (const Range& range : box) {
                    chosen.part.start.push_back(range.to);
                    chosen.part.count.push_back(range.count);
                }
                ++chosen.part.boxes;
                chosen.elements += elements_of(piece.count);
            }
            if (elements_of(piece.count) > 0) chosen.pieces.push_back(std::move(piece));
        });
    }
}

/// Returns the number of a listed element among the chosen ones; -1 if it was not chosen.
/// @param renumbered  new index of each index along each listed dimension; empty: unchanged
std::int64_t renumber(const Part& part, const Chosen& chosen,
                      const std::vector<Integers>& renumbered, std::int64_t index) {
    if (index < 0) return -1;
    std::int64_t result = 0, scale = 1;
    for (int i = part.listed; i-- > 0;) {
        const int d = part.first_listed + i;
        std::int64_t at = index % part.shape[d];
        index /= part.shape[d];
        if (!renumbered[i].empty()) at = renumbered[i][at];
        if (at < 0) return -1;
        result += scale * at;
        scale *= chosen.part.shape[d];
    }
    return result;
}

void choose_listed(const Part& part, const Choice& choice, Chosen& chosen) {
    std::vector<Integers> renumbered(part.listed);
    for (int i = 0; i < part.listed; ++i) {
        const int d = part.first_listed + i;
        const Integers* along = chosen_along(choice, part.dims[d]);
        if (along == nullptr) continue;
        renumbered[i].assign(part.shape[d], -1);
        for (std::size_t k = 0; k < along->size(); ++k)
            renumbered[i][(*along)[k]] = static_cast<std::int64_t>(k);
    }
    std::vector<Range> positions;
    for (std::size_t p = 0; p < part.indices.size(); ++p) {
        const std::int64_t index = renumber(part, chosen, renumbered, part.indices[p]);
        if (index < 0) continue;
        const auto at = static_cast<std::int64_t>(p);
        if (!positions.empty() && positions.back().from + positions.back().count == at)
            ++positions.back().count;
        else
            positions.push_back({at, std::ssize(chosen.part.indices), 1});
        chosen.part.indices.push_back(index);
    }
    std::vector<std::vector<Range>> all;
    Integers extent;
    for (int d = 0; d < part.nd(); ++d) {
        if (d == part.first_listed) {
            all.push_back(positions);
            extent.push_back(std::ssize(chosen.part.indices));
        }
        if (part.lists(d)) continue;
        all.push_back(chosen_ranges(0, part.shape[d], chosen_along(choice, part.dims[d])));
        extent.push_back(chosen.part.shape[d]);
    }
    const Integers step = dense_steps(extent);
    std::vector<Range> one;
    combine_ranges(all, one, [&](const std::vector<Range>& box) {
        ChosenBox piece;
        piece.step = step;
        for (std::size_t d = 0; d < box.size(); ++d) {
            piece.start.push_back(box[d].from);
            piece.count.push_back(box[d].count);
            piece.to += step[d] * box[d].to;
        }
        if (elements_of(piece.count) > 0) chosen.pieces.push_back(std::move(piece));
    });
    chosen.elements = elements_of(extent);
}

}  // namespace

Status part_of(tw_decomposition decomposition, Part& part) {
    tw_decomposition_info info;
    if (const tw_status code = tw_inq_decomposition(decomposition, &info); code != TW_OK)
        return detail::failure(code, "the decomposition cannot be used: {}", tw_strerror(code));
    part = {};
    part.dims = split_dims(info.dims);
    part.shape.assign(info.shape, info.shape + info.ndims);
    part.boxes = info.nblocks;
    const std::int64_t numbers = static_cast<std::int64_t>(info.nblocks) * info.ndims;
    part.start.assign(info.start, info.start + numbers);
    part.count.assign(info.count, info.count + numbers);
    part.first_listed = info.first_listed;
    part.listed = info.nlisted;
    part.indices.assign(info.indices, info.indices + info.n);
    return {};
}

Part replicated_part(std::vector<std::string> dims, Integers shape) {
    Part part;
    part.replicated = true;
    part.boxes = 1;
    part.start.assign(shape.size(), 0);
    part.count = shape;
    part.dims = std::move(dims);
    part.shape = std::move(shape);
    return part;
}

Chosen choose(const Part& part, const Choice& choice) {
    if (!choice.pick.dims.empty()) return choose_picked(part, choice);
    Chosen chosen;
    chosen.part.dims = part.dims;
    chosen.part.shape = part.shape;
    chosen.part.replicated = part.replicated;
    chosen.part.first_listed = part.first_listed;
    chosen.part.listed = part.listed;
    for (int d = 0; d < part.nd(); ++d)
        if (const Integers* along = chosen_along(choice, part.dims[d]))
            chosen.part.shape[d] = std::ssize(*along);
    if (part.listed > 0)
        choose_listed(part, choice, chosen);
    else
        choose_boxes(part, choice, chosen);
    return chosen;
}

tw_status declare(tw_session session, const Part& part, tw_decomposition* decomposition) {
    *decomposition = nullptr;
    if (part.replicated) return TW_OK;
    const std::string dims = joined_names(part.dims);
    tw_status status = TW_OK;
    if (part.listed == 0) {
        status = tw_decompose(session, dims.c_str(), part.boxes, part.shape.data(),
                              part.start.data(), part.count.data(), decomposition);
    } else {
        const auto first = part.dims.begin() + part.first_listed;
        const std::string listed = joined_names({first, first + part.listed});
        status = tw_decompose_list(session, dims.c_str(), part.shape.data(), listed.c_str(),
                                   std::ssize(part.indices), part.indices.data(), TW_LIST_UNIQUE,
                                   decomposition);
    }
    if (*decomposition != nullptr) (*decomposition)->of_history = true;
    return status;
}

}  // namespace thalweg::history
