// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/object_check.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "storage/netcdf4/index/hdf5_handle.hpp"

namespace thalweg::detail {

namespace {

/// Tests if a data set is a dimension scale (HDF5 dimension scale specification). H5DSis_scale does
/// the same, but belongs to HDF5's high-level library, which is not linked.
bool is_dimension_scale(hid_t set) {
    if (H5Aexists(set, "CLASS") <= 0) return false;
    const Handle attribute(H5Aopen(set, "CLASS", H5P_DEFAULT), H5Aclose);
    const Handle in_file(attribute < 0 ? H5I_INVALID_HID : H5Aget_type(attribute), H5Tclose);
    if (in_file < 0 || H5Tget_class(in_file) != H5T_STRING || H5Tis_variable_str(in_file) != 0)
        return false;
    constexpr char scale[] = "DIMENSION_SCALE";
    std::array<char, sizeof scale> text{};
    const Handle type(H5Tcopy(H5T_C_S1), H5Tclose), space(H5Aget_space(attribute), H5Sclose);
    return H5Tset_size(type, text.size()) >= 0 && H5Sget_simple_extent_npoints(space) == 1 &&
           H5Aread(attribute, type, text.data()) >= 0 &&
           std::memcmp(text.data(), scale, text.size()) == 0;
}

class ObjectCheck {
public:
    ObjectCheck(const Hdf5View& view, const std::string& path, std::vector<std::string>& sets)
        : view_(view), path_(path), sets_(sets) {}

    /// Checks a group and the objects in it.
    /// @param name  path of the group, which ends with '/'; empty for the root group
    Status group(hid_t id, const std::string& name) {
        H5O_info_t info{};
        if (H5Oget_info2(id, &info, H5O_INFO_BASIC) < 0) return wrong("group", name, "no header");
        const std::pair self(info.fileno, info.addr);
        if (std::find(open_.begin(), open_.end(), self) != open_.end())
            return wrong("group", name, "it contains itself");
        open_.push_back(self);
        Links links{*this, name, {}};
        const herr_t code = H5Literate(id, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, visit, &links);
        open_.pop_back();
        if (code < 0 && links.status.ok()) return wrong("group", name, "HDF5 cannot list it");
        return std::move(links.status);
    }

private:
    struct Links {
        ObjectCheck& check;
        const std::string& group;
        Status status;
    };

    static herr_t visit(hid_t group, const char* name, const H5L_info_t* link, void* to) {
        auto& links = *static_cast<Links*>(to);
        // HDF5 calls this function, so catch all exceptions: none may pass through HDF5.
        links.status = catch_errors(
            [&] { return links.check.object(group, name, links.group + name, link->type); });
        return links.status.ok() ? 0 : 1;
    }

    Status object(hid_t group_id, const char* own, const std::string& name, H5L_type_t link) {
        const Handle id(H5Oopen(group_id, own, view_.access()), H5Oclose);
        if (id < 0) {
            Status status = hdf5_failure(
                path_,
                fmt::format("cannot open {} '{}'",
                            link == H5L_TYPE_HARD ? "object" : "what a link leads to,", name));
            status.code = TW_EFORMAT;
            return status;
        }
        switch (H5Iget_type(id)) {
            case H5I_GROUP: return group(id, name + "/");
            case H5I_DATASET: return data_set(id, name);
            default: return {};
        }
    }

    Status data_set(hid_t id, const std::string& name) {
        if (open_.size() == 1) sets_.push_back(name);
        const Handle space(H5Dget_space(id), H5Sclose);
        if (space < 0 || H5Sget_simple_extent_ndims(space) > 0 || !is_dimension_scale(id))
            return {};
        const bool null = H5Sget_simple_extent_type(space) == H5S_NULL;
        return wrong("dimension scale", name,
                     null ? "it has no elements (null dataspace)" : "it has no dimension (scalar)");
    }

    Status wrong(const char* what, std::string name, const char* why) const {
        if (name.size() > 1 && name.back() == '/') name.pop_back();
        return failure(TW_EFORMAT, "{}: {} '{}': {}", OfFile{path_}, what,
                       name.empty() ? "/" : name, why);
    }

    const Hdf5View& view_;
    const std::string& path_;
    std::vector<std::string>& sets_;
    /// Groups on the path from the root to the present group.
    std::vector<std::pair<unsigned long, haddr_t>> open_;
};

}  // namespace

Status check_objects(const Hdf5View& view, const std::string& path,
                     std::vector<std::string>& sets) {
    const QuietHdf5 quiet;
    return ObjectCheck(view, path, sets).group(view.id(), {});
}

}  // namespace thalweg::detail
