// Data that PIO's functions put: distributed arrays, and sections of the root.
//
// SPDX-License-Identifier: Apache-2.0
#include <thalweg/thalweg.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <numeric>

#include "arrays.hpp"
#include "nc/base/types.hpp"
#include "nc/state/library_file.hpp"

namespace thalweg::pio {

namespace {

Index buffer_limit = -1;  // limit in bytes that the program has set; -1: none

std::string text_of(const Shape& shape) {
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); i++)
        text += (i > 0 ? ", " : "") + std::to_string(shape[i]);
    return text + ")";
}

Shape without_ones(const Shape& shape) {
    Shape result;
    std::copy_if(shape.begin(), shape.end(), std::back_inserter(result),
                 [](Index n) { return n != 1; });
    return result;
}

bool ends_with(const Shape& shape, const Shape& end) {
    return end.size() <= shape.size() && std::equal(end.rbegin(), end.rend(), shape.rbegin());
}

// Throws unless values of a type convert to or from those of a variable.
// @param type  NC_NAT: becomes the variable's type
void check_type(const Definitions& definitions, const Variable& v, nc_type& type) {
    if (type == NC_NAT) type = v.type;
    if ((type == NC_CHAR) != (v.type == NC_CHAR))
        throw Error{NC_ECHAR, definitions.path + ": variable " + v.name +
                                  ": text cannot be converted to numbers, nor numbers to text"};
}

void check_readable(const Definitions& definitions, const Variable& v, nc_type& type) {
    if (size_of(v.type) == 0)
        throw Error{NC_EBADTYPE,
                    definitions.path + ": variable " + v.name + " has a type that is not read"};
    check_type(definitions, v, type);
}

}  // namespace

void Arrays::set_buffer_limit(Index bytes) { buffer_limit = bytes; }

// ---- distributed arrays -------------------------------------------------------------------------

Shape Arrays::shape_of(const Variable& v) {
    Shape shape = table_.lengths(v);
    if (table_.is_record(v)) shape.erase(shape.begin());
    return shape;
}

std::vector<std::string> Arrays::names_of(const Variable& v) {
    std::vector<std::string> names = table_.names(v);
    if (table_.is_record(v)) names.erase(names.begin());
    return names;
}

// Prepares for arrays of a grid. Makes the library's decompositions for all variables of its shape,
// so that a rank that finds an error in its arguments afterwards leaves no other rank waiting.
void Arrays::begin_arrays(Grid& grid) {
    state_.begin_writing();
    std::size_t& known = begun_[grid.serial()];
    if (known == table_.variables.size()) return;
    for (const Variable& v : table_.variables)
        if (shape_of(v) == grid.shape()) grid.named(names_of(v), false);
    known = table_.variables.size();
}

Arrays::Fit Arrays::fit(const Variable& v, const Grid& grid) {
    const bool record = table_.is_record(v);
    const Shape shape = shape_of(v);
    const Shape& own = grid.shape();
    if (shape.empty()) return Fit::none;
    if (own == shape) return Fit::same;
    if (record && own.size() == shape.size() + 1 && ends_with(own, shape)) return Fit::records;
    if (without_ones(own) == without_ones(shape)) return Fit::reshaped;
    const auto more =
        static_cast<std::ptrdiff_t>(shape.size() - std::min(own.size(), shape.size()));
    const auto is_one = [](Index n) { return n == 1; };
    const bool inner = !record && more > 0 && ends_with(shape, own) &&
                       std::all_of(shape.begin() + 1, shape.begin() + more, is_one);
    return inner ? Fit::inner : Fit::none;
}

// Throws if an array of a grid has no place in a variable.
void Arrays::check_place(const Variable& v, const Grid& grid, int frame, bool reading) {
    const auto fail = [&](int code, const std::string& text) {
        throw Error{code, definitions_.path + ": variable " + v.name + ": " + text};
    };
    const bool record = table_.is_record(v);
    const Shape shape = shape_of(v);
    const Fit found = fit(v, grid);
    if (shape.empty()) fail(NC_EINVAL, "has no dimension that could be distributed");
    if (found == Fit::none)
        fail(NC_EINVAL, "has the lengths " + text_of(shape) + (record ? " in each record" : "") +
                            ", the decomposition " + text_of(grid.shape()));
    if (found == Fit::records) return;
    if (!reading && frame < 0 && (record || found == Fit::inner))
        fail(NC_EINVAL, "no frame has been set (PIOc_setframe)");
    const bool ones = found == Fit::reshaped && !record && grid.shape().size() < shape.size() &&
                      shape.front() == 1;
    const Index frames = found == Fit::inner ? shape.front() : 1;
    if ((ones || found == Fit::inner) && frame >= frames)
        fail(NC_EINVALCOORDS, "frame " + std::to_string(frame) + " is beyond its dimension of " +
                                  std::to_string(frames));
}

