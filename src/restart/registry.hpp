// The arrays that a model has registered for restarts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exchange/holding.hpp"

namespace thalweg::detail {

/// The arguments of tw_restart_add and related functions.
struct Registration {
    std::string name;
    std::string dims;
    /// Decomposition, shared with its handle, so that later changes of its halos apply; null if the
    /// array is replicated.
    std::shared_ptr<const Declared> declared;
    tw_array array{};
    bool optional = false, copied = false, by_position = false;
};

/// The array of a variable.
struct RegisteredArray {
    std::shared_ptr<const Declared> declared;
    std::shared_ptr<const Holding> holding;
    KeptArray array;
    ArrayView view;
    bool optional = false, by_position = false;
    bool copied = false;     ///< `array` points to `copy`
    std::vector<char> copy;  ///< copy of the values until they are written
    bool written = false;    ///< the copy was written, so the variable must be registered again
};

/// The arrays that a model has registered for restarts. All functions are local; see thalweg.h for
/// the meaning of tw_restart_...
class Registry {
public:
    Registry(int rank, Wording wording) : rank_(rank), wording_(wording) {}

    Status define_dimension(const std::string& name, std::int64_t length);
    Status add(const Registration& registration);
    Status set_variable(const std::string& variable, const std::string& settings);
    Status put_attribute(const std::string& variable, Attribute attribute);

    /// Makes a variable and its array from the arguments of a call. `made` receives definitions
    /// with only this variable.
    Status check(const Registration& registration, Definitions& made, RegisteredArray& array) const;
    /// Applies changes that tw_fill_halo and tw_pad have made after arrays were registered, and
    /// checks that these arrays still fit.
    Status use_decompositions();
    /// Checks that each variable has data to write: copies that were written must have been
    /// registered again.
    Status check_copies() const;
    /// Frees the copies that have been written.
    void drop_copies();

    const Definitions& definitions() const { return definitions_; }
    /// Returns the part of each variable that this rank holds.
    Holdings holdings() const;
    /// Returns the array of each variable in the definitions.
    std::vector<RegisteredArray>& arrays() { return arrays_; }
    const std::vector<RegisteredArray>& arrays() const { return arrays_; }

private:
    Status refused(const std::string& name, Status why) const;

    int rank_;
    Wording wording_;
    Definitions definitions_;
    std::vector<RegisteredArray> arrays_;
};

}  // namespace thalweg::detail
