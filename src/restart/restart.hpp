// Arrays of a model that are written to one file, and read from it, all together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/team.hpp"
#include "dataset/file.hpp"
#include "dataset/reading/reader.hpp"
#include "restart/checksum.hpp"

namespace thalweg::detail {

/// What tw_restart_add and its relative are given.
struct Registration {
    std::string name;
    int type = 0;
    std::string dims;
    /// The handle's, so that what becomes of its halos later counts; null: replicated.
    std::shared_ptr<const Declared> declared;
    void* data = nullptr;
    std::int64_t n = 0;  ///< elements of a dense array; -1 for a strided one
    int rank = 0;
    const std::int64_t* extent = nullptr;
    const std::int64_t* byte_stride = nullptr;
    bool optional = false, copied = false, by_position = false;
};

class Restart {
public:
    explicit Restart(Team& team, Wording wording = {}) : team_(team), wording_(wording) {}

    // Local. See thalweg.h for the meaning of all.
    Status define_dimension(const std::string& name, std::int64_t length);
    Status add(const Registration& registration);
    Status set_variable(const std::string& variable, const std::string& settings);
    Status put_attribute(const std::string& variable, Attribute attribute);
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

    // One variable at a time (one_by_one.cpp).
    bool is_open() const { return reader_ != nullptr; }
    /// @note Collective, as are the next two
    Status open(std::unique_ptr<Reader> reader, const std::string& path);
    Status get(const Registration& registration, bool checksums);
    Status close();

private:
    /// The array of a variable.
    struct Array {
        std::shared_ptr<const Declared> declared;
        void* data = nullptr;
        std::int64_t n = 0;
        std::vector<std::int64_t> extent, byte_stride;
        ArrayView view;
        bool optional = false, found = false, by_position = false;
        bool copied = false;     ///< the array is `copy`
        std::vector<char> copy;  ///< until it is written
        bool written = false;    ///< the copy was written; the variable must be registered again
    };
    /// A variable of a file under reading whose checksum is to be compared.
    struct Check {
        const Variable* own;
        const ArrayView* view;
        int in_file;
        std::string text;  ///< of the attribute
    };

    Status check_registration(const Registration& r, Definitions& made, Array& array) const;
    static Status check_array(const Decomposition& decomposition, Array& array);
    static void copy_array(const Decomposition& decomposition, Array& array);
    Status check_copies() const;
    Status use_decompositions();
    Status refused(const std::string& name, Status why) const;
    std::vector<std::string> dims_of(const Variable& variable) const;
    Status ask_for(Reader& reader, const std::string& path, const Definitions& definitions,
                   const Variable& own, Array& array, Wish& wish, std::vector<Check>& checks) const;
    Status add_checksums(Definitions& definitions) const;
    Status put_all(File& file) const;
    Status match(const Source& source, const Definitions& definitions, const Variable& own,
                 const Variable& theirs, bool by_position) const;
    Status ask(Reader& reader, const std::string& path, std::vector<Check>& checks);
    Status verify(Reader& reader, const std::string& path, const std::vector<Check>& checks) const;
    Status sum_file(Reader& reader, const Variable& own, const Variable& theirs,
                    Checksum& sum) const;
    Status still_open(const std::string& path) const;
    void all_sum(std::span<Checksum> sums) const;

    Team& team_;
    Wording wording_;
    Definitions definitions_;
    std::vector<Array> arrays_;  ///< of the variables of definitions_
    std::optional<Definitions> read_;
    std::unique_ptr<Reader> reader_;  ///< of the file that is open to be read one by one
    std::string path_;                ///< of it
    bool byte_of_any_sign_ = false;
};

}  // namespace thalweg::detail
