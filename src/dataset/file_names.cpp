// SPDX-License-Identifier: Apache-2.0
#include "dataset/file_names.hpp"

#include "base/log.hpp"
#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

Status FileNames::create(const std::function<Status()>& before_cut) {
    Comm& world = file_.team.world();
    std::vector<char> data;
    Status status = alone([&]() -> Status {
        if (file_.team.rank() != 0) return {};
        Status own = claim(file_.in_files() ? tile_path(file_.path, 0) : file_.path, before_cut);
        if (own.ok()) data.assign(claims_[0]->data_path().begin(), claims_[0]->data_path().end());
        return own;
    });
    if (status = detail::agree(world, status); !status.ok()) return status;
    world.broadcast(data, 0);
    status = detail::agree(world, alone([&]() -> Status {
                               file_.data_path.assign(data.begin(), data.end());
                               return {};
                           }));
    if (status.ok() && !file_.in_files()) tell_identity(file_.data_path);
    return status;
}

Status FileNames::take_existing() {
    Comm& world = file_.team.world();
    std::int64_t set = 0;  // there is no such file, but the first of a set of tiles
    Status status = alone([&]() -> Status {
        if (file_.team.rank() != 0) return {};
        set = is_tile_set(file_.path) ? 1 : 0;
        if (set == 0 && file_.in_files())
            return failure(TW_ESETTING,
                           "{}: setting tile_files is yes, but there is no set of tiles of this "
                           "name: leave it away",
                           file_.path);
        return claim(set != 0 ? tile_path(file_.path, 0) : file_.path);
    });
    if (status = detail::agree(world, status); !status.ok()) return status;
    world.broadcast(&set, sizeof set, 0);
    if (set == 0) {
        tell_identity(file_.path);
        return {};
    }
    return detail::agree(world, alone([&]() -> Status {
                             file_.options.tile_files = true;
                             file_.options.method = "tiles";
                             file_.data_path = tile_path(file_.path, 0);
                             return {};
                         }));
}

/// So that writers of other nodes know the file when they see it. @note Collective
void FileNames::tell_identity(const std::string& path) {
    if (!on_several_nodes()) return;
    // Without memory for it nothing is known, and nothing compared.
    (void)alone([&]() -> Status {
        if (file_.team.rank() == 0) file_.claimed = identity_at(path);
        return {};
    });
    file_.team.world().broadcast(&file_.claimed, sizeof file_.claimed, 0);
}

Status FileNames::check_begun() const {
    for (const auto& claim : claims_)
        if (Status s = claim->check_begun(); !s.ok()) return s;
    return {};
}

Status FileNames::claim_tiles(int parts) {
    Status status;
    for (int k = file_.team.rank(); k < parts && status.ok(); k += file_.team.size())
        if (k > 0) status = claim(tile_path(file_.path, k));
    return status;
}

/// Takes a name for as long as the file is written. Local.
Status FileNames::claim(const std::string& path, const std::function<Status()>& before_cut) {
    ClaimRequest request;
    request.before_cut = before_cut;
    request.path = path;
    request.live = file_.options.live;
    request.existing = file_.options.append;
    request.folder = file_.options.by_variable;
    request.stripe_count = file_.options.stripe_count;
    request.stripe_size = file_.options.stripe_size;
    claims_.reserve(claims_.size() + 1);
    std::unique_ptr<Claim> claim;
    std::vector<std::string> warnings;
    std::string of_stripes;
    Status status = Claim::take(request, claim, warnings, of_stripes);
    for (const std::string& line : warnings) log::warn("{}: {}", path, line);
    if (!of_stripes.empty() && file_.team.rank() == 0) log::info("{}: {}", path, of_stripes);
    if (status.ok()) claims_.push_back(std::move(claim));
    return status;
}

Status FileNames::publish() {
    Status status;
    for (const auto& claim : claims_)
        if (status.ok()) status = claim->publish(file_.options.durable);
    return status;
}

void FileNames::discard() {
    for (const auto& claim : claims_) claim->discard();
    claims_.clear();
}

}  // namespace thalweg::detail
