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
#include "base/text/index_convention.hpp"
#include "definitions/named_list.hpp"
#include "definitions/packing.hpp"
#include "index/box.hpp"
#include "index/types.hpp"

namespace thalweg::detail {

class Team;

struct Dimension {
    std::string name;
    std::int64_t length = 0;  ///< length; 0: the record dimension
    bool unlimited() const { return length == 0; }
};

struct Attribute {
    std::string name;
    tw_type type = TW_CHAR;
    std::int64_t n = 0;
    std::vector<char> values;  ///< values in the machine's byte order
};

/// Attributes that were set after define mode, each with the number of its variable (-1: the file).
using LateAttributes = std::vector<std::pair<int, Attribute>>;

/// Value of a variable; its byte order is stated where it is used.
using FillValue = std::array<char, 8>;

struct Variable {
    std::string name;
    tw_type type = TW_BYTE;
    /// Numbers of the dimensions, slowest first, including the record dimension.
    std::vector<int> dims;
    NamedList<Attribute> attributes;
    /// Lengths of the dimensions, slowest first, without the record dimension.
    std::vector<std::int64_t> shape;
    bool record = false;
    VariableSettings settings;      ///< settings of this variable alone
    std::optional<FillValue> fill;  ///< fill value in the settings, if they contain one
    /// Chunks and filters in netCDF-4; derived from the settings of the variable and of the file.
    Packing packing;

    std::int64_t element() const { return size_of(type); }
    std::int64_t elements() const { return volume(shape); }
    /// Returns the attribute _FillValue; without it the setting `fill`; without both the default of
    /// the type. The result has the given byte order.
    FillValue fill_value(Order bytes = Order::native) const;
};

struct Definitions {
    NamedList<Dimension> dims;
    NamedList<Variable> variables;
    NamedList<Attribute> attributes;

    int find_dim(const std::string& name) const;       ///< returns -1 if there is none
    int find_variable(const std::string& name) const;  ///< returns -1 if there is none
    int record_dim() const;                            ///< returns -1 if there is none
    bool is_record_dim(int dim) const { return dims[dim].unlimited() && dim == record_dim(); }
    /// Returns the names of a variable's dimensions without the record dimension.
    std::vector<std::string> fixed_dims(const Variable& variable) const;
};

/// Returns TW_ENOTFOUND, with the known name that is most similar as a suggestion.
/// @param rank  rank that passed the name; -1: all ranks
Status no_variable(const Definitions& definitions, const std::string& path, const std::string& name,
                   int rank = -1);

/// Returns the error of a section without start or count, or, of a scalar, without an array. The
/// interfaces in other languages leave them out if they do not fit.
Status no_section(const Variable& variable);

/// Returns a hash of lines. If two definitions differ but have the same hash, a later call will
/// find the difference.
std::int64_t hash_of_lines(const std::vector<std::string>& lines);

/// Describes definitions, one line each. The lines of two ranks are equal if and only if their
/// definitions are.
/// @param held  text to append to the line of each variable; may be empty
std::vector<std::string> describe(const Definitions& definitions,
                                  std::span<const std::string> held = {},
                                  IndexConvention wording = {});

/// Describes one attribute. An empty owner stands for the file.
std::string describe(const std::string& owner, const Attribute& attribute);

/// Splits a list of names at blanks. As in CDL, a backslash escapes a blank or a backslash in a
/// name.
std::vector<std::string> split_names(const std::string& list);

/// Checks that netCDF allows a name.
Status check_name(const char* what, const std::string& name);

// ---- adding definitions one by one (define.cpp); `path` is the beginning of error texts ----

Status define_dimension(Definitions& definitions, const std::string& path, const std::string& name,
                        std::int64_t length);

/// The dimensions of a decomposition. A variable may name them without defining them.
struct GivenDimensions {
    std::vector<std::string> names;
    std::vector<std::int64_t> lengths;
    bool by_position = false;  ///< dimensions are matched by position, not by name
};

/// Finds the length of a dimension outside the definitions; leaves `length` unchanged if there is
/// no such dimension.
using FindLength = std::function<Status(const std::string& dim, std::int64_t& length)>;

/// Returns the error for a variable with a dimension that is neither defined nor given.
/// @param given  dimensions of the variable's decomposition; may be null
Status no_dimension(const Definitions& definitions, const std::string& path,
                    const std::string& variable, const std::string& dim,
                    const GivenDimensions* given, bool may_be_record);

/**
 * Defines a variable, and the dimensions of its decomposition that are not defined yet.
 * @param given   dimensions of the decomposition; null if there is none
 * @param find_length  finds the undefined dimensions of a variable without a decomposition
 * @param accept  function that is called with the variable and the names of its dimensions, without
 *                the record dimension, before anything is defined; if it fails, nothing is defined
 */
Status define_variable(
    Definitions& definitions, const std::string& path, const std::string& name, int type,
    const std::string& dims, const GivenDimensions* given, const FindLength& find_length,
    const std::function<Status(const Variable&, std::span<const std::string>)>& accept);

/// Sets the storage and the fill value of one variable from a text "name=value; name=value".
Status set_variable(Definitions& definitions, const std::string& path, const std::string& name,
                    const std::string& settings);

/// Checks that an attribute may be set. Sets `at` to the number of its variable, or to -1 for an
/// attribute of the file (empty variable name).
Status check_attribute(const Definitions& definitions, const std::string& path,
                       const std::string& variable, const Attribute& attribute, int& at);

/// Checks that every rank has the same lines. The error names the first difference.
/// @note Collective
Status check_alike(Team& team, const std::string& path, const std::vector<std::string>& lines);

/// Replaces the attributes of every rank by those of rank 0: the attributes of the file, and those
/// of all variables that rank 0 also has.
/// @param late  attributes that were put after define mode, when variables have the same numbers on
///              all ranks; null in define mode
/// @note Collective
void take_first_attributes(Team& team, Definitions& definitions, LateAttributes* late);

/// File formats, with netCDF's numbers for them (NC_FORMAT_...). A Zarr store is a folder.
enum class Format { cdf1 = 1, cdf2 = 2, netcdf4 = 3, netcdf4_classic = 4, cdf5 = 5, zarr = 6 };
const char* name_of(Format format);
/// Returns the format of a given name; cdf2 if the name is unknown.
Format format_of(const std::string& name);
/// Tests if a format is based on HDF5.
bool is_netcdf4(Format format);
/// Tests if a format has chunks and filters.
bool has_chunks(Format format);
/// Tests if a format has unsigned and 64-bit integers. In other formats, values of type byte can be
/// interpreted as signed or unsigned.
bool has_new_types(Format format);
/// Returns the largest number of records that the format can count.
std::int64_t most_records(Format format);

/// Checks that sizes and types are within the limits of a format. The error names a format without
/// these limits.
Status check_format(const Definitions& definitions, Format format);

/// Returns CDF-2, which all readers support, if it can hold the file; otherwise CDF-5.
Format choose_format(const Definitions& definitions);

/// Adds settings from a text "name=value; name=value". Does not check their values.
Status add_settings(const std::string& list, VariableSettings& settings);

/// Returns the names in a file's setting `chunks` that are not dimensions of the file.
std::vector<std::string> unknown_chunks(const Definitions& definitions,
                                        const VariableSettings& of_all);

/// Makes a variable's packing from its own settings and, if it has at least two dimensions, from
/// those of the file. A setting that does not suit the variable's type or dimensions is an error if
/// it is the variable's own; it is ignored if it is the file's.
Status choose_packing(const Definitions& definitions, const VariableSettings& of_all,
                      Variable& variable);

}  // namespace thalweg::detail
