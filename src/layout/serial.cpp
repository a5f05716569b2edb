// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.hpp"

namespace thalweg {

namespace {

class SerialLayout final : public Layout {
public:
    SerialLayout() : Layout(1) {}
    const char* name() const override { return "serial"; }
    std::vector<Extent> share(int w, const Space& space, std::int64_t) const override {
        if (w != 0 || space.bytes == 0) return {};
        return {{0, space.bytes}};
    }
    std::pair<int, int> writers_of(const Space&, std::size_t, Extent) const override {
        return {0, 0};
    }
};

}  // namespace

std::unique_ptr<Layout> make_serial_layout() { return std::make_unique<SerialLayout>(); }

}  // namespace thalweg
