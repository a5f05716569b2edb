// Arrays of a model that are written to one file, and read from it, all together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/team.hpp"
#include "dataset/file.hpp"
#include "dataset/reader.hpp"
#include "restart/checksum.hpp"

namespace thalweg {

/// What tw_restart_add and its relative are given.
struct Registration {
    std::string name;
    int type = 0;
    std::string dims;
    /// Of the handle, so that what becomes of its halos later counts; null: replicated.
    const std::shared_ptr<const Decomposition>* decomposition = nullptr;
    void* data = nullptr;
    std::int64_t n = 0;  ///< elements of a dense array; -1 for a strided one
    int rank = 0;
    const std::int64_t* extent = nullptr;
    const std::int64_t* byte_stride = nullptr;
    bool optional = false;
};

class Restart {
public:
    explicit Restart(Team& team) : team_(team) {}

    // Local. See thalweg.h for the meaning of all.
    Status define_dimension(const std::string& name, std::int64_t length);
    Status add(const Registration& registration);
    Status put_attribute(const std::string& variable, Attribute attribute);
    Status found(const std::string& name, bool& found) const;
    /// Of the file that was read last; null before.
    const Definitions* read_definitions() const { return read_ ? &*read_ : nullptr; }
    bool byte_of_any_sign() const { return byte_of_any_sign_; }

    /// Creates, fills and closes a file. @note Collective
    Status write(File& file, const std::string& path, bool checksums);
    /// Opens, reads and closes a file. @note Collective
    Status read(Reader& reader, const std::string& path, bool checksums);

private:
    /// The array of a variable.
    struct Array {
        const std::shared_ptr<const Decomposition>* decomposition = nullptr;
        void* data = nullptr;
        std::int64_t n = 0;
        std::vector<std::int64_t> extent, byte_stride;
        ArrayView view;
        bool optional = false, found = false;
    };
    /// A variable of a file under reading whose checksum is to be compared.
    struct Check {
        std::size_t variable;
        int in_file;
        std::string text;  ///< of the attribute
    };

    void use_decompositions();
    std::string dims_of(const Variable& variable) const;
    Status add_checksums(Definitions& definitions) const;
    Status put_all(File& file) const;
    Status match(const Source& source, const Variable& own, const Variable& theirs) const;
    Status ask(Reader& reader, const std::string& path, std::vector<Check>& checks);
    Status verify(Reader& reader, const std::string& path, const std::vector<Check>& checks) const;
    Status sum_file(Reader& reader, const Variable& own, const Variable& theirs,
                    Checksum& sum) const;
    void all_sum(std::vector<Checksum>& sums) const;

    Team& team_;
    Definitions definitions_;
    std::vector<Array> arrays_;  ///< of the variables of definitions_
    std::optional<Definitions> read_;
    bool byte_of_any_sign_ = false;
};

}  // namespace thalweg
