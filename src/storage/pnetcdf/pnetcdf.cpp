// Classic formats by PnetCDF's collective MPI-IO: for file systems on which plain writes from
// several nodes are not coherent, and as the papers' own method.
// SPDX-License-Identifier: Apache-2.0
#include <pnetcdf.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <deque>

#include "base/clock.hpp"
#include "base/system/bypass_shim.hpp"
#include "base/trace.hpp"
#include "storage/checksums/writer.hpp"
#include "storage/classic/header.hpp"
#include "storage/pnetcdf/mpi_io.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

Status pnetcdf_status(int code, const std::string& path, const std::string& what) {
    if (code == NC_NOERR) return {};
    return with_cause(failure(TW_ENETCDF, "{}: {}: {} ({})", OfFile{path}, what,
                              ncmpi_strerror(code), ncmpi_strerrno(code)));
}

class PnetcdfStorage final : public Storage {
public:
    StorageTraits traits() const override {
        return {.name = "pnetcdf",
                .order = Order::native,
                .takes_boxes = false,
                .header_writer_counts = false};
    }
    bool collective() const override { return true; }

    Status create(Comm& comm, const std::string& path, const Definitions& definitions,
                  const StorageOptions& options, bool writer, FileMap& map) override {
        Status status = check_mpi(comm, path);
        if (!status.ok()) return status;
        begin(comm, path, definitions, options, writer);
        const BypassShim untaken;
        IgnoreSigxfsz guard;
        status = create_with_hints(options, writer);
        if (status = agree(comm, status); !status.ok()) return status;
        if (first_) status = create_classic_header(path, definitions, options, true, map);
        if (status = agree(comm, status); !status.ok()) return status;
        broadcast(comm, map, 0);
        map_ = map;
        return open_for_writing(comm, options, writer);
    }

    Status open(Comm& comm, const std::string& path, const Definitions& definitions,
                const StorageOptions& options, bool writer, FileMap& map) override {
        Status status = check_mpi(comm, path);
        if (!status.ok()) return status;
        begin(comm, path, definitions, options, writer);
        map_ = map;
        existing_ = options.existing;
        if (first_) status = keep_records(path, format_, map, existing_.kept, options.durable);
        if (status = agree(comm, status); !status.ok()) return status;
        return open_for_writing(comm, options, writer);
    }

    /// Reserves space for data before they are written, because Open MPI's MPI-IO reports success
    /// even if the disk is full.
    Status reserve(std::int64_t offset, std::int64_t bytes) override {
        if (!first_ || bytes == 0) return {};
        if (fd_ < 0) fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd_ < 0) return system_failure(path_, "cannot open for writing");
        const BypassShim untaken;
        IgnoreSigxfsz guard;
        if (has_space(fd_, 0, offset, bytes)) return {};
        return system_failure(path_,
                              fmt::format("cannot write {} bytes at offset {}", bytes, offset));
    }

    Status write(std::span<const Chunk> chunks) override {
        Stopwatch watch(counts_.seconds);
        const BypassShim untaken;
        IgnoreSigxfsz guard;
        // A request is for one variable and one record. It consists of boxes.
        std::vector<Request> requests;
        for (const Chunk& c : chunks) {
            const Variable& v = definitions_->variables[c.variable];
            if (requests.empty() || requests.back().variable != c.variable ||
                requests.back().record != c.record ||
                requests.back().data + requests.back().elements * std::int64_t(v.element()) !=
                    c.data)
                requests.push_back({c.variable, c.record, c.data, 0, {}});
            Request& r = requests.back();
            r.elements += c.elements;
            if (c.box != nullptr)
                r.boxes.push_back(*c.box);
            else
                for_boxes_of_range(v.shape, c.first, c.first + c.elements,
                                   [&](const Box& box) { r.boxes.push_back(box); });
        }
        Status status = sums_.note_open(chunks, false);
        Status written = blocking_ ? write_blocking(requests) : write_posted(requests);
        return status.ok() ? written : status;
    }

    Status set_records(std::int64_t records, bool durable) override {
        if (!open_ || records == 0) return {};
        const BypassShim untaken;
        Status status = pnetcdf_status(ncmpi_sync_numrecs(ncid_), path_, "number of records");
        if (durable) {
            Status synced = sync();
            if (status.ok()) status = std::move(synced);
        }
        return status;
    }

    Status sync() override {
        const BypassShim untaken;
        return open_ ? pnetcdf_status(ncmpi_sync(ncid_), path_, "cannot sync") : Status{};
    }

    Status close(std::int64_t records, const LateAttributes& late) override {
        const BypassShim untaken;
        IgnoreSigxfsz guard;
        Status status = sums_.close();
        records = std::max(records, existing_.kept);
        if (open_) {
            Status closed = pnetcdf_status(ncmpi_close(ncid_), path_, "cannot close");
            if (!closed.ok()) status = std::move(closed);
        }
        open_ = false;
        fd_ = -1;
        if (!first_) return status;
        if (status.ok())
            status = with_file(path_, O_WRONLY, [&](int fd) { return complete_file(fd, records); });
        if (!status.ok()) return status;
        return complete_classic(path_, *definitions_, map_, format_, records, late, durable_);
    }

