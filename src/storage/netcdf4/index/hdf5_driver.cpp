// SPDX-License-Identifier: Apache-2.0
#include "storage/netcdf4/index/hdf5_driver.hpp"

#include <netcdf.h>

#include <cstring>
#include <new>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include "storage/chunked/zstd_filter.hpp"
#include "storage/storage.hpp"

/// Returns the nesting depth of this thread's calls into the shim library that replaces netCDF's
/// functions in unchanged programs. While the depth is above 0, the shim passes calls on to netCDF.
/// The symbol is null if the shim is not loaded.
extern "C" [[gnu::weak]] int* thalweg_shim_depth();

namespace thalweg::detail {

namespace {

/// Makes the shim pass this thread's calls on to netCDF: raises its nesting depth by `change`.
void keep_calls(int change) {
    if (thalweg_shim_depth != nullptr) *thalweg_shim_depth() += change;
}

/// Initializes netCDF-C, which turns off HDF5's error messages in this process for good. Otherwise
/// ~QuietHdf5() could turn them on again.
void begin_netcdf() {
    static const int begun = nc_open(nullptr, NC_NOWRITE, nullptr);
    (void)begun;
}

}  // namespace

void start_hdf5() {
    const LibraryLock lock;
    H5open();
}

QuietHdf5::QuietHdf5() {
    keep_calls(1);
    begin_netcdf();
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietHdf5::~QuietHdf5() {
    H5Eset_auto2(H5E_DEFAULT, function_, data_);
    keep_calls(-1);
}

Status hdf5_failure(const std::string& path, const std::string& what) {
    std::string text;
    const auto take = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
        if (error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
        return 0;
    };
    // Errors are visited from the outermost call to the innermost; the last one is the cause.
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, take, &text);
    return failure(TW_EIO, "{}: {}: HDF5: {}", OfFile{path}, what, text);
}

hid_t native_type(tw_type type) {
    switch (type) {
        case TW_BYTE: return H5T_NATIVE_SCHAR;
        case TW_CHAR: return H5T_C_S1;
        case TW_SHORT: return H5T_NATIVE_INT16;
        case TW_INT: return H5T_NATIVE_INT32;
        case TW_FLOAT: return H5T_NATIVE_FLOAT;
        case TW_DOUBLE: return H5T_NATIVE_DOUBLE;
        case TW_UBYTE: return H5T_NATIVE_UCHAR;
        case TW_USHORT: return H5T_NATIVE_UINT16;
        case TW_UINT: return H5T_NATIVE_UINT32;
        case TW_INT64: return H5T_NATIVE_INT64;
        case TW_UINT64: return H5T_NATIVE_UINT64;
    }
    return H5I_INVALID_HID;
}

/// HDF5's structure for an open file, and the callback functions that HDF5 calls with it.
struct Hdf5Driver::Table {
    H5FD_t base;
    Hdf5Driver* driver;

    static Hdf5Driver* driver_of(const H5FD_t* f) {
        return reinterpret_cast<const Table*>(f)->driver;
    }
    static Hdf5Driver& of(const H5FD_t* f) { return *driver_of(f); }
    static Calls& calls(const H5FD_t* f) { return of(f).calls_; }

    /// Returns the result of act(), or `failed` if it throws: exceptions must not pass through
    /// HDF5.
    template <class Value, class Do>
    static Value guarded(H5FD_t* f, Value failed, Do&& act) {
        if (driver_of(f) == nullptr) return failed;
        try {
            return act();
        } catch (const std::exception&) {
            of(f).thrown_ = exception_status();
            return failed;
        }
    }

    /// @return null also if HDF5 follows an external link to another file, which has no Hdf5Driver
    static H5FD_t* open(const char*, unsigned, hid_t access, haddr_t) {
        const void* driver = H5Pget_driver_info(access);
        auto* table = driver == nullptr ? nullptr : new (std::nothrow) Table{};
        if (table == nullptr) return nullptr;
        std::memcpy(&table->driver, driver, sizeof table->driver);
        table->driver->table_ = table;
        return &table->base;
    }
    static herr_t close(H5FD_t* f) {
        if (driver_of(f) != nullptr) of(f).table_ = nullptr;
        delete reinterpret_cast<Table*>(f);
        return 0;
    }
    static herr_t query(const H5FD_t*, unsigned long* flags) {
        *flags = H5FD_FEAT_IGNORE_DRVRINFO;
        return 0;
    }
    static haddr_t alloc(H5FD_t* f, H5FD_mem_t type, hid_t, hsize_t bytes) {
        return guarded(f, HADDR_UNDEF, [&] {
            const std::int64_t at = calls(f).allocate(type, static_cast<std::int64_t>(bytes));
            return at < 0 ? HADDR_UNDEF : static_cast<haddr_t>(at);
        });
    }
    /// Lowers the end of the file if HDF5 frees space there.
    static herr_t free(H5FD_t* f, H5FD_mem_t, hid_t, haddr_t at, hsize_t bytes) {
        if (driver_of(f) != nullptr && at + bytes == static_cast<haddr_t>(of(f).end_))
            of(f).end_ = at;
        return 0;
    }
    static haddr_t get_end(const H5FD_t* f, H5FD_mem_t type) {
        if (driver_of(f) == nullptr) return 0;
        return static_cast<haddr_t>(calls(f).end_for(type, of(f).end_));
    }
    static herr_t set_end(H5FD_t* f, H5FD_mem_t, haddr_t end) {
        if (driver_of(f) != nullptr) of(f).end_ = end;
        return 0;
    }
    static haddr_t get_file_end(const H5FD_t* f, H5FD_mem_t) {
        if (driver_of(f) == nullptr) return 0;
        const std::int64_t size = calls(f).size();
        return size < 0 ? HADDR_UNDEF : static_cast<haddr_t>(size);
    }
    static herr_t read(H5FD_t* f, H5FD_mem_t type, hid_t, haddr_t at, std::size_t bytes, void* to) {
        if (driver_of(f) != nullptr && of(f).looking_ && type == H5FD_MEM_DRAW) {
            of(f).seen_ = at;
            return 0;
        }
        return guarded(f, herr_t(-1), [&]() -> herr_t {
            const bool good = calls(f).read(type, at, bytes, static_cast<char*>(to));
            return good ? 0 : -1;
        });
    }
    static herr_t write(H5FD_t* f, H5FD_mem_t type, hid_t, haddr_t at, std::size_t bytes,
                        const void* from) {
        // After an error, ignore writes but report success: HDF5 closes a file completely only if
        // its writes succeed. healthy() returns the error.
        if (driver_of(f) == nullptr || of(f).dropping_ || !of(f).thrown_.ok()) return 0;
        return guarded(f, herr_t(0), [&]() -> herr_t {
            const bool good = calls(f).write(type, at, bytes, static_cast<const char*>(from));
            return good ? 0 : -1;
        });
    }

