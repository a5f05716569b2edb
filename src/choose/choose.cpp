// SPDX-License-Identifier: Apache-2.0
#include "choose/choose.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "layout/writers.hpp"
#include "service/queue/region.hpp"
#include "storage/chunked/chunk_grid.hpp"
#include "storage/storage.hpp"
#include "storage/variables/variables.hpp"
#include "storage/zarr/metadata.hpp"

namespace thalweg::detail {

FileSystemOptions choose_for_file_system(const FileSystem& system, int nodes, FileSystemOptions way,
                                         bool pnetcdf) {
    const bool shared = nodes > 1;
    const bool parallel = system.sharing == Sharing::parallel;
    const bool can_be_one = way.writers == "auto" && !way.direct;
    const bool one = way.writers == "1" && !way.direct;
    const char* const another = way.direct ? "another method with " : "";
    if (shared && system.sharing == Sharing::nfs) {
        if (way.storage == "auto" && pnetcdf) {
            way.storage = "pnetcdf";
            way.warning = fmt::format(
                "file system {}: {} nodes do not see each other's writes at once: using "
                "storage=pnetcdf",
                system.name, nodes);
        } else if (can_be_one &&
                   (way.storage == "netcdf4" || way.storage == "zarr" || way.storage == "auto")) {
            way.writers = "1";
            way.warning = fmt::format(
                "file system {}: {} nodes do not see each other's writes at once: using writers=1",
                system.name, nodes);
        } else if (way.storage != "pnetcdf" && way.storage != "memory" && !one) {
            way.warning = fmt::format(
                "file system {}: {} nodes do not see each other's writes at once, so storage={} "
                "may lose bytes; use {}{}writers=1",
                system.name, nodes, way.storage == "auto" ? "posix" : way.storage,
                pnetcdf ? "storage=pnetcdf or " : "", another);
        }
    } else if (shared && system.sharing == Sharing::unknown) {
        if (can_be_one) {
            way.writers = "1";
            way.warning = fmt::format(
                "file system {}: not known whether {} nodes can write one file: using writers=1",
                system.name, nodes);
        } else if (!one) {
            way.warning = fmt::format(
                "file system {}: not known whether {} nodes can write one file; {}writers=1 is "
                "safe",
                system.name, nodes, another);
        }
    }
    if (way.storage == "auto") way.storage = "posix";
    if (way.alignment < 0) {
        way.alignment = 4096;
        if (parallel) way.alignment = std::max<std::int64_t>(system.block, 1 << 20);
        if (parallel && way.stripe_size > 0) way.alignment = way.stripe_size;
    }
    if (way.writers == "auto") way.writers = parallel ? "4/node" : "1/node";
    return way;
}

namespace {

/// Adds a remark about storage settings that the format ignores. Such settings are not an error,
/// because a program may always set them while its user chooses the format.
void remark_ignored(const Definitions& definitions, Format format, std::vector<Remark>& remarks) {
    std::vector<std::string> ignored;
    for (const Variable& v : definitions.variables) {
        std::vector<std::string> settings;
        for (const auto& [name, value] : v.settings)
            if (name != "fill") settings.push_back(name + "=" + value);
        if (!settings.empty())
            ignored.push_back(fmt::format("'{}' ({})", v.name, joined(settings, "; ")));
    }
    if (ignored.empty()) return;
    const std::size_t more = ignored.size() > 8 ? ignored.size() - 8 : 0;
    ignored.resize(ignored.size() - more);
    remarks.push_back(
        {Remark::Level::info,
         fmt::format("format {} has no chunks or filters; ignoring settings of variables: {}{}",
                     name_of(format), joined(ignored, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more))});
}

/// Returns the only storage of a format; auto if there are several.
const char* storage_of(Format format) {
    return is_netcdf4(format) ? "netcdf4" : format == Format::zarr ? "zarr" : "auto";
}

void choose_storage(const FileOptions& options, Format format, const Surroundings& around,
                    Choice& choice) {
    std::string storage =
        options.storage == "auto" && has_chunks(format) ? storage_of(format) : options.storage;
    if (options.by_variable) storage = "posix";  // posix writes the file of each variable
    const FileSystemOptions way =
        choose_for_file_system(around.file_system, around.nodes,
                               {storage, options.writers, options.alignment, around.stripe_size, "",
                                options.method == "direct"});
    if (!way.warning.empty()) choice.remarks.push_back({Remark::Level::warning, way.warning});
    choice.storage = options.by_variable ? variable_storage : way.storage;
    choice.writers = way.writers;
    choice.writers_asked = options.writers != "auto" || way.writers == "1";
    choice.alignment = way.alignment;
}

/// Returns the reason why a service cannot write the file; empty if it can.
std::string reason_against(const std::string& service, const Surroundings& around,
                           const Choice& choice) {
    if (make_storage(choice.storage)->collective())
        return fmt::format("storage {} writes collectively, so the model's own calls must write",
                           choice.storage);
    if (choice.method == "direct")
        return "with method=direct every rank writes from its own arrays";
    if (service == "servers" && !around.servers)
        return "no ranks are set aside as servers (setting servers of tw_init)";
    return "";
}

int ranks_of_node(const Surroundings& around) {
    return (around.ranks + around.nodes - 1) / around.nodes;
}

/// Tests if the layout must give each writer whole chunks. With separate files, every layout does.
bool packs_chunks(const FileOptions& options, const Definitions& definitions, Format format,
                  const Choice& choice) {
    const bool in_files = options.tile_files && choice.method == "tiles";
    return has_chunks(format) && needs_whole_chunks(definitions) && !in_files;
}

/// Returns the smallest number of writing threads on a node that the settings permit.
/// @param packs  the writers compress, so their number depends on the free processors
int threads_of_node(const Surroundings& around, const Choice& choice, bool packs) {
    if (choice.method == "rows" || choice.method == "columns" || choice.method == "serial")
        return 1;
    if (packs && !choice.writers_asked) return 1;
    const WriterCount writers = parse_writers(choice.writers);
    return std::clamp(
        writers.per_node ? writers.number : (writers.number + around.nodes - 1) / around.nodes, 1,
        ranks_of_node(around));
}

/// Tests if a file with service=auto can be written in the background: enough processors are free
/// for the threads, and the queues need at most half of the free memory. Sets choice.why_service.
bool choose_background(const Surroundings& around, bool packs, Choice& choice) {
    const NodeResources& room = around.room;
    const int threads = threads_of_node(around, choice, packs);
    const double mb = 1e-6;
    if (room.bound)
        choice.why_service = "the ranks are bound to the processors on which they compute";
    else if (room.processors < threads)
        choice.why_service =
            fmt::format("free processors on a node: {}, needed by the writing threads: {}",
                        room.processors, threads);
    else if (room.queues > room.memory / 2)
        choice.why_service = fmt::format(
            "the queues need {:.0f} MB of a node, more than half of its free memory of {:.0f} MB",
            room.queues * mb, room.memory * mb);
    else
        choice.why_service =
            fmt::format("free processors on each node: {}, needed by the writing threads: {}",
                        room.processors, threads);
    return !room.bound && room.processors >= threads && room.queues <= room.memory / 2;
}

/// Returns the number of threads that compress in the background on a node.
/// @param free_ones  count only free processors; otherwise one thread per rank
int compressing_threads(const Surroundings& around, bool free_ones) {
    const int most = std::min(ranks_of_node(around), Region::max_writers);
    return free_ones ? std::min(around.room.processors, most) : most;
}

/// Chooses the service: the requested one, or inline if the requested one is not possible.
void choose_service(const FileOptions& options, const Surroundings& around, bool packs,
                    Choice& choice) {
    choice.service = options.service;
    if (options.service == "inline") return;
    const bool automatic = options.service == "auto";
    const std::string against = reason_against(options.service, around, choice);
    if (!against.empty()) {
        choice.service = "inline";
        choice.why_service = against;
    } else if (automatic && around.servers) {
        choice.service = "servers";
        choice.why_service = "ranks are set aside as servers";
    } else if (automatic && !options.close_later) {
        choice.service = "inline";
        choice.why_service = "auto writes in the background only with close=later";
    } else if (automatic) {
        choice.service = choose_background(around, packs, choice) ? "background" : "inline";
    }
    if (choice.why_service.empty()) return;
    choice.remarks.push_back(
        {Remark::Level::info,
         automatic ? fmt::format("service {}: {}", choice.service, choice.why_service)
                   : fmt::format("service={} is not possible, using inline: {}", options.service,
                                 choice.why_service)});
}

/// Chooses the number of writers of whole chunks: as many as can compress at the same time, if any
/// chunk is filtered. The ranks compress during the model's calls or, in the background, on one
/// thread each. With a single writer, all others would wait for its compression. With service=auto,
/// background threads use free processors only.
void choose_packing_writers(const FileOptions& options, const Definitions& definitions,
                            const Surroundings& around, Choice& choice) {
    // In a continued file, chunks may contain several records. Their data stay uncompressed in
    // memory until the chunks are complete.
    const bool later = choice.service != "inline";
    const bool one =
        (choice.service == "servers" && choice.writers == "1") || (around.existing && later);
    const std::string method = one || choice.method == "serial" ? "serial" : "record";
    if (method != choice.method)
        choice.remarks.push_back(
            {Remark::Level::info,
             fmt::format("method={} is not possible, using {}: {}", choice.method, method,
                         around.existing && later
                             ? "with a service, one writer continues a file in whole chunks"
                         : one ? "with writers=1 the first server writes everything"
                               : "each writer needs whole chunks")});
    choice.method = method;
    // Chunks can be anywhere in the file, so alignment is of no use. Without it, each writer gets
    // the same chunks of every record.
    choice.alignment = 1;
    const bool plain = std::ranges::none_of(
        definitions.variables, [&](const Variable& v) { return v.packing.filtered(); });
    if (choice.writers_asked || choice.service == "servers" || (plain && !options.checksums))
        return;
    if (choice.service == "inline") {
        choice.writers = fmt::format("{}/node", around.ranks);
        return;
    }
    const bool automatic = options.service == "auto" && around.room.processors > 0;
    choice.writers = fmt::format("{}/node", compressing_threads(around, automatic));
    choice.remarks.push_back(
        {Remark::Level::info, fmt::format("writers={}: {} in the background", choice.writers,
                                          automatic ? "the free processors of a node compress"
                                                    : "a thread of every rank compresses")});
}

/// Checks that a Zarr store can hold attributes.
/// @param v  their variable; null: they are the file's own
Status check_texts(const NamedList<Attribute>& attributes, const Variable* v,
                   const std::string& of) {
    for (const Attribute& a : attributes)
        if (!is_json(a, v))
            return failure(TW_EFORMAT,
                           "{} '{}': format zarr permits only texts of UTF-8 without NUL", of,
                           a.name);
    return {};
}

/// Changes the packing of a variable to one that Zarr has: without shuffle, and with a codec for
/// checksums.
Status adapt_to_zarr(const FileOptions& options, Variable& v) {
    const VariableSettings& settings =
        v.settings.contains("shuffle") ? v.settings : options.packing;
    const auto shuffle = settings.find("shuffle");
    if (v.packing.shuffle && shuffle != settings.end() && shuffle->second == "yes")
        return failure(TW_ESETTING, "variable '{}': format zarr lacks the filter shuffle",
                       OfVariable{v.name});
    if (v.packing.cmip7 > 0)
        return failure(TW_ESETTING, "variable '{}': packing=cmip7 is for format netcdf4, not zarr",
                       OfVariable{v.name});
    v.packing.shuffle = false;
    v.packing.whole |= options.checksums;
    return check_texts(v.attributes, &v, fmt::format("variable '{}': attribute", v.name));
}

}  // namespace

void report(const std::vector<Remark>& remarks, const std::string& path) {
    for (const Remark& remark : remarks) {
        if (remark.level == Remark::Level::warning)
            log::warn("{}: {}", path, remark.text);
        else
            log::info("{}: {}", path, remark.text);
    }
}

Status choose_format(const FileOptions& options, Definitions& definitions, Format& format,
                     std::vector<Remark>& remarks) {
    const bool netcdf4 = options.format == "auto" && options.storage == "netcdf4";
    format = netcdf4                    ? Format::netcdf4
             : options.format == "auto" ? choose_format(definitions)
                                        : format_of(options.format);
    const std::string storage = storage_of(format);
    if (options.storage != "auto" && options.storage != storage &&
        (options.storage == "netcdf4" || storage != "auto"))
        return failure(TW_ESETTING, "storage={} cannot write format {}", options.storage,
                       name_of(format));
    if (Status status = check_format(definitions, format); !status.ok()) return status;
    if (format == Format::zarr)
        if (Status s = check_texts(definitions.attributes, nullptr, "global attribute"); !s.ok())
            return s;
    if (has_chunks(format)) {
        for (Variable& v : definitions.variables) {
            if (Status s = choose_packing(definitions, options.packing, v); !s.ok()) return s;
            if (format == Format::zarr)
                if (Status s = adapt_to_zarr(options, v); !s.ok()) return s;
        }
        for (const std::string& dim : unknown_chunks(definitions, options.packing))
            remarks.push_back(
                {Remark::Level::warning,
                 fmt::format("setting chunks names dimension '{}', which the file does not have",
                             dim)});
        return {};
    }
    for (const auto& [name, value] : options.packing)
        if (value != "0" && value != "no" && value != "auto")
            remarks.push_back(
                {Remark::Level::warning, fmt::format("setting {}={} has no effect in format {}",
                                                     name, value, name_of(format))});
    remark_ignored(definitions, format, remarks);
    return {};
}

Choice choose(const FileOptions& options, const Definitions& definitions, Format format,
              const Surroundings& around) {
    Choice choice;
    choose_storage(options, format, around, choice);
    choice.method = options.method == "auto" ? "record" : options.method;
    const bool packs = packs_chunks(options, definitions, format, choice);
    choose_service(options, around, packs, choice);
    if (packs) choose_packing_writers(options, definitions, around, choice);
    return choice;
}

namespace {

/// Smallest number of ranks for each server. It is fixed, because the size of the output is not
/// known yet.
constexpr int ranks_of_a_server = 16;

/// Number of servers that nearly reach the speed of a parallel file system.
constexpr int enough_servers = 64;

}  // namespace

ServerChoice choose_servers(const FileSystem& system, int ranks, int nodes) {
    if (ranks < 2) return {0, "the session has one rank"};
    const int most = std::max(1, ranks / ranks_of_a_server);
    if (most < nodes)
        return {most, fmt::format("at most one rank of {} serves, of {} ranks on {} nodes",
                                  ranks_of_a_server, ranks, nodes)};
    const int useful =
        system.sharing == Sharing::parallel ? (enough_servers + nodes - 1) / nodes : 1;
    const int on_node = std::min(useful, most / nodes);
    return {on_node * nodes,
            on_node == 1 ? fmt::format("one on each node ({})", nodes)
                         : fmt::format("{} on each of {} nodes: file system {} serves several "
                                       "writers of a node",
                                       on_node, nodes, system.name)};
}

namespace {

std::string size_text(std::int64_t bytes) { return bytes < 0 ? "auto" : fmt::format("{}", bytes); }

/// Describes the location of a file, for example "file system ext4, 2 nodes".
std::string place_of(const Surroundings& around) {
    return fmt::format("file system {}, {} node{}", around.file_system.name, around.nodes,
                       around.nodes == 1 ? "" : "s");
}

/// Returns the last remark on a setting, or an empty text.
std::string remark_on(const Choice& choice, const std::string& setting, const std::string& chosen) {
    std::string found;
    for (const Remark& r : choice.remarks)
        if (r.text.starts_with(setting + "=") || r.text.starts_with(setting + " ") ||
            r.text.ends_with(" " + setting + "=" + chosen))
            found = r.text;
    return found;
}

std::string why_format(const FileOptions& asked, bool appended, Format format) {
    if (appended) return "the format of the file that is appended to";
    if (asked.storage == "netcdf4") return "setting storage is netcdf4";
    if (format == Format::cdf2) return "every netCDF library reads it, and it can hold the file";
    return "CDF-2 cannot hold the file: it has too large variables or new types";
}

std::string why_writers(Format format, const Surroundings& around, const Choice& choice) {
    if (const std::string said = remark_on(choice, "writers", choice.writers); !said.empty())
        return said;
    if (choice.method == "rows" || choice.method == "columns")
        return fmt::format("at most one for each process {}",
                           choice.method == "rows" ? "row" : "column");
    if (has_chunks(format) && choice.writers == fmt::format("{}/node", around.ranks))
        return "the writers compress, so all ranks do";
    return fmt::format("{}: {}", place_of(around),
                       around.file_system.sharing == Sharing::parallel
                           ? "a parallel file system serves several writers of a node"
                           : "one writer of a node reaches the speed of a local disk");
}

std::string why_alignment(const Surroundings& around) {
    if (around.file_system.sharing != Sharing::parallel) return place_of(around);
    return place_of(around) + (around.stripe_size > 0 ? ": its stripe size" : ": its block size");
}

}  // namespace

std::vector<ChosenSetting> explain(const FileOptions& asked, bool appended, Format format,
                                   const Surroundings& around, const Choice& choice) {
    std::vector<ChosenSetting> rows;
    const auto add = [&](const char* name, const std::string& was, const std::string& is,
                         const std::string& reason) {
        rows.push_back({name, was, is, was == is ? "" : reason});
    };
    const std::string method = remark_on(choice, "method", choice.method);
    const std::string storage = remark_on(choice, "storage", choice.storage);
    add("format", asked.format, name_of(format), why_format(asked, appended, format));
    add("storage", asked.storage, choice.storage,
        has_chunks(format) ? "the only one of this format"
        : !storage.empty() ? storage
                           : place_of(around) + ": plain writes to disjoint ranges");
    add("method", asked.method, choice.method,
        method.empty() ? "each writer writes contiguous bytes of a record" : method);
    if (choice.service != "servers" && choice.method != "direct" && choice.method != "serial")
        add("writers", asked.writers, choice.writers, why_writers(format, around, choice));
    add("service", asked.service, choice.service, choice.why_service);
    add("alignment", size_text(asked.alignment), size_text(choice.alignment),
        why_alignment(around));
    return rows;
}

}  // namespace thalweg::detail
