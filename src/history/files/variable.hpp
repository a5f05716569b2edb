// A statistic of a field in a stream: a variable of its files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "definitions/packing.hpp"
#include "history/files/samples.hpp"

namespace thalweg::history {

struct Variable : SampledField {
    Variable(SampledField sampled, Weights weights)
        : SampledField(std::move(sampled)),
          attributes(field.attributes),
          samples(*this, std::move(weights)) {}
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

    /// Sets the pick from which the elements come.
    /// @param names  coordinates whose dimensions the pick replaces
    void set_pick(const Pick& of, const std::vector<std::string>& names);
    /// Returns the elements in the file: those of the samples, of a map's target, or the groups of
    /// a reduction.
    const Taken& written() const {
        return reduction ? reduction->results() : mapping ? mapping->results() : taken;
    }
    /// Returns the names in the file, without time.
    std::vector<std::string> dims() const;
    /// Removes attributes that name dimensions which a reduction or map has removed, and adds those
    /// of the map.
    void set_reduced(const std::map<std::string, Coordinate>& declared,
                     std::vector<std::string> units);
    /// Tests if its samples count in other steps or windows than those of the stream.
    bool has_own_steps() const { return about.inner || is_difference(about.statistic.op); }
    /// Tests if it is the first variable of its name: others have the other bins of a cycle.
    bool is_first() const { return about.bin <= 0; }
    /// Tests if this rank holds elements of the variable, which it must send.
    bool held() const { return taken.chosen.elements > 0; }
    /// Ignores the time before this one, at which the stream began.
    void begin_at(Time time) {
        rules.from = time;
        samples.begin_at(rules.begin());
    }

    std::vector<Attribute> attributes;  ///< those of the field that apply to the elements
    Pick pick;
    std::vector<std::string> weight_units;  ///< units of the weights of a reduction
    detail::Packing packing;                ///< storage in netCDF-4 files
    Samples samples;
};

}  // namespace thalweg::history
