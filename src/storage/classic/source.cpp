// The source of the classic formats: plain reads.
// SPDX-License-Identifier: Apache-2.0
#include "storage/source.hpp"

#include <sys/stat.h>

#include <vector>

#include "base/clock.hpp"
#include "base/trace.hpp"
#include "base/waiting.hpp"
#include "base/work.hpp"
#include "storage/classic/header_reader.hpp"
#include "storage/posix/opened_file.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

/// Largest gap in bytes between two variables that is read along instead of skipped: the padding of
/// the format.
constexpr std::int64_t largest_gap = 4;

class ClassicSource final : public Source {
public:
    ClassicSource(std::string path, bool reader) : path_(std::move(path)), reader_(reader) {}

    Status open(Comm& comm) {
        Status status = get_header(comm, reader_, header_, &contents_.definitions, found_);
        contents_.format = header_.format;
        contents_.records = header_.records;
        contents_.header = &header_;
        contents_.variables.resize(definitions().variables.size());
        return agree(comm, status);
    }

    Status refresh(Comm& comm) override {
        ClassicHeader header;
        Found found;
        Status status = get_header(comm, false, header, nullptr, found);
        if (status.ok() && (header.format != header_.format || header.bytes != header_.bytes ||
                            header.map.offset != header_.map.offset))
            status = failure(TW_ESTATE, "{}: its definitions have changed; open it again",
                             OfFile{path_});
        if (status = agree(comm, status); !status.ok()) return status;
        header_ = std::move(header);
        found_ = found;
        contents_.records = header_.records;
        return {};
    }

    std::int64_t position(int variable, std::int64_t record) const override {
        return header_.map.offset[variable] +
               (definitions().variables[variable].record ? record * header_.map.record_bytes : 0);
    }

    Status check(int variable, std::int64_t record) const override {
        const Variable& v = definitions().variables[variable];
        const std::int64_t end = position(variable, record) + v.elements() * v.element();
        if (end <= found_.size) return {};
        return failure(TW_EIO,
                       "the file is truncated: it has {} bytes, but the data end at byte {}",
                       found_.size, end);
    }

    Status read(std::span<const ReadRange> ranges) override {
        Stopwatch watch(counts_.seconds);
        const Waiting system(the_file_system);
        if (Status status = file_.open_again(found_.opened); !status.ok()) return status;
        ChargedReads charged(path_);
        for (std::size_t i = 0; i < ranges.size();) {
            char* const to = ranges[i].to;
            const int variable = ranges[i].variable;
            const std::int64_t begin = begin_of(ranges[i]);
            std::int64_t end = end_of(ranges[i]);
            for (++i; i < ranges.size(); ++i) {
                const std::int64_t next = begin_of(ranges[i]);
                if (ranges[i].to - to != next - begin || next < end || next - end > largest_gap)
                    break;
                end = end_of(ranges[i]);
            }
            ++counts_.calls;
            counts_.bytes += end - begin;
            Span span("read");
            span.variable(definitions().variables[variable].name).bytes(end - begin);
            throttle_.begin();
            Status status = read_fully(file_.fd(), path_, to, end - begin, begin);
            throttle_.moved(end - begin);
            charged.add(begin, end - begin);
            if (status.ok()) continue;
            reword(status, "{} (variable '{}')", status.text,
                   OfVariable{definitions().variables[variable].name});
            return status;
        }
        return {};
    }

    void forget() override { file_.close(); }

private:
    /// Facts that rank 0 broadcasts in addition to the header.
    struct Found {
        std::int64_t size = 0;
        OpenedFile opened;
    };

    std::int64_t begin_of(const ReadRange& r) const {
        return position(r.variable, r.record) +
               r.first * definitions().variables[r.variable].element();
    }
    std::int64_t end_of(const ReadRange& r) const {
        return begin_of(r) + r.elements * definitions().variables[r.variable].element();
    }

    /// Reads the header on rank 0 and broadcasts it. Each rank's own error is returned on that rank
    /// only.
    /// @note Collective
    Status get_header(Comm& comm, bool reader, ClassicHeader& header, Definitions* definitions,
                      Found& found) {
        std::vector<char> bytes;
        const bool root = comm.rank() == 0;
        Status status = root || reader ? file_.open() : Status{};
        // A damaged file may have any size.
        if (root && status.ok()) status = catch_errors([&] { return read_header(bytes, found); });
        if (status = agree(comm, status); !status.ok()) return status;
        comm.broadcast(&found, sizeof found, 0);
        comm.broadcast(bytes, 0);
        if (file_.fd() >= 0)
            if (status = check_opened(file_.fd(), path_, found.opened); !status.ok()) return status;
        return parse_classic_header(bytes, found.size, path_, header, definitions);
    }

    Status read_header(std::vector<char>& bytes, Found& found) {
        const int fd = file_.fd();
        struct stat info {};
        if (fstat(fd, &info) != 0) return system_failure(path_, "cannot get its size");
        if (S_ISDIR(info.st_mode)) return failure(TW_EFORMAT, "{}: is a directory", OfFile{path_});
        ClassicHeader header;
        Status status = read_classic_header(fd, path_, bytes, header);
        if (!status.ok()) return status;
        // Get the size after the header, so that the file contains all records that the header
        // counts.
        if (fstat(fd, &info) != 0) return system_failure(path_, "cannot get its size");
        found.size = info.st_size;
        return note_opened(fd, path_, found.opened);
    }

    std::string path_;
    bool reader_;
    ReadFile file_{path_};
    Found found_;
    ClassicHeader header_;
};

}  // namespace

std::unique_ptr<Source> open_classic_source(Comm& comm, const std::string& path, bool reader,
                                            Status& status) {
    return opened_source<ClassicSource>(comm, status, path, reader);
}

}  // namespace thalweg::detail
