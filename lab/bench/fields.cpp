// SPDX-License-Identifier: Apache-2.0
#include "fields.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

namespace thalweg::bench {

namespace {
constexpr std::size_t page = std::size_t(2) << 20;
}

Fields::Fields(std::int64_t bytes)
    : bytes_(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))) {
    void* p = std::aligned_alloc(page, (bytes_ + page - 1) / page * page);
    if (p == nullptr) throw std::bad_alloc();
    madvise(p, bytes_, MADV_HUGEPAGE);
    memory_.reset(static_cast<std::byte*>(p));
    clear();
}

void Fields::clear() { std::memset(memory_.get(), 0xff, bytes_); }

void Fields::Free::operator()(std::byte* p) const { std::free(p); }

std::string compare(const RankGroup& rank_group, const Arrays& arrays, int step) {
    const Problem& problem = arrays.problem;
    std::int64_t first = -1;
    for (std::size_t i = 0; i < problem.variables().size() && first < 0; ++i) {
        const Variable& v = problem.variables()[i];
        const auto bytes = static_cast<std::size_t>(problem.group(v).local_bytes());
        if (bytes > 0 && std::memcmp(arrays.of(v), problem.values(v, step), bytes) != 0)
            first = static_cast<std::int64_t>(i);
    }
    first = rank_group.max(first);
    return first < 0 ? ""
                     : "variable " + problem.variables()[static_cast<std::size_t>(first)].name +
                           " is wrong";
}

}  // namespace thalweg::bench
