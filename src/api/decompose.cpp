// The C functions that declare decompositions. If a decomposition was declared before, the
// functions find it by its content, so that the plans made for it can be used again.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "base/hash.hpp"
#include "base/log.hpp"
#include "base/text/text.hpp"
#include "definitions/definitions.hpp"
#include "session/calls.hpp"

using namespace thalweg::detail;

namespace {

Status check_edges_alike(Team& team, const Decomposition& d) {
    const std::int64_t mine = std::accumulate(
        d.edges.begin(), d.edges.end(), std::int64_t{1},
        [](std::int64_t all, Edge edge) { return 3 * all + static_cast<std::int64_t>(edge); });
    std::int64_t first = mine;
    team.world().broadcast(&first, sizeof first, 0);
    return agree(team.world(),
                 first == mine
                     ? Status{}
                     : failure(TW_EMISMATCH, "the edges on rank {} differ from those on rank 0",
                               OfRank{team.rank()}));
}

/// Checks that each box of a rank fits into its array's extents.
Status check_padding(const Decomposition& d, int rank) {
    if (d.listed) return failure(TW_EARG, "tw_pad: a list has no boxes");
    if (d.room < std::ssize(d.blocks))
        return failure(TW_ESHAPE, "tw_pad: room for {} boxes is not enough: rank {} has {}", d.room,
                       OfRank{rank}, d.blocks.size());
    std::int64_t total = std::max<std::int64_t>(d.room, 1);
    for (std::size_t i = 0; i < d.padded.size(); ++i) {
        for (const Box& box : d.blocks)
            if (box.count[i] + d.halo_low[i] + d.halo_high[i] > d.padded[i])
                return failure(TW_ESHAPE,
                               "tw_pad: extent {} along dimension {} is too small: rank {} has a "
                               "box of length {} with a halo of {} before and {} after it",
                               d.padded[i], d.dim_in_words(i), OfRank{rank}, box.count[i],
                               d.halo_low[i], d.halo_high[i]);
        if (d.padded[i] < 1 || __builtin_mul_overflow(total, d.padded[i], &total))
            return failure(TW_ESHAPE, "tw_pad: extent {} along dimension {} is {} (rank {})",
                           d.padded[i], d.dim_in_words(i),
                           d.padded[i] < 1 ? "not positive" : "too large", OfRank{rank});
    }
    return {};
}

/// Checks that the extents of arrays were set on all ranks or on none. Warns if all extents are
/// larger than the box with its halo, as probably a halo was not declared.
/// @note Collective
Status check_padding_alike(Team& team, const Decomposition& d) {
    const std::size_t nd = d.padded.size();
    std::array<std::int64_t, std::size_t(3) * max_dims> words{};
    for (std::size_t i = 0; i < nd; ++i) {
        words[i] = d.padded[i];
        words[nd + i] = -d.padded[i];
        for (const Box& box : d.blocks)
            words[2 * nd + i] =
                std::max(words[2 * nd + i], box.count[i] + d.halo_low[i] + d.halo_high[i]);
    }
    team.all_reduce(std::span(words).first(3 * nd), Reduce::max);
    for (std::size_t i = 0; i < nd; ++i) {
        if (words[i] != -words[nd + i])
            return failure(TW_EMISMATCH,
                           "tw_pad: the extent along dimension {} differs between ranks, from {} "
                           "to {}",
                           d.dim_in_words(i), -words[nd + i], words[i]);
        const std::int64_t largest = words[2 * nd + i];
        if (largest > 0 && largest < words[i] && team.rank() == 0)
            log::warn(
                "tw_pad: the extent is {} along dimension {}, but the largest box with its halo "
                "has {}: the rest is treated as padding. If it is a halo, declare it in the "
                "decomposition",
                words[i], d.dim_in_words(i), largest);
    }
    return {};
}

bool same_box(const Box& a, const Box& b) {
    return a.nd == b.nd && a.low == b.low && a.count == b.count;
}

bool same_grid(const Decomposition& a, const Decomposition& b) {
    return a.dims == b.dims && a.shape == b.shape && a.halo_low == b.halo_low &&
           a.halo_high == b.halo_high;
}

/// Tests if a declared list consists of the given indices.
bool same_list(const Listed& listed, std::span<const std::int64_t> indices) {
    if (listed.length != std::ssize(indices)) return false;
    if (listed.list->elements !=
        std::count_if(indices.begin(), indices.end(), [](std::int64_t i) { return i >= 0; }))
        return false;
    return std::all_of(listed.list->runs.begin(), listed.list->runs.end(), [&](const Run& r) {
        for (std::int64_t i = 0; i < r.length(); ++i)
            if (indices[r.position() + i] != r.global() + i) return false;
        return true;
    });
}

/// Finds the decomposition of a handle; an error begins with the name of the call.
Status find_declared(tw_decomposition handle, const char* call,
                     std::shared_ptr<const Decomposition>& found) {
    Status status = decomposition_of(handle, handle->session, found);
    if (!status.ok()) status.text = fmt::format("{}: {}", call, status.text);
    return status;
}

/// Replaces the decomposition of a handle by a changed copy. It gets a new number, because plans
/// depend on it.
/// @param change   changes the copy as this rank asks
/// @param compare  checks that the ranks ask for the same; collective
/// @note Collective
template <class Change, class Compare>
tw_status replace(tw_decomposition handle, Call call, Change&& change, Compare&& compare) {
    if (handle == nullptr) return no_handle(name_of(call));
    tw_session session = handle->session;
    const auto body = [&]() -> Status {
        std::shared_ptr<const Decomposition> now;
        std::shared_ptr<Decomposition> d;
        Status status = find_declared(handle, name_of(call), now);
        if (status.ok()) {
            d = std::make_shared<Decomposition>(*now);
            status = change(*d);
        }
        status = enter(session, call, "", status, now ? now->serial : 0);
        if (status.ok()) status = compare(*session->team, *d);
        if (!status.ok()) return status;
        d->serial = session->decompositions.next_serial();
        handle->declared->decomposition = std::move(d);
        return {};
    };
    return guarded(session, body, name_of(call));
}

/// A decomposition that one rank declares, with all that this rank can check alone.
struct Draft {
    std::shared_ptr<Decomposition> made;
    /// An equal decomposition that was declared before; null if there is none.
    std::shared_ptr<const Decomposition> known;
    /// Error of this rank; the other ranks return it, too, if they declare the same decomposition.
    Status own;
    std::optional<Declaration> told;
    /// Hash of what is declared; decompositions with the same hash are compared in full.
    std::uint64_t hash = hash_of_nothing;

