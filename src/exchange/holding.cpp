// SPDX-License-Identifier: Apache-2.0
#include "exchange/holding.hpp"

#include <numeric>
#include <utility>

#include "exchange/pack/dense.hpp"

namespace thalweg::detail {

namespace {

/// Tests if a box has no list, or a list without holes.
bool is_dense(const HeldBox& held, const Decomposition& decomposition) {
    return !held.list || held.list->list->elements == decomposition.listed->length;
}

/// Computes the other members of a holding from its boxes.
void add_up(Holding& holding) {
    for (const HeldBox& held : holding.packed) {
        holding.packed_at.push_back(holding.elements);
        holding.elements += elements_of(held);
    }
}

/// Finds a holding with the given decomposition and order among the last ones in the list.
/// @return null: there is none
std::shared_ptr<const Holding> find_alike(const Holdings& holdings,
                                          const Decomposition& decomposition,
                                          const std::vector<int>& order) {
    if (decomposition.replicated) return nullptr;
    constexpr std::size_t latest = 256;
    const std::size_t end = holdings.size() > latest ? holdings.size() - latest : 0;
    for (std::size_t i = holdings.size(); i-- > end;)
        if (holdings[i]->decomposition.get() == &decomposition && holdings[i]->order == order)
            return holdings[i];
    return nullptr;
}

}  // namespace

std::vector<char> are_whole(const Holdings& holdings) {
    std::vector<char> whole;
    for (const auto& holding : holdings) whole.push_back(holding->decomposition->whole);
    return whole;
}

std::shared_ptr<const Holding> make_holding(std::shared_ptr<const Decomposition> decomposition,
                                            std::vector<int> order,
                                            std::span<const std::int64_t> shape) {
    auto made = std::make_shared<Holding>();
    made->decomposition = std::move(decomposition);
    made->order = std::move(order);
    const Decomposition& d = *made->decomposition;
    made->key = Holding::key_of(d);
    made->held = held_by(d, made->order, shape);
    made->packed = made->held;
    for (HeldBox& held : made->packed)
        if (!is_dense(held, d)) held.list = d.listed->in_order(made->order, shape, true);
    add_up(*made);
    return made;
}

std::shared_ptr<const Holding> hold_section(const HeldBox& section) {
    auto made = std::make_shared<Holding>();
    made->held = made->packed = {section};
    add_up(*made);
    return made;
}

Status hold(std::shared_ptr<const Decomposition> decomposition, std::span<const std::string> dims,
            std::span<const std::int64_t> shape, const Holdings& known,
            std::shared_ptr<const Holding>& made) {
    std::vector<int> order;
    if (Status s = match_dimensions(*decomposition, dims, shape, order); !s.ok()) return s;
    if (decomposition->listed && decomposition->listed->shared)
        return failure(TW_EOVERLAP,
                       "the decomposition was made with TW_LIST_SHARED, which is for reading only");
    made = find_alike(known, *decomposition, order);
    if (!made) made = make_holding(std::move(decomposition), std::move(order), shape);
    return {};
}

std::shared_ptr<const Holding> hold_whole(int rank, int holder, std::vector<std::string> dims,
                                          std::span<const std::int64_t> shape,
                                          IndexConvention wording) {
    std::vector<int> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    auto made = std::make_shared<Holding>(
        *make_holding(replicate(rank == holder ? 0 : 1, std::move(dims),
                                {shape.begin(), shape.end()}, std::move(wording)),
                      std::move(order), shape));
    made->key = Holding::key_of_holder(holder);
    return made;
}

GivenDimensions given_by(const Decomposition& d) { return {d.dims, d.shape, d.by_position()}; }

Status define_held_variable(Definitions& definitions, Holdings& holdings, const std::string& path,
                            int rank, const std::string& name, int type, const std::string& dims,
                            std::shared_ptr<const Decomposition> decomposition,
                            const FindLength& find_length, IndexConvention wording) {
    GivenDimensions given;
    if (decomposition) given = given_by(*decomposition);
    std::shared_ptr<const Holding> made;
    const auto accept = [&](const Variable& v, std::span<const std::string> fixed) -> Status {
        if (holdings.size() == holdings.capacity()) holdings.reserve(2 * holdings.size() + 1);
        if (!decomposition) {
            made = hold_whole(rank, 0, {fixed.begin(), fixed.end()}, v.shape, wording);
            return {};
        }
        Status status = hold(decomposition, fixed, v.shape, holdings, made);
        if (!status.ok())
            reword(status, "{}: variable '{}': {}", path, OfVariable{name}, status.text);
        return status;
    };
    Status status = define_variable(definitions, path, name, type, dims,
                                    decomposition ? &given : nullptr, find_length, accept);
    if (!status.ok()) return status;
    holdings.push_back(std::move(made));
    return {};
}

std::vector<std::string> describe(const Definitions& definitions, const Holdings& holdings,
                                  IndexConvention wording) {
    std::vector<std::string> held;
    for (const auto& holding : holdings) {
        const Decomposition& d = *holding->decomposition;
        held.push_back(fmt::format(", {} ({})",
                                   d.replicated ? std::string("replicated")
                                                : fmt::format("decomposition {} over", d.serial),
                                   wording.names(d.dims)));
    }
    return describe(definitions, held, wording);
}

}  // namespace thalweg::detail
