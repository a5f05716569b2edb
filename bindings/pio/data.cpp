// The functions of pio.h for attributes and for data that are not distributed, for each type.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "library.hpp"
#include "nc/base/types.hpp"

using namespace thalweg::pio;

namespace {

// ---- attributes ---------------------------------------------------------------------------------

// Tests if bytes may be signed or unsigned, as in CDF-1 and CDF-2, which have one type for both.
bool bytes_of_any_sign(const File& file) {
    const int format = number_of(file.definitions.format);
    return format == NC_FORMAT_CLASSIC || format == NC_FORMAT_64BIT_OFFSET;
}

int put_attribute(const char* call, int ncid, int varid, const char* name, nc_type xtype,
                  PIO_Offset len, nc_type type, const void* values) {
    return on_file(call, ncid, [&](File& file) {
        need_name(name, "name");
        if (len > 0) need(values, "the array");
        if (size_of(xtype) == 0)
            throw Error{NC_EBADTYPE, "there is no type " + std::to_string(xtype)};
        const int format = number_of(file.definitions.format);
        if (xtype > NC_DOUBLE && format != NC_FORMAT_64BIT_DATA && format != NC_FORMAT_NETCDF4)
            throw Error{NC_EBADTYPE, std::string("attribute ") + name +
                                         ": the format has no type " + std::to_string(xtype)};
        if (len < 0) throw Error{NC_EINVAL, std::string("attribute ") + name + ": len < 0"};
        Attribute a{name, xtype, len,
                    std::string(static_cast<std::size_t>(len) * size_of(xtype), '\0')};
        const int code = convert(type == NC_NAT ? xtype : type, values, xtype, a.bytes.data(), len,
                                 "", bytes_of_any_sign(file));
        if (code != NC_NOERR && code != NC_ERANGE)
            throw Error{code, std::string("attribute ") + name +
                                  ": text cannot be converted to numbers, nor numbers to text"};
        file.definitions.put_att(varid, std::move(a));
        if (code != NC_NOERR)
            throw Error{code, std::string("attribute ") + name + ": a value does not fit its type"};
    });
}

int get_attribute(const char* call, int ncid, int varid, const char* name, nc_type type,
                  void* values) {
    return on_file(call, ncid, [&](File& file) {
        need_name(name, "name");
        need(values, "the array");
        file.agree_attributes();
        const Attribute& a = file.table().attribute(varid, name);
        const int code = convert(a.type, a.bytes.data(), type == NC_NAT ? a.type : type, values,
                                 a.n, "", bytes_of_any_sign(file));
        if (code != NC_NOERR)
            throw Error{code,
                        std::string("attribute ") + name +
                            (code == NC_ERANGE
                                 ? ": a value does not fit the type"
                                 : ": text cannot be converted to numbers, nor numbers to text")};
    });
}

// ---- data ---------------------------------------------------------------------------------------

using Offsets = const PIO_Offset*;

std::vector<Index> copy(Offsets from, std::size_t n, const char* what) {
    if (n > 0) need(from, what);
    return from == nullptr ? std::vector<Index>(n) : std::vector<Index>(from, from + n);
}

// The arguments that select a section: none, for the whole variable; start, for one element; or
// all.
enum class Kind { whole, element, part };

Section section(File& file, int varid, Kind kind, Offsets start, Offsets count, Offsets stride) {
    const Variable& v = file.table().variable(varid);
    const std::size_t n = v.dims.size();
    if (kind == Kind::whole) return {std::vector<Index>(n, 0), file.table().lengths(v), {}};
    Section result{copy(start, n, "start"), std::vector<Index>(n, 1), {}};
    if (kind == Kind::part) result.count = copy(count, n, "count");
    if (stride != nullptr) result.stride = copy(stride, n, "stride");
    return result;
}

// Returns the section that the root has passed, as it has the values. Other ranks may pass other
// arguments, or none.
// @note Collective
Section section_of_root(File& file, int varid, Kind kind, Offsets start, Offsets count,
                        Offsets stride, const void* data) {
    Section result;
    on_all(file.comm(), [&] {
        file.table().variable(varid);
        if (rank_in(file.comm()) != file.state.root) return;
        result = section(file, varid, kind, start, count, stride);
        const bool empty = std::count(result.count.begin(), result.count.end(), 0) > 0;
        if (data == nullptr && !empty)
            throw Error{NC_EINVAL, "variable " + file.table().variable(varid).name +
                                       ": the array of rank " + std::to_string(file.state.root) +
                                       " is missing or too short"};
    });
    if (kind == Kind::whole) return section(file, varid, kind, start, count, stride);
    const std::size_t n = file.table().variable(varid).dims.size();
    const bool strided = !result.stride.empty();
    std::vector<Index> all;
    for (auto* numbers : {&result.start, &result.count, &result.stride}) {
        numbers->resize(n, 1);
        all.insert(all.end(), numbers->begin(), numbers->end());
    }
    all.push_back(strided ? 1 : 0);
    MPI_Bcast(all.data(), static_cast<int>(all.size()), MPI_INT64_T, file.state.root, file.comm());
    const auto at = [&](std::size_t i) { return all.begin() + static_cast<std::ptrdiff_t>(i * n); };
    result.start.assign(at(0), at(1));
    result.count.assign(at(1), at(2));
    result.stride.assign(at(2), at(3));
    if (all.back() == 0) result.stride.clear();
    return result;
}

int put(const char* call, int ncid, int varid, Kind kind, Offsets start, Offsets count,
        Offsets stride, nc_type type, const void* data) {
    return on_file(call, ncid, [&](File& file) {
        const Section s = section_of_root(file, varid, kind, start, count, stride, data);
        file.arrays.put_section(varid, s.start.data(), s.count.data(), s.steps(), type, data);
    });
}

int get(const char* call, int ncid, int varid, Kind kind, Offsets start, Offsets count,
        Offsets stride, nc_type type, void* data) {
    return on_file(call, ncid, [&](File& file) {
        Section s;
        const Error error = error_of([&] { s = section(file, varid, kind, start, count, stride); });
        file.arrays.get_section(varid, s.start.data(), s.count.data(), s.steps(), type, data,
                                error);
    });
}

}  // namespace

