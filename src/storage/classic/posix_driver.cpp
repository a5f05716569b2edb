// Classic formats by plain writes to disjoint ranges: no MPI in the write path.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "storage/checksums/file_with_sums.hpp"
#include "storage/classic/header.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Returns a path of a file that was opened by a path, if it has been renamed or removed since;
/// otherwise nothing.
/// @param kept  receives a descriptor that must stay open as long as the path is used
std::string find_place(int fd, const std::string& path, Descriptor& kept) {
    struct stat mine {
    }, named{};
    if (fd < 0 || fstat(fd, &mine) != 0) return {};
    if (stat(path.c_str(), &named) == 0 && named.st_ino == mine.st_ino &&
        named.st_dev == mine.st_dev)
        return {};
    kept = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return kept < 0 ? std::string() : fmt::format("/proc/self/fd/{}", static_cast<int>(kept));
}

class PosixStorage final : public Storage {
public:
    StorageTraits traits() const override {
        return {.name = "posix", .opens_alone = true, .closes_early = !file_.options.checksums};
    }
    bool collective() const override { return false; }

    Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                  const StorageOptions& options, bool writer, FileMap& map) override {
        begin(comm, path, definitions, options);
        IgnoreSigxfsz guard;
        Status status = create_classic_header(path, definitions, options, first_, map);
        map_ = map;
        if (!options.is_there) status = agree(comm, status);
        return begin_writing(comm, options, writer, std::move(status));
    }

    Status open(Comm& comm, const std::string& path, const Definitions& definitions,
                const StorageOptions& options, bool writer, FileMap& map) override {
        begin(comm, path, definitions, options);
        map_ = map;
        Status status;
        if (first_)
            status =
                keep_records(path, options.format, map, options.existing.kept, options.durable);
        return begin_writing(comm, options, writer, std::move(status));
    }

    void begin_boxes() override { file_.sums.leave_piece(); }
    Status write(std::span<const Chunk> chunks) override { return file_.write(chunks); }
    Status read(const Chunk& chunk, char* to) override { return file_.read(chunk, to); }
    Status end_unit(std::int64_t, bool) override { return file_.sums.end_step(); }
    Status sync() override { return file_.sync(); }

    Status set_records(std::int64_t records, bool durable) override {
        if (!header_writer_) return {};
        if (Status s = file_.need_file(); !s.ok()) return s;
        const std::int64_t all = std::max(records, file_.options.existing.kept);
        Status status = reach_end_of(all);
        if (status.ok())
            status = write_record_count(file_.fd, file_.path, file_.options.format, all);
        if (status.ok() && durable) status = sync();
        return status;
    }

    /// A file that is written under its final name stays open, as it may lose this name.
    Status close_early() override {
        Descriptor kept =
            file_.options.live && file_.fd >= 0 ? fcntl(file_.fd, F_DUPFD_CLOEXEC, 0) : -1;
        Status status = file_.close_file();
        file_.fd = std::move(kept);
        return status;
    }

    Status close(std::int64_t records, const LateAttributes& late) override {
        IgnoreSigxfsz guard;
        Descriptor kept;
        const std::string place =
            file_.options.live ? find_place(file_.fd, file_.path, kept) : std::string();
        Status status = file_.close();
        records = std::max(records, file_.options.existing.kept);
        if (!first_ || !status.ok()) return status;
        return complete_classic(place.empty() ? file_.path : place, *file_.definitions, map_,
                                file_.options.format, records, late, file_.options.durable);
    }

private:
    /// Makes the file as long as its records, of which variables without fill values may not be
    /// written. Their last byte is only written if the file ends before it, so no value is lost.
    Status reach_end_of(std::int64_t records) {
        struct stat info {};
        if (records == 0) return {};
        if (fstat(file_.fd, &info) != 0) return system_failure(file_.path, "cannot get its size");
        const std::int64_t size = map_.size(records);
        return info.st_size < size ? write_fully(file_.fd, file_.path, "", 1, size - 1) : Status{};
    }

    Status begin_writing(Comm& comm, const StorageOptions& options, bool writer, Status status) {
        if (status.ok() && options.inspects) status = check_identity(file_.path, options.claimed);
        if (status.ok() && (writer || header_writer_ || first_))
            status = file_.sums.begin(file_.path, *file_.definitions, {}, options, first_);
        if (status.ok() && (writer || header_writer_)) status = file_.open_file();
        return options.alone ? status : agree(comm, status);
    }

    void begin(Comm& comm, const std::string& path, const Definitions& definitions,
               const StorageOptions& options) {
        file_.begin(path, definitions, options);
        first_ = comm.rank() == 0;
        header_writer_ = comm.rank() == options.header_writer;
    }

    FileWithSums file_{counts_};
    FileMap map_;
    bool first_ = false;
    bool header_writer_ = false;  ///< this rank writes the record count
};

}  // namespace

std::unique_ptr<Storage> make_posix_storage() { return std::make_unique<PosixStorage>(); }

}  // namespace thalweg::detail
