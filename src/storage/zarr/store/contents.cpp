// SPDX-License-Identifier: Apache-2.0
#include "storage/zarr/store/contents.hpp"

#include <sys/stat.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/parsed_json.hpp"
#include "base/text/text.hpp"
#include "storage/chunked/filters.hpp"
#include "storage/netcdf4/existing.hpp"
#include "storage/posix/paths.hpp"
#include "storage/posix/system.hpp"
#include "storage/variables/variables.hpp"
#include "storage/zarr/base64.hpp"

namespace thalweg::detail {

namespace {

using Json = nlohmann::json;

constexpr char own_key[] = "thalweg";

/// Puts quotation marks around the NaN and the infinities of attributes, which JSON lacks.
std::string with_quoted_words(const std::string& text) {
    std::string quoted;
    bool inside = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') inside = !inside;
        if (inside && c == '\\') quoted += text[i++];
        std::size_t n = 0;
        if (!inside)
            for (const std::string_view word : {"NaN", "Infinity", "-Infinity"})
                if (text.compare(i, word.size(), word) == 0) n = word.size();
        if (n > 0) {
            quoted += '"' + text.substr(i, n) + '"';
            i += n - 1;
        } else {
            quoted += text[i];
        }
    }
    return quoted;
}

/// Appends a value in the machine's byte order.
void add_value(const Json& json, tw_type type, std::vector<char>& to) {
    if (type == TW_CHAR) to.push_back(byte_of_base64(json.get<std::string>()));
    with_number(type, [&](auto value) {
        if constexpr (std::is_floating_point_v<decltype(value)>) {
            if (json.is_string()) {
                const std::string word = json.get<std::string>();
                value = word == "NaN" ? std::nan("") : word == "Infinity" ? HUGE_VAL : -HUGE_VAL;
            } else {
                value = static_cast<decltype(value)>(json.get<double>());
            }
        } else {
            value = json.get<decltype(value)>();
        }
        const auto* const bytes = reinterpret_cast<const char*>(&value);
        to.insert(to.end(), bytes, bytes + sizeof value);
        return 0;
    });
}

std::vector<std::int64_t> numbers(const Json& json) {
    return json.get<std::vector<std::int64_t>>();
}

/// Returns the type that has a name or a description.
/// @param form  returns that of a type
template <class Form>
tw_type type_with(const Json& wanted, Form&& form) {
    for (int type = TW_BYTE; valid_type(type); ++type)
        if (form(static_cast<tw_type>(type)) == wanted) return static_cast<tw_type>(type);
    throw std::invalid_argument("unknown type " + wanted.dump());
}

/// @param types  types of all attributes but texts
/// @param names  names of all attributes, in order
void add_attributes(const Json& values, const Json& types, NamedList<Attribute>& to) {
    for (const Json& named : types) {
        Attribute a;
        a.name = named.at(0).get<std::string>();
        const std::string type = named.at(1).get<std::string>();
        const Json& value = values.at(a.name);
        if (type == name_of(TW_CHAR)) {
            const std::string text = value.get<std::string>();
            a.values.assign(text.begin(), text.end());
            a.n = std::ssize(text);
        } else {
            a.type = type_with(type, [](tw_type one) { return Json(name_of(one)); });
            if (!value.is_array()) add_value(value, a.type, a.values);
            if (value.is_array())
                for (const Json& one : value) add_value(one, a.type, a.values);
            a.n = std::ssize(a.values) / size_of(a.type);
        }
        to.push_back(std::move(a));
    }
}

StoredFilter filter_of(const Json& codec) {
    const std::string name = codec.at("name").get<std::string>();
    if (name == "crc32c") return {crc32c_filter};
    const int level = codec.at("configuration").at("level").get<int>();
    if (name == "zstd") return {zstd_filter, 1, level};
    if (name == "gzip") return {gzip_filter, 1, level};
    throw std::invalid_argument("unknown codec " + name);
}

void require(bool condition, const char* what) {
    if (!condition) throw std::invalid_argument(what);
}

/// Takes the division of a variable from its metadata, and sets its packing.
ZarrArray take_division(const Json& json, Variable& v) {
    const Json& codec = json.at("codecs").at(0).at("configuration");
    const std::vector<std::int64_t> chunk = numbers(codec.at("chunk_shape"));
    std::vector<std::int64_t> shard =
        numbers(json.at("chunk_grid").at("configuration").at("chunk_shape"));
    require(chunk.size() == v.dims.size() && shard.size() == chunk.size(), "a wrong rank");
    for (std::size_t d = 0; d < chunk.size(); ++d)
        require(chunk[d] > 0 && shard[d] > 0 && shard[d] % chunk[d] == 0, "wrong chunks");
    ZarrArray a;
    a.grid = grid_of(v, chunk);
    if (v.record) require(shard.front() == chunk.front(), "several chunks of records in a shard");
    for (std::size_t d = 0; d < v.shape.size(); ++d)
        a.per.push_back(shard[d + (v.record ? 1 : 0)] / a.grid.chunk[d]);
    StoredVariable stored;
    stored.chunked = true;
    stored.chunk = chunk;
    const Json& inner = codec.at("codecs");
    for (std::size_t i = 1; i < inner.size(); ++i) a.filters.push_back(filter_of(inner.at(i)));
    require(can_undo(a.filters), "several codecs");
    stored.filters = a.filters;
    v.packing = packing_of(v, stored);
    for (const StoredFilter& f : a.filters)
        if (f.id == gzip_filter) {
            v.packing.codec = Packing::Codec::deflate;
            v.packing.level = f.level;
        }
    // Quantized variables have chunks of one record. Others may have the attribute as a copy.
    a.plain = a.filters.empty() && (!v.packing.filtered() || a.grid.records > 1) &&
              a.grid.in_order && a.per == a.grid.number;
    require(a.plain || a.grid.records == 1, "several records in a chunk");
    if (a.plain) v.packing = {};
    return a;
}

/// @param own  what the library adds to Zarr's metadata, see own_members()
void take_variable(const Json& own, const Json& array, ZarrContents& contents) {
    Definitions& d = contents.definitions;
    Variable v;
    v.name = own.at(0).get<std::string>();
    v.type = type_with(array.at("data_type"),
                       [](tw_type type) { return Json::parse(data_type_text(type)); });
    const std::vector<std::int64_t> shape = numbers(array.at("shape"));
    const Json& dims = array.at("dimension_names");
    require(dims.size() == shape.size() && shape.size() <= max_dims, "a wrong rank");
    for (std::size_t i = 0; i < shape.size(); ++i) {
        v.dims.push_back(d.find_dim(dims.at(i).get<std::string>()));
        require(v.dims.back() >= 0, "an unknown dimension");
        const Dimension& dim = d.dims[v.dims.back()];
        if (dim.unlimited()) {
            require(i == 0 && shape[0] >= 0, "a wrong record dimension");
            v.record = true;
            contents.records = shape[0];
        } else {
            require(shape[i] == dim.length, "a wrong length");
            v.shape.push_back(shape[i]);
        }
    }
    add_attributes(array.at("attributes"), own.at(1), v.attributes);
    std::vector<char> fill;
    add_value(array.at("fill_value"), v.type, fill);
    FillValue value{};
    std::copy(fill.begin(), fill.end(), value.begin());
    const bool named = own.size() > 2 || array.at("attributes").contains("_FillValue");
    if (named && v.attributes.find("_FillValue") < 0)
        v.attributes.push_back({"_FillValue", v.type, 1, fill});
    if (value != v.fill_value()) v.fill = value;
    contents.arrays.push_back(take_division(array, v));
    d.variables.push_back(std::move(v));
}

void take(const std::string& text, ZarrContents& contents) {
    ParsedJson parsed{Json::parse(with_quoted_words(text))};
    const Json& all = parsed.value.at("consolidated_metadata");
    const Json& own = all.at(own_key);
    for (const Json& dim : own.at("dimensions"))
        contents.definitions.dims.push_back(
            {dim.at(0).get<std::string>(), dim.at(1).get<std::int64_t>()});
    add_attributes(parsed.value.at("attributes"), own.at("attributes"),
                   contents.definitions.attributes);
    for (const Json& v : own.at("variables"))
        take_variable(v, all.at("metadata").at(v.at(0).get<std::string>()), contents);
    for (std::size_t i = 0; i < contents.arrays.size() && own.contains("absent"); ++i)
        if (const Json& ranges = own.at("absent").at(i); !ranges.is_null())
            contents.arrays[i].absent = ranges.get<decltype(ZarrArray::absent)::value_type>();
    for (const Variable& v : contents.definitions.variables)
        if (v.record)
            require(all.at("metadata").at(v.name).at("shape").at(0) == contents.records,
                    "different numbers of records");
}

std::string types_text(const Definitions& d, const Variable* v) {
    std::vector<std::string> types;
    for (const Attribute& a : v != nullptr ? v->attributes : d.attributes)
        if (is_member(a, v))
            types.push_back(fmt::format("[{},\"{}\"]", json_string(a.name), name_of(a.type)));
    return "[" + joined(types, ",") + "]";
}

/// Formats the members of the consolidated metadata with which the library completes Zarr's: the
/// order of dimensions and variables, the types of attributes, and a third element for a text whose
/// fill value is an attribute. Also the shards that were never written, if they are known.
std::string own_members(const ZarrContents& contents) {
    const Definitions& d = contents.definitions;
    std::vector<std::string> dims, variables;
    Json absent;
    for (const Dimension& dim : d.dims)
        dims.push_back(fmt::format("[{},{}]", json_string(dim.name), dim.length));
    for (const Variable& v : d.variables)
        variables.push_back(
            fmt::format("[{},{}{}]", json_string(v.name), types_text(d, &v),
                        v.type == TW_CHAR && fill_attribute(v) != nullptr ? ",true" : ""));
    for (const ZarrArray& a : contents.arrays)
        absent.push_back(a.absent ? Json(*a.absent) : Json());
    return fmt::format(
        R"(,"{}":{{"dimensions":[{}],"attributes":{},"variables":[{}],"absent":{}}})", own_key,
        joined(dims, ","), types_text(d, nullptr), joined(variables, ","), absent.dump());
}

}  // namespace