    void note(std::span<const std::int64_t> words) {
        const std::int64_t n = std::ssize(words);
        hash = hash_of_words(words, hash_of_words({&n, 1}, hash));
    }
};

/// Begins a decomposition: sets its names and its shape. It has no halos yet.
Status begin_decomposition(tw_session session, const char* dims, const tw_decomposition* handle,
                           Decomposition& d) {
    d.dims = split_names(text_or_empty(dims));
    d.wording = session->wording;
    if (handle == nullptr)
        return failure(TW_EARG, "the pointer for the decomposition's handle is null");
    if (d.dims.size() > std::size_t{max_dims})
        return failure(TW_EARG, "a decomposition has {} dimensions; the maximum is {}",
                       d.dims.size(), max_dims);
    return {};
}

void set_shape(const std::int64_t* shape, Draft& draft) {
    Decomposition& d = *draft.made;
    const std::size_t nd = d.dims.size();
    d.shape.assign(shape, shape + nd);
    d.halo_low.assign(nd, 0);
    d.halo_high.assign(nd, 0);
    draft.hash = hash_of(joined_names(d.dims), draft.hash);
    draft.note(d.shape);
}

/// Checks and completes a decomposition, unless this rank has declared an equal one before.
/// @param check, take  see check_list(), take_list()
template <class Same, class Check, class Take>
Status complete_draft(tw_session session, Same&& same, Check&& check, Take&& take, Draft& draft) {
    draft.known = session->decompositions.find(draft.hash, same);
    if (draft.known) {
        *draft.made = *draft.known;
    } else {
        if (Status status = check(*draft.made); !status.ok()) return status;
        draft.own = take(*draft.made);
    }
    draft.told.emplace(*draft.made, draft.own);
    return {};
}

/// Makes a handle for the decomposition that all ranks declare. In one agreement the ranks check
/// that they declare the same, that all or none know it from before, and that they hold each
/// element once.
/// @param describe  function that makes this rank's draft
/// @note Collective
template <class Describe>
Status declare(tw_session session, Call call, const char* dims, Describe&& describe,
               tw_decomposition* decomposition) {
    Draft draft;
    const Status mine = catch_errors([&] {
        draft.made = std::make_shared<Decomposition>();
        Status begun = begin_decomposition(session, dims, decomposition, *draft.made);
        return begun.ok() ? describe(draft) : begun;
    });
    const std::int64_t serial = draft.known ? draft.known->serial : 0;
    const std::array<std::int64_t, 2> known = equality_words(serial);
    std::array<std::int64_t, 4> any{0, 0, known[0], known[1]};
    AgreedWords words;
    if (draft.told) {
        std::copy_n(draft.told->alike.begin(), 2, any.begin());
        words = {any, draft.told->most, draft.told->sum_words()};
    }
    if (Status s = enter(session, call, text_or_empty(dims), mine, 0, words); !s.ok()) return s;
    draft.made->serial = session->decompositions.next_serial();
    std::copy_n(any.begin(), 2, draft.told->alike.begin());
    std::shared_ptr<const Decomposition> found = draft.known;
    if (serial == 0 || !are_alike(std::span(any).last(2))) {
        if (Status s = judge(*session->team, *draft.told, draft.own, *draft.made); !s.ok())
            return s;
        found = draft.made;
        session->decompositions.add(draft.hash, found);
    }
    auto declared = std::make_shared<Declared>(Declared{found});
    std::deque<tw_decomposition_impl>& handles = session->decompositions.handles;
    *decomposition = &handles.emplace_back(tw_decomposition_impl{session, std::move(declared)});
    return {};
}

}  // namespace

