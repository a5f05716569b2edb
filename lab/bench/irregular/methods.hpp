// Methods of writing the variables of an index map.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "irregular/command_line.hpp"
#include "irregular/map.hpp"
#include "problem.hpp"

namespace thalweg::bench::irregular {

/// The description of a rank's share. box: a contiguous block of an array of the same size;
/// shortest: the map's elements, without dimensions in the list that the rank holds completely;
/// flattened: all dimensions in the list.
enum class Share { box, shortest, flattened };

/// Returns the list of a share that is not a box.
const List& list_of(const IndexMap& map, Share share);

/// Returns this rank's block of a map's array. The listed dimensions are divided by a grid that is
/// as square as possible.
Part box_of(const IndexMap& map, int rank, int ranks);

/// Dense arrays of all variables of a rank, in the form of `share`. From step to step, variables
/// exchange their arrays.
class Fields {
public:
    Fields(const IndexMap& map, Share share, int variables, int rank, int ranks);

    std::int64_t elements() const { return elements_; }  ///< elements of one variable
    /// Returns the number from which field_value() computes a variable's values in a step.
    std::uint32_t field(int variable, int step) const {
        return static_cast<std::uint32_t>((variable + step) % variables_);
    }
    const float* values(int variable, int step) const {
        return values_.data() + field(variable, step) * elements_;
    }
    const std::vector<float>& all() const { return values_; }

private:
    int variables_;
    std::int64_t elements_;
    std::vector<float> values_;
};

struct Context {
    const RankGroup& rank_group;
    const IndexMap& map;
    const Options& options;
    const Fields& fields;
    int variables;
    Share share;
    std::string settings;  ///< settings of the library for the method
};

/// The cost of describing this rank's share.
struct SetUp {
    double seconds = 0;
    double cpu_seconds = 0;
    std::int64_t bytes = 0;  ///< largest increase of memory in bytes
    Memory before;
};

/// A method of writing, with the state that a model would keep from one file to the next. Errors
/// are exceptions.
/// @note All functions are collective
class Writer {
public:
    virtual ~Writer() = default;
    virtual void open(const std::string& path) = 0;
    virtual void step(int step) = 0;
    virtual void close() = 0;
    /// Returns the method's JSON text about the file that was closed last, or "".
    virtual std::string details() { return {}; }

    const SetUp& set_up() const { return set_up_; }

protected:
    /// Measures the time and memory of describing this rank's share.
    template <class F>
    void measure_set_up(const RankGroup& rank_group, F describe) {
        trim_memory();
        reset_peak();
        set_up_.before = memory_now(true);
        const double start = rank_group.start();
        const double cpu_start = cpu_seconds();
        describe();
        set_up_.seconds = now() - start;
        set_up_.cpu_seconds = cpu_seconds() - cpu_start;
        set_up_.bytes = growth(set_up_.before, {}, memory_now(false)).whole;
    }

private:
    SetUp set_up_;
};

struct MethodInfo {
    std::string name;
    std::string text;
    bool library;
    bool format;  ///< the method writes a netCDF file
    Share share;
    std::string settings;  ///< settings in the form "name=value; ..."
    std::unique_ptr<Writer> (*make)(const Context&);
};

const std::vector<MethodInfo>& methods();

/// Returns the method of a name, or with "NAME:setting=value:..." a variant of a method of the
/// library. Throws UsageError.
MethodInfo find_method(const std::string& name);

std::unique_ptr<Writer> make_raw(const Context&);
std::unique_ptr<Writer> make_library(const Context&);
std::unique_ptr<Writer> make_varn(const Context&);
std::unique_ptr<Writer> make_varn_nonblocking(const Context&);

}  // namespace thalweg::bench::irregular
