// Follows the grammar of "NetCDF Classic Format Specification" (NetCDF User's Guide, appendix B;
// for CDF-5 PnetCDF's "CDF-5 File Format Specification"), whose names are quoted below. Both
// libraries report the offsets of variables only with MPI.
// SPDX-License-Identifier: Apache-2.0
#include "storage/classic/header_reader.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "storage/classic/tags.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

constexpr std::int64_t longest_name = 256;  // NC_MAX_NAME
/// Size in bytes beyond which a header is taken for damaged.
constexpr std::int64_t longest_header = std::int64_t(1) << 30;

/// Reads the beginning of a file, from memory, in sequence. Past the end, reads return zeros and
/// ended() is true, so only loops have to test for the end.
class Bytes {
public:
    explicit Bytes(std::span<const char> bytes) : bytes_(bytes) {}

    bool ended() const { return ended_; }
    std::int64_t at() const { return at_; }
    std::int64_t size() const { return std::ssize(bytes_); }
    std::int64_t left() const { return size() - at_; }

    void skip(std::int64_t n) {
        if (n > left())
            ended_ = true;
        else
            at_ += n;
    }

    std::uint64_t number(int bytes) {
        std::uint64_t value = 0;
        for (int i = 0; i < bytes; ++i) {
            ended_ |= left() == 0;
            value = value << 8 | (ended_ ? 0 : static_cast<unsigned char>(bytes_[at_++]));
        }
        return value;
    }

    /// Returns the next n bytes. The caller must have checked that they exist.
    std::span<const char> take(std::int64_t n) {
        at_ += n;
        return bytes_.subspan(at_ - n, n);
    }

private:
    std::span<const char> bytes_;
    std::int64_t at_ = 0;
    bool ended_ = false;
};

class Parser {
public:
    /// @param definitions  null if they are not wanted
    Parser(Bytes bytes, std::int64_t file_size, ClassicHeader& header, Definitions* definitions)
        : bytes_(bytes), file_size_(file_size), header_(header), definitions_(definitions) {}

    const Bytes& bytes() const { return bytes_; }
    const char* wrong() const { return wrong_; }
    bool ok() const { return wrong_ == nullptr && !bytes_.ended(); }

    /// Parses netcdf_file = magic numrecs dim_list gatt_list var_list.
    void parse() {
        if (bytes_.number(3) != 0x434446) return refuse("it does not begin with CDF");
        const int version = bytes_.number(1);
        if (version != 1 && version != 2 && version != 5) return refuse("unknown format version");
        header_.format = static_cast<Format>(version);
        const std::uint64_t records = bytes_.number(width());
        streaming_ = records == UINT64_MAX >> (64 - 8 * width());
        if (!streaming_) header_.records = non_negative(records);
        for (std::int64_t n = list(dimension_tag); n > 0 && ok(); --n) dimension();
        attributes(definitions_ == nullptr ? nullptr : &definitions_->attributes);
        for (std::int64_t n = list(variable_tag); n > 0 && ok(); --n) variable();
        header_.bytes = bytes_.at();
        if (ok()) place();
    }

private:
    struct Found {
        std::int64_t begin, bytes;
        bool record;
        std::size_t variable;
    };

    void refuse(const char* what) {
        if (ok()) wrong_ = what;
    }

    int width() const { return header_.format == Format::cdf5 ? 8 : 4; }
    static std::int64_t padded(std::int64_t bytes) { return (bytes + 3) / 4 * 4; }

    /// Parses NON_NEG: 32 bits, in CDF-5 64.
    std::int64_t count() { return non_negative(bytes_.number(width())); }
    std::int64_t non_negative(std::uint64_t value) {
        if (value >> (8 * width() - 1) != 0) refuse("a length is negative");
        return ok() ? static_cast<std::int64_t>(value) : 0;
    }

    /// Parses the number of entries of a list; ABSENT has neither tag nor entries.
    std::int64_t list(std::int64_t tag) {
        const std::int64_t found = bytes_.number(4);
        const std::int64_t n = count();
        if (found != tag && (found != 0 || n != 0)) refuse("a list has an unknown tag");
        return ok() ? n : 0;
    }

    /// Parses n values and their padding. Returns no values if they are incomplete, or if `wanted`
    /// is false.
    std::vector<char> values(std::int64_t n, std::int64_t element, bool wanted) {
        if (!ok()) return {};
        std::vector<char> bytes;
        if (n > bytes_.left() / element) {
            bytes_.skip(bytes_.left() + 1);
        } else if (wanted) {
            const auto taken = bytes_.take(n * element);
            bytes.assign(taken.begin(), taken.end());
            bytes_.skip(padded(n * element) - n * element);
        } else {
            bytes_.skip(padded(n * element));
        }
        return bytes;
    }