bool is_zarr_store(const std::string& path) {
    return access((path + "/zarr.json").c_str(), F_OK) == 0 && netcdf_files(path).empty();
}

Status add_bytes(const std::string& folder, std::int64_t& bytes) {
    std::error_code error;
    std::filesystem::recursive_directory_iterator at(folder, error), end;
    for (; !error && at != end; at.increment(error))
        if (at->is_regular_file(error)) bytes += static_cast<std::int64_t>(at->file_size(error));
    errno = error.value();
    return error ? system_failure(folder, "cannot get its size") : Status{};
}

Status read_contents(Comm& comm, const std::string& path, int root, ZarrContents& contents) {
    const std::string file = path + "/zarr.json";
    std::vector<char> text;
    Status status = comm.rank() == root ? read_file(file, text) : Status{};
    if (status = agree(comm, status); !status.ok()) return status;
    comm.broadcast(text, root);
    contents = {};
    try {
        take({text.begin(), text.end()}, contents);
    } catch (const std::exception& error) {  // the same on every rank
        status = failure(TW_EFORMAT, "{}: not a Zarr store of this library: {}", OfFile{file},
                         error.what());
    }
    return agree(comm, status);
}

Status write_store(const std::string& path, const ZarrContents& contents, bool durable) {
    const Definitions& d = contents.definitions;
    std::vector<std::string> arrays;
    for (std::size_t i = 0; i < contents.arrays.size(); ++i) {
        const Variable& v = d.variables[i];
        arrays.push_back(json_string(v.name) + ":" +
                         array_metadata(d, v, describe(contents.arrays[i], v, contents.records)));
    }
    return write_metadata(path, group_metadata(d, arrays, own_members(contents)), durable);
}

