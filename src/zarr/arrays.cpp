// SPDX-License-Identifier: Apache-2.0
#include "zarr/arrays.hpp"

#include <algorithm>
#include <numeric>

#include "zarr/cut.hpp"

namespace thalweg::detail {

namespace {

/// Largest number of references before contiguous, uncompressed data get larger chunks (see
/// zarr/cut.hpp).
constexpr std::int64_t many_references = 100'000;
/// Largest size of such a chunk in bytes.
constexpr std::int64_t largest_cut = std::int64_t(1) << 30;
/// Largest size in bytes of a variable whose data are copied because no references to them can be
/// made.
constexpr std::int64_t most_copied = 16 << 20;
constexpr std::int64_t copied_chunk = 1 << 20;  ///< bytes

class Planner {
public:
    Planner(const std::vector<OpenFile>& files, const ReferenceOptions& options)
        : files_(files), options_(options), first_(*files.front().places) {
        for (const OpenFile& f : files) {
            records_ += f.records();
            common_ = std::gcd(common_, f.records());
        }
    }

    Status plan(std::vector<ReferencedArray>& arrays) {
        const Definitions& d = first_.definitions();
        for (const std::string& name : options_.left_out)
            if (d.find_variable(name) < 0) return no_variable(d, files_.front().file->path, name);
        for (std::size_t i = 0; i < d.variables.size(); ++i) {
            const auto& out = options_.left_out;
            const auto is_it = [&](const std::string& name) {
                return d.find_variable(name) == static_cast<int>(i);
            };
            if (std::any_of(out.begin(), out.end(), is_it)) continue;
            ReferencedArray array;
            array.variable = i;
            if (Status status = describe(array); !status.ok()) return status;
            arrays.push_back(std::move(array));
        }
        return limit(arrays);
    }

private:
    Status describe(ReferencedArray& a);
    Status check_whole(const ReferencedArray& a) const;
    void choose_chunk(ReferencedArray& a, std::int64_t most) const;
    void check_chunked(ReferencedArray& a) const;
    std::int64_t beyond(const ReferencedArray& a) const;
    Status limit(std::vector<ReferencedArray>& arrays) const;

    const Variable& variable(const ReferencedArray& a) const { return first_.variable(a.variable); }
    const VariablePlaces& places(const OpenFile& f, const ReferencedArray& a) const {
        return f.places->of(f.variable[a.variable]);
    }
    /// Returns the files that hold a variable's data: all files for a record variable, otherwise
    /// only the first one.
    std::span<const OpenFile> holders(const ReferencedArray& a) const {
        return std::span(files_).first(variable(a).record ? files_.size() : 1);
    }

