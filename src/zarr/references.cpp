// SPDX-License-Identifier: Apache-2.0
#include "zarr/references.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "storage/posix/paths.hpp"
#include "zarr/arrays.hpp"
#include "zarr/base64.hpp"
#include "zarr/reference_file.hpp"
#include "zarr/stream.hpp"

namespace thalweg::detail {

namespace {

using Corner = std::vector<std::int64_t>;

/// Moves `at` to the next position in row-major order. Returns false after the last one.
bool next(Corner& at, const std::vector<std::int64_t>& number) {
    for (std::size_t d = at.size(); d-- > 0;) {
        if (++at[d] < number[d]) return true;
        at[d] = 0;
    }
    return false;
}

class Maker {
public:
    explicit Maker(const ReferenceOptions& options) : options_(options) {}

    Status make(std::span<const ReferencedFile> files, std::string& text) {
        Status status = open_files(files, files_);
        text.clear();
        if (status.ok() && files_.front().records() < options_.least_records) return {};
        if (status.ok() && options_.grows) status = check_record_first(files_.front());
        if (status.ok()) status = plan_arrays(files_, options_, arrays_);
        if (status.ok()) status = collect();
        if (status.ok()) warn_of_order();
        if (status.ok()) write(text);
        return status;
    }

private:
    Status collect();
    Status collect(const OpenFile& f, ReferencedArray& a);
    Status read(const OpenFile& f, ReferencedArray& a) const;
    void settle_fill(ReferencedArray& a) const;
    std::vector<double> times(const OpenFile& f) const;
    void warn_of_order() const;
    std::string begin() const;
    void write(std::string& text) const;
    void write_references(const ReferencedArray& a, std::string& text) const;
    void write_copied(const ReferencedArray& a, std::string& text) const;
    void write_ranges(const OpenFile& f, const ReferencedArray& a, std::string& text) const;
    void write_chunks(const OpenFile& f, const ReferencedArray& a, std::string& text) const;
    void write_place(const OpenFile& f, const ReferencedArray& a, const Corner& number,
                     const ChunkPlace& place, std::string& text) const;

    const Variable& variable(const ReferencedArray& a) const {
        return files_.front().places->variable(a.variable);
    }
    static int in(const OpenFile& f, const ReferencedArray& a) { return f.variable[a.variable]; }
    static const VariablePlaces& places(const OpenFile& f, const ReferencedArray& a) {
        return f.places->of(in(f, a));
    }
    /// Returns the files that hold a variable's data.
    std::span<const OpenFile> holders(const ReferencedArray& a) const {
        return std::span(files_).first(variable(a).record ? files_.size() : 1);
    }
    /// Returns the name of the record dimension.
    const std::string& dimension() const {
        const Definitions& d = files_.front().places->definitions();
        return d.dims[d.record_dim()].name;
    }
    std::int64_t element(const ReferencedArray& a) const { return variable(a).element(); }

