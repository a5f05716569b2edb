// Finds keys and settings of a stream that have no effect.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>

#include "history/parse.hpp"
#include "session/settings.hpp"

namespace thalweg::history {

void check_effects(Keys& keys, const StreamTable& stream, Edge edge) {
    const auto refuse = [&](bool idle, std::string_view with,
                            std::initializer_list<std::string_view> names) {
        for (const std::string_view name : names)
            if (idle && keys.has(name))
                keys.fail(name, fmt::format("'{}' has no effect with {}", name, with));
    };
    for (const FieldKeys& field : stream.field)
        if (!stream.packs && (field.chunks || field.quantize))
            keys.problems().push_back(
                {field.line,
                 fmt::format("{}, field '{}': '{}' has no effect in files of this "
                             "format: it needs format = \"netcdf4\"",
                             keys.where(), field.name, field.chunks ? "chunks" : "quantize")});
    const Every every = stream.every;
    const bool once = every == Every::once, instant = stream.op == Op::instant;
    refuse(once, "every = \"once\"",
           {"from", "to", "sample", "hours", "anchor", "partial", "at_close", "boundary", "stamp",
            "weights", "min_valid", "interval", "sync"});
    refuse(instant, "op = \"instant\"",
           {"partial", "at_close", "stamp", "weights", "min_valid", "interval"});
    if (once || instant) {
        refuse(instant && !stream.new_file, "a stream that has no 'new_file'", {"boundary"});
        refuse(stream.counts, "an operation other than std", {"ddof"});
        return;
    }
    refuse(true, "an operation other than instant", {"boundary"});
    refuse(every == Every::run, "every = \"run\"", {"partial", "at_close"});
    refuse(every == Every::step, "every = \"step\"", {"partial"});
    refuse(every == Every::step && edge == Edge::end, "every = \"step\"", {"at_close"});
    refuse(every != Every::window && !stream.new_file && !stream.sample && !stream.inner &&
               std::ranges::none_of(stream.field,
                                    [](const FieldKeys& field) { return field.inner.has_value(); }),
           every == Every::run ? "every = \"run\"" : "every = \"step\"", {"anchor"});
    refuse(stream.inner.has_value(), "'inner'", {"interval"});
    refuse(stream.interval && keys.run().step == 0, "steps of unknown length", {"interval"});
    refuse(stream.counts && stream.weight.empty() && stream.op != Op::std &&
               std::ranges::none_of(stream.field,
                                    [](const FieldKeys& field) { return field.op == Op::std; }),
           "an operation other than std", {"ddof"});
}

void check_file_settings(const toml::table& given, const detail::Settings& effective, Keys& keys,
                         StreamTable& stream) {
    const std::string& format = effective.text("format");
    stream.packs = format.starts_with("netcdf4") ||
                   (format == "auto" && effective.text("storage") == "netcdf4");
    const auto fail = [&](const toml::node& node, const std::string& what) {
        keys.problems().push_back({line_of(node), keys.where() + ": " + what});
    };
    const auto refuse = [&](bool idle, std::string_view why,
                            std::initializer_list<const char*> names) {
        for (const char* name : names)
            if (const toml::node* node = given.get(name); idle && node != nullptr)
                if (effective.given(name))
                    fail(*node, fmt::format("file: '{}' has no effect{}", name, why));
    };
    refuse(!stream.packs,
           fmt::format(" in files of the format {}: it needs format = \"netcdf4\"",
                       format == "auto" ? "cdf2 or cdf5" : format),
           {"deflate", "shuffle", "zstd", "quantize", "chunks"});
    refuse(effective.text("method") != "tiles", ": it needs method = \"tiles\"", {"tiles"});
    refuse(true, ": it is for files that are read",
           {"mode", "readers", "read_ahead", "common_records"});
}

}  // namespace thalweg::history
