// SPDX-License-Identifier: Apache-2.0
#include "comm/mapping.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "base/work.hpp"

namespace thalweg::detail {

void map_pages(char* begin, std::size_t bytes) {
#ifdef MADV_POPULATE_READ
    if (!touches_memory()) return;
    const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    char* const first = begin - reinterpret_cast<std::uintptr_t>(begin) % page;
    // If the system does not support this, it maps the pages on first use.
    (void)madvise(first, static_cast<std::size_t>(begin + bytes - first), MADV_POPULATE_READ);
#else
    (void)begin, (void)bytes;
#endif
}

}  // namespace thalweg::detail
