// SPDX-License-Identifier: Apache-2.0
#include "publish/checksums.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <tuple>
#include <utility>

#include "base/crc32c.hpp"
#include "base/wire.hpp"
#include "storage/checksums/table.hpp"
#include "storage/chunked/chunk_grid.hpp"
#include "storage/chunked/filters.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"
#include "storage/source.hpp"
#include "storage/tiles/tiles.hpp"
#include "storage/variables/variables.hpp"
#include "storage/zarr/store/contents.hpp"

namespace thalweg::detail {

namespace {

/// Number of checksums that are read at a time.
constexpr std::int64_t block = 4096;
/// Number of checksums for which an additional rank is worth the time to open the file.
constexpr std::int64_t worth_a_rank = 1024;

/// Finds the path of a file's checksums. Symbolic links are followed first, because checksums are
/// beside the file itself.
Status sums_of(const std::string& data, std::string& path) {
    std::string own;
    Status status = follow_links(data, own);
    path = sums_path(own);
    return status;
}

/// A data file together with its table of checksums.
class SummedFile {
public:
    Status open_table(const std::string& data, int flags) {
        data_ = data;
        if (Status s = sums_of(data, path_); !s.ok()) return s;
        fd_ = ::open(path_.c_str(), flags | O_CLOEXEC);
        if (fd_ < 0 && errno == ENOENT)
            return failure(TW_ENOTFOUND, "{}: it has no checksums: {} does not exist", data, path_);
        if (fd_ < 0) return system_failure(path_, "cannot open");
        if (Status s = table_.read(fd_, path_); !s.ok()) return s;
        struct stat info {};
        if (fstat(fd_, &info) != 0) return system_failure(path_, "cannot get its size");
        pieces_ = (info.st_size - table_.offset(0)) / std::int64_t(sizeof(Sum));
        if (table_.pieces(1) == table_.pieces(0)) pieces_ = std::min(pieces_, table_.pieces(0));
        return {};
    }

    Status open_data() {
        comm_ = make_serial_comm();
        Status status;
        source_ = open_source(*comm_, data_, true, status);
        if (!source_) return status;
        for (const SummedVariable& v : table_.variables()) of_.push_back(find(v));
        return {};
    }

    /// Closes the file of checksums after writing to it.
    Status close() {
        if (close_file(fd_.release()) == 0) return {};
        return system_failure(path_, "cannot close");
    }

    const SumsTable& table() const { return table_; }
    Source& source() { return *source_; }
    /// Returns the number of checksums in the table.
    std::int64_t pieces() const { return pieces_; }
    /// Returns the number of the table's variable in the data file; -1 if the file lacks it.
    int in_file(int variable) const { return of_[variable]; }
    const std::string& path() const { return path_; }
    int descriptor() const { return fd_; }

    /// Reads checksums. Those past the end of the table are returned as missing, because the table
    /// may be cut meanwhile.
    Status read(std::int64_t index, std::span<Sum> sums) {
        std::fill(sums.begin(), sums.end(), no_sum);
        const std::int64_t bytes = sums.size_bytes();
        if (read_some(fd_, reinterpret_cast<char*>(sums.data()), bytes, table_.offset(index)) >= 0)
            return {};
        return system_failure(path_, "cannot read");
    }

    /// Reads a piece of the data and computes its checksum.
    /// @param sum  receives no_sum if the piece is a chunk that was never written
    Status sum(const SumsTable::Place& at, Sum& sum, std::int64_t& bytes) {
        const SummedVariable& v = table_.variables()[at.variable];
        const int variable = of_[at.variable];
        if (v.chunks) {
            if (Status s = source_->read_stored(variable, at.record, at.number, data_bytes_);
                !s.ok())
                return s;
        } else {
            const Variable& of = source_->definitions().variables[variable];
            const std::int64_t begin = at.number * SumsTable::piece;
            data_bytes_.resize(std::min(SumsTable::piece, v.bytes - begin));
            whole_.box = whole_box(of.shape);
            ReadRange range{variable, at.record, &whole_, begin / of.element()};
            range.elements = std::ssize(data_bytes_) / of.element();
            range.to = data_bytes_.data();
            Status status = source_->check(variable, at.record);
            if (status.ok()) status = source_->read({&range, 1});
            if (!status.ok()) return status;
        }
        bytes = std::ssize(data_bytes_);
        sum = v.chunks && bytes == 0 ? no_sum : sum_of(data_bytes_.data(), bytes);
        return {};
    }

