// Data of an open file: steps, sections, storage.
//
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <numeric>

#include "dataset.hpp"
#include "ranks.hpp"
#include "storage.hpp"
#include "types.hpp"

namespace thalweg::nc {

void Dataset::end_step() { handed_over(tw_end_step(file_)); }

void Dataset::handed_over(int status) {
    pending_ = 0;
    step_ended();
    const bool written = status == TW_OK || status == TW_ERANGE;  // the put has already reported
                                                                  // TW_ERANGE
    // After an error, keep the arrays of the step, because the library may still use them.
    if (written || file_ == nullptr) copies_.give_back();
    if (!written) fail(session_.error_of_call(status));
}

void Dataset::check_section(const Variable& v, const Index* start, const Index* count,
                            const Index* stride, bool reading) const {
    for (std::size_t d = 0; d < v.dims.size(); d++) {
        const Dimension& dimension = table_.dimensions[static_cast<std::size_t>(v.dims[d])];
        const Index length = dimension.length;
        const bool grows = dimension.unlimited && !reading;
        const auto fail = [&](int code, const std::string& what, Index value) {
            throw Error{code, path_ + ": variable " + v.name + ", dimension " + dimension.name +
                                  ": " + what + " " + std::to_string(value) + " of a length of " +
                                  std::to_string(length)};
        };
        if (start[d] < 0 || (!grows && start[d] > length)) fail(NC_EINVALCOORDS, "start", start[d]);
        if (!grows && start[d] == length && count[d] > 0) fail(NC_EINVALCOORDS, "start", start[d]);
        if (count[d] < 0) fail(NC_EEDGE, "count", count[d]);
        if (stride != nullptr && stride[d] < 1) fail(NC_ESTRIDE, "stride", stride[d]);
        const Index step = stride == nullptr ? 1 : stride[d];
        if (!grows && count[d] > 0 && (count[d] - 1) * step >= length - start[d])
            fail(NC_EEDGE, "count", count[d]);
    }
}

// Puts a section of this rank.
Error Dataset::put_box(const Variable& v, const Index* start, const std::vector<Index>& count,
                       const Index* stride, nc_type type, const void* data) {
    return session_.error_of_call(tw_put_box(file_, v.name.c_str(), static_cast<tw_type>(type),
                                             start, count.data(), stride, data));
}

void Dataset::get_section(int varid, const Index* start, const Index* count, const Index* stride,
                          nc_type type, void* data, const Error& error) {
    begin_reading();
    on_all(session_.comm(), [&] {  // any rank may have passed a wrong section
        if (error.code != 0) throw error;
        const Variable& v = table_.variable(varid);
        if (type == NC_NAT) type = v.type;
        if (size_of(v.type) == 0)
            throw Error{NC_EBADTYPE,
                        path_ + ": variable " + v.name + " has a type that is not read"};
        if ((type == NC_CHAR) != (v.type == NC_CHAR))
            throw Error{NC_ECHAR, path_ + ": variable " + v.name +
                                      ": text cannot be converted to numbers, nor numbers to text"};
        check_section(v, start, count, stride, true);
    });
    const Variable& v = table_.variable(varid);
    check(
        tw_get_box(file_, v.name.c_str(), static_cast<tw_type>(type), start, count, stride, data));
}

namespace {

// Adds the quantization, which netCDF-C stores in an attribute, to the storage of a variable.
void add_quantization(const Variable& v, Storage& s) {
    static const char* const names[] = {"_QuantizeBitGroomNumberOfSignificantDigits",
                                        "_QuantizeGranularBitRoundNumberOfSignificantDigits",
                                        "_QuantizeBitRoundNumberOfSignificantBits"};
    for (int mode = 1; mode <= 3; mode++)
        for (const Attribute& a : v.attributes)
            if (a.name == names[mode - 1] && a.type == NC_INT && a.n == 1) {
                s.quantize = mode;
                std::memcpy(&s.digits, a.bytes.data(), sizeof s.digits);
            }
}

}  // namespace

Storage Dataset::inquire_storage(int varid) {
    Variable& v = table_.variable(varid);
    // The library chooses the storage when writing begins, so begin now.
    if (!define_ && state_ == State::defining) begin_writing();
    const bool in_file =
        state_ != State::defining && static_cast<std::size_t>(varid) < variables_in_file_;
    if (!in_file) return expected_storage(table_, v);
    if (v.storage.of_file) return v.storage;
    if (state_ == State::writing) {
        sync();
        v.storage = storage_in_file(v);
        return v.storage;
    }
    ask_netcdf(v);
    v.storage.of_file = true;
    add_quantization(v, v.storage);
    return v.storage;
}

Storage Dataset::storage_in_file(const Variable& v) const {
    Storage s;
    s.endian = v.storage.endian;
    s.quantize = v.storage.quantize;
    s.digits = v.storage.digits;
    s.no_fill = v.storage.no_fill;
    s.of_file = true;
    int filters = 0, id[TW_MAX_FILTERS], level[TW_MAX_FILTERS];
    std::vector<Index> chunk(v.dims.size());
    check(tw_inq_var_storage(file_, v.name.c_str(), chunk.data(), &filters, id, level));
    s.layout = !chunk.empty() && chunk.front() > 0 ? NC_CHUNKED : NC_CONTIGUOUS;
    s.chunks.assign(chunk.begin(), chunk.end());
    for (int f = 0; f < filters; f++) {
        if (id[f] == 2)
            s.shuffle = 1;
        else if (id[f] == 1)
            s.deflate = 1, s.level = level[f];
        else if (id[f] == 32015)
            s.zstandard = true, s.zstandard_level = level[f];
        else
            s.others.push_back({static_cast<unsigned>(id[f]), {}});
    }
    // The library does not tell the parameters of filters that it cannot apply.
    if (!s.others.empty()) s.others = stored(serial_ ? serial_->work_path() : path_, v.name).others;
    add_quantization(v, s);
    return s;
}

void Dataset::ask_netcdf(Variable& v) {
    begin_reading();
    const std::string& path = serial_ ? serial_->work_path() : path_;
    Storage s;
    on_rank(session_.comm(), root_, [&] { s = stored(path, v.name); });
    int numbers[] = {s.layout, s.shuffle,   s.deflate,        s.level,
                     s.endian, s.zstandard, s.zstandard_level};
    share(session_.comm(), root_, numbers, 7);
    s.layout = numbers[0], s.shuffle = numbers[1], s.deflate = numbers[2], s.level = numbers[3];
    s.endian = numbers[4], s.zstandard = numbers[5] != 0, s.zstandard_level = numbers[6];
    s.chunks.resize(v.dims.size());
    share(session_.comm(), root_, s.chunks.data(), v.dims.size());
    // The number of filters; then for each filter its id, the number of its parameters, and the
    // parameters.
    std::vector<unsigned> filters;
    for (const Filter& f : s.others) {
        filters.insert(filters.end(), {f.id, static_cast<unsigned>(f.parameters.size())});
        filters.insert(filters.end(), f.parameters.begin(), f.parameters.end());
    }
    const std::string bytes(reinterpret_cast<const char*>(filters.data()),
                            filters.size() * sizeof(unsigned));
    const std::string all = broadcast(session_.comm(), root_, bytes);
    filters.resize(all.size() / sizeof(unsigned));
    std::memcpy(filters.data(), all.data(), all.size());
    s.others.clear();
    for (auto at = filters.begin(); at != filters.end();) {
        const auto first = at + 2, end = first + at[1];
        s.others.push_back({at[0], {first, end}});
        at = end;
    }
    s.no_fill = v.storage.no_fill;
    v.storage = std::move(s);
}

}  // namespace thalweg::nc
