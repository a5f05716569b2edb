// SPDX-License-Identifier: Apache-2.0
#include "inspect/inspect.hpp"

#include <netcdf.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "inspect/value_words.hpp"
#include "storage/netcdf4/chunks/hdf5_view.hpp"
#include "storage/netcdf4/contents.hpp"
#include "storage/netcdf4/index/hdf5_handle.hpp"

namespace thalweg::app {

namespace {

using detail::Handle;
using detail::Hdf5View;
using detail::OfFile;
using detail::QuietHdf5;
using detail::Status;
using Strings = std::vector<std::string>;

/// Attributes by which netCDF-4 and HDF5's dimension scales describe the definitions.
constexpr const char* of_format[] = {"REFERENCE_LIST", "DIMENSION_LIST", "DIMENSION_LABELS",
                                     "_Netcdf4Dimid",  "_nc3_strict",    "_Netcdf4Coordinates",
                                     "_NCProperties"};
constexpr const char* of_scales[] = {"CLASS", "NAME"};
/// Prefix of renamed variables; see name_in_hdf5().
constexpr std::string_view renamed = "_nc4_non_coord_";
constexpr std::string_view dimension_only =
    /// Text that begins the attribute NAME of a dimension without a coordinate variable.
    "This is a netCDF dimension but not a netCDF variable";

/// Names that netCDF-C lists: for each variable, the names of its attributes; under the empty name,
/// those of the file.
using KnownNames = std::map<std::string, Strings>;

Strings attributes_of(int ncid, int variable) {
    Strings names;
    int n = 0;
    if (nc_inq_varnatts(ncid, variable, &n) != NC_NOERR) return names;
    for (int i = 0; i < n; ++i) {
        std::array<char, NC_MAX_NAME + 1> name{};
        if (nc_inq_attname(ncid, variable, i, name.data()) == NC_NOERR)
            names.emplace_back(name.data());
    }
    return names;
}

Status list_by_netcdf(const std::string& path, KnownNames& listed, Strings& unlimited) {
    const QuietHdf5 quiet;
    int ncid = 0;
    if (const int code = nc_open(path.c_str(), NC_NOWRITE, &ncid); code != NC_NOERR)
        return detail::failure(TW_EFORMAT, "{}: netCDF cannot open it: {}", OfFile{path},
                               nc_strerror(code));
    std::array<char, NC_MAX_NAME + 1> name{};
    int n = 0;
    (void)nc_inq_nvars(ncid, &n);
    listed[""] = attributes_of(ncid, NC_GLOBAL);
    for (int i = 0; i < n; ++i)
        if (nc_inq_varname(ncid, i, name.data()) == NC_NOERR)
            listed[name.data()] = attributes_of(ncid, i);
    n = 0;
    (void)nc_inq_unlimdims(ncid, &n, nullptr);
    std::vector<int> dims(static_cast<std::size_t>(n));
    if (n > 0) (void)nc_inq_unlimdims(ncid, &n, dims.data());
    for (const int dim : dims)
        if (nc_inq_dimname(ncid, dim, name.data()) == NC_NOERR) unlimited.emplace_back(name.data());
    nc_close(ncid);
    return {};
}

/// Returns the text of an attribute; empty if there is no such attribute or it is not text.
std::string text_of(hid_t object, const char* name) {
    if (H5Aexists(object, name) <= 0) return {};
    const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
    const Handle type(H5Aget_type(attribute), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
    if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
        H5Sget_simple_extent_npoints(space) != 1)
        return {};
    std::string text(H5Tget_size(type), '\0');
    if (H5Aread(attribute, type, text.data()) < 0) return {};
    return text.substr(0, text.find('\0'));
}

bool is_scale(hid_t object) { return text_of(object, "CLASS") == "DIMENSION_SCALE"; }

Strings names_of(herr_t (*iterate)(hid_t, Strings&), hid_t object) {
    Strings names;
    (void)iterate(object, names);
    return names;
}

template <class Info>
herr_t add_name(hid_t, const char* name, const Info*, void* to) {
    static_cast<Strings*>(to)->emplace_back(name);
    return 0;
}

herr_t for_links(hid_t group, Strings& names) {
    return H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add_name<H5L_info_t>, &names);
}

herr_t for_attributes(hid_t object, Strings& names) {
    return H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, add_name<H5A_info_t>,
                       &names);
}

