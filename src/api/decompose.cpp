// The C functions that declare who holds what. What was declared before is found again by its
// content, so that plans made for it serve once more.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <numeric>

#include "base/log.hpp"
#include "definitions/definitions.hpp"
#include "session/calls.hpp"

using namespace thalweg::detail;

namespace {

Status check_edges_alike(Team& team, const std::vector<Edge>& edges) {
    const std::int64_t mine = std::accumulate(
        edges.begin(), edges.end(), std::int64_t{1},
        [](std::int64_t all, Edge edge) { return 3 * all + static_cast<std::int64_t>(edge); });
    std::int64_t first = mine;
    team.world().broadcast(&first, sizeof first, 0);
    return agree(team.world(), alone([&]() -> Status {
                     if (first == mine) return {};
                     return failure(TW_EMISMATCH,
                                    "the edges on rank {} differ from those on rank 0",
                                    team.rank());
                 }));
}

/// Whether a rank's boxes fit into the extents.
Status check_padding(const Decomposition& d, int rank) {
    if (d.listed) return failure(TW_EARG, "tw_pad: a list has no boxes");
    if (d.room < std::ssize(d.blocks))
        return failure(TW_ESHAPE, "tw_pad: boxes is {}, but rank {} has {}", d.room, rank,
                       d.blocks.size());
    std::int64_t total = std::max<std::int64_t>(d.room, 1);
    for (std::size_t i = 0; i < d.padded.size(); ++i) {
        for (const Box& box : d.blocks)
            if (box.count[i] + d.halo_low[i] + d.halo_high[i] > d.padded[i])
                return failure(TW_ESHAPE,
                               "tw_pad: extent {} along dimension {} is too small: rank {} has a "
                               "box of length {} with a halo of {} before and {} after it",
                               d.padded[i], d.dim_in_words(i), rank, box.count[i], d.halo_low[i],
                               d.halo_high[i]);
        if (d.padded[i] < 1 || __builtin_mul_overflow(total, d.padded[i], &total))
            return failure(TW_ESHAPE, "tw_pad: extent {} along dimension {} is {} (rank {})",
                           d.padded[i], d.dim_in_words(i),
                           d.padded[i] < 1 ? "not positive" : "too large", rank);
    }
    return {};
}

/// The extents are the same on all ranks. Where they are larger than any box with its halo, one
/// may have been forgotten. @note Collective
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

/// Finds candidates only; contents are compared in full.
class Hash {
public:
    void add(std::span<const std::int64_t> words) {
        add(words.size());
        for (const std::int64_t word : words) add(word);
    }
    void add(std::int64_t word) {
        value_ = (value_ ^ word) * 0x9e3779b97f4a7c15ULL;
        value_ ^= value_ >> 29;
    }
    void add(const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            add(name.size());
            for (const char c : name) add(c);
        }
    }
    std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0;
};

bool same_box(const Box& a, const Box& b) {
    return a.nd == b.nd && a.low == b.low && a.count == b.count;
}

bool same_grid(const Decomposition& a, const Decomposition& b) {
    return a.dims == b.dims && a.shape == b.shape && a.halo_low == b.halo_low &&
           a.halo_high == b.halo_high;
}

/// Whether a list is that of the indices.
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

/// The decomposition that all ranks declared before with the same content, or null. Freeing is
/// local, so a rank may still have one that others have not: the latest one counts.
/// @param same  whether a known one is what this rank declares
/// @note Collective
template <class Same>
std::shared_ptr<const Decomposition> find_known(tw_session session, std::uint64_t hash,
                                                Same&& same) {
    std::shared_ptr<const Decomposition> found;
    if (session->known.size() > session->most_known) {
        std::erase_if(session->known, [](const auto& k) { return k.second.expired(); });
        session->most_known = std::max<std::size_t>(64, 2 * session->known.size());
    }
    const auto [first, last] = session->known.equal_range(hash);
    for (auto k = first; k != last; ++k)
        if (auto alive = k->second.lock(); alive && (!found || alive->serial > found->serial))
            if (same(*alive)) found = alive;
    const std::int64_t serial = found ? found->serial : 0;
    std::int64_t words[2] = {serial, -serial};
    session->team->all_reduce(words, Reduce::min);
    if (words[0] <= 0 || words[0] != -words[1]) return nullptr;
    return found;
}

