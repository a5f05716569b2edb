// Definitions of files that are or will be written: a part of thalweg.hpp.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "thalweg/base.hpp"

namespace thalweg {

/// Functions that File and Restart have in common: dimensions, attributes and settings of
/// variables. All of them are local, and take the same arguments on every rank.
template <class Self>
class Definable {
public:
    /// tw_def_dim; `unlimited` makes the dimension the record dimension of a File
    void def_dim(const std::string& name, std::int64_t length) {
        self().check(tw_def_dim(self().defined(), name.c_str(), length));
    }
    /// tw_put_att_text; an empty variable name means a global attribute
    void put_att(const std::string& var, const std::string& name, const std::string& text) {
        self().check(tw_put_att_text(self().defined(), var.c_str(), name.c_str(), text.c_str()));
    }
    /// Calls tw_put_att.
    template <class T>
    requires std::is_arithmetic_v<T>
    void put_att(const std::string& var, const std::string& name, T value) {
        self().check(tw_put_att(self().defined(), var.c_str(), name.c_str(),
                                static_cast<tw_type>(type_of<T>()), 1, &value));
    }
    template <class T>
    void put_att(const std::string& var, const std::string& name, const std::vector<T>& values) {
        self().check(tw_put_att(self().defined(), var.c_str(), name.c_str(),
                                static_cast<tw_type>(type_of<T>()), handles::size_of(values),
                                values.data()));
    }
    /// tw_set_var: "fill=0; deflate=1; chunks=lev=10"
    void set_var(const std::string& var, const std::string& settings) {
        self().check(tw_set_var(self().defined(), var.c_str(), settings.c_str()));
    }

private:
    friend Self;
    Definable() = default;
    const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace thalweg
