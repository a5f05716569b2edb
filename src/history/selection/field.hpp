// The fields and coordinates that a model declares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
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
using Field = tw_field_impl;
class SampleTaker;
class StepValues;

/// A box of a rank's array in memory.
struct SentBox {
    int box = 0;                 ///< number in the part
    const char* base = nullptr;  ///< address of its first held element
    Integers stride;             ///< bytes from one element to the next along each dimension
};

using RowVisit = std::function<void(std::int64_t, std::int64_t, const char*, std::int64_t)>;
/// Calls visit(first, count, data, stride in bytes) for the rows of a box's chosen elements.
void for_rows(const Chosen& chosen, const SentBox& sent, const RowVisit& visit);

void copy_elements(const Chosen& chosen, const SentBox& box, std::int64_t size, char* to);
/// Reads the chosen elements of boxes as numbers. @param missing  number for missing elements
void read_numbers(const Chosen& chosen, std::span<const SentBox> boxes, const DeclaredField& field,
                  double missing, std::vector<double>& numbers);
/// Returns the lengths of a box in memory, without halos. Listed dimensions count as one.
Integers extent_of(const Part& part, int box);
/// Returns the boxes of an array of a part without halos and holes.
std::vector<SentBox> dense_boxes(const Part& part, const char* data, std::int64_t size);

/// Reads "units=K; standard_name=air_temperature; comment=\"a; b\"". A value that is a number
/// becomes a numeric attribute, except for units and quoted values. @return TW_OK, TW_EARG
Status parse_attributes(const char* text, Attributes& attributes);

std::string text_of(const Attributes& attributes, std::string_view name);
void set_attribute(Attributes& attributes, Attribute attribute);
/// @param names  separated by blanks
void erase_attributes(Attributes& attributes, const char* names);
/// Returns the words of an attribute.
inline Names words_of(const Attributes& attributes, std::string_view name) {
    return split_dims(text_of(attributes, name).c_str());
}

bool is_east(const std::string& units);
bool is_north(const std::string& units);

/// Returns the fill value of a type: 1e20 for float and double, otherwise netCDF's default.
Value fill_of(tw_type type);

/// A variable that is written once per file.
struct Coordinate {
    std::string name;
    tw_type type = TW_DOUBLE;
    Names dims;
    Attributes attributes;
    Part part;
    int serial = 0;          ///< serial number of the decomposition; 0: every rank has all elements
    std::vector<char> data;  ///< elements of the part, without halos
    std::int64_t size = 0;   ///< bytes of an element
};

using Coordinates = std::map<std::string, Coordinate>;

/// Makes a coordinate of the values of a part. @tparam T  char, std::int32_t or double
template <class T>
Coordinate make_coordinate(std::string name, const Part& part, const std::vector<T>& values,
                           Attributes attributes) {
    Coordinate c;
    c.name = std::move(name);
    c.type = sizeof(T) == 8 ? TW_DOUBLE : sizeof(T) == 4 ? TW_INT : TW_CHAR;
    c.size = sizeof(T);
    c.dims = part.dims;
    c.attributes = std::move(attributes);
    c.part = part.replicated ? choose(part, {}).part : part;
    const auto* const bytes = reinterpret_cast<const char*>(values.data());
    c.data.assign(bytes, bytes + values.size() * sizeof(T));
    return c;
}

std::vector<char> chosen_data(const Coordinate& c, const Chosen& chosen);
std::vector<double> numbers_of(const Coordinate& c);
/// Finds the numbers that the chosen elements of a coordinate have for the elements of a part.
/// @return false: this rank does not hold all of them
bool find_numbers(const Coordinate& c, const Choice& choice, const Part& part,
                  std::vector<double>& numbers);

}  // namespace thalweg::history

struct tw_field_impl : thalweg::history::DeclaredField {
    int wanted = 0;                                ///< 1: some stream would use a sample sent now
    thalweg::history::History* history = nullptr;  ///< null after tw_history_close
    /// Attributes, as written to files.
    thalweg::history::Attributes attributes;
    thalweg::history::Part part;
    int serial = 0;  ///< serial number of the decomposition; 0: every rank has all elements
    /// Form of the model's arrays. The C functions compare the arrays that they get with it.
    std::shared_ptr<const thalweg::detail::Decomposition> form;
    std::vector<thalweg::history::SampleTaker*> users;     ///< takers of its samples
    std::vector<thalweg::history::SampleTaker*> weighed;   ///< those whose weight this field is
    std::shared_ptr<thalweg::history::Computed> computed;  ///< null: the model sends it
    std::vector<tw_field_impl*> feeds;                     ///< fields that are computed from it
    /// Values in the present step, if fields are computed from it.
    std::shared_ptr<thalweg::history::StepValues> step;
    int boxes_sent = 0;            ///< number of boxes sent in this step
    std::vector<bool> sent_boxes;  ///< for each box: it was sent in this step
    /// Values in a step in which what is missing of the field shows where land is; otherwise null.
    std::shared_ptr<thalweg::history::StepValues> examined;
};
