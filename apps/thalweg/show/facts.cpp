// SPDX-License-Identifier: Apache-2.0
#include "show/facts.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "dataset/contents.hpp"
#include "inspect/inspected.hpp"
#include "layout/grid.hpp"
#include "publish/stale_references.hpp"
#include "storage/chunked/filters.hpp"
#include "storage/netcdf4/whole.hpp"
#include "storage/posix/paths.hpp"
#include "storage/source.hpp"
#include "storage/zarr/store/contents.hpp"
#include "verify/difference.hpp"

namespace thalweg::app {

using namespace detail;

namespace {

bool exists(const std::string& path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0;
}

/// Finds the file to which a path refers: the complete one, or the one under its temporary name if
/// there is no complete one.
Status find_paths(const std::string& path, FileFacts& facts) {
    if (Status status = follow_links(path, facts.own); !status.ok()) return status;
    facts.data = facts.own;
    const std::string temporary = temporary_path(facts.own), complete = own_path(facts.own);
    if (exists(facts.own)) {
        // A user may have given a complete file a name that ends in .part.
        if (!complete.empty() && facts.own != complete) facts.own = complete;
    } else if (exists(temporary)) {
        facts.data = temporary;
    }
    for (int k = 1; k <= most_kept; ++k)
        if (std::string kept = kept_path(facts.own, k); kept != facts.data && exists(kept))
            facts.kept.push_back(std::move(kept));
    return {};
}

std::string filter_text(const StoredFilter& filter) {
    constexpr std::array<std::pair<int, const char*>, 9> names{{{1, "deflate"},
                                                                {2, "shuffle"},
                                                                {3, "fletcher32"},
                                                                {4, "szip"},
                                                                {307, "bzip2"},
                                                                {32001, "blosc"},
                                                                {zstd_filter, "zstd"},
                                                                {gzip_filter, "gzip"},
                                                                {crc32c_filter, "crc32c"}}};
    for (const auto& [id, name] : names)
        if (id == filter.id)
            return filter.level != 0 ? fmt::format("{}={}", name, filter.level) : name;
    return fmt::format("filter {}", filter.id);
}

void add_definitions(const Source& source, FileFacts& facts) {
    const Definitions& d = source.definitions();
    facts.format = name_of(source.contents().format);
    facts.attributes = static_cast<std::int64_t>(d.attributes.size());
    facts.groups = source.contents().groups;
    facts.files = source.contents().files;
    for (int i = 0; i < static_cast<int>(d.dims.size()); ++i)
        facts.dims.push_back({d.dims[static_cast<std::size_t>(i)].name,
                              detail::contents_of(source).length(i), d.is_record_dim(i)});
    if (const Grid* const grid = source.contents().grid; grid != nullptr) {
        facts.rows = grid->rows;
        facts.columns = grid->columns;
    }
}

void add_variable(const Source& source, int number, std::int64_t records, FileFacts& facts) {
    const detail::Variable& v = source.definitions().variables[static_cast<std::size_t>(number)];
    VariableFacts of;
    of.name = v.name;
    of.type = valid_type(v.type) ? name_of(static_cast<Type>(v.type)) : "not readable";
    for (const int dim : v.dims) {
        const DimensionFacts& known = facts.dims[static_cast<std::size_t>(dim)];
        of.dims.push_back(known.name);
        of.shape.push_back(known.length);
    }
    if (valid_type(v.type))
        of.bytes = v.elements() * static_cast<std::int64_t>(v.element()) * (v.record ? records : 1);
    const VariableStorage stored =
        source.contents().variables[static_cast<std::size_t>(number)].storage;
    of.chunks = stored.chunk;
    for (const StoredFilter& filter : stored.filters) of.filters.push_back(filter_text(filter));
    Status status;
    if (!v.record || records > 0) status = source.check(number, v.record ? records - 1 : 0);
    if (status.code == TW_EUNSUPPORTED)
        of.unreadable = status.text;
    else if (!status.ok() && facts.damage.empty())
        facts.damage = fmt::format("variable '{}': {}", v.name, status.text);
    facts.variables.push_back(std::move(of));
}

/// Adds the sizes of the files, and the bytes that each variable occupies in them.
Status add_sizes(FileFacts& facts) {
    std::vector<std::string> names;
    for (const VariableFacts& v : facts.variables) names.push_back(v.name);
    std::vector<std::int64_t> stored(names.size(), 0);
    const bool store = is_zarr_store(facts.data);
    for (std::size_t i = 0; store && i < names.size(); ++i)
        if (Status s = add_bytes(facts.data + "/" + names[i], stored[i]); !s.ok()) return s;
    if (store)
        if (Status s = add_bytes(facts.data, facts.bytes); !s.ok()) return s;
    for (const std::string& file : store ? Names{} : files_of(facts.data)) {
        struct stat info {};
        if (stat(file.c_str(), &info) == 0) facts.bytes += info.st_size;
        if (Status status = add_stored_bytes(file, names, stored); !status.ok()) return status;
    }
    const bool chunked = has_chunks(format_of(facts.format));
    for (std::size_t i = 0; i < names.size(); ++i)
        facts.variables[i].stored = chunked ? stored[i] : facts.variables[i].bytes;
    return {};
}

/// Adds the objects that netCDF-C does not list, and the dimensions that are unlimited.
Status add_unlisted(FileFacts& facts) {
    Inspection inspection;
    if (Status status = inspect_netcdf4(files_of(facts.data).front(), inspection, false);
        !status.ok())
        return status;
    for (DimensionFacts& dim : facts.dims)
        dim.unlimited = dim.unlimited || has(inspection.unlimited, dim.name);
    facts.unlisted = std::move(inspection.unlisted);
    return {};
}

/// Adds the process that writes the file, and the state of the file.
void add_state(FileFacts& facts) {
    facts.writer = WriteLock::holder(facts.own);
    const bool temporary = facts.data != facts.own;
    // The lock may belong to a new file that is being written under the temporary name, to replace
    // this one.
    const bool replaced = !temporary && exists(temporary_path(facts.own));
    if (facts.writer.there && !replaced)
        facts.state = State::writing;
    else if (temporary)
        facts.state = State::abandoned;
    else if (!facts.damage.empty())
        facts.state = State::truncated;
    if (facts.state != State::truncated) facts.damage.clear();
}

void add_zarr(FileFacts& facts) {
    facts.zarr_store = exists(facts.data + "/zarr.json");
    const std::string beside = facts.own + ".json";
    std::array<char, 64> begin{};
    std::ifstream file(beside, std::ios::binary);
    file.read(begin.data(), references_begin.size());
    if (std::string_view(begin.data(), static_cast<std::size_t>(file.gcount())) == references_begin)
        facts.references = beside;
}

}  // namespace

const char* name_of(State state) {
    switch (state) {
        case State::complete: return "complete";
        case State::writing: return "writing";
        case State::abandoned: return "abandoned";
        case State::truncated: break;
    }
    return "truncated";
}

Status find_facts(const std::string& path, FileFacts& facts) {
    if (Status status = find_paths(path, facts); !status.ok()) return status;
    const auto comm = make_serial_comm();
    Status status;
    const auto source = open_source(*comm, facts.data, false, status);
    if (!status.ok()) return status;
    add_definitions(*source, facts);
    const std::int64_t records = source->records();
    for (std::size_t i = 0; i < source->definitions().variables.size(); ++i)
        add_variable(*source, static_cast<int>(i), records, facts);
    facts.records = std::max(records, logged_records(facts.data));
    if (status = add_sizes(facts); !status.ok()) return status;
    add_state(facts);
    add_zarr(facts);
    // A file that is being written may change while netCDF-C opens it, so ignore errors.
    status = add_unlisted(facts);
    return facts.state == State::complete ? status : Status{};
}

}  // namespace thalweg::app