extern "C" {

tw_status tw_decompose(tw_session session, const char* dims, int nblocks, const int64_t* shape,
                       const int64_t* start_, const int64_t* count,
                       tw_decomposition* decomposition) {
    return tw_decompose_halo(session, dims, nblocks, shape, start_, count, nullptr, nullptr,
                             decomposition);
}

tw_status tw_decompose_halo(tw_session session, const char* dims, int nblocks, const int64_t* shape,
                            const int64_t* start_, const int64_t* count, const int64_t* halo_low,
                            const int64_t* halo_high, tw_decomposition* decomposition) {
    tell(decomposition, tw_decomposition{});
    if (!is_model(session)) return no_model(session);
    const auto describe = [&](Draft& draft) -> Status {
        Decomposition& d = *draft.made;
        const std::size_t nd = d.dims.size();
        if (nblocks < 0)
            return failure(TW_EARG, "the number of blocks is {}; it must not be negative", nblocks);
        const bool starts = nblocks == 0 || (start_ != nullptr && count != nullptr);
        if (nd > 0 && (shape == nullptr || !starts))
            return failure(TW_EARG, "shape, start or count is missing (null pointer)");
        set_shape(shape, draft);
        if (halo_low != nullptr) std::copy_n(halo_low, nd, d.halo_low.begin());
        if (halo_high != nullptr) std::copy_n(halo_high, nd, d.halo_high.begin());
        for (const auto* numbers : {&d.halo_low, &d.halo_high}) draft.note(*numbers);
        for (int b = 0; b < nblocks; ++b) {
            Box box;
            box.nd = nd;
            const auto at = b * nd;
            std::copy_n(start_ + at, nd, box.low.begin());
            std::copy_n(count + at, nd, box.count.begin());
            draft.note({start_ + at, nd});
            draft.note({count + at, nd});
            d.blocks.push_back(box);
        }
        const auto same = [&](const Decomposition& known) {
            return !known.listed && same_grid(known, d) &&
                   std::equal(known.blocks.begin(), known.blocks.end(), d.blocks.begin(),
                              d.blocks.end(), same_box);
        };
        const auto take = [](Decomposition&) { return Status{}; };
        return complete_draft(session, same, check_boxes, take, draft);
    };
    return guarded(
        session, [&] { return declare(session, Call::decompose, dims, describe, decomposition); });
}

tw_status tw_decompose_list(tw_session session, const char* dims, const int64_t* shape,
                            const char* listed, int64_t n, const int64_t* indices,
                            tw_list_kind kind, tw_decomposition* decomposition) {
    tell(decomposition, tw_decomposition{});
    if (!is_model(session)) return no_model(session);
    const bool shared = kind == TW_LIST_SHARED;
    const auto describe = [&](Draft& draft) -> Status {
        Decomposition& d = *draft.made;
        if (n < 0)
            return failure(TW_EARG, "the length of the list is {}; it must not be negative", n);
        if ((!d.dims.empty() && shape == nullptr) || (n > 0 && indices == nullptr))
            return failure(TW_EARG, "shape or indices are missing (null pointer)");
        if (kind != TW_LIST_UNIQUE && kind != TW_LIST_SHARED)
            return failure(TW_EARG, "invalid value {} for argument 'kind' of a list",
                           static_cast<int>(kind));
        set_shape(shape, draft);
        const std::vector<std::string> names = split_names(text_or_empty(listed));
        const std::span list(indices, n);
        draft.hash = hash_of(joined_names(names) + (shared ? "shared" : ""), draft.hash);
        draft.note(list);
        const auto same = [&](const Decomposition& known) {
            if (!known.listed || !same_grid(known, d) || known.listed->shared != shared)
                return false;
            const auto first = known.dims.begin() + known.listed->first;
            return std::equal(first, first + known.listed->count, names.begin(), names.end()) &&
                   same_list(*known.listed, list);
        };
        const auto check = [&](Decomposition& given) {
            return check_list(given, names, n, shared);
        };
        const auto take = [&](Decomposition& given) {
            return take_list(given, list, session->rank);
        };
        return complete_draft(session, same, check, take, draft);
    };
    return guarded(session, [&] {
        return declare(session, Call::decompose_list, dims, describe, decomposition);
    });
}

tw_status tw_fill_halo(tw_decomposition decomposition, const tw_edge* edges) {
    const auto set_edges = [&](Decomposition& d) -> Status {
        if (edges == nullptr) return failure(TW_EARG, "edges are missing (null pointer)");
        if (d.listed) return failure(TW_EARG, "a list has no halo");
        d.edges.clear();
        for (int i = 0; i < d.nd(); ++i) {
            if (edges[i] < TW_HALO_KEEP || edges[i] > TW_HALO_PERIODIC)
                return failure(TW_EARG, "dimension {}: invalid edge {}", d.dim_in_words(i),
                               static_cast<int>(edges[i]));
            d.edges.push_back(static_cast<Edge>(edges[i]));
        }
        return {};
    };
    return replace(decomposition, Call::fill_halo, set_edges, check_edges_alike);
}

tw_status tw_pad(tw_decomposition decomposition, const int64_t* extent, int64_t boxes) {
    const auto set_padding = [&](Decomposition& d) {
        if (extent == nullptr) return failure(TW_EARG, "tw_pad: extent is missing (null pointer)");
        d.padded.assign(extent, extent + d.nd());
        d.room = boxes;
        return check_padding(d, decomposition->session->rank);
    };
    return replace(decomposition, Call::pad, set_padding, check_padding_alike);
}

tw_status tw_inq_decomposition(tw_decomposition decomposition, tw_decomposition_info* info) {
    tell(info, tw_decomposition_info{});
    if (decomposition == nullptr) return no_handle();
    tw_session session = decomposition->session;
    return guarded(session, [&]() -> Status {
        if (info == nullptr)
            return failure(TW_EARG, "tw_inq_decomposition: info is missing (null pointer)");
        std::shared_ptr<const Decomposition> now;
        if (Status s = find_declared(decomposition, "tw_inq_decomposition", now); !s.ok()) return s;
        auto& described = decomposition->described;
        if (!described || !described->describe(*now))
            described = std::make_shared<const DecompositionArrays>(now);
        *info = described->info();
        return {};
    });
}

tw_status tw_free_decomposition(tw_decomposition* decomposition) {
    if (decomposition == nullptr || *decomposition == nullptr) return no_handle();
    const tw_decomposition d = *decomposition;
    const tw_status code = guarded(d->session, [&]() -> Status {
        std::shared_ptr<const Decomposition> now;
        if (Status s = find_declared(d, "tw_free_decomposition", now); !s.ok()) return s;
        d->declared.reset();
        d->described.reset();
        return {};
    });
    if (!was_refused(code)) *decomposition = nullptr;
    return code;
}

}  // extern "C"
