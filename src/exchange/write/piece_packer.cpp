// SPDX-License-Identifier: Apache-2.0
#include "exchange/write/piece_packer.hpp"

#include <algorithm>
#include <cstring>

#include "exchange/pack/copy_runs.hpp"
#include "exchange/pack/dense.hpp"
#include "exchange/pieces.hpp"

namespace thalweg::detail {

namespace {

/// The head of a rank's section in a message.
struct SectionHead {
    std::int64_t place;  ///< place of the rank in its node
    std::int64_t bytes;
};

std::int64_t rounded(std::int64_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

std::int64_t PiecePacker::record() const {
    return views_.variable(pass_.space.places.front().variable).record ? pass_.record : -1;
}

/// Returns the places of a piece of which this rank has values.
std::vector<PlaceInPiece> PiecePacker::own_places(const Share& share, Extent piece) const {
    std::vector<PlaceInPiece> own = places_in(share.space(), piece);
    std::erase_if(own, [&](const PlaceInPiece& in) {
        return pass_.actions[in.place] != Action::data || pass_.parts[in.place] == nullptr;
    });
    return own;
}

std::int64_t PiecePacker::bytes_in(const Share& share, Extent piece) const {
    std::int64_t bytes = 0;
    for (const auto& [place, range] : own_places(share, piece)) {
        const VariableSlot& p = pass_.space.places[place];
        for_frames(share, place, range, pass_.parts[place]->boxes(),
                   [&](const HeldBox& held, const Box& part) {
                       Index stride{};
                       bytes += dense_strides(part.nd, dense_shape(held, part), p.element, stride);
                   });
    }
    return bytes;
}

std::int64_t PiecePacker::bytes_near(const Share& share, Extent piece) const {
    std::int64_t bytes = 0;
    for (const auto& [place, range] : own_places(share, piece)) {
        const std::int64_t element = share.space().places[place].element;
        for_frames(share, place, range, pass_.parts[place]->boxes(),
                   [&](const HeldBox& held, const Box& part) {
                       Index lengths = part.count;
                       if (held.list) {
                           const IndexList& list = *held.list->list;
                           const std::int64_t near = held.list->near(part).size();
                           if (near == 0) return;
                           for (const int d : held.list->dims) lengths[d] = 1;
                           lengths[held.list->dims.back()] =
                               near *
                               std::max<std::int64_t>(1, list.elements / std::ssize(list.runs));
                       }
                       bytes += volume(std::span(lengths.data(), part.nd)) * element;
                   });
    }
    return bytes;
}

/// Tests if the ranks together have every element of a place.
bool PiecePacker::is_covered(std::size_t place) const {
    return pass_.actions[place] == Action::data &&
           views_.of(pass_.space.places[place].variable).holding->decomposition->whole;
}

bool PiecePacker::fills_any(const Share& share) const {
    const std::vector<VariableSlot>& places = share.space().places;
    for (std::size_t i = 0; i < places.size(); ++i)
        if (pass_.actions[i] != Action::skip &&
            (places[i].padded > places[i].bytes || (places[i].bytes > 0 && !is_covered(i))))
            return true;
    return false;
}

void PiecePacker::prefill(const Share& share, Extent piece, char* slot) const {
    prefill_piece(share.space(), piece, slot, views_.fills(),
                  [&](std::size_t place) { return is_covered(place); });
}

/// Copies this rank's elements of a place. @param target  returns the address and order of a part
template <class Target>
void PiecePacker::pack_place(const Share& share, const PlaceInPiece& in,
                             const Target& target) const {
    const auto [place, range] = in;
    const VariableSlot& p = share.space().places[place];
    const int variable = p.variable;
    const Part& put = *pass_.parts[place];
    const std::span<const HeldBox> boxes = put.boxes();
    const RowKernel kernel = put.kernel(views_.variable(variable).type, views_.order());
    const char* const fill = views_.fills()[variable].data();
    for_frames(share, place, range, boxes, [&](const HeldBox& held, const Box& part) {
        Strided from = put.locate(&held - boxes.data(), p.element);
        from.base += offset_in(held, part, from.stride);
        const RunSide<char> to = target(held, part);
        pass_.misfits[variable] +=
            held.list ? copy_runs(*held.list, part, to,
                                  {RunOrder::positions, from.base, from.stride}, kernel, fill)
                      : packers_.copy_box(part.nd, part.count, to.base, to.stride, from.base,
                                          from.stride, kernel, fill);
    });
}

void PiecePacker::pack(const Share& share, Extent piece, char* slot) const {
    for (const PlaceInPiece& in : own_places(share, piece)) {
        const VariableSlot& p = share.space().places[in.place];
        const Index stride = byte_strides(p);
        const std::int64_t begin = p.offset - piece.begin;
        pack_place(share, in, [&](const HeldBox&, const Box& part) {
            return RunSide<char>{RunOrder::indices,
                                 slot + (begin + share.position(in.place, part.low) * p.element),
                                 stride};
        });
    }
}

std::int64_t PiecePacker::section_bytes(std::int64_t bytes) {
    return sizeof(SectionHead) + rounded(bytes);
}

void PiecePacker::pack_section(const Share& share, Extent piece, int node_rank, std::int64_t bytes,
                               char* to) const {
    const SectionHead head{node_rank, bytes};
    std::memcpy(to, &head, sizeof head);
    to += sizeof head;
    for (const PlaceInPiece& in : own_places(share, piece)) {
        const std::int64_t element = share.space().places[in.place].element;
        pack_place(share, in, [&](const HeldBox& held, const Box& part) {
            RunSide<char> side{RunOrder::dense, to, {}};
            to += dense_strides(part.nd, dense_shape(held, part), element, side.stride);
            return side;
        });
    }
}

std::set<int> PiecePacker::nodes_with(const Share& share, Extent piece,
                                      const Topology& topology) const {
    std::set<int> nodes;
    for (const auto& [place, range] : places_in(share.space(), piece)) {
        if (pass_.actions[place] != Action::data) continue;
        for (const auto& [rank, boxes] : views_.of(pass_.space.places[place].variable).remote) {
            const int node = topology.node_of[rank];
            if (nodes.count(node) != 0) continue;
            for_frames(share, place, range, boxes, [&](const HeldBox& held, const Box& box) {
                if (nodes.count(node) == 0 && has_any(held, box)) nodes.insert(node);
            });
        }
    }
    return nodes;
}

void PiecePacker::unpack(const Share& share, Extent piece, std::span<const char> message, int node,
                         const Topology& topology, char* slot) const {
    SectionHead head;
    while (message.size() >= sizeof head) {
        std::memcpy(&head, message.data(), sizeof head);
        unpack_rank(share, piece, message.data() + sizeof head, topology.rank_of(node, head.place),
                    slot);
        message = message.subspan(section_bytes(head.bytes));
    }
}

void PiecePacker::unpack_rank(const Share& share, Extent piece, const char* from, int rank,
                              char* slot) const {
    for (const PlaceInPiece& in : places_in(share.space(), piece)) {
        if (pass_.actions[in.place] != Action::data) continue;
        const VariableSlot& p = share.space().places[in.place];
        const View& view = views_.of(p.variable);
        const auto boxes = view.remote.find(rank);
        if (boxes == view.remote.end()) continue;
        const Index file_stride = byte_strides(p);
        const std::int64_t begin = p.offset - piece.begin;
        const RowKernel kernel = move_kernel(p.element);
        const auto unpack_part = [&](const HeldBox& held, const Box& part) {
            Index stride{};
            const std::int64_t n =
                dense_strides(part.nd, dense_shape(held, part), p.element, stride);
            char* const to = slot + (begin + share.position(in.place, part.low) * p.element);
            copy_held(held, part, {RunOrder::indices, to, file_stride},
                      {RunOrder::dense, from, stride}, kernel, nullptr);
            from += n;
        };
        for_frames(share, in.place, in.range, boxes->second, unpack_part);
    }
}

}  // namespace thalweg::detail
