// The slots in which netCDF-C accepts the tables of user-defined formats.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shim/shim.h"

namespace thalweg::netcdf {

/// A slot for a user-defined format.
struct Slot {
    int mode = 0;   ///< bits of netCDF's mode that select the slot
    int model = 0;  ///< NC_FORMATX_*
};

/// NC_UDF9 to NC_UDF2, which netCDF-C has since 4.10.0, and NC_UDF1. NC_UDF0 is left to tables of
/// other programs.
inline constexpr Slot slots[] = {{0x2000000, 18}, {0x80, 9},      {0x1000000, 17},
                                 {0x800000, 16},  {0x400000, 15}, {0x200000, 14},
                                 {0x100000, 13},  {0x80000, 12},  {0x10000, 11}};
static_assert([] {
    for (const Slot& slot : slots)
        if ((slot.mode & ~thalweg_user_formats) != 0) return false;
    return true;
}());

/// The result of registering a table.
struct Registered {
    int mode = 0;           ///< bits of the slot; 0: no slot has accepted the table
    int version = 0;        ///< version of the dispatch table
    bool occupied = false;  ///< a slot has a table of the program
};

/// Registers a table in the first free slot of a library.
/// @param inquire  nc_inq_user_format
/// @param define   nc_def_user_format
template <class Table, class Inquire, class Define>
Registered register_table(Table& table, Inquire inquire, Define define) {
    Registered result;
    bool known = false;
    const auto accepts = [&](const Slot& slot) {
        decltype(&table) present = nullptr;
        char magic[64] = "";
        if (inquire(slot.mode, &present, magic) != 0) return false;
        known = true;
        result.occupied = result.occupied || present != nullptr;
        for (const int version : {5, 4, 3}) {
            table.model = slot.model;
            table.dispatch_version = version;
            if (present != nullptr || define(slot.mode, &table, nullptr) != 0) continue;
            result.mode = slot.mode;
            result.version = version;
            return true;
        }
        return false;
    };
    for (const Slot& slot : slots)
        if (accepts(slot)) return result;
    // The successors of 4.10 have 64 slots, whose numbers begin at bit 19. Older libraries, which
    // have some of the slots above, would take these modes for NC_UDF0.
    const bool numbered = !known;
    for (int n = 9; numbered && n < 64; ++n)
        if (accepts({0x40 | n << 19, 18})) return result;
    return result;
}

}  // namespace thalweg::netcdf
