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
#include "zarr/joined_references.hpp"
#include "zarr/reference_file.hpp"

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

/// Replaces bytes that are not UTF-8, as JSON texts do.
std::string as_in_json(const std::string& text) {
    return nlohmann::json::parse(json_string(text)).get<std::string>();
}

class Maker {
public:
    explicit Maker(const ReferenceOptions& options) : options_(options) {}

    Status make(std::span<const ReferencedFile> files, JoinedReferences& made) {
        Status status = open_files(files, files_);
        made = {};
        if (status.ok() && files_.front().records() < options_.least_records) return {};
        if (status.ok() && options_.grows) status = check_record_first(files_.front());
        if (status.ok()) status = plan_arrays(files_, options_, arrays_);
        if (status.ok()) status = collect();
        if (status.ok()) join(made);
        return status;
    }

private:
    Status collect();
    Status collect(std::size_t file, ReferencedArray& a);
    Status read(std::size_t file, ReferencedArray& a) const;
    void settle_fill(ReferencedArray& a) const;
    void join(JoinedReferences& made);
    JoinedArray joined_array(ReferencedArray& a) const;
    void add_places(std::size_t file, const ReferencedArray& a, JoinedArray& to) const;
    void note_times(JoinedReferences& made) const;

    const Definitions& definitions() const { return files_.front().places->definitions(); }
    const Variable& variable(const ReferencedArray& a) const {
        return definitions().variables[a.variable];
    }
    static int in(const OpenFile& f, const ReferencedArray& a) { return f.variable[a.variable]; }
    static const VariablePlaces& places(const OpenFile& f, const ReferencedArray& a) {
        return f.places->of(in(f, a));
    }
    /// Returns the number of files that hold a variable's data.
    std::size_t holders(const ReferencedArray& a) const {
        return variable(a).record ? files_.size() : 1;
    }
    std::int64_t element(const ReferencedArray& a) const { return variable(a).element(); }

    const ReferenceOptions& options_;
    std::vector<OpenFile> files_;
    std::vector<ReferencedArray> arrays_;
};

/// Collects what is needed from each file, one after another, so that only one file is open at a
/// time.
Status Maker::collect() {
    for (std::size_t file = 0; file < files_.size(); ++file) {
        for (ReferencedArray& a : arrays_)
            if (Status status = collect(file, a); !status.ok()) return status;
        files_[file].places->forget();
    }
    for (ReferencedArray& a : arrays_) {
        if (!a.copied) settle_fill(a);
        if (a.copied || a.why.empty()) continue;
        if (!copy_instead(a, variable(a).record))
            return failure(TW_EUNSUPPORTED, "{}: variable '{}': {}; leave it out (--skip)",
                           files_.front().file->path, OfVariable{variable(a).name}, a.why);
        for (std::size_t file = 0; file < files_.size(); ++file)
            if (Status status = collect(file, a); !status.ok()) return status;
    }
    return {};
}

/// Collects chunk places, copied data and fill values of an array from one file.
Status Maker::collect(std::size_t file, ReferencedArray& a) {
    const OpenFile& f = files_[file];
    Status status;
    if (a.copied) {
        status = read(file, a);
    } else if (places(f, a).chunked && file < holders(a)) {
        status = f.places->find_chunks(in(f, a));
        if (a.why.empty()) a.why = places(f, a).why;
    }
    if (status.ok() || !status.place.file.empty()) return status;
    return failure(status.code, "{}: variable '{}': {}", f.file->path, OfVariable{variable(a).name},
                   status.text);
}

/// Reads a file's values. If the variable has no records, checks that all files have the same
/// values.
Status Maker::read(std::size_t file, ReferencedArray& a) const {
    const OpenFile& f = files_[file];
    const Variable& v = variable(a);
    const std::int64_t bytes = v.elements() * element(a);
    const std::int64_t records = v.record ? f.records() : 1;
    std::string values(records * bytes, '\0');
    const SourcePart whole{whole_box(v.shape), 0, 0};
    std::vector<ReadRange> ranges;
    for (std::int64_t r = 0; r < records && bytes > 0; ++r)
        ranges.push_back({in(f, a), r, &whole, 0, v.elements(), values.data() + r * bytes});
    if (Status status = f.places->source().read(ranges); !status.ok()) return status;
    if (file < holders(a)) {
        a.data.push_back(std::move(values));
        return {};
    }
    if (a.data.front() == values) return {};
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
    for (std::size_t file = 0; file < holders(a); ++file) {
        const VariablePlaces& p = places(files_[file], a);
        const bool some = p.chunked ? std::any_of(p.chunks.begin(), p.chunks.end(),
                                                  [](const ChunkPlace& c) { return c.bytes == 0; })
                                    : p.offset < 0;
        if (!some) continue;
        if (missing != nullptr && missing->fill != p.fill) a.why = "its fill value differs by file";
        missing = &p;
    }
    if (missing == nullptr) return;
    std::string fill(missing->fill.data(), v.element());
    if (a.big_endian && std::endian::native == std::endian::little)
        std::reverse(fill.begin(), fill.end());
    const std::string text = fill_text(v.type, fill.data());
    if (fill_attribute(v) == nullptr)
        a.zarr.fill = text;
    else if (text != a.zarr.fill)
        a.why = "its fill value in HDF5 differs from its attribute _FillValue";
}

