// SPDX-License-Identifier: Apache-2.0
#include "exchange/pieces.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace thalweg::detail {
namespace {

TEST(Pieces, repeat_an_element_and_no_byte_more) {
    const char element[] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (const std::int64_t size : {1, 2, 4, 8})
        for (const std::int64_t n : {1, 2, 3, 7, 8, 63, 4095, 4096, 4100, 8192, 100001}) {
            std::vector<char> to(static_cast<std::size_t>(n + 1), 99);
            repeat(to.data(), n, element, size);
            for (std::int64_t i = 0; i < n; ++i)
                ASSERT_EQ(to[static_cast<std::size_t>(i)], element[i % size]) << size << " " << n;
            ASSERT_EQ(to.back(), 99) << size << " " << n;
        }
}

}  // namespace
}  // namespace thalweg::detail
