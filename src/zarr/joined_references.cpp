// SPDX-License-Identifier: Apache-2.0
#include "zarr/joined_references.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

#include "base/parsed_json.hpp"
#include "base/text.hpp"
#include "publish/stale_references.hpp"
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

/// Takes the references of one array from parsed JSON.
class ReferenceTaker {
public:
    ReferenceTaker(JoinedArray& array, const std::vector<JoinedFile>& files) : array_(array) {
        if (!array.record) return;
        if (array.zarray.chunk.at(0) < 1) throw std::out_of_range("chunks of no records");
        for (const JoinedFile& f : files)
            ends_.push_back((ends_.empty() ? 0 : ends_.back()) + array.chunks_of(f));
    }

    void take(const std::string& key, const nlohmann::json& value) {
        if (!array_.record) {
            array_.fixed.emplace_back(key, value.dump());
            return;
        }
        const std::int64_t first = first_number(key);
        if (array_.copied) {
            copies_[first] = value.get<std::string>();
            return;
        }
        const auto file = std::upper_bound(ends_.begin(), ends_.end(), first);
        if (first < 0 || file == ends_.end()) throw std::out_of_range("beyond the records");
        const auto dot = key.find('.');
        array_.chunks[file - ends_.begin()].push_back(
            {first - (file == ends_.begin() ? 0 : file[-1]),
             dot == std::string::npos ? "" : key.substr(dot), value.at(1), value.at(2)});
    }

    /// Returns the copied data of all files.
    std::string copied() const {
        std::string bytes;
        for (const auto& [number, text] : copies_)
            if (!std::string_view(text).starts_with(copied_begin) ||
                !add_decoded(std::string_view(text).substr(copied_begin.size()), bytes))
                throw std::out_of_range("not base64");
        return bytes;
    }

private:
    JoinedArray& array_;
    std::vector<std::int64_t> ends_;              ///< number of chunks up to the end of each file
    std::map<std::int64_t, std::string> copies_;  ///< texts of copied chunks, by number
};

}  // namespace

std::int64_t JoinedArray::record_bytes() const {
    std::int64_t bytes = first_number(std::string_view(zarray.dtype).substr(2));
    for (std::size_t d = 1; d < zarray.chunk.size(); ++d) bytes *= zarray.chunk[d];
    return bytes;
}

std::int64_t JoinedArray::chunks_of(const JoinedFile& file) const {
    return (file.records + zarray.chunk[0] - 1) / zarray.chunk[0];
}

// ---- parsing ------------------------------------------------------------------------------------

Status JoinedReferences::parse(const std::string& path, std::string_view text,
                               JoinedReferences& stream) try {
    const ParsedJson parsed{nlohmann::json::parse(text)};
    const nlohmann::json& about = parsed.value.at("stream");
    const nlohmann::json& refs = parsed.value.at("refs");
    JoinedReferences made{about.at("dimension"), about.at("fixed"), refs.at(".zgroup"),
                          refs.at(".zattrs")};
    for (const nlohmann::json& f : about.at("files")) {
        const auto number = [&](std::size_t i) {
            return f.at(i).is_null() ? none : f.at(i).get<double>();
        };
        made.files.push_back({f.at(0), f.at(1), number(2), number(3)});
    }
    for (const nlohmann::json& v : about.at("variables")) {
        JoinedArray a{v.at(0), v.at(1), v.at(2), v.at(3)};
        a.chunks.resize(made.files.size());
        a.data.resize(made.files.size());
        a.zarray = parse_members(refs.at(a.name + "/.zarray"));
        a.attributes = refs.at(a.name + "/.zattrs");
        made.arrays.push_back(std::move(a));
    }
    std::vector<ReferenceTaker> takers;
    for (JoinedArray& a : made.arrays) takers.emplace_back(a, made.files);
    for (const auto& [key, value] : refs.items()) {
        const auto slash = key.find('/');
        if (slash == std::string::npos || key[slash + 1] == '.') continue;
        takers.at(made.arrays.find(key.substr(0, slash))).take(key.substr(slash + 1), value);
    }
    for (std::size_t i = 0; i < takers.size(); ++i)
        if (made.arrays[i].copied && made.arrays[i].record)
            made.share_copies(made.arrays[i], takers[i].copied());
    stream = std::move(made);
    return {};
} catch (const nlohmann::json::exception& e) {
    return failure(TW_EFORMAT, "{}: is not the references of a stream, or is damaged: {}", path,
                   e.what());
} catch (const std::out_of_range&) {
    return failure(TW_EFORMAT, "{}: the references of this stream are damaged", path);
}

/// Distributes copied data to the files from which they come.
void JoinedReferences::share_copies(JoinedArray& a, std::string_view bytes) const {
    for (std::size_t i = 0; i < files.size(); ++i) {
        const std::size_t n = files[i].records * a.record_bytes();
        if (n > bytes.size()) throw std::out_of_range("too short");
        a.data[i] = bytes.substr(0, n);
        bytes.remove_prefix(n);
    }
}

