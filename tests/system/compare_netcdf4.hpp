// Compares the contents of two netCDF-4 files, as netCDF-C reads them.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <netcdf.h>

#include <cstring>
#include <string>
#include <vector>

#include "check.hpp"

namespace compare_detail {

/// A file that is compared; the destructor closes it.
struct Netcdf4 {
    int id = -1;
    explicit Netcdf4(const std::string& path) {
        if (nc_open(path.c_str(), NC_NOWRITE, &id) != NC_NOERR) id = -1;
    }
    Netcdf4(const Netcdf4&) = delete;
    Netcdf4& operator=(const Netcdf4&) = delete;
    ~Netcdf4() {
        if (id >= 0) nc_close(id);
    }
};

inline std::size_t size_of(int id, nc_type type) {
    std::size_t size = 0;
    nc_inq_type(id, type, nullptr, &size);
    return size;
}

inline std::string attribute_difference(int a, int b, int var, const std::string& owner) {
    int na = 0;
    int nb = 0;
    nc_inq_varnatts(a, var, &na);
    nc_inq_varnatts(b, var, &nb);
    if (na != nb) return check::text("{} has {} attributes, expected {}", owner, nb, na);
    for (int i = 0; i < na; ++i) {
        char name[NC_MAX_NAME + 1] = "";
        nc_inq_attname(a, var, i, name);
        nc_type ta = NC_NAT;
        nc_type tb = NC_NAT;
        std::size_t la = 0;
        std::size_t lb = 0;
        nc_inq_att(a, var, name, &ta, &la);
        if (nc_inq_att(b, var, name, &tb, &lb) != NC_NOERR || ta != tb || la != lb)
            return check::text("attribute {} of {} is missing or of another type or length", name,
                               owner);
        std::vector<char> x(la * size_of(a, ta) + 1);
        std::vector<char> y(x.size());
        nc_get_att(a, var, name, x.data());
        nc_get_att(b, var, name, y.data());
        if (x != y) return check::text("attribute {} of {} differs", name, owner);
    }
    return "";
}

/// Reads a whole variable of both files and compares the bytes.
inline std::string value_difference(int a, int b, int var, const std::string& name, nc_type type,
                                    const std::vector<int>& dims) {
    std::size_t elements = 1;
    for (const int d : dims) {
        std::size_t length = 0;
        nc_inq_dimlen(a, d, &length);
        elements *= length;
    }
    const std::size_t size = size_of(a, type);
    std::vector<char> x(elements * size + 1, 1);
    std::vector<char> y(elements * size + 1, 1);
    if (const int status = nc_get_var(a, var, x.data()); status != NC_NOERR)
        return name + ": the reference cannot be read: " + nc_strerror(status);
    if (const int status = nc_get_var(b, var, y.data()); status != NC_NOERR)
        return name + " cannot be read: " + nc_strerror(status);
    for (std::size_t i = 0; i < elements; ++i)
        if (std::memcmp(&x[i * size], &y[i * size], size) != 0)
            return check::text("element {} of {} of {} differs", i, elements, name);
    return "";
}

}  // namespace compare_detail

/// Returns "" if the files have equal contents, otherwise the first difference. `expected` is the
/// reference.
inline std::string netcdf4_difference(const std::string& expected, const std::string& actual) {
    using namespace compare_detail;
    const Netcdf4 x(expected);
    const Netcdf4 y(actual);
    const int a = x.id;
    const int b = y.id;
    if (a < 0) return "cannot open " + expected;
    if (b < 0) return "cannot open " + actual;
    int of_a[5] = {};
    int of_b[5] = {};
    nc_inq(a, &of_a[0], &of_a[1], &of_a[2], &of_a[3]);
    nc_inq(b, &of_b[0], &of_b[1], &of_b[2], &of_b[3]);
    nc_inq_format_extended(a, &of_a[4], nullptr);
    nc_inq_format_extended(b, &of_b[4], nullptr);
    if (std::memcmp(of_a, of_b, sizeof of_a) != 0)
        return check::text(
            "dims, vars, atts, unlimited, model are {} {} {} {} {}, expected {} {} "
            "{} {} {}",
            of_b[0], of_b[1], of_b[2], of_b[3], of_b[4], of_a[0], of_a[1], of_a[2], of_a[3],
            of_a[4]);
    int fa = 0;
    int fb = 0;
    nc_inq_format(a, &fa);
    nc_inq_format(b, &fb);
    if (fa != fb) return check::text("format is {}, expected {}", fb, fa);
    for (int d = 0; d < of_a[0]; ++d) {
        char na[NC_MAX_NAME + 1] = "";
        char nb[NC_MAX_NAME + 1] = "";
        std::size_t la = 0;
        std::size_t lb = 0;
        nc_inq_dim(a, d, na, &la);
        nc_inq_dim(b, d, nb, &lb);
        if (std::strcmp(na, nb) != 0 || la != lb)
            return check::text("dimension {} is {} of length {}, expected {} of {}", d, nb, lb, na,
                               la);
    }
    std::string what = attribute_difference(a, b, NC_GLOBAL, "the file");
    for (int v = 0; v < of_a[1] && what.empty(); ++v) {
        char na[NC_MAX_NAME + 1] = "";
        char nb[NC_MAX_NAME + 1] = "";
        nc_type ta = NC_NAT;
        nc_type tb = NC_NAT;
        int ra = 0;
        int rb = 0;
        nc_inq_varndims(a, v, &ra);
        nc_inq_varndims(b, v, &rb);
        std::vector<int> da(static_cast<std::size_t>(ra));
        std::vector<int> db(static_cast<std::size_t>(rb));
        nc_inq_var(a, v, na, &ta, nullptr, da.data(), nullptr);
        nc_inq_var(b, v, nb, &tb, nullptr, db.data(), nullptr);
        if (std::strcmp(na, nb) != 0 || ta != tb || da != db)
            return check::text("variable {} is {}, expected {}; or of another type or shape", v, nb,
                               na);
        char fill_a[8] = "";
        char fill_b[8] = "";
        int none_a = 0;
        int none_b = 0;
        nc_inq_var_fill(a, v, &none_a, fill_a);
        nc_inq_var_fill(b, v, &none_b, fill_b);
        if (none_a != none_b || std::memcmp(fill_a, fill_b, size_of(a, ta)) != 0)
            return check::text("fill value of {} differs", na);
        what = attribute_difference(a, b, v, na);
        if (what.empty()) what = value_difference(a, b, v, na, ta, da);
    }
    return what;
}
