// Arrays of a model that are written to one file together, and read from it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
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

    // Local. See thalweg.h for the meaning of all.
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
    Status found(const std::string& name, bool& found) const;
    /// Of the file that was read last; null before.
    const Definitions* read_definitions() const { return read_ ? &*read_ : nullptr; }
    bool byte_of_any_sign() const { return byte_of_any_sign_; }

    /// Creates, fills and closes a file.
    /// @param first_attributes  they are those of rank 0, not the same on all
    /// @note Collective
    Status write(File& file, const std::string& path, bool checksums, bool first_attributes);
    /// Opens, reads and closes a file. @note Collective
    Status read(Reader& reader, const std::string& path, bool checksums);

    // One variable at a time, into arrays that are not registered.
    bool is_open() const { return reader_ != nullptr; }
    /// @note Collective, as are the next two
    Status open(std::unique_ptr<Reader> reader, const std::string& path);
    Status get(const Registration& registration, bool checksums);
    Status close();

private:
    Status still_open(const std::string& path) const;

    Team& team_;
    Wording wording_;
    Registry registry_;
    std::optional<Definitions> read_;
    std::unique_ptr<Reader> reader_;  ///< of the file that is open to be read one by one
    std::string path_;                ///< of it
    bool byte_of_any_sign_ = false;
};

}  // namespace thalweg::detail
