// The function that the shim calls after it has loaded the front.
//
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "front/account.hpp"
#include "front/files.hpp"
#include "front/router.hpp"
#include "front/slots.hpp"
#include "nc/base/ranks.hpp"
#include "shim/shim.h"
#ifdef THALWEG_PNETCDF_NAMES
#include "pnetcdf/front/table.hpp"
#endif

namespace thalweg::netcdf {

namespace {

Table tables[thalweg_most_libraries];

const char* attach(thalweg_netcdf* library) {
    const Real& real = real_of(library->index, library->handle);
    if (real.def_user_format == nullptr || real.inq_user_format == nullptr)
        return "it has no user-defined formats (netCDF-C 4.8 or later with netCDF-4 has)";
    // It may load the plug-ins of its settings, which occupy slots.
    if (real.initialize != nullptr) real.initialize();
    Table& table = tables[library->index];
    table = registered_table(library->index);
    const Registered found = register_table(table, real.inq_user_format, real.def_user_format);
    library->slot = found.mode;
    library->version = found.version;
    if (found.mode != 0) return nullptr;
    return found.occupied ? "the program has registered a user-defined format of its own"
                          : "it takes no dispatch table of version 5, 4 or 3";
}

int mpi_runs() { return nc::mpi_runs() ? 1 : 0; }

thalweg_owner owner(const thalweg_netcdf* library, int id) {
    const File* const file = find_file(library->index, id);
    if (file == nullptr) return thalweg_not_taken;
    if (file->forwarded()) return thalweg_forwarded;
    return file->ended ? thalweg_ended : thalweg_engine;
}

int inner(const thalweg_netcdf* library, int id) {
    const File* const file = find_file(library->index, id);
    return file != nullptr && file->forwarded() ? file->inner_of(id) : id;
}

int prepare(const char* path, int mode, int use) {
    return engine_prepare(path, mode, static_cast<Use>(use)) ? 1 : 0;
}

thalweg_front front{attach, mpi_runs, decline, owner, inner, set_access, prepare, nullptr, 0};

void finish() {
    if (in_child()) return;
    engine_finish();
#ifdef THALWEG_PNETCDF_NAMES
    thalweg::pnetcdf::finish();
#endif
    end_account();
}

}  // namespace

}  // namespace thalweg::netcdf

extern "C" __attribute__((visibility("default"))) const thalweg_front* thalweg_front_netcdf(
    const thalweg_shim* shim) {
    using namespace thalweg::netcdf;
    if (shim->interface != thalweg_shim_interface) return nullptr;
    begin_router(shim);
    begin_account(shim);
#ifdef THALWEG_PNETCDF_NAMES
    front.pnetcdf = thalweg::pnetcdf::begin(shim, &front.pnetcdf_count);
#endif
    std::atexit(finish);
    return &front;
}
