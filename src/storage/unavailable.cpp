// Replaces the drivers of libraries that this build lacks.
// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/whole.hpp"
#include "storage/pnetcdf/mpi_io.hpp"
#include "storage/source.hpp"
#include "storage/storage.hpp"
#include "storage/zarr/store/contents.hpp"

namespace thalweg::detail {

namespace {

#if !defined(THALWEG_HAVE_PNETCDF) || !defined(THALWEG_HAVE_NETCDF4)
class UnavailableStorage final : public Storage {
public:
    UnavailableStorage(const char* name, const char* missing) : name_(name), missing_(missing) {}

    StorageTraits traits() const override { return {.name = name_}; }
    bool collective() const override { return false; }
    Status create(Comm&, const std::string& path, const Definitions&, const StorageOptions&, bool,
                  FileMap&) override {
        return refuse(path);
    }
    Status open(Comm&, const std::string& path, const Definitions&, const StorageOptions&, bool,
                FileMap&) override {
        return refuse(path);
    }
    Status write(std::span<const Chunk>) override { return refuse("a write"); }
    Status set_records(std::int64_t, bool) override { return refuse("a number of records"); }
    Status sync() override { return {}; }
    Status close(std::int64_t, const LateAttributes&) override { return {}; }

private:
    Status refuse(const std::string& what) const {
        return failure(TW_EUNSUPPORTED, "{}: storage={} needs a build of the library with {}", what,
                       name_, missing_);
    }
    const char *name_, *missing_;
};
#endif

}  // namespace

#ifndef THALWEG_HAVE_PNETCDF
std::unique_ptr<Storage> make_pnetcdf_storage() {
    return std::make_unique<UnavailableStorage>("pnetcdf", "PnetCDF");
}
bool has_pnetcdf() { return false; }
void prepare_mpi_io() {}
#endif

#ifndef THALWEG_HAVE_NETCDF4
namespace {
Status no_netcdf4(const std::string& path) {
    return failure(TW_EUNSUPPORTED,
                   "{}: a netCDF-4 file needs a build of the library with netCDF-C and HDF5",
                   OfFile{path});
}
}  // namespace

std::unique_ptr<Storage> make_netcdf4_storage() {
    return std::make_unique<UnavailableStorage>("netcdf4", "netCDF-C and HDF5");
}
std::unique_ptr<Storage> make_zarr_storage() {
    return std::make_unique<UnavailableStorage>("zarr", "netCDF-C and HDF5");
}
std::unique_ptr<Source> open_netcdf4_source(Comm&, const std::string& path, bool, Status& status) {
    status = no_netcdf4(path);
    return nullptr;
}
bool is_zarr_store(const std::string&) { return false; }
Status add_bytes(const std::string& folder, std::int64_t&) { return no_netcdf4(folder); }
Status read_contents(Comm&, const std::string& path, int, ZarrContents&) {
    return no_netcdf4(path);
}
std::unique_ptr<Source> open_zarr_source(Comm&, const std::string& path, Status& status) {
    status = no_netcdf4(path);
    return nullptr;
}
Status complete_store(const std::string& path, std::int64_t) { return no_netcdf4(path); }
Status check_netcdf4_whole(const std::string& path, std::int64_t, Netcdf4Records&) {
    return no_netcdf4(path);
}
Status cut_netcdf4(const std::string& path, std::int64_t) { return no_netcdf4(path); }
Status enter_logged(const std::string&) { return {}; }
std::int64_t logged_records(const std::string&) { return 0; }
void start_hdf5() {}
#endif

}  // namespace thalweg::detail
