// SPDX-License-Identifier: Apache-2.0
#include "choose/choose_all.hpp"

#include <array>
#include <cmath>

#include "choose/explain.hpp"
#include "storage/posix/paths.hpp"

namespace thalweg::detail {

namespace {

/// One rank asks the file system, for all to choose alike. @note Collective
Status ask_file_system(const FileContext& file, Surroundings& around) {
    std::array<std::int64_t, 3> answers{};
    Status status = alone([&]() -> Status {
        if (file.team.rank() != 0) return {};
        const FileSystem system = file_system_at(file.data_path);
        answers = {system.magic, system.block, file.options.stripe_size};
        if (system.lustre && answers[2] < 0) answers[2] = stripe_size_of(file.data_path);
        return {};
    });
    file.team.world().broadcast(answers.data(), sizeof answers, 0);
    around.file_system = file_system_of(answers[0], answers[1]);
    around.stripe_size = answers[2];
    return status;
}

/// About those that a service would take for this rank's queue.
std::int64_t queue_bytes(const FileContext& file) {
    if (file.options.queue >= 0) return file.options.queue;
    std::int64_t held = 0;
    for (std::size_t i = 0; i < file.holdings.size(); ++i)
        held += file.holdings[i]->elements * file.definitions.variables[i].element();
    return std::min(2 * held, file.options.staging);
}

}  // namespace

OutputTimes agree_on(Team& team, const OutputTimes& mine) {
    constexpr double ns = 1e9;
    std::array<std::int64_t, 4> words{mine.outputs, std::llround(mine.pack * ns),
                                      std::llround(mine.write * ns),
                                      -std::llround(mine.computing * ns)};
    team.all_reduce(words, Reduce::max);
    return {words[0], words[1] / ns, words[2] / ns, -words[3] / ns};
}

Status choose_all(FileContext& file, const FileOptions& asked, Target& target, ChosenAll& chosen) {
    Surroundings around;
    around.nodes = file.team.topology().nodes;
    around.ranks = file.team.size();
    around.servers = file.session.port() != nullptr;
    around.existing = file.existing.is;
    if (file.options.service == "auto" && !around.servers) {
        around.room = find_room(file.team, queue_bytes(file));
        around.outputs = agree_on(file.team, file.session.outputs);
    }
    const Status told = ask_file_system(file, around);
    Choice choice;
    const auto take = [&]() -> Status {
        if (!told.ok()) return told;
        choice = choose(file.options, file.definitions, file.format, around);
        target.storage = make_storage(choice.storage);
        target.order = target.storage->order();
        FileOptions& options = file.options;
        file.figures.settings = explain(asked, file.existing.is, file.format, around, choice);
        options.storage = choice.storage;
        options.writers = choice.writers;
        options.alignment = choice.alignment;
        options.method = file.figures.method = choice.method;
        options.service = file.figures.service = choice.service;
        chosen = {choice.writers_asked, choice.may_change, around.room.processors};
        file.figures.why_service = choice.why_service;
        file.figures.storage = target.storage->name();
        file.figures.format = name_of(file.format);
        return {};
    };
    if (Status status = file.team.agree(alone(take)); !status.ok()) return status;
    if (file.team.rank() == 0) report(choice.remarks, file.path);
    return {};
}

}  // namespace thalweg::detail
