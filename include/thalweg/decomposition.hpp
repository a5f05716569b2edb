// Decompositions in C++, a part of thalweg.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "thalweg/base.hpp"

namespace thalweg {

/// A box of a decomposition: first global index and lengths, slowest dimension first.
struct Block {
    std::vector<std::int64_t> start, count;
};

/// Ways in which reads treat the halo along a dimension.
enum class Edge : int {
    keep = TW_HALO_KEEP,         ///< leave it unchanged: the default
    clip = TW_HALO_CLIP,         ///< read the part within the global shape
    periodic = TW_HALO_PERIODIC  ///< read it with periodic indices
};

/// Number of times that an index may occur in the lists of Session::decompose_list.
enum class ListKind : int {
    unique = TW_LIST_UNIQUE,  ///< at most once on all ranks together: for writing and reading
    shared = TW_LIST_SHARED   ///< any number of times: for reading only
};

/// The elements that each rank holds; made by Session::decompose and Session::decompose_list. The
/// destructor frees the decomposition; variables, restarts and reads that use it keep what they
/// need.
class Decomposition {
public:
    Decomposition() = default;
    Decomposition(Decomposition&& other) noexcept = default;
    Decomposition& operator=(Decomposition&& other) noexcept {
        Decomposition old(std::move(*this));
        owned_.swap(other.owned_);
        std::swap(dims_, other.dims_);
        return *this;
    }
    Decomposition(const Decomposition&) = delete;
    Decomposition& operator=(const Decomposition&) = delete;
    ~Decomposition() {
        if (owned_.get() != nullptr) tw_free_decomposition(owned_.address());
    }

    /// tw_fill_halo: sets how later reads treat the halo, by an Edge for each dimension. A rank
    /// with the wrong number of edges takes part with invalid ones, so that all ranks throw.
    /// @note Collective
    void fill_halo(const std::vector<Edge>& edges) {
        std::vector<tw_edge> all;
        if (edges.size() == dims_)
            for (const Edge edge : edges) all.push_back(static_cast<tw_edge>(edge));
        all.resize(std::max<std::size_t>(dims_, 1), static_cast<tw_edge>(-1));
        owned_.check(tw_fill_halo(owned_.get(), all.data()));
    }
    /// tw_pad: sets the extent in memory of every box, and the number of boxes. A rank with the
    /// wrong number of extents takes part with invalid ones.
    /// @note Collective
    void pad(const std::vector<std::int64_t>& extent, std::int64_t boxes) {
        const std::vector<std::int64_t> none;
        owned_.check(tw_pad(owned_.get(),
                            handles::padded(extent.size() == dims_ ? extent : none).data(), boxes));
    }
    /// Calls tw_free_decomposition.
    void free() { owned_.check(tw_free_decomposition(owned_.address())); }
    /// Gives up the handle, which the session frees when it ends.
    tw_decomposition release() noexcept { return std::exchange(*owned_.address(), nullptr); }
    tw_decomposition handle() const noexcept { return owned_.get(); }
    explicit operator bool() const noexcept { return handle() != nullptr; }

private:
    friend class Session;
    Decomposition(handles::SessionPtr session, tw_decomposition made, std::size_t dims)
        : owned_(std::move(session), made), dims_(dims) {}

    handles::Owned<tw_decomposition> owned_;
    std::size_t dims_ = 0;
};

/// Takes the place of a decomposition: each rank holds, or reads, the whole variable.
struct Replicated {};
inline constexpr Replicated replicated{};

/// The distribution of a variable over the ranks: a Decomposition, or `replicated`.
class Holding {
public:
    Holding(Replicated) {}
    Holding(const Decomposition& d) : handle_(d.handle()), empty_(!d) {}

    tw_decomposition handle() const noexcept { return handle_; }
    /// Tests if the holding is a decomposition that is no longer, or was never, valid: it was
    /// default-constructed, moved from, or freed.
    bool empty() const noexcept { return empty_; }
    void check(const std::string& name) const {
        if (empty_)
            throw Error(TW_EHANDLE, "'" + name +
                                        "': the decomposition was never made, was moved from, or "
                                        "was freed");
    }

private:
    tw_decomposition handle_ = nullptr;
    bool empty_ = false;
};

}  // namespace thalweg
