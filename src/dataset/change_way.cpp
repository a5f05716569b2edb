// SPDX-License-Identifier: Apache-2.0
#include "dataset/change_way.hpp"

#include <utility>

#include "choose/choose_layout.hpp"
#include "dataset/open_target.hpp"

namespace thalweg::detail {

namespace {

/// What a way consists of, to be put in place of another one and back.
struct WayOfFile {
    std::string method, writers;
    LayoutChoice layout;
    std::vector<int> ranks;  ///< that write
};

void exchange(FileContext& file, Target& target, WayOfFile& way) {
    std::swap(file.options.method, way.method);
    std::swap(file.options.writers, way.writers);
    std::swap(target.layout, way.layout);
    std::swap(target.writers, way.ranks);
}

/// @note Collective; the status is the same on every rank
Status begin_way(FileContext& file, bool writers_asked, Target& target, Service& service) {
    if (Status s = choose_layout(file, writers_asked, nullptr, target); !s.ok()) return s;
    if (Status s = check_shared(file, target); !s.ok()) return s;
    Comm& world = file.team.world();
    if (Status s = target.storage->open_for(world, is_writer(file, target)); !s.ok()) return s;
    return service.plan_again();
}

}  // namespace

bool change_way(FileContext& file, const planning::Proposal& proposal, bool writers_asked,
                Target& target, Service& service) {
    WayOfFile way;
    const Status named = file.team.agree(alone([&]() -> Status {
        way.method = proposal.method.empty() ? file.options.method : proposal.method;
        way.writers = proposal.writers.empty() ? file.options.writers : proposal.writers;
        return {};
    }));
    if (!named.ok()) return false;
    exchange(file, target, way);
    if (!together([&] { return begin_way(file, writers_asked, target, service); }).ok()) {
        exchange(file, target, way);
        file.figures.writers = target.writers.size();
        return false;
    }
    file.figures.method = file.options.method;
    target.storage->hand_over(target.writers.front(), rate_of(file, target),
                              is_writer(file, target));
    return true;
}

}  // namespace thalweg::detail
