// The coordinates and fields that a model declares for a history.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "history/selection/field.hpp"

namespace thalweg::history {

struct Declaration {
    const char* name = nullptr;
    tw_type type = TW_FLOAT;
    const char* dims = nullptr;
    tw_decomposition decomposition = nullptr;
    const char* attributes = nullptr;
    int serial = 0;  ///< serial number of the decomposition
};

/// Longitudes and latitudes of a field's elements.
struct Centres {
    const Coordinate *longitude = nullptr, *latitude = nullptr;
    /// Dimensions of the field that the longitudes or the latitudes have.
    Names dims;
    bool complete() const { return longitude != nullptr && latitude != nullptr; }
    friend bool operator==(const Centres&, const Centres&) = default;
};

class Declarations {
public:
    /// Checks a declaration, and finds the part of it that this rank holds.
    /// @param n  number of elements of an array that every rank has all of; -1: not known
    Status find_part(const Declaration& declaration, std::int64_t n, Part& part) const;
    /// @param boxes  this rank's array
    Status add_coordinate(const Declaration& declaration, Part part,
                          std::span<const SentBox> boxes);
    Status add_field(const Declaration& declaration, Part part, Field*& field);
    /// Adds the fields that the history computes, which follow the model's in the list; drops those
    /// of an earlier attempt. @return TW_OK, TW_ESETTING
    Status add_computed(const std::vector<DeclaredField>& all);
    void end() { ended_ = true; }
    bool ended() const { return ended_; }
    /// Moves the fields out, so that their handles stay valid until the session ends.
    std::deque<Field> release_fields();

    std::deque<Field>& fields() { return fields_; }
    const std::deque<Field>& fields() const { return fields_; }
    const Coordinates& coordinates() const { return coordinates_; }
    const std::map<std::string, std::int64_t>& lengths() const { return lengths_; }
    std::int64_t hash() const;
    /// @return null if a dimension has no coordinate variable, or ranks hold only parts of it
    const Coordinate* axis(const std::string& dim) const;
    bool has_axes(const Names& dims) const;
    /// Finds the longitudes and latitudes of a field: those that its attribute names, or its axes.
    Centres centres(const Field& field) const;

private:
    Status add_levels(const Computation& how, Field& made);

    std::deque<Field> fields_;
    Coordinates coordinates_;
    std::map<std::string, std::int64_t> lengths_;
    Names levels_;  ///< names of coordinates that add_computed() has made
    bool ended_ = false;
};

}  // namespace thalweg::history
