// SPDX-License-Identifier: Apache-2.0
#include "storage/hdf5_view.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "storage/hdf5_file.hpp"
#include "storage/system.hpp"
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace thalweg {

struct Hdf5View::Driver {
    H5FD_t base;
    Hdf5View* view;

    static Hdf5View& of(const H5FD_t* f) { return *reinterpret_cast<const Driver*>(f)->view; }

    static H5FD_t* open(const char*, unsigned, hid_t access, haddr_t) {
        auto* driver = new Driver{};
        std::memcpy(&driver->view, H5Pget_driver_info(access), sizeof driver->view);
        return &driver->base;
    }
    static herr_t close(H5FD_t* f) {
        delete reinterpret_cast<Driver*>(f);
        return 0;
    }
    static herr_t query(const H5FD_t*, unsigned long* flags) {
        *flags = H5FD_FEAT_IGNORE_DRVRINFO;
        return 0;
    }
    static haddr_t get_end(const H5FD_t* f, H5FD_mem_t) { return static_cast<haddr_t>(of(f).end_); }
    static herr_t set_end(H5FD_t* f, H5FD_mem_t, haddr_t end) {
        of(f).end_ = static_cast<std::int64_t>(end);
        return 0;
    }
    static haddr_t get_file_end(const H5FD_t* f, H5FD_mem_t) {
        const std::int64_t size = of(f).size();
        return size < 0 ? HADDR_UNDEF : static_cast<haddr_t>(size);
    }
    static herr_t read(H5FD_t* f, H5FD_mem_t type, hid_t, haddr_t at, std::size_t bytes, void* to) {
        Hdf5View& view = of(f);
        if (view.looking_ && type == H5FD_MEM_DRAW) {
            view.seen_ = static_cast<std::int64_t>(at);
            return 0;
        }
        const Status status =
            read_fully(view.fd_, {}, static_cast<char*>(to), static_cast<std::int64_t>(bytes),
                       static_cast<std::int64_t>(at));
        return status.ok() ? 0 : -1;
    }
    static herr_t write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) {
        return -1;
    }

    static H5FD_class_t table() {
        H5FD_class_t c{};
#if H5_VERSION_GE(1, 13, 0)
        c.version = H5FD_CLASS_VERSION;
        c.value = static_cast<H5FD_class_value_t>(601);  // of those for the library's users
#endif
        c.name = "thalweg-view";
        c.maxaddr = std::uint64_t(1) << 62;
        c.fc_degree = H5F_CLOSE_WEAK;
        c.fapl_size = sizeof(Hdf5View*);
        c.open = open;
        c.close = close;
        c.query = query;
        c.get_eoa = get_end;
        c.set_eoa = set_end;
        c.get_eof = get_file_end;
        c.read = read;
        c.write = write;
        return c;
    }
};

std::unique_ptr<Hdf5View> Hdf5View::open(const std::string& path, Status& status) {
    const QuietHdf5 quiet;
    std::unique_ptr<Hdf5View> view(new Hdf5View);
    view->path_ = path;
    view->fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (view->fd_ < 0) {
        status = system_failure(path, "cannot open");
        return nullptr;
    }
    const H5FD_class_t table = Driver::table();
    view->driver_ = H5FDregister(&table);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    const Hdf5View* self = view.get();
    if (view->driver_ >= 0 && H5Pset_driver(access, view->driver_, &self) >= 0)
        view->id_ = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access);
    H5Pclose(access);
    if (view->id_ >= 0) return view;
    status = hdf5_failure(path, "cannot open");
    status.code = TW_EFORMAT;
    return nullptr;
}

Hdf5View::~Hdf5View() {
    const QuietHdf5 quiet;
    if (id_ >= 0) H5Fclose(id_);
    if (driver_ >= 0) H5FDunregister(driver_);
    if (fd_ >= 0) ::close(fd_);
}

std::int64_t Hdf5View::size() const {
    struct stat info {};
    return fstat(fd_, &info) == 0 ? std::int64_t(info.st_size) : -1;
}

namespace {

/// Whether the last call asked for the size of a chunk that was never written: an error of just
/// that function, where a damaged index is one of those that it calls.
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

Status Hdf5View::locate(hid_t set, const hsize_t* corner, StoredChunk& chunk) {
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
    chunk.bytes = static_cast<std::int64_t>(bytes);
    return {};
}

}  // namespace thalweg