// Returns the places of an array that check_place() accepts. Collective where its grid does not
// have the variable's shape.
std::vector<Arrays::Place> Arrays::places(const Variable& v, Grid& grid, int frame) {
    frame = std::max(frame, 0);
    const Index record = table_.is_record(v) ? frame : 0;
    const Fit found = fit(v, grid);
    if (found == Fit::records) {
        std::vector<Place> result;
        Index at = frame;
        for (const auto& slice : grid.slices()) result.push_back({slice, slice.get(), at++, {}});
        return result;
    }
    const Shape shape = shape_of(v);
    if (found == Fit::reshaped) {
        const std::shared_ptr<Grid> same = grid.reshaped(shape);
        return {{same, same.get(), record, {}}};
    }
    Shape index;
    if (found == Fit::inner) {
        index.assign(shape.size() - grid.shape().size(), 0);
        index.front() = frame;
    }
    return {{nullptr, &grid, record, index}};
}

// Prepares for a put of a number of bytes: writes earlier puts if there is no space for more.
void Arrays::note(Index bytes) {
    const Index most =
        buffer_limit >= 0 ? std::min(buffer_limit, staging_limit()) : staging_limit();
    if (state_.pending > 0 && state_.pending + bytes > most) state_.end_step();
    state_.dirty = true;
    state_.pending += bytes;
}

void Arrays::order(int varid, Index record, const Grid* grid) {
    const Put& put = puts_[varid];
    const auto same = put.records.find(record);
    const bool conflict = grid == nullptr ? !put.records.empty()
                                          : put.section || (same != put.records.end() &&
                                                            same->second != grid->serial());
    if (conflict) state_.end_step();
    if (grid == nullptr)
        puts_[varid].section = true;
    else
        puts_[varid].records[record] = grid->serial();
}

void Arrays::write_darray(int varid, Grid& grid, nc_type type, const void* data, Index n,
                          std::optional<int> frame) {
    begin_arrays(grid);
    // An error that one rank finds from here on is returned on that rank. The others learn of it at
    // the next collective call.
    state_.late.puts++;
    // All ranks must end steps in the same calls, whichever variable one of them has passed.
    const Index bytes =
        grid.most_held() * static_cast<Index>(type == NC_NAT ? sizeof(double) : size_of(type));
    std::vector<Place> all;
    const Error wrong = error_of([&] {
        const Variable& v = table_.variable(varid);
        check_type(definitions_, v, type);
        check_place(v, grid, frame.value_or(v.frame), false);
        all = places(v, grid, frame.value_or(v.frame));
    });
    if (state_.kind() == State::Kind::fallback) agree(state_.session.comm(), wrong);
    if (state_.kind() == State::Kind::writing) note(bytes);
    if (wrong.code != 0) {
        state_.late.keep(wrong);
        throw wrong;
    }
    const Variable& v = table_.variable(varid);
    Error error;
    if (n < grid.map().size() || (data == nullptr && grid.map().size() > 0))
        error = {NC_EINVAL, short_array(v, grid, data == nullptr ? 0 : n)};
    for (const Place& place : all) {
        if (table_.is_record(v)) {
            Index& records = table_.dimension(v.dims.front()).length;
            records = std::max(records, place.record + 1);
        }
        if (state_.kind() == State::Kind::writing)
            order(varid, place.index.empty() ? place.record : place.index.front(), place.grid);
        const void* const mine = error.code == 0 ? data : nullptr;
        Error own = state_.kind() == State::Kind::fallback ? put_serial(varid, place, type, mine)
                                                           : put_place(varid, place, type, mine);
        if (error.code == 0) error = std::move(own);
    }
    if (error.code == 0) return;
    if (error.code != NC_ERANGE) state_.late.keep(error);
    throw error;
}

