// SPDX-License-Identifier: Apache-2.0
#include "dataset/completion.hpp"

#include <unistd.h>

#include "base/trace.hpp"
#include "publish/sums.hpp"
#include "storage/posix/paths.hpp"
#include "storage/tiles/tiles.hpp"

namespace thalweg::detail {

namespace {

/// Completes this rank's part of the checksums. Local.
Status complete_own(const FileContext& file) {
    const int rank = file.team.rank(), size = file.team.size();
    const bool durable = file.options.durable;
    if (file.in_files()) {
        for (int k = rank;; k += size) {
            std::string data;
            Status s = find_data_path(tile_path(file.path, k), file.options.live, data);
            if (!s.ok() || access(data.c_str(), F_OK) != 0) return s;
            if (has_sums(data)) s = complete_sums(data, 0, 1, durable);
            if (!s.ok()) return s;
        }
    }
    if (file.options.by_variable) {
        const std::vector<std::string> files = files_at(file.data_path);
        for (std::size_t i = rank; i < files.size(); i += size)
            if (Status s = complete_sums(files[i], 0, 1, durable); !s.ok()) return s;
        return {};
    }
    if (!has_sums(file.data_path)) return {};  // this storage writes none
    const int parts = parts_of_sums(file.data_path, size);
    return rank < parts ? complete_sums(file.data_path, rank, parts, durable) : Status{};
}

}  // namespace

Status complete_checksums(FileContext& file) {
    if (!file.options.checksums) return {};
    const Span span("checksums");
    return file.team.agree(alone([&] { return complete_own(file); }));
}

}  // namespace thalweg::detail
