// SPDX-License-Identifier: Apache-2.0
#include "grid.hpp"

#include <netcdf.h>

#include <algorithm>
#include <utility>

#include "nc/state/library_file.hpp"

namespace thalweg::pio {

namespace {

// The grids of a session.
struct Grids {
    // A grid, keyed by a hash of its description, so that equal descriptions share a grid.
    struct Known {
        Key key, own;  // of the maps of all ranks, and of this rank's map
        std::shared_ptr<Grid> grid;
    };
    std::vector<Known> known;
    // Descriptions that the ranks have not compared yet; as many on every rank.
    std::vector<std::shared_ptr<DescribedGrid>> described;
    std::int64_t made = 0;  // number of grids so far, the same on every rank
};

Grids& grids_of(Session& session) {
    if (!session.kept) session.kept = std::make_shared<Grids>();
    return *static_cast<Grids*>(session.kept.get());
}

constexpr std::size_t most_described = 64;  // largest number of descriptions that are not compared

// Returns this rank's key of a map. The lengths of shape and map are part of it, because the same
// numbers could be divided differently into a shape and a map.
Key own_key(const Session& session, const Shape& shape, const GivenMap& map) {
    const Key hash = hash_of(map.at, map.n, 0);
    Shape all{static_cast<Index>(hash.first), static_cast<Index>(hash.second),
              static_cast<Index>(map.n), map.first};
    all.insert(all.end(), shape.begin(), shape.end());
    const auto rank = 2 * static_cast<std::uint64_t>(session.rank()) + 1;
    return hash_of(all, rank);
}

// Returns an error if a number of a map is not an element.
Error check_numbers(const Session& session, const GivenMap& map, Index all) {
    const MPI_Offset* const wrong = std::find_if(map.at, map.at + map.n, [&](MPI_Offset number) {
        return number < map.first - 1 || number >= map.first + all;
    });
    if (wrong == map.at + map.n) return {};
    return {NC_EINVAL, "rank " + std::to_string(session.rank()) + ": element " +
                           std::to_string(wrong - map.at) + " of the map is " +
                           std::to_string(*wrong) + ", but the array has " + std::to_string(all) +
                           " elements"};
}

constexpr std::size_t kept_grids = 256;  // largest number of unused grids that are kept

// Removes grids that the program no longer uses. All ranks make and free the same grids, so they
// remove the same ones.
void drop_unused(Session& session) {
    auto& grids = grids_of(session).known;
    auto unused = static_cast<std::size_t>(
        std::count_if(grids.begin(), grids.end(), [](auto& g) { return g.grid.use_count() == 1; }));
    for (auto it = grids.begin(); unused > kept_grids && it != grids.end();) {
        if (it->grid.use_count() == 1) {
            it = grids.erase(it);
            unused--;
        } else {
            it++;
        }
    }
}

std::shared_ptr<Grid> make_grid(Session& session, const Shape& shape, std::vector<Index> dofs) {
    Map map(shape, std::move(dofs));
    const MapForms forms = map.forms();
    unsigned all[] = {forms.boxes ? 1U : 0U, forms.products};
    MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_UNSIGNED, MPI_BAND, session.comm());
    Index most = map.size();
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, session.comm());
    Index held = map.held();
    MPI_Allreduce(MPI_IN_PLACE, &held, 1, MPI_INT64_T, MPI_SUM, session.comm());
    const bool whole = held == volume(shape);
    int leading = 0;
    for (int k = 1; k < static_cast<int>(std::min<std::size_t>(shape.size(), 32)); k++)
        if ((all[1] >> static_cast<unsigned>(k) & 1U) != 0) leading = k;
    map.choose(all[0] != 0, leading);
    return std::make_shared<Grid>(session, std::move(map), most, whole);
}

// Returns names of dimensions in the library's form. If a name occurs twice, dimensions are matched
// by position.
std::string names_or_positions(const std::vector<std::string>& names, bool& by_position) {
    std::vector<std::string> sorted = names;
    std::sort(sorted.begin(), sorted.end());
    by_position = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
    if (!by_position) return joined(names);
    std::string text = "*";
    for (std::size_t i = 1; i < names.size(); i++) text += " *";
    return text;
}

}  // namespace

DescribedGrid::DescribedGrid(Session& session, const Shape& shape, const GivenMap* map, Error error)
    : session_(session), shape_(shape), error_(std::move(error)) {
    if (map == nullptr) return;
    own_ = own_key(session, shape, *map);
    size_ = static_cast<Index>(map->n);
    for (const auto& known : grids_of(session).known)
        if (known.own == own_) alike_ = known.grid;
    if (alike_) return;  // its numbers have been checked
    error_ = check_numbers(session, *map, volume(shape));
    if (error_.code != 0) return;
    dofs_.resize(map->n);
    std::transform(map->at, map->at + map->n, dofs_.begin(),
                   [&](MPI_Offset dof) { return static_cast<Index>(dof) - map->first; });
}

// Finds the grid, or makes it.
// @param key  key that combines the maps of all ranks
// @param failed  some rank's arguments are wrong
// @note Collective
void DescribedGrid::settle(const Key& key, bool failed) {
    const std::shared_ptr<const Grid> alike = std::exchange(alike_, nullptr);
    if (failed) {
        error_ = error_of([&] { agree(session_.comm(), error_); });
        return;
    }
    auto& grids = grids_of(session_).known;
    const auto known =
        std::find_if(grids.begin(), grids.end(), [&](const auto& g) { return g.key == key; });
    if (known != grids.end()) {
        grid_ = known->grid;
        return;
    }
    grid_ = make_grid(session_, shape_, alike ? alike->map().dofs() : std::move(dofs_));
    grids.push_back({key, own_, grid_});
}

