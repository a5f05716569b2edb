// Classic formats by plain writes to disjoint ranges: no MPI in the write path.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/clock.hpp"
#include "storage/classic/header.hpp"
#include "storage/posix/plain_file.hpp"
#include "storage/posix/system.hpp"
#include "storage/sums/writer.hpp"

namespace thalweg::detail {

namespace {

class PosixStorage final : public PlainFile {
public:
    const char* name() const override { return "posix"; }
    Order order() const override { return Order::big_endian; }
    bool opens_alone() const override { return true; }

    Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                  const StorageOptions& options, bool writer, FileMap& map) override {
        Status status = alone([&]() -> Status {
            begin(comm, path, definitions, options);
            NoSizeSignal guard;
            Status own = first_ ? create_classic_header(path, definitions, options, map)
                                : lay_out_classic(path, definitions, options, map);
            map_ = map;
            return own;
        });
        if (!options.is_there) status = agree(comm, status);
        return begin_writing(comm, options, writer, std::move(status));
    }

    Status open(Comm& comm, const std::string& path, const Definitions& definitions,
                const StorageOptions& options, bool writer, FileMap& map) override {
        Status status = alone([&]() -> Status {
            begin(comm, path, definitions, options);
            map_ = map;
            if (!first_) return {};
            return keep_records(path, format_, map, kept_, options.durable);
        });
        return begin_writing(comm, options, writer, std::move(status));
    }

    void begin_boxes() override { sums_.leave_piece(); }

    Status write(std::span<const Chunk> chunks) override {
        Status status = sums_.before(chunks);
        if (status.ok()) status = PlainFile::write(chunks);
        return status.ok() ? sums_.note(chunks) : status;
    }

    Status complete() override { return sums_.end_step(); }
    Status end_unit(std::int64_t, bool) override { return sums_.end_step(); }

    Status sync() override {
        Status status = PlainFile::sync();
        return status.ok() ? sums_.sync() : status;
    }

    Status set_records(std::int64_t records, bool durable) override {
        if (!keeper_) return {};
        Status status = write_record_count(fd_, path_, format_, std::max(records, kept_));
        if (status.ok() && durable) status = sync();
        return status;
    }

    Status close(std::int64_t records,
                 const std::vector<std::pair<int, Attribute>>& late) override {
        NoSizeSignal guard;
        Status status = close_file();
        if (Status closed = sums_.close(); status.ok()) status = std::move(closed);
        records = std::max(records, kept_);
        if (first_ && status.ok()) status = extend(path_, map_.size(records));
        if (first_ && status.ok())
            status = add_attributes(path_, *definitions_, map_, format_, records, late, durable_);
        if (first_ && status.ok() && durable_) status = sync_closed(path_);
        return status;
    }

private:
    Status begin_writing(Comm& comm, const StorageOptions& options, bool writer, Status status) {
        if (status.ok())
            status = alone([&] {
                Status own = options.inspects ? check_identity(path_, options.claimed) : Status{};
                if (!own.ok() || !(writer || keeper_ || first_)) return own;
                own = sums_.begin(path_, *definitions_, {}, options, first_);
                return own.ok() && (writer || keeper_) ? open_file() : own;
            });
        return options.alone ? status : agree(comm, status);
    }

    void begin(Comm& comm, const std::string& path, const Definitions& definitions,
               const StorageOptions& options) {
        path_ = path;
        definitions_ = &definitions;
        format_ = options.format;
        wording_ = options.wording;
        kept_ = options.existing.kept;
        durable_ = options.durable;
        throttle_ = Throttle(options.rate);
        first_ = comm.rank() == 0;
        keeper_ = comm.rank() == options.keeper;
    }

    SumsWriter sums_;
    Format format_ = Format::cdf2;
    std::int64_t kept_ = 0;  ///< number of records in the file when it was opened
    bool first_ = false, durable_ = false;
    bool keeper_ = false;  ///< this rank writes the record count
};

}  // namespace

std::unique_ptr<Storage> make_posix_storage() { return std::make_unique<PosixStorage>(); }

}  // namespace thalweg::detail
