// SPDX-License-Identifier: Apache-2.0
#include "history/files/aggregation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text/text.hpp"

namespace thalweg::history {

static constexpr std::int32_t no_length = -2147483647;

/// Returns a file's path as a URI that is relative to the folder of another file.
static std::string uri_of(const std::filesystem::path& path, const std::filesystem::path& from) {
    std::string uri;
    for (const char c : path.lexically_relative(from.parent_path()).generic_string()) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                           (c >= 'a' && c <= 'z') ||
                           std::string_view("-._~!$&'()*+,;=:@/").find(c) != std::string_view::npos;
        uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    // A colon before the first '/' would end a scheme.
    return uri.find(':') < uri.find('/') ? "./" + uri : uri;
}

std::int64_t Aggregation::records() const {
    std::int64_t sum = 0;
    for (const CompleteFile& file : files_) sum += file.records;
    return sum;
}

Status Aggregation::dimension(tw_file file, const std::string& name, std::int64_t length) {
    const tw_status code = tw_def_dim(file, name.c_str(), length);
    return code == TW_EEXISTS ? Status{} : ranks_.status(code);
}

Status Aggregation::add(tw_file file, const std::string& name, const std::vector<std::string>& dims,
                        Values values) {
    Status status = ranks_.status(
        tw_def_var(file, name.c_str(), values.type, detail::joined(dims, " ").c_str(), nullptr));
    const std::int64_t fill = no_length;
    if (values.type != TW_CHAR)
        keep_first(status,
                   ranks_.status(tw_put_att(
                       file, name.c_str(), "_FillValue", values.type, 1,
                       values.type == TW_INT ? static_cast<const void*>(&no_length) : &fill)));
    values_[name] = std::move(values);
    return status;
}

/// Defines the array of the files' URIs for variables of this many dimensions.
Status Aggregation::add_paths(tw_file file, const std::string& name, std::size_t rank,
                              std::size_t files) {
    std::vector<std::string> uris;
    for (std::size_t f = 0; f < files; ++f) uris.push_back(uri_of(files_[f].path, path_));
    const std::size_t length = std::ranges::max(uris, {}, &std::string::size).size();
    Values values;
    for (std::string& uri : uris) values.text += uri.append(length - uri.size(), '\0');
    std::vector<std::string> dims;
    Status status;
    for (std::size_t d = 0; d < rank; ++d) {
        dims.push_back(fmt::format("fragment_{}_{}", d, d == 0 ? files : 1));
        keep_first(status, dimension(file, dims.back(), d == 0 ? std::ssize(uris) : 1));
    }
    dims.push_back(fmt::format("fragment_uri_{}", length));
    keep_first(status, dimension(file, dims.back(), static_cast<std::int64_t>(length)));
    keep_first(status, add(file, name, dims, std::move(values)));
    return status;
}

Status Aggregation::define(tw_file file, const std::string& name, tw_type type,
                           const std::vector<std::string>& dims,
                           const std::vector<std::int64_t>& shape, bool along) {
    const std::size_t files = along ? files_.size() : 1;
    const std::string uris = fmt::format("fragment_uris_{}_{}", dims.size(), files);
    const std::string map =
        fmt::format("fragment_map_{}_{}", dims.size(), detail::joined(dims, "_"));
    const std::string identifier = "fragment_identifier_" + name;
    Status status;
    if (!values_.contains(uris)) status = add_paths(file, uris, dims.size(), files);
    if (!values_.contains(map)) {
        Values lengths{.type = TW_INT, .numbers = {}, .text = {}};
        for (std::size_t d = 0; d < dims.size(); ++d)
            for (std::size_t f = 0; f < files; ++f)
                lengths.numbers.push_back(along && d == 0 ? files_[f].records
                                          : f == 0        ? shape[d]
                                                          : no_length);
        if (std::ranges::max(lengths.numbers) > INT32_MAX) lengths.type = TW_INT64;
        const std::string rows = fmt::format("fragment_rows_{}", dims.size());
        const std::string columns = fmt::format("fragment_columns_{}", files);
        keep_first(status, dimension(file, rows, std::ssize(dims)));
        keep_first(status, dimension(file, columns, static_cast<std::int64_t>(files)));
        keep_first(status, add(file, map, {rows, columns}, std::move(lengths)));
    }
    const std::string length = fmt::format("fragment_name_{}", name.size());
    keep_first(status, dimension(file, length, std::ssize(name)));
    keep_first(status, add(file, identifier, {length}, {TW_CHAR, {}, name}));
    keep_first(status, ranks_.status(tw_def_var(file, name.c_str(), type, "", nullptr)));
    const std::string data = fmt::format("map: {} uris: {} identifiers: {}", map, uris, identifier);
    for (const auto& [attribute, text] :
         {std::pair("aggregated_dimensions", detail::joined(dims, " ")),
          std::pair("aggregated_data", data)})
        keep_first(status,
                   ranks_.status(tw_put_att_text(file, name.c_str(), attribute, text.c_str())));
    return status;
}

Status Aggregation::put(tw_file file) const {
    Status status;
    for (const auto& [name, values] : values_) {
        const tw_status code =
            values.type == TW_CHAR
                ? tw_put(file, name.c_str(), TW_CHAR, values.text.data(), std::ssize(values.text))
                : tw_put(file, name.c_str(), TW_INT64, values.numbers.data(),
                         std::ssize(values.numbers));
        keep_first(status, ranks_.status(code));
    }
    return status;
}

}  // namespace thalweg::history