    const std::vector<OpenFile>& files_;
    const ReferenceOptions& options_;
    const Places& first_;
    /// Number of records in all files together, and greatest common divisor of the numbers of
    /// records in the files.
    std::int64_t records_ = 0, common_ = 0;
};

Status Planner::describe(ReferencedArray& a) {
    const Variable& v = variable(a);
    const std::int64_t element = v.element();
    a.zarr.shape = v.shape;
    if (v.record) a.zarr.shape.insert(a.zarr.shape.begin(), records_);
    const VariablePlaces& its = places(files_.front(), a);
    if (std::ssize(v.shape) > max_dims)
        return failure(TW_EUNSUPPORTED,
                       "{}: variable '{}': it has more than {} dimensions; leave it out (--skip)",
                       files_.front().file->path, OfVariable{v.name}, max_dims);
    if (!its.readable)
        return failure(TW_EUNSUPPORTED, "{}: variable '{}': {}; leave it out (--skip)",
                       files_.front().file->path, OfVariable{v.name}, its.why);
    a.big_endian = element > 1 && first_.source().order(a.variable) == Order::big_endian;
    a.zarr.dtype = dtype_text(v.type, a.big_endian);
    std::int64_t record_bytes = element * v.elements();
    if (__builtin_mul_overflow(record_bytes, v.record ? records_ : 1, &a.bytes))
        return failure(TW_EFORMAT, "{}: variable '{}' has too many elements",
                       files_.front().file->path, OfVariable{v.name});
    for (const OpenFile& f : holders(a))
        if (a.why.empty()) a.why = places(f, a).why;
    if (a.why.empty() && its.chunked) check_chunked(a);
    const Attribute* fill = fill_attribute(v);
    if (fill != nullptr) a.zarr.fill = fill_text(v.type, fill->values.data());
    // Do not copy a variable that is small now but grows with each record.
    const bool small = (a.bytes <= options_.copied && !(options_.grows && v.record)) ||
                       (v.record && record_bytes <= options_.copied / 1024);
    if ((small || !a.why.empty()) && !copy_instead(a, v.record) && !a.why.empty())
        return failure(TW_EUNSUPPORTED, "{}: variable '{}': {}; leave it out (--skip)",
                       files_.front().file->path, OfVariable{v.name}, a.why);
    return check_whole(a);
}

/// Checks that the files are long enough for all their data.
Status Planner::check_whole(const ReferencedArray& a) const {
    for (const OpenFile& f : holders(a)) {
        if (variable(a).record && f.records() == 0) continue;
        const int at = f.variable[a.variable];
        if (Status s = f.places->source().check(at, std::max<std::int64_t>(0, f.records() - 1));
            !s.ok())
            return failure(s.code, "{}: variable '{}': {}", f.file->path,
                           OfVariable{variable(a).name}, s.text);
    }
    return {};
}

/// Uses the chunks and filters that the variable has in the file.
void Planner::check_chunked(ReferencedArray& a) const {
    const VariablePlaces& its = places(files_.front(), a);
    a.why = why_no_codecs(its.filters, volume(its.chunk) * variable(a).element());
    const auto same = [](const StoredFilter& x, const StoredFilter& y) {
        return x.id == y.id && x.element == y.element;
    };
    const std::span<const OpenFile> all = holders(a);
    for (std::size_t k = 0; k < all.size(); ++k) {
        const VariablePlaces& other = places(all[k], a);
        if (other.chunk != its.chunk || other.chunked != its.chunked ||
            !std::equal(its.filters.begin(), its.filters.end(), other.filters.begin(),
                        other.filters.end(), same))
            a.why = fmt::format("its chunks or filters in {} differ from those in {}",
                                all[k].file->path, all.front().file->path);
        else if (k + 1 < all.size() && all[k].records() % its.chunk.front() != 0)
            a.why = fmt::format("{} has {} records, not a multiple of the {} of a chunk",
                                all[k].file->path, all[k].records(), its.chunk.front());
    }
    a.zarr.chunk = its.chunk;
    a.zarr.filters = filters_text(its.filters);
}

/// Returns the number of bytes that each file has after the variable's last element.
std::int64_t Planner::beyond(const ReferencedArray& a) const {
    const Variable& v = variable(a);
    const std::int64_t bytes = v.elements() * v.element();
    std::int64_t least = INT64_MAX;
    for (const OpenFile& f : holders(a)) {
        const VariablePlaces& p = places(f, a);
        if (p.offset < 0 || (v.record && f.records() == 0)) continue;
        const std::int64_t last = v.record ? (f.records() - 1) * p.stride : 0;
        least = std::min(least, f.places->size() - (p.offset + last + bytes));
    }
    return least;
}

/// Chooses chunks for data that can be divided anywhere: contiguous data without filters.
void Planner::choose_chunk(ReferencedArray& a, std::int64_t most) const {
    const Variable& v = variable(a);
    const std::int64_t element = v.element();
    const std::int64_t record_bytes = v.elements() * element;
    a.zarr.chunk = cut(v.shape, element, {most, beyond(a)});
    if (!v.record) return;
    const bool dense = std::all_of(files_.begin(), files_.end(), [&](const OpenFile& f) {
        return places(f, a).stride == record_bytes;
    });
    const bool whole = volume(a.zarr.chunk) == std::max<std::int64_t>(1, v.elements());
    const std::int64_t records =
        dense && whole && !options_.grows && common_ > 0 && record_bytes > 0
            ? largest_divisor(common_, std::max<std::int64_t>(1, most / record_bytes))
            : 1;
    a.zarr.chunk.insert(a.zarr.chunk.begin(), records);
}

Status Planner::limit(std::vector<ReferencedArray>& arrays) const {
    for (std::int64_t most = options_.most_chunk;; most *= 2) {
        double references = 0;
        const ReferencedArray* largest = nullptr;
        double of_largest = -1;
        for (ReferencedArray& a : arrays) {
            if (!a.copied && !places(files_.front(), a).chunked) choose_chunk(a, most);
            double chunks = 1;
            const std::vector<std::int64_t> number = a.chunks();
            // Chunks of a growing file must not depend on the present number of records.
            const bool grows = options_.grows && variable(a).record;
            for (std::size_t d = grows ? 1 : 0; d < number.size(); ++d)
                chunks *= static_cast<double>(number[d]);
            references += chunks;
            if (chunks > of_largest) largest = &a;
            of_largest = std::max(of_largest, chunks);
        }
        if (references <= many_references) return {};
        if (most < largest_cut) continue;
        if (references <= most_references) return {};
        return failure(TW_EUNSUPPORTED,
                       "{}: {:.0f} references, most of them to variable '{}': more than {} are not "
                       "written to one JSON file",
                       files_.front().file->path, references, OfVariable{variable(*largest).name},
                       most_references);
    }
}

}  // namespace

std::vector<std::int64_t> ReferencedArray::chunks() const {
    std::vector<std::int64_t> number(zarr.shape.size());
    for (std::size_t d = 0; d < number.size(); ++d)
        number[d] = zarr.shape[d] / zarr.chunk[d] + (zarr.shape[d] % zarr.chunk[d] != 0);
    return number;
}

bool copy_instead(ReferencedArray& a, bool record) {
    if (a.bytes > most_copied) return false;
    a.copied = true;
    a.zarr.filters = "null";
    a.zarr.chunk = a.zarr.shape;
    for (std::int64_t& n : a.zarr.chunk) n = std::max<std::int64_t>(1, n);
    if (!record) return true;
    std::int64_t& records = a.zarr.chunk.front();
    records = copied_records(records, a.bytes / records);
    return true;
}

std::int64_t copied_records(std::int64_t records, std::int64_t record_bytes) {
    const std::int64_t most = copied_chunk / std::max<std::int64_t>(1, record_bytes);
    return std::clamp<std::int64_t>(records, 1, std::max<std::int64_t>(1, most));
}

Status plan_arrays(const std::vector<OpenFile>& files, const ReferenceOptions& options,
                   std::vector<ReferencedArray>& arrays) {
    return Planner(files, options).plan(arrays);
}

}  // namespace thalweg::detail
