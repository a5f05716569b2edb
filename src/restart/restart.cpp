// SPDX-License-Identifier: Apache-2.0
#include "restart/restart.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <numeric>

#include "comm/text.hpp"
#include "definitions/first_attributes.hpp"

namespace thalweg::detail {

namespace {

/// Bytes of a rank that are read at a time to compare a checksum.
constexpr std::int64_t check_bytes = 4 << 20;

/// Whether every value of a type is exactly one of another.
bool holds_exactly(tw_type to, tw_type from) {
    struct Range {
        int digits;  ///< bits of an integer that is exact
        bool is_signed, floating;
    };
    const auto range = [](tw_type type) -> Range {
        const int bits = static_cast<int>(size_of(type)) * 8;
        switch (type) {
            case TW_FLOAT: return {24, true, true};
            case TW_DOUBLE: return {53, true, true};
            case TW_UBYTE:
            case TW_USHORT:
            case TW_UINT:
            case TW_UINT64: return {bits, false, false};
            default: return {bits - 1, true, false};
        }
    };
    if (to == from) return true;
    if (to == TW_CHAR || from == TW_CHAR) return false;
    const Range a = range(to), b = range(from);
    return a.digits >= b.digits && (a.is_signed || !b.is_signed) && (a.floating || !b.floating);
}

/// A rank's part of the elements of a variable, some of them in this round.
std::shared_ptr<const Decomposition> part_of(std::vector<std::string> dims,
                                             std::span<const std::int64_t> shape,
                                             ElementRange range, int round) {
    Decomposition d;
    d.dims = std::move(dims);
    d.shape.assign(shape.begin(), shape.end());
    d.halo_low.assign(shape.size(), 0);
    d.halo_high.assign(shape.size(), 0);
    for_boxes_of_range(shape, range.begin, range.end, [&](const Box& box) {
        d.blocks.push_back(box);
        d.offsets.push_back(d.held);
        d.held += box.volume();
    });
    d.bare_offsets = d.offsets;
    d.stored = d.held;
    d.serial = -1 - round;  // the same on every rank, and none of the session's
    return std::make_shared<const Decomposition>(std::move(d));
}

/// Byte strides of a dense array.
std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& extent,
                                        std::int64_t element) {
    std::vector<std::int64_t> strides(extent.size());
    std::int64_t step = element;
    for (std::size_t d = extent.size(); d-- > 0; step *= extent[d]) strides[d] = step;
    return strides;
}

}  // namespace

// ---- what is registered -------------------------------------------------------------------------

Status Restart::define_dimension(const std::string& name, std::int64_t length) {
    if (length == TW_UNLIMITED)
        return failure(TW_ESHAPE,
                       "restart: dimension '{}' has length 0; a restart has no record dimension",
                       name);
    return detail::define_dimension(definitions_, "restart", name, length);
}

std::vector<std::string> Restart::dims_of(const Variable& v) const {
    std::vector<std::string> names;
    for (int d : v.dims) names.push_back(definitions_.dims[d].name);
    return names;
}

/// Makes a variable, the only one of `made`, and its array of what a call is given.
Status Restart::check_registration(const Registration& r, Definitions& made, Array& array) const {
    const std::shared_ptr<const Decomposition> held_as =
        r.declared ? r.declared->decomposition : nullptr;
    // A name without a length would become the record dimension of a file.
    const std::vector<std::string> dims = split_names(r.dims);
    const bool by_position =
        held_as && held_as->by_position() && dims.size() == held_as->dims.size();
    for (const std::string& dim : dims) {
        const bool held =
            by_position || (held_as && std::find(held_as->dims.begin(), held_as->dims.end(), dim) !=
                                           held_as->dims.end());
        if (!held && definitions_.find_dim(dim) < 0)
            return no_dimension(definitions_, "restart", r.name, dim, held_as.get(), false);
    }
    made.dims = definitions_.dims;
    Status status = detail::define_variable(made, "restart", team_.rank(), r.name, r.type, r.dims,
                                            held_as, wording_);
    if (!status.ok()) return status;
    Variable& v = made.variables.front();

    array.declared = r.declared;
    array.data = r.data;
    array.n = r.n;
    array.view.data = static_cast<const char*>(r.data);
    array.view.type = v.type;
    array.optional = r.optional;
    array.by_position = r.by_position;
    array.copied = r.copied;
    const Decomposition& d = *v.decomposition;
    status = r.n >= 0 ? check_dense(d, r.n, array.view)
                      : check_strided(d, r.rank, r.extent, r.byte_stride, array.view);
    if (!status.ok()) return refused(r.name, std::move(status));
    if (r.data == nullptr && d.stored > 0)
        return refused(r.name, failure(TW_EARG, "the array is missing (null pointer)"));
    if (r.n < 0 && r.rank > 0) {
        array.extent.assign(r.extent, r.extent + r.rank);
        array.byte_stride.assign(r.byte_stride, r.byte_stride + r.rank);
    }
    return {};
}

