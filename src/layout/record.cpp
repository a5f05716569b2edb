// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "layout/layout.hpp"

namespace thalweg::detail {

namespace {

class RecordLayout final : public Layout {
public:
    RecordLayout(int writers, std::int64_t alignment, std::int64_t part)
        : Layout(writers), alignment_(alignment), part_(part) {}

    Share share(int w, const FileSection& space, std::int64_t base) const override {
        std::vector<Extent> extents;
        if (w >= writers()) return {space, extents};
        const auto add = [&](int first, int end) {
            const Extent extent{cut(first, space, base), cut(end, space, base)};
            if (extent.size() <= 0) return;
            if (!extents.empty() && extents.back().end == extent.begin)
                extents.back().end = extent.end;
            else
                extents.push_back(extent);
        };
        if (part_ == 0) add(first_part(w, space), first_part(w + 1, space));
        for (int part = w; part_ > 0 && part < parts(space); part += writers()) add(part, part + 1);
        return {space, extents};
    }

    Share reach(int w, const FileSection& space) const override {
        if (w >= writers()) return {space, std::vector<Extent>{}};
        if (part_ > 0) return share(w, space, 0);
        const int first = first_part(w, space), end = first_part(w + 1, space);
        if (first == end) return {space, std::vector<Extent>{}};
        const std::int64_t most = alignment_ + space.largest_grain();
        return {space,
                std::vector<Extent>{{std::max<std::int64_t>(0, plain_cut(first, space) - most),
                                     std::min(space.bytes, plain_cut(end, space) + most)}}};
    }

    /// Adds the writers of a box. The rows of a box may be far apart in the file, with the shares
    /// of other writers between them. So the box is halved repeatedly, until each half concerns few
    /// writers. The work is proportional to the number of writers found.
    void add_writers(const FileSection& space, std::size_t place, const Box& whole,
                     std::set<int>& met) const override {
        const VariableSlot& p = space.places[place];
        // The alignment and the grain move a cut by at most this distance.
        const std::int64_t reach = alignment_ + space.largest_grain();
        std::vector<Box> todo{whole};
        while (!todo.empty()) {
            Box box = todo.back();
            todo.pop_back();
            Index corner = box.low;
            const std::int64_t begin = linear(p.shape, corner);
            for (int d = 0; d < box.nd; ++d) corner[d] += box.count[d] - 1;
            const std::int64_t end = linear(p.shape, corner) + 1;
            const int first = part_near(p.offset + begin * p.element - reach, space);
            const int last = part_near(p.offset + end * p.element + reach, space);
            if (last - first < 2 || end - begin == box.volume()) {
                for (int part = first; part <= last; ++part) met.insert(writer_of(part, space));
                continue;
            }
            todo.push_back(halve(box));
            todo.push_back(box);
        }
    }

private:
    /// Returns the number of parts into which the space is divided. There is one part for each
    /// writer, but at most four for each unit of alignment: with more parts, most of them would be
    /// empty after their cuts are aligned, and each rank would have to consider their writers.
    int parts(const FileSection& space) const {
        if (part_ > 0) {
            // Cuts move by a grain at most, so no part is empty.
            const std::int64_t part = std::max(part_, 4 * space.grain);
            return static_cast<int>(writers() * (space.bytes / part / writers() + 1));
        }
        const std::int64_t quarters = 4 * (space.bytes / alignment_ + 1);
        return static_cast<int>(std::min<std::int64_t>(writers(), quarters));
    }
    /// Returns the number of a writer's first part. The writer owns all parts up to the first one
    /// of the next writer.
    int first_part(int w, const FileSection& space) const {
        return static_cast<int>(std::int64_t(w) * parts(space) / writers());
    }
    int writer_of(int part, const FileSection& space) const {
        if (part_ > 0) return part % writers();
        return static_cast<int>(((std::int64_t(part) + 1) * writers() - 1) / parts(space));
    }

    std::int64_t cut(int part, const FileSection& space, std::int64_t base) const {
        if (part == 0) return 0;
        if (part == parts(space)) return space.bytes;
        const std::int64_t even = plain_cut(part, space);
        const std::int64_t in_file = (base + even) / alignment_ * alignment_;
        return space.share_boundary(std::clamp<std::int64_t>(in_file - base, 0, space.bytes));
    }

    std::int64_t plain_cut(int part, const FileSection& space) const {
        const int n = parts(space);
        if (part == n) return space.bytes;
        const std::int64_t each = space.bytes / n, rest = space.bytes % n;
        return each * part + std::min<std::int64_t>(part, rest);
    }

    int part_near(std::int64_t byte, const FileSection& space) const {
        const int n = parts(space);
        const std::int64_t each = std::max<std::int64_t>(1, space.bytes / n);
        auto part = static_cast<int>(std::clamp<std::int64_t>(byte / each, 0, n - 1));
        while (part > 0 && plain_cut(part, space) > byte) --part;
        while (part < n - 1 && plain_cut(part + 1, space) <= byte) ++part;
        return part;
    }

    std::int64_t alignment_;
    std::int64_t part_;  ///< bytes after which the next writer follows; 0: each has one range
};

}  // namespace

std::unique_ptr<Layout> make_record_layout(int writers, std::int64_t alignment, std::int64_t part) {
    return std::make_unique<RecordLayout>(writers, part > 0 ? 1 : alignment,
                                          writers > 1 ? part : 0);
}

}  // namespace thalweg::detail
