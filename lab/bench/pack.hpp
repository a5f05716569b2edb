// The least cost of passing data: one pass of copies.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "method.hpp"

namespace thalweg::bench {

/// Copies all variables of a step to warm memory by the library's own code, in file order and the
/// file's byte order.
class Pack : public Method {
public:
    explicit Pack(const Problem& problem);
    void open(const std::string&) override {}
    void step(int step) override;
    void close() override {}
    FileReport report() override { return {}; }

private:
    const Problem& problem_;
    std::vector<char> buffer_;
};

}  // namespace thalweg::bench