Status Restart::add(const Registration& r) {
    Definitions made;
    Array array;
    if (Status status = check_registration(r, made, array); !status.ok()) return status;
    Variable& v = made.variables.front();
    if (array.copied) copy_array(*v.decomposition, array);

    const int known = definitions_.find_variable(r.name);
    if (known >= 0) {
        Variable& before = definitions_.variables[known];
        if (before.type != v.type || before.dims != v.dims)
            return failure(TW_EEXISTS, "restart: variable '{}' is already registered, as {} ({})",
                           r.name, name_of(before.type), wording_.names(dims_of(before)));
        v.attributes = std::move(before.attributes);
        v.settings = std::move(before.settings);
        v.fill = before.fill;
        before = std::move(v);
        arrays_[known] = std::move(array);
        return {};
    }
    arrays_.reserve(arrays_.size() + 1);
    definitions_.variables.push_back(std::move(v));
    arrays_.push_back(std::move(array));
    definitions_.dims = std::move(made.dims);
    return {};
}

/// Takes a copy of a model's array, dense, of the same extents.
void Restart::copy_array(const Decomposition& d, Array& a) {
    if (a.data == nullptr || !d.has_part()) return;  // the rank holds nothing
    const std::size_t size = size_of(a.view.type);
    const std::size_t n = a.n >= 0 ? a.n : volume(a.extent);
    a.copy.resize(n * size);
    const auto* from = static_cast<const char*>(a.data);
    if (a.n >= 0) {
        if (n > 0) std::memcpy(a.copy.data(), from, a.copy.size());
    } else {
        const std::size_t rows = a.extent.empty() ? 0 : a.extent.size() - 1;
        const std::size_t row = a.extent.empty() ? 1 : static_cast<std::size_t>(a.extent.back());
        const std::int64_t step = a.extent.empty() ? 0 : a.byte_stride.back();
        std::vector<std::int64_t> at(rows, 0);
        char* to = a.copy.data();
        for (std::size_t done = 0; done < n; done += row) {
            std::ptrdiff_t offset = 0;
            for (std::size_t k = 0; k < rows; ++k) offset += at[k] * a.byte_stride[k];
            for (std::size_t i = 0; i < row; ++i, to += size, offset += step)
                std::memcpy(to, from + offset, size);
            for (std::size_t k = rows; k-- > 0 && ++at[k] == a.extent[k];) at[k] = 0;
        }
        a.byte_stride = dense_strides(a.extent, size);
    }
    a.data = a.copy.data();
    a.view.data = a.copy.data();
    (void)check_array(d, a);  // as before, so that it is the rank's part still
}

/// Whether there is something to write of every variable.
Status Restart::check_copies() const {
    for (std::size_t i = 0; i < arrays_.size(); ++i)
        if (arrays_[i].written)
            return failure(TW_EMISSING,
                           "restart: variable '{}' was registered with TW_COPIED, and its copy has "
                           "already been written; register it again before each write",
                           definitions_.variables[i].name);
    return {};
}

Status Restart::set_variable(const std::string& variable, const std::string& settings) {
    const int at = definitions_.find_variable(variable);
    if (at < 0) return no_variable(definitions_, "restart", variable);
    const Variable before = definitions_.variables[at];
    Status status = detail::set_variable(definitions_, "restart", variable, settings);
    Variable& v = definitions_.variables[at];
    if (status.ok() && v.settings.count("quantize") != 0) {
        v = before;
        return failure(TW_ESETTING,
                       "restart: variable '{}': setting 'quantize' is not allowed: it would lose "
                       "bits",
                       variable);
    }
    return status;
}

Status Restart::put_attribute(const std::string& variable, Attribute attribute) {
    int at = -1;
    Status status = check_attribute(definitions_, "restart", variable, attribute, at);
    if (!status.ok()) return status;
    set_attribute(at < 0 ? definitions_.attributes : definitions_.variables[at].attributes,
                  std::move(attribute));
    return {};
}