std::string Arrays::short_array(const Variable& v, const Grid& grid, Index n) const {
    return definitions_.path + ": variable " + v.name + ": the array of rank " +
           std::to_string(state_.session.rank()) + " has " + std::to_string(n) +
           " elements, the decomposition " + std::to_string(grid.map().size());
}

// Runs an action that copies an array, and returns its error.
template <class Action>
Error Arrays::error_of_copy(const Variable& v, Action action) const try {
    return action();
} catch (const std::bad_alloc&) {
    return {NC_ENOMEM, definitions_.path + ": variable " + v.name +
                           ": out of memory for a copy of the array (rank " +
                           std::to_string(state_.session.rank()) + ")"};
}

namespace {

// The elements of a map in the program's memory.
class MapArray {
public:
    // @param more  number of the decomposition's dimensions before those of the map
    MapArray(const Grid& grid, std::size_t more, nc_type type, const void* data)
        : array_(tw_dense(static_cast<tw_type>(type), data, grid.map().size())) {
        const Map& map = grid.map();
        if (!map.is_boxes() || map.dense() || map.boxes().empty() || grid.overlaps()) return;
        const auto size = static_cast<Index>(size_of(type));
        extent_.assign(more + map.steps().size(), 1);
        strides_.assign(extent_.size(), 0);
        extent_[0] = static_cast<Index>(map.boxes().size());
        strides_[0] = map.steps()[0] * size;
        for (std::size_t i = 1; i < map.steps().size(); i++) {
            for (const MapBox& box : map.boxes())
                extent_[more + i] = std::max(extent_[more + i], box.count[i - 1]);
            strides_[more + i] = map.steps()[i] * size;
        }
        array_ = tw_strided(array_.type,
                            static_cast<const char*>(data) + map.boxes().front().position * size,
                            static_cast<int>(extent_.size()), extent_.data(), strides_.data());
    }
    MapArray(const MapArray&) = delete;
    MapArray& operator=(const MapArray&) = delete;

    const tw_array& described() const { return array_; }

private:
    Shape extent_, strides_;  // strides in bytes
    tw_array array_;
};

}  // namespace

// Puts values, which the library copies.
Error Arrays::put_copy(const Variable& v, const Place& place, tw_decomposition d, nc_type type,
                       const void* data) {
    const MapArray array(*place.grid, place.index.size(), type, data);
    return state_.session.error_of_call(
        tw_put_record_array(state_.file(), v.name.c_str(), d, place.record, array.described(), 0));
}

// Puts values at a place. Throws errors that all ranks have; returns errors of this rank only.
// @param data  NULL if this rank's arguments were wrong, so that it has no values
Error Arrays::put_place(int varid, const Place& place, nc_type type, const void* data) {
    const Variable& v = table_.variable(varid);
    const Map& map = place.grid->map();
    tw_decomposition made = nullptr;
    const tw_decomposition d = decomposition_of(v, place, false, &made);
    Error error;
    if (data != nullptr || map.size() == 0)
        error = error_of_copy(v, [&] { return put_copy(v, place, d, type, data); });
    if (made != nullptr) tw_free_decomposition(&made);
    return error;
}

// @param made  receives the decomposition if a new one was made, which the caller must free
tw_decomposition Arrays::decomposition_of(const Variable& v, const Place& place, bool reading,
                                          tw_decomposition* made) {
    const std::vector<std::string> names = names_of(v);
    if (place.index.empty()) return place.grid->named(names, reading);
    return *made = place.grid->at(names, table_.lengths(v), place.index, reading);
}