    std::string name() {
        const std::int64_t n = count();
        if (n == 0 || n > longest_name) refuse("a name is empty or too long");
        const std::vector<char> bytes = values(n, 1, true);
        if (std::find(bytes.begin(), bytes.end(), '\0') != bytes.end())
            refuse("a name has a zero byte");
        return {bytes.begin(), bytes.end()};
    }

    tw_type type() {
        const auto type = bytes_.number(4);
        if (type <= TW_UINT64 && valid_type(type)) return static_cast<tw_type>(type);
        refuse("unknown type");
        return TW_BYTE;
    }

    /// Parses dim = name dim_length.
    void dimension() {
        std::string its_name = name();
        // In CDF-2, a dimension may have up to 2^32 - 4 elements.
        const bool wide = header_.format == Format::cdf2;
        const auto length = wide ? static_cast<std::int64_t>(bytes_.number(4)) : count();
        if (length == 0 && std::find(dims_.begin(), dims_.end(), 0) != dims_.end())
            refuse("there are two record dimensions");
        if (!ok()) return;
        dims_.push_back(length);
        if (definitions_ != nullptr) definitions_->dims.push_back({std::move(its_name), length});
    }

    /// Parses attr = name nc_type nelems [values ...].
    void attributes(NamedList<Attribute>* to) {
        for (std::int64_t n = list(attribute_tag); n > 0 && ok(); --n) {
            Attribute a;
            a.name = name();
            a.type = type();
            a.n = count();
            const std::size_t size = size_of(a.type);
            a.values = values(a.n, size, to != nullptr);
            // Swapping bytes twice restores them, so this converts from big-endian, too.
            for (std::size_t at = 0; at < a.values.size(); at += size)
                to_big_endian(a.type, a.values.data() + at);
            if (to != nullptr && ok()) to->push_back(std::move(a));
        }
    }

    /// Parses var = name nelems [dimid ...] vatt_list nc_type vsize begin.
    void variable() {
        Found found{0, 1, false, 0};
        Variable v;
        v.name = name();
        const std::int64_t nd = count();
        for (std::int64_t d = 0; d < nd && ok(); ++d) {
            const std::int64_t id = count();
            if (id >= std::ssize(dims_)) return refuse("a variable has an unknown dimension");
            const std::int64_t length = dims_[id];
            if (length == 0 && d > 0)
                return refuse("a record dimension is not the slowest dimension of a variable");
            if (length == 0)
                found.record = true;
            else if (__builtin_mul_overflow(found.bytes, length, &found.bytes))
                return refuse("a variable is too large");
            if (definitions_ == nullptr) continue;
            v.dims.push_back(id);
            if (length > 0) v.shape.push_back(length);
        }
        attributes(definitions_ == nullptr ? nullptr : &v.attributes);
        v.type = type();
        if (__builtin_mul_overflow(found.bytes, v.element(), &found.bytes))
            return refuse("a variable is too large");
        bytes_.skip(width());  // vsize: redundant, and invalid for large variables
        const std::uint64_t begin = bytes_.number(header_.format == Format::cdf1 ? 4 : 8);
        found.begin = begin & INT64_MAX;
        std::int64_t end = 0;
        if (begin > INT64_MAX || __builtin_add_overflow(found.bytes, found.begin, &end) ||
            end > INT64_MAX - 3)
            return refuse("a variable's offset is too large");
        if (!ok()) return;
        found.variable = found_.size();
        found_.push_back(found);
        v.record = found.record;
        if (definitions_ != nullptr) definitions_->variables.push_back(std::move(v));
    }

    /// Computes the offset of each variable's data.
    void place() {
        FileMap& map = header_.map;
        map.fixed_end = header_.bytes;
        const bool alone = std::count_if(found_.begin(), found_.end(),
                                         [](const Found& v) { return v.record; }) == 1;
        std::int64_t record_end = 0;
        for (const Found& v : found_) {
            if (v.begin < header_.bytes) return refuse("a variable's data overlap the header");
            // If a file has only one record variable, its records are not padded.
            const std::int64_t size = v.record && alone ? v.bytes : padded(v.bytes);
            map.offset.push_back(v.begin);
            map.padded.push_back(size);
            if (!v.record) {
                map.fixed_end = std::max(map.fixed_end, v.begin + size);
                continue;
            }
            if (__builtin_add_overflow(map.record_bytes, size, &map.record_bytes))
                return refuse("a record is too large");
            map.record_begin =
                map.record_begin == 0 ? v.begin : std::min(map.record_begin, v.begin);
            record_end = std::max(record_end, v.begin + v.bytes);
        }
        header_.record_data = record_end - map.record_begin;
        if (const char* const wrong = misplaced()) return refuse(wrong);
        limit_padding();
        if (streaming_) {
            header_.records = INT64_MAX;
            header_.records = header_.records_within(file_size_);
        }
        std::int64_t end = 0;
        if (__builtin_mul_overflow(map.record_bytes, header_.records, &end) ||
            __builtin_add_overflow(end, map.record_begin, &end))
            return refuse("there are too many records");
    }

