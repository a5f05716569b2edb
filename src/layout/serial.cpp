// SPDX-License-Identifier: Apache-2.0
#include "layout/layout.hpp"

namespace thalweg::detail {

namespace {

class SerialLayout final : public Layout {
public:
    SerialLayout() : Layout(1) {}
    const char* name() const override { return "serial"; }
    Share share(int w, const Space& space, std::int64_t) const override {
        if (w != 0 || space.bytes == 0) return {space, std::vector<Extent>{}};
        return {space, std::vector<Extent>{{0, space.bytes}}};
    }
    void add_writers(const Space&, std::size_t, const Box&, std::set<int>& met) const override {
        met.insert(0);
    }
};

}  // namespace

std::unique_ptr<Layout> make_serial_layout() { return std::make_unique<SerialLayout>(); }

}  // namespace thalweg::detail
