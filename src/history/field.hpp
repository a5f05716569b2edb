// The fields and coordinates that a model declares.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "history/part.hpp"
#include "history/resolve.hpp"
#include "thalweg/history.h"

namespace thalweg::detail {
struct Decomposition;
}

namespace thalweg::history {

class History;
class Variable;

/// A box of a rank's array in memory: address of its first held element, and the distance in bytes
/// of neighbours along each dimension in memory.
struct Block {
    const char* base = nullptr;
    Integers stride;
};

/// A box that is sent; `box` is its number in the part.
struct SentBox {
    int box = 0;
    Block block;
};

/// Calls visit(first, count, data, stride in bytes) for rows of the chosen elements of one box,
/// which are as long as memory allows.
void for_rows(
    const Chosen& chosen, const SentBox& sent,
    const std::function<void(std::int64_t, std::int64_t, const char*, std::int64_t)>& visit);

/// Copies the chosen elements of a box.
void copy_elements(const Chosen& chosen, const SentBox& box, std::int64_t size, char* to);
/// Returns the boxes of an array of a part without halos and holes.
std::vector<SentBox> dense_boxes(const Part& part, const char* data, std::int64_t size);

/// Reads "units=K; standard_name=air_temperature; comment=\"a; b\"". Numbers become numbers, except
/// in units and where they are quoted.
/// @return TW_OK, TW_EARG
Status parse_attributes(const char* text, std::vector<Attribute>& attributes);

/// Returns an attribute of text, or "".
std::string text_of(const std::vector<Attribute>& attributes, std::string_view name);
/// Adds an attribute, or replaces that of the same name.
void set_attribute(std::vector<Attribute>& attributes, Attribute attribute);

/// A variable that is written once a file.
struct Coordinate {
    std::string name;
    tw_type type = TW_DOUBLE;
    std::vector<std::string> dims;
    std::vector<Attribute> attributes;
    Part part;
    int serial = 0;  ///< of the decomposition, the same on every rank; 0: every rank has all
    std::vector<char> data;  ///< elements of the part, without halos
    std::int64_t size = 0;   ///< bytes of an element
};

}  // namespace thalweg::history

/// A field of the model.
struct tw_field_impl {
    int wanted = 0;                                ///< a send at this time would be used
    thalweg::history::History* history = nullptr;  ///< null: it is closed
    thalweg::history::DeclaredField declared;
    std::vector<thalweg::history::Attribute> attributes;  ///< as they are written
    thalweg::history::Part part;
    int serial = 0;  ///< of the decomposition, the same on every rank; 0: every rank has all
    /// The form of the model's arrays, for the C functions, which check them.
    std::shared_ptr<const thalweg::detail::Decomposition> form;
    std::vector<thalweg::history::Variable*> users;    ///< variables of streams that take it
    std::vector<thalweg::history::Variable*> weighed;  ///< those that it is the weight of
    int boxes_sent = 0;                                ///< in this step
    std::vector<bool> sent_boxes;                      ///< likewise, each
};

namespace thalweg::history {
using Field = tw_field_impl;
}
