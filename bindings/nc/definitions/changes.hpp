// Changes of definitions that are not in the file yet.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "nc/definitions/table.hpp"

namespace thalweg::nc {

// A change of the definitions in a file.
struct Edit {
    enum class Kind {
        dimension,
        variable,
        attribute,
        delete_attribute,
        rename_attribute,
        rename_variable,
        rename_dimension
    };
    Kind kind;
    int id = 0;  // number of the dimension or variable; NC_GLOBAL: the file
    std::string name, new_name;
    Attribute attribute{};
};

struct Changes {
    // False for a new file, which gets all definitions when it is written first.
    bool recorded = false;
    std::vector<Edit> edits;
    // Attributes that were put since the ranks last agreed on them: their variables and names.
    std::vector<std::pair<int, std::string>> fresh;

    void add(Edit edit) {
        if (recorded) edits.push_back(std::move(edit));
    }
    // Adds a rename. A second rename of the same object replaces the first: netCDF-C cannot read
    // some files after several renames.
    void rename(Edit::Kind kind, int id, const std::string& old, const std::string& name);
    // Adds the attributes that were put since the last call.
    void add_fresh(Table& table);
    bool are_attributes() const;
};

}  // namespace thalweg::nc