/// Collects the objects of a file that netCDF-C does not list.
struct Objects {
    bool with_contents = true;  ///< also read and hash the values of the objects
    std::vector<UnlistedObject>& list;
};

void add_attributes(hid_t object, const std::string& owner, const Strings& listed, Objects& to) {
    const bool scale = is_scale(object);
    const auto in = [](const auto& names, const std::string& name) {
        return std::find(std::begin(names), std::end(names), name) != std::end(names);
    };
    for (const std::string& name : names_of(for_attributes, object)) {
        if (in(listed, name) || in(of_format, name) || (scale && in(of_scales, name))) continue;
        const Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
        const Handle type(H5Aget_type(attribute), H5Tclose),
            space(H5Aget_space(attribute), H5Sclose);
        to.list.push_back({owner, name, type_words(type) + " " + shape_words(space),
                           to.with_contents ? hash_of_attribute(attribute) : ""});
    }
}

void add_data_set(hid_t set, const std::string& name, Objects& to) {
    if (text_of(set, "NAME").starts_with(dimension_only)) return;
    const Handle type(H5Dget_type(set), H5Tclose), space(H5Dget_space(set), H5Sclose);
    to.list.push_back({name, "", type_words(type) + " " + shape_words(space),
                       to.with_contents ? hash_of_data_set(set) : ""});
    add_attributes(set, name, {}, to);
}

void add_link(hid_t file, const std::string& link, const KnownNames& listed, Objects& to) {
    const std::string name = link.starts_with(renamed) ? link.substr(renamed.size()) : link;
    const auto known = listed.find(name);
    H5L_info_t info{};
    if (H5Lget_info(file, link.c_str(), &info, H5P_DEFAULT) < 0) return;
    if (info.type == H5L_TYPE_EXTERNAL) {
        if (known == listed.end()) to.list.push_back({name, "", "link to another file", ""});
        return;
    }
    const Handle object(H5Oopen(file, link.c_str(), H5P_DEFAULT), H5Oclose);
    if (object < 0) {
        to.list.push_back({name, "", "link to nothing", ""});
    } else if (H5Iget_type(object) == H5I_DATASET) {
        if (known == listed.end())
            add_data_set(object, name, to);
        else
            add_attributes(object, name, known->second, to);
    }
}

}  // namespace

Status inspect_netcdf4(const std::string& path, Inspection& inspection, bool with_contents) {
    {
        const QuietHdf5 quiet;
        if (H5Fis_hdf5(path.c_str()) <= 0) return {};
    }
    inspection.netcdf4 = true;
    KnownNames listed;
    if (Status status = list_by_netcdf(path, listed, inspection.unlimited); !status.ok())
        return status;
    Status status;
    const std::unique_ptr<Hdf5View> view = Hdf5View::open(path, status);
    if (!view) return status;
    const QuietHdf5 quiet;
    const Handle root(H5Gopen2(view->id(), "/", H5P_DEFAULT), H5Gclose);
    Objects unlisted{with_contents, inspection.unlisted};
    add_attributes(root, "", listed[""], unlisted);
    for (const std::string& link : names_of(for_links, root))
        add_link(view->id(), link, listed, unlisted);
    return view->refused();
}

Status add_stored_bytes(const std::string& path, const std::vector<std::string>& names,
                        std::vector<std::int64_t>& bytes) {
    const QuietHdf5 quiet;
    if (H5Fis_hdf5(path.c_str()) <= 0) return {};
    Status status;
    const std::unique_ptr<Hdf5View> view = Hdf5View::open(path, status);
    if (!view) return status;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const Handle set(view->open_set(detail::name_in_hdf5(view->id(), names[i])), H5Dclose);
        if (set >= 0) bytes[i] += static_cast<std::int64_t>(H5Dget_storage_size(set));
    }
    return view->refused();
}

}  // namespace thalweg::app