    /// Tests if a chunk, which holds several records, belongs to an earlier record than this one.
    bool is_shared(const SumsTable::Place& at) const {
        const SummedVariable& v = table_.variables()[at.variable];
        if (!v.chunks || !v.record) return false;
        const auto chunk = source_->contents().variables[of_[at.variable]].storage.chunk;
        return !chunk.empty() && at.record % chunk.front() != 0;
    }

private:
    int find(const SummedVariable& v) const {
        const Definitions& d = source_->definitions();
        const int at = d.find_variable(v.name);
        if (at < 0) return -1;
        const Variable& there = d.variables[at];
        if (there.record != v.record || there.elements() * there.element() != v.bytes) return -1;
        return v.chunks && chunks_of(at) != v.pieces ? -1 : at;
    }

    std::int64_t chunks_of(int variable) const {
        const Variable& v = source_->definitions().variables[variable];
        const auto& chunk = source_->contents().variables[variable].storage.chunk;
        return chunk.size() == v.dims.size() ? grid_of(v, chunk).chunks() : 0;
    }

    std::string data_, path_;
    Descriptor fd_;
    SumsTable table_;
    std::int64_t pieces_ = 0;
    std::unique_ptr<Comm> comm_;
    std::unique_ptr<Source> source_;
    std::vector<int> of_;
    std::vector<char> data_bytes_;
    SourcePart whole_;
};

/// Calls visit(index, checksum) for the checksums in one part of the table, until a call fails.
template <class Visit>
Status for_sums(SummedFile& file, std::int64_t begin, std::int64_t end, Visit&& visit) {
    std::vector<Sum> sums;
    Status status;
    for (std::int64_t at = begin; at < end && status.ok(); at += block) {
        sums.resize(std::min(block, end - at));
        status = file.read(at, sums);
        for (std::int64_t i = 0; i < std::ssize(sums) && status.ok(); ++i)
            status = visit(at + i, sums[i]);
    }
    return status;
}

bool is_wanted(std::span<const std::string> only, const std::string& name) {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
}

void add_fault(const SummedVariable& v, const SumsTable::Place& at, SumsFault::Kind kind,
               SumsReport& report) {
    const std::int64_t begin = v.chunks ? at.number : at.number * SumsTable::piece;
    const std::int64_t end = v.chunks ? -1 : std::min(begin + SumsTable::piece, v.bytes);
    report.faults.push_back({at.variable, v.record ? at.record : -1, kind, 1, begin, end});
}

/// Compares a piece of a variable with its checksum.
void compare_piece(SummedFile& file, const SumsTable::Place& at, const Sum& expected,
                   SumsReport& report) {
    const SummedVariable& v = file.table().variables()[at.variable];
    if (expected == open_sum) return add_fault(v, at, SumsFault::unknown, report);
    Sum found;
    std::int64_t bytes = 0;
    // Bytes that cannot be read, and chunks with an invalid place, count as mismatches.
    Status status = file.sum(at, found, bytes);
    ++report.pieces;
    report.bytes += bytes;
    if (status.ok() && found == expected) return;
    if (status.ok() && expected == no_sum) {
        if (!file.is_shared(at)) add_fault(v, at, SumsFault::unknown, report);
        return;
    }
    add_fault(v, at, SumsFault::mismatch, report);
    if (status.code == TW_EIO && report.unreadable.ok()) report.unreadable = std::move(status);
}

/// Joins all faults of the same kind that are in one variable and record.
void join_faults(std::vector<SumsFault>& faults) {
    const auto key = [](const SumsFault& f) { return std::tie(f.record, f.variable, f.kind); };
    std::sort(faults.begin(), faults.end(), [&](const SumsFault& a, const SumsFault& b) {
        return std::tuple_cat(key(a), std::tie(a.begin)) <
               std::tuple_cat(key(b), std::tie(b.begin));
    });
    std::size_t n = 0;
    for (const SumsFault& f : faults) {
        if (n > 0 && key(faults[n - 1]) == key(f))
            faults[n - 1].pieces += f.pieces;
        else
            faults[n++] = f;
    }
    faults.resize(n);
}

/// Adds the faults that concern whole variables and whole records. The result is the same on every
/// rank.
void add_whole(SummedFile& file, std::span<const std::string> only, SumsReport& report) {
    const SumsTable& table = file.table();
    const Definitions& d = file.source().definitions();
    for (std::size_t i = 0; i < table.variables().size(); ++i)
        if (file.in_file(i) < 0 && is_wanted(only, table.variables()[i].name))
            report.faults.push_back({std::int64_t(i), -1, SumsFault::missing});
    for (const Variable& v : d.variables)
        if (table.variables().find(v.name) < 0 && is_wanted(only, v.name)) {
            report.faults.push_back({std::ssize(report.variables), -1, SumsFault::unknown});
            report.variables.push_back(v.name);
        }
    const std::int64_t last = table.records(file.pieces());
    for (std::int64_t record = report.records; record < last; ++record)
        for (std::size_t i = 0; i < table.variables().size(); ++i)
            if (table.variables()[i].record && file.in_file(i) >= 0 &&
                is_wanted(only, table.variables()[i].name))
                report.faults.push_back({std::int64_t(i), record, SumsFault::missing});
}

/// Collects the faults of all ranks on all of them. @note Collective
void share_faults(Comm& comm, std::vector<SumsFault>& faults) {
    const auto all = comm.gather(message_of(faults), 0);
    faults.clear();
    for (const std::vector<char>& of : all)
        for (const SumsFault& f : value_in<std::vector<SumsFault>>(of)) faults.push_back(f);
    join_faults(faults);
    std::vector<char> joined = message_of(faults);
    comm.broadcast(joined, 0);
    faults = value_in<std::vector<SumsFault>>(joined);
}

/// Tests if the last bytes of a stored chunk of a Zarr store are the checksum of the others.
bool is_whole(const std::vector<char>& chunk) {
    std::uint32_t sum = 0;
    if (chunk.size() < sizeof sum) return false;
    const std::size_t n = chunk.size() - sizeof sum;
    for (std::size_t k = sizeof sum; k-- > 0;)
        sum = sum << 8 | static_cast<unsigned char>(chunk[n + k]);
    return sum == crc32c({chunk.data(), n});
}

/// Compares this rank's share of a store's chunks with their checksums.
Status check_chunks(const Comm& comm, Source& store, std::span<const std::string> only,
                    SumsReport& report) {
    std::vector<char> bytes;
    std::int64_t turn = 0, summed = 0;
    for (std::size_t i = 0; i < report.variables.size(); ++i) {
        const Variable& v = store.definitions().variables[i];
        const VariableStorage& its = store.contents().variables[i].storage;
        if (!is_wanted(only, v.name)) continue;
        const bool sums = !its.filters.empty() && its.filters.back().id == crc32c_filter;
        const auto variable = static_cast<std::int64_t>(i);
        if (!sums) report.faults.push_back({variable, -1, SumsFault::unknown});
        summed += sums ? 1 : 0;
        const std::int64_t chunks = sums ? grid_of(v, its.chunk).chunks() : 0;
        for (std::int64_t record = 0; record < (v.record ? report.records : 1); ++record)
            for (std::int64_t chunk = 0; chunk < chunks; ++chunk) {
                if (turn++ % comm.size() != comm.rank()) continue;
                Status status = store.read_stored(static_cast<int>(i), record, chunk, bytes);
                ++report.pieces;
                report.bytes += std::ssize(bytes);
                if (status.ok() && (bytes.empty() || is_whole(bytes))) continue;
                report.faults.push_back(
                    {variable, v.record ? record : -1, SumsFault::mismatch, 1, chunk, -1});
                if (status.code == TW_EIO && report.unreadable.ok())
                    report.unreadable = std::move(status);
            }
    }
    if (comm.rank() != 0)  // counted on rank 0
        std::erase_if(report.faults, [](const SumsFault& f) { return f.kind == f.unknown; });
    return summed > 0 || report.faults.empty() ? Status{}
                                               : failure(TW_ENOTFOUND, "it has no checksums");
}

Status check_store(const Comm& comm, const std::string& path, std::span<const std::string> only,
                   SumsReport& report) {
    Status status;
    const auto alone = make_serial_comm();
    const std::unique_ptr<Source> store = open_source(*alone, path, true, status);
    if (!store) return status;
    for (const Variable& v : store->definitions().variables) report.variables.push_back(v.name);
    report.records = store->records();
    status = check_chunks(comm, *store, only, report);
    reword(status, "{}: {}", path, status.text);
    return status;
}

}  // namespace

bool has_sums(const std::string& data) {
    std::string path;
    return sums_of(data, path).ok() && access(path.c_str(), F_OK) == 0;
}

std::vector<std::string> files_at(const std::string& path) {
    std::vector<std::string> files;
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        for (const std::string& name : netcdf_files(path))
            files.push_back((std::filesystem::path(path) / name).string());
        return files;
    }
    if (!is_tile_set(path)) return {path};
    for (int k = 0; access(tile_path(path, k).c_str(), F_OK) == 0; ++k)
        files.push_back(tile_path(path, k));
    return files;
}

