// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <sstream>

#include "base/text/nearest.hpp"
#include "base/text/normal_form.hpp"
#include "base/text/text.hpp"
#include "definitions/definitions.hpp"

namespace thalweg::detail {

namespace {

const std::vector<std::string> setting_names{"fill", "deflate",  "shuffle",
                                             "zstd", "quantize", "chunks"};

template <class Number>
bool parse(const std::string& text, Number& value) {
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && rest == text.data() + text.size();
}

Status refuse(const std::string& name, const std::string& value, const char* can_be) {
    return failure(TW_ESETTING, "setting '{}' is '{}'; it must be {}", name, value, can_be);
}

Status set_quantize(const std::string& value, tw_type type, Packing& packing) {
    const auto colon = value.find(':');
    const std::string how = value.substr(0, colon);
    packing.quantize = how == "bitgroom"     ? Packing::Quantize::bitgroom
                       : how == "granularbr" ? Packing::Quantize::granularbr
                       : how == "bitround"   ? Packing::Quantize::bitround
                                             : Packing::Quantize::none;
    const bool bits = packing.quantize == Packing::Quantize::bitround;
    const int most = bits ? (type == TW_DOUBLE ? 52 : 23) : (type == TW_DOUBLE ? 15 : 7);
    if (packing.quantize == Packing::Quantize::none || colon == std::string::npos ||
        !parse(value.substr(colon + 1), packing.digits) || packing.digits < 1 ||
        packing.digits > most)
        return refuse("quantize", value,
                      "no, bitgroom:DIGITS or granularbr:DIGITS (1 to 7; for double 1 to 15), or "
                      "bitround:BITS (1 to 23; for double 1 to 52)");
    return {};
}

struct ChunkLength {
    std::string dim;
    std::int64_t length = 0;
};

/// Tests if the name of some dimension begins with this text, followed by a comma.
bool has_comma_after(const Definitions& d, const std::string& begin) {
    return std::any_of(d.dims.begin(), d.dims.end(), [&](const Dimension& dim) {
        return dim.name.starts_with(trimmed(begin) + ",");
    });
}

/// Parses a list such as "lev=10,lat=90". The name of an item ends before the item's last '='. A
/// name may contain commas and '='. A backslash makes the following character part of the name;
/// names need one where the text would otherwise be read as two items.
Status parse_chunks(const std::string& value, const Definitions& d,
                    std::vector<ChunkLength>& lengths) {
    const auto refused = [&] {
        return refuse("chunks", value, "auto or a list as in lev=10,lat=90");
    };
    std::string item;
    std::size_t equals = std::string::npos;  // last '=' so far, at which the name may end
    for (std::size_t i = 0; i <= value.size(); ++i) {
        const bool end = i == value.size();
        if (!end && value[i] == '\\' && i + 1 < value.size()) {
            item += value[++i];
        } else if (end || (value[i] == ',' &&
                           (equals != std::string::npos || !has_comma_after(d, item)))) {
            if (end && trimmed(item).empty()) break;
            ChunkLength next;
            if (equals == std::string::npos ||
                !parse(trimmed(item.substr(equals + 1)), next.length) || next.length < 1)
                return refused();
            next.dim = trimmed(item.substr(0, equals));
            for (const ChunkLength& other : lengths)
                if (same_name(other.dim, next.dim))
                    return failure(TW_ESETTING, "setting 'chunks' is '{}': it has '{}' twice",
                                   value, next.dim);
            lengths.push_back(std::move(next));
            item.clear();
            equals = std::string::npos;
        } else {
            if (value[i] == '=') equals = item.size();
            item += value[i];
        }
    }
    return {};
}

/// @param own  the setting belongs to this variable alone, so each name must be one of its
///             dimensions
Status set_chunks(const std::string& value, bool own, const Definitions& d, const Variable& v,
                  Packing& packing) {
    std::vector<ChunkLength> lengths;
    if (Status status = parse_chunks(value, d, lengths); !status.ok()) return status;
    std::vector<std::int64_t> chunks(v.shape.size(), 0);
    bool any = false;
    for (const auto& [dim, length] : lengths) {
        bool found = false;
        for (std::size_t i = 0; i < v.dims.size(); ++i) {
            const Dimension& dimension = d.dims[v.dims[i]];
            if (!same_name(dimension.name, dim)) continue;
            found = true;
            if (dimension.unlimited()) {
                if (length != 1)
                    return failure(TW_ESETTING,
                                   "setting 'chunks' is '{}': along the unlimited dimension '{}' "
                                   "the chunk length must be 1",
                                   value, dim);
                continue;
            }
            chunks[i - (v.record ? 1 : 0)] = std::min(length, dimension.length);
            any = true;
        }
        if (!found && own) {
            std::vector<std::string> known;
            for (const int i : v.dims) known.push_back(d.dims[i].name);
            return failure(TW_ESETTING,
                           "setting 'chunks' is '{}': variable '{}' has no dimension '{}'{}", value,
                           OfVariable{v.name}, dim, did_you_mean(dim, known));
        }
    }
    if (any) packing.chunks = std::move(chunks);
    return {};
}

}  // namespace

Status add_settings(const std::string& list, VariableSettings& settings) {
    std::istringstream stream(list);
    for (std::string item; std::getline(stream, item, ';');) {
        item = trimmed(item);
        if (item.empty()) continue;
        const auto equals = item.find('=');
        const std::string name = trimmed(item.substr(0, equals));
        if (equals == std::string::npos)
            return failure(TW_ESETTING, "'{}' is not of the form name=value", item);
        if (std::find(setting_names.begin(), setting_names.end(), name) == setting_names.end())
            return failure(TW_ESETTING, "'{}' is not a setting of variables; the settings are {}{}",
                           name, joined(setting_names, ", "), did_you_mean(name, setting_names));
        settings[name] = trimmed(item.substr(equals + 1));
    }
    return {};
}

std::vector<std::string> unknown_chunks(const Definitions& definitions,
                                        const VariableSettings& of_all) {
    std::vector<std::string> unknown;
    const auto chunks = of_all.find("chunks");
    if (chunks == of_all.end() || chunks->second == "auto") return unknown;
    std::vector<ChunkLength> lengths;
    (void)parse_chunks(chunks->second, definitions, lengths);
    for (const ChunkLength& length : lengths)
        if (definitions.find_dim(length.dim) < 0) unknown.push_back(length.dim);
    return unknown;
}

namespace {

/// The settings of a variable, with those of the file for whatever the variable does not set.
struct Settled {
    const VariableSettings& settings;
    const VariableSettings& of_variable;

