// SPDX-License-Identifier: Apache-2.0
#include "service/deferred.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/hash.hpp"

namespace thalweg::detail {

namespace {

/// Smallest number of sampled elements. Each costs a cache miss, so there are few in comparison
/// with the packed bytes.
constexpr std::int64_t least = 4;
constexpr std::int64_t most = 32;
constexpr std::int64_t bytes_each = 32 * 1024;

constexpr const char* advice =
    "a deferred array must stay unchanged and at its address until the call that uses it returns. "
    "A copy that the compiler made, of an expression or of a section passed to a contiguous dummy "
    "argument, does not: use tw_put or tw_get instead";

/// Tests if every byte from `first` to `end` is mapped.
bool is_mapped(const char* first, const char* end) {
    static const std::uintptr_t page = sysconf(_SC_PAGESIZE);
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(first) / page * page;
    // msync has no effect here except for the error if memory is not mapped.
    return msync(reinterpret_cast<void*>(begin), reinterpret_cast<std::uintptr_t>(end) - begin,
                 MS_ASYNC) == 0 ||
           errno != ENOMEM;
}

/// Returns the number of possible samples: the elements of a box, or the runs of a list.
std::int64_t choices(const HeldBox& held) {
    return held.list ? std::ssize(held.list->list->runs) : held.box.volume();
}

/// Returns the address of an element of a box by its row-major number, or of the first element of a
/// list's run.
const char* place_of(const HeldBox& held, const Strided& at, std::int64_t number) {
    if (held.list) {
        const Run& run = held.list->list->runs[number];
        return at.base + run.position() * at.stride[held.list->dims.back()];
    }
    const char* place = at.base;
    for (int d = held.box.nd - 1; d >= 0; --d) {
        place += number % held.box.count[d] * at.stride[d];
        number /= held.box.count[d];
    }
    return place;
}

}  // namespace

Fingerprint::Fingerprint(const Decomposition& d, std::span<const int> order,
                         std::span<const HeldBox> held, const ArrayView& array)
    : size_(size_of(array.type)) {
    std::int64_t total = 0;
    for (const HeldBox& h : held) total += choices(h);
    const std::int64_t bytes = total * static_cast<std::int64_t>(size_);
    const std::int64_t n = std::min(total, std::clamp(bytes / bytes_each, least, most));
    places_.reserve(n);
    std::int64_t before = 0;
    std::size_t box = 0, located = held.size();
    Strided at;
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t number = n == 1 ? 0 : i * (total - 1) / (n - 1);
        while (number >= before + choices(held[box])) before += choices(held[box++]);
        if (std::exchange(located, box) != box) at = locate(d, order, held[box], array);
        places_.push_back(place_of(held[box], at, number - before));
    }
    if (is_there()) hash_ = hash();
}

bool Fingerprint::is_there() const {
    if (places_.empty()) return true;
    const auto [low, high] = std::minmax_element(places_.begin(), places_.end());
    // Use one system call if all samples are in one array. Between several arrays there may be
    // unmapped memory.
    return is_mapped(*low, *high + size_) ||
           std::all_of(places_.begin(), places_.end(),
                       [this](const char* place) { return is_mapped(place, place + size_); });
}

std::uint64_t Fingerprint::hash() const {
    std::uint64_t h = hash_of_nothing;
    for (const char* place : places_) h = hash_of({place, size_}, h);
    return h;
}

Status Fingerprint::compare() const {
    if (!is_there()) return failure(TW_EARG, "the memory of its array was freed: {}", advice);
    if (hash() != hash_)
        return failure(TW_EARG, "its array has changed since the deferred put or get: {}", advice);
    return {};
}

Status compare_fingerprints(std::vector<SeenArray> all) {
    std::erase_if(all, [](const SeenArray& g) { return g.fingerprint->first() == nullptr; });
    std::sort(all.begin(), all.end(), [](const SeenArray& a, const SeenArray& b) {
        return a.fingerprint->first() < b.fingerprint->first();
    });
    for (std::size_t i = 1; i < all.size(); ++i)
        if (all[i - 1].fingerprint->first() == all[i].fingerprint->first())
            return *all[i - 1].variable == *all[i].variable
                       ? failure(TW_EARG, "variable '{}' has the same array twice: {}",
                                 OfVariable{*all[i].variable}, advice)
                       : failure(TW_EARG, "variables '{}' and '{}' have the same array: {}",
                                 *all[i - 1].variable, *all[i].variable, advice);
    for (const SeenArray& g : all)
        if (Status status = g.fingerprint->compare(); !status.ok()) {
            reword(status, "variable '{}': {}", OfVariable{*g.variable}, status.text);
            return status;
        }
    return {};
}

}  // namespace thalweg::detail