Status check_sums(Comm& comm, const std::string& data, std::span<const std::string> only,
                  SumsReport& report) {
    report = {};
    SummedFile file;
    const Status mine = catch_errors([&]() -> Status {
        if (is_zarr_store(data)) return check_store(comm, data, only, report);
        if (Status s = file.open_table(data, O_RDONLY); !s.ok()) return s;
        if (Status s = file.open_data(); !s.ok()) return s;
        for (const SummedVariable& v : file.table().variables()) report.variables.push_back(v.name);
        report.records = file.source().records();
        add_whole(file, only, report);
        if (comm.rank() != 0) report.faults.clear();  // counted on rank 0
        const std::int64_t n = file.table().pieces(report.records);
        const std::int64_t size = comm.size(), rank = comm.rank();
        const auto compare = [&](std::int64_t index, const Sum& expected) {
            const SumsTable::Place at = file.table().place(index);
            if (is_wanted(only, report.variables[at.variable]) && file.in_file(at.variable) >= 0)
                compare_piece(file, at, expected, report);
            return Status{};
        };
        return for_sums(file, n / size * rank + std::min(n % size, rank),
                        n / size * (rank + 1) + std::min(n % size, rank + 1), compare);
    });
    if (Status status = agree(comm, mine); !status.ok()) return status;
    std::array<std::int64_t, 2> sums{report.pieces, report.bytes};
    comm.all_reduce(sums, Reduce::sum);
    report.pieces = sums[0];
    report.bytes = sums[1];
    share_faults(comm, report.faults);
    return {};
}

