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

class PosixStorage final : public FileWithSums {
public:
    StorageTraits traits() const override { return {.name = "posix", .opens_alone = true}; }

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

    Status set_records(std::int64_t records, bool durable) override {
        if (!header_writer_) return {};
        if (Status s = need_file(); !s.ok()) return s;
        Status status = write_record_count(fd_, path_, options_.format,
                                           std::max(records, options_.existing.kept));
        if (status.ok() && durable) status = sync();
        return status;
    }

    bool closes_early() const override { return !options_.checksums; }
    /// A file that is written under its final name stays open, as it may lose this name.
    Status close_early() override {
        Descriptor kept = options_.live && fd_ >= 0 ? fcntl(fd_, F_DUPFD_CLOEXEC, 0) : -1;
        Status status = close_file();
        fd_ = std::move(kept);
        return status;
    }

    Status close(std::int64_t records, const LateAttributes& late) override {
        IgnoreSigxfsz guard;
        Descriptor kept;
        const std::string place = options_.live ? find_place(kept) : std::string();
        Status status = close_files();
        records = std::max(records, options_.existing.kept);
        if (!first_ || !status.ok()) return status;
        return complete_classic(place.empty() ? path_ : place, *definitions_, map_, options_.format,
                                records, late, options_.durable);
    }

private:
    /// Returns a path of the open file if it has been renamed or removed; otherwise nothing.
    /// @param kept  receives a descriptor that must stay open as long as the path is used
    std::string find_place(Descriptor& kept) const {
        struct stat mine {
        }, named{};
        if (fd_ < 0 || fstat(fd_, &mine) != 0) return {};
        if (stat(path_.c_str(), &named) == 0 && named.st_ino == mine.st_ino &&
            named.st_dev == mine.st_dev)
            return {};
        kept = fcntl(fd_, F_DUPFD_CLOEXEC, 0);
        return kept < 0 ? std::string() : fmt::format("/proc/self/fd/{}", static_cast<int>(kept));
    }

    Status begin_writing(Comm& comm, const StorageOptions& options, bool writer, Status status) {
        if (status.ok() && options.inspects) status = check_identity(path_, options.claimed);
        if (status.ok() && (writer || header_writer_ || first_))
            status = sums_.begin(path_, *definitions_, {}, options, first_);
        if (status.ok() && (writer || header_writer_)) status = open_file();
        return options.alone ? status : agree(comm, status);
    }

    void begin(Comm& comm, const std::string& path, const Definitions& definitions,
               const StorageOptions& options) {
        PlainFile::begin(path, definitions, options);
        first_ = comm.rank() == 0;
        header_writer_ = comm.rank() == options.header_writer;
    }

    FileMap map_;
    bool first_ = false;
    bool header_writer_ = false;  ///< this rank writes the record count
};

}  // namespace

std::unique_ptr<Storage> make_posix_storage() { return std::make_unique<PosixStorage>(); }

}  // namespace thalweg::detail
