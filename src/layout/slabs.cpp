// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "layout/layout.hpp"

namespace thalweg {

namespace {

class SlabsLayout final : public Layout {
public:
    using Layout::Layout;
    const char* name() const override { return "slabs"; }

    std::vector<Extent> share(int w, const Space& space, std::int64_t) const override {
        std::vector<Extent> result;
        for (const Place& p : space.places) {
            const std::int64_t rows = slowest(p);
            const std::int64_t begin = first_row(w, rows), end = first_row(w + 1, rows);
            if (begin == end || p.bytes == 0) continue;
            const std::int64_t row = p.bytes / rows;
            const Extent extent{p.offset + begin * row,
                                end == rows ? p.offset + p.padded : p.offset + end * row};
            if (!result.empty() && result.back().end == extent.begin)
                result.back().end = extent.end;
            else
                result.push_back(extent);
        }
        return result;
    }

    std::pair<int, int> writers_of(const Space& space, std::size_t place,
                                   Extent range) const override {
        const Place& p = space.places[place];
        const std::int64_t rows = slowest(p);
        const std::int64_t row = std::max<std::int64_t>(1, p.bytes / rows);
        auto owner = [&](std::int64_t byte) {
            const std::int64_t r = std::clamp<std::int64_t>((byte - p.offset) / row, 0, rows - 1);
            int w = static_cast<int>(r * writers() / rows);
            while (first_row(w + 1, rows) <= r) ++w;
            return w;
        };
        return {owner(range.begin), owner(range.end - 1)};
    }

private:
    static std::int64_t slowest(const Place& p) { return p.shape.empty() ? 1 : p.shape.front(); }
    std::int64_t first_row(int w, std::int64_t rows) const { return rows * w / writers(); }
};

}  // namespace

std::unique_ptr<Layout> make_slabs_layout(int writers) {
    return std::make_unique<SlabsLayout>(writers);
}

}  // namespace thalweg
