// SPDX-License-Identifier: Apache-2.0
#include "dataset/choose.hpp"

#include <algorithm>

#include "comm/log.hpp"
#include "comm/text.hpp"
#include "layout/writers.hpp"
#include "storage/netcdf4/chunk_grid.hpp"
#include "storage/variables/variables.hpp"

namespace thalweg::detail {

namespace {

/// Programs that leave the format to their users may say how netCDF-4 is to store variables.
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

void choose_storage(const FileOptions& options, Format format, const Surroundings& around,
                    Choice& choice) {
    std::string storage =
        options.storage == "auto" && is_netcdf4(format) ? "netcdf4" : options.storage;
    if (options.by_variable) storage = "posix";  // which writes the files
    const WayOfWriting way = choose_way(around.file_system, around.nodes,
                                        {storage, options.writers, options.alignment,
                                         around.stripe_size, "", options.method == "direct"});
    if (!way.warning.empty()) choice.remarks.push_back({Remark::Level::warning, way.warning});
    choice.storage = options.by_variable ? variable_storage : way.storage;
    choice.writers = way.writers;
    choice.writers_asked = options.writers != "auto" || way.writers == "1";
    choice.alignment = way.alignment;
}

/// Why a file cannot be written by a service; empty: it can.
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

/// Writing threads of a node, as far as the settings tell.
int threads_of_node(const Surroundings& around, const Choice& choice) {
    if (choice.method == "rows" || choice.method == "columns" || choice.method == "serial")
        return 1;
    const WriterCount writers = parse_writers(choice.writers);
    return std::clamp(
        writers.per_node ? writers.number : (writers.number + around.nodes - 1) / around.nodes, 1,
        ranks_of_node(around));
}

/// service=auto without servers: a thread writes where it takes no processor from the model, and
/// its queues no more than half of the free memory.
bool choose_background(const Surroundings& around, Choice& choice) {
    const Room& room = around.room;
    const int threads = threads_of_node(around, choice);
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
            static_cast<double>(room.queues) * mb, static_cast<double>(room.memory) * mb);
    else
        choice.why_service =
            fmt::format("free processors on each node: {}, needed by the writing threads: {}",
                        room.processors, threads);
    return !room.bound && room.processors >= threads && room.queues <= room.memory / 2;
}

/// service=auto without servers: inline, until outputs of this run have shown that it pays to write
/// in the background, where there is room for that. Who closes files later asks for it.
void choose_by_outputs(const FileOptions& options, const Surroundings& around, Choice& choice) {
    choice.service = "inline";
    if (options.background_after >= 0) {
        choice.why_service =
            fmt::format("in the background after {} steps", options.background_after);
        if (options.background_after == 0)
            choice.service = "background";
        else
            choice.may_change = true;
        return;
    }
    if (!choose_background(around, choice)) return;
    if (options.close_later)
        choice.service = "background";
    else if (pays_in_background(around.outputs)) {
        choice.service = "background";
        choice.why_service = in_words(around.outputs) + "; " + choice.why_service;
    } else {
        choice.may_change = true;
        choice.why_service =
            "until outputs show that it pays to write in the background; " + choice.why_service;
    }
}

/// With a reason against a service, the file is written inline.
void choose_service(const FileOptions& options, const Surroundings& around, Choice& choice) {
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
    } else if (automatic) {
        choose_by_outputs(options, around, choice);
    }
    if (choice.why_service.empty()) return;
    choice.remarks.push_back(
        {Remark::Level::info,
         automatic ? fmt::format("service {}: {}", choice.service, choice.why_service)
                   : fmt::format("service={} is not possible, using inline: {}", options.service,
                                 choice.why_service)});
}

/// Of chunks that have to be whole, every writer needs all parts; it has those of a file of its
/// own. They are filtered by the writers, so that there are as many as ranks; with a service, one.
void choose_packed_method(const FileOptions& options, const Definitions& definitions, Format format,
                          const Surroundings& around, Choice& choice) {
    const bool in_files = options.tile_files && choice.method == "tiles";
    if (!is_netcdf4(format) || !needs_whole_chunks(definitions) || in_files) return;
    choice.may_change = false;  // the layout is another one
    const bool in_calls = choice.service == "inline";
    const std::string method = in_calls && choice.method != "serial" ? "record" : "serial";
    if (method != choice.method)
        choice.remarks.push_back(
            {Remark::Level::info,
             fmt::format("method={} is not possible, using {}: {}", choice.method, method,
                         in_calls ? "each writer needs whole chunks"
                                  : "with a service, one writer compresses all chunks")});
    choice.method = method;
    // Where chunks go does not follow from their order. A writer has the same ones of each record.
    choice.alignment = 1;
    if (!choice.writers_asked) choice.writers = fmt::format("{}/node", around.ranks);
}

/// What is left open goes by the cost model, where the machine was measured.
void choose_measured(const FileOptions& options, const Surroundings& around, Choice& choice) {
    const planning::Proposal& p = around.proposal;
    const std::string usual =
        fmt::format("method={} and writers={}", choice.method, choice.writers);
    const auto take = [&](const char* setting, const std::string& proposed, std::string& value) {
        if (proposed.empty() || proposed == value) return;
        value = proposed;
        choice.remarks.push_back(
            {Remark::Level::info,
             fmt::format("{}={}: by the calibration a step takes {:.3g} s, with {} {:.3g} s",
                         setting, value, p.seconds, usual, p.usual)});
    };
    if (options.method == "auto") take("method", p.method, choice.method);
    if (!choice.writers_asked) take("writers", p.writers, choice.writers);
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
    if (options.storage != "auto" && (options.storage == "netcdf4") != is_netcdf4(format))
        return failure(TW_ESETTING, "storage={} cannot write format {}", options.storage,
                       name_of(format));
    if (Status status = check_format(definitions, format); !status.ok()) return status;
    if (is_netcdf4(format)) {
        for (Variable& v : definitions.variables)
            if (Status s = choose_packing(definitions, options.packing, v); !s.ok()) return s;
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
    choose_measured(options, around, choice);
    choose_service(options, around, choice);
    choose_packed_method(options, definitions, format, around, choice);
    return choice;
}

}  // namespace thalweg::detail
