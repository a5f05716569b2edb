// SPDX-License-Identifier: Apache-2.0
#include "dataset/completion.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>

#include "base/system/ignore_sigxfsz.hpp"
#include "base/trace.hpp"
#include "publish/checksums.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"
#include "storage/source.hpp"
#include "storage/tiles/tiles.hpp"
#include "storage/zarr/metadata.hpp"
#include "storage/zarr/store/contents.hpp"

namespace thalweg::detail {

namespace {

/// Completes the checksums in this rank's part of the table. Local.
Status complete_own(const FileContext& file) {
    const int rank = file.team.rank(), size = file.team.size();
    const bool durable = file.options.durable;
    if (file.in_files()) {
        for (int k = rank;; k += size) {
            std::string data;
            Status s = find_data_path(tile_path(file.path, k), file.options.live, data);
            if (!s.ok() || access(data.c_str(), F_OK) != 0) return s;
            if (has_sums(data)) s = complete_sums(data, 0, 1, durable);
            if (!s.ok()) return s;
        }
    }
    if (file.format == Format::zarr) return {};  // they are in the chunks
    if (file.options.by_variable) {
        const std::vector<std::string> files = files_at(file.data_path);
        for (std::size_t i = rank; i < files.size(); i += size)
            if (Status s = complete_sums(files[i], 0, 1, durable); !s.ok()) return s;
        return {};
    }
    if (!has_sums(file.data_path)) return {};  // drivers without files write no checksums
    return complete_sums(file.data_path, rank, size, durable);
}

/// Reads a value of a record variable that has one value per record.
Status read_number(Source& source, int variable, std::int64_t record, double& number) {
    const Variable& v = source.definitions().variables[variable];
    const std::vector<SourcePart> parts = source.parts(variable, 1);
    std::array<char, 8> bytes{};
    ReadRange range{variable, record, &parts.front(), 0, 1, bytes.data()};
    Status status = source.check(variable, record);
    if (status.ok()) status = source.read({&range, 1});
    if (source.order(variable) == Order::big_endian)
        std::reverse(bytes.begin(), bytes.begin() + v.element());
    number = number_of(v.type, bytes.data());
    return status;
}

/// Formats a time as JSON, which has no NaN and no infinities.
std::string number_text(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

/// Finds the coordinate variable of the record dimension; -1 if there is none with numbers.
int find_coordinate(const Definitions& d) {
    const int dim = d.record_dim();
    const int at = dim < 0 ? -1 : d.find_variable(d.dims[dim].name);
    if (at < 0) return -1;
    const Variable& v = d.variables[at];
    return v.record && v.shape.empty() && valid_type(v.type) && v.type != TW_CHAR ? at : -1;
}

/// Adds records and times of a file to a line of the manifest.
Status describe_contents(const std::string& path, std::string& line) {
    const std::unique_ptr<Comm> comm = make_serial_comm();
    Status status;
    const std::unique_ptr<Source> source = open_source(*comm, path, true, status);
    if (!source) return status;
    const std::int64_t records = source->records();
    line += fmt::format(",\"records\":{}", records);
    const int time = find_coordinate(source->definitions());
    if (time < 0 || records == 0) return {};
    double first = 0, last = 0;
    status = read_number(*source, time, 0, first);
    if (status.ok()) status = read_number(*source, time, records - 1, last);
    line += fmt::format(",\"time\":[{},{}]", number_text(first), number_text(last));
    return status;
}

/// Adds the size and the checksum of a file, or of all files of a set together.
Status describe_bytes(const FileContext& file, std::string& line) {
    const std::vector<std::string> files = files_at(file.path);
    std::int64_t bytes = 0;
    if (file.format == Format::zarr)
        if (Status s = add_bytes(file.path, bytes); !s.ok()) return s;
    bool summed = file.options.checksums && !files.empty();
    SumStream sums;
    Sum sum{};
    sums.begin();
    for (const std::string& path : files) {
        struct stat info {};
        if (stat(path.c_str(), &info) != 0) return system_failure(path, "cannot get its size");
        bytes += info.st_size;
        summed = summed && has_sums(path);
        if (!summed) continue;
        if (Status s = sum_of_sums(path, sum); !s.ok()) return s;
        sums.add(reinterpret_cast<const char*>(sum.data()), std::ssize(sum));
    }
    line += fmt::format(",\"bytes\":{}", bytes);
    if (summed)
        line += fmt::format(",\"checksum\":\"{}\"", text_of(files.size() == 1 ? sum : sums.end()));
    return {};
}

/// Appends a line by a single write, so that lines of several runs do not mix.
Status append_line(const std::string& path, const std::string& line, bool durable) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return system_failure(path, "cannot open for writing");
    IgnoreSigxfsz guard;
    ssize_t n = 0;
    do n = ::write(fd, line.data(), line.size());
    while (n < 0 && errno == EINTR);
    Status status;
    if (n < 0)
        status = system_failure(path, "cannot add a line");
    else if (n != std::ssize(line))
        status = failure(TW_EIO, "{}: cannot add a line: only {} of {} bytes were written", path, n,
                         line.size());
    if (status.ok() && durable) status = sync_file(fd, path, true);
    if (close_file(fd) != 0 && status.ok()) status = system_failure(path, "cannot close");
    return status;
}

Status make_line(const FileContext& file, std::string& line) {
    line = "{\"name\":" + json_string(file.path);
    if (Status s = describe_contents(file.path, line); !s.ok()) return s;
    if (Status s = describe_bytes(file, line); !s.ok()) return s;
    line += ",\"run\":" + json_string(file.options.run) + "}\n";
    return {};
}

}  // namespace

Status complete_checksums(FileContext& file) {
    if (!file.options.checksums) return {};
    const Span span("checksums");
    return file.team.agree(catch_errors([&] { return complete_own(file); }));
}

Status add_to_manifest(FileContext& file) {
    const FileOptions& o = file.options;
    if (o.manifest.empty()) return {};
    Status status;
    if (file.team.rank() == 0) {
        std::string line;
        status = make_line(file, line);
        if (status.ok()) status = append_line(o.manifest, line, o.durable);
        if (!status.ok())
            status.text += fmt::format(" ({} is complete, but is not in the manifest {})",
                                       file.path, o.manifest);
    }
    return file.team.agree(status);
}

}  // namespace thalweg::detail
