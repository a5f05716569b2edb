// SPDX-License-Identifier: Apache-2.0
#include "nc/state/library_file.hpp"

#include <cstring>
#include <utility>

#include "nc/base/ranks.hpp"
#include "nc/definitions/storage.hpp"
#include "nc/fallback/by_netcdf.hpp"
#include "storage/chunked/filters.hpp"

namespace thalweg::nc {

namespace {

std::string escaped(const std::string& name) {
    std::string result;
    for (const char c : name) {
        if (c == ' ' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

}  // namespace

std::string joined(const std::vector<std::string>& names, std::size_t from) {
    std::string result;
    for (std::size_t i = from; i < names.size(); i++)
        result += (i > from ? " " : "") + escaped(names[i]);
    return result;
}

// ---- definitions --------------------------------------------------------------------------------

void adopt(Definitions& definitions, const Session& session, tw_file file) {
    const auto check = [&](int status) { session.check(status); };
    const char* text = nullptr;
    tw_file_info info;
    check(tw_inq(file, &info));
    const std::string format = info.format, unlimited = info.unlimited;
    Table table;
    for (int d = 0; d < info.ndims; d++) {
        Dimension dimension;
        check(tw_inq_name(file, TW_DIMENSION, nullptr, d, &text));
        dimension.name = text;
        check(tw_inq_dim(file, text, &dimension.length));
        dimension.unlimited = !unlimited.empty() && dimension.name == unlimited;
        table.dimensions.push_back(dimension);
    }
    const auto attributes = [&](const char* var, int n) {
        detail::NamedList<Attribute> result;
        for (int a = 0; a < n; a++) {
            Attribute attribute;
            check(tw_inq_name(file, TW_ATTRIBUTE, var, a, &text));
            attribute.name = text;
            tw_type type = TW_CHAR;
            check(tw_inq_att(file, var, attribute.name.c_str(), &type, &attribute.n));
            attribute.type = static_cast<nc_type>(type);
            attribute.bytes.resize(static_cast<std::size_t>(attribute.n) * size_of(attribute.type));
            if (!attribute.bytes.empty())
                check(tw_get_att(file, var, attribute.name.c_str(), type, attribute.n,
                                 attribute.bytes.data()));
            result.push_back(attribute);
        }
        return result;
    };
    table.attributes = attributes("", info.natts);
    for (int v = 0; v < info.nvars; v++) {
        Variable variable;
        check(tw_inq_name(file, TW_VARIABLE, nullptr, v, &text));
        variable.name = text;
        tw_type type = TW_CHAR;
        int rank = 0, own = 0;
        check(tw_inq_var(file, variable.name.c_str(), &type, &rank, &own));
        variable.type = static_cast<nc_type>(type);
        for (int d = 0; d < rank; d++) {
            check(tw_inq_var_dim(file, variable.name.c_str(), d, &text, nullptr));
            variable.dims.push_back(table.find_dimension(text));
        }
        variable.attributes = attributes(variable.name.c_str(), own);
        table.variables.push_back(variable);
    }
    definitions.zarr = format == name_of(Format::zarr);
    definitions.adopt(format_named(format), std::move(table));
}

void define(const Definitions& definitions, const Session& session, int root, tw_file file,
            bool existing) {
    const auto check = [&](int status) { session.check(status); };
    const Table& table = definitions.table;
    for (const Dimension& d : table.dimensions)
        check(tw_def_dim(file, d.name.c_str(), d.unlimited ? TW_UNLIMITED : d.length));
    const auto put = [&](const std::string& var, const std::vector<Attribute>& attributes) {
        for (const Attribute& a : attributes)
            if (size_of(a.type) > 0)
                check(tw_put_att(file, var.c_str(), a.name.c_str(), static_cast<tw_type>(a.type),
                                 a.n, a.bytes.data()));
    };
    put("", table.attributes);
    for (const Variable& v : table.variables) {
        check(tw_def_var(file, v.name.c_str(), static_cast<tw_type>(v.type),
                         joined(table.names(v)).c_str(), nullptr));
        std::string settings = existing || !definitions.is_netcdf4() ? "" : settings_of(table, v);
        if (!existing && v.storage.no_fill)
            settings += settings.empty() ? "fill=none" : "; fill=none";
        if (!settings.empty()) check(tw_set_var(file, v.name.c_str(), settings.c_str()));
        put(v.name, v.attributes);
    }
    if (!existing && !definitions.is_netcdf4() && definitions.spacing) {
        const detail::HeaderPadding& s = *definitions.spacing;
        Index words[] = {s.header_pad, s.var_align, s.var_pad, s.record_align};
        share(session.comm(), root, words, 4);
        const std::string list =
            "header_pad=" + std::to_string(words[0]) + "; var_align=" + std::to_string(words[1]) +
            "; var_pad=" + std::to_string(words[2]) + "; record_align=" + std::to_string(words[3]);
        check(tw_set_var(file, "", list.c_str()));
    }
    check(tw_enddef(file));
}

// ---- storage ------------------------------------------------------------------------------------

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

Storage storage_in_file(const Variable& v, const Session& session, tw_file file,
                        const std::string& path) {
    Storage s;
    s.endian = v.storage.endian;
    s.quantize = v.storage.quantize;
    s.digits = v.storage.digits;
    s.no_fill = v.storage.no_fill;
    s.of_file = true;
    int filters = 0, id[TW_MAX_FILTERS], level[TW_MAX_FILTERS];
    std::vector<Index> chunk(v.dims.size());
    session.check(tw_inq_var_storage(file, v.name.c_str(), chunk.data(), &filters, id, level));
    s.layout = !chunk.empty() && chunk.front() > 0 ? NC_CHUNKED : NC_CONTIGUOUS;
    s.chunks.assign(chunk.begin(), chunk.end());
    for (int f = 0; f < filters; f++) {
        if (id[f] == shuffle_filter)
            s.shuffle = 1;
        else if (id[f] == deflate_filter || id[f] == detail::gzip_filter)
            s.deflate = 1, s.level = level[f];
        else if (id[f] == zstd_filter)
            s.zstandard = true, s.zstandard_level = level[f];
        else if (id[f] != detail::crc32c_filter)
            s.others.push_back({static_cast<unsigned>(id[f]), {}});
    }
    // The library does not tell the parameters of filters that it cannot apply.
    if (!s.others.empty()) s.others = stored(path, v.name).others;
    add_quantization(v, s);
    return s;
}

Storage storage_by_netcdf(const Variable& v, const Session& session, int root,
                          const std::string& path) {
    Storage s;
    on_rank(session.comm(), root, [&] { s = stored(path, v.name); });
    s = broadcast_value(session.comm(), root, s);
    s.no_fill = v.storage.no_fill;
    s.of_file = true;
    add_quantization(v, s);
    return s;
}

// ---- sections -----------------------------------------------------------------------------------

void check_section(const Definitions& definitions, const Variable& v, const Index* start,
                   const Index* count, const Index* stride, bool reading) {
    for (std::size_t d = 0; d < v.dims.size(); d++) {
        const Dimension& dimension =
            definitions.table.dimensions[static_cast<std::size_t>(v.dims[d])];
        const Index length = dimension.length;
        const bool grows = dimension.unlimited && !reading;
        const auto fail = [&](int code, const std::string& what, Index value) {
            throw Error{code, definitions.path + ": variable " + v.name + ", dimension " +
                                  dimension.name + ": " + what + " " + std::to_string(value) +
                                  " of a length of " + std::to_string(length)};
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

}  // namespace thalweg::nc
