// SPDX-License-Identifier: Apache-2.0
#include "storage/hdf5_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "storage/system.hpp"
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

namespace thalweg {

namespace {

constexpr std::int64_t page = 4096;

std::int64_t rounded(std::int64_t bytes, std::int64_t to) { return (bytes + to - 1) / to * to; }

/// Readers that come in between must find what was there before or what is there now: first what
/// nothing points to yet, then the superblock, which tells how far the file reaches; then indices,
/// their upper nodes first, as a node that was split has given its right half away; then headers,
/// which tell how long the variables are.
int order_of(H5FD_mem_t type, const std::vector<char>& bytes) {
    if (type == H5FD_MEM_SUPER) return 0;
    if (type != H5FD_MEM_BTREE) return type == H5FD_MEM_OHDR ? 1000 : 900;
    constexpr std::size_t level = 5;  // of a node of version 1, which begins "TREE"
    const bool node = bytes.size() > level && std::memcmp(bytes.data(), "TREE", 4) == 0;
    return node ? 500 - static_cast<unsigned char>(bytes[level]) : 600;
}

}  // namespace

QuietHdf5::QuietHdf5() {
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietHdf5::~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }

Status hdf5_failure(const std::string& path, const std::string& what) {
    std::string text;
    const auto take = [](unsigned, const H5E_error2_t* error, void* to) -> herr_t {
        if (error->desc != nullptr) *static_cast<std::string*>(to) = error->desc;
        return 0;
    };
    // The last one is the cause.
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, take, &text);
    return failure(TW_EIO, "{}: {}: HDF5: {}", path, what, text);
}

/// HDF5's view of a file: functions that it calls with a structure of ours.
struct Hdf5File::Driver {
    H5FD_t base;
    Hdf5File* file;

    static Hdf5File& of(const H5FD_t* f) { return *reinterpret_cast<const Driver*>(f)->file; }

