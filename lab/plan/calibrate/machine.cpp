// SPDX-License-Identifier: Apache-2.0
#include "plan/calibrate/machine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

namespace thalweg::planning {
namespace {

/// Formats a line with a number and a comment; nothing if the number was not measured.
std::string line(const char* key, const std::optional<double>& value, const char* comment) {
    return value ? fmt::format("{} = {:.3e}  # {}\n", key, *value, comment) : std::string();
}

/// Formats a text. TOML has the escapes of JSON.
std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

}  // namespace

std::string text_of(const Machine& machine, const std::string& remark) {
    std::string text = fmt::format(
        "# {}\n# Seconds, and bytes per second.\n"
        "ranks = {}  # that measured\nnodes = {}\ncores = {}  # of a node\n",
        remark, machine.ranks, machine.nodes, machine.cores);
    text += line("pack", machine.pack, "one core: reorder and convert");
    text += line("pack_node", machine.pack_node, "the ranks of a node together");
    text += line("agree", machine.agree, "all ranks");
    text += line("run", machine.run, "of a list of indices, besides its bytes");
    text += line("inside", machine.inside, "messages in a node, of all its ranks");
    text += line("latency", machine.latency,
                 machine.nodes == 1 ? "of a short message, within a node: measure on two nodes"
                                    : "of a short message");
    text += line("message", machine.message, "of large ones");
    for (const Folder& folder : machine.folders) {
        text += fmt::format("\n[[folder]]\npath = {}\nfile_system = {}\n", quoted(folder.path),
                            quoted(folder.file_system));
        text += line("create", folder.create, "a file, and to remove it");
        text += line("rename", folder.rename, "a file");
        text += line("call", folder.call, "a write, besides its bytes");
        text += line("request", folder.request, "the servers' answer to a write");
        text += line("lock", folder.lock, "a block that another writer has");
        text += line("locks", folder.locks, "servers that hand over blocks");
        text += line("processor", folder.processor, "of a second of writing");
        text += line("node_rate", folder.node_rate, "all writers of a node");
        text += fmt::format(
            "writers = [{:.0f}]\nrate = [{:.3e}]  # all writers together\n"
            "durable = [{:.3e}]  # with fsync\n",
            fmt::join(folder.writers, ", "), fmt::join(folder.rate, ", "),
            fmt::join(folder.durable, ", "));
    }
    return text;
}

}  // namespace thalweg::planning