Status write_arrays(const std::string& path, const ZarrContents& contents, bool durable) {
    const Definitions& d = contents.definitions;
    Status status;
    for (std::size_t i = 0; i < contents.arrays.size() && status.ok(); ++i) {
        const Variable& v = d.variables[i];
        status = write_metadata(
            path + "/" + v.name,
            array_metadata(d, v, describe(contents.arrays[i], v, contents.records)), durable);
    }
    return status;
}

Status sync_store(const std::string& path) {
    return with_file(path, O_RDONLY | O_DIRECTORY, [&](int fd) {
        return syncfs(fd) == 0 ? Status{} : system_failure(path, "cannot sync");
    });
}

constexpr std::int64_t end_of_shards = std::int64_t{1} << 53;  // exact in all JSON

void forget_records(ZarrContents& contents, std::int64_t records) {
    for (std::size_t i = 0; i < contents.arrays.size(); ++i) {
        ZarrArray& a = contents.arrays[i];
        if (!a.absent || !contents.definitions.variables[i].record) continue;
        const std::int64_t shards = (records + a.grid.records - 1) / a.grid.records;
        a.absent->push_back({shards * shards_a_record(a), end_of_shards});
    }
}

Status note_absent(const std::string& path, ZarrContents& contents) {
    std::error_code error;
    constexpr std::size_t most = 1 << 12;  // ranges that are kept
    for (std::size_t i = 0; i < contents.arrays.size() && !error; ++i) {
        const Variable& v = contents.definitions.variables[i];
        ZarrArray& a = contents.arrays[i];
        std::set<std::string> names;
        std::filesystem::directory_iterator entry(path + "/" + v.name, error), end;
        for (; !error && entry != end; entry.increment(error))
            names.insert(v.name + "/" + entry->path().filename().string());
        const std::int64_t n = shards_a_record(a), per = a.grid.records;
        const std::int64_t all = v.record ? (contents.records + per - 1) / per * n : n;
        decltype(ZarrArray::absent)::value_type absent;
        for (std::int64_t at = 0; at < all && absent.size() < most; ++at) {
            const ShardKey key{static_cast<int>(i), at / n, at % n};
            // A file that was there before, and is missing now, is lost.
            if (names.contains(shard_path(a, v, key)) || was_written(a, key, false)) continue;
            if (absent.empty() || absent.back()[1] < at) absent.push_back({at, at});
            absent.back()[1] = at + 1;
        }
        absent.push_back({all, end_of_shards});
        if (!error && absent.size() <= most) a.absent = std::move(absent);
    }
    errno = error.value();
    return error ? system_failure(path, "cannot list its files") : Status{};
}

