// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/engine/safe_mode.hpp"

#include <algorithm>

#include "ranks.hpp"

namespace thalweg::pnetcdf::engine {

int smallest_code(MPI_Comm comm, int code) {
    reduce(comm, MPI_MIN, &code, 1);
    return code;
}

int Arguments::compare(MPI_Comm comm) const {
    int code = 0;
    for (const auto& [differs, mine] : all_) {
        Index size = static_cast<Index>(mine.size());
        share(comm, 0, &size, 1);
        std::string first = mine;
        first.resize(static_cast<std::size_t>(size));
        share(comm, 0, first.data(), first.size());
        if (code == 0 && first != mine) code = differs;
    }
    return smallest_code(comm, code);
}

}  // namespace thalweg::pnetcdf::engine
