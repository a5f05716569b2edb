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

/// The description of a rank's share: a contiguous block of an equally large array; the map's
/// elements, with whole dimensions left out of the list; or all of them in the list.
enum class Share { box, shortest, flattened };

/// Returns the list of a share that is not a box.
const List& list_of(const IndexMap& map, Share share);

/// Returns this rank's block of a map's array, whose listed dimensions are cut into a near-square
/// grid.
Part box_of(const IndexMap& map, int rank, int ranks);

/// A rank's arrays of all variables, dense, in the form of `share`. Variables exchange their arrays
/// from step to step.
class Fields {
public:
    Fields(const IndexMap& map, Share share, int variables, int rank, int ranks);

    std::int64_t elements() const { return elements_; }  ///< elements of one variable
    /// Returns the number from which field_value() makes a variable's values in a step.
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
    const Meeting& meeting;
    const IndexMap& map;
    const Options& options;
    const Fields& fields;
    int variables;
    Share share;
    std::string settings;  ///< settings of the library for the method
};

/// The cost of describing a share on this rank.
struct SetUp {
    double seconds = 0;
    double cpu_seconds = 0;
    std::int64_t bytes = 0;  ///< increase of memory at the peak
    Memory before;
};

/// A method of writing, with the state that a model would keep from file to file. Errors are
/// exceptions.
/// @note All functions are collective
class Writer {
public:
    virtual ~Writer() = default;
    virtual void open(const std::string& path) = 0;
    virtual void step(int step) = 0;
    virtual void close() = 0;
    /// Returns JSON text of the method about the last closed file, or "".
    virtual std::string details() { return {}; }

    const SetUp& set_up() const { return set_up_; }

protected:
    /// Measures the time and memory of describing this rank's share.
    template <class F>
    void measure_set_up(const Meeting& meeting, F describe) {
        trim_memory();
        reset_peak();
        set_up_.before = memory_now(true);
        const double start = meeting.start();
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
    std::string settings;  ///< "name=value; ..."
    std::unique_ptr<Writer> (*make)(const Context&);
};

const std::vector<MethodInfo>& methods();

/// Returns a method, or a variant "NAME:setting=value:..." of the library. Throws UsageError.
MethodInfo find_method(const std::string& name);

std::unique_ptr<Writer> make_raw(const Context&);
std::unique_ptr<Writer> make_library(const Context&);
std::unique_ptr<Writer> make_varn(const Context&);
std::unique_ptr<Writer> make_varn_nonblocking(const Context&);

}  // namespace thalweg::bench::irregular
