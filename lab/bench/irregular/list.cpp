// SPDX-License-Identifier: Apache-2.0
#include "irregular/list.hpp"

namespace thalweg::bench::irregular {

std::int64_t List::product(std::size_t from, std::size_t to) const {
    std::int64_t n = 1;
    for (std::size_t d = from; d < to; ++d) n *= dims[d].length;
    return n;
}

std::string List::join(std::size_t from, std::size_t to) const {
    std::string text;
    for (std::size_t d = from; d < to; ++d) text += (text.empty() ? "" : " ") + dims[d].name;
    return text;
}

}  // namespace thalweg::bench::irregular