Status Restart::found(const std::string& name, bool& found) const {
    const int at = definitions_.find_variable(name);
    if (reader_) {
        found = reader_->contents().definitions().find_variable(name) >= 0;
        return {};
    }
    if (at < 0) return no_variable(definitions_, "restart", name);
    if (!read_) return failure(TW_ESTATE, "restart: nothing has been read yet");
    found = arrays_[at].found;
    return {};
}

/// What tw_fill_halo and tw_pad have changed since the arrays were registered; and whether those
/// can be what they were.
Status Restart::use_decompositions() {
    std::deque<Glimpse> seen;
    std::vector<Glimpsed> glimpses;
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        Array& a = arrays_[i];
        Variable& v = definitions_.variables[i];
        if (a.declared) v.decomposition = a.declared->decomposition;
        Status status = check_array(*v.decomposition, a);
        if (!status.ok()) return refused(v.name, std::move(status));
        if (a.copied) continue;
        seen.emplace_back(*v.decomposition, v.order, held_by(*v.decomposition, v.order, v.shape),
                          a.view);
        glimpses.push_back({&v.name, &seen.back()});
    }
    Status status = compare_glimpses(std::move(glimpses));
    if (!status.ok()) status.text = fmt::format("restart: {} (rank {})", status.text, team_.rank());
    return status;
}

Status Restart::check_array(const Decomposition& d, Array& a) {
    return a.n >= 0
               ? check_dense(d, a.n, a.view)
               : check_strided(d, a.extent.size(), a.extent.data(), a.byte_stride.data(), a.view);
}

/// The text of what is wrong with an array.
Status Restart::refused(const std::string& name, Status why) const {
    why.text = fmt::format("restart: variable '{}': {} (rank {})", name, why.text, team_.rank());
    return why;
}

// ---- checksums ----------------------------------------------------------------------------------

/// In halves, as a sum of integers must not overflow; some at a time, which takes no memory.
void Restart::all_sum(std::span<Checksum> sums) const {
    std::array<std::int64_t, Team::row_words> words;
    for (std::size_t at = 0; at < sums.size(); at += words.size() / 2) {
        const auto some = sums.subspan(at, std::min(words.size() / 2, sums.size() - at));
        for (std::size_t i = 0; i < some.size(); ++i) {
            words[2 * i] = some[i] & 0xFFFFFFFF;
            words[2 * i + 1] = some[i] >> 32;
        }
        team_.all_reduce(std::span(words).first(2 * some.size()), Reduce::sum);
        for (std::size_t i = 0; i < some.size(); ++i)
            some[i] = words[2 * i] + (static_cast<Checksum>(words[2 * i + 1]) << 32);
    }
}

/// Sets them as attributes. @note Collective
Status Restart::add_checksums(Definitions& definitions) const {
    std::vector<Checksum> sums;
    Status status = alone([&]() -> Status {
        sums.resize(definitions.variables.size());
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] =
                sum_written(definitions.variables[i], arrays_[i].view, team_.rank(), team_.size());
        return {};
    });
    if (status = team_.agree(status); !status.ok()) return status;
    all_sum(sums);
    return team_.agree(alone([&]() -> Status {
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const std::string text = checksum_text(sums[i]);
            set_attribute(definitions.variables[i].attributes,
                          {checksum_attribute,
                           TW_CHAR,
                           static_cast<std::int64_t>(text.size()),
                           {text.begin(), text.end()}});
        }
        return {};
    }));
}

/// Reads a variable once more, in the order of the file, and adds up this rank's part of it.
/// @note Collective
Status Restart::sum_file(Reader& reader, const Variable& own, const Variable& theirs,
                         Checksum& sum) const {
    const std::int64_t size = theirs.element();
    const std::int64_t n = theirs.elements();
    const bool replicated = own.decomposition->replicated;
    const std::vector<std::string> dims = reader.contents().definitions().fixed_dims(theirs);
    const std::int64_t at_once = check_bytes / size;  // of each rank
    const std::int64_t all_at_once = replicated ? n : at_once * team_.size();
    Status status, mine;
    int round = 0;
    for (std::int64_t begin = 0; begin < n && status.ok(); begin += all_at_once, ++round) {
        Variable part;
        std::vector<char> values;
        Wish wish;
        mine = alone([&]() -> Status {
            wish.name = own.name;
            wish.type = theirs.type;
            part.type = theirs.type;
            part.shape = theirs.shape;
            part.order.resize(part.shape.size());
            std::iota(part.order.begin(), part.order.end(), 0);
            const std::int64_t first = begin + at_once * team_.rank();
            part.decomposition =
                replicated ? own.decomposition
                           : part_of(dims, part.shape,
                                     {std::min(n, first), std::min(n, first + at_once)}, round);
            if (!replicated) wish.decomposition = part.decomposition;
            wish.n = part.decomposition->stored;
            values.resize(wish.n * size);
            wish.data = values.data();
            return {};
        });
        wish.wrong = mine;
        status = reader.get(wish);
        if (!status.ok()) return status;
        ArrayView view;
        view.data = values.data();
        view.type = theirs.type;
        mine = alone([&]() -> Status {
            sum += sum_held(part, view);
            return {};
        });
        status = team_.agree(mine);
    }
    return status;
}

