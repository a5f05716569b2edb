// The fields and coordinates that a model declares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "history/configuration/resolve.hpp"
#include "history/selection/part.hpp"
#include "thalweg/history.h"

namespace thalweg::detail {
struct Decomposition;
}

namespace thalweg::history {

class Computed;
class History;
class StepReduction;
class StepValues;
class Variable;

/// A box of a rank's array in memory.
struct SentBox {
    int box = 0;                 ///< number in the part
    const char* base = nullptr;  ///< address of its first held element
    Integers stride;             ///< bytes from one element to the next along each dimension
};

/// Calls visit(first, count, data, stride in bytes) for the rows of a box's chosen elements. Rows
/// are as long as the memory order allows.
void for_rows(
    const Chosen& chosen, const SentBox& sent,
    const std::function<void(std::int64_t, std::int64_t, const char*, std::int64_t)>& visit);

/// Copies the chosen elements of a box.
void copy_elements(const Chosen& chosen, const SentBox& box, std::int64_t size, char* to);
/// Reads the chosen elements of boxes as numbers. @param missing  number for missing elements
void read_numbers(const Chosen& chosen, std::span<const SentBox> boxes, const DeclaredField& field,
                  double missing, std::vector<double>& numbers);
/// Returns the lengths of a box in memory, without halos. Listed dimensions count as one.
Integers extent_of(const Part& part, int box);
/// Returns the boxes of an array of a part without halos and holes.
std::vector<SentBox> dense_boxes(const Part& part, const char* data, std::int64_t size);

/// Reads "units=K; standard_name=air_temperature; comment=\"a; b\"". A value that is a number
/// becomes a numeric attribute, except for units and quoted values.
/// @return TW_OK, TW_EARG
Status parse_attributes(const char* text, std::vector<Attribute>& attributes);

/// Returns the text of an attribute; "" if there is none.
std::string text_of(const std::vector<Attribute>& attributes, std::string_view name);
/// Adds an attribute, or replaces the one with the same name.
void set_attribute(std::vector<Attribute>& attributes, Attribute attribute);

/// Tests if units are those of longitudes, such as "degrees_east".
bool is_east(const std::string& units);
/// Tests if units are those of latitudes.
bool is_north(const std::string& units);

/// Returns the fill value of a type: 1e20 for float and double, otherwise netCDF's default.
Value fill_of(tw_type type);

/// A variable that is written once per file.
struct Coordinate {
    std::string name;
    tw_type type = TW_DOUBLE;
    std::vector<std::string> dims;
    std::vector<Attribute> attributes;
    Part part;
    int serial = 0;          ///< serial number of the decomposition; 0: every rank has all elements
    std::vector<char> data;  ///< elements of the part, without halos
    std::int64_t size = 0;   ///< bytes of an element
};

/// Returns the chosen elements of a coordinate.
std::vector<char> chosen_data(const Coordinate& c, const Chosen& chosen);
/// Returns values of a coordinate as numbers.
std::vector<double> numbers_of(const Coordinate& c, const std::vector<char>& data);
/// Finds the numbers that the chosen elements of a coordinate have for the elements of a part.
/// @return false: this rank does not hold all of them
bool find_numbers(const Coordinate& c, const Choice& choice, const Part& part,
                  std::vector<double>& numbers);

}  // namespace thalweg::history

/// A field of the model.
struct tw_field_impl {
    int wanted = 0;                                ///< 1: some stream would use a sample sent now
    thalweg::history::History* history = nullptr;  ///< null after tw_history_close
    thalweg::history::DeclaredField declared;
    /// All elements that this rank holds, without halos.
    struct Examined {
        thalweg::history::Chosen all;
        std::vector<char> values;  ///< empty: the field has not been sent in this step
    };
    /// Attributes, as written to files.
    std::vector<thalweg::history::Attribute> attributes;
    thalweg::history::Part part;
    int serial = 0;  ///< serial number of the decomposition; 0: every rank has all elements
    /// Form of the model's arrays. The C functions compare the arrays that they get with it.
    std::shared_ptr<const thalweg::detail::Decomposition> form;
    std::vector<thalweg::history::Variable*> users;        ///< variables of streams with this field
    std::vector<thalweg::history::Variable*> weighed;      ///< variables whose weight this field is
    std::shared_ptr<thalweg::history::Computed> computed;  ///< null: the model sends it
    std::vector<tw_field_impl*> feeds;                     ///< fields that are computed from it
    /// Values in the present step, if fields are computed from it.
    std::shared_ptr<thalweg::history::StepValues> step;
    /// Reductions of its samples, and those whose weight this field is.
    std::vector<thalweg::history::StepReduction*> reductions, weighed_reductions;
    int boxes_sent = 0;            ///< number of boxes sent in this step
    std::vector<bool> sent_boxes;  ///< for each box: it was sent in this step
    /// Set in steps in which what is missing of the field shows where land is.
    std::optional<Examined> examined;
};

namespace thalweg::history {
using Field = tw_field_impl;
}
