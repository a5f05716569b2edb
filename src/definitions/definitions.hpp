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

/// Attributes that were set after the definitions ended: of a variable, or of the file (-1).
using LateAttributes = std::vector<std::pair<int, Attribute>>;

using FillValue = std::array<char, 8>;  ///< of a variable, in some byte order

struct Variable {
    std::string name;
    tw_type type = TW_BYTE;
    std::vector<int> dims;  ///< slowest first, the record dimension included
    NamedList<Attribute> attributes;
    std::vector<std::int64_t> shape;  ///< in file order, without the record dimension
    bool record = false;
    VariableSettings settings;      ///< of the variable's own
    std::optional<FillValue> fill;  ///< of them, where there is one
    Packing packing;                ///< of them and the file's; netCDF-4

    std::int64_t element() const { return size_of(type); }
    std::int64_t elements() const { return volume(shape); }
    /// _FillValue, or the setting `fill`, or the type's default; in that byte order.
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
    /// The names of a variable's dimensions without the record dimension.
    std::vector<std::string> fixed_dims(const Variable& variable) const;
};

/// TW_ENOTFOUND, with the name that was probably meant. @param rank  whose mistake it is; -1: all's
Status no_variable(const Definitions& definitions, const std::string& path, const std::string& name,
                   int rank = -1);

/// TW_ESHAPE unless the variable has so many dimensions. @param ndims  -1: not known
Status check_ndims(const Variable& variable, int ndims);

/// Returns a hash of lines. Equal definitions have equal hashes; unequal ones that collide differ
/// in what a later call names.
std::int64_t hash_of_lines(const std::vector<std::string>& lines);

/// One line per definition, the same on two ranks if and only if the definitions are.
/// @param held  appended to the line of each variable; empty: nothing is
std::vector<std::string> describe(const Definitions& definitions,
                                  std::span<const std::string> held = {}, Wording wording = {});

/// The same of one attribute; an empty owner means the file.
std::string describe(const std::string& owner, const Attribute& attribute);

/// The names of a list separated by blanks. As in CDL, a backslash keeps a blank, or a backslash,
/// in a name.
std::vector<std::string> split_names(const std::string& list);

/// Whether netCDF allows a name.
Status check_name(const char* what, const std::string& name);

// ---- what is defined one by one; `path` is what the texts of failures begin with (define.cpp)
// ----

Status define_dimension(Definitions& definitions, const std::string& path, const std::string& name,
                        std::int64_t length);

/// Dimensions that a variable may name without their being defined: those of its decomposition.
struct GivenDimensions {
    std::vector<std::string> names;
    std::vector<std::int64_t> lengths;
    bool by_position = false;  ///< the names do not count
};

/// The failure of a variable that names a dimension which is neither defined nor given.
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

/// "name=value; name=value" for one variable: how it is stored, and its fill value.
Status set_variable(Definitions& definitions, const std::string& path, const std::string& name,
                    const std::string& settings);

/// Whether the attribute may be set, and of which variable; -1 for an empty name, the file.
Status check_attribute(const Definitions& definitions, const std::string& path,
                       const std::string& variable, const Attribute& attribute, int& at);

/// Whether every rank has the same lines; the text of a failure has the first that differ.
/// @note Collective
Status check_alike(Team& team, const std::string& path, const std::vector<std::string>& lines);

/// netCDF's numbers (NC_FORMAT_...).
enum class Format { cdf1 = 1, cdf2 = 2, netcdf4 = 3, netcdf4_classic = 4, cdf5 = 5 };
const char* name_of(Format format);
/// By its name; cdf2 where there is none of that name.
Format format_of(const std::string& name);
/// Whether a file is one of HDF5.
bool is_netcdf4(Format format);
/// Whether there are unsigned and 64-bit integers; else a byte is signed or unsigned, as the user
/// likes.
bool has_new_types(Format format);
/// Most records that the format can count.
std::int64_t most_records(Format format);

/// Whether the sizes and types fit a format's limits; the text names the format that can.
Status check_format(const Definitions& definitions, Format format);

/// CDF-2 where it can hold the file, as every reader knows it; else CDF-5.
Format choose_format(const Definitions& definitions);

}  // namespace thalweg::detail