/// Compares what has been read with the checksums of the file. Where the arrays have not every
/// element as it is in the file, because no rank holds some or by conversion, the file is read
/// again. @note Collective
Status Restart::verify(Reader& reader, const std::string& path,
                       const std::vector<Check>& checks) const {
    std::vector<Checksum> sums;
    Status mine = team_.agree(alone([&]() -> Status {
        sums.resize(checks.size());
        return {};
    }));
    if (!mine.ok()) return mine;
    for (std::size_t i = 0; i < checks.size(); ++i) {
        const Variable& own = *checks[i].own;
        const Variable& theirs = reader.contents().definitions().variables[checks[i].in_file];
        if (own.decomposition->whole && own.type == theirs.type) {
            Status summed = alone([&]() -> Status {
                sums[i] = sum_held(own, *checks[i].view);
                return {};
            });
            if (mine.ok()) mine = std::move(summed);
        } else if (Status status = sum_file(reader, own, theirs, sums[i]); !status.ok()) {
            return status;
        }
    }
    if (mine = team_.agree(mine); !mine.ok()) return mine;
    all_sum(sums);
    const auto compare = [&]() -> Status {
        std::vector<std::string> wrong;
        for (std::size_t i = 0; i < checks.size(); ++i)
            if (checks[i].text != checksum_text(sums[i]))
                wrong.push_back(fmt::format("'{}' ({} instead of {})", checks[i].own->name,
                                            checksum_text(sums[i]), checks[i].text));
        if (wrong.empty()) return {};
        const std::size_t more = wrong.size() > 8 ? wrong.size() - 8 : 0;
        wrong.resize(wrong.size() - more);
        return failure(TW_ECHECKSUM, "{}: checksum mismatch: variable {}{}", path,
                       joined(wrong, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
    };
    // All ranks find the same, but for one that has no memory for it.
    const Status found = alone(compare);
    mine = team_.agree(found.code == TW_ENOMEM ? found : Status{});
    return mine.ok() ? found : mine;
}

// ---- writing ------------------------------------------------------------------------------------

/// Hands over all arrays. Local.
Status Restart::put_all(File& file) const {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        const Array& a = arrays_[i];
        const Variable& v = definitions_.variables[i];
        Status status = a.n >= 0 ? file.put(v.name, v.type, a.data, a.n, true)
                                 : file.put_strided(v.name, v.type, a.data, a.extent.size(),
                                                    a.extent.data(), a.byte_stride.data(), true);
        if (!status.ok()) return status;
    }
    return {};
}

Status Restart::write(File& file, const std::string& path, bool checksums, bool first_attributes) {
    if (reader_) return still_open(path);
    Definitions definitions;
    std::vector<std::string> lines;
    Status status = alone([&]() -> Status {
        Status usable = use_decompositions();
        definitions = definitions_;
        return usable.ok() ? check_copies() : usable;
    });
    if (status = team_.agree(status); !status.ok()) return status;
    if (first_attributes)
        if (status = take_first_attributes(team_, definitions, nullptr); !status.ok())
            return status;
    status = team_.agree(alone([&]() -> Status {
        lines = describe(definitions, wording_);
        return {};
    }));
    if (!status.ok()) return status;
    if (status = check_alike(team_, path, lines); !status.ok()) return status;
    if (checksums)
        if (status = add_checksums(definitions); !status.ok()) return status;
    if (status = file.begin(); !status.ok()) return status;
    status = team_.agree(alone([&] { return file.define(std::move(definitions)); }));
    if (!status.ok()) return file.abandon(std::move(status));
    if (status = file.end_definitions(); status.ok())
        status = team_.agree(alone([&] { return put_all(file); }));
    status = status.ok() ? file.close() : file.abandon(std::move(status));
    if (!status.ok()) return status;
    for (Array& a : arrays_) {
        if (!a.copied) continue;
        a.written = true;
        std::vector<char>().swap(a.copy);
        a.data = nullptr;
        a.view.data = nullptr;
    }
    return status;
}

Status Restart::still_open(const std::string& path) const {
    return failure(TW_ESTATE, "{}: {} is still open; call tw_restart_close first", path, path_);
}

// ---- reading ------------------------------------------------------------------------------------

/// Whether a variable of a file can become the model's array without loss.
Status Restart::match(const Source& source, const Definitions& definitions, const Variable& own,
                      const Variable& theirs, bool by_position) const {
    if (theirs.record && source.records() != 1)
        return failure(TW_ESHAPE, "it has {} records; a restart reads only variables with one",
                       source.records());
    const std::vector<std::string> here = definitions.fixed_dims(own);
    const std::vector<std::string> there = source.definitions().fixed_dims(theirs);
    if (own.shape != theirs.shape || (!by_position && here != there)) {
        const auto describe = [this](const std::vector<std::string>& names, const Variable& v) {
            std::vector<std::string> dims;
            for (std::size_t i = 0; i < names.size(); ++i)
                dims.push_back(fmt::format("{}={}", names[i], v.shape[i]));
            return fmt::format("({})", wording_.list(dims));
        };
        return failure(TW_ESHAPE, "it is {} in the file, but {} in the model{}",
                       describe(there, theirs), describe(here, own),
                       own.shape == theirs.shape
                           ? "; to ignore the names of dimensions, use TW_BY_POSITION"
                           : "");
    }
    const bool any_sign =
        own.type == TW_UBYTE && theirs.type == TW_BYTE && source.byte_of_any_sign();
    if (!holds_exactly(own.type, theirs.type) && !any_sign)
        return failure(TW_ETYPE, "it has type {} in the file, and {} cannot hold all its values",
                       name_of(theirs.type), name_of(own.type));
    return {};
}

/// What a read has to bring for one array, and whether there is a checksum to compare. Nothing if
/// the file may lack the variable and does. Local.
Status Restart::ask_for(Reader& reader, const std::string& path, const Definitions& definitions,
                        const Variable& own, Array& a, Wish& wish,
                        std::vector<Check>& checks) const {
    const Source& source = reader.contents();
    const int at = source.definitions().find_variable(own.name);
    a.found = at >= 0;
    if (!a.found && a.optional) return {};
    if (!a.found) return no_variable(source.definitions(), path, own.name);
    const Variable& theirs = source.definitions().variables[at];
    wish.wrong = match(source, definitions, own, theirs, a.by_position);
    wish.name = own.name;
    if (!own.decomposition->replicated) {
        wish.decomposition = own.decomposition;
        wish.order = own.order;  // the names may be others
    }
    wish.type = own.type;
    wish.data = a.data;
    wish.n = a.n;
    wish.rank = a.extent.size();
    wish.extent = a.extent.data();
    wish.byte_stride = a.byte_stride.data();
    for (const Attribute& attribute : theirs.attributes)
        if (attribute.name == checksum_attribute)
            checks.push_back(
                {&own, &a.view, at, {attribute.values.begin(), attribute.values.end()}});
    return {};
}

/// Asks for all arrays that are the model's. Local.
Status Restart::ask(Reader& reader, const std::string& path, std::vector<Check>& checks) {
    for (std::size_t i = 0; i < arrays_.size(); ++i) {
        Array& a = arrays_[i];
        if (a.copied) {
            a.found =
                reader.contents().definitions().find_variable(definitions_.variables[i].name) >= 0;
            continue;
        }
        Wish wish;
        Status status =
            ask_for(reader, path, definitions_, definitions_.variables[i], a, wish, checks);
        if (status.ok() && a.found) status = reader.get_deferred(wish);
        if (!status.ok()) return status;
    }
    return {};
}

Status Restart::read(Reader& reader, const std::string& path, bool checksums) {
    if (reader_) return still_open(path);
    read_.reset();
    Status status = reader.open();
    if (!status.ok()) return status;
    std::vector<Check> checks;
    status = team_.agree(alone([&] {
        Status usable = use_decompositions();
        return usable.ok() ? ask(reader, path, checks) : usable;
    }));
    if (status.ok()) status = reader.read();
    if (status.ok() && checksums) status = verify(reader, path, checks);
    std::optional<Definitions> read;
    if (status.ok())
        status = team_.agree(alone([&]() -> Status {
            read = reader.contents().definitions();
            return {};
        }));
    byte_of_any_sign_ = reader.contents().byte_of_any_sign();
    Status closed = reader.close();
    if (status.ok()) status = std::move(closed);
    if (status.ok()) read_ = std::move(read);
    return status;
}

}  // namespace thalweg::detail
