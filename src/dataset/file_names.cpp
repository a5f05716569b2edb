// SPDX-License-Identifier: Apache-2.0
#include "dataset/file_names.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "base/wire.hpp"
#include "publish/checksums.hpp"
#include "storage/posix/paths.hpp"
#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

namespace {

/// The words of claim_early().
struct EarlyClaim {
    std::int64_t is = 0;
    FileIdentity identity;
    AskedFileSystem file_system;
};

}  // namespace

/// Returns the identity by which writers on other nodes check that they see the same file.
FileIdentity FileNames::identity_of(const std::string& path) const {
    return on_several_nodes() && !file_.in_files() ? identity_at(path) : FileIdentity{};
}

void FileNames::claim_early(EarlyWords words) {
    const FileOptions& o = file_.options;
    const bool plain = !o.live && !o.tile_files && !o.folder();
    if (file_.team.rank() != 0 || !plain) return;
    std::string own;
    struct stat info {};
    if (!follow_links(file_.path, own).ok() || own != file_.path ||
        lstat(temporary_path(own).c_str(), &info) == 0)
        return;
    early_ = true;
    early_status_ = claim(own);
    if (!early_status_.ok()) return;
    const std::string& data = claims_.front()->data_path();
    const EarlyClaim claimed{1, identity_of(data), ask_file_system(data, o.stripe_size)};
    std::memcpy(words.data(), &claimed, sizeof claimed);
}

void FileNames::accept_early(EarlyWords words) {
    static_assert(sizeof(EarlyClaim) == words.size_bytes());
    const auto claimed =
        WireReader({reinterpret_cast<const char*>(words.data()), words.size_bytes()})
            .get<EarlyClaim>();
    if (claimed.is == 0) return;
    early_ = false;
    accepted_ = true;
    file_.data_path = temporary_path(file_.path);
    file_.claimed = claimed.identity;
    file_.file_system = claimed.file_system;
}

Status FileNames::create() {
    if (accepted_) return {};
    return tell([&](bool&, std::string& path) {
        if (file_.in_files() && access(file_.path.c_str(), F_OK) == 0)
            log::warn("{}: a file of this name exists, and tw_open reads it instead of the tiles",
                      file_.path);
        Status own = std::exchange(early_, false)
                         ? std::move(early_status_)
                         : claim(file_.in_files() ? tile_path(file_.path, 0) : file_.path);
        if (own.ok()) path = claims_[0]->data_path();
        return own;
    });
}

Status FileNames::take_existing() {
    return tell([&](bool& is_set, std::string& path) {
        is_set = is_tile_set(file_.path);
        if (!is_set && file_.in_files())
            return failure(TW_ESETTING,
                           "{}: setting files is tiles, but there is no set of tiles of this "
                           "name: leave the setting out",
                           file_.path);
        path = is_set ? tile_path(file_.path, 0) : file_.path;
        return claim(path);
    });
}

/// Calls take(is_set, path of the data) on rank 0, and broadcasts the result.
/// @note Collective; the status is the same on every rank
template <class Take>
Status FileNames::tell(Take&& take) {
    std::vector<char> told;
    bool is_set = false;
    Status status;
    if (file_.team.rank() == 0) {
        std::string path;
        if (status = take(is_set, path); status.ok()) {
            const bool summed = file_.options.append && has_sums(path);
            told = message_of(is_set, summed, is_set ? FileIdentity{} : identity_of(path),
                              ask_file_system(path, file_.options.stripe_size), path);
        }
    }
    status = file_.team.broadcast_outcome(status, told);
    if (!status.ok()) return status;
    WireReader in(told);
    in(is_set, file_.has_checksums, file_.claimed, file_.file_system, file_.data_path);
    file_.options.checksums |= file_.has_checksums;
    if (is_set) {
        file_.options.tile_files = true;
        file_.options.method = "tiles";
    }
    return {};
}

Status FileNames::claim_tiles(int parts) {
    Status status;
    for (int k = file_.team.rank(); k < parts && status.ok(); k += file_.team.size())
        if (k > 0) status = claim(tile_path(file_.path, k));
    return status;
}

Status FileNames::cut() {
    Status status = for_claims([](Claim& claim) { return claim.cut(); });
    return status.ok() && file_.options.durable ? sync() : status;
}

/// Claims a name until the file is complete. Local.
Status FileNames::claim(const std::string& path) {
    ClaimRequest request;
    request.path = path;
    request.live = file_.options.live;
    request.existing = file_.options.append;
    request.folder = file_.options.folder();
    request.stripe_count = file_.options.stripe_count;
    request.stripe_size = file_.options.stripe_size;
    claims_.reserve(claims_.size() + 1);
    std::unique_ptr<Claim> claim;
    std::vector<std::string> warnings;
    std::string of_stripes;
    Status status = Claim::take(request, claim, warnings, of_stripes);
    for (const std::string& line : warnings) log::warn("{}: {}", path, line);
    if (!of_stripes.empty() && file_.team.rank() == 0) log::info("{}: {}", path, of_stripes);
    if (!status.ok()) return status;
    claims_.push_back(std::move(claim));
    const std::string& data = claims_.back()->data_path();
    const bool there = access(data.c_str(), F_OK) == 0;  // if it is missing, define mode reports it
    return there && file_.options.durable ? claims_.back()->sync_name() : status;
}

void FileNames::discard() {
    for (const auto& claim : claims_) claim->discard();
    claims_.clear();
}

}  // namespace thalweg::detail
