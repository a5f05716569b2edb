// SPDX-License-Identifier: Apache-2.0
#include "pnetcdf/engine/data/selection.hpp"

#include <netcdf.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>

#include "nc/base/types.hpp"
#include "pnetcdf/engine/codes.hpp"
#include "pnetcdf/engine/data/file_types.hpp"

namespace thalweg::pnetcdf::engine {

namespace {

// Tests if a start index is out of bounds.
// @param strict  see `check_bounds` of a file
bool starts_beyond(Index start, Index count, Index length, bool strict) {
    return start < 0 || start > length || (start == length && (strict || count > 0));
}

bool ends_beyond(Index start, Index count, const MPI_Offset* stride, Index length) {
    if (stride == nullptr || *stride < 1) return count > length || start + count > length;
    return count > 0 && (count - 1) > (length - 1 - start) / *stride;
}

}  // namespace

bool Selector::is_strict() {
    const char* const relax = std::getenv("PNETCDF_RELAX_COORD_BOUND");
    return relax != nullptr && *relax == '0';
}

Variable& variable_of(Definitions& definitions, int varid) {
    if (varid == NC_GLOBAL)
        throw Error{NC_EGLOBAL, definitions.path + ": NC_GLOBAL is no variable"};
    return definitions.table.variable(varid);
}

// Returns the lengths of a variable; to read it, with the records that all ranks have put.
Shape Selector::lengths_for(const Variable& v, bool reading) {
    Shape lengths = table_.lengths(v);
    if (reading && table_.is_record(v)) lengths[0] = puts_.records();
    return lengths;
}

void Selector::check_bounds(const Variable& v, const Shape& lengths, bool reading, bool whole,
                            const MPI_Offset* start, const MPI_Offset* count,
                            const MPI_Offset* stride) const {
    const auto refuse = [&](int code, const char* what) {
        throw Error{code, definitions_.path + ": variable " + v.name + ": " + what};
    };
    if (start == nullptr || start[0] < 0) refuse(NC_EINVALCOORDS, "there is no start");
    const bool record = table_.is_record(v);
    if (record && has_classic_types(definitions_.format) &&
        start[0] > std::numeric_limits<std::uint32_t>::max())
        refuse(NC_EINVALCOORDS, "a record that the format cannot have");
    const auto is_free = [&](std::size_t d) { return d == 0 && record && !reading; };
    for (std::size_t d = 0; d < v.dims.size(); d++) {
        if (is_free(d)) continue;
        const Index n = count == nullptr ? 1 : count[d];
        if (starts_beyond(start[d], n, lengths[d], strict_bounds_))
            refuse(NC_EINVALCOORDS, "a start beyond the dimension");
    }
    if (count == nullptr) {
        if (whole) refuse(NC_EEDGE, "there is no count");
        return;
    }
    for (std::size_t d = 0; d < v.dims.size(); d++) {
        if (count[d] < 0) refuse(NC_ENEGATIVECNT, "a negative count");
        if (!is_free(d) &&
            ends_beyond(start[d], count[d], stride == nullptr ? nullptr : stride + d, lengths[d]))
            refuse(NC_EEDGE, "an end beyond the dimension");
    }
    if (stride != nullptr)
        for (std::size_t d = 0; d < v.dims.size(); d++)
            if (stride[d] <= 0) refuse(NC_ESTRIDE, "a stride below 1");
}

void Selector::add_section(const Variable& v, const DataCall& call, Selection& s) {
    Entry part;
    part.varid = call.varid;
    const std::size_t dims = v.dims.size();
    if (call.kind == Kind::var) {
        part.start.assign(dims, 0);
        part.count = table_.lengths(v);
        if (table_.is_record(v)) part.count[0] = puts_.records();
    } else if (dims > 0) {
        const bool whole = call.kind != Kind::var1;
        check_bounds(v, lengths_for(v, !call.puts()), !call.puts(), whole, call.start, call.count,
                     call.stride);
        part.start.assign(call.start, call.start + dims);
        part.count.assign(dims, 1);
        if (whole) part.count.assign(call.count, call.count + dims);
        if (call.stride != nullptr) part.stride.assign(call.stride, call.stride + dims);
    }
    s.elements = volume(part.count);
    s.array = Array(call, v.type, part.count, s.elements);
    if (s.elements > 0) s.parts.push_back(std::move(part));
}

namespace {

// Collects consecutive boxes of one record.
class Collector {
public:
    // @param dims   number of dimensions of the variable
    // @param outer  1 if it has records: a dimension before those of the boxes; otherwise 0
    Collector(Selection& selection, int varid, std::size_t dims, std::size_t outer)
        : selection_(selection), varid_(varid), dims_(dims), outer_(outer) {}
    ~Collector() = default;
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;

    // @param count  number of elements along each dimension; null: 1
    template <class Number>
    void add(const Number* start, const Number* count) {
        const bool alone = dims_ == outer_ || (outer_ == 1 && count != nullptr && count[0] != 1);
        if (n_ > 0 && (alone || (outer_ == 1 && start[0] != numbers_[0]))) finish();
        numbers_.insert(numbers_.end(), start, start + dims_);
        if (count == nullptr)
            numbers_.insert(numbers_.end(), dims_, 1);
        else
            numbers_.insert(numbers_.end(), count, count + dims_);
        n_++;
        if (alone) finish();
    }

