// Arrays of a model that are written to one file together, and read from it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "comm/team.hpp"
#include "dataset/file.hpp"
#include "reading/reader.hpp"
#include "restart/registry.hpp"

namespace thalweg::detail {

class Restart {
public:
    explicit Restart(Team& team, Wording wording = {})
        : team_(team), wording_(wording), registry_(team.rank(), wording) {}

    // The following functions are local. They implement tw_restart_..., and also tw_def_dim,
    // tw_set_var and tw_put_att for the handle that tw_restart_file returns; see thalweg.h.
    Status define_dimension(const std::string& name, std::int64_t length) {
        return registry_.define_dimension(name, length);
    }
    Status add(const Registration& registration) { return registry_.add(registration); }
    Status set_variable(const std::string& variable, const std::string& settings) {
        return registry_.set_variable(variable, settings);
    }
    Status put_attribute(const std::string& variable, Attribute attribute) {
        return registry_.put_attribute(variable, std::move(attribute));
    }
    /// Creates, fills and closes a file.
    /// @param first_attributes  write rank 0's attributes; otherwise they must be the same on all
    ///                          ranks
    /// @note Collective
    Status write(File& file, const std::string& path, bool first_attributes);
    /// Opens a file and reads all arrays; closes it after a failure. @note Collective
    Status read(Reader& reader, const std::string& path, bool checksums);

private:
    Team& team_;
    Wording wording_;
    Registry registry_;
};

/// Reads one variable of a restart's file into an array, whose type must hold all its values
/// exactly. On request, compares the file's checksum.
/// @note Collective
Status read_exactly(Team& team, Reader& reader, const std::string& path, GetArguments arguments,
                    bool checksums);

}  // namespace thalweg::detail
