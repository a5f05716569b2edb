// SPDX-License-Identifier: Apache-2.0
#include "restart/file_checksums.hpp"

#include <array>
#include <numeric>

#include "base/text.hpp"

namespace thalweg::detail {

namespace {

/// Bytes per rank that are read at a time to compare a checksum.
constexpr std::int64_t check_bytes = 4 << 20;

/// Returns the part of a variable's elements that a rank reads in one round.
std::shared_ptr<const Decomposition> part_of(std::vector<std::string> dims,
                                             std::span<const std::int64_t> shape,
                                             ElementRange range, int round) {
    Decomposition d;
    d.dims = std::move(dims);
    d.shape.assign(shape.begin(), shape.end());
    d.halo_low.assign(shape.size(), 0);
    d.halo_high.assign(shape.size(), 0);
    for_boxes_of_range(shape, range.begin, range.end, [&](const Box& box) {
        d.blocks.push_back(box);
        d.offsets.push_back(d.held);
        d.held += box.volume();
    });
    d.bare_offsets = d.offsets;
    d.stored = d.held;
    d.serial = -1 - round;  // the same on every rank, but different from those of the session
    return std::make_shared<const Decomposition>(std::move(d));
}

/// Sums over the ranks. Adds halves of the words, as a sum of integers must not overflow; a few at
/// a time, which needs no memory.
void all_sum(Team& team, std::span<Checksum> sums) {
    std::array<std::int64_t, Team::row_words> words;
    for (std::size_t at = 0; at < sums.size(); at += words.size() / 2) {
        const auto some = sums.subspan(at, std::min(words.size() / 2, sums.size() - at));
        for (std::size_t i = 0; i < some.size(); ++i) {
            words[2 * i] = some[i] & 0xFFFFFFFF;
            words[2 * i + 1] = some[i] >> 32;
        }
        team.all_reduce(std::span(words).first(2 * some.size()), Reduce::sum);
        for (std::size_t i = 0; i < some.size(); ++i) {
            some[i] = words[2 * i + 1];
            some[i] = (some[i] << 32) + words[2 * i];
        }
    }
}

/// Reads a variable again in file order, and sums this rank's part of it.
/// @note Collective
Status sum_file(Team& team, Reader& reader, const ExpectedChecksum& check, const Variable& theirs,
                Checksum& sum) {
    const Decomposition& own = *check.holding->decomposition;
    const std::int64_t size = theirs.element();
    const std::int64_t n = theirs.elements();
    const bool replicated = own.replicated;
    const std::vector<std::string> dims = reader.contents().definitions().fixed_dims(theirs);
    const std::int64_t at_once = check_bytes / size;  // elements that each rank reads at once
    const std::int64_t all_at_once = replicated ? n : at_once * team.size();
    Status status, mine;
    int round = 0;
    for (std::int64_t begin = 0; begin < n && status.ok(); begin += all_at_once, ++round) {
        Variable part;
        std::shared_ptr<const Holding> holding;
        std::vector<char> values;
        GetArguments arguments;
        mine = alone([&]() -> Status {
            arguments.name = check.own->name;
            part.type = theirs.type;
            part.shape = theirs.shape;
            std::vector<int> order(part.shape.size());
            std::iota(order.begin(), order.end(), 0);
            const std::int64_t first = begin + at_once * team.rank();
            const std::shared_ptr<const Decomposition> decomposition =
                replicated ? check.holding->decomposition
                           : part_of(dims, part.shape,
                                     {std::min(n, first), std::min(n, first + at_once)}, round);
            if (!replicated) arguments.decomposition = decomposition;
            holding = make_holding(decomposition, std::move(order), part.shape);
            values.resize(decomposition->stored * size);
            arguments.array = tw_dense(theirs.type, values.data(), decomposition->stored);
            return {};
        });
        arguments.wrong = mine;
        status = reader.get(arguments);
        if (!status.ok()) return status;
        ArrayView view;
        view.data = values.data();
        view.type = theirs.type;
        mine = alone([&]() -> Status {
            sum += sum_held(part, *holding, view);
            return {};
        });
        status = team.agree(mine);
    }
    return status;
}

}  // namespace

Status add_checksums(Team& team, std::span<const RegisteredArray> arrays,
                     Definitions& definitions) {
    std::vector<Checksum> sums;
    Status status = alone([&]() -> Status {
        sums.resize(definitions.variables.size());
        for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] = sum_written(definitions.variables[i], *arrays[i].holding, arrays[i].view,
                                  team.rank(), team.size());
        return {};
    });
    if (status = team.agree(status); !status.ok()) return status;
    all_sum(team, sums);
    return team.agree(alone([&]() -> Status {
        for (std::size_t i = 0; i < sums.size(); ++i) {
            const std::string text = checksum_text(sums[i]);
            definitions.variables[i].attributes.set(
                {checksum_attribute, TW_CHAR, std::ssize(text), {text.begin(), text.end()}});
        }
        return {};
    }));
}

Status verify_checksums(Team& team, Reader& reader, const std::string& path,
                        std::span<const ExpectedChecksum> checks) {
    std::vector<Checksum> sums;
    Status mine = team.agree(alone([&]() -> Status {
        sums.resize(checks.size());
        return {};
    }));
    if (!mine.ok()) return mine;
    for (std::size_t i = 0; i < checks.size(); ++i) {
        const Variable& own = *checks[i].own;
        const Variable& theirs = reader.contents().definitions().variables[checks[i].in_file];
        const Decomposition& d = *checks[i].holding->decomposition;
        const bool once = d.whole && !(d.listed && d.listed->shared);
        if (once && own.type == theirs.type) {
            Status summed = alone([&]() -> Status {
                sums[i] = sum_held(own, *checks[i].holding, *checks[i].view);
                return {};
            });
            if (mine.ok()) mine = std::move(summed);
        } else if (Status status = sum_file(team, reader, checks[i], theirs, sums[i]);
                   !status.ok()) {
            return status;
        }
    }
    if (mine = team.agree(mine); !mine.ok()) return mine;
    all_sum(team, sums);
    const auto compare = [&]() -> Status {
        std::vector<std::string> wrong;
        for (std::size_t i = 0; i < checks.size(); ++i)
            if (checks[i].text != checksum_text(sums[i]))
                wrong.push_back(fmt::format("'{}' ({} instead of {})", checks[i].own->name,
                                            checksum_text(sums[i]), checks[i].text));
        if (wrong.empty()) return {};
        const std::size_t more = wrong.size() > 8 ? wrong.size() - 8 : 0;
        wrong.resize(wrong.size() - more);
        return failure(TW_ECHECKSUM, "{}: checksum mismatch: variable {}{}", path,
                       joined(wrong, ", "), more == 0 ? "" : fmt::format(" and {} more", more));
    };
    // All ranks have the same result, unless one has too little memory.
    const Status found = alone(compare);
    mine = team.agree(found.code == TW_ENOMEM ? found : Status{});
    return mine.ok() ? found : mine;
}

}  // namespace thalweg::detail
