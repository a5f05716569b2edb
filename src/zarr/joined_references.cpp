// SPDX-License-Identifier: Apache-2.0
#include "zarr/stream.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/parsed_json.hpp"
#include "zarr/base64.hpp"

namespace thalweg::detail {

namespace {

constexpr std::string_view copied_begin = "base64:";
constexpr double none = std::numeric_limits<double>::quiet_NaN();

std::string number_or_null(double value) {
    return std::isfinite(value) ? fmt::format("{}", value) : "null";
}

ArrayMembers parse_members(const std::string& text) {
    const ParsedJson parsed{nlohmann::json::parse(text)};
    const nlohmann::json& of = parsed.value;
    ArrayMembers m{of.at("shape"), of.at("chunks"), of.at("dtype")};
    m.fill = of.at("fill_value").dump();
    m.filters = of.at("filters").dump();
    if (m.shape.size() != m.chunk.size() || m.dtype.size() < 3)
        throw std::out_of_range("other chunks than dimensions");
    return m;
}

std::int64_t first_number(std::string_view key) {
    std::int64_t value = -1;
    std::from_chars(key.data(), key.data() + key.size(), value);
    return value;
}

}  // namespace

/// A Zarr array with its references.
struct ReferenceStream::Array {
    /// A chunk in a file: its position along the records (from the beginning of the file), the
    /// other parts of its key, and its place.
    struct Chunk {
        std::int64_t number = 0;
        std::string rest;
        std::int64_t offset = 0, bytes = 0;
    };

    StreamVariable is;
    ArrayMembers zarray;
    std::string attributes;  ///< text of .zattrs
    /// Keys and references of an array without records.
    std::vector<std::pair<std::string, std::string>> fixed;
    std::vector<std::vector<Chunk>> chunks;  ///< chunks in each file
    std::vector<std::string> data;           ///< copied data from each file
    std::vector<std::int64_t> ends;          ///< number of chunks up to the end of each file
    /// Texts of copied chunks, by number, while parsing.
    std::map<std::int64_t, std::string> copies;