    const ReferenceOptions& options_;
    std::vector<OpenFile> files_;
    std::vector<ReferencedArray> arrays_;
};

/// Collects what is needed from each file, one after another, so that only one file is open at a
/// time.
Status Maker::collect() {
    for (const OpenFile& f : files_) {
        for (ReferencedArray& a : arrays_)
            if (Status status = collect(f, a); !status.ok()) return status;
        f.places->forget();
    }
    for (ReferencedArray& a : arrays_) {
        if (!a.copied) settle_fill(a);
        if (a.copied || a.why.empty()) continue;
        if (!copy_instead(a, variable(a).record))
            return failure(TW_EUNSUPPORTED, "{}: variable '{}': {}; leave it out (--skip)",
                           files_.front().file->path, OfVariable{variable(a).name}, a.why);
        for (const OpenFile& f : files_)
            if (Status status = collect(f, a); !status.ok()) return status;
    }
    return {};
}

/// Collects chunk places, copied data and fill values of an array from one file.
Status Maker::collect(const OpenFile& f, ReferencedArray& a) {
    Status status;
    if (a.copied) {
        status = read(f, a);
    } else if (places(f, a).chunked && (variable(a).record || &f == &files_.front())) {
        status = f.places->find_chunks(in(f, a));
        if (a.why.empty()) a.why = places(f, a).why;
    }
    if (status.ok() || !status.place.file.empty()) return status;
    return failure(status.code, "{}: variable '{}': {}", f.file->path, OfVariable{variable(a).name},
                   status.text);
}

/// Appends a file's values to those of earlier files. If the variable has no records, checks that
/// all files have the same values.
Status Maker::read(const OpenFile& f, ReferencedArray& a) const {
    const Variable& v = variable(a);
    const std::int64_t bytes = v.elements() * element(a);
    const std::int64_t records = v.record ? f.records() : 1;
    std::vector<char> values(records * bytes);
    const SourcePart whole{whole_box(v.shape), 0, 0};
    std::vector<ReadRange> ranges;
    for (std::int64_t r = 0; r < records && bytes > 0; ++r)
        ranges.push_back({in(f, a), r, &whole, 0, v.elements(), values.data() + r * bytes});
    if (Status status = f.places->source().read(ranges); !status.ok()) return status;
    if (v.record || &f == &files_.front()) {
        a.data.insert(a.data.end(), values.begin(), values.end());
        return {};
    }
    if (a.data == values) return {};
    return failure(TW_EDIFFERENT,
                   "its values differ from those in {}, and it has no record dimension; leave it "
                   "out (--skip)",
                   files_.front().file->path);
}

/// Sets the fill value if some chunk was never written. Otherwise a variable without _FillValue
/// gets none, since readers would mistake values equal to it for missing data.
void Maker::settle_fill(ReferencedArray& a) const {
    const Variable& v = variable(a);
    const VariablePlaces* missing = nullptr;
    for (const OpenFile& f : holders(a)) {
        const VariablePlaces& p = places(f, a);
        const bool some = p.chunked ? std::any_of(p.chunks.begin(), p.chunks.end(),
                                                  [](const ChunkPlace& c) { return c.bytes == 0; })
                                    : p.offset < 0;
        if (!some) continue;
        if (missing != nullptr && missing->fill != p.fill) a.why = "its fill value differs by file";
        missing = &p;
    }
    if (missing == nullptr) return;
    std::string fill(missing->fill.data(), v.element());
    if (a.zarr.big_endian && std::endian::native == std::endian::little)
        std::reverse(fill.begin(), fill.end());
    const std::string text = fill_text(v.type, fill.data());
    if (fill_attribute(v) == nullptr)
        a.zarr.fill = text;
    else if (text != a.zarr.fill)
        a.why = "its fill value in HDF5 differs from its attribute _FillValue";
}

/// Returns the first and the last value of the record dimension's coordinate variable; empty if
/// there is none.
std::vector<double> Maker::times(const OpenFile& f) const {
    const Definitions& d = files_.front().places->definitions();
    for (const ReferencedArray& a : arrays_) {
        const Variable& v = variable(a);
        if (!a.copied || !v.record || v.dims.size() != 1 || v.type == TW_CHAR ||
            v.name != d.dims[v.dims.front()].name || f.records() == 0)
            continue;
        const auto value = [&](std::int64_t record) {
            std::string bytes(a.data.data() + record * element(a), v.element());
            if (a.zarr.big_endian && std::endian::native == std::endian::little)
                std::reverse(bytes.begin(), bytes.end());
            return number_of(v.type, bytes.data());
        };
        return {value(f.first_record), value(f.first_record + f.records() - 1)};
    }
    return {};
}

/// Warns if the times in a file are not later than those in the file before it. The order may be
/// intended, or a mistake: names may have been sorted so that file 10 comes before file 2.
void Maker::warn_of_order() const {
    const OpenFile* before = nullptr;
    for (const OpenFile& f : files_) {
        const std::vector<double> own = times(f);
        if (own.empty()) continue;
        if (before != nullptr && own.front() <= times(*before).back())
            log::warn("{}: variable '{}' begins with {}, but the file before ends with {}",
                      f.file->path, dimension(), own.front(), times(*before).back());
        before = &f;
    }
}

/// Returns the beginning of the JSON text.
std::string Maker::begin() const {
    if (!options_.grows) return std::string(references_begin);
    const OpenFile& f = files_.front();
    StreamedFile file{f.file->name, f.records(), NAN, NAN};
    if (const std::vector<double> own = times(f); !own.empty()) {
        file.first = own.front();
        file.last = own.back();
    }
    std::vector<StreamVariable> variables;
    for (const ReferencedArray& a : arrays_)
        variables.push_back(
            {variable(a).name, variable(a).record, a.copied, decisive_of(*f.places, a.variable)});
    return std::string(stream_begin) + stream_text(dimension(), file.name, {file}, variables) +
           ",\"refs\":{\n";
}

void Maker::write(std::string& text) const {
    const Definitions& d = files_.front().places->definitions();
    const auto add = [&](const std::string& key, const std::string& json) {
        text += json_string(key) + ":" + json_string(json);
    };
    text = begin();
    add(".zgroup", "{\"zarr_format\":2}");
    text += ",\n";
    add(".zattrs", attributes_text(d, nullptr));
    for (const ReferencedArray& a : arrays_) {
        const Variable& v = variable(a);
        text += ",\n";
        add(v.name + "/.zarray", array_text(a.zarr));
        text += ",\n";
        add(v.name + "/.zattrs", attributes_text(d, &v));
        write_references(a, text);
    }
    text += "\n}}\n";
}

void Maker::write_references(const ReferencedArray& a, std::string& text) const {
    if (volume(a.zarr.shape) == 0) return;
    if (a.copied) return write_copied(a, text);
    for (const OpenFile& f : holders(a))
        if (places(f, a).chunked)
            write_chunks(f, a, text);
        else if (places(f, a).offset >= 0)
            write_ranges(f, a, text);
}

std::string key_of(const std::string& variable, const Corner& number) {
    return json_string(variable + "/" + (number.empty() ? "0" : joined(number, ".")));
}

/// Writes copied data as chunks along the record dimension. Pads the last chunk.
void Maker::write_copied(const ReferencedArray& a, std::string& text) const {
    const std::vector<std::int64_t> number = a.chunks();
    const std::size_t bytes = volume(a.zarr.chunk) * element(a);
    Corner at(number.size(), 0);
    std::size_t begin = 0;
    do {
        std::vector<char> chunk(bytes);
        const std::size_t n = std::min(bytes, a.data.size() - begin);
        std::copy_n(a.data.begin() + begin, n, chunk.begin());
        begin += n;
        text += ",\n" + key_of(variable(a).name, at) + ":\"base64:" + base64(chunk) + "\"";
    } while (next(at, number));
}

void Maker::write_place(const OpenFile& f, const ReferencedArray& a, const Corner& number,
                        const ChunkPlace& place, std::string& text) const {
    text += ",\n" + key_of(variable(a).name, number) + ":[" + json_string(f.file->name);
    text += fmt::format(",{},{}]", place.offset, place.bytes);
}

void Maker::write_ranges(const OpenFile& f, const ReferencedArray& a, std::string& text) const {
    const Variable& v = variable(a);
    const VariablePlaces& p = places(f, a);
    const std::size_t lead = v.record ? 1 : 0;
    std::vector<std::int64_t> number = a.chunks();
    const std::int64_t bytes = volume(a.zarr.chunk) * element(a);
    // number of records in a chunk
    const std::int64_t a_chunk = v.record ? a.zarr.chunk.front() : 1;
    if (v.record) number.front() = f.records() / a_chunk;
    if (volume(number) == 0) return;
    Corner at(number.size(), 0);
    do {
        Index first{};
        for (std::size_t d = 0; d < v.shape.size(); ++d)
            first[d] = at[d + lead] * a.zarr.chunk[d + lead];
        const std::int64_t record = v.record ? at.front() * a_chunk : 0;
        const std::int64_t offset =
            p.offset + record * p.stride + linear(v.shape, first) * element(a);
        Corner key = at;
        if (v.record) key.front() += f.first_record / a_chunk;
        write_place(f, a, key, {offset, bytes}, text);
    } while (next(at, number));
}

void Maker::write_chunks(const OpenFile& f, const ReferencedArray& a, std::string& text) const {
    const Variable& v = variable(a);
    const VariablePlaces& p = places(f, a);
    if (p.chunks.empty()) return;
    std::vector<std::int64_t> number = a.chunks();
    const std::int64_t a_chunk = v.record ? a.zarr.chunk.front() : 1;
    if (v.record) number.front() = (f.records() + a_chunk - 1) / a_chunk;
    Corner at(number.size(), 0);
    for (const ChunkPlace& place : p.chunks) {
        Corner key = at;
        if (v.record) key.front() += f.first_record / a_chunk;
        if (place.bytes > 0) write_place(f, a, key, place, text);
        (void)next(at, number);
    }
}

/// Resolves the symbolic links in the folder of a path, but not in its last component.
std::filesystem::path in_real_folder(const std::string& path) {
    return std::filesystem::canonical(folder_of(path)) / std::filesystem::path(path).filename();
}

}  // namespace

Status make_references(std::span<const ReferencedFile> files, const ReferenceOptions& options,
                       std::string& text) {
    return Maker(options).make(files, text);
}

Status reference_name(const std::string& file, const std::string& reference, std::string& name) {
    try {
        name = in_real_folder(file).lexically_relative(in_real_folder(reference).parent_path());
        (void)nlohmann::json(name).dump();
    } catch (const std::filesystem::filesystem_error& e) {
        return failure(TW_EIO, "{}: {}", reference, e.code().message());
    } catch (const nlohmann::json::exception&) {
        return failure(TW_EARG, "{}: a path that is not UTF-8 cannot be in a JSON file", file);
    }
    // Avoid names such as "a:b", whose beginning readers take for a protocol.
    if (name.find(':') != std::string::npos) name = "./" + name;
    return {};
}

}  // namespace thalweg::detail