private:
    static Status check_mpi(const Comm& comm, const std::string& path) {
        if (comm.handle() != MPI_COMM_NULL) return {};
        return failure(TW_EMPI,
                       "{}: storage=pnetcdf needs MPI, which was not running when tw_init_serial "
                       "was called: call MPI_Init before",
                       OfFile{path});
    }

    void begin(Comm& comm, const std::string& path, const Definitions& definitions,
               const StorageOptions& options, bool writer) {
        definitions_ = &definitions;
        blocking_ = options.blocking;
        format_ = options.format;
        throttle_ = Throttle(options.rate);
        first_ = comm.rank() == 0;
        durable_ = options.durable;
        path_ = path;
        writers_ = comm.split(writer ? 0 : -1, comm.rank());
        choose_mpi_io();
    }

    /// Creates the file by MPI-IO with an empty header, because a file's stripes can only be set
    /// when it is created.
    /// @note Collective over the writers
    Status create_with_hints(const StorageOptions& options, bool writer) {
        if (!writer || (options.stripe_count <= 0 && options.stripe_size <= 0)) return {};
        MPI_Info hints = hints_of(options);
        int code = ncmpi_create(writers_->handle(), path_.c_str(), NC_CLOBBER, hints, &ncid_);
        MPI_Info_free(&hints);
        if (code == NC_NOERR) code = ncmpi_close(ncid_);
        return pnetcdf_status(code, path_, "cannot create");
    }

    /// Opens the file on the writers.
    /// @note Collective over comm
    Status open_for_writing(Comm& comm, const StorageOptions& options, bool writer) {
        const BypassShim untaken;
        Status status;
        if (writer || first_) status = sums_.begin(path_, *definitions_, {}, options, first_);
        if (status = agree(comm, status); !status.ok()) return status;
        if (writer) {
            MPI_Info hints = hints_of(options);
            const int code = ncmpi_open(writers_->handle(), path_.c_str(), NC_WRITE, hints, &ncid_);
            MPI_Info_free(&hints);
            status = pnetcdf_status(code, path_, "cannot open for writing");
            open_ = status.ok();
            if (open_) status = check_mpi_io(path_);
        }
        status = agree(comm, status);
        if (!status.ok() && open_) ncmpi_abort(ncid_);
        open_ &= status.ok();
        return status;
    }

    /// Returns hints with the names that MPI reserves (MPI 3.1, section 13.2.8). MPI libraries
    /// ignore hints that they do not support.
    static MPI_Info hints_of(const StorageOptions& options) {
        MPI_Info info = MPI_INFO_NULL;
        MPI_Info_create(&info);
        if (options.stripe_count > 0)
            MPI_Info_set(info, "striping_factor", std::to_string(options.stripe_count).c_str());
        if (options.stripe_size > 0)
            MPI_Info_set(info, "striping_unit", std::to_string(options.stripe_size).c_str());
        return info;
    }

    struct Request {
        int variable;
        std::int64_t record;
        const char* data;
        std::int64_t elements;
        std::vector<Box> boxes;
    };

    /// The arguments of a request in the form that PnetCDF takes. They must be valid until the
    /// request is complete.
    struct Arguments {
        std::vector<MPI_Offset> numbers;
        std::vector<MPI_Offset*> starts, counts;
    };

    Arguments arguments(const Request& r) const {
        const Variable& v = definitions_->variables[r.variable];
        const std::size_t nd = v.dims.size();
        Arguments a;
        a.numbers.reserve(2 * nd * r.boxes.size());
        for (const Box& box : r.boxes) {
            for (int part = 0; part < 2; ++part) {
                if (v.record) a.numbers.push_back(part == 0 ? r.record : 1);
                const auto& from = part == 0 ? box.low : box.count;
                a.numbers.insert(a.numbers.end(), from.begin(), from.begin() + box.nd);
            }
        }
        for (std::size_t i = 0; i < r.boxes.size(); ++i) {
            a.starts.push_back(a.numbers.data() + 2 * nd * i);
            a.counts.push_back(a.numbers.data() + 2 * nd * i + nd);
        }
        return a;
    }

    static MPI_Datatype mpi_type(tw_type type) {
        switch (type) {
            case TW_BYTE: return MPI_SIGNED_CHAR;
            case TW_CHAR: return MPI_CHAR;
            case TW_SHORT: return MPI_SHORT;
            case TW_INT: return MPI_INT;
            case TW_FLOAT: return MPI_FLOAT;
            case TW_DOUBLE: return MPI_DOUBLE;
            case TW_UBYTE: return MPI_UNSIGNED_CHAR;
            case TW_USHORT: return MPI_UNSIGNED_SHORT;
            case TW_UINT: return MPI_UNSIGNED;
            case TW_INT64: return MPI_LONG_LONG_INT;
            case TW_UINT64: return MPI_UNSIGNED_LONG_LONG;
        }
        return MPI_BYTE;
    }

    const Variable& variable(const Request& r) const { return definitions_->variables[r.variable]; }

    std::int64_t bytes_of(const Request& r) const { return r.elements * variable(r).element(); }

    /// Posts some requests and waits for them, together with all writers.
    Status write_posted(std::span<const Request> requests) {
        std::deque<Arguments> kept;
        Status status;
        std::int64_t bytes = 0;
        Span span("write");
        throttle_.begin();
        for (const Request& r : requests) {
            kept.push_back(arguments(r));
            bytes += bytes_of(r);
            const int code = ncmpi_iput_varn(
                ncid_, r.variable, static_cast<int>(r.boxes.size()), kept.back().starts.data(),
                kept.back().counts.data(), r.data, r.elements, mpi_type(variable(r).type), nullptr);
            if (status.ok()) status = pnetcdf_status(code, path_, variable(r).name);
        }
        const int code = ncmpi_wait_all(ncid_, NC_REQ_ALL, nullptr, nullptr);
        counts_.count(bytes);
        span.bytes(bytes);
        throttle_.moved(bytes);
        if (status.ok()) status = pnetcdf_status(code, path_, "cannot write");
        return status;
    }

    /// Writes by one collective call per variable. All writers take part in it, even without data.
    Status write_blocking(const std::vector<Request>& requests) {
        std::vector<std::int64_t> boxes(definitions_->variables.size(), 0);
        for (const Request& r : requests) boxes[r.variable] += r.boxes.size();
        if (!boxes.empty()) writers_->all_reduce(boxes, Reduce::max);
        Status status;
        for (std::size_t v = 0; v < boxes.size(); ++v) {
            if (boxes[v] == 0) continue;
            std::vector<Request> own;
            for (const Request& r : requests)
                if (r.variable == static_cast<int>(v)) own.push_back(r);
            Status written = write_posted(own);
            if (status.ok()) status = std::move(written);
        }
        return status;
    }

    /// Writes the record count to the header without PnetCDF, which would count each record from
    /// its first write on, even if it is incomplete. Then writes the padding after variables of odd
    /// size, which PnetCDF leaves undefined and netCDF fills. Padding of records that an existing
    /// file had is left alone.
    Status complete_file(int fd, std::int64_t records) const {
        Status status = write_record_count(fd, path_, format_, records);
        for (std::size_t i = 0; i < definitions_->variables.size() && status.ok(); ++i) {
            const Variable& v = definitions_->variables[i];
            const std::int64_t size = v.element();
            const std::int64_t bytes = v.elements() * size, pad = map_.padded[i] - bytes;
            if (pad <= 0 || (existing_.is && !v.record)) continue;
            const FillValue fill = v.fill_value(Order::big_endian);
            char padding[8];
            for (std::int64_t b = 0; b < pad; ++b) padding[b] = fill[b % size];
            const std::int64_t begin = map_.offset[i] + bytes, n = v.record ? records : 1;
            for (std::int64_t r = existing_.first; r < n && status.ok(); ++r)
                status = write_fully(fd, path_, padding, pad, begin + r * map_.record_bytes);
            if (!status.ok())
                reword(status, "{} (padding of '{}')", status.text, OfVariable{v.name});
        }
        return status;
    }

    std::string path_;
    const Definitions* definitions_ = nullptr;
    std::unique_ptr<Comm> writers_;
    FileMap map_;
    Format format_ = Format::cdf2;
    Existing existing_;
    int ncid_ = -1;
    Descriptor fd_;  ///< on rank 0, to reserve space
    SumsWriter sums_;
    bool open_ = false, blocking_ = false, first_ = false, durable_ = false;
};

}  // namespace

std::unique_ptr<Storage> make_pnetcdf_storage() { return std::make_unique<PnetcdfStorage>(); }

}  // namespace thalweg::detail
