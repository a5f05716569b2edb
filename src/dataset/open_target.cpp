// SPDX-License-Identifier: Apache-2.0
#include "dataset/open_target.hpp"

#include <algorithm>

#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

namespace {

/// Tests if this rank must check the identity of the opened file. The first writer on each node
/// does.
bool inspects_file(const FileContext& file, const Target& target) {
    const Topology& topology = file.team.topology();
    if (topology.nodes == 1) return false;
    const auto& writers = target.writers;
    const auto first = std::find_if(writers.begin(), writers.end(), [&](int rank) {
        return topology.node_of[rank] == topology.node;
    });
    return first != writers.end() && *first == file.team.rank();
}

/// Returns the number of threads that a writer compresses with: the processors of its node on which
/// nothing computes are divided among the writers there.
int threads_of_writer(const FileContext& file, const Target& target) {
    constexpr int most = 16;
    const FreeProcessors& processors = file.session.processors;
    const Topology& topology = file.team.topology();
    const auto writers = std::count_if(target.writers.begin(), target.writers.end(), [&](int rank) {
        return topology.node_of[rank] == topology.node;
    });
    if (processors.bound || writers == 0) return 1;
    const int own = file.options.service == "background" ? 0 : 1;
    return std::clamp(own + processors.number / static_cast<int>(writers), 1, most);
}

}  // namespace

Status open_target(FileContext& file, Target& target, Status& mine) {
    const FileOptions& options = file.options;
    const auto own = std::find(target.writers.begin(), target.writers.end(), file.team.rank());
    const bool writer = own != target.writers.end();
    if (target.layout.grid.own_files)
        target.storage = make_tile_storage(
            std::move(target.storage), target.layout.grid,
            writer ? static_cast<int>(own - target.writers.begin()) : -1, file.path);
    StorageOptions storage = file.storage_options();
    // If records are to be dropped, all ranks must first know that they see the same file.
    const bool inspects_first = file.existing.is || !target.storage->traits().opens_alone;
    storage.inspects = !inspects_first && inspects_file(file, target);
    if (file.team.topology().nodes > 1 && inspects_first) {
        const Status seen =
            inspects_file(file, target) ? check_identity(file.data_path, file.claimed) : Status{};
        if (Status status = file.team.agree(seen); !status.ok()) return status;
    }
    // Divide the rate among the writers once, so that they need not ask each other.
    storage.writers = static_cast<int>(target.writers.size());
    storage.rate = 1.0 * options.bandwidth / storage.writers;
    storage.header_writer = target.writers.front();
    storage.threads = threads_of_writer(file, target);
    storage.kept_headers = &file.session.kept_headers;
    storage.behind = options.service == "background";
    const auto& node_of = file.team.topology().node_of;
    const auto beside = [&](int rank) { return node_of[rank] == node_of[storage.header_writer]; };
    storage.beside_header_writer = beside(file.team.rank());
    storage.all_beside =
        static_cast<int>(std::count_if(target.writers.begin(), target.writers.end(), beside)) - 1;
    // Writers on other nodes may open the file before its header is written only if the header has
    // a page of its own: on a network file system they may later write back an old copy of its
    // first page, with zeros in place of the header.
    constexpr std::int64_t most_page = 4096;
    const bool header_is_apart =
        node_of[storage.header_writer] == node_of[0] && options.spacing.header_pad >= most_page;
    storage.is_there = storage.is_there && (file.team.topology().nodes == 1 || header_is_apart);
    storage.alone = target.storage->traits().opens_alone && options.service == "inline";
    Comm& world = file.team.world();
    Status status =
        file.existing.is
            ? target.storage->open(world, file.path, file.definitions, storage, writer, target.map)
            : target.storage->create(world, file.data_path, file.definitions, storage, writer,
                                     target.map);
    if (!storage.alone) return status;
    mine = std::move(status);
    return {};
}

}  // namespace thalweg::detail
