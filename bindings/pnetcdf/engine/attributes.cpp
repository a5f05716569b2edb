// Attributes.
//
// SPDX-License-Identifier: Apache-2.0
#include <netcdf.h>

#include <cstring>

#include "nc/base/types.hpp"
#include "pnetcdf/engine/calls.hpp"

namespace thalweg::pnetcdf::engine {

namespace {

// @param memory  type of the values; NC_NAT: that of the attribute
// @throws NC_ERANGE if values do not fit; fill values are stored for those
void put_attribute(File& file, int varid, const char* name, int type, Index n, const void* values,
                   int memory) {
    file.handle().need_write();
    file.table().attributes_of(varid);
    std::string valid = checked(name);
    check_name(valid);
    const auto refuse = [&](int code, const char* what) {
        throw Error{code, file.path() + ": attribute " + name + ": " + what};
    };
    if (size_of(type) == 0) refuse(NC_EBADTYPE, "there is no such type");
    if (type > NC_DOUBLE && file.definitions.format != Format::cdf5)
        refuse(NC_ESTRICTCDF2, "the format lacks the type");
    if (memory == NC_NAT) memory = type;
    if ((memory == NC_CHAR) != (type == NC_CHAR)) refuse(NC_ECHAR, "text is no number");
    if (n > 0 && values == nullptr) refuse(NC_EINVAL, "there are no values");
    if (n < 0) refuse(NC_EINVAL, "a negative number of values");
    Attribute a{name, type, n, std::string(static_cast<std::size_t>(n) * size_of(type), '\0')};
    const int code = convert(memory, values, type, a.bytes.data(), n, "",
                             has_classic_types(file.definitions.format));
    file.definitions.put_att(varid, std::move(a));
    if (code != NC_NOERR) refuse(code, "values do not fit the type");
}

void get_attribute(File& file, int varid, const char* name, void* values, int memory) {
    file.table().attributes_of(varid);
    if (name == nullptr || *name == '\0')
        throw Error{NC_EBADNAME, file.path() + ": a name is empty"};
    const Attribute& a = file.table().attribute(varid, name);
    const auto refuse = [&](int code, const char* what) {
        throw Error{code, file.path() + ": attribute " + name + ": " + what};
    };
    if (memory == NC_NAT) memory = a.type;
    if (a.n == 0) return;
    if ((memory == NC_CHAR) != (a.type == NC_CHAR)) refuse(NC_ECHAR, "text is no number");
    if (values == nullptr) refuse(NC_EINVAL, "there is no array");
    const int code = convert(a.type, a.bytes.data(), memory, values, a.n, "",
                             has_classic_types(file.definitions.format));
    if (code != NC_NOERR) refuse(code, "values do not fit the type in memory");
}

}  // namespace

const char* checked(const char* name) {
    if (name == nullptr || *name == '\0') throw Error{NC_EBADNAME, "a name is empty"};
    if (std::strlen(name) > NC_MAX_NAME) throw Error{NC_EMAXNAME, "a name is too long"};
    return name;
}

namespace calls {

#define X(suffix, in_memory, number)                                                               \
    void ncmpi_put_att##suffix(File& file, int varid, const char* name, nc_type type,              \
                               MPI_Offset n, const in_memory* values) {                            \
        put_attribute(file, varid, name, type, n, values, number);                                 \
    }                                                                                              \
    void ncmpi_get_att##suffix(File& file, int varid, const char* name, in_memory* values) {       \
        get_attribute(file, varid, name, values, number);                                          \
    }
THALWEG_NC_NUMBER_TYPES(X)
X(, void, NC_NAT)
#undef X

void ncmpi_put_att_text(File& file, int varid, const char* name, MPI_Offset n, const char* values) {
    put_attribute(file, varid, name, NC_CHAR, n, values, NC_CHAR);
}

void ncmpi_get_att_text(File& file, int varid, const char* name, char* values) {
    get_attribute(file, varid, name, values, NC_CHAR);
}

void ncmpi_del_att(File& file, int varid, const char* name) {
    file.handle().need_define();
    file.table().attributes_of(varid);
    file.definitions.del_att(varid, checked(name));
}

void ncmpi_rename_att(File& file, int varid, const char* name, const char* new_name) {
    file.handle().need_write();
    file.table().attributes_of(varid);
    file.definitions.rename_att(varid, checked(name), checked(new_name));
}

void ncmpi_inq_att(File& file, int varid, const char* name, nc_type* type, MPI_Offset* n) {
    file.table().attributes_of(varid);
    const Attribute& a = file.table().attribute(varid, checked(name));
    set(type, a.type);
    set(n, a.n);
}

void ncmpi_inq_atttype(File& file, int varid, const char* name, nc_type* type) {
    ncmpi_inq_att(file, varid, name, type, nullptr);
}

void ncmpi_inq_attlen(File& file, int varid, const char* name, MPI_Offset* n) {
    ncmpi_inq_att(file, varid, name, nullptr, n);
}

void ncmpi_inq_attid(File& file, int varid, const char* name, int* id) {
    file.table().attributes_of(varid);
    set(id, file.table().number_of_attribute(varid, checked(name)));
}

void ncmpi_inq_attname(File& file, int varid, int number, char* name) {
    set(name, file.table().attribute(varid, number).name);
}

}  // namespace calls

}  // namespace thalweg::pnetcdf::engine