Grid& DescribedGrid::grid() {
    // Depends only on descriptions that all ranks have made, not on an error of this rank alone.
    compare_descriptions(session_);
    if (error_.code != 0) throw error_;
    if (!grid_) throw Error{NC_ENOMEM, "a decomposition could not be made"};
    return *grid_;
}

std::shared_ptr<DescribedGrid> describe_grid(Session& session, const Shape& shape,
                                             const GivenMap* map, const Error& error, bool now) {
    auto made = std::make_shared<DescribedGrid>(session, shape, map, error);
    std::vector<std::shared_ptr<DescribedGrid>>& described = grids_of(session).described;
    described.push_back(made);
    if (now || described.size() == most_described) compare_descriptions(session);
    if (now) made->grid();
    return made;
}

void compare_descriptions(Session& session) {
    const auto described = std::exchange(grids_of(session).described, {});
    if (described.empty()) return;
    std::vector<std::uint64_t> sums;
    for (const auto& d : described)
        sums.insert(sums.end(), {d->own_.first, d->own_.second, d->error_.code != 0 ? 1U : 0U});
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_UINT64_T, MPI_SUM,
                  session.comm());
    for (std::size_t i = 0; i < described.size(); i++)
        described[i]->settle({sums[3 * i], sums[3 * i + 1]}, sums[3 * i + 2] != 0);
    // All descriptions have let go of earlier grids, so that all ranks drop the same ones.
    drop_unused(session);
}

Grid::Grid(Session& session, Map map, Index most_held, bool whole)
    : session_(session),
      serial_(grids_of(session).made++),
      map_(std::move(map)),
      most_held_(most_held),
      whole_(whole) {}

Grid::~Grid() {
    for (auto& known : named_) tw_free_decomposition(&known.second);
}

tw_decomposition Grid::named(const std::vector<std::string>& names, bool reading) {
    const auto known = named_.find({joined(names), reading});
    if (known != named_.end()) return known->second;
    const tw_decomposition made = at(names, shape(), {}, reading);
    named_[{joined(names), reading}] = made;
    return made;
}

tw_decomposition Grid::at(const std::vector<std::string>& names, const Shape& shape,
                          const Shape& index, bool reading) {
    tw_decomposition made = nullptr;
    int status = TW_EOVERLAP;
    bool by_position = false;
    const std::string dims = names_or_positions(names, by_position);
    if (map_.is_boxes()) status = declare_boxes(dims, shape, index, &made);
    overlaps_ |= map_.is_boxes() && status == TW_EOVERLAP;
    // Only a list may hold an element twice.
    if (!map_.is_boxes() || (status == TW_EOVERLAP && reading))
        status = declare_list(names, shape, index, reading, &made);
    if (status == TW_EOVERLAP)
        throw Error{NC_EINVAL, std::string("the decomposition is for reading only: ") +
                                   tw_error_message(session_.handle())};
    session_.check(status);
    return made;
}

int Grid::declare_boxes(const std::string& names, const Shape& shape, const Shape& index,
                        tw_decomposition* made) const {
    Shape start, count;
    for (const MapBox& box : map_.boxes()) {
        start.insert(start.end(), index.begin(), index.end());
        count.insert(count.end(), index.size(), 1);
        start.insert(start.end(), box.start.begin(), box.start.end());
        count.insert(count.end(), box.count.begin(), box.count.end());
    }
    return tw_decompose(session_.handle(), names.c_str(), static_cast<int>(map_.boxes().size()),
                        shape.data(), start.data(), count.data(), made);
}

int Grid::declare_list(const std::vector<std::string>& names, const Shape& shape,
                       const Shape& index, bool reading, tw_decomposition* made) const {
    const tw_list_kind kind = reading ? TW_LIST_SHARED : TW_LIST_UNIQUE;
    bool by_position = false;
    const std::string dims = names_or_positions(names, by_position);
    const bool whole = map_.is_boxes() || !index.empty() || by_position;
    std::vector<Index> all;
    if (whole) {
        all = map_.dofs();
        Index first = 0;
        for (std::size_t d = 0; d < index.size(); d++) first = first * shape[d] + index[d];
        first *= volume(map_.shape());
        for (Index& i : all)
            if (i >= 0) i += first;
    }
    const std::vector<Index>& list = whole ? all : map_.list();
    const std::string listed =
        whole ? dims : joined(names, static_cast<std::size_t>(map_.leading()));
    return tw_decompose_list(session_.handle(), dims.c_str(), shape.data(), listed.c_str(),
                             static_cast<Index>(list.size()), list.data(), kind, made);
}

const std::vector<std::shared_ptr<Grid>>& Grid::slices() {
    if (sliced_) return slices_;
    const std::vector<Index> dofs = map_.dofs();
    const Shape inner(shape().begin() + 1, shape().end());
    const Index size = volume(inner);
    for (Index r = 0; r < shape().front(); r++) {
        std::vector<Index> part(dofs.size(), -1);
        for (std::size_t i = 0; i < dofs.size(); i++)
            if (dofs[i] >= 0 && dofs[i] / size == r) part[i] = dofs[i] % size;
        slices_.push_back(make_grid(session_, inner, std::move(part)));
    }
    sliced_ = true;
    return slices_;
}

std::shared_ptr<Grid> Grid::reshaped(const Shape& shape) {
    std::shared_ptr<Grid>& grid = reshaped_[shape];
    if (!grid) grid = make_grid(session_, shape, map_.dofs());
    return grid;
}

}  // namespace thalweg::pio
