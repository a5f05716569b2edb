// SPDX-License-Identifier: Apache-2.0
#include "storage/checksums/table.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "base/parsed_json.hpp"
#include "storage/posix/opened_file.hpp"
#include "storage/posix/system.hpp"

namespace thalweg::detail {

namespace {

constexpr std::string_view magic = "TWSUMS1\n";
/// Size in bytes of what comes before the JSON: the magic text, the size of the header, and the
/// JSON's checksum.
constexpr std::int64_t before_json = 32;
constexpr std::int64_t longest_json = std::int64_t(1) << 30;

void put_size(std::string& header) {
    std::uint64_t size = header.size();
    for (std::size_t i = 0; i < 8; ++i, size >>= 8) header[8 + i] = static_cast<char>(size & 0xFF);
}

std::int64_t get_size(const char* header) {
    std::uint64_t size = 0;
    for (std::size_t i = 8; i-- > 0;) size = size << 8 | static_cast<unsigned char>(header[8 + i]);
    return static_cast<std::int64_t>(std::min<std::uint64_t>(size, longest_json + 1));
}

Status damaged(const std::string& path) {
    return failure(TW_EFORMAT, "{}: these checksums are damaged, or are none", path);
}

/// Reads the beginning of a file. @return TW_EFORMAT: the file is shorter; TW_EIO
Status read_begin(int fd, const std::string& path, char* to, std::int64_t bytes) {
    struct stat info {};
    if (fstat(fd, &info) != 0) return system_failure(path, "cannot get its size");
    return info.st_size < bytes ? damaged(path) : read_fully(fd, path, to, bytes, 0);
}

std::string quoted(const std::string& name) {
    return nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

bool is_sums_file(const std::string& path) {
    ReadFile file(path);
    std::array<char, magic.size()> begin{};
    if (!file.open().ok()) return false;
    const std::int64_t n = read_some(file.fd(), begin.data(), std::ssize(begin), 0);
    return n == 0 || (n == std::ssize(begin) && magic == std::string_view(begin.data(), n));
}

void SumsTable::add(SummedVariable v) {
    std::int64_t& pieces = v.record ? per_record_ : fixed_;
    v.first = pieces;
    pieces += v.pieces;
    if (v.pieces > 0) (v.record ? record_ones_ : fixed_ones_).push_back(variables_.size());
    variables_.push_back(std::move(v));
}

SumsTable SumsTable::of(const Definitions& definitions, std::span<const std::int64_t> chunks) {
    SumsTable table;
    for (std::size_t i = 0; i < definitions.variables.size(); ++i) {
        const Variable& v = definitions.variables[i];
        SummedVariable made{v.name, v.record};
        made.bytes = v.elements() * v.element();
        made.chunks = !chunks.empty() && chunks[i] > 0;
        made.pieces = made.chunks ? chunks[i] : (made.bytes + piece - 1) / piece;
        table.add(std::move(made));
    }
    table.make_header();
    return table;
}

void SumsTable::make_header() {
    std::string text = fmt::format(R"({{"piece":{},"variables":[)", piece);
    for (const SummedVariable& v : variables_)
        text += fmt::format(R"({}{{"name":{},"record":{},"chunks":{},"bytes":{},"pieces":{}}})",
                            &v == &variables_[0] ? "" : ",", quoted(v.name), v.record, v.chunks,
                            v.bytes, v.pieces);
    text += "]}";
    text.append((sizeof(Sum) - text.size() % sizeof(Sum)) % sizeof(Sum), ' ');
    const Sum sum = sum_of(text.data(), std::ssize(text));
    header_ = magic;
    header_.append(8, '\0');
    header_.append(reinterpret_cast<const char*>(sum.data()), sum.size());
    header_ += text;
    put_size(header_);
}

Status SumsTable::write(int fd, const std::string& path) const {
    return write_fully(fd, path, header_.data(), std::ssize(header_), 0);
}

Status SumsTable::read(int fd, const std::string& path) {
    *this = {};
    std::array<char, before_json> begin{};
    if (Status s = read_begin(fd, path, begin.data(), before_json); !s.ok()) return s;
    if (!std::string_view(begin.data(), begin.size()).starts_with(magic)) return damaged(path);
    const std::int64_t size = get_size(begin.data());
    if (size < before_json || size > longest_json) return damaged(path);
    header_.resize(size);
    if (Status s = read_begin(fd, path, header_.data(), size); !s.ok()) return s;
    const Sum sum = sum_of(header_.data() + before_json, size - before_json);
    if (std::memcmp(sum.data(), begin.data() + 16, sum.size()) != 0) return damaged(path);
    try {
        const ParsedJson parsed{
            nlohmann::json::parse(header_.begin() + before_json, header_.end())};
        const nlohmann::json& json = parsed.value;
        if (json.at("piece").get<std::int64_t>() != piece) return damaged(path);
        for (const auto& of : json.at("variables")) {
            SummedVariable v{of.at("name"), of.at("record"), of.at("chunks"), of.at("bytes"),
                             of.at("pieces")};
            const bool fits = v.chunks ? v.pieces >= 0 : v.pieces == (v.bytes + piece - 1) / piece;
            if (v.bytes < 0 || !fits) return damaged(path);
            add(std::move(v));
        }
    } catch (const nlohmann::json::exception&) {
        return damaged(path);
    }
    return {};
}

SumsTable::Place SumsTable::place(std::int64_t index) const {
    Place found;
    const bool record = index >= fixed_;
    if (record) {
        found.record = (index - fixed_) / per_record_;
        index = (index - fixed_) % per_record_;
    }
    const std::vector<int>& of = record ? record_ones_ : fixed_ones_;
    const auto after = std::upper_bound(of.begin(), of.end(), index, [&](std::int64_t at, int v) {
        return at < variables_[v].first;
    });
    found.variable = *std::prev(after);
    found.number = index - variables_[found.variable].first;
    return found;
}

}  // namespace thalweg::detail
