// An open file of PIO's interface.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "arrays.hpp"

namespace thalweg::pio {

// The ranks that write, as settings of a file.
struct Writers {
    int number = 0, first = 0, stride = 1;  // if number is 0, the library chooses the writers
};

class File {
public:
    // @param mode netCDF's flags
    // @note create() and open() are collective
    static std::unique_ptr<File> create(Session& session, const Writers& writers,
                                        const std::string& path, int iotype, int mode);
    static std::unique_ptr<File> open(Session& session, const Writers& writers,
                                      const std::string& path, int mode);

    Definitions definitions;
    Arrays arrays{definitions, state};
    State state;

    const std::string& path() const { return definitions.path; }
    Table& table() { return definitions.table; }
    MPI_Comm comm() const { return state.session.comm(); }
    // Makes the attributes on all ranks equal to those of the root.
    // @note Collective, if attributes were put since the last call
    void agree_attributes() { nc::agree_attributes(definitions, comm(), state.root); }

private:
    File(Session& session, const Writers& writers, std::string path);
};

}  // namespace thalweg::pio