std::string describe(const std::string& path, const SumsReport& report, const SumsFault& fault) {
    const std::size_t v = fault.variable;
    std::string text = path + ": variable '" +
                       (v < report.variables.size() ? report.variables[v] : std::string()) + "'";
    if (fault.record >= 0) text += fmt::format(", record {}", fault.record);
    if (fault.kind == SumsFault::unknown) return text + ": it has no checksum";
    if (fault.kind == SumsFault::missing)
        return text + (fault.record >= 0 ? ": the file lacks the record"
                                         : ": the file has no such variable of the same shape");
    text += ": checksum mismatch in ";
    text += fault.end < 0 ? fmt::format("chunk {}", fault.begin)
                          : fmt::format("bytes {} to {}", fault.begin, fault.end - 1);
    if (fault.pieces > 1) text += fmt::format(" and {} more", fault.pieces - 1);
    return text;
}

Status complete_sums(const std::string& data, int part, int most, bool durable) {
    SummedFile file;
    if (Status s = file.open_table(data, O_RDWR); !s.ok()) return s;
    const auto parts_of = [&](std::int64_t pieces) {
        return std::clamp<std::int64_t>(pieces / worth_a_rank, 1, most);
    };
    if (part >= parts_of(file.pieces())) return {};
    if (Status s = file.open_data(); !s.ok()) return s;
    // Checksums of records that were begun, but not completed, are dropped: such records are not
    // part of the file. Another rank may drop them before or after this one has opened the table.
    const std::int64_t n = std::min(file.pieces(), file.table().pieces(file.source().records()));
    const std::int64_t parts = parts_of(n);
    if (part >= parts) return {};
    IgnoreSigxfsz guard;
    if (part == 0 && n < file.pieces() && ftruncate(file.descriptor(), file.table().offset(n)) != 0)
        return system_failure(file.path(), "cannot drop checksums");
    const auto complete = [&](std::int64_t index, const Sum& sum) -> Status {
        if (sum != open_sum) return {};
        const SumsTable::Place at = file.table().place(index);
        if (file.in_file(at.variable) < 0)
            return failure(TW_EFORMAT, "{}: variable '{}' is not in the file", file.path(),
                           file.table().variables()[at.variable].name);
        Sum found;
        std::int64_t bytes = 0;
        if (Status s = file.sum(at, found, bytes); !s.ok()) return s;
        return write_fully(file.descriptor(), file.path(),
                           reinterpret_cast<const char*>(found.data()), sizeof found,
                           file.table().offset(index));
    };
    Status status = for_sums(file, n * part / parts, n * (part + 1) / parts, complete);
    if (status.ok() && durable) status = sync_file(file.descriptor(), file.path(), true);
    return status.ok() ? file.close() : status;
}

Status sum_of_sums(const std::string& data, Sum& sum) {
    SummedFile file;
    if (Status s = file.open_table(data, O_RDONLY); !s.ok()) return s;
    SumStream stream;
    stream.begin();
    Status status = for_sums(file, 0, file.pieces(), [&](std::int64_t, const Sum& of) {
        stream.add(reinterpret_cast<const char*>(of.data()), sizeof of);
        return Status{};
    });
    sum = stream.end();
    return status;
}

}  // namespace thalweg::detail
