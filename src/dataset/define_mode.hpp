// Define mode of a file: the definitions before there are data, and those of an existing file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "choose/choose.hpp"
#include "service/file_context.hpp"
#include "storage/source.hpp"

namespace thalweg::detail {

class DefineMode {
public:
    explicit DefineMode(FileContext& file) : file_(file) {}

    /// Reads the contents of an existing file. The result is the same on all ranks.
    /// @note Collective
    Status open_existing();
    /// Returns the contents that the file had when it was opened; null for a new file.
    const Source* contents() const { return source_.get(); }

    // Local. thalweg/definitions.h describes the C functions.
    Status define_dimension(const std::string& name, std::int64_t length);
    Status define_variable(const std::string& name, int type, const std::string& dims,
                           std::shared_ptr<const Decomposition> decomposition);
    Status put_attribute(const std::string& variable, Attribute attribute);
    /// Defines all variables by one call.
    Status define(Definitions definitions, Holdings holdings);
    Status set_variable(const std::string& variable, const std::string& settings);
    /// Sets the number of the record that the first step writes in an existing file.
    /// @param later  treatment of later records: a value of enum tw_later
    Status set_record(std::int64_t record, int later);

    /// Ends define mode. After this, only attributes can be set.
    void end() { ended_ = true; }
    /// Returns a hash of everything that must be defined alike on all ranks. Local.
    std::int64_t hash() const;
    /// Returns the first difference between the definitions of the ranks. If the setting permits
    /// different attributes, first replaces them by those of rank 0. Needed only if the hashes
    /// differ.
    /// @note Collective; the status is the same on every rank
    Status compare();
    /// Chooses the format. For an existing file, replaces the definitions by those of the file on
    /// all ranks, with its order and numbers.
    /// @note Collective; the status is the same on every rank
    Status settle();

private:
    Status check(const char* what) const;
    Status put_late_attribute(const std::string& variable, Attribute attribute);
    std::vector<std::string> lines() const;
    Status check_existing();
    Status check_whole() const;
    Status adopt_existing(std::vector<Remark>& remarks);

    FileContext& file_;
    std::unique_ptr<Source> source_;
    Definitions writable_;  ///< definitions of an existing file that a model has to repeat
    bool ended_ = false;
};

}  // namespace thalweg::detail