    static H5FD_class_t make() {
        H5FD_class_t c{};
#if H5_VERSION_GE(1, 13, 0)
        c.version = H5FD_CLASS_VERSION;
        // In the range that HDF5 leaves to its users.
        c.value = static_cast<H5FD_class_value_t>(600);
#endif
        c.name = "thalweg";
        c.maxaddr = std::uint64_t(1) << 62;
        c.fc_degree = H5F_CLOSE_WEAK;
        c.fapl_size = sizeof(Hdf5Driver*);
        c.open = open;
        c.close = close;
        c.query = query;
        c.alloc = alloc;
        c.free = free;
        c.get_eoa = get_end;
        c.set_eoa = set_end;
        c.get_eof = get_file_end;
        c.read = read;
        c.write = write;
        return c;
    }
};

Status Hdf5Driver::open(unsigned access, bool modern) {
    const QuietHdf5 quiet;
    const H5FD_class_t table = Table::make();
    driver_ = H5FDregister(&table);
    const hid_t properties = H5Pcreate(H5P_FILE_ACCESS);
    if (modern) H5Pset_libver_bounds(properties, H5F_LIBVER_V18, H5F_LIBVER_LATEST);
    (void)provide_zstd(path_);  // without the filter, only reading what zstd has compressed fails
    const Hdf5Driver* self = this;
    if (driver_ >= 0 && H5Pset_driver(properties, driver_, &self) >= 0)
        id_ = H5Fopen(path_.c_str(), access, properties);
    const Status status = id_ >= 0 ? Status{} : failed("cannot open");
    H5Pclose(properties);
    return status;
}

Status Hdf5Driver::close() {
    const QuietHdf5 quiet;
    Status status;
    // If the flush fails, a close would leave parts of the file open, which HDF5 would write when
    // the process ends. Ignore those writes.
    dropping_ = id_ >= 0 && H5Fflush(id_, H5F_SCOPE_LOCAL) < 0;
    if (dropping_) status = failed("cannot close");
    if (id_ >= 0 && H5Fclose(id_) < 0 && status.ok()) status = failed("cannot close");
    if (status.ok()) status = healthy();
    if (table_ != nullptr) table_->driver = nullptr;
    table_ = nullptr;
    if (driver_ >= 0) H5FDunregister(driver_);
    id_ = driver_ = H5I_INVALID_HID;
    return status;
}

namespace {

/// Tests if the last call failed because a chunk was never written. In that case the innermost
/// error comes from the HDF5 function that returns a chunk's size; if the index is damaged, it
/// comes from a function that this one calls.
bool never_written() {
    const auto take = [](unsigned n, const H5E_error2_t* error, void* to) -> herr_t {
        if (n == 0 && error->func_name != nullptr)
            *static_cast<bool*>(to) =
                std::strstr(error->func_name, "chunk_storage_size") != nullptr;
        return 0;
    };
    bool innermost = false;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &innermost);
    return innermost;
}

}  // namespace

Status Hdf5Driver::locate(hid_t set, const hsize_t* corner, StoredChunk& chunk) {
    const QuietHdf5 quiet;
    chunk = {};
    hsize_t bytes = 0;
    if (H5Dget_chunk_storage_size(set, corner, &bytes) < 0)
        return never_written() ? Status{} : hdf5_failure(path_, "cannot find a chunk");
    if (bytes == 0) return {};
    char nothing = 0;
    seen_ = -1;
    looking_ = true;
    const bool good = H5Dread_chunk(set, H5P_DEFAULT, corner, &chunk.skipped, &nothing) >= 0;
    looking_ = false;
    if (!good || seen_ < 0) return hdf5_failure(path_, "cannot find a chunk");
    chunk.address = seen_;
    chunk.bytes = bytes;
    return {};
}

Status Hdf5Driver::failed(const std::string& what) const {
    if (!thrown_.ok()) return thrown_;
    const std::string trouble = calls_.trouble();
    if (trouble.empty()) return hdf5_failure(path_, what);
    return failure(TW_EIO, "{}: {}: {}", OfFile{path_}, what, trouble);
}

}  // namespace thalweg::detail
