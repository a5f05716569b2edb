// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "layout/layout.hpp"

namespace thalweg {

namespace {

class RecordLayout final : public Layout {
public:
    RecordLayout(int writers, std::int64_t alignment) : Layout(writers), alignment_(alignment) {}
    const char* name() const override { return "record"; }

    std::vector<Extent> share(int w, const Space& space, std::int64_t base) const override {
        const Extent extent{cut(w, space, base), cut(w + 1, space, base)};
        if (extent.size() <= 0) return {};
        return {extent};
    }

    std::pair<int, int> writers_of(const Space& space, std::size_t, Extent range) const override {
        // A cut lies at most `alignment` and one element from its unaligned place.
        const std::int64_t reach = alignment_ + 8;
        return {writer_near(range.begin - reach, space), writer_near(range.end + reach, space)};
    }

private:
    std::int64_t cut(int w, const Space& space, std::int64_t base) const {
        if (w == 0) return 0;
        if (w == writers()) return space.bytes;
        const std::int64_t even = plain_cut(w, space);
        const std::int64_t in_file = (base + even) / alignment_ * alignment_;
        return space.element_boundary(std::clamp<std::int64_t>(in_file - base, 0, space.bytes));
    }

    std::int64_t plain_cut(int w, const Space& space) const {
        const std::int64_t each = space.bytes / writers(), rest = space.bytes % writers();
        return each * w + std::min<std::int64_t>(w, rest);
    }

    int writer_near(std::int64_t byte, const Space& space) const {
        const std::int64_t each = std::max<std::int64_t>(1, space.bytes / writers());
        std::int64_t w = std::clamp<std::int64_t>(byte / each, 0, writers() - 1);
        while (w > 0 && plain_cut(static_cast<int>(w), space) > byte) --w;
        while (w < writers() - 1 && plain_cut(static_cast<int>(w) + 1, space) <= byte) ++w;
        return static_cast<int>(w);
    }

    std::int64_t alignment_;
};

}  // namespace

std::unique_ptr<Layout> make_record_layout(int writers, std::int64_t alignment) {
    return std::make_unique<RecordLayout>(writers, alignment);
}

}  // namespace thalweg
