// SPDX-License-Identifier: Apache-2.0
#include "choose/choose_all.hpp"

#include "choose/choose.hpp"

namespace thalweg::detail {

namespace {

/// Estimates the size in bytes of the queue that a service would need on this rank.
std::int64_t queue_bytes(const FileContext& file) {
    if (file.options.queue >= 0) return file.options.queue;
    std::int64_t held = 0;
    for (std::size_t i = 0; i < file.holdings.size(); ++i)
        held += file.holdings[i]->elements * file.definitions.variables[i].element();
    return std::min(2 * held, file.options.staging);
}

/// Tests if the choice of the service depends on free processors and memory.
bool depends_on_room(const FileContext& file) {
    const FileOptions& options = file.options;
    return options.service == "auto" && options.close_later && file.session.port() == nullptr;
}

}  // namespace

RankResources own_resources(const FileContext& file) {
    if (!depends_on_room(file)) return {};
    return {file.team, queue_bytes(file), file.session.processors};
}

Choice choose_all(FileContext& file, const RankResources& resources, const FileOptions& asked,
                  Target& target) {
    Surroundings around;
    around.nodes = file.team.topology().nodes;
    around.ranks = file.team.size();
    around.servers = file.session.port() != nullptr;
    around.existing = file.existing.is;
    if (depends_on_room(file)) around.room = resources.room();
    around.file_system = file_system_of(file.file_system.magic, file.file_system.block);
    around.stripe_size = file.file_system.stripe_size;
    Choice choice = choose(file.options, file.definitions, file.format, around);
    target.storage = make_storage(choice.storage);
    target.order = target.storage->traits().order;
    FileOptions& options = file.options;
    file.figures.settings = explain(asked, file.existing.is, file.format, around, choice);
    options.storage = choice.storage;
    options.writers = choice.writers;
    options.alignment = choice.alignment;
    options.method = file.figures.method = choice.method;
    options.service = file.figures.service = choice.service;
    file.figures.why_service = choice.why_service;
    file.figures.storage = target.storage->traits().name;
    file.figures.format = name_of(file.format);
    if (file.team.rank() == 0) report(choice.remarks, file.path);
    return choice;
}

}  // namespace thalweg::detail