/// A handle of the decomposition that same() knows, or that make(made) makes. @note Collective
template <class Same, class Make>
Status declare(tw_session session, std::uint64_t hash, Same&& same, Make&& make,
               tw_decomposition* decomposition) {
    std::shared_ptr<const Decomposition> found = find_known(session, hash, same);
    const bool is_new = !found;
    if (is_new)
        if (Status status = make(found); !status.ok()) return status;
    bool added = false;
    Status kept = alone([&]() -> Status {
        auto declared = std::make_shared<Declared>(Declared{found});
        if (is_new) session->known.emplace(hash, found);
        session->decompositions.push_back({session, std::move(declared)});
        added = true;
        return {};
    });
    if (kept = session->team->agree(kept); !kept.ok()) {
        if (added) session->decompositions.pop_back();
        return kept;
    }
    *decomposition = &session->decompositions.back();
    return {};
}

/// What a handle stands for, to be changed. @param made  receives a copy
Status copy_of(const tw_decomposition_impl& handle, const char* call,
               std::shared_ptr<Decomposition>& made) {
    std::shared_ptr<const Decomposition> now;
    if (Status status = decomposition_of(&handle, handle.session, now); !status.ok()) {
        status.text = fmt::format("{}: {}", call, status.text);
        return status;
    }
    made = std::make_shared<Decomposition>(*now);
    return {};
}

int serial_of(const tw_decomposition_impl& handle) {
    return handle.declared ? handle.declared->decomposition->serial : 0;
}

/// What every decomposition begins with: its names and its shape, without halos.
/// @param check     of the other arguments, given the number of dimensions
/// @param describe  what else this rank makes of them, given that number
/// @note Collective
template <class Check, class Describe>
Status begin_decomposition(tw_session session, Call call, const char* dims,
                           const std::int64_t* shape, tw_decomposition* decomposition,
                           Check&& check, Describe&& describe, Decomposition& d) {
    const auto begin = [&]() -> Status {
        d.dims = split_names(text_or_empty(dims));
        d.wording = session->wording;
        const std::size_t nd = d.dims.size();
        if (decomposition == nullptr)
            return failure(TW_EARG, "the pointer for the decomposition's handle is null");
        if (nd > std::size_t{max_dims})
            return failure(TW_EARG, "a decomposition has {} dimensions; the maximum is {}", nd,
                           max_dims);
        if (Status status = check(nd); !status.ok()) return status;
        d.shape.assign(shape, shape + nd);
        d.halo_low.assign(nd, 0);
        d.halo_high.assign(nd, 0);
        describe(nd);
        return {};
    };
    Status status = enter(session, call, text_or_empty(dims), alone(begin));
    if (!status.ok()) return status;
    d.serial = ++session->declared;
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
    return guarded(session, [&]() -> Status {
        Decomposition d;
        Hash hash;
        const auto check = [&](std::size_t nd) -> Status {
            if (nblocks < 0)
                return failure(TW_EARG, "the number of blocks is {}; it must not be negative",
                               nblocks);
            const bool starts = nblocks == 0 || (start_ != nullptr && count != nullptr);
            if (nd == 0 || (shape != nullptr && starts)) return {};
            return failure(TW_EARG, "shape, start or count is missing (null pointer)");
        };
        const auto describe = [&](std::size_t nd) {
            if (halo_low != nullptr) std::copy_n(halo_low, nd, d.halo_low.begin());
            if (halo_high != nullptr) std::copy_n(halo_high, nd, d.halo_high.begin());
            hash.add(d.dims);
            for (const auto* numbers : {&d.shape, &d.halo_low, &d.halo_high}) hash.add(*numbers);
            for (int b = 0; b < nblocks; ++b) {
                Box box;
                box.nd = nd;
                const auto at = b * nd;
                std::copy_n(start_ + at, nd, box.low.begin());
                std::copy_n(count + at, nd, box.count.begin());
                hash.add(std::span(start_ + at, nd));
                hash.add(std::span(count + at, nd));
                d.blocks.push_back(box);
            }
        };
        if (Status status = begin_decomposition(session, Call::decompose, dims, shape,
                                                decomposition, check, describe, d);
            !status.ok())
            return status;
        const auto same = [&](const Decomposition& known) {
            return !known.listed && same_grid(known, d) &&
                   std::equal(known.blocks.begin(), known.blocks.end(), d.blocks.begin(),
                              d.blocks.end(), same_box);
        };
        const auto make = [&](std::shared_ptr<const Decomposition>& made) {
            return make_decomposition(session->team->world(), std::move(d), made);
        };
        return declare(session, hash.value(), same, make, decomposition);
    });
}