    static H5FD_t* open(const char*, unsigned, hid_t access, haddr_t) {
        auto* driver = new Driver{};
        std::memcpy(&driver->file, H5Pget_driver_info(access), sizeof driver->file);
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
    static haddr_t alloc(H5FD_t* f, H5FD_mem_t type, hid_t, hsize_t bytes) {
        return of(f).allocate(type, static_cast<std::int64_t>(bytes));
    }
    static herr_t free(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, hsize_t) { return 0; }
    static haddr_t get_end(const H5FD_t* f, H5FD_mem_t) { return static_cast<haddr_t>(of(f).end_); }
    static herr_t set_end(H5FD_t* f, H5FD_mem_t, haddr_t end) {
        of(f).end_ = static_cast<std::int64_t>(end);
        return 0;
    }
    static haddr_t get_file_end(const H5FD_t* f, H5FD_mem_t) {
        struct stat info {};
        if (fstat(of(f).fd_, &info) != 0) return HADDR_UNDEF;
        return static_cast<haddr_t>(std::max<std::int64_t>(info.st_size, of(f).end_));
    }
    static herr_t read(H5FD_t* f, H5FD_mem_t, hid_t, haddr_t at, std::size_t bytes, void* to) {
        return of(f).read(static_cast<std::int64_t>(at), static_cast<std::int64_t>(bytes),
                          static_cast<char*>(to))
                   ? 0
                   : -1;
    }
    static herr_t write(H5FD_t* f, H5FD_mem_t type, hid_t, haddr_t at, std::size_t bytes,
                        const void* from) {
        if (type == H5FD_MEM_DRAW)
            of(f).data_address_ = static_cast<std::int64_t>(at);
        else
            of(f).change(type, static_cast<std::int64_t>(at), static_cast<const char*>(from),
                         static_cast<std::int64_t>(bytes));
        return 0;
    }

    static H5FD_class_t table() {
        H5FD_class_t c{};
#if H5_VERSION_GE(1, 13, 0)
        c.version = H5FD_CLASS_VERSION;
        c.value = static_cast<H5FD_class_value_t>(600);  // of those for the library's users
#endif
        c.name = "thalweg";
        c.maxaddr = std::uint64_t(1) << 62;
        c.fc_degree = H5F_CLOSE_WEAK;
        c.fapl_size = sizeof(Hdf5File*);
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

std::unique_ptr<Hdf5File> Hdf5File::open(const std::string& path, std::function<Room()> next_room,
                                         Status& status) {
    const QuietHdf5 quiet;
    std::unique_ptr<Hdf5File> file(new Hdf5File(path, std::move(next_room)));
    file->fd_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file->fd_ < 0) {
        status = system_failure(path, "cannot open for writing");
        return nullptr;
    }
    const H5FD_class_t table = Driver::table();
    file->driver_ = H5FDregister(&table);
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    const Hdf5File* self = file.get();
    if (file->driver_ >= 0 && H5Pset_driver(access, file->driver_, &self) >= 0)
        file->id_ = H5Fopen(path.c_str(), H5F_ACC_RDWR, access);
    if (file->id_ < 0) status = file->failed("cannot open");
    H5Pclose(access);
    if (!status.ok()) return nullptr;
    return file;
}

Hdf5File::~Hdf5File() {
    const QuietHdf5 quiet;
    if (id_ >= 0) H5Fclose(id_);
    if (driver_ >= 0) H5FDunregister(driver_);
    if (fd_ >= 0) ::close(fd_);
}

/// The system's words say more than HDF5's.
Status Hdf5File::failed(const std::string& what) {
    if (trouble_.empty()) return hdf5_failure(path_, what);
    return failure(TW_EIO, "{}: {}: {}", path_, what, trouble_);
}

haddr_t Hdf5File::allocate(H5FD_mem_t type, std::int64_t bytes) {
    std::int64_t at = expected_;
    if (type == H5FD_MEM_DRAW) {
        expected_ = -1;
        if (at < 0) return HADDR_UNDEF;
    } else {
        // A page is written whole or not at all, even by a process that is killed.
        const auto place = [&] {
            at = rounded(room_.begin, 8);
            if (bytes <= page && at / page != (at + bytes - 1) / page) at = rounded(at, page);
            return at + bytes <= room_.end;
        };
        if (!place()) {
            room_ = next_room_();
            if (!place()) return HADDR_UNDEF;
        }
        room_.begin = at + bytes;
        fresh_.push_back({at, at + bytes});
    }
    end_ = std::max(end_, at + bytes);
    return static_cast<haddr_t>(at);
}

bool Hdf5File::read(std::int64_t address, std::int64_t bytes, char* to) {
    for (std::int64_t done = 0; done < bytes;) {
        const ssize_t n =
            pread(fd_, to + done, static_cast<std::size_t>(bytes - done), address + done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            trouble_ = std::strerror(errno);
            return false;
        }
        if (n == 0) {
            std::memset(to + done, 0, static_cast<std::size_t>(bytes - done));
            break;
        }
        done += n;
    }
    auto it = changes_.upper_bound(address);
    if (it != changes_.begin()) --it;
    for (; it != changes_.end() && it->first < address + bytes; ++it) {
        const std::int64_t begin = std::max(address, it->first);
        const std::int64_t end = std::min(
            address + bytes, it->first + static_cast<std::int64_t>(it->second.bytes.size()));
        if (begin < end)
            std::memcpy(to + (begin - address), it->second.bytes.data() + (begin - it->first),
                        static_cast<std::size_t>(end - begin));
    }
    return true;
}

/// Takes the place of what was there: of room that HDF5 has given back and taken again, the parts
/// may be cut otherwise.
void Hdf5File::change(H5FD_mem_t type, std::int64_t address, const char* data, std::int64_t bytes) {
    const std::int64_t end = address + bytes;
    auto it = changes_.upper_bound(address);
    if (it != changes_.begin()) --it;
    while (it != changes_.end() && it->first < end) {
        const std::int64_t first = it->first;
        const std::int64_t last = first + static_cast<std::int64_t>(it->second.bytes.size());
        if (last <= address) {
            ++it;
            continue;
        }
        Change old = std::move(it->second);
        it = changes_.erase(it);
        if (last > end)
            it = changes_.insert_or_assign(
                it, end, Change{old.type, {old.bytes.end() - (last - end), old.bytes.end()}});
        if (first < address) {
            old.bytes.resize(static_cast<std::size_t>(address - first));
            changes_[first] = std::move(old);
        }
    }
    changes_[address] = {type, {data, data + bytes}};
}

bool Hdf5File::is_fresh(std::int64_t address) const {
    return std::any_of(fresh_.begin(), fresh_.end(),
                       [&](const Room& r) { return r.begin <= address && address < r.end; });
}

Status Hdf5File::write_changes(bool durable) {
    NoSizeSignal guard;
    struct stat info {};
    if (fstat(fd_, &info) != 0) return system_failure(path_, "cannot look at it");
    while (info.st_size < end_ && ftruncate(fd_, end_) != 0)
        if (errno != EINTR)
            return system_failure(path_, fmt::format("cannot extend to {} bytes", end_));
    std::vector<std::pair<std::int64_t, const Change*>> order;
    for (const auto& [address, change] : changes_) {
        if (!is_fresh(address)) {
            order.emplace_back(address, &change);
            continue;
        }
        Status status = write_fully(fd_, path_, change.bytes.data(),
                                    static_cast<std::int64_t>(change.bytes.size()), address);
        if (!status.ok()) return status;
    }
    if (durable)
        if (Status status = sync_file(fd_, path_); !status.ok()) return status;
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return order_of(a.second->type, a.second->bytes) <
               order_of(b.second->type, b.second->bytes);
    });
    for (const auto& [address, change] : order) {
        Status status = write_fully(fd_, path_, change->bytes.data(),
                                    static_cast<std::int64_t>(change->bytes.size()), address);
        if (!status.ok()) return status;
    }
    changes_.clear();
    fresh_.clear();
    return durable ? sync_file(fd_, path_) : Status{};
}

Status Hdf5File::commit(bool durable) {
    const QuietHdf5 quiet;
    if (H5Fflush(id_, H5F_SCOPE_LOCAL) < 0) return failed("cannot write its index");
    return write_changes(durable);
}

Status Hdf5File::close() {
    const QuietHdf5 quiet;
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    if (H5Fclose(id) < 0) return failed("cannot close");
    Status status = write_changes(false);
    // What a failed step left behind.
    while (status.ok() && ftruncate(fd_, end_) != 0)
        if (errno != EINTR)
            status = system_failure(path_, fmt::format("cannot set its size to {} bytes", end_));
    if (close_file(std::exchange(fd_, -1)) != 0 && status.ok())
        status = system_failure(path_, "cannot close");
    return status;
}

Status Hdf5File::copy(std::int64_t from, std::int64_t to, std::int64_t bytes) {
    std::vector<char> data(static_cast<std::size_t>(bytes));
    if (!read(from, bytes, data.data()))
        return failure(TW_EIO, "{}: cannot read {} bytes at offset {}: {}", path_, bytes, from,
                       trouble_);
    return write_fully(fd_, path_, data.data(), bytes, to);
}

}  // namespace thalweg
