// A statistic of a field in a stream: a variable of its files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "definitions/packing.hpp"
#include "history/field.hpp"
#include "history/pick.hpp"
#include "history/resolve.hpp"
#include "history/samples.hpp"

namespace thalweg::history {

class Variable {
public:
    /// @param rules  rules of the variable's windows: those of the stream, or with its own inner
    /// operation
    Variable(const StreamField& about, Field& field, Weights weights, const WindowRules& rules,
             std::shared_ptr<const Chosen> chosen);
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

    const StreamField& about() const { return about_; }
    const std::string& name() const { return about_.name; }
    Field& field() const { return field_; }
    const Field* weight_field() const { return samples_.weights().field(); }
    const Chosen& chosen() const { return *chosen_; }
    /// Returns the decomposition of the chosen part.
    tw_decomposition target() const { return *target_; }
    void set_target(const tw_decomposition* target) { target_ = target; }
    /// Keeps the pick from which the elements come.
    /// @param names  coordinates whose dimensions the pick replaces
    void set_pick(const Pick& pick, std::vector<std::string> names);
    const Pick& pick() const { return pick_; }
    /// Returns the attributes of the field that apply to the elements.
    const std::vector<Attribute>& attributes() const { return attributes_; }
    /// Returns the names of the dimensions in the file, without time.
    std::vector<std::string> dims() const { return picked_dims(field_.declared.dims, pick_); }
    const WindowRules& rules() const { return rules_; }
    bool once() const { return about_.statistic.op == Op::once; }
    bool instant() const { return about_.statistic.op == Op::instant || once(); }
    /// Tests if this rank holds elements of the variable, which it must send.
    bool held() const { return chosen_->elements > 0; }
    Samples& samples() { return samples_; }
    const Samples& samples() const { return samples_; }
    /// Ignores the time before this one, at which the stream began.
    void begin_at(Time time) {
        rules_.from = time;
        samples_.begin_at(rules_.begin());
    }

    /// Sets the value of elements without a result.
    void set_fill(const Value& fill) { fill_ = fill; }
    const Value& fill() const { return fill_; }
    /// Sets the storage in netCDF-4 files.
    void set_packing(detail::Packing packing) { packing_ = std::move(packing); }
    const detail::Packing& packing() const { return packing_; }

private:
    StreamField about_;
    Field& field_;
    WindowRules rules_;
    std::shared_ptr<const Chosen> chosen_;
    const tw_decomposition* target_ = nullptr;
    Pick pick_;
    std::vector<Attribute> attributes_;
    Value fill_{};
    detail::Packing packing_;
    Samples samples_;
};

/// Finds for each of the variable's elements the element of the weight field.
/// @return TW_OK, TW_ESETTING: this rank does not hold the same elements of both
Status match_weights(const Chosen& chosen, Weights& weights);

/// Returns a value of a type as a number.
double number_of(tw_type type, const char* data);
/// Returns a number as a value of a type.
Value value_of(tw_type type, double number);
/// Returns the fill value of a type: 1e20 for float and double, otherwise netCDF's default.
Value fill_of(tw_type type);

}  // namespace thalweg::history
