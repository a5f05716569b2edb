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

void Aggregation::add_dim(tw_file file, const std::string& name, std::size_t length) {
    check_.unless(TW_EEXISTS, tw_def_dim(file, name.c_str(), static_cast<std::int64_t>(length)));
}

void Aggregation::add(tw_file file, const std::string& name, const Names& dims, Values values) {
    check_(tw_def_var(file, name.c_str(), values.type, detail::joined(dims, " ").c_str(), nullptr));
    const std::int64_t fill = no_length;
    if (values.type != TW_CHAR)
        check_(tw_put_att(file, name.c_str(), "_FillValue", values.type, 1,
                          values.type == TW_INT ? static_cast<const void*>(&no_length) : &fill));
    values_[name] = std::move(values);
}

/// Defines the array of the files' URIs for variables of this many dimensions.
void Aggregation::add_paths(tw_file file, const std::string& name, std::size_t rank,
                            std::size_t files) {
    Names uris;
    for (std::size_t f = 0; f < files; ++f) uris.push_back(uri_of(files_[f].path, path_));
    const std::size_t length = std::ranges::max(uris, {}, &std::string::size).size();
    Values values;
    for (std::string& uri : uris) values.text += uri.append(length - uri.size(), '\0');
    Names dims;
    for (std::size_t d = 0; d < rank; ++d) {
        dims.push_back(fmt::format("fragment_{}_{}", d, d == 0 ? files : 1));
        add_dim(file, dims.back(), d == 0 ? files : 1);
    }
    dims.push_back(fmt::format("fragment_uri_{}", length));
    add_dim(file, dims.back(), length);
    add(file, name, dims, std::move(values));
}

Status Aggregation::define(tw_file file, const std::string& name, tw_type type, const Names& dims,
                           const std::vector<std::int64_t>& shape, bool along) {
    const std::size_t files = along ? files_.size() : 1;
    const std::string uris = fmt::format("fragment_uris_{}_{}", dims.size(), files);
    const std::string map =
        fmt::format("fragment_map_{}_{}", dims.size(), detail::joined(dims, "_"));
    const std::string identifier = "fragment_identifier_" + name;
    if (!values_.contains(uris)) add_paths(file, uris, dims.size(), files);
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
        add_dim(file, rows, dims.size());
        add_dim(file, columns, files);
        add(file, map, {rows, columns}, std::move(lengths));
    }
    const std::string length = fmt::format("fragment_name_{}", name.size());
    add_dim(file, length, name.size());
    add(file, identifier, {length}, {TW_CHAR, {}, name});
    check_(tw_def_var(file, name.c_str(), type, "", nullptr));
    const std::string data = fmt::format("map: {} uris: {} identifiers: {}", map, uris, identifier);
    for (const auto& [attribute, text] :
         {std::pair("aggregated_dimensions", detail::joined(dims, " ")),
          std::pair("aggregated_data", data)})
        check_(tw_put_att_text(file, name.c_str(), attribute, text.c_str()));
    return check_.status;
}

Status Aggregation::put(tw_file file) {
    for (const auto& [name, values] : values_)
        check_(values.type == TW_CHAR ? tw_put(file, name.c_str(), TW_CHAR, values.text.data(),
                                               std::ssize(values.text))
                                      : tw_put(file, name.c_str(), TW_INT64, values.numbers.data(),
                                               std::ssize(values.numbers)));
    return check_.status;
}

}  // namespace thalweg::history