    std::int64_t chunk(std::size_t d) const { return zarray.chunk.at(d); }
    std::int64_t record_bytes() const {
        std::int64_t bytes = first_number(std::string_view(zarray.dtype).substr(2));
        for (std::size_t d = 1; d < zarray.chunk.size(); ++d) bytes *= chunk(d);
        return bytes;
    }
    bool refers() const { return is.record && !is.copied; }
};

ReferenceStream::ReferenceStream() = default;
ReferenceStream::~ReferenceStream() = default;
ReferenceStream::ReferenceStream(ReferenceStream&&) noexcept = default;
ReferenceStream& ReferenceStream::operator=(ReferenceStream&&) noexcept = default;

std::string stream_text(const std::string& dimension, const std::string& fixed,
                        const std::vector<StreamedFile>& files,
                        const std::vector<StreamVariable>& variables) {
    std::vector<std::string> of_files, of_variables;
    for (const StreamedFile& f : files)
        of_files.push_back(fmt::format("[{},{},{},{}]", json_string(f.name), f.records,
                                       number_or_null(f.first), number_or_null(f.last)));
    for (const StreamVariable& v : variables) {
        std::vector<std::string> decisive;
        for (const auto& [name, value] : v.decisive)
            decisive.push_back(json_string(name) + ":" + json_string(value));
        of_variables.push_back(fmt::format("[{},{},{},{{{}}}]", json_string(v.name), v.record,
                                           v.copied, joined(decisive, ",")));
    }
    return fmt::format(R"({{"dimension":{},"fixed":{},"files":[{}],"variables":[{}]}})",
                       json_string(dimension), json_string(fixed), joined(of_files, ","),
                       joined(of_variables, ","));
}

// ---- parsing
// -------------------------------------------------------------------------------------

Status ReferenceStream::parse(const std::string& path, const std::string& text,
                              ReferenceStream& stream) try {
    const ParsedJson parsed{nlohmann::json::parse(text)};
    const nlohmann::json& root = parsed.value;
    const nlohmann::json& about = root.at("stream");
    ReferenceStream made;
    made.dimension_ = about.at("dimension");
    made.fixed_ = about.at("fixed");
    for (const nlohmann::json& f : about.at("files")) {
        const auto number = [&](std::size_t i) {
            return f.at(i).is_null() ? none : f.at(i).get<double>();
        };
        made.files_.push_back({f.at(0), f.at(1), number(2), number(3)});
    }
    for (const nlohmann::json& v : about.at("variables")) {
        Array a;
        a.is = {v.at(0), v.at(1), v.at(2), v.at(3)};
        a.chunks.resize(made.files_.size());
        a.data.resize(made.files_.size());
        const nlohmann::json& refs = root.at("refs");
        a.zarray = parse_members(refs.at(a.is.name + "/.zarray"));
        a.attributes = refs.at(a.is.name + "/.zattrs");
        if (a.is.record && a.chunk(0) < 1) throw std::out_of_range("chunks of no records");
        if (a.refers())
            for (const StreamedFile& f : made.files_)
                a.ends.push_back((a.ends.empty() ? 0 : a.ends.back()) + chunks_of(f, a));
        made.at_[a.is.name] = made.arrays_.size();
        made.arrays_.push_back(std::move(a));
    }
    made.group_ = root.at("refs").at(".zgroup");
    made.attributes_ = root.at("refs").at(".zattrs");
    for (const auto& [key, value] : root.at("refs").items()) made.take_reference(key, &value);
    made.share_data();
    stream = std::move(made);
    return {};
} catch (const nlohmann::json::exception& e) {
    return failure(TW_EFORMAT, "{}: is not the references of a stream, or is damaged: {}", path,
                   e.what());
} catch (const std::out_of_range&) {
    return failure(TW_EFORMAT, "{}: the references of this stream are damaged", path);
}

void ReferenceStream::take_reference(const std::string& key, const void* json) {
    const auto& value = *static_cast<const nlohmann::json*>(json);
    const auto slash = key.find('/');
    if (slash == std::string::npos || key[slash + 1] == '.') return;
    Array& a = arrays_[at_.at(key.substr(0, slash))];
    const std::string number = key.substr(slash + 1);
    if (!a.is.record) {
        a.fixed.emplace_back(number, value.dump());
        return;
    }
    const std::int64_t first = first_number(number);
    if (a.is.copied) {
        a.copies[first] = value.get<std::string>();
        return;
    }
    const auto file = std::upper_bound(a.ends.begin(), a.ends.end(), first);
    if (first < 0 || file == a.ends.end()) throw std::out_of_range("beyond the records");
    const auto dot = number.find('.');
    a.chunks[file - a.ends.begin()].push_back({first - (file == a.ends.begin() ? 0 : file[-1]),
                                               dot == std::string::npos ? "" : number.substr(dot),
                                               value.at(1), value.at(2)});
}

/// Returns the number of chunks along the records in one file.
std::int64_t ReferenceStream::chunks_of(const StreamedFile& file, const Array& a) {
    return (file.records + a.chunk(0) - 1) / a.chunk(0);
}

/// Distributes copied data to the files from which they come.
void ReferenceStream::share_data() {
    for (Array& a : arrays_) {
        if (!a.is.copied || !a.is.record) continue;
        std::string bytes;
        for (const auto& [number, text] : a.copies)
            if (!std::string_view(text).starts_with(copied_begin) ||
                !add_decoded(std::string_view(text).substr(copied_begin.size()), bytes))
                throw std::out_of_range("not base64");
        a.copies.clear();
        std::size_t begin = 0;
        for (std::size_t i = 0; i < files_.size(); ++i) {
            const std::size_t n = files_[i].records * a.record_bytes();
            if (n > bytes.size() - begin) throw std::out_of_range("too short");
            a.data[i] = bytes.substr(begin, n);
            begin += n;
        }
    }
}

// ---- changing
// ------------------------------------------------------------------------------------

std::int64_t ReferenceStream::records() const {
    std::int64_t n = 0;
    for (const StreamedFile& f : files_) n += f.records;
    return n;
}

bool ReferenceStream::has(const std::string& name) const {
    return std::any_of(files_.begin(), files_.end(),
                       [&](const StreamedFile& f) { return f.name == name; });
}

void ReferenceStream::drop(const std::string& name) {
    for (std::size_t i = 0; i < files_.size(); ++i) {
        if (files_[i].name != name) continue;
        files_[i].records = 0;
        for (Array& a : arrays_) {
            a.chunks[i].clear();
            a.data[i].clear();
        }
    }
    const bool refers = std::any_of(arrays_.begin(), arrays_.end(),
                                    [](const Array& a) { return !a.is.record && !a.is.copied; });
    if (fixed_ == name && refers) fixed_.clear();
}

void ReferenceStream::take_fixed(ReferenceStream&& one) {
    fixed_ = one.fixed_;
    for (Array& a : arrays_)
        if (const auto at = one.at_.find(a.is.name); !a.is.record && at != one.at_.end()) {
            Array& other = one.arrays_[at->second];
            a.zarray = std::move(other.zarray);
            a.fixed = std::move(other.fixed);
        }
}

/// Returns the index at which a new file is inserted: before the first file that begins later.
std::size_t ReferenceStream::place_of(const StreamedFile& file) const {
    std::size_t at = files_.size();
    while (at > 0 && (files_[at - 1].records == 0 || files_[at - 1].first > file.first)) --at;
    return at;
}

Status ReferenceStream::check_array(const Array& mine, const Array& other,
                                    const std::string& path) const {
    const std::string how = difference(mine.is.decisive, other.is.decisive, files_.front().name);
    const auto differs = [&](const std::string& what) {
        return failure(TW_EDIFFERENT, "{}: variable '{}': {}", path, OfVariable{mine.is.name},
                       what);
    };
    if (!how.empty()) return differs(how);
    ArrayMembers a = mine.zarray, b = other.zarray;
    if (mine.is.record) a.shape.at(0) = b.shape.at(0) = 0;
    if (mine.is.record && mine.is.copied) a.chunk.at(0) = b.chunk.at(0) = 1;
    // The fill value is null while all chunks have been written.
    if (a.fill == "null") a.fill = b.fill;
    if (b.fill == "null") b.fill = a.fill;
    if (a != b || mine.is.copied != other.is.copied || mine.is.record != other.is.record)
        return differs(fmt::format("its chunks, filters or fill value differ from those in {}",
                                   files_.front().name));
    if (!mine.is.record && mine.is.copied && mine.fixed != other.fixed)
        return differs(
            fmt::format("its values differ from those in {}, and it has no record dimension",
                        files_.front().name));
    return {};
}

Status ReferenceStream::check(const ReferenceStream& one, const std::string& path) const {
    if (one.dimension_ != dimension_)
        return failure(TW_EDIFFERENT, "{}: its record dimension is '{}', that of the stream '{}'",
                       path, one.dimension_, dimension_);
    for (const Array& a : arrays_) {
        const auto at = one.at_.find(a.is.name);
        if (at == one.at_.end())
            return failure(TW_EDIFFERENT, "{}: it has no variable '{}'; {} differs", path,
                           OfVariable{a.is.name}, files_.front().name);
        if (Status s = check_array(a, one.arrays_[at->second], path); !s.ok()) return s;
    }
    for (const Array& a : one.arrays_)
        if (!at_.contains(a.is.name))
            return failure(TW_EDIFFERENT, "{}: it has a variable '{}', which {} does not have",
                           path, OfVariable{a.is.name}, files_.front().name);
    return {};
}

/// Checks that no file except the last one ends inside a chunk.
Status ReferenceStream::check_chunks(const std::string& path) const {
    std::size_t last = files_.size();
    while (last > 0 && files_[last - 1].records == 0) --last;
    std::size_t references = 0;
    for (const Array& a : arrays_) {
        for (const auto& chunks : a.chunks) references += chunks.size();
        for (std::size_t i = 0; a.refers() && i + 1 < last; ++i)
            if (files_[i].records % a.chunk(0) != 0)
                return failure(TW_EUNSUPPORTED,
                               "{}: variable '{}': {} has {} records, not a multiple of the {} of "
                               "a chunk",
                               path, OfVariable{a.is.name}, files_[i].name, files_[i].records,
                               a.chunk(0));
    }
    if (references <= most_references) return {};
    return failure(TW_EUNSUPPORTED,
                   "{}: with it the stream has {} references: more than {} are not written to one "
                   "JSON file",
                   path, references, most_references);
}

void ReferenceStream::erase(std::size_t at) {
    const std::ptrdiff_t place = at;
    files_.erase(files_.begin() + place);
    for (Array& a : arrays_) {
        a.chunks.erase(a.chunks.begin() + place);
        a.data.erase(a.data.begin() + place);
    }
}

void ReferenceStream::insert(ReferenceStream& one, std::size_t at) {
    const std::ptrdiff_t place = at;
    files_.insert(files_.begin() + place, one.files_.front());
    for (Array& a : arrays_) {
        Array& other = one.arrays_[one.at_.at(a.is.name)];
        a.chunks.insert(a.chunks.begin() + place, std::move(other.chunks.front()));
        a.data.insert(a.data.begin() + place, std::move(other.data.front()));
    }
}

Status ReferenceStream::add(ReferenceStream&& one, const std::string& path, std::string& said) {
    const StreamedFile added = one.files_.front();
    const bool alone = std::all_of(files_.begin(), files_.end(), [&](const StreamedFile& f) {
        return f.records == 0 || f.name == added.name;
    });
    if (alone) {
        *this = std::move(one);
        return {};
    }
    if (Status s = check(one, path); !s.ok()) return s;
    std::size_t at = files_.size();
    for (std::size_t i = 0; i < files_.size(); ++i)
        if (files_[i].name == added.name) erase(at = i);
    if (at == files_.size() || std::isfinite(added.first)) at = place_of(added);
    insert(one, at);
    if (Status s = check_chunks(path); !s.ok()) return s;
    for (Array& a : arrays_) {
        const std::string& fill = one.arrays_[one.at_.at(a.is.name)].zarray.fill;
        if (fill != "null") a.zarray.fill = fill;
    }
    if (fixed_.empty() || fixed_ == added.name) take_fixed(std::move(one));
    for (std::size_t i = at; i-- > 0;) {
        if (files_[i].records == 0) continue;
        if (added.first <= files_[i].last)
            said = fmt::format(
                "{}: variable '{}' begins with {}, but the file before, {}, ends "
                "with {}",
                path, dimension_, added.first, files_[i].name, files_[i].last);
        break;
    }
    return {};
}

// ---- writing ------------------------------------------------------------------------------------

void ReferenceStream::add_array(const Array& a, std::string& text) const {
    const auto add = [&](std::string_view key, std::string_view json) {
        text += ",\n" + json_string(a.is.name + "/" + std::string(key)) + ":";
        text += json;
    };
    ArrayMembers zarray = a.zarray;
    const std::int64_t all = records();
    std::int64_t step = 1;
    if (a.is.record) zarray.shape.at(0) = all;
    if (a.is.record && a.is.copied)
        zarray.chunk.at(0) = step = copied_records(all, a.record_bytes());
    add(".zarray", json_string(array_text(zarray)));
    add(".zattrs", json_string(a.attributes));
    if (!a.is.record) {
        for (const auto& [key, value] : a.fixed) add(key, value);
        return;
    }
    if (a.is.copied) {
        std::string bytes, rest;
        for (const std::string& data : a.data) bytes += data;
        for (std::size_t d = 1; d < zarray.shape.size(); ++d) rest += ".0";
        const std::size_t size = step * a.record_bytes();
        for (std::size_t k = 0; k * size < bytes.size(); ++k) {
            std::string chunk = bytes.substr(k * size, size);
            chunk.resize(size);
            add(std::to_string(k) + rest, "\"" + std::string(copied_begin) + base64(chunk) + "\"");
        }
        return;
    }
    const std::string prefix = a.is.name + "/";
    std::int64_t first = 0;
    for (std::size_t i = 0; i < files_.size(); ++i) {
        const std::string file = json_string(files_[i].name);
        for (const Array::Chunk& c : a.chunks[i])
            text += ",\n" + json_string(prefix + std::to_string(first + c.number) + c.rest) + ":[" +
                    file + "," + std::to_string(c.offset) + "," + std::to_string(c.bytes) + "]";
        first += chunks_of(files_[i], a);
    }
}

std::string ReferenceStream::text() const {
    std::vector<StreamVariable> variables;
    for (const Array& a : arrays_) variables.push_back(a.is);
    std::string text{stream_begin};
    text += stream_text(dimension_, fixed_, files_, variables) + ",\"refs\":{\n";
    text += "\".zgroup\":" + json_string(group_) + ",\n\".zattrs\":" + json_string(attributes_);
    for (const Array& a : arrays_) add_array(a, text);
    return text + "\n}}\n";
}

}  // namespace thalweg::detail
