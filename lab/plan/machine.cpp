// SPDX-License-Identifier: Apache-2.0
#include "plan/machine.hpp"

#include <algorithm>

#include "plan/toml_keys.hpp"

namespace thalweg::planning {

using namespace detail;

namespace {

std::string list_of(const std::vector<double>& values, const char* digits) {
    std::string text;
    for (const double value : values)
        text += (text.empty() ? "" : ", ") + fmt::format(fmt::runtime(digits), value);
    return "[" + text + "]";
}

/// Tests if a path is a folder, or is inside it.
bool within(const std::string& path, const std::string& folder) {
    return path.rfind(folder, 0) == 0 &&
           (path.size() == folder.size() || folder.back() == '/' || path[folder.size()] == '/');
}

Status parse_folder(const toml::table& table, const std::string& where, Folder& folder) {
    TomlKeys keys(table, where);
    keys.text("path", folder.path);
    keys.text("file_system", folder.file_system);
    keys.number("create", folder.create);
    keys.number("rename", folder.rename);
    keys.number("call", folder.call);
    keys.number("request", folder.request, Key::optional);
    keys.number("lock", folder.lock, Key::optional);
    keys.number("locks", folder.locks, Key::optional);
    keys.number("processor", folder.processor, Key::optional);
    keys.number("node_rate", folder.node_rate, Key::optional);
    keys.numbers("writers", folder.writers);
    keys.numbers("rate", folder.rate);
    keys.numbers("durable", folder.durable, Key::optional);
    if (folder.durable.empty()) folder.durable = folder.rate;
    const auto& w = folder.writers;
    if (std::adjacent_find(w.begin(), w.end(), std::greater_equal<>()) != w.end())
        keys.fail("writers", "expected an ascending list");
    for (const auto* rates : {&folder.rate, &folder.durable})
        if (rates->size() != w.size())
            keys.fail(rates == &folder.rate ? "rate" : "durable",
                      fmt::format("expected as many numbers as 'writers' has ({})", w.size()));
    return keys.finish();
}

}  // namespace

const Folder* Machine::folder_of(const std::string& path, const std::string& file_system) const {
    const Folder* found = nullptr;
    for (const Folder& folder : folders)
        if (!folder.path.empty() && within(path, folder.path) &&
            (found == nullptr || folder.path.size() > found->path.size()))
            found = &folder;
    for (const Folder& folder : folders)
        if (found == nullptr && folder.file_system == file_system) found = &folder;
    return found;
}

Folder assumed_folder(const FileSystem& system) {
    Folder folder;
    folder.file_system = system.name;
    switch (system.sharing) {
        case Sharing::local:  // Writes go to memory first; a local disk receives the data later.
            folder.create = folder.rename = 1e-4;
            folder.call = 2e-5;
            folder.writers = {1};
            folder.rate = {2e9};
            folder.durable = {5e8};
            break;
        case Sharing::parallel:
            folder.create = folder.rename = 2e-3;
            folder.call = 2e-5;  // a call only copies to this node's cache
            folder.request = 5e-4;
            folder.lock = 1e-3;
            folder.locks = 16;
            folder.processor = 0.5;
            folder.node_rate = 3e9;
            folder.writers = {1, 4, 16, 64};
            folder.rate = folder.durable = {8e8, 3e9, 8e9, 2e10};
            break;
        case Sharing::nfs:
        case Sharing::unknown:
            folder.create = folder.rename = 5e-3;
            folder.call = 1e-3;
            folder.lock = 5e-3;
            folder.processor = 0.5;
            folder.writers = {1, 4};
            folder.rate = folder.durable = {3e8, 6e8};
            break;
    }
    return folder;
}

double rate_of(const Folder& folder, double writers, bool durable) {
    const std::vector<double>& rate = durable ? folder.durable : folder.rate;
    const std::vector<double>& at = folder.writers;
    if (writers <= at.front()) return rate.front() * writers / at.front();
    const auto next =
        static_cast<std::size_t>(std::lower_bound(at.begin(), at.end(), writers) - at.begin());
    if (next == at.size()) return rate.back();
    const double part = (writers - at[next - 1]) / (at[next] - at[next - 1]);
    return rate[next - 1] + part * (rate[next] - rate[next - 1]);
}

Status parse_machine(std::string_view content, const std::string& name, Machine& machine) {
    toml::table table;
    if (Status status = parse_toml(content, name, table); !status.ok()) return status;
    TomlKeys keys(table, name);
    std::int64_t ranks = 1, nodes = 1, cores = 1;
    keys.integer("ranks", ranks, 1);
    keys.integer("nodes", nodes, 1);
    keys.integer("cores", cores, 1);
    machine.ranks = std::min<std::int64_t>(ranks, INT32_MAX);
    machine.nodes = std::min<std::int64_t>(nodes, INT32_MAX);
    machine.cores = std::min<std::int64_t>(cores, INT32_MAX);
    keys.positive("pack", machine.pack, Key::optional);
    keys.positive("pack_node", machine.pack_node, Key::optional);
    keys.number("agree", machine.agree, Key::optional);
    keys.number("latency", machine.latency, Key::optional);
    keys.positive("message", machine.message, Key::optional);
    keys.positive("inside", machine.inside, Key::optional);
    keys.positive("compress", machine.compress, Key::optional);
    keys.number("run", machine.run, Key::optional);
    int number = 0;
    for (const toml::table* folder : keys.tables("folder", Key::optional)) {
        machine.folders.emplace_back();
        const std::string where = fmt::format("{}: [[folder]] {}", name, ++number);
        if (Status s = parse_folder(*folder, where, machine.folders.back()); !s.ok()) return s;
    }
    return keys.finish();
}

std::string text_of(const Machine& machine, const std::string& remark) {
    const auto quoted = [](const std::string& text) {
        std::string safe = "\"";
        for (const char c : text) {
            if (c == '"' || c == '\\') safe += '\\';
            if (static_cast<unsigned char>(c) < 0x20)
                safe += fmt::format("\\u{:04X}", static_cast<int>(c));
            else
                safe += c;
        }
        return safe + "\"";
    };
    std::string text = fmt::format(
        "# {}\n# Seconds, and bytes per second.\n"
        "ranks = {}  # that measured\nnodes = {}\ncores = {}  # of a node\n"
        "pack = {:.3e}  # one core: reorder and convert\n"
        "pack_node = {:.3e}  # the ranks of a node together\n"
        "agree = {:.2e}  # all ranks\n",
        remark, machine.ranks, machine.nodes, machine.cores, machine.pack, machine.pack_node,
        machine.agree);
    text += fmt::format("run = {:.2e}  # of a list of indices, besides its bytes\n", machine.run);
    if (machine.inside > 0)
        text += fmt::format("inside = {:.3e}  # messages in a node, of all its ranks\n",
                            machine.inside);
    if (machine.message > 0)
        text += fmt::format(
            "latency = {:.2e}  # of a short message{}\nmessage = {:.3e}  # of large ones\n",
            machine.latency, machine.nodes == 1 ? ", within a node: measure on two nodes" : "",
            machine.message);
    for (const Folder& folder : machine.folders) {
        text += fmt::format(
            "\n[[folder]]\npath = {}\nfile_system = {}\ncreate = {:.2e}\nrename = {:.2e}\n"
            "call = {:.2e}  # a write, besides its bytes\n",
            quoted(folder.path), quoted(folder.file_system), folder.create, folder.rename,
            folder.call);
        if (folder.request > 0)
            text +=
                fmt::format("request = {:.2e}  # the servers' answer to a write\n", folder.request);
        text += fmt::format("lock = {:.2e}  # a block that another writer has{}\n", folder.lock,
                            machine.ranks == 1 ? ": assumed, measure by two ranks" : "");
        const char* const assumed = machine.nodes == 1 ? ": assumed, measure on two nodes" : "";
        if (folder.locks > 0)
            text += fmt::format("locks = {:.1f}  # servers that hand over blocks{}\n", folder.locks,
                                assumed);
        text += fmt::format("processor = {:.2f}\n", folder.processor);
        if (folder.node_rate > 0)
            text += fmt::format("node_rate = {:.3e}  # all writers of a node{}\n", folder.node_rate,
                                assumed);
        text += fmt::format(
            "writers = {}\nrate = {}  # all writers together\ndurable = {}  # with fsync\n",
            list_of(folder.writers, "{:.0f}"), list_of(folder.rate, "{:.3e}"),
            list_of(folder.durable, "{:.3e}"));
    }
    return text;
}

}  // namespace thalweg::planning
