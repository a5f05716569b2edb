// The entries of the engine's table for groups and types. The engine has the root group and the
// atomic types; a file in which a program defines others is passed to the real library.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <string>

#include "entries.hpp"
#include "files.hpp"
#include "nc/base/types.hpp"

namespace thalweg::netcdf::engine {

namespace {

// ---- the root group -----------------------------------------------------------------------------

int inq_ncid(int ncid, const char*, int* group) {
    return on_file(ncid, [&](File& file) {
        if (file.is_netcdf4()) return NC_ENOGRP;
        set(group, ncid);
        return 0;
    });
}

int inq_grps(int ncid, int* n, int*) {
    return on_file(ncid, [&](File&) { set(n, 0); });
}

int inq_grpname(int ncid, char* name) {
    return on_file(ncid, [&](File&) { set(name, std::string("/")); });
}

int inq_grpname_full(int ncid, std::size_t* n, char* name) {
    return on_file(ncid, [&](File&) {
        set(n, std::size_t{1});
        set(name, std::string("/"));
    });
}

int inq_grp_parent(int ncid, int*) {
    return on_file(ncid, [](File&) { return NC_ENOGRP; });
}

int inq_grp_full_ncid(int ncid, const char* name, int* group) {
    return on_file(ncid, [&](File& file) {
        if (file.is_netcdf4() && name != nullptr && std::string(name) != "/") return NC_ENOGRP;
        set(group, ncid);
        return 0;
    });
}

void count(int* n, int* ids, std::size_t size) {
    set(n, static_cast<int>(size));
    for (std::size_t i = 0; ids != nullptr && i < size; i++) ids[i] = static_cast<int>(i);
}

int inq_varids(int ncid, int* n, int* ids) {
    return on_file(ncid, [&](File& file) { count(n, ids, file.table().variables.size()); });
}

int inq_dimids(int ncid, int* n, int* ids, int) {
    return on_file(ncid, [&](File& file) { count(n, ids, file.table().dimensions.size()); });
}

int inq_type_equal(int ncid, int type, int, int other_type, int* equal) {
    return on_file(ncid, [&](File&) { set(equal, type == other_type ? 1 : 0); });
}

int inq_typeid(int ncid, const char* name, int* type) {
    return on_file(ncid, [&](File& file) {
        for (int t = NC_BYTE; t <= NC_UINT64; t++)
            if (name != nullptr && name == std::string(name_of_type(t))) return set(type, t), 0;
        return file.is_netcdf4() ? NC_EBADTYPE : NC_ENOTNC4;
    });
}

// ---- what the engine does not have --------------------------------------------------------------

std::string named(const char* what, const char* name) {
    return std::string(what) + " '" + (name == nullptr ? "" : name) + "'";
}

int def_grp(int ncid, const char* name, int* group) {
    return leave_and_call<&Table::def_grp>(named("group", name), ncid, name, group);
}

int rename_grp(int ncid, const char*) {
    return on_file(ncid, [](File& file) { return file.is_netcdf4() ? NC_EBADGRPID : NC_ENOTNC4; });
}

std::string type_named(const char* name) { return named("type", name); }

int def_compound(int ncid, std::size_t size, const char* name, int* type) {
    return leave_and_call<&Table::def_compound>(type_named(name), ncid, size, name, type);
}

int def_vlen(int ncid, const char* name, int base, int* type) {
    return leave_and_call<&Table::def_vlen>(type_named(name), ncid, name, base, type);
}

int def_enum(int ncid, int base, const char* name, int* type) {
    return leave_and_call<&Table::def_enum>(type_named(name), ncid, base, name, type);
}

int def_opaque(int ncid, std::size_t size, const char* name, int* type) {
    return leave_and_call<&Table::def_opaque>(type_named(name), ncid, size, name, type);
}

// Answers calls about types that the file does not have.
template <class... Arguments>
int no_type(int ncid, Arguments...) {
    return on_file(ncid, [](File& file) { return file.is_netcdf4() ? NC_EBADTYPE : NC_ENOTNC4; });
}

}  // namespace

void add_groups_and_types(Table& t) {
#define X(name) t.name = name
    X(inq_ncid), X(inq_grps), X(inq_grpname), X(inq_grpname_full), X(inq_grp_parent),
        X(inq_grp_full_ncid), X(inq_varids), X(inq_dimids), X(inq_type_equal), X(inq_typeid),
        X(def_grp), X(rename_grp), X(def_compound), X(def_vlen), X(def_enum), X(def_opaque);
#undef X
    t.inq_typeids = inq_grps;
    t.inq_user_type = no_type;
    t.insert_compound = no_type;
    t.insert_array_compound = no_type;
    t.inq_compound_field = no_type;
    t.inq_compound_fieldindex = no_type;
    t.put_vlen_element = no_type;
    t.get_vlen_element = no_type;
    t.insert_enum = no_type;
    t.inq_enum_member = no_type;
    t.inq_enum_ident = no_type;
}

}  // namespace thalweg::netcdf::engine
