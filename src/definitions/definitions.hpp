// netCDF's data model: dimensions, variables and attributes of a file, as every rank defines them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "base/wording.hpp"
#include "definitions/named_list.hpp"
#include "definitions/packing.hpp"
#include "index/box.hpp"
#include "index/types.hpp"

namespace thalweg::detail {

class Team;

struct Dimension {
    std::string name;
    std::int64_t length = 0;  ///< 0: the record dimension
    bool unlimited() const { return length == 0; }
};

struct Attribute {
    std::string name;
    tw_type type = TW_CHAR;
    std::int64_t n = 0;
    std::vector<char> values;  ///< in the machine's byte order
};

/// Attributes that were set after the definitions ended: number of the variable (-1: the file) and
/// attribute.
using LateAttributes = std::vector<std::pair<int, Attribute>>;

using FillValue = std::array<char, 8>;  ///< value of a variable, in whichever byte order is stated

struct Variable {
    std::string name;
    tw_type type = TW_BYTE;
    std::vector<int> dims;  ///< slowest first, including the record dimension
    NamedList<Attribute> attributes;
    std::vector<std::int64_t> shape;  ///< in file order, without the record dimension
    bool record = false;
    VariableSettings settings;      ///< settings for this variable only
    std::optional<FillValue> fill;  ///< parsed from the settings, if they include a fill value
    /// Follows from the settings of the variable and of the file; netCDF-4 only.
    Packing packing;

    std::int64_t element() const { return size_of(type); }
    std::int64_t elements() const { return volume(shape); }
    /// Returns the attribute _FillValue, else the setting `fill`, else the default of the type, in
    /// the given byte order.
    FillValue fill_value(Order bytes = Order::native) const;
};

struct Definitions {
    NamedList<Dimension> dims;
    NamedList<Variable> variables;
    NamedList<Attribute> attributes;

    int find_dim(const std::string& name) const;       ///< -1 if there is none
    int find_variable(const std::string& name) const;  ///< -1 if there is none
    int record_dim() const;                            ///< -1 if there is none
    bool is_record_dim(int dim) const { return dims[dim].unlimited() && dim == record_dim(); }
    /// Returns the names of a variable's dimensions without the record dimension.
    std::vector<std::string> fixed_dims(const Variable& variable) const;
};

/// Returns TW_ENOTFOUND with a similar known name as a suggestion.
/// @param rank  the rank that passed the name; -1: all
Status no_variable(const Definitions& definitions, const std::string& path, const std::string& name,
                   int rank = -1);

/// Checks that a variable has so many dimensions.
/// @param ndims  -1: not known
/// @return TW_OK, TW_ESHAPE
Status check_ndims(const Variable& variable, int ndims);

/// Returns a hash of lines. Different definitions whose hashes collide are found when a later call
/// names what differs.
std::int64_t hash_of_lines(const std::vector<std::string>& lines);

/// Describes definitions, one line each. Two ranks have the same lines if and only if their
/// definitions are the same.
/// @param held  text to append to the line of each variable; empty: none
std::vector<std::string> describe(const Definitions& definitions,
                                  std::span<const std::string> held = {}, Wording wording = {});

/// Describes one attribute; an empty owner means the file.
std::string describe(const std::string& owner, const Attribute& attribute);

/// Splits a list of names at blanks. As in CDL, a backslash escapes a blank or a backslash in a
/// name.
std::vector<std::string> split_names(const std::string& list);

/// Tests if netCDF allows a name.
Status check_name(const char* what, const std::string& name);

// ---- adding definitions one by one; `path` is the beginning of error texts (define.cpp) ----

Status define_dimension(Definitions& definitions, const std::string& path, const std::string& name,
                        std::int64_t length);

/// Dimensions of a decomposition, which a variable may name without defining them.
struct GivenDimensions {
    std::vector<std::string> names;
    std::vector<std::int64_t> lengths;
    bool by_position = false;  ///< names are not compared
};

/// Returns the error for a variable with a dimension that is neither defined nor given.
/// @param given  may be null
Status no_dimension(const Definitions& definitions, const std::string& path,
                    const std::string& variable, const std::string& dim,
                    const GivenDimensions* given, bool may_be_record);

/**
 * Defines a variable, and the dimensions of its decomposition that are not defined yet.
 * @param given   null: the variable has no decomposition
 * @param accept  called with the variable and the names of its dimensions, without the record
 *                dimension, before anything is defined; its failure is returned
 */
Status define_variable(
    Definitions& definitions, const std::string& path, const std::string& name, int type,
    const std::string& dims, const GivenDimensions* given,
    const std::function<Status(const Variable&, std::span<const std::string>)>& accept);

/// Sets "name=value; name=value" for one variable: its storage and its fill value.
Status set_variable(Definitions& definitions, const std::string& path, const std::string& name,
                    const std::string& settings);

/// Checks that the attribute may be set. Sets `at` to the index of its variable, or to -1 if the
/// variable's name is empty (global attribute).
Status check_attribute(const Definitions& definitions, const std::string& path,
                       const std::string& variable, const Attribute& attribute, int& at);

/// Checks that every rank has the same lines; the error names the first difference.
/// @note Collective
Status check_alike(Team& team, const std::string& path, const std::vector<std::string>& lines);

/// File formats, with netCDF's numbers (NC_FORMAT_...).
enum class Format { cdf1 = 1, cdf2 = 2, netcdf4 = 3, netcdf4_classic = 4, cdf5 = 5 };
const char* name_of(Format format);
/// Returns the format with this name; cdf2 if there is none.
Format format_of(const std::string& name);
/// Tests if a format is based on HDF5.
bool is_netcdf4(Format format);
/// Tests if a format has unsigned and 64-bit integers. If not, a byte is signed or unsigned, as the
/// user likes.
bool has_new_types(Format format);
/// Returns the largest number of records that the format can count.
std::int64_t most_records(Format format);

/// Checks that sizes and types are within the limits of a format; the error names a format that is
/// large enough.
Status check_format(const Definitions& definitions, Format format);

/// Chooses CDF-2, which every reader knows, if it can hold the file; else CDF-5.
Format choose_format(const Definitions& definitions);

}  // namespace thalweg::detail
