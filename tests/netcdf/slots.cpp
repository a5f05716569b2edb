// Tests which slot the front uses in libraries of several versions, with plug-ins of others in
// them.
//
// SPDX-License-Identifier: Apache-2.0
#include "front/slots.hpp"

#include <cstdio>
#include <map>
#include <set>

namespace {

struct Table {
    int model = 0, dispatch_version = 0;
};

Table foreign;
int failures = 0;

/// A netCDF library.
struct Library {
    const char* name;
    int (*slot_of)(int mode);  ///< number of the slot that a mode selects; -1: none
    int version = 5;
    std::set<int> plugins = {};  ///< modes of the slots that others have taken
};

bool has(int mode, int bit) { return (mode & bit) == bit; }

int slot_of_4_9_0(int mode) { return mode == 0x40 ? 0 : mode == 0x80 ? 1 : -1; }

int slot_of_4_9_3(int mode) { return has(mode, 0x40) ? 0 : has(mode, 0x80) ? 1 : -1; }

int slot_of_4_10(int mode) {
    const int bits[] = {0x40,     0x80,     0x10000,  0x80000,   0x100000,
                        0x200000, 0x400000, 0x800000, 0x1000000, 0x2000000};
    int found = -1, n = 0, set = 0;
    for (const int bit : bits) {
        if (has(mode, bit)) found = n, ++set;
        ++n;
    }
    return set == 1 ? found : -1;
}

int slot_of_successor(int mode) { return has(mode, 0x40) ? (mode >> 19 & 63) : -1; }

void expect(int mode, const Library& library) {
    std::map<int, Table*> tables;
    for (const int taken : library.plugins) tables[library.slot_of(taken)] = &foreign;
    Table table;
    const auto inquire = [&](int m, Table** present, char*) {
        const int slot = library.slot_of(m);
        if (slot >= 0) *present = tables[slot];
        return slot >= 0 ? 0 : -36;
    };
    const auto define = [&](int m, Table* t, char*) {
        const int slot = library.slot_of(m);
        if (slot < 0 || t->dispatch_version != library.version) return -36;
        tables[slot] = t;
        return 0;
    };
    const auto found = thalweg::netcdf::register_table(table, inquire, define);
    for (const int taken : library.plugins)
        if (tables[library.slot_of(taken)] != &foreign) failures++;
    if (found.mode == mode && (mode == 0 || found.version == library.version) &&
        (mode != 0 || found.occupied == !library.plugins.empty()))
        return;
    failures++;
    std::fprintf(stderr, "%s: slot %#x, not %#x\n", library.name, found.mode, mode);
}

}  // namespace

int main() {
    expect(0x80, {"4.8", slot_of_4_9_0, 3});
    expect(0x80, {"4.9.0", slot_of_4_9_0});
    expect(0, {"4.9.0 with a plug-in", slot_of_4_9_0, 5, {0x80}});
    expect(0x80, {"4.9.3", slot_of_4_9_3});
    expect(0, {"4.9.3 with a plug-in", slot_of_4_9_3, 5, {0x80}});
    expect(0x2000000, {"4.10", slot_of_4_10});
    expect(0x80, {"4.10 with UDF9", slot_of_4_10, 5, {0x2000000}});
    expect(0x200000, {"4.10 with eight plug-ins",
                      slot_of_4_10,
                      5,
                      {0x40, 0x80, 0x10000, 0x80000, 0x400000, 0x800000, 0x1000000, 0x2000000}});
    expect(0x480040, {"successor", slot_of_successor});
    expect(0x500040, {"successor with plug-ins", slot_of_successor, 5, {0x40, 0x480040}});
    expect(0, {"another table", slot_of_4_10, 6});
    return failures > 0;
}