// ---- changing -----------------------------------------------------------------------------------

std::int64_t JoinedReferences::records() const {
    std::int64_t n = 0;
    for (const JoinedFile& f : files) n += f.records;
    return n;
}

bool JoinedReferences::has(const std::string& name) const {
    return std::any_of(files.begin(), files.end(),
                       [&](const JoinedFile& f) { return f.name == name; });
}

std::string JoinedReferences::disorder(std::size_t file, const std::string& path) const {
    for (std::size_t i = file; i-- > 0;) {
        if (files[i].records == 0) continue;
        if (!(files[file].first <= files[i].last)) break;
        return fmt::format(
            "{}: variable '{}' begins with {}, but the file before, {}, ends with {}", path,
            dimension, files[file].first, files[i].name, files[i].last);
    }
    return {};
}

void JoinedReferences::drop(const std::string& name) {
    for (std::size_t i = 0; i < files.size(); ++i) {
        if (files[i].name != name) continue;
        files[i].records = 0;
        for (JoinedArray& a : arrays) {
            a.chunks[i].clear();
            a.data[i].clear();
        }
    }
    const bool refers = std::any_of(arrays.begin(), arrays.end(),
                                    [](const JoinedArray& a) { return !a.record && !a.copied; });
    if (fixed == name && refers) fixed.clear();
}

void JoinedReferences::take_fixed(JoinedReferences&& one) {
    fixed = one.fixed;
    for (JoinedArray& a : arrays)
        if (const int at = one.arrays.find(a.name); !a.record && at >= 0) {
            a.zarray = std::move(one.arrays[at].zarray);
            a.fixed = std::move(one.arrays[at].fixed);
        }
}

/// Returns the index at which a new file is inserted: before the first file that begins later.
std::size_t JoinedReferences::place_of(const JoinedFile& file) const {
    std::size_t at = files.size();
    while (at > 0 && (files[at - 1].records == 0 || files[at - 1].first > file.first)) --at;
    return at;
}

DecisiveOfAll JoinedReferences::decisive() const {
    DecisiveOfAll all;
    for (const JoinedArray& a : arrays) all[a.name] = a.decisive;
    return all;
}

Status JoinedReferences::check_array(const JoinedArray& mine, const JoinedArray& other,
                                     const std::string& path) const {
    const auto differs = [&](const char* what, const char* why) {
        return failure(TW_EDIFFERENT, "{}: variable '{}': its {} from those in {}{}", path,
                       OfVariable{mine.name}, what, files.front().name, why);
    };
    ArrayMembers a = mine.zarray, b = other.zarray;
    if (mine.record) a.shape.at(0) = b.shape.at(0) = 0;
    if (mine.record && mine.copied) a.chunk.at(0) = b.chunk.at(0) = 1;
    // The fill value is null while all chunks have been written.
    if (a.fill == "null") a.fill = b.fill;
    if (b.fill == "null") b.fill = a.fill;
    if (a != b || mine.copied != other.copied || mine.record != other.record)
        return differs("chunks, filters or fill value differ", "");
    if (!mine.record && mine.copied && mine.fixed != other.fixed)
        return differs("values differ", ", and it has no record dimension");
    return {};
}

Status JoinedReferences::check(const JoinedReferences& one, const std::string& path) const {
    if (one.dimension != dimension)
        return failure(TW_EDIFFERENT, "{}: its record dimension is '{}', that of the stream '{}'",
                       path, one.dimension, dimension);
    Status status = check_alike(decisive(), files.front().name, one.decisive(), path);
    for (const JoinedArray& a : arrays)
        if (status.ok()) status = check_array(a, *one.arrays.get(a.name), path);
    return status;
}

/// Checks that no file except the last one ends inside a chunk.
Status JoinedReferences::check_chunks(const std::string& path) const {
    std::size_t last = files.size();
    while (last > 0 && files[last - 1].records == 0) --last;
    std::size_t references = 0;
    for (const JoinedArray& a : arrays) {
        for (const auto& chunks : a.chunks) references += chunks.size();
        for (std::size_t i = 0; a.record && !a.copied && i + 1 < last; ++i)
            if (files[i].records % a.zarray.chunk[0] != 0)
                return failure(TW_EUNSUPPORTED,
                               "{}: variable '{}': {} has {} records, not a multiple of the {} of "
                               "a chunk",
                               path, OfVariable{a.name}, files[i].name, files[i].records,
                               a.zarray.chunk[0]);
    }
    if (references <= most_references) return {};
    return failure(TW_EUNSUPPORTED,
                   "{}: with it the stream has {} references: more than {} are not written to one "
                   "JSON file",
                   path, references, most_references);
}