    void finish() {
        if (n_ == 0) return;
        Entry all;
        all.varid = varid_;
        all.start.assign(numbers_.begin(), numbers_.begin() + static_cast<std::ptrdiff_t>(dims_));
        Shape end(dims_, 0);
        for (std::size_t i = 0; i < numbers_.size(); i += 2 * dims_)
            for (std::size_t d = 0; d < dims_; d++) {
                const Index start = numbers_[i + d];
                all.start[d] = std::min(all.start[d], start);
                end[d] = std::max(end[d], start + numbers_[i + dims_ + d]);
            }
        for (std::size_t d = 0; d < dims_; d++) all.count.push_back(end[d] - all.start[d]);
        if (n_ > 1) all.pieces = pieces();
        selection_.parts.push_back(std::move(all));
        numbers_.clear();
        n_ = 0;
    }

private:
    Selection& selection_;
    int varid_;
    std::size_t dims_, outer_;
    std::vector<Index> numbers_;  // start and count of each box
    Index n_ = 0;                 // number of boxes

    // Returns the boxes without the record dimension.
    std::shared_ptr<const Pieces> pieces() {
        auto pieces = std::make_shared<Pieces>();
        pieces->n = n_;
        const std::size_t inner = dims_ - outer_;
        pieces->numbers.reserve(2 * inner * static_cast<std::size_t>(n_));
        for (std::size_t i = 0; i < numbers_.size(); i += dims_)
            pieces->numbers.insert(pieces->numbers.end(), &numbers_[i + outer_],
                                   &numbers_[i + outer_] + inner);
        for (std::size_t i = inner; i < pieces->numbers.size(); i += 2 * inner) {
            Index elements = 1;
            for (std::size_t d = 0; d < inner; d++) elements *= pieces->numbers[i + d];
            pieces->elements += elements;
        }
        pieces->key = hash_of(pieces->numbers, static_cast<std::uint64_t>(n_));
        return pieces;
    }
};

}  // namespace

// Returns a key of the boxes of a varn call, without their record, and of the variable's shape; 0
// if they are not kept for later calls, as those in several records are not.
Key Selector::key_of_pieces(const Variable& v, const DataCall& call) {
    const std::size_t dims = v.dims.size(), outer = table_.is_record(v) ? 1 : 0;
    if (call.pieces < 2 || dims == outer || call.starts == nullptr) return {};
    numbers_.resize(static_cast<std::size_t>(2 * call.pieces + 1) * (dims - outer));
    Index* to = numbers_.data();
    for (std::size_t d = outer; d < dims; d++) *to++ = table_.length(v.dims[d]);
    for (int i = 0; i < call.pieces; i++) {
        const MPI_Offset* const start = call.starts[i];
        const MPI_Offset* const count = call.counts == nullptr ? nullptr : call.counts[i];
        if (start == nullptr) return {};
        if (outer == 1 && (start[0] != call.starts[0][0] || (count != nullptr && count[0] != 1)))
            return {};
        to = std::copy(start + outer, start + dims, to);
        to = count == nullptr ? std::fill_n(to, dims - outer, 1)
                              : std::copy(count + outer, count + dims, to);
    }
    return hash_of(numbers_, 2 * static_cast<std::uint64_t>(call.pieces) + outer);
}

// Uses the boxes of an earlier call again, because programs pass the same boxes for many variables
// and in each record.
void Selector::add_pieces(const Variable& v, const DataCall& call, Selection& s) {
    constexpr std::size_t most = 8;
    const Key key = key_of_pieces(v, call);
    const auto known = std::find_if(known_pieces_.begin(), known_pieces_.end(),
                                    [&](const KnownPieces& k) { return k.key == key; });
    if (known != known_pieces_.end()) {
        // The other indices were checked when the boxes were new.
        check_bounds(v, lengths_for(v, !call.puts()), !call.puts(), false, call.starts[0],
                     call.counts == nullptr ? nullptr : call.counts[0], nullptr);
        s.parts.push_back(known->part);
        s.parts.front().varid = call.varid;
        if (table_.is_record(v)) s.parts.front().start[0] = call.starts[0][0];
        s.elements = known->part.elements();
    } else {
        add_new_pieces(v, call, s);
        if (key != Key{} && s.parts.size() == 1 && s.parts.front().pieces != nullptr) {
            if (known_pieces_.size() == most) known_pieces_.clear();
            known_pieces_.push_back({key, s.parts.front()});
        }
    }
    s.array = Array(call, v.type, {}, s.elements);
}

void Selector::add_new_pieces(const Variable& v, const DataCall& call, Selection& s) {
    const std::size_t dims = v.dims.size();
    const auto refuse = [&](int code, const char* what) {
        throw Error{code, definitions_.path + ": variable " + v.name + ": " + what};
    };
    if (dims == 0 && call.pieces > 1) refuse(NC_EINVAL, "a scalar has one piece");
    if (dims > 0 && call.pieces > 0 && call.starts == nullptr) refuse(NC_ENULLSTART, "no starts");
    Collector collector(s, call.varid, dims, table_.is_record(v) ? 1 : 0);
    const Shape lengths = lengths_for(v, !call.puts());
    for (int i = 0; i < call.pieces; i++) {
        const MPI_Offset *start = nullptr, *count = nullptr;
        Index n = 1;
        if (dims > 0) {
            start = call.starts[i];
            count = call.counts == nullptr ? nullptr : call.counts[i];
            if (start == nullptr) refuse(NC_ENULLSTART, "a piece has no start");
            check_bounds(v, lengths, !call.puts(), false, start, count, nullptr);
            for (std::size_t d = 0; d < dims && count != nullptr; d++) n *= count[d];
        }
        s.elements += n;
        if (n > 0) collector.add(start, count);
    }
    collector.finish();
}

namespace {

// Returns start and count of the largest box that begins at an element of an array, has at most n
// elements, and contains them in the array's order without gaps.
std::pair<Shape, Shape> first_box(const Shape& shape, Index element, Index n) {
    Shape start(shape.size()), count(shape.size(), 1);
    Index inner = 1;  // elements along the dimensions after that of the box
    bool whole = true;
    for (std::size_t d = shape.size(); d-- > 0; element /= shape[d]) {
        start[d] = element % shape[d];
        if (!whole || n < inner) continue;
        count[d] = std::min(n / inner, shape[d] - start[d]);
        whole = count[d] == shape[d];
        inner *= shape[d];
    }
    return {start, count};
}

}  // namespace

// Adds the elements to which the filetype of a vard call points. They may belong to other variables
// of the same type, too.
void Selector::add_places(const Variable& v, const DataCall& call, Selection& s) {
    if (call.filetype == MPI_DATATYPE_NULL ||
        (call.bufcount == 0 && call.buftype != MPI_DATATYPE_NULL))
        return;
    const auto refuse = [&](int code, const char* what) {
        throw Error{code, definitions_.path + ": variable " + v.name + ": " + what};
    };
    if (element_of(call.filetype) != v.type)
        refuse(NC_ETYPE_MISMATCH, "a datatype of another type");
    const auto size = static_cast<Index>(size_of(v.type));
    const Places p = layout_.places();
    const auto find = [&](Index offset, Entry& box, Index& within, Shape& shape) {
        for (std::size_t i = 0; i < p.begin.size(); i++) {
            const Variable& other = table_.variables[i];
            const bool record = table_.is_record(other);
            Index at = offset - p.begin[i];
            shape = table_.lengths(other);
            if (record) shape.erase(shape.begin());
            const Index bytes = volume(shape) * static_cast<Index>(size_of(other.type));
            if (at < 0 || (!record && at >= bytes)) continue;
            const Index number = record ? at / p.record_bytes : 0;
            if (record) at %= p.record_bytes;
            if (at >= bytes || at % static_cast<Index>(size_of(other.type)) != 0) continue;
            if (other.type != v.type)
                refuse(NC_ENOTSUPPORT, "places of a variable of another type");
            if (record && !call.puts() && number >= puts_.records())
                refuse(NC_EINVALCOORDS, "a record that is not there");
            box.varid = static_cast<int>(i);
            box.start.assign(record ? 1 : 0, number);
            within = at / size;
            return;
        }
        refuse(NC_EINVALCOORDS, "places outside of variables");
    };
    std::unique_ptr<Collector> collector;
    int collected = -1;
    for (const Run& run : runs_of(call.filetype)) {
        for (Index done = 0; done < run.bytes;) {
            Entry box;
            Index within = 0;
            Shape shape;
            find(p.begin[static_cast<std::size_t>(call.varid)] + run.offset + done, box, within,
                 shape);
            const auto [start, count] = first_box(shape, within, (run.bytes - done) / size);
            box.count.assign(box.start.size(), 1);
            box.start.insert(box.start.end(), start.begin(), start.end());
            box.count.insert(box.count.end(), count.begin(), count.end());
            const Index n = volume(count);
            if (box.varid != collected) {
                if (collector) collector->finish();
                collected = box.varid;
                collector = std::make_unique<Collector>(s, box.varid, box.start.size(),
                                                        box.start.size() - shape.size());
            }
            collector->add(box.start.data(), box.count.data());
            s.elements += n;
            done += n * size;
        }
    }
    if (collector) collector->finish();
    s.array = Array(call, v.type, {}, s.elements);
}

Selection Selector::select(const DataCall& call) {
    Selection s;
    s.varid = call.varid;
    const Variable& v = variable_of(definitions_, call.varid);
    if (call.type != NC_NAT && (call.type == NC_CHAR) != (v.type == NC_CHAR))
        throw Error{NC_ECHAR, definitions_.path + ": variable " + v.name +
                                  ": text and numbers do not convert"};
    if (call.kind == Kind::vard)
        add_places(v, call, s);
    else if (call.kind == Kind::varn)
        add_pieces(v, call, s);
    else
        add_section(v, call, s);
    return s;
}

}  // namespace thalweg::pnetcdf::engine
