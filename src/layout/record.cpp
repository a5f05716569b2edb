// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "layout/layout.hpp"

namespace thalweg::detail {

namespace {

class RecordLayout final : public Layout {
public:
    RecordLayout(int writers, std::int64_t alignment) : Layout(writers), alignment_(alignment) {}
    const char* name() const override { return "record"; }

    Share share(int w, const Space& space, std::int64_t base) const override {
        if (w >= writers()) return {space, std::vector<Extent>{}};
        const Extent extent{cut(w, space, base), cut(w + 1, space, base)};
        if (extent.size() <= 0) return {space, std::vector<Extent>{}};
        return {space, std::vector<Extent>{extent}};
    }

    Share reach(int w, const Space& space) const override {
        if (w >= writers()) return {space, std::vector<Extent>{}};
        const std::int64_t most = alignment_ + space.largest_grain();
        return {space,
                std::vector<Extent>{{std::max<std::int64_t>(0, plain_cut(w, space) - most),
                                     std::min(space.bytes, plain_cut(w + 1, space) + most)}}};
    }

    /// A box's rows may lie far apart in the file, with other ranks' writers between them: it is
    /// halved until a part's span meets few. Work: in proportion to the writers met.
    void add_writers(const Space& space, std::size_t place, const Box& whole,
                     std::set<int>& met) const override {
        const Place& p = space.places[place];
        // A cut lies at most `alignment` and one grain from its unaligned place.
        const std::int64_t reach = alignment_ + space.largest_grain();
        std::vector<Box> todo{whole};
        while (!todo.empty()) {
            Box box = todo.back();
            todo.pop_back();
            Index corner = box.low;
            const std::int64_t begin = linear(p.shape, corner);
            for (int d = 0; d < box.nd; ++d) corner[d] += box.count[d] - 1;
            const std::int64_t end = linear(p.shape, corner) + 1;
            const int first = writer_near(p.offset + begin * p.element - reach, space);
            const int last = writer_near(p.offset + end * p.element + reach, space);
            if (last - first < 2 || end - begin == box.volume()) {
                for (int w = first; w <= last; ++w) met.insert(w);
                continue;
            }
            todo.push_back(halve(box));
            todo.push_back(box);
        }
    }

private:
    std::int64_t cut(int w, const Space& space, std::int64_t base) const {
        if (w == 0) return 0;
        if (w == writers()) return space.bytes;
        const std::int64_t even = plain_cut(w, space);
        const std::int64_t in_file = (base + even) / alignment_ * alignment_;
        return space.share_boundary(std::clamp<std::int64_t>(in_file - base, 0, space.bytes));
    }

    std::int64_t plain_cut(int w, const Space& space) const {
        if (w == writers()) return space.bytes;
        const std::int64_t each = space.bytes / writers(), rest = space.bytes % writers();
        return each * w + std::min<std::int64_t>(w, rest);
    }

    int writer_near(std::int64_t byte, const Space& space) const {
        const std::int64_t each = std::max<std::int64_t>(1, space.bytes / writers());
        std::int64_t w = std::clamp<std::int64_t>(byte / each, 0, writers() - 1);
        while (w > 0 && plain_cut(w, space) > byte) --w;
        while (w < writers() - 1 && plain_cut(static_cast<int>(w) + 1, space) <= byte) ++w;
        return w;
    }

    std::int64_t alignment_;
};

}  // namespace

std::unique_ptr<Layout> make_record_layout(int writers, std::int64_t alignment) {
    return std::make_unique<RecordLayout>(writers, alignment);
}

}  // namespace thalweg::detail
