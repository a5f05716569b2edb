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
// @return NC_ERANGE if values do not fit, otherwise 0; fill values are stored for those that do
//     not fit
int put_attribute(File& file, int varid, const char* name, int type, Index n, const void* values,
                  int memory) {
    file.handle().need_write();
    file.table().attributes_of(varid);
    if (name == nullptr || *name == '\0')
        throw Error{NC_EBADNAME, file.path() + ": a name is empty"};
    const auto refuse = [&](int code, const char* what) {
        throw Error{code, file.path() + ": attribute " + name + ": " + what};
    };
    if (std::strlen(name) > NC_MAX_NAME) refuse(NC_EMAXNAME, "the name is too long");
    std::string checked = name;
    check_name(checked);
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
    return code;
}

int get_attribute(File& file, int varid, const char* name, void* values, int memory) {
    file.table().attributes_of(varid);
    if (name == nullptr || *name == '\0')
        throw Error{NC_EBADNAME, file.path() + ": a name is empty"};
    const Attribute& a = file.table().attribute(varid, name);
    if (memory == NC_NAT) memory = a.type;
    if (a.n == 0) return NC_NOERR;
    if ((memory == NC_CHAR) != (a.type == NC_CHAR))
        throw Error{NC_ECHAR, file.path() + ": attribute " + name + ": text is no number"};
    if (values == nullptr) throw Error{NC_EINVAL, file.path() + ": there is no array"};
    return convert(a.type, a.bytes.data(), memory, values, a.n, "",
                   has_classic_types(file.definitions.format));
}

}  // namespace

const char* checked(const char* name) {
    if (name == nullptr || *name == '\0') throw Error{NC_EBADNAME, "a name is empty"};
    if (std::strlen(name) > NC_MAX_NAME) throw Error{NC_EMAXNAME, "a name is too long"};
    return name;
}

namespace calls {

#define X(suffix, in_memory, number)                                                               \
    int ncmpi_put_att##suffix(File& file, int varid, const char* name, nc_type type, MPI_Offset n, \
                              const in_memory* values) {                                           \
        return on(file,                                                                            \
                  [&] { return put_attribute(file, varid, name, type, n, values, number); });      \
    }                                                                                              \
    int ncmpi_get_att##suffix(File& file, int varid, const char* name, in_memory* values) {        \
        return on(file, [&] { return get_attribute(file, varid, name, values, number); });         \
    }
THALWEG_NC_NUMBER_TYPES(X)
X(, void, NC_NAT)
#undef X

int ncmpi_put_att_text(File& file, int varid, const char* name, MPI_Offset n, const char* values) {
    return on(file, [&] { return put_attribute(file, varid, name, NC_CHAR, n, values, NC_CHAR); });
}

int ncmpi_get_att_text(File& file, int varid, const char* name, char* values) {
    return on(file, [&] { return get_attribute(file, varid, name, values, NC_CHAR); });
}

int ncmpi_del_att(File& file, int varid, const char* name) {
    return on(file, [&] {
        file.handle().need_define();
        file.table().attributes_of(varid);
        file.definitions.del_att(varid, checked(name));
    });
}

int ncmpi_rename_att(File& file, int varid, const char* name, const char* new_name) {
    return on(file, [&] {
        file.handle().need_write();
        file.table().attributes_of(varid);
        file.definitions.rename_att(varid, checked(name), checked(new_name));
    });
}

int ncmpi_inq_att(File& file, int varid, const char* name, nc_type* type, MPI_Offset* n) {
    return on(file, [&] {
        file.table().attributes_of(varid);
        const Attribute& a = file.table().attribute(varid, checked(name));
        set(type, a.type);
        set(n, a.n);
    });
}

int ncmpi_inq_atttype(File& file, int varid, const char* name, nc_type* type) {
    return ncmpi_inq_att(file, varid, name, type, nullptr);
}

int ncmpi_inq_attlen(File& file, int varid, const char* name, MPI_Offset* n) {
    return ncmpi_inq_att(file, varid, name, nullptr, n);
}

int ncmpi_inq_attid(File& file, int varid, const char* name, int* id) {
    return on(file, [&] {
        file.table().attributes_of(varid);
        set(id, file.table().number_of_attribute(varid, checked(name)));
    });
}

int ncmpi_inq_attname(File& file, int varid, int number, char* name) {
    return on(file, [&] { set(name, file.table().attribute(varid, number).name); });
}

}  // namespace calls

}  // namespace thalweg::pnetcdf::engine
