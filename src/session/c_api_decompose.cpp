// The C functions that declare who holds what. What was declared before is found again by its
// content, so that plans made for it serve once more.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "definitions/definitions.hpp"
#include "session/calls.hpp"

using namespace thalweg;

namespace {

Status check_edges_alike(Team& team, const std::vector<Edge>& edges) {
    std::vector<char> first;
    for (const Edge edge : edges) first.push_back(static_cast<char>(edge));
    const std::vector<char> mine = first;
    team.world().broadcast(first, 0);
    Status status;
    if (first != mine)
        status = failure(TW_EMISMATCH, "the edges on rank {} are not those on rank 0", team.rank());
    return agree(team.world(), status);
}

/// Finds candidates only; contents are compared in full.
class Hash {
public:
    void add(std::span<const std::int64_t> words) {
        add(static_cast<std::int64_t>(words.size()));
        for (const std::int64_t word : words) add(word);
    }
    void add(std::int64_t word) {
        value_ = (value_ ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15ULL;
        value_ ^= value_ >> 29;
    }
    void add(const std::vector<std::string>& names) {
        for (const std::string& name : names) {
            add(static_cast<std::int64_t>(name.size()));
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
    if (listed.length != static_cast<std::int64_t>(indices.size())) return false;
    if (listed.list->elements !=
        std::count_if(indices.begin(), indices.end(), [](std::int64_t i) { return i >= 0; }))
        return false;
    return std::all_of(listed.list->runs.begin(), listed.list->runs.end(), [&](const Run& r) {
        for (std::int64_t i = 0; i < r.length(); ++i)
            if (indices[static_cast<std::size_t>(r.position() + i)] != r.global() + i) return false;
        return true;
    });
}

/// The decomposition that all ranks declared before with the same content, or null.
/// @param same  whether a known one is what this rank declares
/// @note Collective
template <class Same>
std::shared_ptr<const Decomposition> find_known(tw_session session, std::uint64_t hash,
                                                Same&& same) {
    std::int64_t at = 0;  // counted from 1
    for (std::size_t i = 0; i < session->known.size() && at == 0; ++i)
        if (session->known[i].hash == hash && same(*session->known[i].decomposition))
            at = static_cast<std::int64_t>(i) + 1;
    std::int64_t words[2] = {at, -at};
    session->team->all_reduce(words, Reduce::min);
    if (words[0] <= 0 || words[0] != -words[1]) return nullptr;
    return session->known[static_cast<std::size_t>(at) - 1].decomposition;
}

/// A handle of the decomposition that same() knows, or that make(made) makes. @note Collective
template <class Same, class Make>
Status declare(tw_session session, std::uint64_t hash, Same&& same, Make&& make,
               tw_decomposition* decomposition) {
    auto handle = std::make_unique<tw_decomposition_impl>();
    handle->session = session;
    handle->decomposition = find_known(session, hash, same);
    if (!handle->decomposition) {
        if (Status status = make(handle->decomposition); !status.ok()) return status;
        session->known.push_back({hash, handle->decomposition});
    }
    *decomposition = handle.get();
    session->decompositions.push_back(std::move(handle));
    return {};
}

/// What every decomposition begins with: its names and its shape, without halos.
/// @param check  of the other arguments, given the number of dimensions
/// @note Collective
template <class Check>
Status begin_decomposition(tw_session session, const char* dims, const std::int64_t* shape,
                           tw_decomposition* decomposition, Check&& check, Decomposition& d) {
    d.dims = split_names(text_or_empty(dims));
    d.serial = ++session->declared;
    const std::size_t nd = d.dims.size();
    Status status = check(nd);
    if (decomposition == nullptr)
        status = failure(TW_EARG, "no place for the decomposition's handle");
    else if (nd > static_cast<std::size_t>(max_dims))
        status = failure(TW_EARG, "a decomposition of {} dimensions; at most {} are possible", nd,
                         max_dims);
    if (status = agree(session->team->world(), status); !status.ok()) return status;
    *decomposition = nullptr;
    d.shape.assign(shape, shape + nd);
    d.halo_low.assign(nd, 0);
    d.halo_high.assign(nd, 0);
    return {};
}

}  // namespace

extern "C" {

int tw_decompose(tw_session session, const char* dims, int nblocks, const int64_t* shape,
                 const int64_t* start_, const int64_t* count, tw_decomposition* decomposition) {
    return tw_decompose_halo(session, dims, nblocks, shape, start_, count, nullptr, nullptr,
                             decomposition);
}

int tw_decompose_halo(tw_session session, const char* dims, int nblocks, const int64_t* shape,
                      const int64_t* start_, const int64_t* count, const int64_t* halo_low,
                      const int64_t* halo_high, tw_decomposition* decomposition) {
    if (session == nullptr || !session->team) return TW_EHANDLE;
    return guarded(session, [&]() -> Status {
        Decomposition d;
        const auto check = [&](std::size_t nd) -> Status {
            if (nblocks < 0) return failure(TW_EARG, "{} blocks in a decomposition", nblocks);
            const bool starts = nblocks == 0 || (start_ != nullptr && count != nullptr);
            if (nd == 0 || (shape != nullptr && starts)) return {};
            return failure(TW_EARG, "shape, start or count is missing");
        };
        if (Status status = begin_decomposition(session, dims, shape, decomposition, check, d);
            !status.ok())
            return status;
        const std::size_t nd = d.dims.size();
        if (halo_low != nullptr) std::copy_n(halo_low, nd, d.halo_low.begin());
        if (halo_high != nullptr) std::copy_n(halo_high, nd, d.halo_high.begin());
        Hash hash;
        hash.add(d.dims);
        for (const auto* numbers : {&d.shape, &d.halo_low, &d.halo_high}) hash.add(*numbers);
        for (int b = 0; b < nblocks; ++b) {
            Box box;
            box.nd = static_cast<int>(nd);
            const auto at = static_cast<std::size_t>(b) * nd;
            std::copy_n(start_ + at, nd, box.low.begin());
            std::copy_n(count + at, nd, box.count.begin());
            hash.add(std::span(start_ + at, nd));
            hash.add(std::span(count + at, nd));
            d.blocks.push_back(box);
        }
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

int tw_decompose_list(tw_session session, const char* dims, const int64_t* shape,
                      const char* listed, int64_t n, const int64_t* indices, int flags,
                      tw_decomposition* decomposition) {
    if (session == nullptr || !session->team) return TW_EHANDLE;
    return guarded(session, [&]() -> Status {
        Decomposition d;
        const auto check = [&](std::size_t nd) -> Status {
            if (n < 0) return failure(TW_EARG, "a list of {} indices", n);
            if ((nd > 0 && shape == nullptr) || (n > 0 && indices == nullptr))
                return failure(TW_EARG, "shape or indices are missing");
            if (flags == TW_LIST_UNIQUE || flags == TW_LIST_SHARED) return {};
            return failure(TW_EARG, "there are no flags {} of a list", flags);
        };
        if (Status status = begin_decomposition(session, dims, shape, decomposition, check, d);
            !status.ok())
            return status;
        const std::vector<std::string> names = split_names(text_or_empty(listed));
        const std::span list(indices, static_cast<std::size_t>(n));
        const bool shared = flags == TW_LIST_SHARED;
        Hash hash;
        hash.add(d.dims);
        hash.add(d.shape);
        hash.add(names);
        hash.add(flags);
        hash.add(list);
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

int tw_fill_halo(tw_decomposition decomposition, const int* edges) {
    if (decomposition == nullptr) return TW_EHANDLE;
    tw_session session = decomposition->session;
    return guarded(session, [&]() -> Status {
        auto d = std::make_shared<Decomposition>(*decomposition->decomposition);
        Status status;
        if (edges == nullptr)
            status = failure(TW_EARG, "no edges given");
        else if (d->listed)
            status = failure(TW_EARG, "a list has no halo");
        d->edges.clear();
        for (int i = 0; i < d->nd() && status.ok(); ++i) {
            if (edges[i] < TW_HALO_KEEP || edges[i] > TW_HALO_PERIODIC)
                status = failure(TW_EARG, "dimension '{}': there is no edge {}",
                                 d->dims[static_cast<std::size_t>(i)], edges[i]);
            d->edges.push_back(static_cast<Edge>(edges[i]));
        }
        if (status = agree(session->team->world(), status); !status.ok()) return status;
        if (status = check_edges_alike(*session->team, d->edges); !status.ok()) return status;
        d->serial = ++session->declared;  // plans of reads go by it
        decomposition->decomposition = std::move(d);
        return {};
    });
}

}  // extern "C"