int PIOc_put_att(int ncid, int varid, const char* name, nc_type xtype, PIO_Offset len,
                 const void* op) {
    return put_attribute(__func__, ncid, varid, name, xtype, len, NC_NAT, op);
}

int PIOc_put_att_text(int ncid, int varid, const char* name, PIO_Offset len, const char* op) {
    return put_attribute(__func__, ncid, varid, name, NC_CHAR, len, NC_CHAR, op);
}

int PIOc_get_att(int ncid, int varid, const char* name, void* ip) {
    return get_attribute(__func__, ncid, varid, name, NC_NAT, ip);
}

int PIOc_get_att_text(int ncid, int varid, const char* name, char* ip) {
    return get_attribute(__func__, ncid, varid, name, NC_CHAR, ip);
}

int PIOc_inq_att(int ncid, int varid, const char* name, nc_type* xtypep, PIO_Offset* lenp) {
    return on_file(__func__, ncid, [&](File& file) {
        need_name(name, "name");
        file.agree_attributes();
        const Attribute& a = file.table().attribute(varid, name);
        set(xtypep, a.type);
        set(lenp, a.n);
    });
}

int PIOc_inq_attlen(int ncid, int varid, const char* name, PIO_Offset* lenp) {
    return PIOc_inq_att(ncid, varid, name, nullptr, lenp);
}

int PIOc_inq_atttype(int ncid, int varid, const char* name, nc_type* xtypep) {
    return PIOc_inq_att(ncid, varid, name, xtypep, nullptr);
}

int PIOc_inq_attid(int ncid, int varid, const char* name, int* idp) {
    return on_file(__func__, ncid, [&](File& file) {
        need_name(name, "name");
        file.agree_attributes();
        set(idp, file.table().number_of_attribute(varid, name));
    });
}

int PIOc_inq_attname(int ncid, int varid, int attnum, char* name) {
    return on_file(__func__, ncid, [&](File& file) {
        file.agree_attributes();
        set(name, file.table().attribute(varid, attnum).name);
    });
}

int PIOc_rename_att(int ncid, int varid, const char* name, const char* newname) {
    return on_file(__func__, ncid, [&](File& file) {
        need_name(name, "name");
        need_name(newname, "newname");
        file.definitions.need_define();
        file.agree_attributes();
        file.definitions.rename_att(varid, name, newname);
    });
}

int PIOc_del_att(int ncid, int varid, const char* name) {
    return on_file(__func__, ncid, [&](File& file) {
        need_name(name, "name");
        file.definitions.need_define();
        file.agree_attributes();
        file.definitions.del_att(varid, name);
    });
}

#define THALWEG_PIO_ATTRIBUTES(suffix, ctype, nctype)                                              \
    int PIOc_put_att##suffix(int ncid, int varid, const char* name, nc_type xtype, PIO_Offset len, \
                             const ctype* op) {                                                    \
        return put_attribute(__func__, ncid, varid, name, xtype, len, nctype, op);                 \
    }                                                                                              \
    int PIOc_get_att##suffix(int ncid, int varid, const char* name, ctype* ip) {                   \
        return get_attribute(__func__, ncid, varid, name, nctype, ip);                             \
    }

// Defines the get and the put of a section. The last arguments, those of the section, end with a
// comma.
#define THALWEG_PIO_PAIR(form, ctype, nctype, kind, start, count, stride, ...)                     \
    int PIOc_get_##form(int ncid, int varid, __VA_ARGS__ ctype* buf) {                             \
        return get(__func__, ncid, varid, kind, start, count, stride, nctype, buf);                \
    }                                                                                              \
    int PIOc_put_##form(int ncid, int varid, __VA_ARGS__ const ctype* op) {                        \
        return put(__func__, ncid, varid, kind, start, count, stride, nctype, op);                 \
    }

#define THALWEG_PIO_DATA(suffix, ctype, nctype)                                                    \
    THALWEG_PIO_PAIR(var##suffix, ctype, nctype, Kind::whole, nullptr, nullptr, nullptr, )         \
    THALWEG_PIO_PAIR(var1##suffix, ctype, nctype, Kind::element, at, nullptr, nullptr,             \
                     Offsets at, )                                                                 \
    THALWEG_PIO_PAIR(vara##suffix, ctype, nctype, Kind::part, from, n, nullptr, Offsets from,      \
                     Offsets n, )                                                                  \
    THALWEG_PIO_PAIR(vars##suffix, ctype, nctype, Kind::part, from, n, step, Offsets from,         \
                     Offsets n, Offsets step, )

THALWEG_NC_TYPES(THALWEG_PIO_DATA)
THALWEG_NC_NUMBER_TYPES(THALWEG_PIO_ATTRIBUTES)
