// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/dimension_lists.hpp"

#include <hdf5.h>

#include <set>
#include <vector>

#include "storage/netcdf4/image.hpp"
#include "storage/netcdf4/index/hdf5_handle.hpp"
#include "storage/netcdf4/index/stored_variable.hpp"

namespace thalweg::detail {

namespace {

constexpr const char* list_name = "DIMENSION_LIST";

/// An entry of the attribute REFERENCE_LIST: a variable, and the position of the scale among the
/// variable's dimensions.
struct Use {
    hobj_ref_t variable;
    int dimension;
};

/// Writes the attribute of an object that contains a list.
bool write_list(hid_t file, const std::string& object, const char* attribute, hid_t type, hsize_t n,
                const void* values) {
    const Handle space(H5Screate_simple(1, &n, nullptr), H5Sclose);
    const Handle made(H5Acreate_by_name(file, object.c_str(), attribute, type, space, H5P_DEFAULT,
                                        H5P_DEFAULT, H5P_DEFAULT),
                      H5Aclose);
    return made >= 0 && H5Awrite(made, type, values) >= 0;
}

bool refer_to(hid_t file, const std::string& object, hobj_ref_t& reference) {
    return H5Rcreate(&reference, file, object.c_str(), H5R_OBJECT, -1) >= 0;
}

hid_t type_of_uses() {
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Use));
    if (type >= 0) {
        H5Tinsert(type, "dataset", HOFFSET(Use, variable), H5T_STD_REF_OBJ);
        H5Tinsert(type, "dimension", HOFFSET(Use, dimension), H5T_NATIVE_INT);
    }
    return type;
}

Status add_lists(hid_t file, const std::string& path, const Definitions& definitions) {
    const auto failed = [&](const std::string& object) {
        return hdf5_failure(path, "cannot write the dimensions of '" + object + "'");
    };
    const Handle list_type(H5Tvlen_create(H5T_STD_REF_OBJ), H5Tclose);
    const Handle use_type(type_of_uses(), H5Tclose);

    const std::size_t dims = definitions.dims.size();
    std::vector<hobj_ref_t> scales(dims);
    std::vector<std::vector<Use>> uses(dims);
    std::set<std::string> names;
    for (std::size_t i = 0; i < dims; ++i) {
        names.insert(definitions.dims[i].name);
        if (!refer_to(file, definitions.dims[i].name, scales[i]))
            return failed(definitions.dims[i].name);
    }
    std::vector<hvl_t> list;
    bool first = true;
    for (const Variable& v : definitions.variables) {
        std::string object = v.name;
        if (names.contains(v.name)) {
            object = name_in_hdf5(file, v.name);
            if (object == v.name) continue;  // a scale has no DIMENSION_LIST
        }
        if (v.dims.empty()) continue;
        // Versions of netCDF-C before 4.9 ignore NC_NODIMSCALE_ATTACH and have written all lists
        // already.
        if (first && H5Aexists_by_name(file, object.c_str(), list_name, H5P_DEFAULT) > 0) return {};
        first = false;
        list.clear();
        for (int d : v.dims) list.push_back({1, &scales[d]});
        hobj_ref_t reference = 0;
        if (!write_list(file, object, list_name, list_type, list.size(), list.data()) ||
            !refer_to(file, object, reference))
            return failed(v.name);
        for (std::size_t k = 0; k < v.dims.size(); ++k)
            uses[v.dims[k]].push_back({reference, static_cast<int>(k)});
    }
    for (std::size_t i = 0; i < dims; ++i) {
        const std::string& scale = definitions.dims[i].name;
        if (!uses[i].empty() &&
            !write_list(file, scale, "REFERENCE_LIST", use_type, uses[i].size(), uses[i].data()))
            return failed(scale);
    }
    return {};
}

}  // namespace

Status write_dimension_lists(std::vector<char>& image, const std::string& path,
                             const Definitions& definitions) {
    Image file(image, path);
    if (Status s = file.open(); !s.ok()) return s;
    Status status = add_lists(file.id(), path, definitions);
    Status closed = file.close();
    return status.ok() ? closed : status;
}

}  // namespace thalweg::detail
