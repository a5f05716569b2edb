// SPDX-License-Identifier: Apache-2.0
#include "storage/chunked/zstd_filter.hpp"

#include <dlfcn.h>
#include <hdf5.h>
#include <netcdf.h>
#include <zstd.h>

#include <cstdlib>

#include "storage/chunked/filters.hpp"

namespace thalweg::detail {

namespace {

/// Applies the filter zstd. Registered with HDF5, so that netCDF-C can define the filter without a
/// plugin.
std::size_t zstd_function(unsigned flags, std::size_t parameters, const unsigned* values,
                          std::size_t bytes, std::size_t* capacity, void** buffer) {
    std::size_t size = 0;
    void* result = nullptr;
    if ((flags & H5Z_FLAG_REVERSE) != 0) {
        const unsigned long long content = ZSTD_getFrameContentSize(*buffer, bytes);
        if (content == ZSTD_CONTENTSIZE_ERROR || content == ZSTD_CONTENTSIZE_UNKNOWN) return 0;
        size = content;
        result = std::malloc(size > 0 ? size : 1);
        if (result != nullptr) size = ZSTD_decompress(result, size, *buffer, bytes);
    } else {
        size = ZSTD_compressBound(bytes);
        result = std::malloc(size);
        const int level = parameters > 0 ? static_cast<int>(values[0]) : ZSTD_CLEVEL_DEFAULT;
        if (result != nullptr) size = ZSTD_compress(result, size, *buffer, bytes, level);
    }
    if (result == nullptr || ZSTD_isError(size)) {
        std::free(result);
        return 0;
    }
    std::free(*buffer);
    *buffer = result;
    *capacity = size;
    return size;
}

/// Returns a function of the HDF5 library that netCDF-C uses. A program may have loaded both the
/// serial and the parallel HDF5 of Debian, and a direct call could reach the other one.
template <class Function>
Function* hdf5_of_netcdf(const char* name, Function* otherwise) {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void*>(&nc_inq_libvers), &info) == 0) return otherwise;
    void* const library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) return otherwise;
    void* const found = dlsym(library, name);
    dlclose(library);
    return found == nullptr ? otherwise : reinterpret_cast<Function*>(found);
}

}  // namespace

Status provide_zstd(const std::string& path) {
    const H5Z_class2_t filter{H5Z_CLASS_T_VERS, zstd_filter, 1,       1,
                              "zstd",           nullptr,     nullptr, zstd_function};
    const auto provide = [&](auto* available, auto* add) {
        return available(zstd_filter) > 0 || add(&filter) >= 0;
    };
    static auto* const available = hdf5_of_netcdf("H5Zfilter_avail", &H5Zfilter_avail);
    static auto* const add = hdf5_of_netcdf("H5Zregister", &H5Zregister);
    if (provide(&H5Zfilter_avail, &H5Zregister) && provide(available, add)) return {};
    return failure(TW_ENETCDF, "{}: HDF5 cannot register the filter zstd", OfFile{path});
}

}  // namespace thalweg::detail