    bool own(const char* name) const { return of_variable.contains(name); }
    std::string value(const char* name, const char* otherwise) const {
        const auto found = settings.find(name);
        return found == settings.end() ? std::string(otherwise) : found->second;
    }
};

Status set_codec(const Settled& s, Packing& packing) {
    const std::string deflate = s.value("deflate", "0"), zstd = s.value("zstd", "no");
    int level = 0;
    if (!parse(deflate, level) || level < 0 || level > 9)
        return refuse("deflate", deflate, "an integer from 0 to 9");
    const bool deflated = level > 0;
    // If the variable sets deflate, a setting zstd of the file does not apply.
    const bool zstd_counts = zstd != "no" && !(s.own("deflate") && deflated && !s.own("zstd"));
    const bool deflate_counts = deflated && !(s.own("zstd") && zstd != "no" && !s.own("deflate"));
    if (deflate_counts) {
        packing.codec = Packing::Codec::deflate;
        packing.level = level;
    }
    if (!zstd_counts) return {};
    if (!parse(zstd, level) || level < -100 || level > 22)
        return refuse("zstd", zstd, "no or a level from -100 to 22");
    if (deflate_counts)
        return failure(TW_ESETTING, "settings 'deflate' and 'zstd' cannot be combined");
    packing.codec = Packing::Codec::zstd;
    packing.level = level;
    return {};
}

Status set_packing(const Settled& s, const Definitions& d, const Variable& v, Packing& packing) {
    if (Status status = set_codec(s, packing); !status.ok()) return status;
    const std::string shuffle = s.value("shuffle", "auto");
    if (shuffle != "auto" && shuffle != "yes" && shuffle != "no")
        return refuse("shuffle", shuffle, "auto, yes or no");
    packing.shuffle =
        shuffle == "yes" || (shuffle == "auto" && packing.codec != Packing::Codec::none);
    const std::string quantize = s.value("quantize", "no");
    const bool floating = v.type == TW_FLOAT || v.type == TW_DOUBLE;
    if (quantize != "no" && !floating && s.own("quantize"))
        return failure(TW_ESETTING, "setting 'quantize': a variable of type {} cannot be quantized",
                       name_of(v.type));
    if (quantize != "no" && floating)
        if (Status status = set_quantize(quantize, v.type, packing); !status.ok()) return status;
    const std::string chunks = s.value("chunks", "auto");
    return chunks == "auto" ? Status{} : set_chunks(chunks, s.own("chunks"), d, v, packing);
}

/// Reads the setting `packing` of a file.
Status set_file_packing(const std::string& value, Packing& packing) {
    constexpr std::int64_t usual = 4096, most = 10'000'000;
    packing.cmip7 = value == "cmip7" ? usual : 0;
    if (packing.cmip7 > 0 || value == "no") return {};
    if (value.starts_with("cmip7:") && parse(value.substr(6), packing.cmip7) &&
        packing.cmip7 >= 1 && packing.cmip7 <= most)
        return {};
    return refuse("packing", value, "no, cmip7 or cmip7:RECORDS, with 1 to 10000000 records");
}

}  // namespace

Status choose_packing(const Definitions& d, const VariableSettings& of_all, Variable& v) {
    Packing packing;
    const auto file = of_all.find("packing");
    Status status = file == of_all.end() ? Status{} : set_file_packing(file->second, packing);
    VariableSettings settings = v.settings;
    const bool small = v.record && v.elements() * v.element() <= small_record;
    if (v.dims.size() >= 2 && !(small && packing.cmip7 > 0))
        settings.insert(of_all.begin(), of_all.end());
    if (status.ok()) status = set_packing({settings, v.settings}, d, v, packing);
    if (!status.ok()) {
        // Without a name, the variable stands for all variables of the file.
        if (!v.name.empty()) reword(status, "variable '{}': {}", OfVariable{v.name}, status.text);
        return status;
    }
    if (v.dims.empty() && (packing.filtered() || !packing.chunks.empty()))
        return failure(TW_ESETTING, "variable '{}': a scalar cannot have chunks or filters",
                       OfVariable{v.name});
    v.packing = std::move(packing);
    return {};
}

}  // namespace thalweg::detail