Status JoinedReferences::add(JoinedReferences&& one, const std::string& path, std::string& said) {
    const JoinedFile added = one.files.front();
    const bool alone = std::all_of(files.begin(), files.end(), [&](const JoinedFile& f) {
        return f.records == 0 || f.name == added.name;
    });
    if (alone) {
        *this = std::move(one);
        return {};
    }
    if (Status s = check(one, path); !s.ok()) return s;
    const auto former = std::find_if(files.begin(), files.end(),
                                     [&](const JoinedFile& f) { return f.name == added.name; });
    std::size_t at = former - files.begin();
    if (former != files.end()) {
        files.erase(former);
        for (JoinedArray& a : arrays) {
            a.chunks.erase(a.chunks.begin() + at);
            a.data.erase(a.data.begin() + at);
        }
    }
    if (at == files.size() || std::isfinite(added.first)) at = place_of(added);
    files.insert(files.begin() + at, added);
    for (JoinedArray& a : arrays) {
        JoinedArray& other = one.arrays[one.arrays.find(a.name)];
        a.chunks.insert(a.chunks.begin() + at, std::move(other.chunks.front()));
        a.data.insert(a.data.begin() + at, std::move(other.data.front()));
        if (other.zarray.fill != "null") a.zarray.fill = other.zarray.fill;
    }
    if (Status s = check_chunks(path); !s.ok()) return s;
    if (fixed.empty() || fixed == added.name) take_fixed(std::move(one));
    said = disorder(at, path);
    return {};
}

// ---- writing ------------------------------------------------------------------------------------

std::string copied_text(std::span<const char> data) {
    return fmt::format("\"{}{}\"", copied_begin, base64(data));
}

void JoinedReferences::add_array(const JoinedArray& a, std::string& text) const {
    const auto add = [&](const std::string& key, std::string_view json) {
        text += ",\n" + json_string(a.name + "/" + key) + ":";
        text += json;
    };
    ArrayMembers zarray = a.zarray;
    const std::int64_t all = records();
    if (a.record) zarray.shape.at(0) = all;
    if (a.record && a.copied) zarray.chunk.at(0) = copied_records(all, a.record_bytes());
    add(".zarray", json_string(array_text(zarray)));
    add(".zattrs", json_string(a.attributes));
    for (const auto& [key, value] : a.fixed) add(key, value);
    if (a.record && a.copied) {
        std::string bytes, rest;
        for (const std::string& data : a.data) bytes += data;
        for (std::size_t d = 1; d < zarray.shape.size(); ++d) rest += ".0";
        const std::size_t size = zarray.chunk.at(0) * a.record_bytes();
        for (std::size_t k = 0; k * size < bytes.size(); ++k) {
            std::string chunk = bytes.substr(k * size, size);
            chunk.resize(size);
            add(std::to_string(k) + rest, copied_text(chunk));
        }
        return;
    }
    std::int64_t first = 0;
    for (std::size_t i = 0; a.record && i < files.size(); ++i) {
        const std::string file = ":[" + json_string(files[i].name) + ",";
        for (const JoinedArray::Chunk& c : a.chunks[i])
            text += ",\n" + json_string(a.name + "/" + std::to_string(first + c.number) + c.rest) +
                    file + std::to_string(c.offset) + "," + std::to_string(c.bytes) + "]";
        first += a.chunks_of(files[i]);
    }
}

/// Returns the beginning of a stream's text, with the library's own data.
std::string JoinedReferences::begin_stream() const {
    std::vector<std::string> of_files, of_variables;
    for (const JoinedFile& f : files)
        of_files.push_back(fmt::format("[{},{},{},{}]", json_string(f.name), f.records,
                                       number_or_null(f.first), number_or_null(f.last)));
    for (const JoinedArray& a : arrays) {
        std::vector<std::string> decisive;
        for (const auto& [name, value] : a.decisive)
            decisive.push_back(json_string(name) + ":" + json_string(value));
        of_variables.push_back(fmt::format("[{},{},{},{{{}}}]", json_string(a.name), a.record,
                                           a.copied, joined(decisive, ",")));
    }
    return fmt::format(R"({}{{"dimension":{},"fixed":{},"files":[{}],"variables":[{}]}},"refs":{{)"
                       "\n",
                       stream_begin, json_string(dimension), json_string(fixed),
                       joined(of_files, ","), joined(of_variables, ","));
}

std::string JoinedReferences::text(bool stream) const {
    std::string text = stream ? begin_stream() : std::string(references_begin);
    text += "\".zgroup\":" + json_string(group) + ",\n\".zattrs\":" + json_string(attributes);
    for (const JoinedArray& a : arrays) add_array(a, text);
    return text + "\n}}\n";
}

}  // namespace thalweg::detail
