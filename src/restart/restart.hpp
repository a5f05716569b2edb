// Arrays of a model that are written to one file together, and read from it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "comm/team.hpp"
#include "dataset/file.hpp"
#include "exchange/holding.hpp"
#include "reading/reader.hpp"

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

/// Arrays that a model has registered, with their definitions.
class Restart {
public:
    Restart(Team& team, const SessionResources& session, IndexConvention wording)
        : team_(team), session_(session), wording_(wording) {}

    // The following functions are local. They implement tw_restart_..., and also tw_def_dim,
    // tw_set_var and tw_put_att for the handle that tw_restart_file returns; see thalweg.h.
    Status define_dimension(const std::string& name, std::int64_t length);
    Status add(const Registration& registration);
    Status set_variable(const std::string& variable, const std::string& settings);
    Status put_attribute(const std::string& variable, Attribute attribute);
    /// Creates, fills and closes a file.
    /// @param first_attributes  write rank 0's attributes; otherwise they must be the same on all
    ///                          ranks
    /// @note Collective
    Status write(File& file, const std::string& path, bool first_attributes);
    /// Opens a file and reads all arrays; closes it after a failure. @note Collective
    Status read(Reader& reader, const std::string& path, bool checksums);

private:
    Status check(const Registration& registration, Definitions& made, RegisteredArray& array) const;
    Status use_decompositions();
    Status check_copies() const;
    Status refused(const std::string& name, Status why) const;
    Status put_all(File& file) const;
    Status match(const Source& source, std::size_t at, const Variable& theirs) const;
    Status ask(Reader& reader, const std::string& path, std::vector<std::string>& asked) const;

    Team& team_;
    const SessionResources& session_;
    IndexConvention wording_;
    Definitions definitions_;
    std::vector<RegisteredArray> arrays_;  ///< array of each variable in the definitions
};

/// Reads one variable of a restart's file into an array, whose type must hold all its values
/// exactly. On request, compares the file's checksum.
/// @note Collective
Status read_exactly(Team& team, Reader& reader, const std::string& path, GetArguments arguments,
                    bool checksums);

}  // namespace thalweg::detail
