// Classic formats by plain writes to disjoint ranges: no MPI in the write path.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "comm/clock.hpp"
#include "storage/classic_header.hpp"
#include "storage/system.hpp"

namespace thalweg {

namespace {

class PosixStorage final : public Storage {
public:
    ~PosixStorage() override {
        if (fd_ >= 0) ::close(fd_);
    }
    const char* name() const override { return "posix"; }
    Order order() const override { return Order::big_endian; }
    bool collective() const override { return false; }

    Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                  const StorageOptions& options, bool writer, FileMap& map) override {
        path_ = path;
        definitions_ = &definitions;
        format_ = options.format;
        throttle_ = Throttle(options.rate);
        first_ = comm.rank() == 0;
        keeper_ = comm.rank() == options.keeper;
        Status status;
        if (first_) {
            NoSizeSignal guard;
            status = create_classic_header(path, definitions, options, map);
        }
        status = agree(comm, status);
        if (!status.ok()) return status;
        broadcast(comm, map, 0);
        map_ = map;
        if (writer || keeper_) {
            fd_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
            if (fd_ < 0) status = system_failure(path, "cannot open for writing");
        }
        return agree(comm, status);
    }

    Status write(std::span<const Chunk> chunks) override {
        Stopwatch watch(counts_.seconds);
        for (std::size_t i = 0; i < chunks.size();) {
            const Chunk& c = chunks[i];
            if (c.box != nullptr) {
                if (Status status = write_box(c); !status.ok()) return status;
                ++i;
                continue;
            }
            // What continues in memory and in the file is one write.
            std::int64_t bytes = c.bytes;
            std::size_t j = i + 1;
            while (j < chunks.size() && chunks[j].box == nullptr &&
                   chunks[j].offset == c.offset + bytes && chunks[j].data == c.data + bytes)
                bytes += chunks[j++].bytes;
            if (Status status = write_range(c, c.data, bytes, c.offset); !status.ok())
                return status;
            i = j;
        }
        return {};
    }

    Status read(const Chunk& c, char* to) override {
        if (c.box == nullptr) return read_range(c.offset, c.bytes, to);
        return for_runs(c, [&](std::int64_t offset, std::int64_t at, std::int64_t bytes) {
            return read_range(offset, bytes, to + at);
        });
    }

    Status set_records(std::int64_t records, bool durable) override {
        if (!keeper_) return {};
        Status status = write_record_count(fd_, path_, format_, records);
        if (status.ok() && durable) status = sync();
        return status;
    }

    Status sync() override { return fd_ >= 0 ? sync_file(fd_, path_) : Status{}; }

    Status close(std::int64_t records,
                 const std::vector<std::pair<int, Attribute>>& late) override {
        NoSizeSignal guard;
        Status status;
        if (fd_ >= 0 && close_file(fd_) != 0) status = system_failure(path_, "cannot close");
        fd_ = -1;
        if (first_ && status.ok()) status = extend(path_, map_.size(records));
        if (first_ && status.ok())
            status = add_attributes(path_, *definitions_, map_, format_, records, late);
        return status;
    }

private:
    Status read_range(std::int64_t offset, std::int64_t bytes, char* to) const {
        while (bytes > 0) {
            const ssize_t n = pread(fd_, to, static_cast<std::size_t>(bytes), offset);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) return system_failure(path_, "cannot read");
            if (n == 0) {
                std::memset(to, 0, static_cast<std::size_t>(bytes));
                return {};
            }
            to += n;
            offset += n;
            bytes -= n;
        }
        return {};
    }

    Status write_range(const Chunk& c, const char* data, std::int64_t bytes, std::int64_t offset) {
        throttle_.begin();
        if (Status status = write_fully(fd_, path_, data, bytes, offset); !status.ok()) {
            const Variable& v = definitions_->variables[static_cast<std::size_t>(c.variable)];
            status.text += fmt::format(", variable '{}'", v.name);
            if (v.record) status.text += fmt::format(", record {}", c.record);
            return status;
        }
        ++counts_.calls;
        counts_.bytes += bytes;
        throttle_.wrote(bytes);
        return {};
    }

    /// One write for each run of elements that lie side by side in the file.
    Status write_box(const Chunk& c) {
        return for_runs(c, [&](std::int64_t offset, std::int64_t at, std::int64_t bytes) {
            return write_range(c, c.data + at, bytes, offset);
        });
    }

    /// Calls visit(byte in the file, byte in the box, bytes) for the runs of a box, in order, until
    /// one fails.
    template <class Visit>
    Status for_runs(const Chunk& c, Visit&& visit) const {
        const Variable& v = definitions_->variables[static_cast<std::size_t>(c.variable)];
        const Box& box = *c.box;
        const auto size = static_cast<std::int64_t>(v.element());
        int inner = box.nd;  // dimensions from here on are whole
        std::int64_t run = 1;
        while (inner > 0 &&
               (inner == box.nd || box.count[inner] == v.shape[static_cast<std::size_t>(inner)]))
            run *= box.count[--inner];
        Index at = box.low;
        for (std::int64_t done = 0;; done += run * size) {
            const std::int64_t offset = c.offset + linear(v.shape, at) * size;
            if (Status status = visit(offset, done, run * size); !status.ok()) return status;
            int d = inner - 1;
            while (d >= 0 && ++at[d] == box.low[d] + box.count[d]) {
                at[d] = box.low[d];
                --d;
            }
            if (d < 0) return {};
        }
    }

    std::string path_;
    const Definitions* definitions_ = nullptr;
    FileMap map_;
    Format format_ = Format::cdf2;
    int fd_ = -1;
    bool first_ = false, keeper_ = false;
};

class MemoryStorage final : public Storage {
public:
    const char* name() const override { return "memory"; }
    Order order() const override { return Order::big_endian; }
    bool collective() const override { return false; }
    Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                  const StorageOptions& options, bool, FileMap& map) override {
        throttle_ = Throttle(options.rate);
        NoSizeSignal guard;
        Status status;
        if (comm.rank() == 0) status = create_classic_header(path, definitions, options, map);
        status = agree(comm, status);
        if (status.ok()) broadcast(comm, map, 0);
        return status;
    }
    Status write(std::span<const Chunk> chunks) override {
        Stopwatch watch(counts_.seconds);
        for (const Chunk& c : chunks) {
            throttle_.begin();
            ++counts_.calls;
            counts_.bytes += c.bytes;
            throttle_.wrote(c.bytes);
        }
        return {};
    }
    Status set_records(std::int64_t, bool) override { return {}; }
    Status sync() override { return {}; }
    Status close(std::int64_t, const std::vector<std::pair<int, Attribute>>&) override {
        return {};
    }
};

}  // namespace

std::unique_ptr<Storage> make_posix_storage() { return std::make_unique<PosixStorage>(); }
std::unique_ptr<Storage> make_memory_storage() { return std::make_unique<MemoryStorage>(); }

}  // namespace thalweg