Error Arrays::put_serial(int varid, const Place& place, nc_type type, const void* data) {
    const Variable& v = table_.variable(varid);
    const Map& map = place.grid->map();
    std::vector<Index> dofs;
    std::string values;
    Error error;
    if (data != nullptr)
        error = error_of_copy(v, [&]() -> Error {
            dofs = map.dofs();
            values.resize(dofs.size() * size_of(v.type));
            const int code = convert(type, data, v.type, values.data(),
                                     static_cast<Index>(dofs.size()), Table::fill_of(v));
            if (code == NC_NOERR) return {};
            return {code,
                    definitions_.path + ": variable " + v.name + ": values do not fit its type"};
        });
    if (error.code == NC_ENOMEM) dofs.clear();
    // A rank that has dropped its elements after an error leaves them unchanged in the file.
    int has_all = static_cast<Index>(dofs.size()) == map.size() ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &has_all, 1, MPI_INT, MPI_LAND, state_.session.comm());
    std::vector<Index> start, count;
    if (table_.is_record(v)) {
        start.push_back(place.record);
        count.push_back(1);
    }
    start.insert(start.end(), place.index.begin(), place.index.end());
    count.insert(count.end(), place.index.size(), 1);
    start.resize(v.dims.size(), 0);
    count.insert(count.end(), map.shape().begin(), map.shape().end());
    // A list for writing must not contain an element twice.
    tw_decomposition made = nullptr;
    decomposition_of(v, place, false, &made);
    if (made != nullptr) tw_free_decomposition(&made);
    state_.fallback().write(varid, start, count, dofs, values, Table::fill_of(v),
                            place.grid->whole() && has_all != 0);
    return error;
}

void Arrays::read_darray(int varid, Grid& grid, nc_type type, void* data, Index n,
                         std::optional<int> frame) {
    state_.begin_reading();
    on_all(state_.session.comm(), [&] {
        const Variable& v = table_.variable(varid);
        check_readable(definitions_, v, type);
        if (n < grid.map().size() || (data == nullptr && grid.map().size() > 0))
            throw Error{NC_EINVAL, short_array(v, grid, data == nullptr ? 0 : n)};
        check_place(v, grid, frame.value_or(v.frame), true);
    });
    const Variable& v = table_.variable(varid);
    const std::vector<Place> all = places(v, grid, frame.value_or(v.frame));
    for (const Place& place : all) {
        tw_decomposition made = nullptr;
        const tw_decomposition d = decomposition_of(v, place, true, &made);
        const MapArray array(*place.grid, place.index.size(), type, data);
        const int status =
            tw_get_array(state_.file(), v.name.c_str(), d, place.record, array.described(), 0);
        if (made != nullptr) tw_free_decomposition(&made);
        state_.session.check(status);
    }
}

// ---- sections -----------------------------------------------------------------------------------

void Arrays::put_section(int varid, const Index* start, const Index* count, const Index* stride,
                         nc_type type, const void* data) {
    Variable& v = table_.variable(varid);
    state_.begin_writing();
    check_type(definitions_, v, type);
    check_section(definitions_, v, start, count, stride, false);
    const std::vector<Index> first(start, start + v.dims.size()), n(count, count + v.dims.size());
    if (volume(n) == 0) return;
    table_.grow(v, start, count, stride);
    if (state_.kind() == State::Kind::fallback) {
        std::vector<Index> steps(v.dims.size(), 1);
        if (stride != nullptr) steps.assign(stride, stride + v.dims.size());
        state_.fallback().put(varid, first, n, steps, type, data, Table::fill_of(v));
        return;
    }
    note(volume(n) * static_cast<Index>(std::max(size_of(type), size_of(v.type))));
    order(varid, 0, nullptr);
    state_.late.puts++;
    Error error;
    if (state_.session.rank() == state_.root)
        error = state_.session.error_of_call(tw_put_box(state_.file(), v.name.c_str(),
                                                        static_cast<tw_type>(type), start, n.data(),
                                                        stride, data));
    // Only the root knows if its arguments are wrong. If all values fit, the others learn of an
    // error at the next collective call.
    if (!always_fits(type, v.type)) agree(state_.session.comm(), error);
    if (error.code == 0) return;
    state_.late.keep(error);
    throw error;
}

void Arrays::get_section(int varid, const Index* start, const Index* count, const Index* stride,
                         nc_type type, void* data, const Error& error) {
    state_.begin_reading();
    on_all(state_.session.comm(), [&] {  // any rank may have passed a wrong section
        if (error.code != 0) throw error;
        check_readable(definitions_, table_.variable(varid), type);
        check_section(definitions_, table_.variable(varid), start, count, stride, true);
    });
    const Variable& v = table_.variable(varid);
    state_.session.check(tw_get_box(state_.file(), v.name.c_str(), static_cast<tw_type>(type),
                                    start, count, stride, data));
}

}  // namespace thalweg::pio