/// Adds the places of an array's data in one file.
void Maker::add_places(std::size_t file, const ReferencedArray& a, JoinedArray& to) const {
    const OpenFile& f = files_[file];
    const Variable& v = variable(a);
    const VariablePlaces& p = places(f, a);
    if (p.chunked ? p.chunks.empty() : p.offset < 0) return;
    std::vector<std::int64_t> number = a.chunks();
    const std::size_t lead = v.record ? 1 : 0;
    const std::int64_t records = v.record ? a.zarr.chunk.front() : 1;  // in a chunk
    if (v.record) number.front() = (f.records() + records - 1) / records;
    if (volume(number) == 0) return;
    auto chunk = p.chunks.begin();
    Corner at(number.size(), 0);
    do {
        ChunkPlace place{p.offset, volume(a.zarr.chunk) * element(a)};
        if (p.chunked) {
            place = *chunk++;
        } else {
            Index first{};
            for (std::size_t d = 0; d < v.shape.size(); ++d)
                first[d] = at[d + lead] * a.zarr.chunk[d + lead];
            place.offset += linear(v.shape, first) * element(a);
            if (v.record) place.offset += at.front() * records * p.stride;
        }
        if (place.bytes == 0) continue;  // the chunk was never written
        const std::string rest = joined(std::span(at).subspan(lead), ".");
        if (v.record)
            to.chunks[file].push_back(
                {at.front(), rest.empty() ? "" : "." + rest, place.offset, place.bytes});
        else
            to.fixed.emplace_back(
                rest.empty() ? "0" : rest,
                fmt::format("[{},{},{}]", json_string(f.file->name), place.offset, place.bytes));
    } while (next(at, number));
}

JoinedArray Maker::joined_array(ReferencedArray& a) const {
    const Variable& v = variable(a);
    JoinedArray made{as_in_json(v.name), v.record, a.copied};
    for (const auto& [name, text] : decisive_of(*files_.front().places, a.variable))
        made.decisive[as_in_json(name)] = as_in_json(text);
    made.zarray = a.zarr;
    made.attributes = attributes_text(definitions(), &v);
    made.chunks.resize(files_.size());
    made.data.resize(files_.size());
    if (!a.copied) {
        for (std::size_t file = 0; file < holders(a); ++file) add_places(file, a, made);
    } else if (v.record) {
        made.data = std::move(a.data);
    } else if (!a.data.front().empty()) {
        const std::vector<std::int64_t> key(std::max<std::size_t>(1, v.shape.size()), 0);
        made.fixed.emplace_back(joined(key, "."), copied_text(a.data.front()));
    }
    return made;
}

/// Notes the first and the last value of the record dimension's coordinate variable in each file.
void Maker::note_times(JoinedReferences& made) const {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        const Variable& v = variable(arrays_[i]);
        if (!arrays_[i].copied || !v.record || v.dims.size() != 1 || v.type == TW_CHAR ||
            v.name != definitions().dims[v.dims.front()].name)
            continue;
        for (std::size_t file = 0; file < files_.size(); ++file) {
            const std::string& data = made.arrays[i].data[file];
            const auto value = [&](std::int64_t record) {
                std::string bytes = data.substr(record * v.element(), v.element());
                if (arrays_[i].big_endian && std::endian::native == std::endian::little)
                    std::reverse(bytes.begin(), bytes.end());
                return number_of(v.type, bytes.data());
            };
            if (data.empty()) continue;
            made.files[file].first = value(0);
            made.files[file].last = value(files_[file].records() - 1);
        }
    }
}

void Maker::join(JoinedReferences& made) {
    const int dim = definitions().record_dim();
    if (dim >= 0) made.dimension = as_in_json(definitions().dims[dim].name);
    made.fixed = files_.front().file->name;
    made.group = "{\"zarr_format\":2}";
    made.attributes = attributes_text(definitions(), nullptr);
    for (const OpenFile& f : files_) made.files.push_back({f.file->name, f.records(), NAN, NAN});
    for (ReferencedArray& a : arrays_) made.arrays.push_back(joined_array(a));
    note_times(made);
    for (std::size_t file = 0; file < files_.size(); ++file)
        if (const std::string said = made.disorder(file, files_[file].file->path); !said.empty())
            log::warn("{}", said);
}

/// Resolves the symbolic links in the folder of a path, but not in its last component.
std::filesystem::path in_real_folder(const std::string& path) {
    return std::filesystem::canonical(folder_of(path)) / std::filesystem::path(path).filename();
}

}  // namespace

Status make_references(std::span<const ReferencedFile> files, const ReferenceOptions& options,
                       JoinedReferences& made) {
    return Maker(options).make(files, made);
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