tw_status tw_decompose_list(tw_session session, const char* dims, const int64_t* shape,
                            const char* listed, int64_t n, const int64_t* indices,
                            tw_list_kind kind, tw_decomposition* decomposition) {
    tell(decomposition, tw_decomposition{});
    if (!is_model(session)) return no_model(session);
    return guarded(session, [&]() -> Status {
        Decomposition d;
        std::vector<std::string> names;
        const std::span list(indices, std::max<int64_t>(n, 0));
        const bool shared = kind == TW_LIST_SHARED;
        Hash hash;
        const auto check = [&](std::size_t nd) -> Status {
            if (n < 0)
                return failure(TW_EARG, "the length of the list is {}; it must not be negative", n);
            if ((nd > 0 && shape == nullptr) || (n > 0 && indices == nullptr))
                return failure(TW_EARG, "shape or indices are missing (null pointer)");
            if (kind == TW_LIST_UNIQUE || kind == TW_LIST_SHARED) return {};
            return failure(TW_EARG, "unknown kind of list {}", static_cast<int>(kind));
        };
        const auto describe = [&](std::size_t) {
            names = split_names(text_or_empty(listed));
            hash.add(d.dims);
            hash.add(d.shape);
            hash.add(names);
            hash.add(kind);
            hash.add(list);
        };
        if (Status status = begin_decomposition(session, Call::decompose_list, dims, shape,
                                                decomposition, check, describe, d);
            !status.ok())
            return status;
        const auto same = [&](const Decomposition& known) {
            if (!known.listed || !same_grid(known, d) || known.listed->shared != shared)
                return false;
            const auto first = known.dims.begin() + known.listed->first;
            return std::equal(first, first + known.listed->count, names.begin(), names.end()) &&
                   same_list(*known.listed, list);
        };
        const auto make = [&](std::shared_ptr<const Decomposition>& made) {
            return make_listed_decomposition(session->team->world(), std::move(d), names, list,
                                             shared, made);
        };
        return declare(session, hash.value(), same, make, decomposition);
    });
}

tw_status tw_fill_halo(tw_decomposition decomposition, const tw_edge* edges) {
    if (decomposition == nullptr) return no_handle();
    tw_session session = decomposition->session;
    return guarded(session, [&]() -> Status {
        std::shared_ptr<Decomposition> d;
        Status status = alone([&]() -> Status {
            if (edges == nullptr) return failure(TW_EARG, "edges are missing (null pointer)");
            if (Status own = copy_of(*decomposition, "tw_fill_halo", d); !own.ok()) return own;
            if (d->listed) return failure(TW_EARG, "a list has no halo");
            d->edges.clear();
            for (int i = 0; i < d->nd(); ++i) {
                if (edges[i] < TW_HALO_KEEP || edges[i] > TW_HALO_PERIODIC)
                    return failure(TW_EARG, "dimension {}: unknown edge {}", d->dim_in_words(i),
                                   static_cast<int>(edges[i]));
                d->edges.push_back(static_cast<Edge>(edges[i]));
            }
            return {};
        });
        status = enter(session, Call::fill_halo, "", status, serial_of(*decomposition));
        if (!status.ok()) return status;
        if (status = check_edges_alike(*session->team, d->edges); !status.ok()) return status;
        d->serial = ++session->declared;  // plans of reads go by it
        decomposition->declared->decomposition = std::move(d);
        return {};
    });
}

tw_status tw_pad(tw_decomposition decomposition, const int64_t* extent, int64_t boxes) {
    if (decomposition == nullptr) return no_handle();
    tw_session session = decomposition->session;
    return guarded(session, [&]() -> Status {
        std::shared_ptr<Decomposition> d;
        Status status = alone([&]() -> Status {
            if (extent == nullptr)
                return failure(TW_EARG, "tw_pad: extent is missing (null pointer)");
            if (Status own = copy_of(*decomposition, "tw_pad", d); !own.ok()) return own;
            d->padded.assign(extent, extent + d->nd());
            d->room = boxes;
            return check_padding(*d, session->team->rank());
        });
        status = enter(session, Call::pad, "", status, serial_of(*decomposition));
        if (!status.ok()) return status;
        if (status = check_padding_alike(*session->team, *d); !status.ok()) return status;
        d->serial = ++session->declared;
        decomposition->declared->decomposition = std::move(d);
        return {};
    });
}

tw_status tw_free_decomposition(tw_decomposition* decomposition) {
    if (decomposition == nullptr || *decomposition == nullptr) return no_handle();
    const tw_decomposition d = *decomposition;
    const tw_status code = guarded(d->session, [&]() -> Status {
        std::shared_ptr<const Decomposition> now;
        if (Status status = decomposition_of(d, d->session, now); !status.ok()) {
            status.text = "tw_free_decomposition: " + status.text;
            return status;
        }
        d->declared.reset();
        return {};
    });
    if (!was_refused(code)) *decomposition = nullptr;
    return code;
}

}  // extern "C"