Status remove_records(const std::string& path, const ZarrContents& contents, std::int64_t records) {
    std::error_code error;
    std::filesystem::remove(temporary_path(path + "/zarr.json"), error);
    for (std::size_t i = 0; i < contents.arrays.size() && !error; ++i) {
        const Variable& v = contents.definitions.variables[i];
        const std::int64_t shard = contents.arrays[i].grid.records;
        const std::int64_t first = (records + shard - 1) / shard;
        std::filesystem::directory_iterator entry(path + "/" + v.name, error), end;
        for (; !error && entry != end; entry.increment(error)) {
            const std::string name = entry->path().filename().string();
            std::int64_t number = -1;
            if (name.starts_with("c."))
                (void)std::from_chars(name.data() + 2, name.data() + name.size(), number);
            if (name.ends_with(".part") || (v.record && number >= first))
                std::filesystem::remove(entry->path(), error);
        }
    }
    errno = error.value();
    return error ? system_failure(path, "cannot remove incomplete records") : Status{};
}

Status complete_store(const std::string& path, std::int64_t records) {
    ZarrContents contents;
    Status status = read_contents(*make_serial_comm(), path, 0, contents);
    const bool cuts = records < contents.records;
    contents.records = records;
    forget_records(contents, records);
    if (status.ok() && cuts) status = write_store(path, contents, true);
    if (status.ok()) status = remove_records(path, contents, records);
    if (status.ok()) status = note_absent(path, contents);
    if (status.ok()) status = write_arrays(path, contents, false);
    if (status.ok()) status = write_store(path, contents, true);
    return status.ok() ? sync_store(path) : status;
}

}  // namespace thalweg::detail
