// A statistic of a field in a stream: a variable of its files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "definitions/packing.hpp"
#include "history/configuration/resolve.hpp"
#include "history/files/samples.hpp"
#include "history/selection/field.hpp"

namespace thalweg::history {

class Variable {
public:
    Variable(SampledField sampled, Weights weights)
        : sampled_(std::move(sampled)),
          attributes_(sampled_.field.attributes),
          samples_(sampled_, std::move(weights)) {}
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

    const StreamField& about() const { return sampled_.about; }
    const std::string& name() const { return sampled_.about.name; }
    Field& field() const { return sampled_.field; }
    const Field* weight_field() const { return samples_.weights().field(); }
    const Taken& taken() const { return sampled_.taken; }
    const Chosen& chosen() const { return sampled_.taken.chosen; }
    /// Keeps the pick from which the elements come.
    /// @param names  coordinates whose dimensions the pick replaces
    void set_pick(const Pick& pick, const std::vector<std::string>& names);
    const Pick& pick() const { return pick_; }
    /// Returns the attributes of the field that apply to the elements.
    const std::vector<Attribute>& attributes() const { return attributes_; }
    /// Returns the elements in the file: those of the samples, of a map's target, or the groups of
    /// a reduction.
    const Taken& written() const {
        return sampled_.reduction ? sampled_.reduction->results()
               : mapping()        ? mapping()->results()
                                  : sampled_.taken;
    }
    /// Returns the names of the dimensions in the file, without time.
    std::vector<std::string> dims() const;
    /// Removes attributes that name dimensions which a reduction or map has removed, and adds those
    /// of the map.
    /// @param units  units of the weights of the reduction
    void set_reduced(const std::map<std::string, Coordinate>& declared,
                     std::vector<std::string> units);
    /// Returns the units of the weights of a reduction.
    const std::vector<std::string>& weight_units() const { return weight_units_; }
    const WindowRules& rules() const { return sampled_.rules; }
    bool once() const { return sampled_.once(); }
    /// Tests if its samples count in other steps or windows than those of the stream.
    bool has_own_steps() const { return about().inner || is_difference(about().statistic.op); }
    /// Tests if it is the first variable of its name: others have the other bins of a cycle.
    bool is_first() const { return about().bin <= 0; }
    bool instant() const { return sampled_.instant(); }
    /// Tests if this rank holds elements of the variable, which it must send.
    bool held() const { return chosen().elements > 0; }
    const Reduction* reduction() const { return sampled_.reduction.get(); }
    const Mapping* mapping() const { return sampled_.mapping.get(); }
    Samples& samples() { return samples_; }
    const Samples& samples() const { return samples_; }
    /// Ignores the time before this one, at which the stream began.
    void begin_at(Time time) {
        sampled_.rules.from = time;
        samples_.begin_at(rules().begin());
    }

    void change_windows(const WindowRules::Change& change) { sampled_.rules.change = change; }

    const Value& fill() const { return sampled_.fill; }
    /// Sets the storage in netCDF-4 files.
    void set_packing(detail::Packing packing) { packing_ = std::move(packing); }
    const detail::Packing& packing() const { return packing_; }

private:
    SampledField sampled_;
    Pick pick_;
    std::vector<Attribute> attributes_;
    std::vector<std::string> weight_units_;
    detail::Packing packing_;
    Samples samples_;
};

}  // namespace thalweg::history