    /// Checks the offsets of the variables; returns an error text, or null.
    const char* misplaced() {
        const FileMap& map = header_.map;
        if (overlapping()) return "the data of variables overlap";
        if (!header_.has_records()) return nullptr;
        if (header_.record_data > map.record_bytes)
            return "the variables of a record are farther apart than a record is long";
        if (map.fixed_end <= map.record_begin) return nullptr;
        const bool behind = std::any_of(found_.begin(), found_.end(), [&](const Found& v) {
            return !v.record && v.begin > map.record_begin;
        });
        return behind ? "a variable without records lies behind the beginning of the records"
                      : "the records begin inside the padding (to 4 bytes) of the variable before "
                        "them";
    }

    bool overlapping() {
        std::sort(found_.begin(), found_.end(),
                  [](const Found& a, const Found& b) { return a.begin < b.begin; });
        for (std::size_t i = 1; i < found_.size(); ++i)
            if (found_[i - 1].begin + found_[i - 1].bytes > found_[i].begin) return true;
        return false;
    }

    /// Reduces the padded size of each variable whose padding would reach beyond the beginning of
    /// the next variable or of the next record.
    void limit_padding() {
        FileMap& map = header_.map;
        for (std::size_t i = 0; i < found_.size(); ++i) {
            const Found& v = found_[i];
            std::int64_t& size = map.padded[v.variable];
            if (i + 1 < found_.size())
                size = std::min(size, found_[i + 1].begin - v.begin);
            else if (v.record)
                size = std::min(size, map.record_bytes - (v.begin - map.record_begin));
        }
    }

    Bytes bytes_;
    std::int64_t file_size_;
    ClassicHeader& header_;
    Definitions* definitions_;
    std::vector<std::int64_t> dims_;
    std::vector<Found> found_;
    bool streaming_ = false;
    const char* wrong_ = nullptr;
};

Status outcome(const Parser& parser, const std::string& path) {
    if (parser.ok()) return {};
    if (parser.wrong() == nullptr)
        return failure(TW_EFORMAT, "{}: truncated inside its header, at byte {}", OfFile{path},
                       parser.bytes().size());
    return failure(TW_EFORMAT, "{}: not a valid classic netCDF file: {} (byte {})", OfFile{path},
                   parser.wrong(), parser.bytes().at());
}

}  // namespace

std::int64_t ClassicHeader::records_within(std::int64_t file_size) const {
    const std::int64_t room = file_size - map.record_begin - record_data;
    if (!has_records() || room < 0) return 0;
    return std::min(records, room / map.record_bytes + 1);
}

Status read_classic_header(int fd, const std::string& path, std::vector<char>& bytes,
                           ClassicHeader& header) {
    struct stat info {};
    if (fstat(fd, &info) != 0) return system_failure(path, "cannot get its size");
    if (!S_ISREG(info.st_mode)) return failure(TW_EFORMAT, "{}: not a regular file", OfFile{path});
    // Read more and more of the file, until it contains the whole header.
    for (std::int64_t most = 8192;; most *= 4) {
        if (most > longest_header)
            return failure(TW_EFORMAT, "{}: its header would be longer than {} bytes", OfFile{path},
                           longest_header);
        bytes.resize(std::min<std::int64_t>(most, info.st_size));
        const std::int64_t n = read_some(fd, bytes.data(), std::ssize(bytes), 0);
        if (n < 0) return system_failure(path, "cannot read");
        const bool all = n < most;
        bytes.resize(n);
        header = {};
        Parser parser(Bytes(bytes), info.st_size, header, nullptr);
        parser.parse();
        if (parser.bytes().ended() && !all) continue;
        if (parser.ok()) bytes.resize(header.bytes);
        return outcome(parser, path);
    }
}

Status parse_classic_header(std::span<const char> bytes, std::int64_t file_size,
                            const std::string& path, ClassicHeader& header,
                            Definitions* definitions) {
    header = {};
    Parser parser(Bytes(bytes), file_size, header, definitions);
    parser.parse();
    return outcome(parser, path);
}

}  // namespace thalweg::detail
